//! Meters by name.

use toolfold::tokens::{Encoding, Meter, Tiktoken, TokenCounter};

#[test]
fn meter_names_round_trip() {
    for name in [
        "billed:openai-chat/gpt-4.1",
        "billed:openai-responses/gpt-5-mini",
        "estimate:anthropic/claude-sonnet-4.6",
        "estimate:gemini/gemini-2.5-flash",
        "estimate:vertex/gemini-2.5-pro",
        "json/o200k_base",
        "json/cl100k_base",
    ] {
        assert_eq!(name.parse::<Meter>().unwrap().to_string(), name);
    }
    assert_eq!(Meter::default().to_string(), "billed:openai-chat/gpt-4.1");
}

#[track_caller]
fn check_error(name: &str, expect: &str) {
    assert_eq!(name.parse::<Meter>().unwrap_err().to_string(), expect);
}

#[test]
fn invalid_meter_names_are_explained() {
    const FORMS: &str = "use `billed:openai-chat/<model>`, `billed:openai-responses/<model>`, `estimate:anthropic/<model>`, `estimate:gemini/<model>`, `estimate:vertex/<model>` or `json/<encoding>`";
    check_error("tokens", &format!("`tokens` is not a meter: {FORMS}"));
    check_error("", &format!("`` is not a meter: {FORMS}"));
    check_error("gpt-4o", &format!("`gpt-4o` is not a meter: {FORMS} (did you mean `billed:openai-chat/gpt-4o`?)"));
    check_error(
        "claude-opus-4-5",
        &format!("`claude-opus-4-5` is not a meter: {FORMS} (did you mean `estimate:anthropic/claude-opus-4-5`?)"),
    );
    check_error("o200k_base", &format!("`o200k_base` is not a meter: {FORMS} (did you mean `json/o200k_base`?)"));
    check_error(
        "billed:openai-caht/gpt-4o",
        &format!("`billed:openai-caht/gpt-4o` is not a meter: {FORMS} (did you mean `billed:openai-chat/gpt-4o`?)"),
    );
    check_error(
        "billed:openai-chat/",
        "`billed:openai-chat/` names no model: write one after the last `/`, such as `billed:openai-chat/gpt-4.1`",
    );
    check_error(
        "billed:openai-chat/a b",
        "`billed:openai-chat/a b` names no model: write one after the last `/`, such as `billed:openai-chat/gpt-4.1`",
    );
    check_error(
        "json/o200k",
        "`o200k` is not an encoding: use `o200k_base` or `cl100k_base` (did you mean `o200k_base`?)",
    );
    check_error(&"x".repeat(500), &format!("`{}…` is not a meter: {FORMS}", "x".repeat(80)));
}

/// A counter that stores the text that it counted last.
#[derive(Default)]
struct Recorder(std::cell::RefCell<String>);

impl TokenCounter for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }

    fn count(&self, text: &str) -> usize {
        text.clone_into(&mut self.0.borrow_mut());
        0
    }
}

#[test]
fn the_json_meter_counts_the_compact_array() {
    let tools = [serde_json::json!({"name": "a", "x": 1}), serde_json::json!({"name": "b"})];
    let texts = "json/o200k_base".parse::<Meter>().unwrap().tool_texts(&tools).unwrap();
    let recorder = Recorder::default();
    let _ = texts.total(&recorder);
    assert_eq!(recorder.0.into_inner(), serde_json::to_string(&tools).unwrap());
    assert!(texts.reasons.is_empty());
    let counter = Tiktoken::new(Encoding::O200kBase);
    assert!(texts.total(&counter) > texts.marginal(&counter).iter().sum());
}
