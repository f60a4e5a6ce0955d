//! Undo in the engine: when the host is asked for a copy, and what is shown without one.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolfold::conversation::{Conversation, Outcome};
use toolfold::engine::PolicyLayer;
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::{
    ApprovalStore, Approver, CallUndo, Context, History, LinkTable, MemoryStore, NoSnapshot, Policy, PolicyCall,
    PolicyFile, PolicyScope, SnapshotCall, Snapshots, TakenSnapshot, ToolOrigin, Undo, WrittenPath,
};
use toolfold::profile::Arm;
use toolfold_testing::with;

use crate::layers::builder;
use crate::project;
use crate::talk::{Call, Dispatch, Talk};

/// A host that records its requests.
#[derive(Default)]
struct Host {
    said: Mutex<Vec<String>>,
    /// Why it has no copy, and whether the reason is temporary.
    none: Mutex<Option<(&'static str, bool)>>,
}

impl Host {
    fn say(&self, what: String) {
        self.said.lock().unwrap().push(what);
    }

    fn said(&self) -> Vec<String> {
        std::mem::take(&mut *self.said.lock().unwrap())
    }

    fn answer(&self) -> Result<(), NoSnapshot> {
        match *self.none.lock().unwrap() {
            None => Ok(()),
            Some((why, passing)) => Err(with!(NoSnapshot::new(why), passing = passing)),
        }
    }
}

impl Snapshots for Host {
    fn check(&self, paths: &[WrittenPath]) -> Result<(), NoSnapshot> {
        self.say(format!("check {}", names(paths)));
        self.answer()
    }

    fn take(&self, call: &SnapshotCall<'_>, paths: &[WrittenPath]) -> Result<TakenSnapshot, NoSnapshot> {
        self.say(format!("take {} {} waits={}", call.call, names(paths), call.waits));
        self.answer()?;
        Ok(TakenSnapshot::new(format!("of-{}", call.call), "d", 1, 2))
    }

    fn discard(&self, id: &str) {
        self.say(format!("discard {id}"));
    }

    fn ended(&self, _session: &str, call: &str) {
        self.say(format!("ended {call}"));
    }
}

fn names(paths: &[WrittenPath]) -> String {
    paths.iter().map(|path| path.path.as_str()).collect::<Vec<_>>().join(" ")
}

fn session(host: Option<Arc<Host>>) -> (Conversation, Approver, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::default());
    let file = PolicyFile::load(&project("profiles/excel/policy.toml"), "policy.toml", PolicyScope::User);
    let policy = Policy::new(vec![file.into_result().unwrap()]);
    let (layer, approver) = PolicyLayer::open(policy, store.clone() as Arc<dyn ApprovalStore>, || 1_000);
    let mut layer = layer.context(Context::default().with_cwd("/work").with_interactive(true));
    layer.snapshots = host.map(|host| host as Arc<dyn Snapshots>);
    (builder(Arm::Stable).policy(layer).build().unwrap().talk(), approver, store)
}

fn write() -> Call {
    Call::new("c1", "write_cells", json!({"file_path": "q1.xlsx", "cell": "A1", "value": "1"}))
}

fn delete(id: &str) -> Call {
    Call::new(id, "delete_file", json!({"file_path": "q1.xlsx", "confirm": true}))
}

fn record(store: &MemoryStore, kind: Kind) -> Entry {
    let chain = store.chain().unwrap();
    let mut entries = chain.iter().map(|(_, body, _, _)| serde_json::from_str::<Entry>(body).unwrap());
    entries.rfind(|entry| entry.kind == kind).unwrap()
}

#[test]
fn a_forwarded_call_has_a_snapshot_and_records_it() {
    let host = Arc::new(Host::default());
    let (mut session, _, store) = session(Some(host.clone()));
    let Outcome::Forward(forward) = session.dispatch(&write()) else { panic!("Tier B runs") };
    let undo = forward.notes.undo.unwrap();
    assert_eq!((undo.class, undo.snapshot.as_ref().unwrap().id.as_str()), (Undo::Snapshot, "of-c1"));
    assert_eq!(host.said(), ["take c1 /work/q1.xlsx waits=false"], "nobody is asked, so nothing is checked");
    let decision = record(&store, Kind::Decision);
    assert_eq!((decision.undo.as_deref(), &decision.detail["snapshot"]["id"]), (Some("snapshot"), &json!("of-c1")));
    let Outcome::Forward(again) = session.dispatch(&write()) else { panic!("the same again") };
    assert_eq!((again.notes.undo.unwrap(), host.said()), (undo, Vec::new()), "nothing is copied twice");
    session.report_result(&"c1".into(), true);
    session.report_result(&"c1".into(), true);
    assert_eq!(host.said(), ["ended c1"]);
}

#[test]
fn an_approved_call_is_copied_after_the_approval() {
    let host = Arc::new(Host::default());
    let (mut session, approver, store) = session(Some(host.clone()));
    let Outcome::Confirm(confirm) = session.dispatch(&delete("c1")) else { panic!("Tier A waits") };
    assert_eq!(confirm.shown.undo, "snapshot");
    assert_eq!(host.said(), ["check /work/q1.xlsx"]);
    assert!(matches!(session.take_up(confirm.approval.as_str()), Some(Outcome::Confirm(_)) | None));
    assert_eq!(host.said(), Vec::<String>::new(), "nothing leaves before the yes, and nothing is copied");
    approver.approve(confirm.approval.as_str(), 1_010).unwrap();
    let Some(Outcome::Forward(forward)) = session.take_up(confirm.approval.as_str()) else { panic!("it runs") };
    assert_eq!(forward.notes.undo.unwrap().snapshot.unwrap().id, "of-c1");
    assert_eq!(host.said(), ["take c1 /work/q1.xlsx waits=true"]);
    assert_eq!(record(&store, Kind::Consumed).detail["snapshot"]["id"], "of-c1");
}

#[test]
fn no_undo_is_claimed_without_a_copy() {
    let irreversible =
        |why: &str| Some(with!(CallUndo::default(), class = Undo::Irreversible, why = Some(why.to_owned())));
    let (mut nobody, _, store) = session(None);
    let Outcome::Forward(forward) = nobody.dispatch(&write()) else { panic!("Tier B runs") };
    assert_eq!(forward.notes.undo, irreversible("this host stores no snapshots"));
    assert_eq!(record(&store, Kind::Decision).undo.as_deref(), Some("irreversible"));
    let host = Arc::new(Host::default());
    *host.none.lock().unwrap() = Some(("the disk is full", false));
    let (mut session, approver, store) = session(Some(host.clone()));
    let Outcome::Forward(forward) = session.dispatch(&write()) else { panic!("Tier B runs") };
    assert_eq!(forward.notes.undo, irreversible("the disk is full"));
    assert_eq!(record(&store, Kind::Decision).undo.as_deref(), Some("irreversible"));
    let Outcome::Confirm(confirm) = session.dispatch(&delete("c2")) else { panic!("Tier A waits") };
    assert_eq!((confirm.shown.undo.as_str(), confirm.shown.undo_why.as_str()), ("irreversible", "the disk is full"));
    approver.approve(confirm.approval.as_str(), 1_010).unwrap();
    let Some(Outcome::Forward(forward)) = session.take_up(confirm.approval.as_str()) else { panic!("as it was shown") };
    assert_eq!(forward.notes.undo, irreversible("the disk is full"));
}

#[test]
fn a_call_shown_as_undoable_runs_only_with_a_copy() {
    for (passing, waits) in [(true, true), (false, false)] {
        let host = Arc::new(Host::default());
        let (mut session, approver, store) = session(Some(host.clone()));
        let Outcome::Confirm(confirm) = session.dispatch(&delete("c1")) else { panic!("Tier A waits") };
        let id = confirm.approval.as_str();
        approver.approve(id, 1_010).unwrap();
        *host.none.lock().unwrap() = Some(("another call writes it", passing));
        match session.take_up(id) {
            Some(Outcome::Confirm(still)) if waits => assert!(still.reason.contains("another call writes it")),
            Some(Outcome::Refuse(refuse)) if !waits => assert!(refuse.reason.contains("another call writes it")),
            other => panic!("{passing}: {other:?}"),
        }
        *host.none.lock().unwrap() = None;
        if waits {
            assert!(matches!(session.take_up(id), Some(Outcome::Forward(_))), "the yes still holds");
        } else {
            assert!(session.take_up(id).is_none(), "it waits no longer");
            assert!(store.get(id).unwrap().is_open_at(1_020), "and was not used up");
        }
    }
}

/// The paths that a command writes, if all of them are known.
fn written(command: &str) -> Result<String, String> {
    let policy = "[tool.Bash]\nundo = 'snapshot'\n";
    let policy = PolicyFile::load(policy, "policy.toml", PolicyScope::User).into_result().unwrap();
    let policy = Policy::new(vec![policy]);
    let arguments = json!({ "command": command });
    let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
    let context = Context::default().with_cwd("/w").with_home("/home/u");
    let disk = LinkTable::new([("/w/l".to_owned(), "/elsewhere/deep".to_owned())]);
    let (class, paths) = policy.prepare(call, &context, Some(&disk), History::default()).undo();
    assert_eq!(class, Undo::Snapshot);
    let named = paths.map(|paths| {
        let name = |path: &WrittenPath| format!("{}{}", path.path, if path.recursive { "/**" } else { "" });
        paths.iter().map(name).collect::<Vec<_>>().join(" ")
    });
    named.map_err(|none| none.why)
}

#[test]
fn written_paths_of_commands_are_known_for_listed_programs() {
    for (command, paths) in [
        ("echo x > a", Some("/w/a")),
        ("cd d && echo x >> ../a", Some("/w/a")),
        ("rm -rf d", Some("/w/d/**")),
        ("cat b | tee a c", Some("/w/a /w/c")),
        ("cat b > ~/a", None),
        ("timeout 5 touch a", Some("/w/a")),
        ("echo x > l/../a", None),
        ("sudo touch a", None),
        ("sed -i.bak s/a/b/ a", None),
        ("sed -i s/a/b/ a", Some("/w/a")),
        ("mv --back a b", None),
        ("cp --par a/b c", None),
        ("make > log", None),
        ("cat a", None),
    ] {
        assert_eq!(written(command).ok().as_deref(), paths, "{command}: {:?}", written(command));
    }
}

#[test]
fn an_undo_record_declares_no_arguments() {
    let decision = |policy: &str| {
        let policy = format!("allow = ['Bash(ls:*)']\n{policy}");
        let policy = Policy::new(vec![PolicyFile::load(&policy, "p", PolicyScope::User).into_result().unwrap()]);
        let arguments: Value = json!({"command": "ls", "env": {"LD_PRELOAD": "x"}});
        let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
        policy.decide(&call, &Context::default().with_cwd("/w").with_interactive(true), &[]).decision
    };
    assert_eq!(decision(""), decision("[tool.Bash]\nundo = 'snapshot'\n"));
    let own = decision("[tool.Bash]\ncommand = 'command'\n");
    let asks = toolfold::policy::Decision::Confirm;
    assert_eq!((decision(""), own), (asks, asks), "nor does one that says which argument is the command");
}
