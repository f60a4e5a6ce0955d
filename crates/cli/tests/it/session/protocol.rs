//! Lines and their answers.

use serde_json::{Value, json};

use super::{Place, Session, answers, call, ran};
use crate::commands::{person, run};

const EXPAND: &str = r#"{"message":{"role":"assistant","tool_calls":[{"id":"m1","type":"function","function":{"name":"expand_tools","arguments":"{\"categories\":[\"chart\"]}"}},{"id":"m2","type":"function","function":{"name":"list_sheets","arguments":"{\"file_path\":\"a.xlsx\"}"}}]}}"#;

#[test]
fn a_call_is_confirmed_accepted_and_gets_its_result() {
    let place = Place::new("walk");
    let store = place.file("store.sqlite");
    let mut session =
        Session::start(&["--policy", "excel", "--skills", "skillpacks/excel", "--store", &store, "--arm", "stable"]);
    let tools = session.say(r#"{"tools":true}"#);
    assert_eq!(tools["diagnostics"], json!([]), "the first array comes with what was noticed");
    assert!(tools.get("tokens").is_none() && tools.get("meter").is_none(), "nothing is counted unasked");
    let invalid = session.say(call("1", "format_cells", json!({})));
    assert_eq!((&invalid["outcome"], &invalid["reason"]), (&json!("reply"), &json!("invalid")));
    assert!(invalid["content"].as_str().unwrap().contains("/file_path: missing"), "{invalid}");
    assert_eq!((&invalid["expanded"], &invalid["is_error"]), (&json!(["format_cells"]), &json!(true)));
    assert_eq!(invalid["opened"][0]["name"], "format_cells");
    assert!(invalid["opened"][0]["parameters"]["properties"]["file_path"].is_object(), "{invalid}");
    assert_eq!(invalid["digest"], tools["digest"], "the array has not changed");
    let asked = session.say(call("2", "delete_file", json!({"file_path": "a.xlsx", "confirm": true})));
    assert_eq!((&asked["outcome"], &asked["approval"]), (&json!("confirm"), &json!("ap-1")));
    assert!(asked["shown"]["effects"].is_array() && asked["content"].as_str().unwrap().contains("ap-1"), "{asked}");
    assert_eq!(asked["append"][0]["tool_call_id"], "2", "what to append if the host goes on without an answer");
    let still = session.say(r#"{"resume":"ap-1"}"#);
    assert_eq!((&still["state"], &still["outcome"]), (&json!("pending"), &json!("confirm")));
    let forward = session.say(r#"{"accept":"ap-1"}"#);
    assert_eq!(
        (&forward["outcome"], &forward["target"], &forward["id"]),
        (&json!("forward"), &json!("delete_file"), &json!("2"))
    );
    assert_eq!(forward["arguments"], json!({"file_path": "a.xlsx", "confirm": true}));
    assert!(session.say(r#"{"accept":"ap-1"}"#)["error"].is_object(), "an approval is used once");
    let result = session.say(json!({"result": {"id": "2", "content": {"gone": true}}}));
    assert_eq!(
        result,
        json!({"id": "2", "messages": [{"role": "tool", "tool_call_id": "2", "content": "{\"gone\":true}"}]})
    );
    let twice = session.say(json!({"result": {"id": "2", "content": "gone"}}));
    assert_eq!(twice["error"]["message"], "call `2` is not waiting for a result");
    let skill = session.say(call("3", "activate_skill", json!({"name": "format-basic"})));
    assert_eq!((&skill["reason"], &skill["activation"]["name"]), (&json!("activated"), &json!("format-basic")));
    let asked = session.say(call("4", "delete_file", json!({"file_path": "b.xlsx", "confirm": true})));
    let no = session.say(json!({"reject": {"id": asked["approval"], "reason": "keep it"}}));
    assert_eq!((&no["outcome"], &no["reason"]), (&json!("refuse"), &json!("a person rejected it: keep it")));
    let again = session.say(call("4", "delete_file", json!({"file_path": "b.xlsx", "confirm": true})));
    assert_eq!(again["outcome"], "refuse", "what was rejected is never asked again under the same id");
    let (code, err) = session.end();
    assert_eq!((code, err.as_str()), (0, ""));
    let verified = run(&["audit", "verify", "--store", &store]);
    assert!(verified.code == 0 && verified.out.starts_with("ok "), "{}{}", verified.out, verified.err);
}

#[test]
fn a_message_is_answered_call_by_call_and_as_whole_messages() {
    let mut session = Session::start(&["--arm", "stable"]);
    let message = session.say(EXPAND);
    let outcomes: Vec<&Value> = message["outcomes"].as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["reply", "forward"]);
    assert_eq!(message["messages"].as_array().unwrap().len(), 1, "one answer for each call that was answered here");
    assert_eq!(message["append"], message["messages"], "on this wire each is a whole message");
    assert_eq!(message["append"][0]["tool_call_id"], "m1");
    assert_eq!(message["outcomes"][0]["expanded"], json!(["create_chart", "create_excel_chart"]));
    let again = session.say(EXPAND);
    assert_eq!(again, message, "the same message gives the same outcomes");
    let opened = session.say(r#"{"redeliver":true}"#);
    assert!(opened["redeliver"].as_str().unwrap().contains("create_chart"), "{opened}");
    let seen = session.say(json!({"seen": [{"role": "user", "content": "Go on."}]}));
    assert_eq!((&seen["seen"], &seen["expanded"]), (&json!(true), &json!([])), "what is not seen is closed");
    assert_eq!(session.say(r#"{"redeliver":true}"#)["redeliver"], Value::Null);
    session.say(EXPAND.replace("m1", "m3").replace("m2", "m4"));
    assert_eq!(session.say(r#"{"seen_calls":["m3"]}"#)["expanded"].as_array().unwrap().len(), 2);
    assert_eq!(session.say(r#"{"seen_calls":[]}"#)["expanded"], json!([]));
    for (wrong, says) in [
        (json!({"message": {"choices": [{"message": {}}]}}), "a whole Chat Completions response"),
        (
            json!({"message": {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "y", "input": {}}]}}),
            "an Anthropic message",
        ),
        (json!({"message": {"role": "model", "parts": []}}), "a Gemini content"),
    ] {
        let answer = session.say(&wrong);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("openai-chat expects") && message.contains(says), "{message}");
    }
    assert_eq!(session.end().0, 0);
}

#[test]
fn answers_have_the_message_format_of_the_wire() {
    let arguments = json!({"file_path": "a.xlsx"});
    for (wire, message, appended) in [
        (
            "anthropic",
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "nope", "input": {}},
                {"type": "tool_use", "id": "b", "name": "list_sheets", "input": arguments}]}),
            "/0/content/0/tool_use_id",
        ),
        (
            "openai-responses",
            json!([{"type": "function_call", "call_id": "a", "name": "nope", "arguments": "{}"},
                {"type": "function_call", "call_id": "b", "name": "list_sheets", "arguments": arguments.to_string()}]),
            "/0/call_id",
        ),
        (
            "gemini",
            json!({"role": "model", "parts": [
                {"functionCall": {"id": "a", "name": "nope", "args": {}}},
                {"functionCall": {"id": "b", "name": "list_sheets", "args": arguments}}]}),
            "/0/parts/0/functionResponse/id",
        ),
        (
            "mcp",
            json!([{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "nope", "arguments": {}}},
                {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "list_sheets", "arguments": arguments}}]),
            "/0/id",
        ),
    ] {
        let told = answers(&["--wire", wire, "--arm", "stable"], &[json!({"message": message})]);
        let append = &told[0]["append"];
        assert_eq!(append.as_array().unwrap().len(), 1, "{wire}: {append}");
        assert_eq!(append.pointer(appended), Some(&json!("a")), "{wire}: {append}");
        assert_eq!(told[0]["outcomes"][1]["outcome"], "forward", "{wire}");
    }
}

#[test]
fn arguments_keep_every_digit() {
    let mut session = Session::start(&["--arm", "stable"]);
    let long = "12345678901234567890123";
    let line = r#"{"call":{"id":"1","name":"read_excel","arguments":{"file_path":"a.xlsx", "max_rows": LONG}}}"#;
    let answer = session.say_text(&line.replace("LONG", long));
    assert!(answer.contains(&format!(r#""arguments":{{"file_path":"a.xlsx","max_rows":{long}}}"#)), "{answer}");
    assert!(answer.contains(&format!(r#"\"max_rows\": {long}}}""#)), "the text is untouched: {answer}");
    let message = json!({"message": {"role": "assistant", "tool_calls": [{"id": "m", "type": "function", "function":
        {"name": "read_excel", "arguments": format!("{{\"file_path\":\"a\",\"max_rows\":{long}}}")}}]}});
    let answer = session.say_text(&message.to_string());
    assert!(answer.contains(&format!(r#""max_rows":{long}}},"arguments_json""#)), "{answer}");
    assert!(
        session.say(r#"{"call":{"id":"3","name":"read_excel","arguments":"{\"file_path\":NaN}"}}"#)["content"]
            .as_str()
            .unwrap()
            .contains("`NaN` is not a JSON number")
    );
    assert_eq!(session.end().0, 0);
}

#[test]
fn arguments_are_on_one_line_and_as_judged() {
    let place = Place::new("exact");
    let tools =
        json!([{"name": "f", "description": "Do f.", "inputSchema": {"type": "object", "properties": {"n": {}}}}]);
    let tools = place.put("tools.json", tools.to_string());
    let mut session = Session::start(&["--tools", &tools, "--arm", "full"]);
    // Line breaks, a repeated key, numbers that no float can represent.
    let text = "{\n \"n\": \"first\",\r\n \"n\": [ 1e400, -0.10, 1.0 ]\n}";
    let answer = session.say_text(&json!({"call": {"id": "1", "name": "f", "arguments": text}}).to_string());
    assert!(answer.contains(r#""arguments":{"n":[1e400,-0.10,1.0]},"#), "{answer}");
    let exact = Value::from(r#"{"n":[1e400,-0.10,1.0]}"#);
    assert!(answer.contains(&format!(r#""arguments_json":{exact},"#)), "{answer}");
    assert_eq!(session.end().0, 0);
}

#[test]
fn the_same_call_gives_the_same_outcome_and_another_call_of_its_id_is_new() {
    let mut session = Session::start(&["--arm", "stable"]);
    let one = session.say(call("1", "list_sheets", json!({"file_path": "a.xlsx"})));
    assert_eq!(session.say(call("1", "list_sheets", json!({"file_path": "a.xlsx"}))), one);
    let other = session.say(call("1", "list_sheets", json!({"file_path": "b.xlsx"})));
    assert_eq!((&other["id"], &other["arguments"]["file_path"]), (&json!("1"), &json!("b.xlsx")), "{other}");
    let several = session.say(json!({"calls": [
        {"id": "1", "name": "nope"},
        {"id": "2", "name": "list_sheets", "arguments": {"file_path": "c.xlsx"}},
    ]}));
    assert_eq!((&several["outcomes"][0]["id"], &several["outcomes"][1]["outcome"]), (&json!("1"), &json!("forward")));
    assert_eq!(several["outcomes"][0]["reason"], "unknown_tool", "{several}");
    // Nothing is judged if one of them is not a call.
    let broken = session.say(json!({"calls": [{"id": "3", "name": "list_sheets"}, {"id": "4"}]}));
    assert_eq!(broken["error"]["message"], "`calls[1]`: expected an object with `id` and `name`; `name` is missing");
    let log = session.say(r#"{"log":true}"#);
    let called = log["log"].as_array().unwrap().iter().filter(|record| record["event"] == "called").count();
    assert_eq!(called, 4, "{log}");
    assert_eq!(session.end().0, 0);
}

#[test]
fn tokens_and_neutral_entries_are_returned_on_request() {
    let lines = [json!({"tools": true}), json!({"tools": {"count": true, "entries": true}}), json!({"tools": {}})];
    let told = answers(&["--arm", "stable"], &lines);
    assert_eq!(told[0]["tools"], told[1]["tools"]);
    assert_eq!(told[1]["meter"], "billed:openai-chat/gpt-4.1");
    let report: Value = serde_json::from_str(&run(&["report", "--json", "--arms", "stable"]).out).unwrap();
    assert_eq!(told[1]["tokens"], report["arms"]["stable"]["first_turn_tokens"], "as the report counts it");
    let entries = told[1]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), told[1]["tools"].as_array().unwrap().len());
    for (entry, tool) in entries.iter().zip(told[1]["tools"].as_array().unwrap()) {
        let function = &tool["function"];
        assert_eq!((&entry["name"], &entry["parameters"]), (&function["name"], &function["parameters"]));
    }
    assert!(
        entries.iter().any(|entry| entry["own"] == true && entry["name"] == "expand_tools"),
        "meta-tools are marked"
    );
    assert!(told[2].get("entries").is_none() && told[2].get("diagnostics").is_none(), "{}", told[2]);
}

#[test]
fn what_tools_prints_is_what_a_session_sends() {
    let place = Place::new("same");
    let policy = "[tool.read_excel]\ntier = 'read_only'\n[[rule]]\ndecide = 'deny'\ntool = 'run_shell'\n";
    let policy = place.put("policy.toml", policy);
    for wire in ["openai-chat", "openai-responses", "anthropic", "gemini", "mcp"] {
        for arm in ["full", "stable", "index", "auto"] {
            let shared = ["--wire", wire, "--arm", arm, "--skills", "skillpacks/excel", "--policy", &policy];
            let store = place.file("store.sqlite");
            let session = [&shared[..], &["--store", &store]].concat();
            let mut session = Session::start(&session);
            let answer = session.say_text(r#"{"tools":true}"#);
            let printed = run(&[&["tools"], &shared[..]].concat());
            assert_eq!(printed.code, 0, "{}", printed.err);
            assert!(answer.starts_with(&format!("{{\"tools\":{},", printed.out)), "{wire} {arm}");
            assert!(printed.out.contains("activate_skill"), "{wire} {arm}: skills are in it");
            assert!(!printed.out.contains("\"run_shell\""), "{wire} {arm}: what policy denies outright is not");
            assert_eq!(session.end().0, 0);
        }
    }
}

#[test]
fn names_are_the_wires_and_targets_the_hosts() {
    let place = Place::new("names");
    let tool = |name: &str| {
        json!({"name": name, "description": "Writes files. With words.", "inputSchema":
        {"type": "object", "properties": {"path": {"type": "string", "description": "Where the file stands."}}, "required": ["path"]}})
    };
    let tools =
        place.put("tools.json", json!([tool("files.write"), tool("files_write"), tool("expand_tools")]).to_string());
    let mut session = Session::start(&["--tools", &tools, "--arm", "stable"]);
    let array = session.say(r#"{"tools":true}"#);
    let names: Vec<String> = array["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.contains(&"files_write".to_owned()) && names.contains(&"expand_tools".to_owned()), "{names:?}");
    let mangled = names.iter().find(|name| name.starts_with("files_write_")).unwrap();
    for (id, name, target) in [
        ("1", mangled.as_str(), "files.write"),
        ("2", "files_write", "files_write"),
        ("3", "expand_tools", "expand_tools"),
    ] {
        let forward = session.say(call(id, name, json!({"path": "a"})));
        assert_eq!((&forward["name"], &forward["target"]), (&json!(name), &json!(target)), "{forward}");
        let invalid = session.say(call(&format!("{id}x"), name, json!({})));
        let content = invalid["content"].as_str().unwrap();
        assert!(content.starts_with(&format!("{name} was not run")), "{content}");
        assert!(!content.contains("files.write"), "the model never reads a name that it was not shown: {content}");
    }
    assert_eq!(session.end().0, 0);
}

#[test]
fn a_snapshot_is_restored_elsewhere() {
    let mut session = Session::start(&["--arm", "stable", "--id", "s"]);
    session.say(EXPAND);
    let snapshot = session.say(r#"{"snapshot":true}"#);
    assert_eq!(session.end().0, 0);
    let told = answers(
        &["--arm", "stable"],
        &[
            json!({"restore": snapshot["snapshot"]}),
            json!({"snapshot": true}),
            json!({"explain": true}),
            serde_json::from_str(EXPAND).unwrap(),
        ],
    );
    assert_eq!(told[0]["restored"], true);
    assert_eq!(told[1], snapshot);
    assert_eq!(
        (&told[2]["session"], &told[2]["opened"]),
        (&json!("s"), &json!(["create_chart", "create_excel_chart"]))
    );
    assert!(told[3].to_string().contains("Opened."), "it knows its calls and their answers: {}", told[3]);
}

#[test]
fn a_skill_that_requires_approval_is_approved_by_a_person() {
    let place = Place::new("skill");
    std::fs::create_dir_all(place.0.join("skills/careful")).unwrap();
    let text = "---\nname: careful\ndescription: Deletes things. Use with care.\nmetadata:\n  x: y\n---\nSteps.\n";
    place.put("skills/careful/SKILL.md", text);
    let skills = place.file("skills");
    let told =
        answers(&["--skills", &skills], &[json!({"approve_skill": "carefull"}), json!({"approve_skill": "careful"})]);
    assert_eq!(told[0]["error"]["help"], "did you mean `careful`?");
    assert_eq!(told[1], json!({"approved_skill": "careful"}));
}

#[test]
fn an_experiment_needs_an_id() {
    let place = Place::new("experiment");
    let config = place.put("toolfold.toml", "[experiment]\narms = {control = 'full', treatment = 'stable'}\n");
    for command in ["session", "tools"] {
        let ran = run(&[command, "--config", &config]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(
            ran.err.contains("the experiment chooses an arm by the conversation's id, which is missing"),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("--id"), "{}", ran.err);
        assert_eq!(run(&[command, "--config", &config, "--arm", "full"]).code, 0, "a pinned arm needs none");
    }
    let told = answers(&["--config", &config, "--id", "c-1"], &[json!({"explain": true})]);
    let variant = told[0]["variant"].as_str().unwrap();
    assert!(["control", "treatment"].contains(&variant));
    let printed = run(&["tools", "--config", &config, "--id", "c-1"]);
    let arm = told[0]["arm"].as_str().unwrap();
    assert_eq!(
        printed.out,
        run(&["tools", "--config", &config, "--arm", arm]).out,
        "the same id has the same arm everywhere"
    );
}

#[test]
fn with_the_profile_off_a_folding_arm_is_arm_full_with_a_warning() {
    let (ran, told) = ran(&["--arm", "stable", "--profile", "off"], &[json!({"explain": true})]);
    assert_eq!((ran.code, &told[0]["arm"]), (0, &json!("full")));
    assert!(ran.err.contains("warning[nothing-to-fold]: arm stable cannot fold without a profile"), "{}", ran.err);
    let quiet = super::ran(&["--profile", "off"], &[json!({"explain": true})]).0;
    assert_eq!((quiet.code, quiet.err.as_str()), (0, ""), "arm auto finds arm full by itself");
}

#[test]
fn every_surface_reports_what_a_wire_does_not_support() {
    let place = Place::new("noticed");
    let tools = json!([{"name": "a.b", "description": "Do it.", "inputSchema": {"type": "object", "properties": {}}}]);
    let tools = place.put("tools.json", tools.to_string());
    let args = ["--tools", &tools, "--wire", "openai-chat", "--arm", "full"];
    let told = answers(&args, &[json!({"tools": true}), json!({"tools": true}), json!({"explain": true})]);
    let noticed = told[0]["diagnostics"].as_array().unwrap();
    assert!(!noticed.is_empty() && told[1].get("diagnostics").is_none(), "{}", told[0]["diagnostics"]);
    assert_eq!(told[2]["diagnostics"].as_array(), Some(noticed));
    let printed = run(&[&["tools"], &args[..]].concat());
    let code = noticed[0]["code"].as_str().unwrap();
    assert!(printed.code == 0 && printed.err.contains(&format!("[{code}]")), "{}", printed.err);
}

/// A process that can start a session must not be able to approve what another session requested.
#[test]
fn an_approval_counts_only_in_the_session_that_requested_it() {
    let place = Place::new("channel");
    let (store, log) = (place.file("store.sqlite"), place.file("l.jsonl"));
    let args = ["--policy", "excel", "--store", &store, "--arm", "stable", "--id", "c"];
    let delete = |id: &str| call(id, "delete_file", json!({"file_path": "a.xlsx", "confirm": true}));
    let start = |secret: &str, more: &[&str]| {
        let args = [&args, more].concat();
        Session::start_with(&crate::root(), &args, &[("TOOLFOLD_SESSION_SECRET", secret)])
    };
    let mut first = start("", &[]);
    assert_eq!(first.say(delete("1"))["approval"], "ap-1");
    let snapshot = first.say(r#"{"snapshot":true}"#)["snapshot"].clone();

    // A restored state brings no approval with it, with any secret but the first session's.
    for secret in ["", "guessed"] {
        let mut other = start(secret, &[]);
        assert_eq!(other.say(json!({"restore": snapshot}))["restored"], true);
        for line in [json!({"accept": "ap-1"}), json!({"resume": "ap-1"}), json!({"reject": {"id": "ap-1"}})] {
            assert_eq!(other.say(&line)["error"]["help"], "no call waits", "{line}");
        }
        let again = other.say(delete("1"));
        assert_eq!(again["outcome"], "confirm", "the same call asks again");
        assert_ne!(again["approval"], "ap-1");
        // For its own requests it may receive decisions.
        assert_eq!(other.say(json!({"accept": again["approval"]}))["outcome"], "forward");
        other.say(r#"{"finished":{"id":"1","ok":true}}"#);
    }
    assert_eq!(first.say(r#"{"accept":"ap-1"}"#)["outcome"], "forward");
    first.say(r#"{"finished":{"id":"1","ok":true}}"#);
    let by = run(&["approvals", "why", "ap-1", "--store", &store, "--json"]);
    let by: Value = serde_json::from_str(&by.out).unwrap();
    assert_eq!(by["answered_by"], "the host, by a line of session `c`");

    // After a crash, the log restores what waits, and the decision comes through the secret or the
    // command.
    let logged = ["--log", log.as_str()];
    let mut session = start("s3cret", &logged);
    let (one, two) = (
        session.say(delete("2"))["approval"].clone(),
        session.say(call("3", "delete_file", json!({"file_path": "b.xlsx", "confirm": true})))["approval"].clone(),
    );
    session.kill();
    let mut stranger = start("", &logged);
    let refused = stranger.say(json!({"accept": one}));
    let help = refused["error"]["help"].as_str().unwrap();
    assert!(help.contains("toolfold approvals approve") && help.contains("TOOLFOLD_SESSION_SECRET"), "{refused}");
    assert_eq!(person(&store, &["approvals", "approve", two.as_str().unwrap()]).code, 0);
    assert_eq!(stranger.say(json!({"resume": two}))["outcome"], "forward");
    stranger.kill();
    assert_eq!(start("s3cret", &logged).say(json!({"accept": one}))["outcome"], "forward");
    assert!(run(&["audit", "verify", "--store", &store]).out.starts_with("ok "));
}
