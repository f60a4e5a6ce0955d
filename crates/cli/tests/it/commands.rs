//! The command as its users run it.

use serde_json::Value;

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn run_with(args: &[&str], input: &[u8]) -> Ran {
    let output = toolfold_testing::command(env!("CARGO_BIN_EXE_toolfold"), &crate::root(), args, input);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (code, out) = (output.status.code().expect("it exits without a signal"), text(output.stdout));
    crate::schemas::check_output(args, &out);
    Ran { code, out, err: text(output.stderr) }
}

pub(crate) fn run(args: &[&str]) -> Ran {
    run_with(args, b"")
}

/// The file with the key of a store's approver, which is created with the first decision.
pub(crate) fn key_of(store: &str) -> String {
    let key = format!("{store}.key");
    if !std::path::Path::new(&key).exists() {
        let made = run(&["approvals", "init", "--store", store, "--key-file", &key]);
        assert_eq!(made.code, 0, "{}", made.err);
    }
    key
}

pub(crate) fn person(store: &str, args: &[&str]) -> Ran {
    let key = key_of(store);
    run(&[args, &["--store", store, "--key-file", &key]].concat())
}

#[test]
fn policy_commands_hold() {
    crate::cases().case("crates/cli/tests/it/policy.trycmd");
}

#[test]
fn without_arguments_it_reports_on_the_excel_domain() {
    let bare = run(&[]);
    assert_eq!((bare.code, bare.err.as_str()), (0, ""));
    assert_eq!(bare.out, run(&["report"]).out);
    assert!(bare.out.contains("49 tools under profile excel"), "{}", bare.out);
    assert!(bare.out.trim_end().lines().last().unwrap().starts_with("Next: toolfold report --tools"));
}

#[test]
fn the_report_as_json_keeps_its_contract() {
    let ran = run(&["report", "--json"]);
    assert_eq!(ran.code, 0);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["schema"], "toolfold.report/2");
    assert_eq!(report["meter"], "billed:openai-chat/gpt-5.4");
    assert_eq!(report["encoding"], "o200k_base");
    assert_eq!(report["tools"], 49);
    let full = report["arms"]["full"]["first_turn_tokens"].as_u64().unwrap();
    let per_tool: u64 = report["per_tool"].as_array().unwrap().iter().map(|t| t["full"].as_u64().unwrap()).sum();
    assert_eq!(per_tool + report["shared_overhead"].as_u64().unwrap(), full, "own costs and overhead make the whole");
    for (name, arm) in report["arms"].as_object().unwrap() {
        let tokens = arm["first_turn_tokens"].as_u64().unwrap() as f64;
        let saved = arm["saved"].as_f64().unwrap();
        assert!((saved - (1.0 - tokens / full as f64)).abs() < 0.0001, "{name}");
    }
    for tool in report["per_tool"].as_array().unwrap() {
        let at = |key: &str| tool[key].as_u64().unwrap();
        assert!(at("summary") <= at("full") && at("signature") <= at("full") && at("required") <= at("full"), "{tool}");
    }
    let schema: Value = serde_json::from_str(&run(&["report", "--schema"]).out).unwrap();
    let mut named: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut given: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    named.sort_unstable();
    given.sort_unstable();
    assert_eq!(named, given, "the published schema names what is given");
    let published: Value = serde_json::from_str(&crate::project("crates/cli/src/report/report.schema.json")).unwrap();
    assert_eq!(published, schema, "write it anew: toolfold report --schema > crates/cli/src/report/report.schema.json");
    let validator = jsonschema::validator_for(&schema).unwrap();
    let variants = [
        &[][..],
        &["--model", "claude-sonnet-5.5"],
        &["--model", "gemini-2.5-flash"],
        &["--wire", "mcp"],
        &["--wire", "openai-responses", "--arms", "full,lean"],
        &["--meter", "json/cl100k_base"],
        &["--skills", "skillpacks/excel"],
        &["--tools", "examples/crm_tools.json"],
    ];
    for args in toolfold_testing::sample(variants, 4) {
        let ran = run(&[&["report", "--json"], args].concat());
        let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{args:?}: {}", ran.err));
        let faults: Vec<String> = validator.iter_errors(&report).map(|own| own.to_string()).collect();
        assert!(faults.is_empty(), "{args:?}: {faults:?}");
    }
}

#[test]
fn the_report_states_what_skills_add_to_the_arms() {
    let report = |args: &[&str]| -> Value { serde_json::from_str(&run(args).out).unwrap() };
    let (without, with) =
        (report(&["report", "--json"]), report(&["report", "--json", "--skills", "skillpacks/excel"]));
    let none = without["skills"].as_object().unwrap();
    assert!(none.len() == 7 && none.values().all(|figure| *figure == 0), "{none:?}");
    assert_eq!((&with["skills"]["full"], &with["skills"]["budget"]), (&6.into(), &2_000.into()));
    assert_eq!(with["skills"]["skills"], 6);
    assert_eq!(with["arms"], without["arms"], "not part of the arms' figures, as the contract says");
    let tokens = with["skills"]["activate_skill_tokens"].as_u64().unwrap();
    let text = run(&["report", "--skills", "skillpacks/excel"]).out;
    assert!(text.contains(&format!("6 skills add {tokens} tokens to every arm for activate_skill")), "{text}");
    assert_eq!(run(&["report", "--skills", "nowhere"]).code, 1);
}

#[test]
fn arm_full_is_byte_for_byte_the_input() {
    let text = r#"[{"type":"function","function":{"name":"f","description":"\u00e9","parameters":{"type":"object","properties":{"n":{"default":1e2}}}}}]"#;
    let ran = run_with(&["tools", "--arm", "full", "--tools", "-"], text.as_bytes());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, text, ""));
}

#[test]
fn with_every_layer_off_the_output_is_the_input() {
    let text = r#"[{"type":"function","function":{"name":"f","description":"Do f. And more.","parameters":{"type":"object","properties":{"n":{"type":"string","description":"Words, and words, and words, and words."}}}}}]"#;
    let ran = run_with(&["tools", "--arm", "stable", "--profile", "off", "--tools", "-"], text.as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (0, text));
}

#[test]
fn another_process_sends_the_same_bytes() {
    for arm in ["full", "seed", "stable", "signature", "lean", "index", "search"] {
        let args = ["tools", "--arm", arm, "--expand", "chart,sheet"];
        let (one, two) = (run(&args), run(&args));
        if arm == "full" {
            continue;
        }
        assert_eq!((one.code, one.out), (two.code, two.out), "{arm}");
    }
}

#[test]
fn tools_can_be_opened_first() {
    let closed: Vec<Value> = serde_json::from_str(&run(&["tools", "--arm", "seed"]).out).unwrap();
    let open = run(&["tools", "--arm", "seed", "--expand", "chart,format", "--expand-tool", "run_shell"]);
    let open: Vec<Value> = serde_json::from_str(&open.out).unwrap();
    let changed = closed.iter().zip(&open).filter(|(a, b)| a != b).count();
    assert_eq!(changed, 2 + 6 + 1, "two charts, six formats, one shell");
    let unknown = run(&["tools", "--arm", "seed", "--expand", "chrat"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (1, ""));
    assert!(unknown.err.contains("chart"), "{}", unknown.err);
}

#[test]
fn expand_prints_the_reply_for_the_model() {
    let ran = run(&["expand", "chart"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("Opened. Call them directly by name:\n{\"name\":\"create_chart\""), "{}", ran.out);
    let json: Value = serde_json::from_str(&run(&["expand", "chart", "--json"]).out).unwrap();
    assert_eq!(json["opened"], serde_json::json!(["create_chart", "create_excel_chart"]));
    let unknown = run(&["expand", "formt"]);
    assert_eq!(unknown.code, 1);
    assert_eq!(unknown.out, "Unknown category `formt`. Did you mean `format`?\n");
}

/// Bad input: arguments, standard input, exit code, and the expected message on standard error.
#[test]
fn bad_input_is_reported_with_its_exit_code() {
    let deep = format!("[{}{}]", r#"{"name":"a","inputSchema":"#.to_owned() + &r#"{"a":"#.repeat(10_000), "1");
    let huge = format!("[{}]", " ".repeat(50_000_000));
    let twice = r#"[{"name":"a","inputSchema":{}},{"name":"a","description":"b","inputSchema":{}}]"#;
    type Case<'c> = (&'c [&'c str], &'c [u8], i32, &'c [&'c str]);
    let cases: [Case<'_>; 23] = [
        (&["tools", "--tools", "-"], b"[{\"name\":", 1, &["-:1:", "error[bad-json]", "help:"]),
        (&["tools", "--tools", "-"], b"{\"a\":1}", 1, &["error[no-tools]", "help:"]),
        (&["report", "--tools", "-"], b"[]", 1, &["error[no-tools]"]),
        (&["report", "--tools", "-"], deep.as_bytes(), 1, &["error["]),
        (&["report", "--tools", "-"], huge.as_bytes(), 1, &["error[too-large]", "32 MiB"]),
        (&["report", "--tools", "-"], twice.as_bytes(), 0, &["-:1:32 at /1", "error[duplicate-tool]", "`a`"]),
        (&["tools", "--strict", "--tools", "-"], twice.as_bytes(), 1, &["error[duplicate-tool]"]),
        (
            &["tools", "--tools", "-"],
            b"[{\"name\":\"a\\u0000\",\"inputSchema\":{}}]",
            1,
            &["error[bad-name]", "U+0000"],
        ),
        (&["tools", "--tools", "-"], "[{\"name\":\"a\u{202e}\",\"inputSchema\":{}}]".as_bytes(), 1, &["U+202E"]),
        (&["tools", "--tools", "-"], b"\xff\xfe", 1, &["error[not-utf8]", "byte 0"]),
        (&["tools", "--tools", "nowhere.json"], b"", 1, &["nowhere.json", "error[unreadable]"]),
        (&["tools", "--tools", "src"], b"", 1, &["is a folder"]),
        (&["tools", "--arm", "stabel"], b"", 2, &["unknown arm `stabel`", "did you mean `stable`?"]),
        (&["report", "--meter", "json/p50k"], b"", 2, &["json/"]),
        (&["report", "--profile", "exel"], b"", 2, &["unknown profile `exel`", "excel"]),
        (&["report", "--nonsense"], b"", 2, &["--nonsense"]),
        (
            &["report", "--profile", "-"],
            b"core = ['read_exel']",
            1,
            &["-:1:9", "error[unknown-tool]", "did you mean `read_excel`?"],
        ),
        (&["report", "--profile", "-"], b"core = [", 1, &["error[bad-toml]"]),
        (&["count", "--requests", "-"], b"{\"model\":\"gpt-4o\"}\nnot json", 1, &["-:2:"]),
        (&["count", "--requests", "-"], b"{\"model\":\"gpt-4o\"}", 3, &["1 could not be counted"]),
        (&["count", "-"], b"", 1, &["-: it contains no request"]),
        (&["count"], b"", 2, &["<FILE|->"]),
        (&["count", "no-such-file.json"], b"", 1, &["no-such-file.json", "cannot be read"]),
    ];
    for (args, input, code, says) in cases {
        let ran = run_with(args, input);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        for text in says {
            assert!(ran.err.contains(text), "{args:?} should say {text:?}: {}", ran.err);
        }
        if code != 0 && code != 3 && args[0] != "count" {
            assert_eq!(ran.out, "", "{args:?}: nothing is half-said");
        }
        assert!(ran.err.len() < 10_000, "{args:?}: bounded");
    }
}

#[test]
fn a_tool_list_without_its_flag_gets_a_tip() {
    for command in ["report", "lint", "tree", "tools"] {
        let ran = run(&[command, "tools.json"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{command}");
        assert!(ran.err.contains("tip: to read a tool list, use '--tools tools.json'"), "{command}: {}", ran.err);
    }
    // No tip for a flag, or for a command that reads no tool list.
    for args in [&["report", "--tols"][..], &["audit", "verify", "tools.json"]] {
        let ran = run(args);
        assert!(ran.code == 2 && !ran.err.contains("to read a tool list"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_cyclic_reference_is_reported_on_like_any_tool() {
    let text = r##"[{"name":"tree","description":"Walk a tree. Slowly.","inputSchema":{"type":"object","properties":{"node":{"$ref":"#/$defs/N"}},"required":["node"],"$defs":{"N":{"type":"object","description":"A node with children of its own kind.","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/N"}}}}}}}]"##;
    let ran = run_with(&["report", "--tools", "-", "--json"], text.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["verified"], false);
    for arm in ["full", "seed", "stable", "signature", "lean", "index", "search"] {
        assert_eq!(run_with(&["tools", "--tools", "-", "--arm", arm], text.as_bytes()).code, 0);
    }
}

#[test]
fn profiles_are_checked_derived_and_described() {
    let ok = run(&["profile", "check", "excel"]);
    assert_eq!((ok.code, ok.out.as_str()), (0, "ok excel: 5 core, 44 extended, 0 hidden tools\n"));
    let json = run_with(&["profile", "check", "-", "--json"], b"cor = []");
    let value: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &value["ok"]), (1, &Value::Bool(false)));
    assert_eq!(value["diagnostics"][0]["place"]["line"], 1);
    let derived = run(&["profile", "derive"]);
    assert_eq!(run_with(&["profile", "check", "-"], derived.out.as_bytes()).code, 0);
    let schema: Value = serde_json::from_str(&run(&["profile", "schema"]).out).unwrap();
    assert_eq!(schema["title"], "toolfold tool profile");
}

#[test]
fn requests_are_counted_line_by_line() {
    let rows = concat!(
        r#"{"source":"a","model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"expected_prompt_tokens":8}"#,
        "\n\n",
        r#"{"source":"b","model":"gpt-4o","messages":[{"role":"user","content":[{"type":"image_url"}]}]}"#,
        "\n"
    );
    let ran = run_with(&["count", "--requests", "-"], rows.as_bytes());
    assert_eq!(ran.code, 3, "{}", ran.out);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["tokens"], 8);
    assert_eq!((&lines[0]["expected"], &lines[0]["error"]), (&Value::from(8), &Value::from(0)));
    assert_eq!(lines[0]["meter"], "billed:openai-chat/gpt-4o");
    assert_eq!(lines[1]["tokens"], Value::Null, "unknown is never 0");
    assert!(lines[1]["problem"].as_str().unwrap().contains("line 3"));
    assert_eq!(ran.err.trim(), "1 requests counted, 1/1 exact, 1 within 1, 1 could not be counted");
}

#[test]
fn bodies_of_every_api_are_counted_by_their_own_meter() {
    let user = r#"[{"role":"user","content":"hi"}]"#;
    let bodies = format!(
        "{}\n{}\n{}\n{}\n",
        format_args!(r#"{{"model":"claude-sonnet-4-6","max_tokens":9,"messages":{user}}}"#),
        r#"{"model":"gemini-2.5-flash","contents":[{"parts":[{"text":"hi"}]}]}"#,
        "{\n  \"model\": \"gpt-5.4\",\n  \"instructions\": \"Be brief.\",\n  \"input\": \"hi\"\n}",
        format_args!(r#"{{"model":"llama-4","messages":{user}}}"#),
    );
    let ran = run_with(&["count", "-", "--json"], bodies.as_bytes());
    assert_eq!(ran.code, 3, "{}", ran.err);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let meters: Vec<&str> = lines.iter().filter_map(|line| line["meter"].as_str()).collect();
    assert_eq!(
        meters,
        ["estimate:anthropic/claude-sonnet-4-6", "estimate:gemini/gemini-2.5-flash", "billed:openai-responses/gpt-5.4"]
    );
    assert!(lines[0]["band"]["low"].as_u64() < lines[0]["tokens"].as_u64());
    assert_eq!((&lines[2]["verified"], &lines[2]["line"]), (&Value::Bool(true), &Value::from(3)));
    assert_eq!((&lines[3]["tokens"], &lines[3]["line"]), (&Value::Null, &Value::from(8)));
    let totals = &lines[4]["totals"];
    assert_eq!((&totals["counted"], &totals["uncounted"]), (&Value::from(3), &Value::from(1)));
    let sum: u64 = lines[..3].iter().filter_map(|line| line["tokens"].as_u64()).sum();
    assert_eq!(totals["tokens"], sum, "what could not be counted is in no sum");
    let text = run_with(&["count", "-"], bodies.as_bytes());
    assert!(text.out.contains("not counted: an OpenAI Chat request to `llama-4`"), "{}", text.out);
    assert!(text.out.contains("Total about"), "{}", text.out);
    let gemini = br#"{"contents":[{"parts":[{"text":"hi"}]}]}"#;
    assert!(run_with(&["count", "-"], gemini).out.contains("name it with --model"));
    let vertex = run_with(&["count", "-", "--model", "gemini-2.5-flash", "--host", "vertex"], gemini);
    assert!(vertex.code == 0 && vertex.out.contains("estimate:vertex/gemini-2.5-flash"), "{}", vertex.out);
}

#[test]
fn colour_is_for_terminals() {
    assert!(!run(&["report"]).out.contains('\u{1b}'));
    assert!(!run(&["report", "--profile", "nope.toml"]).err.contains('\u{1b}'));
}
