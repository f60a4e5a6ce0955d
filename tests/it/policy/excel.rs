//! The policy of the built-in spreadsheet domain.

use serde_json::{Value, json};
use toolfold::policy::{Context, Covered, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

use crate::project;

fn tools() -> Vec<Covered> {
    let tools: Vec<Value> = serde_json::from_str(&project("profiles/excel/tools.json")).unwrap();
    tools
        .iter()
        .map(|tool| {
            let function = tool.get("function").unwrap_or(tool);
            let properties = function["parameters"]["properties"].as_object();
            Covered::new(
                function["name"].as_str().unwrap().to_owned(),
                properties.into_iter().flat_map(|p| p.keys().cloned()).collect(),
            )
        })
        .collect()
}

fn policy() -> PolicyFile {
    let loaded =
        PolicyFile::load(&project("profiles/excel/policy.toml"), "profiles/excel/policy.toml", PolicyScope::User);
    assert_eq!(loaded.diagnostics, [], "the file loads, and every example holds");
    loaded.value
}

#[test]
fn the_policy_is_complete() {
    let file = policy();
    assert_eq!(file.check(Some(&tools())), [], "every tool in a tier, every change with its paths");
    assert_eq!(file.lint(), []);
    assert_eq!(file.capabilities.len(), 49);
}

#[test]
fn it_decides() {
    let policy = Policy::new(vec![policy()]);
    let context = Context::default().with_interactive(true).with_cwd("/work").with_home("/home/u");
    let decide = |tool: &str, arguments: Value| {
        policy.decide(&PolicyCall::new(&ToolOrigin::Native, tool, &arguments), &context, &[]).decision
    };
    for (tool, arguments, expected) in [
        ("read_excel", json!({"file_path": "a.xlsx"}), Decision::Allow),
        ("read_text_file", json!({"file_path": ".env"}), Decision::Deny),
        ("write_cells", json!({"file_path": "a.xlsx"}), Decision::AllowAudited),
        ("write_cells", json!({"file_path": "/etc/a.xlsx"}), Decision::Confirm),
        ("write_cells", json!({"file_path": ".git/config"}), Decision::Deny),
        ("copy_file", json!({"source": ".env", "destination": "b"}), Decision::Deny),
        ("delete_file", json!({"file_path": "a.xlsx"}), Decision::Confirm),
        ("run_code", json!({"code": "1"}), Decision::Confirm),
        ("memory_save", json!({"content": "x"}), Decision::AllowAudited),
        ("run_shell", json!({"command": "ls | wc -l"}), Decision::AllowAudited),
        ("run_shell", json!({"command": "git log"}), Decision::AllowAudited),
        ("run_shell", json!({"command": "git push"}), Decision::Confirm),
        ("run_shell", json!({"command": "ls; rm x"}), Decision::Deny),
        ("run_shell", json!({"command": "ls", "workdir": "/"}), Decision::Confirm),
        // What is outside is read when a person says so, by whatever reads it.
        ("read_excel", json!({"file_path": "../b.xlsx"}), Decision::Confirm),
        ("read_text_file", json!({"file_path": "/etc/shadow"}), Decision::Confirm),
        ("run_shell", json!({"command": "cat sub/a.csv | head -3"}), Decision::AllowAudited),
        ("run_shell", json!({"command": "cat /etc/shadow"}), Decision::Confirm),
        ("run_shell", json!({"command": "wc < /etc/shadow"}), Decision::Confirm),
        ("run_shell", json!({"command": "cat etc/shadow", "workdir": "/"}), Decision::Confirm),
        ("run_shell", json!({"command": "cd / && cat etc/shadow"}), Decision::Confirm),
        ("run_shell", json!({"command": "printenv AWS_SECRET_ACCESS_KEY"}), Decision::Confirm),
        ("run_shell", json!({}), Decision::Confirm),
        ("run_shell", json!({"command": 5}), Decision::Confirm),
        ("no_such_tool", json!({}), Decision::Confirm),
    ] {
        assert_eq!(decide(tool, arguments.clone()), expected, "{tool} {arguments}");
    }
}
