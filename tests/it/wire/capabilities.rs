//! The capability table, and what follows from it.

use toolfold::profile::{Arm, Delivery};
use toolfold::wire::{Capabilities, CapabilityRow, Known, Wire};

use super::excel;

const SHIPPED: &str = "src/wire/capabilities.toml";

#[test]
fn the_shipped_table_is_sound_and_every_row_says_who_and_when() {
    let text = crate::project(SHIPPED);
    let loaded = Capabilities::parse(&text, SHIPPED);
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(&loaded.value, Capabilities::builtin());
    assert_eq!(loaded.value.rows().count(), text.matches("[[capability]]").count());
    for row in loaded.value.rows() {
        assert!(!row.source.is_empty(), "{row:?}");
        let mut parts = row.date.split('-').map(|part| part.parse::<u32>().unwrap());
        assert!(parts.next().unwrap() >= 2024 && (1..=12).contains(&parts.next().unwrap()), "{row:?}");
    }
    for wire in Wire::ALL {
        assert!(loaded.value.of(wire, None).row(Delivery::Native).is_some(), "{wire} has a row for every model");
    }
}

#[track_caller]
fn native(wire: Wire, model: &str, expected: Known) {
    assert_eq!(Capabilities::builtin().of(wire, Some(model)).of(Delivery::Native), expected, "{wire} {model}");
}

#[test]
fn what_is_known_of_models() {
    for model in [
        "claude-opus-4-5-20251101",
        "claude-opus-4.5",
        "anthropic/claude-sonnet-4.5",
        "Claude-Haiku-4-5",
        "claude-opus-5.5",
        "claude-sonnet-5",
    ] {
        native(Wire::Anthropic, model, Known::Yes);
    }
    for model in ["claude-sonnet-4-20250514", "claude-3-7-sonnet-latest", "kimi-k3"] {
        native(Wire::Anthropic, model, Known::Unprobed);
    }
    for model in ["gpt-5.4", "gpt-5.4-mini", "gpt-5.6-sol", "gpt-6.1-sol"] {
        native(Wire::OpenAiResponses, model, Known::Yes);
    }
    for model in ["gpt-5", "gpt-5-2025-08-07", "gpt-5.3-codex", "gpt-4.1"] {
        native(Wire::OpenAiResponses, model, Known::No);
    }
    native(Wire::OpenAiResponses, "o3", Known::Unprobed);
    native(Wire::OpenAiChat, "gpt-5.4", Known::No);
    native(Wire::Gemini, "gemini-3-pro", Known::No);
    let table = Capabilities::builtin();
    assert_eq!(table.of(Wire::Anthropic, None).of(Delivery::Native), Known::Unprobed);
    assert_eq!(table.of(Wire::OpenAiChat, Some("glm-5.1")).of(Delivery::InResult), Known::Unprobed);
    assert_eq!(table.of(Wire::Mcp, None).of(Delivery::InPlace), Known::Yes);
}

fn row(model: &str, native: Option<Known>, in_result: Option<Known>) -> CapabilityRow {
    let (source, date) = ("own measurement".to_owned(), "2026-11-21".to_owned());
    CapabilityRow {
        wire: Wire::Anthropic,
        model: model.to_owned(),
        native,
        in_result,
        bridge: None,
        source,
        date,
        note: None,
    }
}

#[test]
fn overrides_go_first_cell_by_cell_and_the_most_specific_glob_answers() {
    let table = Capabilities::builtin().with([
        row("*", None, Some(Known::Yes)),
        row("claude-opus-*", Some(Known::No), None),
        row("claude-opus-5*", Some(Known::Unprobed), None),
    ]);
    let of = |model| table.of(Wire::Anthropic, Some(model));
    assert_eq!(of("claude-opus-5.5").of(Delivery::Native), Known::Unprobed);
    assert_eq!(of("claude-opus-4.5").of(Delivery::Native), Known::No, "an override beats a longer glob of the table");
    assert_eq!(of("claude-sonnet-5").of(Delivery::Native), Known::Yes, "what is not overridden stays");
    assert_eq!(of("claude-opus-4.5").of(Delivery::InResult), Known::Yes, "another row may answer another question");
}

#[test]
fn a_faulty_table_is_diagnosed() {
    let bad =
        Capabilities::parse("[[capability]]\nwire = 'anthropik'\nmodel = '*'\nsource = 's'\ndate = 'd'", "c.toml");
    assert!(bad.has_errors() && bad.diagnostics[0].to_string().contains("c.toml:2"), "{:?}", bad.diagnostics);
    let unsourced =
        Capabilities::parse("[[capability]]\nwire = 'mcp'\nmodel = '*'\nsource = ''\ndate = '2026-11'", "c.toml");
    assert_eq!(unsourced.diagnostics[0].code, "unsourced-capability");
    assert_eq!(unsourced.value.rows().count(), 0);
}

#[test]
fn auto_is_native_only_where_the_table_says_yes() {
    let engine = excel(Arm::Auto);
    let arm = |wire, model| engine.session_on(wire, model, "s", Capabilities::builtin()).unwrap();
    let native = arm(Wire::Anthropic, Some("claude-opus-5.5"));
    assert_eq!(native.arm(), Arm::Native);
    assert!(native.explain().contains("anthropic with claude-opus-5.5 (design/wires.md"), "{}", native.explain());
    assert_eq!(arm(Wire::OpenAiResponses, Some("gpt-5.4")).arm(), Arm::Native);
    for (wire, model) in [
        (Wire::Anthropic, Some("kimi-k3")),
        (Wire::Anthropic, None),
        (Wire::OpenAiResponses, Some("gpt-5")),
        (Wire::OpenAiChat, Some("gpt-5.4")),
        (Wire::Gemini, Some("gemini-3-pro")),
        (Wire::Mcp, None),
    ] {
        assert_ne!(arm(wire, model).arm(), Arm::Native, "{wire} {model:?}");
    }
    let lying = Capabilities::builtin().with([CapabilityRow { wire: Wire::Mcp, ..row("*", Some(Known::Yes), None) }]);
    assert_ne!(engine.session_on(Wire::Mcp, None, "s", &lying).unwrap().arm(), Arm::Native, "the wire itself cannot");
}

#[test]
fn an_arm_that_cannot_be_had_is_refused_with_the_reason() {
    let engine = excel(Arm::Native);
    let on = |wire, model| engine.session_on(wire, model, "s", Capabilities::builtin()).map(|session| session.arm());
    assert_eq!(on(Wire::Anthropic, Some("kimi-k3")), Ok(Arm::Native), "unprobed may be tried");
    assert_eq!(on(Wire::OpenAiResponses, Some("gpt-5.4")), Ok(Arm::Native));
    let why = on(Wire::OpenAiResponses, Some("gpt-5")).unwrap_err().to_string();
    assert!(
        why.starts_with("arm native cannot be used on openai-responses with gpt-5: the capability table says no"),
        "{why}"
    );
    assert!(on(Wire::Gemini, None).unwrap_err().to_string().contains("Gemini has no deferred tools"));
    let stable = excel(Arm::Stable);
    let no = Capabilities::builtin().with([row("*", None, Some(Known::No))]);
    assert!(stable.session_on(Wire::Anthropic, None, "s", &no).is_err());
    assert_eq!(stable.session_on(Wire::Anthropic, None, "s", Capabilities::builtin()).unwrap().id(), "s");
}
