//! The store under faults: many threads, many processes, `kill -9`, tampering.
//!
//! Loops are short by default; `TOOLFOLD_CASES=ci` (as CI sets it) makes them long.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use serde_json::json;
use toolfold::policy::approval::WAIT_MS;
use toolfold::policy::audit::{Checkpoint, Entry, Fault, Kind};
use toolfold::policy::gate::open;
use toolfold::policy::{
    ApprovalError, ApprovalState, ApprovalStore, Context, Displayed, Grant, GrantScope, Policy, PolicyFile,
    PolicyScope, Request, ToolOrigin, canonical,
};
use toolfold::store::SqliteStore;
use toolfold_testing::with;

use super::redeem;

/// A folder of its own for a test, removed when it ends.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        toolfold_testing::timed();
        let path = std::env::temp_dir().join(format!("toolfold-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn store(&self) -> PathBuf {
        self.0.join("store.sqlite")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn policy() -> Policy {
    let text = "[tool.delete]\ntier = \"a\"\nwrites = [\"path\"]\n[[rule]]\ndecide = \"deny\"\ntool = \"*\"\npath = \"keep/**\"\n";
    Policy::new(vec![PolicyFile::load(text, "policy.toml", PolicyScope::User).into_result().unwrap()])
}

pub(super) fn context() -> Context {
    Context::default().with_session("s").with_interactive(true).with_now_ms(10)
}

pub(super) fn request(policy: &Policy, n: usize) -> Request {
    with!(
        Request::new(ToolOrigin::Native, "delete", json!({ "path": format!("a{n}.xlsx"), "token": "hunter2" })),
        schema_hash = "h".into(),
        session = "s".into(),
        call_id = format!("c{n}"),
        policy_version = policy.version().to_owned(),
        displayed = with!(Displayed::default(), target = "delete".into(), undo = "snapshot".into())
    )
}

#[test]
fn an_approval_from_start_to_end() {
    let folder = Folder::new("flow");
    let store = Arc::new(SqliteStore::open(&folder.store()).unwrap());
    let policy = policy();
    let (gate, approver) = open(store.clone());
    let asked = gate.ask(request(&policy, 1), 0, WAIT_MS).unwrap();
    assert_eq!(gate.pending(1).unwrap(), std::slice::from_ref(&asked));
    let early = redeem(&gate, &asked.id, &policy, &context(), "h");
    assert!(matches!(early, Err(ApprovalError::Not { state: ApprovalState::Pending, .. })), "{early:?}");
    approver.approve(&asked.id, 5).unwrap();
    assert!(approver.reject(&asked.id, None, 6).is_err(), "the first answer wins");
    let changed = redeem(&gate, &asked.id, &policy, &context(), "other");
    assert!(matches!(changed, Err(ApprovalError::Differs(..))), "{changed:?}");
    let late = redeem(&gate, &asked.id, &policy, &context().with_now_ms(10 * WAIT_MS), "h");
    assert!(matches!(late, Err(ApprovalError::Not { state: ApprovalState::Expired, .. })), "{late:?}");
    let newer = PolicyFile::load("[[rule]]\ndecide = \"deny\"\ntool = \"delete\"\n", "p", PolicyScope::User)
        .into_result()
        .unwrap();
    assert!(redeem(&gate, &asked.id, &Policy::new(vec![newer]), &context(), "h").is_err(), "another policy");
    let run = redeem(&gate, &asked.id, &policy, &context(), "h").unwrap();
    assert_eq!(run.request.arguments["path"], "a1.xlsx");
    assert!(matches!(
        redeem(&gate, &asked.id, &policy, &context(), "h"),
        Err(ApprovalError::Not { state: ApprovalState::Consumed, .. })
    ));

    let no = gate.ask(request(&policy, 2), 20, WAIT_MS).unwrap();
    assert_ne!(no.id, asked.id);
    approver.reject(&no.id, Some("not this one"), 21).unwrap();
    assert!(approver.approve(&no.id, 22).is_err(), "a no is durable");

    let grant = with!(
        Grant::new(
            ToolOrigin::Native,
            "delete",
            toolfold::policy::GrantTarget::Tool,
            GrantScope::Session("s".to_owned()),
        ),
        expires_ms = Some(100),
        source = "a person".into()
    );
    let grant = approver.remember(grant, 30).unwrap();
    assert_eq!(gate.grants(31).unwrap(), std::slice::from_ref(&grant));
    assert_eq!(gate.grants(100).unwrap(), [], "it has run out");
    assert!(approver.revoke(&grant.id, 32).unwrap() && !approver.revoke(&grant.id, 33).unwrap());

    let verified = store.verify(&[]).unwrap();
    assert_eq!((verified.records, verified.faults), (7, vec![]));
    let text = serde_json::to_string(&store.records(0, 100).unwrap()).unwrap();
    assert!(!text.contains("hunter2"), "secrets are redacted");
}

#[test]
fn a_deny_wins_over_an_approval() {
    let policy = policy();
    let (gate, approver) = open(Arc::new(SqliteStore::in_memory().unwrap()));
    let asked = gate.ask(with!(request(&policy, 1), arguments = json!({"path": "keep/x"})), 0, WAIT_MS).unwrap();
    approver.approve(&asked.id, 1).unwrap();
    assert!(matches!(redeem(&gate, &asked.id, &policy, &context(), "h"), Err(ApprovalError::Denied(_))));
}

#[test]
fn one_of_64_threads_succeeds() {
    let folder = Folder::new("threads");
    let store = Arc::new(SqliteStore::open(&folder.store()).unwrap());
    let policy = policy();
    let (gate, approver) = open(store.clone());
    for n in 0..4 {
        let id = gate.ask(request(&policy, n), 0, WAIT_MS).unwrap().id;
        approver.approve(&id, 1).unwrap();
        let ran = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    ran.fetch_add(usize::from(redeem(&gate, &id, &policy, &context(), "h").is_ok()), Ordering::SeqCst)
                });
            }
        });
        assert_eq!(ran.into_inner(), 1);
    }
    assert_eq!(store.verify(&[]).unwrap().faults, []);
}

/// Two agents that start together, each before there is a store.
#[test]
fn four_concurrent_creators_can_all_use_it() {
    let folder = Folder::new("created");
    let policy = policy();
    for round in 0..toolfold_testing::faults() {
        let path = folder.0.join(format!("{round}.sqlite"));
        let together = Barrier::new(4);
        std::thread::scope(|scope| {
            for n in 0..4_u32 {
                let (path, policy, together) = (&path, &policy, &together);
                scope.spawn(move || {
                    together.wait();
                    // Each meets another step of the one that makes the file.
                    let step = Duration::from_micros(u64::try_from(round % 20).unwrap() * 50);
                    std::thread::sleep(step * n);
                    let (gate, _) = open(Arc::new(SqliteStore::open(path).unwrap()));
                    gate.ask(request(policy, usize::try_from(n).unwrap()), 0, WAIT_MS).unwrap();
                });
            }
        });
        assert_eq!(SqliteStore::open_to_read(&path).unwrap().verify(&[]).unwrap().faults, []);
    }
}

/// What a child process does; the environment says which. Not a test of its own.
#[test]
fn child() {
    let Ok(work) = std::env::var("TOOLFOLD_CHILD") else { return };
    let path = PathBuf::from(std::env::var("TOOLFOLD_STORE").unwrap());
    let policy = policy();
    let store = Arc::new(SqliteStore::open(&path).unwrap());
    let (gate, approver) = open(store);
    match work.as_str() {
        "redeem" => {
            let id = std::env::var("TOOLFOLD_ID").unwrap();
            if redeem(&gate, &id, &policy, &context(), "h").is_ok() {
                println!("ran {id}");
            }
        }
        "fill" => {
            // The parent has limited how large a file may get: write until the system refuses.
            for n in 0.. {
                if let Err(why) = gate.record(&filler(n)) {
                    println!("wrote {n}, then: {why}");
                    break;
                }
            }
            let ask = gate.ask(request(&policy, 1), 0, WAIT_MS).unwrap_err();
            println!("asked: {ask}");
        }
        "loop" => {
            // Ask, accept, redeem, "run", for ever: the parent kills it somewhere.
            let ran = path.with_file_name("ran");
            for n in 0.. {
                let id = gate.ask(request(&policy, n), 0, WAIT_MS).unwrap().id;
                approver.approve(&id, 1).unwrap();
                redeem(&gate, &id, &policy, &context(), "h").unwrap();
                use std::io::Write as _;
                let mut file = fs::OpenOptions::new().create(true).append(true).open(&ran).unwrap();
                writeln!(file, "{id}").unwrap();
                println!("ran {id}");
            }
        }
        other => panic!("{other}"),
    }
}

fn spawn(work: &str, store: &Path, id: &str) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "policy::store::child", "--nocapture"])
        .env("TOOLFOLD_CHILD", work)
        .env("TOOLFOLD_STORE", store)
        .env("TOOLFOLD_ID", id)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn one_of_4_processes_succeeds() {
    let folder = Folder::new("processes");
    let store = Arc::new(SqliteStore::open(&folder.store()).unwrap());
    let policy = policy();
    let (gate, approver) = open(store.clone());
    let id = gate.ask(request(&policy, 1), 0, WAIT_MS).unwrap().id;
    approver.approve(&id, 1).unwrap();
    let children: Vec<_> = (0..4).map(|_| spawn("redeem", &folder.store(), &id)).collect();
    let ran = children
        .into_iter()
        .map(|child| String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).matches("ran ap-").count())
        .sum::<usize>();
    assert_eq!(ran, 1);
    assert_eq!(store.verify(&[]).unwrap().faults, []);
}

#[test]
fn kill_minus_nine_at_any_step() {
    let rounds = toolfold_testing::faults();
    let folder = Folder::new("kill");
    let policy = policy();
    let mut seen = 0;
    for round in 0..rounds {
        let mut child = spawn("loop", &folder.store(), "");
        // Another moment every round: within the start of the process, or some transactions later.
        // On a machine that is busy no time is long enough, so every other round waits for the
        // first call to have run.
        if round % 2 == 1 {
            let said = BufReader::new(child.stdout.as_mut().unwrap()).lines();
            said.map_while(Result::ok).find(|line| line.contains("ran ap-")).expect("the child runs calls");
        }
        std::thread::sleep(Duration::from_micros(3_000 + (round as u64 * 7_919) % 40_000));
        child.kill().unwrap();
        child.wait().unwrap();

        let store = Arc::new(SqliteStore::open(&folder.store()).unwrap());
        let verified = store.verify(&[]).unwrap();
        assert_eq!(verified.faults, [], "round {round}");
        assert!(verified.records >= seen, "nothing that was written is lost");
        seen = verified.records;

        // Never twice: what ran is consumed, and what ran ran once.
        let ran = fs::read_to_string(folder.0.join("ran")).unwrap_or_default();
        let mut ids: Vec<&str> = ran.lines().collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "an approval ran twice");
        let (gate, approver) = open(store.clone());
        for id in ids.iter().rev().take(5) {
            assert_eq!(gate.get(id).unwrap().state, ApprovalState::Consumed);
        }
        // Never lost: what was left half-way can still be answered and used, once.
        let left = gate.pending(2).unwrap();
        assert!(left.len() <= 1);
        for approval in left {
            approver.approve(&approval.id, 3).unwrap();
            redeem(&gate, &approval.id, &policy, &context(), "h").unwrap();
            assert!(redeem(&gate, &approval.id, &policy, &context(), "h").is_err());
        }
    }
    println!("{rounds} kills, {seen} records, chain whole");
    assert!(seen > 0, "the children got as far as writing");
}

/// Writes a chain of `n` records and gives the path.
pub(super) fn chain(folder: &Folder, n: i64) -> PathBuf {
    let store = SqliteStore::open(&folder.store()).unwrap();
    for i in 0..n {
        store.record(&with!(Entry::new(Kind::Decision, i), tool = format!("t{i}"))).unwrap();
    }
    folder.store()
}

pub(super) fn tamper(path: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn tampering_is_detected() {
    let open_triggers = "DROP TRIGGER audit_is_append_only_1; DROP TRIGGER audit_is_append_only_2;";
    type Wanted = fn(&Fault) -> bool;
    let cases: [(&str, Wanted); 9] = [
        ("UPDATE audit SET body = replace(body, 't4', 'xx') WHERE seq = 5;", |f| *f == Fault::Edited { seq: 5 }),
        ("DELETE FROM audit WHERE seq = 5;", |f| *f == Fault::Missing { expected: 5, found: 6 }),
        ("DELETE FROM audit WHERE seq > 7;", |f| *f == Fault::Truncated { expected: 10, found: 7 }),
        ("DELETE FROM audit;", |f| *f == Fault::Truncated { expected: 10, found: 0 }),
        (
            "UPDATE audit SET seq = 99 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = 4; UPDATE audit SET seq = 4 WHERE seq = 99;",
            |f| matches!(f, Fault::Edited { seq: 3 } | Fault::Broken { seq: 3 }),
        ),
        ("DELETE FROM audit WHERE seq > 7; DELETE FROM head;", |f| *f == Fault::NoHead),
        ("UPDATE audit SET hash = 'x' WHERE seq = 10;", |f| *f == Fault::Edited { seq: 10 }),
        ("UPDATE audit SET body = '{' WHERE seq = 10;", |f| *f == Fault::Edited { seq: 10 }),
        // Another table, whose columns take values of any type.
        (
            "UPDATE audit SET body = body WHERE seq = 4; ALTER TABLE audit RENAME TO old; CREATE TABLE audit (seq, body, prev, hash); INSERT INTO audit SELECT * FROM old; UPDATE audit SET body = NULL WHERE seq = 4;",
            |f| *f == Fault::Torn { seq: 4 },
        ),
    ];
    for (i, (sql, wanted)) in cases.into_iter().enumerate() {
        let folder = Folder::new(&format!("tamper-{i}"));
        let path = chain(&folder, 10);
        assert!(rusqlite::Connection::open(&path).unwrap().execute_batch(sql).is_err(), "append-only: {sql}");
        tamper(&path, &format!("{open_triggers}{sql}"));
        let faults = SqliteStore::open_to_read(&path).unwrap().verify(&[]).unwrap().faults;
        assert!(faults.iter().any(wanted), "{sql}: {faults:?}");
    }
    // Cut off together with the head: only a checkpoint kept elsewhere can show it.
    let folder = Folder::new("tamper-head");
    let path = chain(&folder, 10);
    let known = SqliteStore::open_to_read(&path).unwrap().verify(&[]).unwrap().head.unwrap();
    tamper(
        &path,
        &format!(
            "{open_triggers}DELETE FROM audit WHERE seq > 7; UPDATE head SET seq = 7, hash = (SELECT hash FROM audit WHERE seq = 7);"
        ),
    );
    let store = SqliteStore::open_to_read(&path).unwrap();
    assert_eq!(store.verify(&[]).unwrap().faults, []);
    assert_eq!(store.verify(&[known]).unwrap().faults, [Fault::Truncated { expected: 10, found: 7 }]);
    let other = Checkpoint { seq: 3, hash: "x".to_owned() };
    assert_eq!(store.verify(&[other]).unwrap().faults, [Fault::Replaced { seq: 3 }]);
}

/// Names in the program change, names in the store do not: what an older version stored is read,
/// and its digest holds.
#[test]
fn data_of_an_older_version_is_read() {
    let request = json!({
        "origin": "native", "tool": "delete", "schema_hash": "h", "arguments": { "path": "x" }, "cwd": "/w",
        "session": "s", "call_id": "c1", "policy_version": "v",
        "shown": {
            "target": "delete", "arguments": "{\"path\":\"x\"}", "effects": ["writes /w/x"], "undo": "snapshot",
            "why": ["`delete` is Tier A"], "remember": [{ "kind": "command", "tokens": ["git", "log"], "open": true }],
        },
    });
    let read: Request = serde_json::from_value(request.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), request);
    // As the first release computed it.
    assert_eq!(read.digest(), canonical::digest(&request));
    let grant = json!({
        "id": "gr-1", "origin": { "mcp": "github" }, "tool": "delete", "what": { "kind": "tool" },
        "holds": { "scope": "session", "of": "s" }, "expires_ms": null, "source": "approvals accept ap-1",
    });
    let read: Grant = serde_json::from_value(grant.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), grant);
}

/// What waits holds arguments as they are: nobody else may read any of the files.
#[cfg(unix)]
#[test]
fn only_the_user_reads_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("rights");
    let store = SqliteStore::open(&folder.store()).unwrap();
    store.record(&Entry::new(Kind::Decision, 0)).unwrap();
    let files: Vec<_> = fs::read_dir(&folder.0).unwrap().map(Result::unwrap).collect();
    assert!(files.len() >= 2, "the log is a file of its own");
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
    }
    drop(store);
    let left: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["store.sqlite"], "closed, the store is one file");
}

/// A record of about a page.
pub(super) fn filler(n: usize) -> Entry {
    let mut entry = with!(Entry::new(Kind::Decision, 0), call_id = n.to_string());
    entry.arguments = json!({ "text": "x".repeat(4_000) });
    entry
}
