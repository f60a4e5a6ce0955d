//! Proof 2 of orthogonality: counting compiles with nothing of ours but the modules that it may
//! name.
#![allow(
    missing_docs,
    dead_code,
    unreachable_pub,
    unused_imports,
    rustdoc::broken_intra_doc_links,
    clippy::disallowed_methods,
    reason = "a part of the library, seen from a test"
)]
#![deny(unsafe_code)]

#[path = "../src"]
mod layer {
    pub mod model;
    pub mod schema;
    pub mod tokens;
}
use layer::{model, schema, tokens};
use toolfold_diagnostic::{diagnostic, name, search};

#[test]
fn a_count_needs_no_engine() {
    let tools = serde_json::json!([{"type": "function", "function": {"name": "now", "description": "Tell the time.",
        "parameters": {"type": "object", "properties": {}}}}]);
    let tools = tools.as_array().unwrap();
    let meter = "billed:openai-chat/gpt-4o".parse().unwrap();
    let counted = tokens::count_tools(tools, &meter).unwrap();
    assert!(counted.tokens > 0, "{counted:?}");
}
