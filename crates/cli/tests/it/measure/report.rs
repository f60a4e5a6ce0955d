//! `report`: a verdict that never costs more, figures as billed, and a page that reads well.
#![cfg(unix)]

use serde_json::{Value, json};

use crate::measure::sources::{Place, fixture};

fn report(place: &Place, args: &[&str]) -> Value {
    let ran = place.run(&[&["report", "--json"], args].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.json()
}

/// `count` tools with descriptions of `words` words.
fn tools(place: &Place, count: usize, words: usize) -> String {
    let tool = |at: usize| {
        let words = format!("Word number {at} of several. {}", "more words ".repeat(words));
        json!({"name": format!("tool_{at}"), "description": words, "inputSchema": {"type": "object", "properties": {
            "path": {"type": "string", "description": words}, "rows": {"type": "integer", "enum": [1, 2, 3]}}}})
    };
    place.put(&format!("{count}-{words}.json"), &json!((0..count).map(tool).collect::<Vec<_>>()).to_string())
}

#[test]
fn the_verdict_costs_no_more_than_full() {
    let place = Place::new();
    let cases = [
        vec![],
        vec!["--model".to_owned(), "claude-sonnet-5.5".to_owned()],
        vec!["--tools".to_owned(), tools(&place, 1, 1)],
        vec!["--tools".to_owned(), tools(&place, 4, 10)],
        vec!["--tools".to_owned(), tools(&place, 60, 80)],
        vec!["--tools".to_owned(), tools(&place, 60, 80), "--arms".to_owned(), "full,stable".to_owned()],
        vec!["--arms".to_owned(), "full".to_owned()],
    ];
    for args in cases {
        let report = report(&place, &args.iter().map(String::as_str).collect::<Vec<_>>());
        let verdict = &report["verdict"];
        let text = verdict["text"].as_str().unwrap();
        let full = &report["arms"]["full"];
        if verdict["arm"] == "full" {
            assert!(text.starts_with("keep `full`"), "{text}");
            assert_eq!(verdict["session_saved"], Value::Null);
            continue;
        }
        let saved = verdict["session_saved"].as_f64().unwrap();
        assert!(saved > 0.0 && text.starts_with("use `"), "{args:?}: {text}");
        let auto = || report["arms"].get("auto").filter(|auto| auto["chosen"]["arm"] == verdict["arm"]);
        let arm = report["arms"].get(verdict["arm"].as_str().unwrap()).or_else(auto).unwrap();
        let cost = |arm: &Value| arm["session"]["usd"].as_f64().unwrap();
        assert!(cost(arm) < cost(full), "{args:?}: {text}");
        assert_eq!(arm["first_turn_tokens"], verdict["first_turn_tokens"]);
    }
    let few = report(&place, &["--tools", &tools(&place, 4, 10)]);
    assert_eq!(few["verdict"]["arm"], "full", "{}", few["verdict"]);
    // For tools of one subject an expansion adds nearly all of them, which may cost what folding
    // saved; the built-in ones have eleven subjects.
    let many = report(&place, &[]);
    assert_eq!(many["verdict"]["arm"], "kept", "{}", many["verdict"]);
}

/// A lookup is JSON in the messages of most arms, and part of the array in arm seed.
#[test]
fn lookups_cost_what_each_arm_delivers() {
    let report = report(&Place::new(), &[]);
    let categories = report["categories"].as_array().unwrap();
    let figure = |value: &Value| value.as_u64().unwrap();
    for category in categories {
        let name = category["name"].as_str().unwrap();
        let of = |arm: &str| report["arms"][arm]["expansions"].get(name).cloned();
        let Some(stable) = of("stable") else { continue };
        // Core tools are already complete.
        let folded = |tool: &&Value| tool["category"] == name && tool["tier"] == "extended";
        let sum = |key: &str| -> u64 {
            report["per_tool"].as_array().unwrap().iter().filter(folded).map(|tool| figure(&tool[key])).sum()
        };
        let (answers, full) = (sum("answer"), sum("full"));
        assert_eq!(figure(&stable["array"]), 0);
        assert!(figure(&stable["messages"]) > full, "{name}: JSON is longer than what is billed");
        let around = figure(&stable["messages"]) as i64 - answers as i64;
        assert!((1..200).contains(&around), "{name}: {around} beside the definitions");
        let seed = of("seed").unwrap();
        assert!(figure(&seed["array"]) > 0 && figure(&seed["messages"]) < figure(&stable["messages"]), "{name}");
    }
    // Six tools with 0.75 look-ups each are 4.5, rounded.
    let session = |arm: &str, key: &str| figure(&report["arms"][arm]["session"][key]);
    assert_eq!((session("seed", "cache_breaks"), session("stable", "cache_breaks")), (5, 0));
    assert_eq!((session("full", "extra_requests"), session("stable", "extra_requests")), (0, 5));
    assert_eq!((session("kept", "extra_requests"), session("stable", "requests")), (0, 25));
}

#[test]
fn a_model_chooses_meter_prices_and_limits() {
    let place = Place::new();
    let own = report(&place, &["--model", "claude-sonnet-5.5"]);
    assert_eq!(own["meter"], "estimate:anthropic/claude-sonnet-5.5");
    assert_eq!(
        (&own["pricing"]["wire"], &own["pricing"]["priced_as"]),
        (&json!("anthropic"), &json!("claude-sonnet-5.5"))
    );
    assert!(own["arms"]["full"]["band"][0].as_u64() < own["arms"]["full"]["first_turn_tokens"].as_u64());
    assert!(own["arms"]["full"]["context_share"].as_f64().unwrap() > 0.0);
    assert_eq!(report(&place, &["--wire", "anthropic"])["pricing"]["priced_as"], "claude-sonnet-5.5");
    assert_eq!(report(&place, &["--model", "gemini-2.5-pro"])["meter"], "estimate:gemini/gemini-2.5-pro");
    let usual = report(&place, &[]);
    assert_eq!((&usual["pricing"]["model"], &usual["pricing"]["priced_as"]), (&json!("gpt-5.4"), &json!("gpt-5.4")));
    // An unknown figure is unmeasured, and never 0.
    let unknown = report(&place, &["--model", "gpt-4.1"]);
    assert_eq!(
        (&unknown["pricing"]["usd_per_million"], &unknown["pricing"]["priced_as"]),
        (&Value::Null, &json!("gpt-4.1"))
    );
    let session = &unknown["arms"]["full"]["session"];
    assert!(session["usd"].is_null() && session["input_cost_tokens"].as_u64().unwrap() > 0, "{session}");
    let text = place.run(&["report", "--model", "gpt-4.1"]).out;
    assert!(text.contains("unmeasured") && !text.contains("$0"), "{text}");
    assert_eq!(place.run(&["report", "--model", "llama-9"]).code, 3);
}

#[test]
fn the_page_begins_with_what_to_do_and_fits_a_terminal() {
    let place = Place::new();
    let server = fixture("--stdio --bare --tools 120");
    let small = tools(&place, 2, 3);
    let all = [&["--mcp", &server][..], &[], &["--model", "claude-opus-4.5"], &["--tools", &small]];
    for args in toolfold_testing::sample(all, 2) {
        let report = report(&place, args);
        let page = place.run(&[&["report"], args].concat()).out;
        let verdict = report["verdict"]["text"].as_str().unwrap();
        let unwrapped = page.lines().take(2).collect::<Vec<_>>().join(" ");
        assert!(unwrapped.starts_with(verdict), "{page}");
        for line in page.lines() {
            // A command to copy is not cut.
            assert!(line.chars().count() <= 80 || line.contains("  toolfold why "), "{line}");
        }
        let fixes = report["fix_first"].as_array().unwrap();
        assert_eq!(fixes.len(), report["tools"].as_u64().unwrap().min(3) as usize);
        for fix in fixes {
            let (tool, part) = (fix["tool"].as_str().unwrap(), fix["part"].as_str().unwrap());
            assert!(page.contains(&format!("toolfold why {tool}")) && page.contains(part), "{page}");
            assert!(fix["part_tokens"].as_u64() <= fix["tokens"].as_u64(), "{fix}");
        }
        let markdown = place.run(&[&["report", "--markdown"], args].concat()).out;
        assert!(markdown.starts_with(&format!("**{verdict}**\n")), "{markdown}");
    }
}

#[test]
fn a_report_is_the_same_each_time() {
    let place = Place::new();
    let args = ["report", "--tools", &tools(&place, 30, 20), "--json"];
    assert_eq!(place.run(&args).out, place.run(&args).out);
}

#[test]
fn a_workload_out_of_range_is_an_error() {
    for (key, value) in [("requests", "100000000000"), ("used_tools", "18446744073709551615")] {
        let place = Place::new();
        place.put("toolfold.toml", &format!("[presentation]\n{key} = {value}\n"));
        for command in [&["report"][..], &["sim", "--model", "gpt-5.4"]] {
            let ran = place.run(command);
            let is_named = ran.err.contains(value) && ran.err.contains("to 10000");
            assert!(matches!(ran.code, 1 | 2) && is_named, "{command:?}: {} {}", ran.code, ran.err);
        }
    }
}
