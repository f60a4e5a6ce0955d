//! Policy in the gate: its audit records, and how an approval resumes a waiting call.

mod unreported;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome, Resumed};
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::{ApprovalStore, Approver, Context, MemoryStore, Policy, PolicyFile, PolicyScope, ToolOrigin};
use toolfold::profile::Arm;
use toolfold::wire::Wire;
use toolfold_testing::with;

use crate::layers::{builder, delete, skills};
use crate::project;
use crate::talk::{Call, Dispatch, Talk};

/// The unchanged policy.
const AS_IS: (&str, &str) = ("", "");

/// A clock that advances 5 ms at each reading.
fn clock() -> impl Fn() -> i64 + Send + Sync {
    let now = AtomicI64::new(1_000);
    move || now.fetch_add(5, Ordering::SeqCst)
}

/// The Excel policy with one text in it replaced by another.
fn policy((from, to): (&str, &str), store: Arc<dyn ApprovalStore>) -> (PolicyLayer, Approver) {
    let text = project("profiles/excel/policy.toml");
    assert!(text.contains(from), "{from}");
    let text = text.replace(from, to);
    let file = PolicyFile::load(&text, "policy.toml", PolicyScope::User).into_result().unwrap();
    let (policy, approver) = PolicyLayer::open(Policy::new(vec![file]), store, clock());
    (policy.context(Context::default().with_cwd("/work").with_interactive(true)), approver)
}

fn session(edit: (&str, &str)) -> (Conversation, Approver, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::default());
    let (policy, approver) = policy(edit, store.clone());
    (builder(Arm::Stable).policy(policy).build().unwrap().talk(), approver, store)
}

/// The records of a kind.
fn records(store: &MemoryStore, kind: Kind) -> Vec<Entry> {
    let chain = store.chain().unwrap();
    let entries = chain.iter().map(|(_, body, _, _)| serde_json::from_str::<Entry>(body).unwrap());
    entries.filter(|entry| entry.kind == kind).collect()
}

fn write(id: &str, path: &str) -> Call {
    Call::new(id, "write_cells", json!({"file_path": path, "cell": "A1", "value": "1"}))
}

#[test]
fn audit_record_has_paths_and_outcome() {
    let (mut session, _, store) = session(AS_IS);
    assert!(matches!(session.dispatch(&write("c1", "q1.xlsx")), Outcome::Forward(_)));
    let read = Call::new("c2", "read_excel", json!({"file_path": "q1.xlsx"}));
    assert!(matches!(session.dispatch(&read), Outcome::Forward(_)));
    session.report_result(&"c1".into(), false);
    session.report_result(&"c2".into(), true);
    session.report_result(&"c2".into(), true);

    let [decision] = &records(&store, Kind::Decision)[..] else { panic!("what only reads passes without a record") };
    assert_eq!((decision.tool.as_str(), decision.call_id.as_str()), ("write_cells", "c1"));
    assert_eq!(decision.decision.as_deref(), Some("allow_audited"));
    assert_eq!(decision.effects, json!(["writes /work/q1.xlsx"]));
    assert_eq!(decision.undo.as_deref(), Some("irreversible"), "this host stores no snapshots");
    assert_eq!(decision.arguments["file_path"], "q1.xlsx");
    assert!(decision.digest.as_ref().is_some_and(|digest| digest.len() == 64), "{decision:?}");

    let [first, second] = &records(&store, Kind::Outcome)[..] else { panic!("one outcome a call") };
    assert_eq!((first.outcome.as_deref(), first.tool.as_str()), (Some("failed"), "write_cells"));
    assert_eq!((second.outcome.as_deref(), second.tool.as_str()), (Some("ok"), "read_excel"));
    for outcome in [first, second] {
        assert!(outcome.duration_ms.is_some_and(|ms| ms > 0 && ms % 5 == 0), "{outcome:?}");
    }
}

#[test]
fn a_denied_attempt_is_recorded() {
    let rule =
        "[[rule]]\ndecide = \"deny\"\ntool = \"write_cells\"\npath = \"secret/**\"\nwhy = \"hands off\"\n[policy]";
    let (mut session, _, store) = session(("[policy]", rule));
    assert!(matches!(session.dispatch(&write("c1", "secret/a.xlsx")), Outcome::Refuse(_)));
    let [denied] = &records(&store, Kind::Decision)[..] else { panic!("one record") };
    assert_eq!(denied.decision.as_deref(), Some("deny"));
    assert!(denied.rule.as_ref().is_some_and(|rule| rule.contains("hands off")), "{denied:?}");
}

#[test]
fn audit_mode_records_the_would_be_decision() {
    let (mut session, _, store) = session(("\"enforce\"", "\"audit\""));
    assert!(matches!(session.dispatch(&delete()), Outcome::Forward(_)));
    let [decision] = &records(&store, Kind::Decision)[..] else { panic!("one record") };
    assert_eq!(decision.would_be.as_deref(), Some("confirm"));
}

#[test]
fn records_do_not_contain_secrets_of_the_policy() {
    let (mut session, approver, store) = session(("[\"content\"]", "[\"file_path\"]"));
    let call = Call::new("c1", "delete_file", json!({"file_path": "payroll.xlsx", "confirm": true}));
    let Outcome::Confirm(confirm) = session.dispatch(&call) else { panic!("Tier A waits") };
    approver.approve(confirm.approval.as_str(), 1_010).unwrap();
    let Some(Outcome::Forward(forward)) = session.take_up(confirm.approval.as_str()) else { panic!("it runs") };
    assert_eq!(forward.arguments["file_path"], "payroll.xlsx", "what runs is whole");
    let text = json!(store.chain().unwrap().iter().map(|(_, body, _, _)| body.clone()).collect::<Vec<_>>()).to_string();
    for kind in [Kind::Asked, Kind::Accepted, Kind::Consumed] {
        let [entry] = &records(&store, kind)[..] else { panic!("{kind:?}") };
        assert_eq!(entry.arguments["file_path"], "[redacted]", "{kind:?}");
    }
    assert!(!text.contains("payroll"), "{text}");
}

#[test]
fn a_call_that_cannot_run_stops_waiting() {
    for (case, wanted) in [("no", "a person rejected it: keep it"), ("late", "is expired"), ("used", "is consumed")] {
        let (mut session, approver, _) = session(AS_IS);
        let Outcome::Confirm(confirm) = session.dispatch(&delete()) else { panic!("Tier A waits") };
        let mut twin = session.fork();
        match case {
            "no" => drop(approver.reject(confirm.approval.as_str(), Some("keep it"), 1_010).unwrap()),
            "late" => drop(approver.approve(confirm.approval.as_str(), -10_000_000).unwrap()),
            _ => {
                approver.approve(confirm.approval.as_str(), 1_010).unwrap();
                assert!(matches!(twin.take_up(confirm.approval.as_str()), Some(Outcome::Forward(_))));
            }
        }
        let Some(Outcome::Refuse(refusal)) = session.take_up(confirm.approval.as_str()) else {
            panic!("{case}: refused")
        };
        assert!(refusal.reason.contains(wanted), "{case}: {}", refusal.reason);
        assert_eq!(session.pending().count(), 0, "{case}");
        assert!(session.take_up(confirm.approval.as_str()).is_none(), "{case}");
    }
}

#[test]
fn transcript_writes_no_record_and_requests_no_approval() {
    let store = Arc::new(MemoryStore::default());
    let (policy, approver) = policy(AS_IS, store.clone());
    let engine = builder(Arm::Stable).policy(policy).build().unwrap();
    let start = || engine.conversation(Wire::OpenAiChat).id("s-1");
    let mut before = start().start().unwrap();
    let mut calls = vec![write("c1", "q1.xlsx"), delete(), write("c3", "q3.xlsx")];
    calls[1].id = "c2".to_owned();
    for call in &calls {
        before.dispatch(call);
    }
    before.report_result(&"c1".into(), true);
    let calls: Vec<_> = calls.iter().map(|c| (c.id.as_str(), c.name.as_str(), c.arguments.clone())).collect();
    let made = Wire::OpenAiChat.assistant_message(&calls);
    let messages = json!([
        {"role": "user", "content": "go"},
        made,
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]);
    let records = store.chain().unwrap().len();
    let mut after = start().from_transcript(&messages).unwrap();
    assert_eq!(store.chain().unwrap().len(), records, "nothing is recorded twice");
    let waits: Vec<_> =
        after.pending().map(|(approval, waiting)| (approval.to_string(), waiting.id.to_string())).collect();
    assert_eq!(waits, [("ap-1".to_owned(), "c2".to_owned())], "the same call waits for the same answer");
    assert_eq!(store.pending(1_500).unwrap().len(), 1, "one question is asked");
    assert_eq!(after, before);
    approver.approve("ap-1", 1_500).unwrap();
    // Approved but not run: a session recreated from the transcript still runs it, once.
    let mut later = start().from_transcript(&messages).unwrap();
    assert!(matches!(later.take_up("ap-1"), Some(Outcome::Forward(forward)) if forward.id == "c2"));
    assert!(matches!(after.take_up("ap-1"), Some(Outcome::Refuse(_))), "used");
    let last = start().from_transcript(&messages).unwrap();
    assert_eq!(last.pending().count(), 0, "what has run does not wait");
    // The recreated session continues normally: its next calls are recorded.
    let records = store.chain().unwrap().len();
    after.dispatch(&write("c4", "q4.xlsx"));
    assert_eq!(store.chain().unwrap().len(), records + 1);
}

/// A host restarts and repeats the call: one approval, one run, and no run without approval.
#[test]
fn a_repeated_call_after_a_restart_uses_its_approval() {
    let store = Arc::new(MemoryStore::default());
    let (layer, approver) = policy(AS_IS, store.clone());
    let engine = builder(Arm::Stable).policy(layer).build().unwrap();
    let start = |id: &str| engine.conversation(Wire::OpenAiChat).id(id).start().unwrap();
    let call = Call::new("c1", "delete_file", json!({"file_path": "a.xlsx", "confirm": true}));
    let ask = |id: &str| match start(id).dispatch(&call) {
        Outcome::Confirm(confirm) => confirm.approval.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!((ask("s"), ask("s")), ("ap-1".to_owned(), "ap-1".to_owned()), "one question is asked");
    assert_eq!(ask("another"), "ap-2", "another conversation asks for itself");
    assert_ne!(ask(""), ask(""), "conversations without an id are not told apart");
    approver.approve("ap-1", 1_500).unwrap();
    assert!(matches!(start("s").dispatch(&call), Outcome::Forward(_)), "approved: it runs");
    let Outcome::Refuse(refused) = start("s").dispatch(&call) else { panic!("one approval, one run") };
    assert!(refused.reason.contains("approval ap-1 was already used"), "{}", refused.reason);
    assert_eq!(records(&store, Kind::Asked).len(), 4, "and nobody is asked whose old answer could count for it");
    let said_no = Call::new("c8", "delete_file", json!({"file_path": "b.xlsx", "confirm": true}));
    let Outcome::Confirm(asked) = start("s").dispatch(&said_no) else { panic!("asked") };
    approver.reject(asked.approval.as_str(), None, 1_500).unwrap();
    let Outcome::Refuse(refused) = start("s").dispatch(&said_no) else { panic!("a no holds") };
    assert!(refused.reason.contains("this exact call was rejected ("), "{}", refused.reason);
    // The same id but another call: of another tool, or requested through another channel.
    let other = Call::new("c1", "delete_sheet", json!({"file_path": "a.xlsx", "sheet_name": "S", "confirm": true}));
    assert!(matches!(start("s").dispatch(&other), Outcome::Confirm(_)), "of another tool");
    let (layer, _) = policy(AS_IS, store.clone());
    let stranger = builder(Arm::Stable).policy(with!(layer, channel = Some("of another host".into()))).build().unwrap();
    let mut stranger = stranger.conversation(Wire::OpenAiChat).id("s").start().unwrap();
    assert!(matches!(stranger.dispatch(&call), Outcome::Confirm(_)), "of another channel");
    // The model repeats the call deliberately, in a new message: that is another call.
    let anew = Call::new("c9", "delete_file", json!({"file_path": "a.xlsx", "confirm": true}));
    assert!(matches!(start("s").dispatch(&anew), Outcome::Confirm(_)), "a person is asked about it");

    // Recreated from a message array that ends with the call: the call is remembered, and judged
    // when it is repeated.
    let calls = [(call.id.as_str(), call.name.as_str(), call.arguments.clone())];
    let messages = json!([Wire::OpenAiChat.assistant_message(&calls)]);
    let mut recalled = engine.conversation(Wire::OpenAiChat).id("fresh").from_transcript(&messages).unwrap();
    assert!(matches!(recalled.dispatch(&call), Outcome::Confirm(_)), "nobody has approved it");
}

/// Generated ids restart with the conversation, so an earlier run of the same number proves
/// nothing.
#[test]
fn a_call_without_an_id_requires_approval_again_after_a_restart() {
    let (layer, approver) = policy(AS_IS, Arc::new(MemoryStore::default()));
    let engine = builder(Arm::Stable).policy(layer).build().unwrap();
    for approval in ["ap-1", "ap-2"] {
        let mut host = engine.conversation(Wire::OpenAiChat).id("s").start().unwrap();
        let call = Call::new("", "delete_file", json!({"file_path": "a.xlsx", "confirm": true}));
        let Outcome::Confirm(confirm) = host.dispatch(&call) else { panic!("asked") };
        assert_eq!(confirm.approval.as_str(), approval);
        approver.approve(approval, 1_500).unwrap();
        assert!(matches!(host.resume(&confirm.approval), Ok(Resumed::Run(_))));
    }
}

#[test]
fn a_refusal_uses_the_wires_tool_name() {
    let list = json!({"tools": [{"name": "files.delete", "inputSchema": {"type": "object"}}]}).to_string();
    let rules = "[tool.\"files.delete\"]\ntier = \"a\"\n";
    let file = PolicyFile::load(rules, "policy.toml", PolicyScope::User).into_result().unwrap();
    let (policy, _approver) = PolicyLayer::open(Policy::new(vec![file]), Arc::new(MemoryStore::default()), clock());
    let policy = policy.context(Context::default());
    let engine = Engine::builder(Catalog::from_mcp(&list).unwrap()).policy(policy).build().unwrap();
    let call = Call::new("c", "files_delete", json!({}));
    let outcome = engine.talk().dispatch(&call);
    let Outcome::Refuse(refusal) = &outcome else { panic!("nobody can be asked") };
    assert_eq!(refusal.target, "files.delete", "the host's name");
    let said = outcome.into_messages()[0]["content"].as_str().unwrap().to_owned();
    assert!(said.contains("files_delete was not run") && !said.contains("files.delete"), "{said}");
}

#[test]
fn rules_match_the_server_of_a_tool() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let list = json!({"tools": [tool("github_delete"), tool("mail_delete"), tool("delete")]}).to_string();
    let rules = "[[rule]]\ndecide = \"allow\"\ntool = \"mcp:github/delete\"\n\
                 [[rule]]\ndecide = \"deny\"\ntool = \"mcp:mail/*\"\n";
    let file = PolicyFile::load(rules, "policy.toml", PolicyScope::User).into_result().unwrap();
    let store = Arc::new(MemoryStore::default());
    let (policy, _approver) = PolicyLayer::open(Policy::new(vec![file]), store.clone(), clock());
    let of = |server: &str| (ToolOrigin::Mcp(server.to_owned()), "delete".to_owned());
    let origins = BTreeMap::from([("github_delete".to_owned(), of("github")), ("mail_delete".to_owned(), of("mail"))]);
    let mut session = Engine::builder(Catalog::from_mcp(&list).unwrap())
        .policy(with!(policy, origins = Arc::new(origins)))
        .build()
        .unwrap()
        .talk();
    let mut call = |name: &str| session.dispatch(&Call::fresh(name, Value::Object(serde_json::Map::new())));
    assert!(matches!(call("github_delete"), Outcome::Forward(_)), "allowed for that server");
    assert!(matches!(call("mail_delete"), Outcome::Reply(_)), "denied outright: there is no such tool");
    assert!(matches!(call("delete"), Outcome::Confirm(_)), "the host's own is another tool");
    let [decision] = &records(&store, Kind::Decision)[..] else { panic!("one record") };
    assert_eq!((decision.origin.clone(), decision.tool.as_str()), (Some(ToolOrigin::Mcp("github".into())), "delete"));
}

#[test]
fn an_approval_is_bound_to_the_server() {
    let list = json!({"tools": [{"name": "delete", "inputSchema": {"type": "object"}}]}).to_string();
    let rules = "[[rule]]\ndecide = \"ask\"\ntool = \"mcp:*/*\"\n";
    let store = Arc::new(MemoryStore::default());
    let engine = |server: &str| {
        let file = PolicyFile::load(rules, "policy.toml", PolicyScope::User).into_result().unwrap();
        let (policy, approver) = PolicyLayer::open(Policy::new(vec![file]), store.clone(), clock());
        let of = (ToolOrigin::Mcp(server.to_owned()), "delete".to_owned());
        let policy = policy.context(Context::default().with_interactive(true));
        let policy = with!(policy, origins = Arc::new(BTreeMap::from([("delete".to_owned(), of)])));
        (Engine::builder(Catalog::from_mcp(&list).unwrap()).policy(policy).build().unwrap(), approver)
    };
    let (mine, approver) = engine("github");
    let mut before = mine.talk();
    let Outcome::Confirm(asked) = before.dispatch(&Call::new("c", "delete", json!({}))) else { panic!("it waits") };
    approver.approve(asked.approval.as_str(), 1_500).unwrap();
    // The same name and definition, from another server.
    let mut other = engine("evil").0.restore(before.snapshot()).unwrap();
    assert!(matches!(other.resume(&asked.approval), Ok(Resumed::Refused(_))));
    let mut again = mine.restore(before.snapshot()).unwrap();
    assert!(matches!(again.resume(&asked.approval), Ok(Resumed::Run(_))));
}

#[test]
fn a_sub_agent_has_only_the_skills_it_is_given() {
    let mut parent = builder(Arm::Stable).skills(skills(vec![])).build().unwrap().talk();
    for (allowed, knows) in [(&["read_excel"][..], false), (&["read_excel", "activate_skill"][..], true)] {
        let mut child = parent.child(allowed).unwrap();
        let array = child.tools();
        assert_eq!(array.json().contains("activate_skill"), knows, "{allowed:?}");
        let Outcome::Reply(reply) = child.dispatch(&Call::new("c", "activate_skill", json!({"name": "format-basic"})))
        else {
            panic!("answered")
        };
        assert_eq!(!reply.answer.failed, knows, "{}", reply.answer.content);
        let again = parent.engine().replay(&child.take_log(0)).unwrap();
        assert_eq!(again, child);
    }
}

/// Hosts that receive the same approval at the same time, each with its own handle on the store:
/// one request, one run.
#[cfg(feature = "store")]
#[test]
fn concurrent_hosts_request_once_and_run_once() {
    let folder = std::env::temp_dir().join(format!("toolfold-hosts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (memory, file) = (Arc::new(MemoryStore::default()), folder.join("approvals.db"));
    let sqlite = || Arc::new(toolfold::store::SqliteStore::open(&file).unwrap()) as Arc<dyn ApprovalStore>;
    let stores: [&(dyn Fn() -> Arc<dyn ApprovalStore> + Sync); 2] = [&|| memory.clone(), &sqlite];
    for store in stores {
        for round in 0..toolfold_testing::cases_of(6, 20) {
            let together = std::sync::Barrier::new(4);
            // How an adapter behaves whose framework reports that its user approved the call.
            let host = || {
                let (layer, approver) = policy(AS_IS, store());
                let engine = builder(Arm::Stable).policy(layer).build().unwrap();
                let mut host = engine.conversation(Wire::OpenAiChat).id("s").start().unwrap();
                let arguments = json!({"file_path": "a.xlsx", "confirm": true});
                let call = Call::new(&format!("c{round}"), "delete_file", arguments);
                together.wait();
                match host.dispatch(&call) {
                    Outcome::Confirm(asked) => {
                        let id = asked.approval.to_string();
                        drop(approver.approve(&id, 1_500));
                        (id, matches!(host.resume(&asked.approval), Ok(Resumed::Run(_))))
                    }
                    Outcome::Forward(run) => (run.context.reason.unwrap(), true),
                    Outcome::Refuse(refused) => (refused.reason, false),
                    Outcome::Reply(other) => panic!("{other:?}"),
                }
            };
            let ends = std::thread::scope(|scope| {
                let hosts: Vec<_> = (0..4).map(|_| scope.spawn(host)).collect();
                hosts.into_iter().map(|host| host.join().unwrap()).collect::<Vec<_>>()
            });
            assert_eq!(ends.iter().filter(|(_, ran)| *ran).count(), 1, "{ends:?}");
            let asked = format!("ap-{}", round + 1);
            assert!(ends.iter().all(|(said, _)| said.contains(&asked)), "one question, {asked}: {ends:?}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(feature = "store")]
#[test]
fn a_tier_b_call_without_a_record_does_not_run() {
    use toolfold::store::SqliteStore;
    let folder = std::env::temp_dir().join(format!("toolfold-consent-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("store.sqlite");
    let full = Arc::new(SqliteStore::open(&path).unwrap());
    full.limit_bytes(0).unwrap();
    let read_only = Arc::new(SqliteStore::open_to_read(&path).unwrap());
    for (store, wanted) in [(full, "disk is full"), (read_only, "readonly database")] {
        let (policy, _approver) = policy(AS_IS, store);
        let mut session = builder(Arm::Stable).policy(policy).build().unwrap().talk();
        let refused = (0..50).find_map(|n| {
            let value = "x".repeat(4_000);
            let call = Call::new(
                &format!("c{n}"),
                "write_cells",
                json!({"file_path": "a.xlsx", "cell": "A1", "value": value}),
            );
            match session.dispatch(&call) {
                Outcome::Refuse(refusal) => Some(refusal),
                _ => None,
            }
        });
        let refusal = refused.expect("the store takes no more");
        assert!(
            refusal.reason.contains("its audit record could not be written") && refusal.reason.contains(wanted),
            "{refusal:?}"
        );
        assert!(refusal.content.contains("write_cells was not run"), "{}", refusal.content);
        let long = json!({"file_path": "x".repeat(9_000), "confirm": true});
        let asks = Call::new("d", "delete_file", long);
        let Outcome::Refuse(refusal) = session.dispatch(&asks) else { panic!("nobody can be asked") };
        assert!(refusal.reason.contains("the approval could not be requested"), "{}", refusal.reason);
        let read = Call::new("r", "read_excel", json!({"file_path": "a.xlsx"}));
        assert!(matches!(session.dispatch(&read), Outcome::Forward(_)), "what only reads still runs");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
