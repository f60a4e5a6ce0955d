//! A store that cannot be written: a full disk, a system that refuses, a store that is only read.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use toolfold::policy::approval::WAIT_MS;
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::gate::open;
use toolfold::policy::{ApprovalError, ApprovalState, ApprovalStore, StoreErrorKind};
use toolfold::store::SqliteStore;
use toolfold_testing::with;

use super::redeem;
use super::store::{Folder, chain, context, filler, policy, request, tamper};

#[test]
fn on_a_full_disk_nothing_runs_and_no_approval_is_used() {
    let folder = Folder::new("full");
    let policy = policy();
    let store = Arc::new(SqliteStore::open(&folder.store()).unwrap());
    let (gate, approver) = open(store.clone());
    // Long arguments: the record of its use needs pages of its own.
    // Not one long text, which is cut once the call is over.
    let cells = vec!["some text"; 900];
    let large = |n| with!(request(&policy, n), arguments = json!({ "path": "a.xlsx", "cells": cells }));
    let id = gate.ask(large(1), 0, WAIT_MS).unwrap().id;
    approver.approve(&id, 1).unwrap();
    // SQLite's own limit takes the way of a disk that is full, and takes whole transactions back.
    store.limit_bytes(0).unwrap();
    let full = |result: Result<String, ApprovalError>| {
        let why = result.expect_err("the limit holds");
        assert_eq!(kind(&why), StoreErrorKind::Full, "{why}");
    };
    full((0..50).try_for_each(|n| gate.record(&filler(n))).map(|()| "50 records".to_owned()));
    full(gate.ask(large(2), 0, WAIT_MS).map(|approval| approval.id));
    full(redeem(&gate, &id, &policy, &context(), "h").map(|approval| approval.id));
    assert_eq!(gate.get(&id).unwrap().state, ApprovalState::Approved, "nothing is used up");
    store.limit_bytes(u64::MAX).unwrap();
    redeem(&gate, &id, &policy, &context(), "h").expect("with room again it runs, once");
    assert!(redeem(&gate, &id, &policy, &context(), "h").is_err());
    assert_eq!(store.verify(&[]).unwrap().faults, []);
}

#[test]
fn on_a_full_disk_every_caller_gets_the_error() {
    let folder = Folder::new("full-threads");
    let store = Arc::new(SqliteStore::open(&folder.store()).unwrap());
    let (gate, _) = open(store.clone());
    for round in 1..=20 {
        let before = store.count().unwrap();
        store.limit_bytes(round * 300_000).unwrap();
        let (written, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let (gate, written, refused) = (&gate, &written, &refused);
                scope.spawn(move || {
                    for n in 0..8 {
                        let counter = if gate.record(&filler(thread * 100 + n)).is_ok() { written } else { refused };
                        counter.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        let (written, refused) = (written.into_inner() as u64, refused.into_inner());
        assert_eq!(store.count().unwrap() - before, written, "what was told as written is there, and nothing else");
        assert!(refused > 0, "the limit was reached in round {round}");
    }
    assert_eq!(store.verify(&[]).unwrap().faults, []);
}

/// The same at the hands of the system: a process that may write no file beyond 512 blocks.
#[cfg(unix)]
#[test]
fn without_write_permission_nothing_runs() {
    let folder = Folder::new("quota");
    drop(SqliteStore::open(&folder.store()).unwrap());
    let run = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 512 && exec \"$0\" --exact policy::store::child --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .env("TOOLFOLD_CHILD", "fill")
        .env("TOOLFOLD_STORE", folder.store())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let (written, why) = said.split_once("wrote ").and_then(|(_, rest)| rest.split_once(", then: ")).expect(&said);
    assert!(why.contains("the approval store cannot be used") && why.contains("asked: "), "{said}");
    let store = SqliteStore::open(&folder.store()).unwrap();
    let verified = store.verify(&[]).unwrap();
    assert_eq!((verified.records, verified.faults), (written.parse().unwrap(), vec![]), "{said}");
    store.record(&filler(0)).expect("with room again it goes on");
}

#[test]
fn without_storage_nothing_runs() {
    let folder = Folder::new("read-only");
    let path = chain(&folder, 3);
    let policy = policy();
    // A store opened to read.
    let (gate, _) = open(Arc::new(SqliteStore::open_to_read(&path).unwrap()));
    let why = gate.record(&Entry::new(Kind::Decision, 0)).unwrap_err();
    assert_eq!(kind(&why), StoreErrorKind::ReadOnly, "{why}");
    assert!(matches!(gate.ask(request(&policy, 1), 0, WAIT_MS), Err(ApprovalError::Store(_))));
    // No store, or something else in its place.
    let refused = |path: &str| kind(&SqliteStore::open(&folder.0.join(path)).unwrap_err());
    assert_eq!(refused("no/such/folder/x"), StoreErrorKind::CannotOpen);
    assert_eq!(refused(""), StoreErrorKind::CannotOpen, "a folder");
    fs::write(
        folder.0.join("text"),
        "this is not a database, however long it may be; it has more than a hundred bytes of text in it, surely",
    )
    .unwrap();
    assert_eq!(refused("text"), StoreErrorKind::NotAStore);
    tamper(&path, "PRAGMA user_version = 99;");
    assert_eq!(refused("store.sqlite"), StoreErrorKind::Newer);
    tamper(&path, "PRAGMA user_version = -1;");
    assert_eq!(refused("store.sqlite"), StoreErrorKind::NotAStore);
}

fn kind(why: &ApprovalError) -> StoreErrorKind {
    match why {
        ApprovalError::Store(why) => why.kind,
        other => panic!("an error of the store, not {other}"),
    }
}

/// What cannot be read is damage, and is said with the name of what it is.
#[test]
fn a_stored_value_that_cannot_be_read_is_damage() {
    let folder = Folder::new("damage");
    let path = chain(&folder, 1);
    let store = SqliteStore::open(&path).unwrap();
    let (gate, _) = open(Arc::new(SqliteStore::open(&path).unwrap()));
    let id = gate.ask(request(&policy(), 1), 0, WAIT_MS).unwrap().id;
    tamper(&path, "UPDATE approval SET body = '{'; INSERT INTO remembered (body) VALUES ('{');");
    for why in [gate.get(&id).unwrap_err(), gate.pending(0).unwrap_err()] {
        assert_eq!(kind(&why), StoreErrorKind::Damaged);
        assert!(why.to_string().contains("approval `ap-1` cannot be read: "), "{why}");
    }
    assert_eq!(kind(&gate.grants(0).unwrap_err()), StoreErrorKind::Damaged);
    assert_eq!(store.count().unwrap(), 2);
}

#[test]
fn a_foreign_database_is_unchanged() {
    let folder = Folder::new("stranger");
    tamper(&folder.store(), "CREATE TABLE song (name TEXT); INSERT INTO song VALUES ('x');");
    for opened in [SqliteStore::open(&folder.store()), SqliteStore::open_to_read(&folder.store())] {
        let why = opened.unwrap_err().to_string();
        assert!(why.contains("store.sqlite: the file is not an approval store"), "{why}");
    }
    let tables: i64 = rusqlite::Connection::open(folder.store())
        .unwrap()
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 1);
}

/// An archive: the chain is read where nothing can be written. (A user who may write anywhere
/// writes here too, and then the first way is taken.)
#[cfg(unix)]
#[test]
fn a_store_in_a_folder_that_cannot_be_written_is_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("ar#chive? 100%");
    let path = chain(&folder, 5);
    let mode = |mode| fs::set_permissions(&folder.0, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    let verified = SqliteStore::open_to_read(&path).and_then(|store| store.verify(&[]));
    mode(0o700);
    let verified = verified.unwrap();
    assert_eq!((verified.records, verified.faults), (5, vec![]));
}

/// A process that was killed while it made the store leaves a journal, which only a process that
/// may write can take back.
#[test]
fn an_incompletely_created_store_opens() {
    let folder = Folder::new("half-made");
    let (made, left) = (folder.0.join("made.sqlite"), folder.store());
    let connection = rusqlite::Connection::open(&made).unwrap();
    // Few pages in memory, so that what is not committed yet is in the file.
    connection
        .execute_batch("PRAGMA cache_size = 1; CREATE TABLE a (b); DROP TABLE a; BEGIN IMMEDIATE; CREATE TABLE c (d)")
        .unwrap();
    for at in 0..200 {
        connection.execute("INSERT INTO c VALUES (?1)", [format!("{at}{}", "x".repeat(2_000))]).unwrap();
    }
    std::fs::copy(&made, &left).unwrap();
    std::fs::copy(folder.0.join("made.sqlite-journal"), folder.0.join("store.sqlite-journal")).unwrap();
    drop(connection);
    // The journal takes the file back to an empty one.
    let store = SqliteStore::open(&left).unwrap();
    store.record(&Entry::new(Kind::Decision, 1)).unwrap();
    assert_eq!(store.verify(&[]).unwrap().records, 1);
}

#[test]
fn the_approvals_of_a_call_are_found_by_their_index() {
    let folder = Folder::new("index");
    drop(SqliteStore::open(&folder.store()).unwrap());
    let connection = rusqlite::Connection::open(folder.store()).unwrap();
    let sql = format!("EXPLAIN QUERY PLAN {}", crate::project("src/store/approvals_of_call.sql"));
    let plan: String = connection.query_row(&sql, ("conversation", "call"), |row| row.get("detail")).unwrap();
    assert_eq!(plan, "SEARCH approval USING INDEX approval_call (<expr>=? AND <expr>=?)");
}
