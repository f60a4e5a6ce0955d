//! A gateway that folds nothing passes the messages of server and client unchanged.

use serde_json::{Value, json};

use crate::gateway::serving::drive::{At, Driven, SESSIONS, STATELESS, clients, drive, servers};
use crate::gateway::serving::lines::Lines;
use crate::gateway::serving::place::{Http, Place, server};

/// The command of a gateway that folds nothing, in front of the fixture over HTTP or standard
/// input, and the fixture if it runs.
fn plain(over_http: bool, behind: &str) -> (Vec<String>, Option<Http>) {
    let upstream = over_http.then(|| Http::fixture(behind.trim_start_matches("--stdio ")));
    let mut command: Vec<String> =
        [crate::gateway::serving::place::TOOLFOLD, "gateway", "--arm", "full", "--profile", "off"]
            .map(str::to_owned)
            .into();
    match &upstream {
        Some(upstream) => command.extend(["--url".to_owned(), upstream.url.clone()]),
        None => {
            command.push("--".to_owned());
            command.extend(server(behind));
        }
    }
    (command, upstream)
}

/// Runs a script through a gateway, over the given transports and with the given lifecycles.
fn through(place: &Place, over: (bool, bool), client: &str, behind: &str, script: &[Value]) -> Driven {
    let (down, up) = over;
    let (command, _upstream) = plain(up, behind);
    let options = format!("--protocol {client}");
    if !down {
        return drive(place, &options, &At::Command(&command), script);
    }
    let gateway = Http::gateway(place, &command);
    drive(place, &options, &At::Url(&gateway.url), script)
}

/// A result without the members that each lifecycle adds to every result.
fn bare(mut value: Value) -> Value {
    if let Some(tools) = value.get_mut("tools").and_then(Value::as_array_mut) {
        // These two are only offered over standard output.
        tools.retain(|tool| tool["name"] != "garbage" && tool["name"] != "twice");
        value["count"] = json!(0);
    }
    if let Some(own) = value.as_object_mut() {
        for name in ["resultType", "ttlMs", "cacheScope"] {
            own.remove(name);
        }
        // The same failure has another code since 2026-07-28, whose clients know the old one too.
        if own.get("code") == Some(&json!(-32002)) {
            own.insert("code".to_owned(), json!(-32602));
        }
        let meta = own.get_mut("_meta").and_then(Value::as_object_mut);
        if let Some(meta) = meta {
            meta.remove("io.modelcontextprotocol/serverInfo");
            if meta.is_empty() {
                own.remove("_meta");
            }
        }
    }
    value
}

fn call(name: &str) -> Value {
    json!({"call": name, "arguments": {}})
}

fn script() -> Vec<Value> {
    let mut steps = vec![json!({"list": true})];
    let names = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_progress",
        "refuse",
        "fail",
        "sample",
        "roots",
    ];
    steps.extend(names.map(call));
    steps.extend([
        json!({"elicit": "accept", "content": {"answer": "forty-two"}}),
        call("ask"),
        json!({"elicit": "decline"}),
        call("ask"),
        json!({"call": "echo", "arguments": {"b": 1.5, "a": [null, {"z": "\u{fc}", "y": 0}]}, "meta": {"com.example/x": {"k": 1}}}),
        json!({"request": "resources/list"}),
        json!({"request": "resources/templates/list"}),
        json!({"request": "resources/read", "params": {"uri": "test://static-text"}}),
        json!({"request": "resources/read", "params": {"uri": "test://static-binary"}}),
        json!({"request": "resources/read", "params": {"uri": "test://nothing"}}),
        json!({"request": "prompts/list"}),
        json!({"request": "prompts/get", "params": {"name": "test_prompt_with_arguments", "arguments": {"arg1": "one", "arg2": "two"}}}),
        json!({"request": "prompts/get", "params": {"name": "no such"}}),
        json!({"request": "completion/complete", "params": {"ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
            "argument": {"name": "arg1", "value": "par"}}}),
        call("no_such_tool"),
    ]);
    steps
}

fn same(over: (bool, bool)) {
    let place = Place::new();
    let script = script();
    for client in clients(if over.1 { SESSIONS } else { STATELESS }) {
        let direct = drive(&place, &format!("--protocol {client}"), &At::Command(&server("--stdio --faults")), &script);
        for (only, its) in servers(client) {
            let behind = format!("--stdio --faults --only {only}");
            let passed = through(&place, over, client, &behind, &script);
            for (at, what) in script.iter().enumerate() {
                let step = at + 1;
                if what.get("elicit").is_some() {
                    continue;
                }
                // The gateway itself answers for an unknown tool.
                if what == &call("no_such_tool") {
                    assert!(passed.all().contains("no_such_tool"));
                    continue;
                }
                let why = format!("client {client}, server {only}, {over:?}, step {step} {what}");
                if client == its && what.get("list").is_none() {
                    assert_eq!(passed.bytes(step), direct.bytes(step), "{why}");
                } else {
                    let (own, other) = (passed.step(step), direct.step(step));
                    for part in ["result", "error"] {
                        assert_eq!(bare(own[part].clone()), bare(other[part].clone()), "{why}, {part}");
                    }
                }
            }
            let progress = |all: &Driven| {
                let all = all.of_kind("notification").into_iter();
                let all = all.filter(|note| note["method"] == "notifications/progress");
                all.map(|note| (note["params"]["progress"].clone(), note["params"]["message"].clone()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(progress(&passed), progress(&direct), "client {client}, server {only}, {over:?}");
            assert!(!progress(&passed).is_empty());
            if !over.0 {
                let end = passed.all();
                assert!(end.contains(r#""ended":true,"code":0"#) || end.contains(r#""code":0,"ended":true"#), "{end}");
            }
        }
    }
}

#[test]
fn stdio_to_stdio() {
    same((false, false));
}

#[test]
fn stdio_to_http() {
    same((false, true));
}

#[test]
fn http_to_stdio() {
    same((true, false));
}

#[test]
fn http_to_http() {
    same((true, true));
}

fn odd(over: (bool, bool)) {
    let place = Place::new();
    let script = [json!({"list": true}), call("odd"), call("odd_error"), call("nothing"), call("fail"), call("odd")];
    for client in clients(if over.1 { SESSIONS } else { STATELESS }) {
        let options = format!("--protocol {client}");
        let direct = drive(&place, &options, &At::Command(&server("--raw")), &script);
        for (only, its) in servers(client) {
            let passed = through(&place, over, client, &format!("--raw --only {only}"), &script);
            for step in 2..=script.len() {
                let (own, other) = (passed.bytes(step), direct.bytes(step));
                let why = format!("client {client}, server {only}, {over:?}, step {step}");
                if client == its {
                    assert_eq!(own, other, "{why}");
                } else {
                    // The lifecycle adds its members at the beginning or the end.
                    let own = own.replace(r#""resultType":"complete","#, "").replace(r#","resultType":"complete""#, "");
                    let other =
                        other.replace(r#""resultType":"complete","#, "").replace(r#","resultType":"complete""#, "");
                    let own = own.replace(r#""resultType":"complete""#, "");
                    let other = other.replace(r#""resultType":"complete""#, "");
                    assert_eq!(own, other, "{why}");
                }
            }
            // The SDK drops members of the odd tool; the bytes contain them.
            assert_eq!(
                passed.step(1)["result"]["tools"][0],
                direct.step(1)["result"]["tools"][0],
                "{client} {only} {over:?}"
            );
        }
    }
}

#[test]
fn unknown_content_passes_stdio() {
    odd((false, false));
    odd((false, true));
}

#[test]
fn unknown_content_passes_http() {
    odd((true, false));
    odd((true, true));
}

#[test]
fn numbers_beyond_64_bits_and_tokens_pass_to_the_byte() {
    let place = Place::new();
    for only in ["initialize", "discover"] {
        let gateway = place.gateway("--arm full --profile off", &server(&format!("--raw --only {only}")));
        let mut lines = Lines::session(&place, &gateway, &json!({}));
        let arguments = r#"{"b":1.0,"a":123456789012345678901234567890,"c":"\u00fc\/","d":-0.0,"e":1E400}"#;
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
        ));
        let answer = lines.answer("123456789012345678901234567890");
        assert!(answer.contains(&format!(r#""structuredContent":{arguments}"#)), "{only}: {answer}");
        assert_eq!(lines.end(), Some(0));
    }
}

#[test]
fn progress_comes_under_the_clients_own_token() {
    let place = Place::new();
    for only in ["initialize", "discover"] {
        let behind = server(&format!("--stdio --bare --faults --only {only}"));
        let gateway = place.gateway("--arm full --profile off", &behind);
        let mut lines = Lines::session(&place, &gateway, &json!({}));
        for (id, token) in [("1", "\"a token\""), ("2", "77"), ("\"three\"", "\"\"")] {
            let token: Value = serde_json::from_str(token).unwrap();
            let params =
                json!({"name": "progress", "arguments": {"steps": 3, "millis": 1}, "_meta": {"progressToken": token}});
            lines.ask(id, "tools/call", &params);
            lines.answer(id);
            let mine = lines.seen.iter().filter(|line| line.contains("notifications/progress"));
            let tokens: Vec<Value> = mine
                .map(|line| serde_json::from_str::<Value>(line).unwrap()["params"]["progressToken"].clone())
                .collect();
            assert_eq!(tokens, [token.clone(), token.clone(), token], "{only}");
            lines.seen.clear();
        }
    }
}

#[test]
fn a_cancelled_call_is_cancelled_at_the_server() {
    // The first call waits until the server is there: one that is cancelled before never reaches
    // it.
    let script = [
        json!({"call": "counts", "arguments": {}}),
        json!({"call": "hang", "arguments": {}, "cancel_after_ms": 1_000}),
        json!({"wait_ms": 1_000}),
        json!({"call": "counts", "arguments": {}}),
    ];
    let check = |over, client, only| {
        let behind = format!("--stdio --bare --faults --only {only}");
        let passed = through(&Place::new(), over, client, &behind, &script);
        assert_eq!(passed.step(2)["cancelled"], true, "{}", passed.all());
        let counts = passed.text(4);
        assert!(counts.contains(r#""hang cancelled":1"#), "{over:?} {client} {only}: {counts}");
    };
    let check = &check;
    // A quick run tries two of the four combinations of transports.
    for over in toolfold_testing::sample([(false, false), (false, true), (true, false), (true, true)], 2) {
        // Two at once, because they mostly wait.
        for client in clients(if over.1 { SESSIONS } else { STATELESS }) {
            std::thread::scope(|scope| {
                for (only, _) in servers(client) {
                    scope.spawn(move || check(over, client, only));
                }
            });
        }
    }
}

#[test]
fn log_lines_come_in_the_order_of_the_server() {
    const ROUNDS: usize = 20;
    let place = Place::new();
    for over_http in [false, true] {
        let (command, _upstream) = plain(over_http, "--stdio --faults --only initialize");
        let mut lines = Lines::session(&place, &command, &json!({}));
        lines.asked("1", "logging/setLevel", &json!({"level": "warning"}));
        for round in 0..ROUNDS {
            lines.asked(&format!("{}", 10 + round), "tools/call", &json!({"name": "log", "arguments": {}}));
        }
        // Over HTTP they arrive on a separate stream, and therefore sometimes after the answer.
        let levels = std::cell::RefCell::new(Vec::new());
        lines.until(&|line| {
            let message: Value = serde_json::from_str(line).unwrap();
            levels.borrow_mut().extend(message["params"]["level"].as_str().map(str::to_owned));
            levels.borrow().len() == 5 * ROUNDS
        });
        let levels = levels.into_inner();
        let order = ["warning", "error", "critical", "alert", "emergency"].iter().cycle();
        assert!(levels.iter().zip(order).all(|(own, expected)| own == expected), "{command:?}: {levels:?}");
    }
}

#[test]
fn log_lines_and_updates_reach_a_session() {
    let place = Place::new();
    let script = [
        json!({"request": "logging/setLevel", "params": {"level": "warning"}}),
        json!({"call": "log", "arguments": {}}),
        json!({"request": "resources/subscribe", "params": {"uri": "test://watched-resource"}}),
        json!({"call": "touch", "arguments": {"uri": "test://watched-resource"}}),
        json!({"call": "touch", "arguments": {"uri": "test://static-text"}}),
        json!({"wait_ms": 300}),
    ];
    for over in [(false, false), (false, true), (true, false), (true, true)] {
        let passed = through(&place, over, SESSIONS, "--stdio --faults --only initialize", &script);
        let notes = passed.of_kind("notification");
        let of = |method: &str| notes.iter().filter(|note| note["method"] == method).cloned().collect::<Vec<_>>();
        let messages = of("notifications/message");
        let mut levels: Vec<&str> = messages.iter().filter_map(|note| note["params"]["level"].as_str()).collect();
        // The driver's SDK handles each notification in a separate task, so the order is not
        // visible here.
        levels.sort_unstable();
        assert_eq!(levels, ["alert", "critical", "emergency", "error", "warning"], "{over:?}");
        let updated: Vec<Value> =
            of("notifications/resources/updated").iter().map(|note| note["params"]["uri"].clone()).collect();
        assert_eq!(updated, ["test://watched-resource"], "{over:?}: {}", passed.all());
    }
}
