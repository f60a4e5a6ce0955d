//! A call is read and evaluated once, and once more when its approval is used.

use std::sync::Arc;

use serde_json::json;
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome, PolicyMark, Resumed};
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::counted::counted;
use toolfold::policy::{
    Approver, Context, History, LinkTable, MemoryStore, NoSnapshot, Policy, PolicyCall, PolicyFile, PolicyScope,
    SnapshotCall, Snapshots, TakenSnapshot, ToolOrigin, WrittenPath,
};

use crate::talk::Talk;

const TOOLS: &str = r#"[
    {"name": "peek", "inputSchema": {"type": "object"}},
    {"name": "run_shell", "inputSchema": {"type": "object"}}]"#;

const RULES: &str = "
allow = ['run_shell(git log:*)']
deny = ['Read(**/.env)', 'run_shell(shutdown:*)']
[tool.peek]
tier = 'read_only'
command = 'command'
like = 'Bash'
[tool.run_shell]
command = 'command'
like = 'Bash'
undo = 'snapshot'
";

/// A host that can copy every file.
struct Copies;

impl Snapshots for Copies {
    fn check(&self, _: &[WrittenPath]) -> Result<(), NoSnapshot> {
        Ok(())
    }

    fn take(&self, call: &SnapshotCall<'_>, _: &[WrittenPath]) -> Result<TakenSnapshot, NoSnapshot> {
        Ok(TakenSnapshot::new(format!("of-{}", call.call), "d", 1, 2))
    }

    fn discard(&self, _: &str) {}

    fn ended(&self, _: &str, _: &str) {}
}

fn policy() -> Policy {
    Policy::new(vec![PolicyFile::load(RULES, "policy.toml", PolicyScope::User).into_result().unwrap()])
}

fn session() -> (Conversation, Approver) {
    let (layer, approver) = PolicyLayer::open(policy(), Arc::new(MemoryStore::default()), || 1_000);
    let context = Context::default().with_cwd("/work").with_home("/home/u").with_interactive(true);
    let disk = LinkTable::new([("/work/l".to_owned(), "/elsewhere".to_owned())]);
    let mut layer = layer.context(context);
    layer.disk = Some(Arc::new(disk));
    layer.snapshots = Some(Arc::new(Copies));
    (Engine::builder(Catalog::from_mcp(TOOLS).unwrap()).policy(layer).build().unwrap().talk(), approver)
}

/// The result of some work, and how many calls it evaluated and command lines it read.
fn counting<T>(work: impl FnOnce() -> T) -> (T, (usize, usize)) {
    let before = counted();
    let result = work();
    let after = counted();
    (result, (after.0 - before.0, after.1 - before.1))
}

#[cfg(debug_assertions)]
#[test]
fn a_call_is_read_and_evaluated_once_and_once_more_when_its_approval_is_used() {
    let (mut talk, approver) = session();
    for (tool, command, mark) in [
        ("peek", "ls", PolicyMark::Allow),
        ("run_shell", "git log", PolicyMark::AllowAudited),
        ("run_shell", "shutdown now", PolicyMark::Deny),
        ("run_shell", "touch a", PolicyMark::Confirm),
    ] {
        let (outcome, count) = counting(|| talk.call(command, tool, json!({ "command": command })).unwrap());
        assert_eq!(outcome.context().policy, mark, "{command}: {outcome:?}");
        assert_eq!(count, (1, 1), "{command}");
        let Outcome::Confirm(confirm) = outcome else { continue };
        approver.approve(confirm.approval.as_str(), 1_000).unwrap();
        let (resumed, count) = counting(|| talk.resume(&confirm.approval));
        assert!(matches!(resumed, Ok(Resumed::Run(_))), "{command}: {resumed:?}");
        assert_eq!(count, (1, 1), "{command}, approved");
    }
}

#[cfg(debug_assertions)]
#[test]
fn an_explanation_reads_its_call_once_whatever_it_tries() {
    let policy = policy();
    let arguments = json!({ "command": "cargo doc && git log" });
    let call = PolicyCall::new(&ToolOrigin::Native, "run_shell", &arguments);
    let (explained, count) =
        counting(|| policy.prepare(call, &Context::default(), None, History::default()).explain(&[]));
    assert_eq!(count, (1, 1));
    assert_eq!(explained.would_allow, ["allow run_shell(cargo doc)"]);
}
