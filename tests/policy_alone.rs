//! Proof 2 of orthogonality: layer 3 compiles with nothing of ours but the modules that it may name.
#![allow(missing_docs, dead_code, unreachable_pub, unused_imports, reason = "a part of the library, seen from a test")]
#![deny(unsafe_code)]

#[path = "../src"]
mod layer {
    pub mod catalog;
    pub mod diagnostic;
    pub mod error;
    pub mod name;
    pub mod policy;
    pub mod schema;
}
/// They name nothing of ours but the catalogue, so that their unit tests are compiled with it.
#[path = "../src/wire/arguments.rs"]
mod arguments;
use layer::{catalog, diagnostic, error, name, policy, schema};

#[test]
fn a_decision_needs_no_engine() {
    let text =
        "[tool.delete]\ntier = 'a'\nwrites = ['path']\n[[rule]]\ndecide = 'deny'\ntool = '*'\npath = 'keep/**'\n";
    let file = policy::PolicyFile::load(text, "policy.toml", policy::PolicyScope::User).into_result().unwrap();
    let policy = policy::Policy::new(vec![file]);
    let context = policy::Context { interactive: true, ..policy::Context::default() };
    let decide = |path: &str| {
        let arguments = serde_json::json!({ "path": path });
        let call = policy::PolicyCall { tool: "delete", origin: &policy::ToolOrigin::Native, arguments: &arguments };
        policy.decide(&call, &context, &[]).decision
    };
    assert_eq!(decide("a.xlsx"), policy::Decision::Confirm);
    assert_eq!(decide("keep/a.xlsx"), policy::Decision::Deny);
}
