//! Estimates for Claude and Gemini: against the recorded requests they were fitted on, and
//! invariants. The results of a fit on half of the recordings are beside the factors.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::tokens::{Meter, Tiktoken, count_tools};

use super::count_request;

use super::read;

/// The errors of estimates, in percent of the reported tokens.
#[derive(Default)]
struct Off {
    each: Vec<f64>,
    in_band: usize,
}

impl Off {
    #[track_caller]
    fn check(mut self, what: &str, mean: f64, ninth_decile: f64) {
        self.each.sort_by(f64::total_cmp);
        let n = self.each.len();
        let (own_mean, own_p90) = (self.each.iter().sum::<f64>() / n as f64, self.each[n * 9 / 10]);
        println!(
            "{what}: {n} rows, off by {own_mean:.2} % on average, p90 {own_p90:.2} %, {}/{n} in band",
            self.in_band
        );
        assert!(own_mean <= mean, "{what}: off by {own_mean:.2} % on average, at most {mean}");
        assert!(own_p90 <= ninth_decile, "{what}: p90 {own_p90:.2} %, at most {ninth_decile}");
        assert!(self.in_band * 100 >= n * 86, "{what}: {} of {n} in their band", self.in_band);
    }
}

fn rows(files: [&str; 2]) -> Option<Vec<Value>> {
    let texts = files.into_iter().map(read).collect::<Option<Vec<_>>>()?;
    Some(texts.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Compares the rows of a class. Rows that are off by more than a factor of two are recordings
/// whose request and usage do not belong together (cached prefixes, compacted context); they are
/// excluded and counted.
fn compare(rows: &[Value], expected: &str, wanted: impl Fn(&Value) -> bool) -> Off {
    let (mut off, mut left) = (Off::default(), 0);
    for row in rows.iter().filter(|row| wanted(row)) {
        let reported = row[expected].as_u64().unwrap() as f64;
        let counted = count_request(row).unwrap_or_else(|e| panic!("{}: {e}", row["source"]));
        let by = (counted.tokens as f64 - reported).abs() / reported * 100.0;
        if by > 100.0 || reported > 2.0 * counted.tokens as f64 {
            left += 1;
            continue;
        }
        off.each.push(by);
        off.in_band += usize::from(counted.band.unwrap().holds(reported as usize));
    }
    println!("left out: {left} rows that were recorded wrongly");
    off
}

fn flagged(row: &Value, words: &[&str]) -> bool {
    let flags = row["flags"].as_array().into_iter().flatten().filter_map(Value::as_str);
    flags.into_iter().any(|flag| words.iter().any(|word| flag.contains(word)))
}

#[test]
fn claude_is_estimated_within_a_few_per_cent() {
    let Some(rows) = rows(["corpora/tokens/anthropic.jsonl", "corpora/tokens/anthropic_more.jsonl"]) else { return };
    let newer = |row: &Value| {
        let model = row["model"].as_str().unwrap();
        ["opus-4-7", "opus-4-8", "sonnet-5", "opus-5"].iter().any(|own| model.contains(own))
    };
    let plain = |row: &Value| !flagged(row, &["format"]);
    let tools = |row: &Value| row["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let fit =
        |wanted: &dyn Fn(&Value) -> bool| compare(&rows, "expected_input_tokens", |row| plain(row) && wanted(row));
    fit(&|row| !newer(row) && tools(row)).check("Claude to 4.6, with tools", 3.0, 7.0);
    fit(&|row| !newer(row) && !tools(row)).check("Claude to 4.6, without", 7.0, 13.0);
    fit(&|row| newer(row)).check("Claude from 4.7", 10.0, 25.0);
}

#[test]
fn gemini_is_estimated_within_a_tenth() {
    let Some(rows) = rows(["corpora/tokens/gemini.jsonl", "corpora/tokens/gemini_more.jsonl"]) else { return };
    let plain = |row: &Value| !flagged(row, &["sig", "schema"]) && row["model"].as_str().unwrap().starts_with("gemini");
    let tools = |row: &Value| row["function_declarations"].as_array().is_some_and(|tools| !tools.is_empty());
    let fit =
        |wanted: &dyn Fn(&Value) -> bool| compare(&rows, "expected_prompt_tokens", |row| plain(row) && wanted(row));
    fit(&|row| tools(row)).check("Gemini with tools", 8.0, 18.0);
    fit(&|row| !tools(row)).check("Gemini without", 6.0, 16.0);
}

#[test]
fn a_tools_array_costs_what_it_adds() {
    let chat = |n: usize| {
        json!({"type": "function", "function": {"name": format!("f{n}"), "description": "Does it.",
        "parameters": {"type": "object", "properties": {"a": {"type": "string", "description": "An a."}}}}})
    };
    let claude = |n: usize| {
        json!({"name": format!("f{n}"), "description": "Does it.",
        "input_schema": {"type": "object", "properties": {"a": {"type": "string", "description": "An a."}}}})
    };
    let gemini = |n: usize| {
        json!({"functionDeclarations": [{"name": format!("f{n}"), "description": "Does it.",
        "parametersJsonSchema": {"type": "object", "properties": {"a": {"type": "string", "description": "An a."}}}}]})
    };
    let cost = |wire, model, tools: &[Value]| count_tools(tools, &Meter::for_wire(wire, model).unwrap()).unwrap();
    let openai = cost("openai-chat", "gpt-4.1", &[chat(1), chat(2)]);
    assert!(openai.verified && openai.band.is_none());
    let ask = json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]});
    let mut asked = ask.clone();
    asked["tools"] = json!([chat(1), chat(2)]);
    let difference = count_request(&asked).unwrap().tokens - count_request(&ask).unwrap().tokens;
    assert_eq!(openai.tokens, difference, "what the tools add to a request");
    for (wire, model, meter, tools) in [
        ("anthropic", "claude-sonnet-4-6", "estimate:anthropic/claude-sonnet-4-6", [claude(1), claude(2)]),
        ("openai-chat", "claude-sonnet-4-6", "estimate:anthropic/claude-sonnet-4-6", [chat(1), chat(2)]),
        ("gemini", "gemini-2.5-flash", "estimate:gemini/gemini-2.5-flash", [gemini(1), gemini(2)]),
    ] {
        let two = cost(wire, model, &tools);
        assert_eq!((two.meter.to_string().as_str(), two.verified), (meter, false));
        let one = cost(wire, model, &tools[..1]);
        assert!(one.tokens < two.tokens && two.band.unwrap().holds(two.tokens));
        assert_eq!(cost(wire, model, &[]).tokens, 0, "no tools cost nothing");
    }
    let mut deferred = claude(3);
    deferred["defer_loading"] = json!(true);
    let both = cost("anthropic", "claude-opus-4-5", &[claude(1), deferred]);
    assert_eq!(both.tokens, cost("anthropic", "claude-opus-4-5", &[claude(1)]).tokens, "a deferred tool is not shown");
    assert!(Meter::for_wire("mcp", "gpt-4o").is_none() && Meter::for_wire("gemini", "gpt-4o").is_none());
}

#[test]
fn spellings_of_a_model_cost_the_same() {
    let tokens = |model: &str| {
        let row = json!({"model": model, "system": "Be brief.", "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"name": "f", "input_schema": {"type": "object"}}]});
        count_request(&row).unwrap().tokens
    };
    let one = tokens("claude-opus-4-5-20251101");
    for model in ["anthropic/claude-opus-4.5", "us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5@20251101"]
    {
        assert_eq!(tokens(model), one, "{model}");
    }
    assert_ne!(tokens("claude-opus-4-1"), one, "another prompt for tool use");
}

#[test]
fn an_unknown_prompt_for_tool_use_widens_the_band() {
    let row = |model: &str| {
        json!({"model": model, "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "f", "input_schema": {"type": "object"}}]})
    };
    let width = |model: &str| {
        let counted = count_request(&row(model)).unwrap();
        let band = counted.band.unwrap();
        (band.high.unwrap() - band.low, counted.reasons.len())
    };
    assert_eq!(width("claude-opus-5").1, 1);
    assert_eq!(width("claude-sonnet-5").1, 0);
    assert!(width("claude-opus-5").0 > 4 * width("claude-sonnet-5").0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(100), ..ProptestConfig::default() })]

    #[test]
    fn more_text_never_costs_less(text in "[a-z 表。\n]{0,40}", more in "[ ]?[a-z]{1,20}") {
        for model in ["claude-sonnet-4-6", "claude-opus-4-8", "gpt-4o", "gpt-5"] {
            let cost = |text: &str| count_request(&json!({"model": model, "messages": [{"role": "user", "content": text}]}));
            // Joining may merge the last token with the first of the next text, but no more.
            let longer = format!("{text}. {more}");
            prop_assert!(cost(&longer).unwrap().tokens + 1 >= cost(&text).unwrap().tokens);
        }
    }

    #[test]
    fn own_costs_stay_under_the_total(names in prop::collection::vec("[a-z]{1,9}", 1..6), words in "[a-z ]{0,60}") {
        let tools: Vec<Value> = names.iter().map(|name| json!({"name": name, "description": words,
            "input_schema": {"type": "object", "properties": {name: {"type": "string", "description": words}}}})).collect();
        for meter in ["estimate:anthropic/claude-sonnet-4.6", "estimate:gemini/gemini-2.5-flash", "billed:openai-chat/gpt-4.1"] {
            let texts = meter.parse::<Meter>().unwrap().tool_texts(&tools).unwrap();
            let counter = Tiktoken::new(meter.parse::<Meter>().unwrap().encoding());
            let each = texts.marginal(&counter);
            prop_assert_eq!(each.len(), tools.len());
            prop_assert!(each.iter().sum::<usize>() <= texts.total(&counter));
        }
    }
}
