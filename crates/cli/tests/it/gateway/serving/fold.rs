//! Arms and skills: what is shown, opened, repaired, and what is unchanged.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::gateway::serving::drive::{At, Driven, SESSIONS, STATELESS, clients, drive, servers};
use crate::gateway::serving::place::{Place, TOOLFOLD, server};

fn folded(place: &Place, client: &str, options: &str, behind: &str, script: &[Value]) -> Driven {
    let gateway = place.gateway(options, &server(behind));
    drive(place, &format!("--protocol {client}"), &At::Command(&gateway), script)
}

fn named<'l>(list: &'l Value, name: &str) -> &'l Value {
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list: {list}"));
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name} in {list}"))
}

fn names_of(list: &Value) -> Vec<String> {
    let tools = list["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A generated tool that is folded in a list.
const FOLDED: &str = "github_update_issues";

#[test]
fn stable_expand_call_and_a_list_that_stays() {
    let place = Place::new();
    for client in clients(SESSIONS) {
        for (only, _) in servers(client) {
            let mut script = vec![
                json!({"list": true}),
                json!({"call": "expand_tools", "arguments": {"tools": [FOLDED]}}),
                json!({"call": FOLDED, "arguments": {"workspace": "w"}}),
            ];
            for _ in 0..10 {
                script.push(json!({"call": FOLDED, "arguments": {"workspace": "w"}}));
                script.push(json!({"request": "tools/list"}));
            }
            let behind = format!("--stdio --bare --tools 60 --only {only}");
            let ran = folded(&place, client, "--arm stable --budget 500", &behind, &script);
            let list = ran.step(1);
            assert!(names_of(&list).iter().any(|name| name == "expand_tools"), "{}", ran.bytes(1));
            let opened = ran.text(2);
            assert!(opened.contains("workspace"), "{opened}");
            assert_eq!(ran.step(3)["result"]["structuredContent"]["tool"], FOLDED, "{}", ran.bytes(3));
            let first = ran.bytes(5);
            for turn in 0..10 {
                assert_eq!(ran.bytes(5 + 2 * turn), first, "{client} {only}: turn {turn}");
            }
            assert!(!ran.all().contains("list_changed"), "{}", ran.all());
        }
    }
}

#[test]
fn index_calls_through_the_bridge() {
    let place = Place::new();
    for client in clients(STATELESS) {
        let mut script = vec![
            json!({"list": true}),
            json!({"call": "expand_tools", "arguments": {"tools": [FOLDED]}}),
            json!({"call": "call_write", "arguments": {"name": FOLDED, "arguments": {"workspace": "w"}}}),
            json!({"call": "call_write", "arguments": {"name": "no_such", "arguments": {}}}),
        ];
        for _ in 0..10 {
            script.push(json!({"request": "tools/list"}));
        }
        let ran = folded(&place, client, "--arm index --budget 500", "--stdio --bare --tools 60", &script);
        let names = names_of(&ran.step(1));
        assert!(names.iter().any(|name| name == "call_write") && !names.iter().any(|name| name == FOLDED), "{names:?}");
        assert_eq!(ran.step(3)["result"]["structuredContent"]["tool"], FOLDED, "{}", ran.bytes(3));
        assert_eq!(ran.step(4)["result"]["isError"], true, "{}", ran.bytes(4));
        for step in 6..=14 {
            assert_eq!(ran.bytes(step), ran.bytes(5));
        }
    }
}

#[test]
fn seed_opens_in_place_if_the_client_can_be_notified() {
    let place = Place::new();
    let script = [
        json!({"list": true}),
        json!({"call": "expand_tools", "arguments": {"tools": [FOLDED]}}),
        json!({"wait_ms": 300}),
        json!({"list": true}),
        json!({"call": FOLDED, "arguments": {"workspace": "w"}}),
    ];
    let ran = folded(&place, SESSIONS, "--arm seed --budget 500", "--stdio --bare --tools 60", &script);
    let told = ran.of_kind("notification");
    assert!(told.iter().any(|note| note["method"] == "notifications/tools/list_changed"), "{}", ran.all());
    let (before, after) = (ran.step(1), ran.step(4));
    assert_ne!(named(&before, FOLDED), named(&after, FOLDED));
    assert!(named(&after, FOLDED)["inputSchema"]["properties"].get("workspace").is_some(), "{}", named(&after, FOLDED));
    assert_eq!(ran.step(5)["result"]["structuredContent"]["tool"], FOLDED);
}

#[test]
fn seed_is_rejected_if_the_client_cannot_be_notified() {
    let place = Place::new();
    let script = [json!({"list": true}), json!({"call": FOLDED, "arguments": {"workspace": "w"}})];
    let ran = folded(&place, STATELESS, "--arm seed --budget 500", "--stdio --bare --tools 60", &script);
    for step in [1, 2] {
        let said = ran.bytes(step);
        assert!(said.starts_with("error ") && said.contains("seed") && said.contains("2026-07-28"), "{said}");
    }
}

#[test]
fn auto_folds_what_is_over_the_budget_and_nothing_else() {
    let place = Place::new();
    for client in clients(SESSIONS) {
        let script = [json!({"list": true})];
        let small = folded(&place, client, "--budget 100000", "--stdio --bare --tools 60", &script);
        assert!(names_of(&small.step(1)).iter().any(|name| name == FOLDED));
        let large = folded(&place, client, "--budget 600", "--stdio --bare --tools 60", &script);
        assert!(large.bytes(1).len() < small.bytes(1).len() / 2);
        assert!(names_of(&large.step(1)).iter().any(|name| name == "expand_tools"));
    }
}

#[test]
fn an_invalid_call_is_sent_back_with_the_schema_and_never_runs() {
    let place = Place::new();
    let script = [
        json!({"call": FOLDED, "arguments": {"workspace": 7}}),
        json!({"call": FOLDED, "arguments": {"workspace": "w"}}),
    ];
    for arm in ["stable", "seed", "full"] {
        let ran = folded(&place, SESSIONS, &format!("--arm {arm} --budget 500"), "--stdio --bare --tools 60", &script);
        assert_eq!(ran.step(1)["result"]["isError"], true, "{arm}: {}", ran.bytes(1));
        assert!(ran.text(1).contains("workspace"), "{}", ran.text(1));
        assert_eq!(ran.step(2)["result"]["structuredContent"]["tool"], FOLDED);
    }
}

#[test]
fn unknown_members_stay_on_a_folded_tool() {
    let place = Place::new();
    let direct = drive(&place, "", &At::Command(&server("--raw --tools 60")), &[json!({"list": true})]);
    let whole = direct.step(1);
    for arm in ["stable", "seed", "signature", "outline", "lean", "kept"] {
        let ran = folded(
            &place,
            SESSIONS,
            &format!("--arm {arm} --budget 300"),
            "--raw --tools 60",
            &[json!({"list": true})],
        );
        let list = ran.step(1);
        let (own, other) = (named(&list, "odd"), named(&whole, "odd"));
        for member in ["outputSchema", "_meta", "execution", "annotations", "icons", "title", "x-vendor"] {
            assert_eq!(own[member], other[member], "{arm}: {member}");
        }
    }
}

#[test]
fn skills_of_a_folder_can_be_activated() {
    let place = Place::new();
    place.put("skills/tea/SKILL.md", "---\nname: tea\ndescription: How to make tea.\n---\nBoil the water first.\n");
    let options = format!("--arm full --skills {}", place.file("skills"));
    let script = [
        json!({"list": true}),
        json!({"call": "activate_skill", "arguments": {"name": "tea"}}),
        json!({"call": "activate_skill", "arguments": {"name": "coffee"}}),
        json!({"call": "counts", "arguments": {}}),
    ];
    for client in clients(STATELESS) {
        let ran = folded(&place, client, &options, "--raw", &script);
        assert!(named(&ran.step(1), "activate_skill").to_string().contains("How to make tea"));
        assert!(ran.text(2).contains("Boil the water first."), "{}", ran.text(2));
        assert_eq!(ran.step(3)["result"]["isError"], true, "{}", ran.bytes(3));
        assert_eq!(ran.text(4), r#"{"counts":1}"#);
    }
}

/// The first line of a command's output.
pub(super) fn first_line(place: &Place, args: &[&str], input: &[u8]) -> String {
    let mut command = place.command(TOOLFOLD);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    said.lines().next().unwrap_or_default().to_owned()
}

/// The array for one list is the same wherever it comes from: the gateway, the server listed by the
/// command, its saved list, and a session over either.
#[test]
fn one_list_is_one_array_through_every_entry_point() {
    let place = Place::new();
    // With tools whose names have no prefix beside some that have one.
    let behind = "--stdio --faults --bare --tools 60";
    let command = server(behind).join(" ");
    let saved = first_line(&place, &["tools", "--mcp", &command, "--arm", "full", "--wire", "mcp"], b"");
    let list = place.put("list.json", &saved);
    for arm in toolfold_testing::sample(["stable", "lean", "kept", "index", "auto"], 2) {
        let served = folded(&place, SESSIONS, &format!("--arm {arm}"), behind, &[json!({"list": true})]);
        let served = served.step(1)["result"]["tools"].clone();
        for source in [["--mcp", &command], ["--tools", &list]] {
            let options = [source.as_slice(), &["--arm", arm, "--wire", "mcp"]].concat();
            let printed = first_line(&place, &[&["tools"], options.as_slice()].concat(), b"");
            let printed: Value = serde_json::from_str(&printed).unwrap();
            assert!(printed == served, "{arm} {source:?}:\n{printed}\n{served}");
            let answer = first_line(&place, &[&["session"], options.as_slice()].concat(), b"{\"tools\":true}\n");
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert!(answer["tools"] == served, "{arm} {source:?}: session\n{answer}");
        }
    }
}
