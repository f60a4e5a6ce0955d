//! Calls of one message: none of them depends on the answer to another one.

use serde_json::{Value, json};

use crate::gateway::serving::drive::{At, SESSIONS, clients, drive};
use crate::gateway::serving::lines::{Lines, text};
use crate::gateway::serving::place::{Http, Place, server};

/// A generated tool with parameters that its folded form does not show.
const FOLDED: &str = "github_update_issues";

const OPTIONS: &str = "--arm stable --budget 500";

const BEHIND: &str = "--stdio --bare --tools 60";

fn call(workspace: &str) -> Value {
    json!({"call": FOLDED, "arguments": {"workspace": workspace}})
}

#[test]
fn of_parallel_blind_calls_none_runs_before_its_definition_was_shown() {
    for client in clients(SESSIONS) {
        let place = Place::new();
        let gateway = place.gateway(OPTIONS, &server(BEHIND));
        let http = Http::gateway(&place, &gateway);
        for at in [At::Command(&gateway), At::Url(&http.url)] {
            let script = [json!({"list": true}), json!({"together": [call("x"), call("y"), call("z")]}), call("x")];
            let ran = drive(&place, &format!("--protocol {client}"), &at, &script);
            let given = ran.step(2);
            let given = given.get("result").unwrap_or(&given["understood"]);
            for one in 0..3 {
                let said =
                    given[one]["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", ran.all()));
                assert!(said.contains("was not run yet"), "{client} {one}: {said}");
            }
            assert_eq!(ran.step(3)["result"]["structuredContent"]["tool"], FOLDED, "{client}: {}", ran.all());
        }
    }
}

#[test]
fn what_an_expansion_of_the_same_message_opens_is_unread() {
    let place = Place::new();
    let mut lines = Lines::session(&place, &place.gateway(OPTIONS, &server(BEHIND)), &json!({}));
    let request = |id: &str, name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    lines.asked("1", "tools/list", &json!({}));
    let expand = request("expand", "expand_tools", json!({"tools": [FOLDED]}));
    let blind = request("blind", FOLDED, json!({"workspace": "w"}));
    let unknown = request("unknown", "no_such_tool", json!({}));
    lines.bytes(format!("{expand}\n{blind}\n{unknown}\n").as_bytes());
    // The answers come in the order of the calls: the second one refers to the first.
    let order: Vec<Value> =
        (0..3).map(|_| serde_json::from_str(&lines.until(&|line| line.contains("\"result\""))).unwrap()).collect();
    let ids: Vec<&str> = order.iter().map(|own| own["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["expand", "blind", "unknown"]);
    assert!(text(&order[0]).contains("workspace"));
    assert!(text(&order[1]).contains("was not run yet") && text(&order[1]).contains("another result"), "{order:?}");
    let ran = lines.call("9", FOLDED, &json!({"workspace": "w"}));
    assert_eq!(ran["result"]["structuredContent"]["tool"], FOLDED, "{ran}");
}

#[test]
fn a_delayed_answer_can_be_cancelled_and_is_sent_at_the_end() {
    let place = Place::new();
    let mut lines = Lines::session(&place, &place.gateway(OPTIONS, &server(BEHIND)), &json!({}));
    lines.asked("1", "tools/list", &json!({}));
    let expand = |id: &str| {
        let params = json!({"name": "expand_tools", "arguments": {"tools": [FOLDED]}});
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    lines.bytes(format!("{}\n{cancel}\n", expand("2")).as_bytes());
    // Its id is free immediately, and what the client did not get is still closed. While an answer
    // is delayed, its id is used.
    lines.bytes(format!("{0}\n{0}\n", expand("2")).as_bytes());
    let first = lines.answer("2");
    let second = lines.answer("2");
    assert!(first.contains("in use") && !second.contains("in use"), "{first} {second}");
    assert!(second.contains("workspace") && !second.contains("Already open"), "{second}");
    lines.ask("3", "tools/call", &json!({"name": "expand_tools", "arguments": {"tools": ["jira_update_issues"]}}));
    assert_eq!(lines.end(), Some(0));
    assert!(lines.answer("3").contains("result"));
}
