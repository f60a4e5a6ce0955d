//! What every store of approvals does: in memory, in a file and, with the feature `postgres`, in
//! PostgreSQL.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use toolfold::policy::audit::{Consented, Entry, Kind, Verified, verify};
use toolfold::policy::gate::open;
use toolfold::policy::{
    Approval, ApprovalError, ApprovalState, ApprovalStore, Context, Counted, Displayed, Gate, Grant, GrantScope,
    GrantTarget, History, MemoryStore, Policy, PolicyCall, PolicyFile, PolicyScope, Request, Series, ToolOrigin,
};
use toolfold::store::{AuditedStore, SqliteStore};
use toolfold_testing::with;

/// How long the approvals of these tests wait, in milliseconds.
pub(crate) const WAIT: i64 = 60_000;

const POLICY: &str = r#"
[tool.delete]
tier = "a"
[tool.send]
tier = "b"
sends = true
[[rule]]
decide = "deny"
tool = "send"
over = { count_distinct = "to", count = 2, within = "1h" }
"#;

pub(crate) fn clock() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

pub(crate) fn policy() -> Policy {
    Policy::new(vec![PolicyFile::load(POLICY, "policy.toml", PolicyScope::User).into_result().unwrap()])
}

pub(crate) fn request(policy: &Policy, call: &str) -> Request {
    with!(
        Request::new(ToolOrigin::Native, "delete", json!({"path": call, "password": "hunter2", "n": 1.5})),
        schema_hash = "h".into(),
        session = "s\0ession".into(),
        call_id = call.into(),
        policy_version = policy.version().to_owned(),
        displayed = with!(Displayed::default(), target = "delete".into(), undo = "irreversible".into())
    )
}

/// Redeems an approval of a [`request`] as an engine does.
pub(crate) fn redeem(gate: &Gate, id: &str, policy: &Policy, schema_hash: &str) -> Result<Approval, ApprovalError> {
    let request = gate.get(id)?.request;
    let now = gate.now(clock());
    let context = Context::default().with_session(&request.session).with_interactive(true).with_now_ms(now);
    let prepared = policy.prepare(request.call(), &context, None, History::default());
    gate.redeem(id, &prepared, schema_hash, |_, _| Ok(()))
}

/// A store, and how its chain is verified.
struct Case {
    store: Arc<dyn ApprovalStore>,
    verify: Box<dyn Fn() -> Verified>,
}

impl Case {
    fn audited(store: Arc<dyn AuditedStore>) -> Self {
        let own = store.clone();
        Self { store, verify: Box::new(move || own.verify(&[]).unwrap()) }
    }

    fn memory() -> Self {
        let store = Arc::new(MemoryStore::default());
        let own = store.clone();
        let verify = move || verify(own.chain().unwrap().into_iter().map(Some), &[], &mut Consented::default());
        Self { store, verify: Box::new(verify) }
    }

    /// Runs every case, in an order of their records.
    fn passes_all(&self) {
        let mut records = 0;
        for case in [answers, expires, asks_once, remembers, counts, races] {
            records += case(&self.store);
            let verified = (self.verify)();
            assert_eq!((verified.records, verified.faults), (records, vec![]));
        }
    }
}

fn is_not(result: Result<Approval, ApprovalError>, wanted: ApprovalState) {
    let result = result.map(|approval| approval.id);
    assert!(matches!(&result, Err(ApprovalError::Not { state, .. }) if *state == wanted), "{result:?}");
}

fn answers(store: &Arc<dyn ApprovalStore>) -> u64 {
    let (policy, (gate, approver)) = (policy(), open(store.clone()));
    let approver = approver.named("ada");
    let asked = gate.ask(request(&policy, "1"), clock(), WAIT).unwrap();
    assert_eq!(gate.get(&asked.id).unwrap(), asked);
    assert_eq!(gate.pending(clock()).unwrap(), std::slice::from_ref(&asked));
    assert_eq!(gate.open("s\0ession", clock()).unwrap(), std::slice::from_ref(&asked));
    assert_eq!(gate.open("another", clock()).unwrap(), []);
    is_not(redeem(&gate, &asked.id, &policy, "h"), ApprovalState::Pending);
    let approved = approver.approve(&asked.id, clock()).unwrap();
    assert_eq!(approved.answered_by.as_deref(), Some("ada"));
    is_not(approver.reject(&asked.id, None, clock()), ApprovalState::Approved);
    let other = redeem(&gate, &asked.id, &policy, "another definition");
    assert!(matches!(other, Err(ApprovalError::Differs(..))), "{other:?}");
    let run = redeem(&gate, &asked.id, &policy, "h").unwrap();
    assert_eq!(run.request.arguments, json!({"path": "1", "password": "hunter2", "n": 1.5}));
    is_not(redeem(&gate, &asked.id, &policy, "h"), ApprovalState::Consumed);
    let over = gate.get(&asked.id).unwrap();
    assert!(!serde_json::to_string(&over).unwrap().contains("hunter2"), "what is over keeps no secret");

    let no = gate.ask(request(&policy, "2"), clock(), WAIT).unwrap();
    assert_ne!(no.id, asked.id);
    assert_eq!(approver.reject(&no.id, Some("not \u{2028} this"), clock()).unwrap().state, ApprovalState::Rejected);
    is_not(approver.approve(&no.id, clock()), ApprovalState::Rejected);
    assert_eq!(gate.pending(clock()).unwrap(), []);
    for unknown in ["ap-0", "ap-\0", "gr-1", ""] {
        assert!(matches!(gate.get(unknown), Err(ApprovalError::NotFound(_))), "{unknown:?}");
    }
    5
}

fn expires(store: &Arc<dyn ApprovalStore>) -> u64 {
    let (policy, (gate, approver)) = (policy(), open(store.clone()));
    let asked = gate.ask(request(&policy, "late"), clock(), 0).unwrap();
    is_not(approver.approve(&asked.id, clock()), ApprovalState::Expired);
    is_not(redeem(&gate, &asked.id, &policy, "h"), ApprovalState::Expired);
    assert_eq!(gate.pending(clock()).unwrap(), []);
    1
}

fn asks_once(store: &Arc<dyn ApprovalStore>) -> u64 {
    let (policy, (gate, approver)) = (policy(), open(store.clone()));
    let ask = |call: &str| gate.ask_once(request(&policy, call), clock(), WAIT).unwrap();
    let one = ask("once");
    assert_eq!(ask("once").id, one.id);
    assert_ne!(ask("another").id, one.id);
    approver.reject(&one.id, None, clock()).unwrap();
    let again = ask("once");
    assert_eq!((again.id, again.state), (one.id, ApprovalState::Rejected), "a no answers for the call");
    3
}

fn remembers(store: &Arc<dyn ApprovalStore>) -> u64 {
    let (gate, approver) = open(store.clone());
    let grant = |expires_ms| {
        let scope = GrantScope::Session("s".to_owned());
        with!(Grant::new(ToolOrigin::Native, "delete", GrantTarget::Tool, scope), expires_ms = expires_ms)
    };
    let kept = approver.remember(grant(None), clock()).unwrap();
    let short = approver.remember(grant(Some(1)), clock()).unwrap();
    assert_ne!(kept.id, short.id);
    assert_eq!(gate.grants(gate.now(clock())).unwrap(), std::slice::from_ref(&kept), "the other has expired");
    assert!(gate.revoke(&kept.id, clock()).unwrap());
    assert!(!gate.revoke(&kept.id, clock()).unwrap() && !gate.revoke("gr-\0", clock()).unwrap());
    assert_eq!(gate.grants(clock()).unwrap(), []);
    3
}

/// The summaries that a decision on a call to `send` asks for, and the time of that decision.
type Seen = (History, i64);

fn seen(store: &Arc<dyn ApprovalStore>, to: &str, before: Option<&str>) -> Seen {
    let now = store.now(clock());
    let (series, _) = send(to, (History::default(), now));
    assert!(!series.is_empty());
    (store.history(&series, before).unwrap(), now)
}

/// Records a call to `send` that runs, as decided in view of `seen`.
fn sent(store: &Arc<dyn ApprovalStore>, to: &str, seen: Seen) -> Result<(), ApprovalError> {
    let mut entry = Entry::new(Kind::Decision, clock());
    (entry.call, entry.decision) = (to.to_owned(), Some("allow".to_owned()));
    (_, entry.counted) = send(to, seen);
    store.record(&entry)
}

/// The series that a call to `send` asks for, and the events that it adds.
fn send(to: &str, (history, now): Seen) -> (Vec<Series>, Vec<Counted>) {
    let (policy, arguments) = (policy(), json!({ "to": to }));
    let context = Context::default().with_session("s").with_now_ms(now);
    let call = PolicyCall::new(&ToolOrigin::Native, "send", &arguments);
    let prepared = policy.prepare(call, &context, None, history);
    (prepared.series(), prepared.counted())
}

fn counts(store: &Arc<dyn ApprovalStore>) -> u64 {
    let numbers = |to: &str, before: Option<&str>| {
        let (history, _) = seen(store, to, before);
        assert!(!history.is_unknown);
        let summary = history.series.values().next().unwrap().clone();
        (summary.revision, summary.count, summary.succeeded, summary.distinct, summary.known)
    };
    assert_eq!(numbers("ada", None), (0, 0, 0, 0, 0));
    let early = seen(store, "ada", None);
    sent(store, "ada", early.clone()).unwrap();
    assert_eq!(numbers("ada", None), (1, 1, 0, 1, 1));
    assert_eq!(numbers("bob", None), (1, 1, 0, 1, 0));
    // The decision has not seen the first call: nothing is recorded or counted.
    assert_eq!(sent(store, "bob", early), Err(ApprovalError::Raced));
    assert_eq!(numbers("bob", None), (1, 1, 0, 1, 0));
    sent(store, "bob", seen(store, "bob", None)).unwrap();
    let mut outcome = Entry::new(Kind::Outcome, clock());
    (outcome.call, outcome.outcome) = ("ada".to_owned(), Some("ok".to_owned()));
    store.record(&outcome).unwrap();
    assert_eq!(numbers("bob", None), (2, 2, 1, 2, 1));
    assert_eq!(numbers("bob", Some("bob")).1, 1, "before the second call");
    // A denied call counts for the revision only.
    let mut denied = Entry::new(Kind::Decision, clock());
    denied.decision = Some("deny".to_owned());
    store.record(&denied).unwrap();
    assert_eq!(numbers("bob", None), (2, 2, 1, 2, 1));
    4
}

/// Of many threads with one approval, exactly one runs the call.
fn races(store: &Arc<dyn ApprovalStore>) -> u64 {
    let (gate, approver) = open(store.clone());
    let asked = gate.ask(request(&policy(), "race"), clock(), WAIT).unwrap();
    approver.approve(&asked.id, clock()).unwrap();
    let ran: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..16).map(|_| scope.spawn(|| redeem(&gate, &asked.id, &policy(), "h").is_ok())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ran.iter().filter(|ran| **ran).count(), 1);
    3
}

#[test]
fn a_store_in_memory_passes_all_cases() {
    Case::memory().passes_all();
}

#[test]
fn a_store_in_a_file_passes_all_cases() {
    let folder = std::env::temp_dir().join(format!("toolfold-stores-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    Case::audited(Arc::new(SqliteStore::open(&folder.join("store.sqlite")).unwrap())).passes_all();
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(all(feature = "postgres", target_os = "linux"))]
#[test]
fn a_store_in_postgres_passes_all_cases() {
    let Some((server, database)) = crate::postgres::server("stores") else { return };
    let store = crate::postgres::store(&server, &database, "");
    Case::audited(Arc::new(store)).passes_all();
    // A second tenant has a chain of its own, from the first record on.
    Case::audited(Arc::new(crate::postgres::store(&server, &database, "ada"))).passes_all();
}
