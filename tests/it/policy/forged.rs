//! Consent comes from the chain: what the tables of a store claim beyond it lifts nothing, and
//! `verify` names it.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolfold::policy::approval::WAIT_MS;
use toolfold::policy::audit::{Entry, Fault, Kind};
use toolfold::policy::gate::open;
use toolfold::policy::{
    ApprovalError, ApprovalState, ApprovalStore, Approver, Bound, Gate, Grant, GrantScope, GrantTarget, Request,
    StoreErrorKind, ToolOrigin, canonical,
};
use toolfold::store::SqliteStore;
use toolfold_testing::with;

use super::redeem;
use super::store::{Folder, context, policy, request, tamper};

fn handles(folder: &Folder) -> (Arc<SqliteStore>, Gate, Approver) {
    let store = Arc::new(SqliteStore::open(&folder.store()).unwrap());
    let (gate, approver) = open(store.clone());
    (store, gate, approver)
}

/// Changes the stored approval or grant with this number behind the program's back.
fn change(path: &Path, table: &str, number: i64, change: impl FnOnce(&mut Value)) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let body: String = connection
        .query_row(&format!("SELECT body FROM {table} WHERE number = ?1"), [number], |row| row.get(0))
        .unwrap();
    let mut body: Value = serde_json::from_str(&body).unwrap();
    change(&mut body);
    let sql = format!("UPDATE {table} SET body = ?2 WHERE number = ?1");
    assert_eq!(connection.execute(&sql, (number, body.to_string())).unwrap(), 1);
}

/// The call of an approval becomes another one, with the digest that belongs to it.
fn swap(body: &mut Value) {
    body["request"]["arguments"]["path"] = json!("/etc/passwd");
    let request: Request = serde_json::from_value(body["request"].clone()).unwrap();
    body["digest"] = json!(request.digest());
}

fn grant(tool: &str, expires_ms: Option<i64>) -> Grant {
    let target = GrantTarget::Arguments { arguments: json!({"path": "a"}) };
    let mut grant = with!(
        Grant::new(ToolOrigin::Native, tool, target, GrantScope::Always),
        source = "a test".into(),
        bound = with!(Bound::default(), cwd = Some("/w".into()))
    );
    grant.expires_ms = expires_ms;
    grant
}

#[track_caller]
fn is_forged(answer: Result<toolfold::policy::Approval, ApprovalError>) {
    match answer {
        Err(ApprovalError::Store(why)) if why.kind == StoreErrorKind::Forged => {}
        other => panic!("{other:?}"),
    }
}

/// What `verify` says of the tables.
#[track_caller]
fn unrecorded(store: &SqliteStore, id: &str, why: &str) {
    let faults = store.verify(&[]).unwrap().faults;
    let named = |fault: &Fault| matches!(fault, Fault::Unrecorded { id: of, why: because } if of == id && because.contains(why));
    assert!(faults.iter().any(named), "{faults:?}");
}

#[test]
fn a_forged_grant_allows_nothing() {
    let folder = Folder::new("forged-grant");
    let (store, gate, approver) = handles(&folder);
    let kept = approver.remember(grant("delete", None), 5).unwrap();
    let (wide, gone) =
        (approver.remember(grant("move", None), 6).unwrap(), approver.remember(grant("copy", None), 7).unwrap());
    assert!(approver.revoke(&gone.id, 8).unwrap());
    assert_eq!(gate.grants(9).unwrap().len(), 2);
    assert_eq!(store.verify(&[]).unwrap().faults, []);

    let forged = with!(grant("delete", None), id = "gr-9".into(), target = GrantTarget::Tool);
    let body = serde_json::to_string(&forged).unwrap();
    tamper(&folder.store(), &format!("INSERT INTO remembered (number, body) VALUES (9, '{body}')"));
    change(&folder.store(), "remembered", 2, |body| body["what"] = json!({"kind": "tool"}));
    tamper(&folder.store(), "UPDATE remembered SET revoked = 0 WHERE number = 3");
    assert_eq!(gate.grants(10).unwrap(), [kept]);
    unrecorded(&store, "gr-9", "no record grants it");
    unrecorded(&store, &wide.id, "differs from what was granted");
    unrecorded(&store, &gone.id, "was revoked");
    // What an approval was bound to is part of it.
    change(&folder.store(), "remembered", 1, |body| drop(body.as_object_mut().unwrap().remove("cwd")));
    assert_eq!(gate.grants(10).unwrap(), []);
}

#[test]
fn a_grant_on_an_older_record_applies_as_recorded() {
    let folder = Folder::new("older-grant");
    let (store, gate, _) = handles(&folder);
    // The record had no digest, and a grant was bound to nothing but its scope.
    let old = with!(grant("delete", None), id = "gr-1".into(), bound = Bound::default());
    let detail = json!({ "grant": "gr-1", "what": old.target, "holds": old.scope, "expires_ms": null });
    let mut record = with!(Entry::new(Kind::Granted, 1), tool = "delete".into(), detail = detail);
    record.origin = Some(ToolOrigin::Native);
    store.record(&record).unwrap();
    let insert = |old: &Grant| {
        let body = serde_json::to_string(old).unwrap();
        tamper(&folder.store(), &format!("INSERT OR REPLACE INTO remembered (number, body) VALUES (1, '{body}')"));
    };
    insert(&old);
    assert_eq!(gate.grants(2).unwrap(), std::slice::from_ref(&old));
    insert(&with!(old, target = GrantTarget::Tool));
    assert_eq!(gate.grants(2).unwrap(), []);
}

#[test]
fn a_forged_approval_runs_nothing() {
    let (policy, context) = (policy(), context());
    type Forge = fn(&Path);
    let cases: [(&str, bool, Forge, &str); 6] = [
        (
            "set to approved",
            false,
            |path| {
                change(path, "approval", 1, |body| body["state"] = json!("approved"));
                tamper(path, "UPDATE approval SET state = 'approved'");
            },
            "have pending",
        ),
        (
            "another call before the yes",
            false,
            |path| change(path, "approval", 1, swap),
            "differs from that of the request",
        ),
        (
            "another call after the yes",
            true,
            |path| change(path, "approval", 1, swap),
            "differs from that of the request",
        ),
        (
            "another call under the old digest",
            true,
            |path| change(path, "approval", 1, |b| b["request"]["arguments"]["path"] = json!("/etc/passwd")),
            "differs from the requested one",
        ),
        (
            "valid for ever",
            true,
            |path| change(path, "approval", 1, |b| b["expires_ms"] = json!(i64::MAX)),
            "expires later",
        ),
        (
            "a row from nowhere",
            true,
            |path| {
                tamper(
                    path,
                    "INSERT INTO approval SELECT 7, state, expires_ms, replace(body, 'ap-1', 'ap-7') FROM approval",
                );
            },
            "no record requests it",
        ),
    ];
    for (n, (name, yes, forge, why)) in cases.into_iter().enumerate() {
        let folder = Folder::new(&format!("forged-approval-{n}"));
        let (store, gate, approver) = handles(&folder);
        let asked = gate.ask(request(&policy, 1), 0, WAIT_MS).unwrap();
        if yes {
            approver.approve(&asked.id, 5).unwrap();
        }
        assert_eq!(store.verify(&[]).unwrap().faults, [], "{name}");
        forge(&folder.store());
        let id = if name == "a row from nowhere" { "ap-7" } else { "ap-1" };
        is_forged(redeem(&gate, id, &policy, &context, "h"));
        is_forged(gate.get(id));
        is_forged(approver.approve(id, 6));
        unrecorded(&store, id, why);
        // Nobody is shown it, either.
        assert!(gate.pending(6).unwrap().iter().all(|open| open.id != id), "{name}");
        // Expiring does not make it true.
        gate.ask(request(&policy, 2), WAIT_MS * 3, WAIT_MS).unwrap();
        assert!(redeem(&gate, id, &policy, &context, "h").is_err(), "{name}");
    }
}

#[test]
fn a_used_approval_cannot_be_wound_back() {
    let folder = Folder::new("wound-back");
    let (policy, context) = (policy(), context());
    let (store, gate, approver) = handles(&folder);
    let asked = gate.ask(request(&policy, 1), 0, WAIT_MS).unwrap();
    approver.approve(&asked.id, 5).unwrap();
    let row = rusqlite::Connection::open(folder.store()).unwrap();
    let before: String = row.query_row("SELECT body FROM approval WHERE number = 1", [], |row| row.get(0)).unwrap();
    redeem(&gate, &asked.id, &policy, &context, "h").unwrap();
    row.execute("UPDATE approval SET state = 'approved', body = ?1 WHERE number = 1", [before]).unwrap();
    is_forged(redeem(&gate, &asked.id, &policy, &context, "h"));
    unrecorded(&store, "ap-1", "have consumed");
}

/// Whoever asks about a call for which there is an approval is given it, unless it is forged.
#[test]
fn only_a_recorded_approval_applies_to_a_call() {
    let folder = Folder::new("forged-standing");
    let (_, gate, approver) = handles(&folder);
    let policy = policy();
    let ask = |n| gate.ask_once(request(&policy, n), 10, 1_000);
    let asked = [1, 2, 3].map(|n| ask(n).unwrap().id);
    assert_eq!(asked, ["ap-1", "ap-2", "ap-3"]);
    assert_eq!(asked, [1, 2, 3].map(|n| ask(n).unwrap().id), "the same ones");
    approver.approve("ap-2", 11).unwrap();
    let (mut approved, mut consumed) = (Value::Null, Value::Null);
    change(&folder.store(), "approval", 2, |body| approved = body.clone());
    redeem(&gate, "ap-2", &policy, &context(), "h").unwrap();

    change(&folder.store(), "approval", 1, |body| body["state"] = json!("approved"));
    is_forged(ask(1));
    change(&folder.store(), "approval", 2, |body| consumed = std::mem::replace(body, approved));
    is_forged(ask(2));
    // What is over keeps its call from running, and so does a person's no.
    change(&folder.store(), "approval", 2, |body| *body = consumed);
    assert_eq!(ask(2).unwrap().state, ApprovalState::Consumed);
    approver.reject("ap-3", None, 12).unwrap();
    assert_eq!(ask(3).unwrap().state, ApprovalState::Rejected);
    // A row that cannot be read is about no call that is known, and stops no other.
    tamper(&folder.store(), "UPDATE approval SET body = 'x' WHERE number = 1");
    assert_eq!(["ap-4", "ap-5"], [1, 4].map(|n| ask(n).unwrap().id), "a person is asked");
}

#[test]
fn records_of_forged_consent_are_reported() {
    let policy = policy();
    let claim_at = |time_ms: i64, kind: Kind, digest: &str, approval: &str| {
        let mut entry = with!(Entry::new(kind, time_ms), detail = json!({ "approval": approval }));
        entry.digest = Some(digest.to_owned());
        entry
    };
    let claim = |kind: Kind, digest: &str, approval: &str| claim_at(3, kind, digest, approval);
    let own = request(&policy, 1).digest();
    // After `asked ap-1`: what is appended, and what is wrong with it.
    let cases = [
        (vec![claim(Kind::Consumed, &own, "ap-1")], Some("`ap-1` was pending, not approved")),
        (vec![claim(Kind::Accepted, &own, "ap-1"), claim(Kind::Consumed, "x", "ap-1")], Some("its digest differs")),
        (vec![claim(Kind::Accepted, "x", "ap-1")], Some("its digest differs")),
        (vec![claim(Kind::Accepted, &own, "ap-2")], Some("`ap-2` was never requested")),
        (
            vec![claim(Kind::Rejected, &own, "ap-1"), claim(Kind::Accepted, &own, "ap-1")],
            Some("was rejected, not pending"),
        ),
        (vec![claim(Kind::Asked, &own, "ap-1")], Some("a second time")),
        (
            vec![
                claim(Kind::Accepted, &own, "ap-1"),
                claim(Kind::Consumed, &own, "ap-1"),
                claim(Kind::Consumed, &own, "ap-1"),
            ],
            Some("was consumed, not approved"),
        ),
        (
            vec![claim(Kind::Accepted, &own, "ap-1"), claim_at(4 + WAIT_MS, Kind::Consumed, &own, "ap-1")],
            Some("after its expiry"),
        ),
        (vec![Entry::new(Kind::Consumed, 3)], Some("names no approval")),
        (vec![with!(Entry::new(Kind::Revoked, 3), detail = json!({"grant": "gr-1"}))], Some("which was never granted")),
        (vec![Entry::new(Kind::Decision, 3), Entry::new(Kind::Outcome, 3)], None),
    ];
    for (n, (records, why)) in cases.into_iter().enumerate() {
        let folder = Folder::new(&format!("claims-{n}"));
        let (store, gate, _) = handles(&folder);
        gate.ask(request(&policy, 1), 0, WAIT_MS).unwrap();
        records.iter().for_each(|record| store.record(record).unwrap());
        let faults = store.verify(&[]).unwrap().faults;
        let last = 1 + records.len() as u64;
        let named = |fault: &Fault| match (fault, why) {
            (Fault::Forged { seq, why: said }, Some(why)) => *seq == last && said.contains(why),
            _ => false,
        };
        assert_eq!(faults.iter().any(named), why.is_some(), "{why:?}: {faults:?}");
    }
}

#[test]
fn a_clock_set_back_revives_nothing() {
    let folder = Folder::new("clock");
    let (policy, context) = (policy(), context());
    let (store, gate, approver) = handles(&folder);
    let asked = gate.ask(request(&policy, 1), 0, WAIT_MS).unwrap();
    let yes = gate.ask(request(&policy, 2), 0, WAIT_MS).unwrap();
    approver.approve(&yes.id, 1).unwrap();
    approver.remember(grant("delete", Some(WAIT_MS)), 2).unwrap();
    assert_eq!((gate.pending(3).unwrap().len(), gate.grants(3).unwrap().len()), (1, 1));
    // Time passes, and is turned back.
    store.record(&Entry::new(Kind::Outcome, 2 * WAIT_MS)).unwrap();
    assert_eq!(
        (gate.pending(3).unwrap().len(), gate.open("s", 3).unwrap().len(), gate.grants(3).unwrap().len()),
        (0, 0, 0)
    );
    let late = approver.approve(&asked.id, 3);
    assert!(matches!(late, Err(ApprovalError::Not { state: ApprovalState::Expired, .. })), "{late:?}");
    let late = redeem(&gate, &yes.id, &policy, &context, "h");
    assert!(matches!(late, Err(ApprovalError::Not { state: ApprovalState::Expired, .. })), "{late:?}");
    // A new question waits its time all the same, and records never go back.
    let again = gate.ask(request(&policy, 3), 4, WAIT_MS).unwrap();
    assert_eq!((again.created_ms, again.expires_ms), (2 * WAIT_MS, 3 * WAIT_MS));
    let times: Vec<i64> = store.records(0, 99).unwrap().iter().map(|record| record.entry.time_ms).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(store.now(4), 2 * WAIT_MS);
}

#[test]
fn ended_approvals_have_no_secrets_and_can_be_purged() {
    let folder = Folder::new("over");
    let (policy, context) = (policy(), context());
    let (store, gate, approver) = handles(&folder);
    let bodies = || {
        let connection = rusqlite::Connection::open(folder.store()).unwrap();
        let mut all = connection.prepare("SELECT body FROM approval ORDER BY number").unwrap();
        all.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    let ids: Vec<String> = (1..=3).map(|n| gate.ask(request(&policy, n), 0, WAIT_MS).unwrap().id).collect();
    assert!(bodies().iter().all(|body| body.contains("hunter2")), "what waits is stored as it will run");
    let approver = approver.named("ada, by a test");
    approver.approve(&ids[0], 1).unwrap();
    let run = redeem(&gate, &ids[0], &policy, &context, "h").unwrap();
    assert_eq!(run.request.arguments["token"], "hunter2");
    approver.reject(&ids[1], None, 2).unwrap();
    // The third expires, and the next question cuts it.
    gate.ask(request(&policy, 4), 2 * WAIT_MS, WAIT_MS).unwrap();
    let kept = bodies();
    assert_eq!(kept.iter().map(|body| body.contains("hunter2")).collect::<Vec<_>>(), [false, false, false, true]);
    assert_eq!(gate.get(&ids[0]).unwrap().answered_by.as_deref(), Some("ada, by a test"));
    assert_eq!(store.verify(&[]).unwrap().faults, []);

    assert_eq!(store.purge(1, 2 * WAIT_MS).unwrap(), 0);
    assert_eq!(store.purge(2 * WAIT_MS, 2 * WAIT_MS).unwrap(), 3, "what waits stays");
    assert_eq!(store.verify(&[]).unwrap().faults, []);
    assert!(matches!(gate.get(&ids[0]), Err(ApprovalError::NotFound(_))));
    let last = store.records(0, 99).unwrap().pop().unwrap().entry;
    assert_eq!((last.kind, &last.detail["approvals"]), (Kind::Purged, &json!(3)));
    // Ids are never used again.
    assert_eq!(gate.ask(request(&policy, 5), 2 * WAIT_MS, WAIT_MS).unwrap().id, "ap-5");
}

/// A file that is no store is left as it is, and no link is followed to change permissions.
#[cfg(unix)]
#[test]
fn another_file_is_not_touched() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("not-a-store");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let open_to_all = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (text, other, store, link) =
        (folder.0.join("notes.txt"), folder.0.join("other.sqlite"), folder.store(), folder.0.join("link"));
    std::fs::write(&text, "my notes").unwrap();
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    drop(SqliteStore::open(&store).unwrap());
    [&text, &other, &store].into_iter().for_each(|path| open_to_all(path));
    let (before, size) =
        (canonical::digest(&json!(std::fs::read(&other).unwrap())), std::fs::metadata(&other).unwrap().len());
    for path in [&text, &other] {
        assert!(
            matches!(SqliteStore::open(path), Err(ApprovalError::Store(why)) if why.kind == StoreErrorKind::NotAStore)
        );
        assert_eq!(mode(path), 0o644);
    }
    assert_eq!(std::fs::read_to_string(&text).unwrap(), "my notes");
    assert_eq!(
        (canonical::digest(&json!(std::fs::read(&other).unwrap())), std::fs::metadata(&other).unwrap().len()),
        (before, size)
    );
    std::os::unix::fs::symlink(&store, &link).unwrap();
    drop(SqliteStore::open(&link).unwrap());
    assert_eq!(mode(&store), 0o644, "through a link");
    drop(SqliteStore::open(&store).unwrap());
    assert_eq!(mode(&store), 0o600);
}

/// Replacing the key requires the current key. A changed record is an error.
#[test]
fn only_the_current_key_can_replace_the_approvers_key() {
    let folder = Folder::new("approvers-key");
    let store = SqliteStore::open(&folder.store()).unwrap();
    let digest = |key: &str| Some(toolfold::store::approver_digest(key));
    assert_eq!(store.approver().unwrap(), None);
    store.set_approver(None, "first", "ann", 1).unwrap();
    assert_eq!(store.approver().unwrap(), digest("first"));
    for known in [None, Some("second"), Some("wrong")] {
        let refused = store.set_approver(known, "second", "eve", 2);
        assert!(matches!(refused, Err(ApprovalError::Key)), "{known:?}: {refused:?}");
    }
    store.set_approver(None, "first", "ann", 3).unwrap();
    assert_eq!(store.approver().unwrap(), digest("first"), "the same key again changes nothing");
    store.set_approver(Some("first"), "second", "ann", 4).unwrap();
    assert_eq!(store.approver().unwrap(), digest("second"));
    drop(store);
    let [own, eves] = ["second", "eve's"].map(toolfold::store::approver_digest);
    let open = "DROP TRIGGER audit_is_append_only_1; DROP TRIGGER audit_is_append_only_2;";
    tamper(&folder.store(), &format!("{open} UPDATE audit SET body = replace(body, '{own}', '{eves}');"));
    let store = SqliteStore::open(&folder.store()).unwrap();
    let read = store.approver();
    assert!(matches!(&read, Err(ApprovalError::Store(why)) if why.kind == StoreErrorKind::Forged), "{read:?}");
}
