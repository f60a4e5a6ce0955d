//! The capability table, and what follows from it.

use toolfold::profile::{Arm, Delivery};
use toolfold::wire::{Capabilities, ModelId, Support, Wire};

use super::excel;

const SHIPPED: &str = "src/wire/capabilities.toml";

#[test]
fn every_row_of_the_shipped_table_has_a_source_and_date() {
    let text = crate::project(SHIPPED);
    let loaded = Capabilities::parse(&text, SHIPPED);
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(&loaded.value, Capabilities::builtin());
    assert_eq!(loaded.value.rows.len(), text.matches("[[capability]]").count());
    let rows = loaded.value.rows.iter().map(|row| (&row.source, &row.date));
    let rows = rows.chain(loaded.value.caches.iter().map(|row| (&row.source, &row.date)));
    for (source, date) in rows.chain(loaded.value.limits.iter().map(|row| (&row.source, &row.date))) {
        assert!(
            !source.contains("design/") && !source.contains("../"),
            "{source}: cites what is not in the repository"
        );
        let mut parts = date.split('-').map(|part| part.parse::<u32>().unwrap());
        assert!(parts.next().unwrap() >= 2024 && (1..=12).contains(&parts.next().unwrap()), "{date}");
    }
    for wire in Wire::ALL {
        assert!(loaded.value.of(wire, None).row(Delivery::Native).is_some(), "{wire} has a row for every model");
    }
}

/// Every spelling with what it names: family, tier and version, and whether the provider defers
/// natively there.
#[rustfmt::skip]
const SPELLINGS: &[(Wire, &str, &str, Support)] = {
    use Support::{No, Unprobed, Yes};
    const A: Wire = Wire::Anthropic;
    const R: Wire = Wire::OpenAiResponses;
    const C: Wire = Wire::OpenAiChat;
    const G: Wire = Wire::Gemini;
    &[
        // Anthropic's own ids, with and without a date, older and newer word order.
        (A, "claude-opus-4.5", "claude opus 4.5", Yes),
        (A, "claude-opus-4-5", "claude opus 4.5", Yes),
        (A, "claude-opus-4-5-20251101", "claude opus 4.5", Yes),
        (A, "claude-opus-4-5-latest", "claude opus 4.5", Yes),
        (A, "Claude-Haiku-4-5", "claude haiku 4.5", Yes),
        (A, "claude-sonnet-4-6", "claude sonnet 4.6", Yes),
        (A, "claude-opus-4-10", "claude opus 4.10", Yes),
        (A, "claude-sonnet-5", "claude sonnet 5", Yes),
        (A, "claude-sonnet-5-20260401", "claude sonnet 5", Yes),
        (A, "claude-opus-5.5", "claude opus 5.5", Yes),
        (A, "claude-fable-5.1", "claude fable 5.1", Yes),
        (A, "claude-opus-10", "claude opus 10", Yes),
        (A, "claude-opus-4", "claude opus 4", Unprobed),
        (A, "claude-opus-4-20250514", "claude opus 4", Unprobed),
        (A, "claude-sonnet-4-0", "claude sonnet 4", Unprobed),
        (A, "claude-opus-4-1-20250805", "claude opus 4.1", Unprobed),
        (A, "claude-3-5-sonnet-20241022", "claude sonnet 3.5", No),
        (A, "claude-3-7-sonnet-latest", "claude sonnet 3.7", No),
        (A, "claude-3-haiku-20240307", "claude haiku 3", No),
        (A, "claude-instant-1.2", "claude instant 1.2", No),
        (A, "claude-2.1", "claude 2.1", No),
        (A, "claude-latest", "claude", Unprobed),
        // OpenRouter.
        (A, "anthropic/claude-opus-4.5", "claude opus 4.5", Yes),
        (A, "anthropic/claude-opus-4.5:beta", "claude opus 4.5", Yes),
        (A, "anthropic/claude-3.7-sonnet:thinking", "claude sonnet 3.7", No),
        (A, "~anthropic/claude-opus-4.5", "claude opus 4.5", Yes),
        (A, "~anthropic/claude-opus-latest", "claude opus", Unprobed),
        (A, "openrouter/anthropic/claude-sonnet-4.5", "claude sonnet 4.5", Yes),
        // Bedrock: regions, inference profiles, ARNs.
        (A, "anthropic.claude-opus-4-5-20251101-v1:0", "claude opus 4.5", Yes),
        (A, "us.anthropic.claude-opus-4-5-20251101-v1:0", "claude opus 4.5", Yes),
        (A, "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude sonnet 4.5", Yes),
        (A, "global.anthropic.claude-opus-4-6-v1", "claude opus 4.6", Yes),
        (A, "us-gov.anthropic.claude-3-5-sonnet-20240620-v1:0", "claude sonnet 3.5", No),
        (A, "apac.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude sonnet 3.5", No),
        (A, "bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude haiku 4.5", Yes),
        (A, "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-5-20251101-v1:0", "claude opus 4.5", Yes),
        (A, "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0", "claude haiku 3", No),
        (A, "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4", "", Unprobed),
        // Vertex AI.
        (A, "claude-opus-4-5@20251101", "claude opus 4.5", Yes),
        (A, "claude-sonnet-4-5@default", "claude sonnet 4.5", Yes),
        (A, "publishers/anthropic/models/claude-opus-4-5", "claude opus 4.5", Yes),
        (A, "vertex_ai/claude-3-5-sonnet@20240620", "claude sonnet 3.5", No),
        // SDKs that put the provider before a colon.
        (A, "anthropic:claude-sonnet-4-5", "claude sonnet 4.5", Yes),
        // What only contains a family.
        (A, "my-claude", "my claude", Unprobed),
        (A, "claude-prod-5", "claude prod", Unprobed),
        (A, "hermes-claude-4.5-distill", "hermes claude distill", Unprobed),
        (A, "notclaude-opus-4.5", "notclaude opus 4.5", Unprobed),
        (A, "kimi-k3", "kimi 3", Unprobed),
        (A, "", "", Unprobed),
        // OpenAI.
        (R, "gpt-5.4", "gpt 5.4", Yes),
        (R, "gpt-5-4", "gpt 5.4", Yes),
        (R, "gpt-5.4-mini", "gpt mini 5.4", Yes),
        (R, "gpt-5.4-2026-03-05", "gpt 5.4", Yes),
        (R, "openai/gpt-5.4", "gpt 5.4", Yes),
        (R, "openai:gpt-5.4-pro", "gpt pro 5.4", Yes),
        (R, "gpt-5.6-sol", "gpt sol 5.6", Yes),
        (R, "gpt-6.1-sol", "gpt sol 6.1", Yes),
        (R, "gpt-5.10", "gpt 5.10", Yes),
        (R, "gpt-10", "gpt 10", Yes),
        (R, "GPT-5.4", "gpt 5.4", Yes),
        (R, "gpt-5", "gpt 5", No),
        (R, "gpt-5-2025-08-07", "gpt 5", No),
        (R, "gpt-5.3-codex", "gpt codex 5.3", No),
        (R, "gpt-5.1-codex-max", "gpt max codex 5.1", No),
        (R, "gpt-4.1", "gpt 4.1", No),
        (R, "gpt-4.1-mini-2025-04-14", "gpt mini 4.1", No),
        (R, "ft:gpt-4.1-2025-04-14:org::id", "gpt org id 4.1", No),
        (R, "gpt-4o", "gpt 4o 4", No),
        (R, "chatgpt-4o-latest", "gpt 4o latest 4", No),
        (R, "gpt-4-0613", "gpt 4", No),
        (R, "gpt-35-turbo", "gpt turbo 3.5", No),
        (R, "gpt-oss-120b", "gpt oss 120b", Unprobed),
        (R, "gpt-41", "gpt", Unprobed),
        (R, "gpt-eastus-6", "gpt eastus", Unprobed),
        (R, "o3", "o 3", Unprobed),
        (R, "o4-mini", "o mini 4", Unprobed),
        (R, "o3-2025-04-16", "o 3", Unprobed),
        // Azure: deployments that contain the model's name.
        (R, "prod-gpt-5.4-eastus", "gpt eastus 5.4", Yes),
        (R, "azure/team_gpt-5.4-mini", "gpt mini 5.4", Yes),
        (R, "azure/my-gpt-5.3-codex", "gpt codex 5.3", No),
        (R, "gpt-or-claude-5.4", "gpt or claude", Unprobed),
        (R, "azure/prod", "prod", Unprobed),
        (C, "gpt-5.4", "gpt 5.4", No),
        (C, "Qwen/Qwen3.8-Max", "qwen max 3.8", No),
        (C, "deepseek/deepseek-chat-v3.1:free", "deepseek chat free 3.1", No),
        (C, "accounts/fireworks/models/deepseek-v4-pro", "deepseek pro 4", No),
        (C, "llama3.1:8b", "llama 3.1", No),
        (C, "glm-5.1", "glm 5.1", No),
        // Google.
        (G, "gemini-3-pro", "gemini pro 3", No),
        (G, "models/gemini-2.5-pro", "gemini pro 2.5", No),
        (G, "google/gemini-3-pro-preview", "gemini pro preview 3", No),
        (G, "gemini-2.5-flash-lite-preview-09-2025", "gemini flash-lite preview 2.5", No),
        (G, "publishers/google/models/gemini-2.0-flash-001", "gemini flash 2", No),
        (G, "gemini-exp-1206", "gemini exp", No),
    ]
};

/// The content of an id, in words, without a final suffix such as `:beta` or `latest` that no row
/// requires.
fn said(id: &ModelId) -> String {
    let loose = |word: &&String| {
        !matches!(word.as_str(), "beta" | "thinking" | "latest") || id.family.as_deref() == Some("gpt")
    };
    let words = id.family.iter().chain(&id.tier).chain(id.variants.iter().filter(loose)).cloned();
    words.chain(id.version.map(|version| version.to_string())).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_spelling_of_a_model_is_that_model() {
    assert!(SPELLINGS.len() >= 60);
    let mut faults = Vec::new();
    for (wire, model, names, native) in SPELLINGS {
        let (id, known) = (said(&ModelId::parse(model)), Capabilities::builtin().of(*wire, Some(model)));
        if id != *names || known.of(Delivery::Native) != *native {
            faults.push(format!(
                "{model}: `{id}`, not `{names}`; native {:?}, not {native:?}",
                known.of(Delivery::Native)
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn spellings_of_one_model_have_one_capability_cache_and_limit() {
    let table = Capabilities::builtin();
    for (wire, model, names, _) in SPELLINGS {
        for (other_wire, other, other_names, _) in SPELLINGS {
            if (wire, names) == (other_wire, other_names)
                && !other.starts_with("azure/")
                && !model.starts_with("azure/")
            {
                let all = |model| {
                    (table.of(*wire, Some(model)), table.cache_of(*wire, Some(model)), table.limits(*wire, Some(model)))
                };
                assert_eq!(all(model), all(other), "{model} and {other}");
            }
        }
    }
    let of = |model| table.cache_of(Wire::Anthropic, Some(model)).map(|row| row.minimum);
    assert_eq!(of("us.anthropic.claude-opus-4-5-20251101-v1:0"), Some(4_096));
    assert_eq!(of("claude-3-5-haiku@20241022"), Some(2_048));
    assert_eq!(of("claude-haiku-4-7"), Some(1_024), "what is said of 4.5 ends where its row ends");
}

#[test]
fn hosts_are_detected_in_ids() {
    use toolfold::model::Host;
    let host = |model| ModelId::parse(model).host;
    for (model, expected) in [
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", Some(Host::Bedrock)),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-5-20251101-v1:0",
            Some(Host::Bedrock),
        ),
        ("claude-opus-4-5@20251101", Some(Host::Vertex)),
        ("publishers/google/models/gemini-2.5-pro", Some(Host::Vertex)),
        ("azure/gpt-5.4", Some(Host::Azure)),
        ("azure_openai:o3-mini", Some(Host::Azure)),
        ("openrouter/openai/gpt-5.4", Some(Host::OpenRouter)),
        ("openai/gpt-5.4", None),
        ("gpt-5.4", None),
    ] {
        assert_eq!(host(model), expected, "{model}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(toolfold_testing::cases(256)))]

    #[test]
    fn any_text_is_read_without_a_panic(id in "\\PC{0,80}|[a-z0-9./:@~_-]{0,600}") {
        let parsed = ModelId::parse(&id);
        let _ = (parsed.version.map(|version| version.to_string()), Capabilities::builtin().of(Wire::Anthropic, Some(&id)));
    }

    #[test]
    fn later_versions_are_later(major in 5_u16..20, minor in 0_u16..100) {
        let later = (major, minor) >= (5, 4);
        let expected = if later { Support::Yes } else { Support::No };
        for model in [format!("gpt-{major}.{minor}"), format!("openai/gpt-{major}.{minor}-mini"), format!("gpt-{major}-{minor}-2026-03-05")] {
            let known = Capabilities::builtin().of(Wire::OpenAiResponses, Some(&model)).of(Delivery::Native);
            proptest::prop_assert_eq!(known, expected, "{}", model);
        }
    }
}

#[test]
fn without_a_model_only_rows_for_every_model_count() {
    let table = Capabilities::builtin();
    assert_eq!(table.of(Wire::Anthropic, None).of(Delivery::Native), Support::Unprobed);
    assert_eq!(table.of(Wire::OpenAiChat, Some("glm-5.1")).of(Delivery::InResult), Support::Unprobed);
    assert_eq!(table.of(Wire::Mcp, None).of(Delivery::InPlace), Support::Yes);
    let note = |model| table.of(Wire::Anthropic, Some(model)).row(Delivery::Native).and_then(|row| row.note.as_deref());
    assert_eq!(note("claude-opus-4.5"), None);
}

/// The built-in table behind own rows, each with a wire, a model and a cell.
fn overridden(rows: &[(Wire, &str, &str)]) -> Capabilities {
    let mut text = String::new();
    for (wire, model, cell) in rows {
        text +=
            &format!("[[capability]]\nwire = '{wire}'\nmodel = '{model}'\n{cell}\nsource = 'own'\ndate = '2026-11'\n");
    }
    Capabilities::parse(&text, "own.toml").into_result().unwrap().over(Capabilities::builtin())
}

#[test]
fn overrides_precede_by_cell_and_specificity() {
    let table = overridden(&[
        (Wire::Anthropic, "*", "in_result = 'yes'"),
        (Wire::Anthropic, "claude-opus-*", "native = 'no'"),
        (Wire::Anthropic, "claude-opus-5*", "native = 'unprobed'"),
    ]);
    let of = |model| table.of(Wire::Anthropic, Some(model));
    assert_eq!(of("claude-opus-5.5").of(Delivery::Native), Support::Unprobed);
    assert_eq!(of("claude-opus-4.5").of(Delivery::Native), Support::No, "an override beats a longer glob of the table");
    assert_eq!(of("claude-sonnet-5").of(Delivery::Native), Support::Yes, "what is not overridden stays");
    assert_eq!(of("claude-opus-4.5").of(Delivery::InResult), Support::Yes, "another row may answer another question");
}

#[test]
fn a_faulty_table_is_diagnosed() {
    let bad =
        Capabilities::parse("[[capability]]\nwire = 'anthropik'\nmodel = '*'\nsource = 's'\ndate = 'd'", "c.toml");
    assert!(bad.has_errors() && bad.diagnostics[0].to_string().contains("c.toml:2"), "{:?}", bad.diagnostics);
    let unsourced =
        Capabilities::parse("[[capability]]\nwire = 'mcp'\nmodel = '*'\nsource = ''\ndate = '2026-11'", "c.toml");
    assert_eq!(unsourced.diagnostics[0].code, "unsourced-capability");
    assert_eq!(unsourced.value.rows.len(), 0);
}

#[test]
fn auto_is_native_only_if_the_table_allows_it() {
    let engine = excel(Arm::Auto);
    let arm = |wire, model: Option<&str>| engine.conversation(wire).model(model.unwrap_or_default()).start().unwrap();
    let native = arm(Wire::Anthropic, Some("claude-opus-5.5"));
    assert_eq!(native.arm(), Arm::Native);
    assert!(native.explain().contains("anthropic with claude-opus-5.5 (Claude docs"), "{}", native.explain());
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
    let lying = overridden(&[(Wire::Mcp, "*", "native = 'yes'")]);
    assert_ne!(
        engine.conversation(Wire::Mcp).capabilities(&lying).start().unwrap().arm(),
        Arm::Native,
        "the wire itself cannot"
    );
}

#[test]
fn an_unavailable_arm_is_rejected_with_a_reason() {
    let engine = excel(Arm::Native);
    let on = |wire, model: Option<&str>| {
        engine.conversation(wire).model(model.unwrap_or_default()).start().map(|talk| talk.arm())
    };
    assert_eq!(on(Wire::Anthropic, Some("kimi-k3")), Ok(Arm::Native), "unprobed may be tried");
    assert_eq!(on(Wire::OpenAiResponses, Some("gpt-5.4")), Ok(Arm::Native));
    let why = on(Wire::OpenAiResponses, Some("gpt-5")).unwrap_err().to_string();
    assert!(
        why.starts_with(
            "arm native cannot be used on openai-responses with gpt-5: the capability table marks it unsupported"
        ),
        "{why}"
    );
    assert!(on(Wire::Gemini, None).unwrap_err().to_string().contains("Gemini has no deferred tools"));
    let stable = excel(Arm::Stable);
    let no = overridden(&[(Wire::Anthropic, "*", "in_result = 'no'")]);
    assert!(stable.conversation(Wire::Anthropic).capabilities(&no).start().is_err());
    assert_eq!(stable.conversation(Wire::Anthropic).id("s").start().unwrap().id(), "s");
}

#[test]
fn rows_match_models_by_family_version_or_glob() {
    let row = |models: &str| {
        let text =
            format!("[[capability]]\nwire = 'anthropic'\n{models}\nnative = 'no'\nsource = 'own'\ndate = '2026-11'");
        Capabilities::parse(&text, "own.toml")
    };
    let native = |models: &str, model: &str| {
        let own = row(models).into_result().unwrap();
        own.over(Capabilities::builtin()).of(Wire::Anthropic, Some(model)).of(Delivery::Native)
    };
    for (models, model, covered) in [
        ("family = 'claude'", "claude-opus-4.5", true),
        ("family = 'Claude'", "us.anthropic.claude-opus-4-5-20251101-v1:0", true),
        ("family = 'claude'\nsince = '4.6'", "claude-opus-4.5", false),
        ("family = 'claude'\nsince = '4.6'", "claude-opus-4-10", true),
        ("family = 'claude'\nuntil = '5'", "claude-opus-4-10", true),
        ("family = 'claude'\nuntil = '5'", "claude-opus-5", false),
        ("family = 'claude'\ntier = 'opus'", "claude-sonnet-5", false),
        ("family = 'claude'\nvariant = 'thinking'", "anthropic/claude-opus-4.5:thinking", true),
        ("family = 'claude'\nvariant = 'thinking'", "anthropic/claude-opus-4.5", false),
        ("host = 'bedrock'", "anthropic.claude-opus-4-5-20251101-v1:0", true),
        ("host = 'bedrock'", "claude-opus-4.5", false),
        ("model = 'claude-*-4.5*'", "anthropic/claude-opus-4-5-20251101", true),
        ("model = 'claude-*-4.5*'", "us.anthropic.claude-opus-4-5-20251101-v1:0", true),
        ("model = 'claude-*-4.5*'", "claude-opus-4.6", false),
    ] {
        let expected = if covered { Support::No } else { Support::Yes };
        assert_eq!(native(models, model), expected, "{models} {model}");
    }
    for (models, why) in [
        ("", "does not say its models"),
        ("model = '*'\nfamily = 'claude'", "more than once"),
        ("model = '*'\nsince = '4'", "stand beside `family` only"),
        ("host = 'basement'", "there is no host `basement`: known are azure, bedrock, openrouter, vertex"),
        ("family = 'claude'\nsince = '4.x'", "`4.x` is not a version"),
        ("family = 'claude'\nsince = 4.5", "floating point"),
    ] {
        let loaded = row(models);
        let diagnostic = loaded.diagnostics.first().unwrap_or_else(|| panic!("{models}")).to_string();
        assert!(diagnostic.contains(why) && diagnostic.contains("own.toml:"), "{diagnostic}");
        assert_eq!(loaded.value.rows.len(), 0);
    }
}

#[test]
fn a_row_may_be_for_several_wires() {
    let text = "[[cache]]\nwire = ['mcp', 'gemini']\nmodel = '*'\nread = 1\nwrite = 2\nminimum = 3\nsource = 's'\ndate = '2026-11'";
    let own = Capabilities::parse(text, "own.toml").into_result().unwrap();
    for wire in [Wire::Mcp, Wire::Gemini] {
        assert_eq!(own.cache_of(wire, None).map(|row| row.minimum), Some(3), "{wire}");
    }
    assert_eq!(own.cache_of(Wire::Anthropic, None), None);
}
