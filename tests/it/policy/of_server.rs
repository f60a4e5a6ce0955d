//! A policy file of one server reaches its tools, and no others.

use serde_json::json;
use toolfold::policy::{Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

fn of(text: &str, server: &str) -> (PolicyFile, Vec<String>) {
    let loaded = PolicyFile::load(text, "own.toml", PolicyScope::User);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let scoped = loaded.value.of_server(server);
    (scoped.value, scoped.diagnostics.into_iter().map(|own| own.message).collect())
}

fn decided(policy: &Policy, origin: &ToolOrigin, tool: &str) -> Decision {
    let context = Context::default().with_interactive(true);
    policy.decide(&PolicyCall::new(origin, tool, &json!({})), &context, &[]).decision
}

const OWN: &str = "[[rule]]\ntool = \"*\"\ndecide = \"allow\"\n[[rule]]\ntool = \"drop_*\"\ndecide = \"deny\"\n\
                   [[rule]]\ntool = \"mcp:db/backup\"\ndecide = \"ask\"\n[tool.query]\ntier = \"read_only\"\n";

#[test]
fn a_server_policy_uses_its_servers_names() {
    let (file, found) = of(OWN, "db");
    assert!(found.is_empty() && !file.broken, "{found:?}");
    let policy = Policy::new(vec![file]);
    let (db, other) = (ToolOrigin::Mcp("db".to_owned()), ToolOrigin::Mcp("files".to_owned()));
    for (origin, tool, expected) in [
        (&db, "query", Decision::Allow),
        (&db, "list", Decision::AllowAudited),
        (&db, "drop_table", Decision::Deny),
        (&db, "backup", Decision::Confirm),
        (&other, "query", Decision::Confirm),
        (&other, "list", Decision::Confirm),
        (&ToolOrigin::Native, "query", Decision::Confirm),
        (&ToolOrigin::Native, "list", Decision::Confirm),
    ] {
        assert_eq!(decided(&policy, origin, tool), expected, "{origin:?} {tool}");
    }
}

#[test]
fn rules_for_other_servers_are_reported_and_every_call_asks() {
    for text in [
        "[policy]\ndefault = \"allow\"\n",
        "[policy]\nmode = \"off\"\n",
        "[policy]\nread_only_shell = true\n",
        "[programs]\ngit = [\"/usr/bin/git\"]\n",
        "[[rule]]\ntool = \"mcp:files/read\"\ndecide = \"allow\"\n",
        "[tool.\"mcp:files/read\"]\ntier = \"read_only\"\n",
        "allow = [\"Bash(ls)\"]\n",
    ] {
        let (file, found) = of(&format!("{text}\n[tool.query]\ntier = \"read_only\"\n"), "db");
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].contains("`db` alone"), "{found:?}");
        let policy = Policy::new(vec![file]);
        assert_eq!(decided(&policy, &ToolOrigin::Mcp("db".to_owned()), "query"), Decision::Confirm, "{text}");
        assert_eq!(decided(&policy, &ToolOrigin::Mcp("files".to_owned()), "read"), Decision::Confirm, "{text}");
    }
}

#[test]
fn duplicate_records_of_a_tool_are_reported() {
    let text = "[tool.drop]\ntier = \"a\"\nwrites = []\n[tool.\"mcp:db/drop\"]\ntier = \"read_only\"\n";
    let (file, found) = of(text, "db");
    assert_eq!(found, ["the tool `mcp:db/drop` has two records"]);
    let policy = Policy::new(vec![file]);
    assert_eq!(decided(&policy, &ToolOrigin::Mcp("db".to_owned()), "drop"), Decision::Confirm);
}

#[test]
fn the_same_file_for_another_server_is_another_policy() {
    let version = |server| Policy::new(vec![of(OWN, server).0]).version().to_owned();
    assert_eq!(version("db"), version("db"));
    let of_db = of("[tool.query]\ntier = \"read_only\"\n", "db").0;
    let of_log = of("[tool.query]\ntier = \"read_only\"\n", "log").0;
    assert_ne!(Policy::new(vec![of_db]).version(), Policy::new(vec![of_log]).version());
}
