//! A query of `expand_tools` has the same answer at every entry point.

use serde_json::{Value, json};

use crate::commands::run_with;
use crate::gateway::serving::place::Place;
use crate::gateway::serving::state::{call, gateway, text};
use crate::gateway::serving::upstream::Upstream;
use crate::gateway::serving::web::{post, session};

#[test]
fn the_gateway_and_a_session_answer_a_query_alike() {
    let (place, upstream) = (Place::new(), Upstream::start(30));
    let options = |arm: &str| format!("--arm {arm} --url {}", upstream.url);
    let whole = gateway(&place, &options("full"), &[]);
    let id = session(whole.address(), "{}");
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}).to_string();
    let listed: Value =
        serde_json::from_str(&post(whole.address(), &[("Mcp-Session-Id", id.as_str())], &list).body).unwrap();
    let file = place.put("tools.json", &listed["result"].to_string());

    let folded = gateway(&place, &options("stable"), &[]);
    let id = session(folded.address(), "{}");
    for query in ["letters_3", "give letters back"] {
        let arguments = json!({"query": query});
        let served = text(&call(&folded, &id, "expand_tools", &arguments));
        let line = json!({"call": {"id": "c1", "name": "expand_tools", "arguments": arguments}}).to_string();
        let args = ["session", "--wire", "mcp", "--arm", "stable", "--tools", &file];
        let answer: Value = serde_json::from_str(&run_with(&args, line.as_bytes()).out).unwrap();
        assert!(served.starts_with("Found, best first:\n- letters_"), "{served}");
        if query == "letters_3" {
            assert_eq!(answer["content"], served.as_str());
            assert!(answer["expanded"].as_array().unwrap().contains(&json!("letters_3")), "{answer}");
        } else {
            assert!(served.contains("Already open"), "the gateway's conversation continues: {served}");
        }
    }
}
