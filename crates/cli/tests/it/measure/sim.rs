//! Tests of `sim`.

use serde_json::{Value, json};

use crate::measure::tree::from_stdin;

fn scenarios(file: &str) -> String {
    format!("{}/../measure/scenarios/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn sim(args: &[&str], input: &str) -> (i32, String, String) {
    let words: Vec<&str> = ["sim"].iter().chain(args).copied().collect();
    from_stdin(&words, input)
}

#[track_caller]
fn answer(args: &[&str], input: &str) -> Value {
    let (code, out, err) = sim(&[args, &["--json"]].concat(), input);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

fn arm<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let found = answer["arms"].as_array().unwrap().iter().find(|arm| arm["arm"] == name);
    found.unwrap_or_else(|| panic!("no arm {name}: {answer}"))
}

#[test]
fn a_scenario_with_sizes_needs_no_tools() {
    let file = scenarios("toy-6-category.toml");
    let answer = answer(&["--scenario", &file, "--model", "claude-opus-5.5"], "");
    let share = |name: &str| arm(&answer, name)["relative_to_full"].as_f64().unwrap();
    assert!((share("seed") - 0.13).abs() < 0.01 && (share("stable") + 0.09).abs() < 0.01, "{answer}");
    assert_eq!(
        (&arm(&answer, "seed")["cache_breaks"], &arm(&answer, "stable")["cache_breaks"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(arm(&answer, "stable")["timeline"].as_array().unwrap().len(), 7);
    assert_eq!(answer["schema"], "toolfold.sim/1");
    let (code, out, _) =
        sim(&["--scenario", &file, "--model", "us.anthropic.claude-opus-5-5-v1:0", "--arms", "stable"], "");
    let first = out.lines().next().unwrap();
    assert!(code == 0 && first.starts_with("`stable` costs least: 9") && first.contains("less than `full`"), "{out}");
    assert!(!out.contains("\u{1b}[") && !out.contains("seed"), "{out}");
}

#[test]
fn the_built_in_tools_are_simulated_in_every_arm_that_the_wire_has() {
    let answer = answer(&["--model", "claude-sonnet-5.5"], "");
    assert_eq!(
        (&answer["wire"], &answer["meter"]),
        (&json!("anthropic"), &json!("estimate:anthropic/claude-sonnet-5.5"))
    );
    let native = arm(&answer, "native");
    let full = arm(&answer, "full");
    assert!(native["first_turn_tokens"].as_u64() < full["first_turn_tokens"].as_u64(), "deferred tools are not sent");
    assert_eq!((full["requests"].as_u64(), arm(&answer, "stable")["requests"].as_u64()), (Some(20), Some(25)));
    assert!(arm(&answer, "auto")["relative_to_full"].as_f64().unwrap() <= 0.0, "{answer}");
    assert!(arm(&answer, "auto")["reason"].as_str().is_some_and(|why| !why.is_empty()));
    for arm in answer["arms"].as_array().unwrap() {
        let sum =
            |key: &str| arm["timeline"].as_array().unwrap().iter().map(|own| own[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(arm["cached_tokens"].as_u64().unwrap(), sum("cached"), "{}", arm["arm"]);
        assert_eq!(sum("cached") + sum("written") + sum("uncached"), sum("tools") + sum("system") + sum("messages"));
    }
    let chat = answer_of_chat();
    assert!(chat["unavailable"]["native"].as_str().is_some_and(|why| why.contains("openai-chat")), "{chat}");
}

fn answer_of_chat() -> Value {
    answer(&["--model", "gpt-5.4", "--arms", "native,stable"], "")
}

#[test]
fn without_a_price_nothing_is_measured_and_known_prices_are_listed() {
    let (code, out, err) = sim(&["--model", "my-model", "--arms", "stable"], "");
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("the price of `my-model` is unknown") && err.contains("--prices") && err.contains("docs/cost.md"),
        "{err}"
    );
    assert!(out.contains("input cost") && out.contains("no meter is known"), "{out}");
    let (code, out, err) = sim(&["--arms", "stable"], "");
    assert!(code == 3 && err.contains("name a model") && out.contains("stable"), "{err}");
    let own = "[[price]]\nmodels = ['my-model']\ninput = 1\noutput = 2\nsource = 'own'\ndate = '2026-11'\n";
    let answer = answer(&["--model", "my-model", "--arms", "stable", "--prices", "-"], own);
    assert_eq!(answer["price"]["input"], 1.0);
    let (code, _, err) = sim(&["--model", "my-model", "--prices", "-"], &own.replace("'own'", "''"));
    assert!(code == 1 && err.contains("no source"), "{err}");
    let (code, _, err) = sim(&["--model", "gpt-5.4", "--scenario", "-"], "long_cache = true");
    assert!(code == 3 && err.contains("longer-lived cache"), "{err}");
}

#[test]
fn names_of_a_scenario_are_those_of_the_tools() {
    let scenario =
        "requests = 4\n[[expand]]\nbefore = 2\ncategory = 'format'\n[[expand]]\nbefore = 3\ntools = ['merge_cells']";
    let answer = answer(&["--model", "gpt-5.4", "--arms", "stable,seed", "--scenario", "-"], scenario);
    let messages = |name: &str| arm(&answer, name)["timeline"][2]["messages"].as_u64().unwrap();
    assert!(messages("stable") > messages("seed") + 1_000, "the definitions come in the answer: {answer}");
    assert_eq!(arm(&answer, "seed")["cache_breaks"], 1);
    let (code, _, err) = sim(&["--model", "gpt-5.4", "--scenario", "-"], &scenario.replace("'format'", "'formats'"));
    assert!(code == 1 && err.contains("unknown category `formats`; did you mean `format`?"), "{err}");
    let (code, _, err) = sim(&["--model", "gpt-5.4", "--scenario", "-"], "request = 3");
    assert!(code == 1 && err.contains("line 1") && err.contains("docs/cost.md"), "{err}");
    let (code, _, err) = sim(&["--model", "gpt-5.4", "--arms", "stabel"], "");
    assert!(code == 2 && err.contains("stable"), "{err}");
}

/// The same two calls on each wire: four messages of the user and tools, three requests.
fn transcripts() -> [Value; 4] {
    let text = "word ".repeat(400);
    [
        json!({"messages": [
            {"role": "system", "content": text}, {"role": "user", "content": text},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "merge_cells", "arguments": "{\"range\":\"A1:B2\"}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": text},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "2", "type": "function", "function": {"name": "merge_cells", "arguments": "{\"range\":\"A1:B3\"}"}}]},
            {"role": "tool", "tool_call_id": "2", "content": text},
            {"role": "assistant", "content": "Done."}]}),
        json!({"instructions": text, "input": [
            {"role": "user", "content": text},
            {"type": "reasoning", "id": "r", "summary": []},
            {"type": "function_call", "call_id": "1", "name": "merge_cells", "arguments": "{\"range\":\"A1:B2\"}"},
            {"type": "function_call_output", "call_id": "1", "output": text},
            {"type": "function_call", "call_id": "2", "name": "merge_cells", "arguments": "{\"range\":\"A1:B3\"}"},
            {"type": "function_call_output", "call_id": "2", "output": text},
            {"role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}]}),
        json!({"system": text, "messages": [
            {"role": "user", "content": text},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "merge_cells", "input": {"range": "A1:B2"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": text}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "2", "name": "merge_cells", "input": {"range": "A1:B3"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": text}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}]}),
        json!({"systemInstruction": {"parts": [{"text": text}]}, "contents": [
            {"role": "user", "parts": [{"text": text}]},
            {"role": "model", "parts": [{"functionCall": {"name": "merge_cells", "args": {"range": "A1:B2"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "merge_cells", "response": {"result": text}}}]},
            {"role": "model", "parts": [{"functionCall": {"name": "merge_cells", "args": {"range": "A1:B3"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "merge_cells", "response": {"result": text}}}]},
            {"role": "model", "parts": [{"text": "Done."}]}]}),
    ]
}

#[test]
fn a_transcript_of_any_wire_is_a_session() {
    for transcript in transcripts() {
        let text = transcript.to_string();
        let answer = answer(&["--model", "gpt-5.4", "--arms", "stable", "--trace", "-"], &text);
        assert_eq!((&answer["requests"], &arm(&answer, "stable")["requests"]), (&json!(3), &json!(4)), "{transcript}");
        let system = answer["system_tokens"].as_u64().unwrap();
        assert!((395..=420).contains(&system), "{system}: {transcript}");
        let last = arm(&answer, "full")["timeline"][2]["messages"].as_u64().unwrap();
        assert!((1_190..=1_320).contains(&last), "{last}: {transcript}");
        let never = answer_never(&text);
        assert_eq!(arm(&never, "stable")["requests"], 3);
        // The gate answers a call only where parameters are hidden.
        for (name, requests) in [("stable", 4), ("kept", 3)] {
            let args = ["--model", "gpt-5.4", "--arms", name, "--trace", "-", "--lookup", "gate"];
            assert_eq!(arm(&self::answer(&args, &text), name)["requests"], requests, "{name}: {transcript}");
        }
    }
    for (text, because) in [
        ("{}", "expected messages"),
        ("[]", "no message of the model"),
        ("[", "not JSON"),
        ("[{\"role\":\"user\"}]", "no message of the model"),
    ] {
        let (code, _, err) = sim(&["--model", "gpt-5.4", "--trace", "-"], text);
        assert!(code == 1 && err.contains(because), "{text}: {err}");
    }
}

fn answer_never(text: &str) -> Value {
    answer(&["--model", "gpt-5.4", "--arms", "stable", "--trace", "-", "--lookup", "never"], text)
}

#[test]
fn the_text_fits_80_columns() {
    for args in [&[][..], &["--model", "claude-sonnet-5.5"], &["--model", "my-model"]] {
        let (_, out, _) = sim(args, "");
        let wide: Vec<&str> = out.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty() && out.contains("uncached"), "{args:?}: {wide:#?}");
    }
}
