//! Servers and clients that misbehave.

use serde_json::{Value, json};
use toolfold_testing::Cases;

use crate::gateway::serving::drive::{At, SESSIONS, STATELESS, clients, drive, servers};
use crate::gateway::serving::lines::{Lines, text};
use crate::gateway::serving::place::{Place, children, eventually, server};
use crate::gateway::serving::web::hello;

const FULL: &str = "--arm full --profile off";

fn lines(place: &Place, behind: &str) -> Lines {
    Lines::session(place, &place.gateway(FULL, &server(behind)), &json!({}))
}

/// Repeats the call until the server is up again.
fn again(lines: &mut Lines, name: &str, arguments: &Value) -> Value {
    let mut last = Value::Null;
    let mut number = 1_000;
    eventually("the server is there again", || {
        number += 1;
        last = lines.call(&number.to_string(), name, arguments);
        last["result"]["isError"] != true && last.get("error").is_none()
    });
    last
}

#[test]
fn a_crash_in_a_call_is_reported_and_the_server_restarts() {
    let check = |client: &str| {
        let place = Place::new();
        let servers = place.servers(&[("one", server("--stdio --bare --faults")), ("two", server("--raw"))]);
        let command: Vec<String> =
            [crate::gateway::serving::place::TOOLFOLD, "gateway", "--servers", &servers].map(str::to_owned).into();
        let command = [command, FULL.split(' ').map(str::to_owned).collect()].concat();
        let script = [
            json!({"together": [
                {"call": "two_late", "arguments": {"millis": 1500}},
                {"call": "crash", "arguments": {"millis": 300}},
                {"call": "hang", "arguments": {}},
            ]}),
            json!({"wait_ms": 2500}),
            json!({"call": "echo", "arguments": {"n": 1}}),
            json!({"call": "two_counts", "arguments": {}}),
        ];
        let ran = drive(&place, &format!("--protocol {client}"), &At::Command(&command), &script);
        let given = ran.step(1);
        let given = given.get("result").unwrap_or(&given["understood"]);
        assert_eq!(given[0]["result"]["content"][0]["text"], "after 1500 ms", "{client}: {}", ran.all());
        for at in [1, 2] {
            let text = given[at]["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", ran.all()));
            assert!(text.contains("`one`") && text.contains("unknown"), "{text}");
        }
        assert_eq!(ran.step(3)["result"]["structuredContent"]["n"], 1, "{}", ran.all());
        assert!(ran.text(4).contains(r#""late":1"#));
    };
    // At once, because they mostly wait.
    std::thread::scope(|scope| {
        scope.spawn(|| check(SESSIONS));
        check(STATELESS);
    });
}

/// The server writes 270 MB, which takes seconds.
#[test]
fn an_answer_over_the_maximum_size_fails_its_call_only() {
    if Cases::of_this_run() == Cases::Quick {
        return;
    }
    let place = Place::new();
    let mut lines = lines(&place, "--raw");
    lines.ask("1", "tools/call", &json!({"name": "late", "arguments": {"millis": 4_000}}));
    let large = lines.call("2", "big", &json!({"bytes": 270_000_000}));
    assert_eq!(large["result"]["isError"], true, "{large}");
    assert!(text(&large).contains("answered the call, but its answer exceeds 268435456 bytes"), "{large}");
    let late: Value = serde_json::from_str(&lines.answer("1")).unwrap();
    assert_eq!(text(&late), "after 4000 ms");
    assert_eq!(lines.end(), Some(0));
}

#[test]
fn a_crashing_server_restarts_with_growing_delays() {
    let place = Place::new();
    let starts = place.file("starts");
    let script = format!("date +%s%3N >> {starts}; exec timeout 0.5 \"$0\" \"$@\"");
    let behind = [vec!["sh".to_owned(), "-c".to_owned(), script], server("--raw")].concat();
    // It initializes most times, and exits half a second after its start.
    let mut lines = Lines::start(&place, &place.gateway(FULL, &behind));
    lines.say(&hello("{}"));
    let read = || -> Vec<u64> {
        let text = std::fs::read_to_string(&starts).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    };
    eventually("it has been restarted three times", || read().len() >= 4);
    // Load can only make the time between two starts longer. The first restart may be immediate,
    // with the other lifecycle.
    let at = read();
    for (number, delay) in [(2, 1_000), (3, 2_000)] {
        let passed = at[number] - at[number - 1];
        assert!(passed >= delay, "restart {number} after {passed} ms: {at:?}");
    }
    assert_eq!(lines.end(), Some(0));
}

#[test]
fn a_server_that_cannot_be_started_is_reported() {
    let place = Place::new();
    let mut lines = Lines::start(&place, &place.gateway(FULL, &["no-such-program".to_owned()]));
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "l", "version": "1"}});
    let answer = lines.asked("1", "initialize", &params);
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("no-such-program") && why.contains("not found"), "{why}");
}

#[test]
fn a_server_that_dies_while_it_is_greeted_comes_up_later() {
    let place = Place::new();
    let mark = place.file("mark");
    let script = format!("if [ -e {mark} ]; then exec \"$0\" \"$@\"; else touch {mark}; read line; exit 1; fi");
    let behind = [vec!["sh".to_owned(), "-c".to_owned(), script], server("--stdio --bare --faults")].concat();
    let servers = place.servers(&[("frail", behind), ("other", server("--raw"))]);
    let command: Vec<String> =
        format!("{} gateway --servers {servers} {FULL}", crate::gateway::serving::place::TOOLFOLD)
            .split(' ')
            .map(str::to_owned)
            .collect();
    let mut lines = Lines::session(&place, &command, &json!({}));
    let answer = again(&mut lines, "progress", &json!({"steps": 1}));
    assert_eq!(text(&answer), "1 steps, none reported");
    assert_eq!(lines.end(), Some(0));
}

/// A server that supports one lifecycle, and exits on the other's first request.
#[test]
fn a_server_that_dies_of_a_greeting_gets_the_other() {
    let check = |client: &str, word: &str| {
        let place = Place::new();
        let script = format!(
            "read line; case \"$line\" in *'\"{word}\"'*) exit 1;; esac; (printf '%s\\n' \"$line\"; cat) | \"$0\" \"$@\""
        );
        let behind = [vec!["sh".to_owned(), "-c".to_owned(), script], server("--raw")].concat();
        let servers = place.servers(&[("frail", behind), ("other", server("--stdio --bare --faults"))]);
        let command: Vec<String> =
            format!("{} gateway --servers {servers} {FULL}", crate::gateway::serving::place::TOOLFOLD)
                .split(' ')
                .map(str::to_owned)
                .collect();
        let script = [json!({"list": true}), json!({"wait_ms": 3000}), json!({"call": "odd", "arguments": {}})];
        let ran = drive(&place, &format!("--protocol {client}"), &At::Command(&command), &script);
        assert_eq!(ran.step(3)["result"]["content"][0]["text"], "a plain text", "{client}: {}", ran.all());
    };
    // Each waits for seconds: at the same time.
    std::thread::scope(|scope| {
        scope.spawn(|| check(SESSIONS, "initialize"));
        scope.spawn(|| check(STATELESS, "server/discover"));
    });
}

#[test]
fn garbage_strays_and_second_answers_are_left_out() {
    let place = Place::new();
    let script = [
        json!({"call": "garbage", "arguments": {}}),
        json!({"call": "stray", "arguments": {}}),
        json!({"call": "twice", "arguments": {}}),
        json!({"call": "cut", "arguments": {}}),
        json!({"call": "echo", "arguments": {"n": 5}}),
    ];
    for client in clients(SESSIONS) {
        let options = format!("--protocol {client}");
        let ran = drive(&place, &options, &At::Command(&place.gateway(FULL, &server("--raw"))), &script);
        assert_eq!(ran.text(1), "after the garbage");
        assert_eq!(ran.text(2), "after an unsolicited message");
        assert_eq!(ran.text(3), "the first answer");
        assert_eq!(ran.text(4), "after the cut line");
        assert_eq!(ran.step(5)["result"]["structuredContent"]["n"], 5);
        assert!(ran.of_kind("garbage").is_empty(), "{}", ran.all());
    }
}

#[test]
fn fifty_megabytes_come_through() {
    let bytes = if Cases::of_this_run().is_quick() { 10_000_000 } else { 50_000_000 };
    let place = Place::new();
    let mut lines = lines(&place, "--raw");
    lines.ask("1", "tools/call", &json!({"name": "big", "arguments": {"bytes": bytes}}));
    lines.ask("2", "tools/call", &json!({"name": "echo", "arguments": {"n": 1}}));
    assert!(lines.answer("1").len() > bytes);
    lines.answer("2");
    assert_eq!(lines.end(), Some(0));
}

#[test]
fn ten_thousand_tools_come_whole() {
    let (count, last) = match Cases::of_this_run() {
        Cases::Quick => (800, "grafana_list_issues"),
        Cases::Ci | Cases::Long => (10_000, "grafana_list_issues_v6"),
    };
    let place = Place::new();
    // An unoptimised build takes a minute for them.
    let script = [json!({"list": true, "within_ms": 150_000}), json!({"call": last, "arguments": {"labels": []}})];
    let behind = server(&format!("--stdio --bare --tools {count}"));
    let ran = drive(&place, "", &At::Command(&place.gateway(FULL, &behind)), &script);
    assert_eq!(ran.step(1)["result"]["count"], count);
    assert!(ran.step(2).get("result").is_some(), "{}", ran.bytes(2));
}

#[test]
fn a_changed_list_is_reported_and_read_again() {
    let check = |client: &str, behind: &str| {
        let place = Place::new();
        let script = [
            json!({"list": true}),
            json!({"call": "grow", "arguments": {}}),
            json!({"wait_ms": 1000}),
            json!({"request": "tools/list"}),
            json!({"call": "grown_1", "arguments": {}}),
        ];
        let gateway = place.gateway(FULL, &server(&format!("--stdio --bare --faults --tools 150 --only {behind}")));
        let ran = drive(&place, &format!("--protocol {client}"), &At::Command(&gateway), &script);
        let before = ran.step(1)["result"]["count"].as_u64().unwrap();
        let after = ran.step(4)["result"]["tools"].as_array().unwrap().len() as u64;
        assert_eq!(after, before + 1, "{client} {behind}");
        assert_eq!(ran.text(5), "grown_1");
        let notes = ran.of_kind("notification");
        let is_notified = notes.iter().any(|note| note["method"] == "notifications/tools/list_changed");
        assert_eq!(is_notified, client == SESSIONS, "{client} {behind}: {notes:?}");
    };
    std::thread::scope(|scope| {
        for client in clients(STATELESS) {
            for (behind, _) in servers(client) {
                scope.spawn(move || check(client, behind));
            }
        }
    });
}

#[test]
fn lists_without_end_end() {
    let place = Place::new();
    for kind in ["loop", "empty"] {
        let behind = format!("--raw --lists {kind}");
        let servers = place.servers(&[("odd", server(&behind)), ("other", server(&behind))]);
        let command: Vec<String> =
            format!("{} gateway --servers {servers} {FULL}", crate::gateway::serving::place::TOOLFOLD)
                .split(' ')
                .map(str::to_owned)
                .collect();
        let mut lines = Lines::session(&place, &command, &json!({}));
        let list = lines.asked("1", "tools/list", &json!({}));
        assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 2, "{kind}: {list}");
        for (id, method, member) in [("2", "resources/list", "resources"), ("3", "prompts/list", "prompts")] {
            let list = lines.asked(id, method, &json!({}));
            assert!(!list["result"][member].as_array().unwrap().is_empty(), "{kind}: {list}");
        }
        assert_eq!(lines.end(), Some(0));
    }
}

#[test]
fn an_invalid_tool_does_not_affect_the_others() {
    let place = Place::new();
    for arm in ["full", "stable", "index"] {
        let gateway = place.gateway(&format!("--arm {arm} --budget 50"), &server("--raw --lists bad"));
        let mut lines = Lines::session(&place, &gateway, &json!({}));
        let list = lines.asked("1", "tools/list", &json!({})).to_string();
        assert!(!list.contains("The second tool of its name"), "{arm}: {list}");
        let name = if arm == "index" { "call_tool" } else { "counts" };
        let arguments = if arm == "index" { json!({"name": "counts", "arguments": {}}) } else { json!({}) };
        let answer = lines.call("2", name, &arguments);
        assert!(text(&answer).contains("counts"), "{arm}: {answer}");
        assert_eq!(lines.end(), Some(0));
    }
}

#[test]
fn ids_in_use_and_invalid_messages_are_rejected() {
    let place = Place::new();
    let mut lines = lines(&place, "--raw");
    lines.ask("1", "tools/call", &json!({"name": "late", "arguments": {"millis": 800}}));
    lines.ask("1", "tools/call", &json!({"name": "echo", "arguments": {}}));
    let first = lines.answer("1");
    assert!(first.contains("\"error\"") && first.contains("in use"), "{first}");
    assert!(lines.answer("1").contains("after 800 ms"));
    let mut refused = |bytes: &[u8], word: &str| {
        lines.bytes(bytes);
        let said = lines.until(&|line| line.contains("\"error\""));
        assert!(said.contains("\"id\":null") && said.contains(word), "{said}");
    };
    refused(b"{\"jsonrpc\":\"2.0\",\n", "not valid JSON");
    refused(b"\xff\xfe{}\n", "UTF-8");
    refused(b"[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}]\n", "batches");
    refused(b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n", "`id`");
    refused(&[b"[".repeat(200_000), b"\n".to_vec()].concat(), "batches");
    assert_eq!(lines.asked("2", "ping", &json!({}))["result"], json!({}));
}

#[test]
fn deep_json_breaks_nothing() {
    let place = Place::new();
    let mut lines = lines(&place, "--raw");
    for depth in [100, 1_000, 100_000] {
        let arguments = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{depth},"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
        ));
        let answer = lines.answer(&depth.to_string());
        assert!(answer.contains(&arguments) || answer.contains("rror"), "{}", answer.get(..300).unwrap_or(&answer));
        if depth == 100 {
            assert!(answer.contains(&arguments), "{answer}");
        }
    }
    assert_eq!(lines.asked("2", "ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_line_of_forty_megabytes_is_a_line() {
    let place = Place::new();
    let mut lines = lines(&place, "--raw");
    let blanks = " ".repeat(40_000_000);
    lines.bytes(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping"{blanks}"#).as_bytes());
    lines.bytes(b"}\n");
    assert!(lines.answer("1").contains("result"));
    // A line that never ends does not keep it running.
    lines.bytes(b"{\"jsonrpc\":");
    assert_eq!(lines.end(), Some(0));
}

#[test]
fn a_client_that_leaves_in_a_call_ends_everything() {
    let place = Place::new();
    let mut lines = lines(&place, "--raw");
    lines.ask("1", "tools/call", &json!({"name": "late", "arguments": {"millis": 1000}}));
    let servers = children(lines.child.id());
    assert_eq!(servers.len(), 1);
    assert_eq!(lines.end(), Some(0));
    // Its earlier request is still answered.
    assert!(lines.answer("1").contains("after 1000 ms"));
    eventually("the server has ended", || !servers.iter().any(|own| crate::gateway::serving::place::runs(*own)));
}
