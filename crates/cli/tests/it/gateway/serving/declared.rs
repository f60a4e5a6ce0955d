//! Requests to a stateless client depend on the capabilities that its own request declares,
//! whatever other clients use the server.

use serde_json::{Value, json};

use crate::gateway::serving::drive::STATELESS;
use crate::gateway::serving::lines::{Lines, text};
use crate::gateway::serving::place::{Place, server};

fn started(place: &Place) -> Lines {
    let behind = server("--stdio --bare --faults --only initialize");
    Lines::start(place, &place.gateway("--arm full --profile off", &behind))
}

fn called(lines: &mut Lines, id: u32, name: &str, can: &Value, arguments: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": can,
    });
    lines.asked(&id.to_string(), "tools/call", &json!({"name": name, "arguments": arguments, "_meta": meta}))
}

#[test]
fn a_client_is_asked_for_what_its_request_declares() {
    let place = Place::new();
    let mut lines = started(&place);
    let (nothing, all) = (json!({}), json!({"elicitation": {}, "sampling": {}, "roots": {}}));
    // The first client has no capabilities, which does not affect the next.
    for (id, name, method) in
        [(1, "ask", "elicitation/create"), (2, "sample", "sampling/createMessage"), (3, "roots", "roots/list")]
    {
        let refused = called(&mut lines, id, name, &nothing, &json!({}));
        assert_eq!(refused["result"]["resultType"], "complete", "{refused}");
        assert!(text(&refused).contains("the client refused") && text(&refused).contains("-32601"), "{refused}");
        let asked = called(&mut lines, id + 10, name, &all, &json!({}));
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        assert_eq!(asked["result"]["inputRequests"]["input-1"]["method"], method, "{asked}");
    }
}

#[test]
fn a_part_of_a_capability_is_declared_too() {
    let place = Place::new();
    let mut lines = started(&place);
    let url = json!({"params": {"mode": "url", "message": "Sign in", "elicitationId": "e", "url": "https://a.test/"}});
    for (id, can, name, arguments, is_asked) in [
        (1, json!({"elicitation": {}}), "ask", url.clone(), false),
        (2, json!({"elicitation": {"form": {}}}), "ask", url.clone(), false),
        (3, json!({"elicitation": {"url": {}}}), "ask", url, true),
        (4, json!({"elicitation": {"url": {}}}), "ask", json!({}), false),
        (5, json!({"elicitation": {"form": {}}}), "ask", json!({}), true),
        (6, json!({"roots": {}}), "sample", json!({}), false),
    ] {
        let answer = called(&mut lines, id, name, &can, &arguments);
        assert_eq!(answer["result"]["resultType"] == "input_required", is_asked, "{can}: {answer}");
    }
}
