//! Names of tools in sessions that outlive the process, and the stored names of servers.

use serde_json::{Value, json};

use crate::gateway::serving::place::{Http, Place, eventually, server};
use crate::gateway::serving::state::{call, gateway, kept, text};
use crate::gateway::serving::web::{post, session};

fn names(gateway: &Http, session: &str) -> Vec<String> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).to_string();
    let reply = post(gateway.address(), &[("Mcp-Session-Id", session)], &body);
    let body: Value = serde_json::from_str(&reply.body).unwrap_or_else(|_| panic!("{} {}", reply.status, reply.body));
    let tools = body["result"]["tools"].as_array().unwrap_or_else(|| panic!("{body}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_resumed_session_has_its_names_and_servers_are_remembered() {
    let place = Place::new();
    let mark = place.file("mark");
    // The first server starts once the mark exists.
    let script = format!("test -e {mark} && exec \"$0\" \"$@\"; exit 1");
    let late = [vec!["sh".to_owned(), "-c".to_owned(), script], server("--stdio --bare --faults")].concat();
    let servers = place.servers(&[("one", late), ("two", server("--raw"))]);
    let options = format!("--arm full --profile off --no-remember --servers {servers} {}", kept(&place));
    let first = gateway(&place, &options, &[]);
    let old = session(first.address(), "{}");
    // The first server has not listed its tools, and nothing is stored about it.
    let before = names(&first, &old);
    assert!(!before.is_empty() && before.iter().all(|name| name.starts_with("two_")), "{before:?}");
    drop(first);

    place.put("mark", "");
    let second = gateway(&place, &options, &[]);
    let mut after = Vec::new();
    eventually("the first server has listed", || {
        after = names(&second, &old);
        after.len() > before.len()
    });
    assert!(before.iter().all(|name| after.contains(name)), "{before:?} {after:?}");
    assert_eq!(text(&call(&second, &old, "two_late", &json!({"millis": 1}))), "after 1 ms");
    assert!(after.contains(&"echo".to_owned()), "the first server's own");
    let new = session(second.address(), "{}");
    let named = names(&second, &new);
    assert!(named.contains(&"odd".to_owned()) && named.contains(&"two_echo".to_owned()), "{named:?}");
    drop(second);

    // While it is down again, its stored names are used.
    std::fs::remove_file(&mark).unwrap();
    let third = gateway(&place, &options, &[]);
    let remembered = names(&third, &session(third.address(), "{}"));
    assert!(remembered.contains(&"odd".to_owned()) && remembered.contains(&"two_echo".to_owned()), "{remembered:?}");
    assert!(!remembered.contains(&"echo".to_owned()), "{remembered:?}");
    let resumed = names(&third, &old);
    assert!(resumed.contains(&"two_odd".to_owned()), "{resumed:?}");
}
