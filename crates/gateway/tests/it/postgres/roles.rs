//! What each role may do, and what a store refuses at the start.

use toolfold::policy::audit::{Checkpoint, Fault};
use toolfold::policy::gate::open;
use toolfold::policy::{ApprovalError, ApprovalStore, StoreError, StoreErrorKind};
use toolfold::store::AuditedStore;
use toolfold_gateway::postgres::{Database, migrate};

use super::{address, note, server, store};
use crate::stores::{WAIT, clock, policy, request};

#[test]
fn a_role_changes_no_record_and_sees_one_tenant() {
    let Some((server, database)) = server("roles") else { return };
    for tenant in ["", "ada", "bob"] {
        store(&server, &database, tenant).record(&note(&format!("of {tenant}"))).unwrap();
    }
    let app = |sql: &str| server.sql("app", &database, sql);
    for change in [
        "UPDATE toolfold.audit SET body = '{}'",
        "DELETE FROM toolfold.audit",
        "TRUNCATE toolfold.audit",
        "SELECT * FROM toolfold.audit_0",
        "DELETE FROM toolfold.head",
        "INSERT INTO toolfold.version VALUES (9)",
        "ALTER TABLE toolfold.audit DISABLE ROW LEVEL SECURITY",
        "CREATE TABLE toolfold.mine (a int)",
    ] {
        let why = app(change).unwrap_err();
        assert!(why.contains("permission denied") || why.contains("must be owner"), "{change}: {why}");
    }
    let of = |tenant: &str| {
        let set = format!("BEGIN; SET LOCAL toolfold.tenant = '{tenant}';");
        app(&format!("{set} SELECT string_agg(tenant, ',') FROM toolfold.audit; COMMIT")).unwrap()
    };
    assert_eq!((of("t:ada").as_str(), of("t:bob").as_str(), of("ada").as_str()), ("ada", "bob", ""));
    assert_eq!(app("SELECT count(*) FROM toolfold.audit").unwrap(), "0", "without a tenant");
    let after = "BEGIN; SET LOCAL toolfold.tenant = 't:ada'; COMMIT; SELECT count(*) FROM toolfold.audit";
    assert_eq!(app(after).unwrap(), "0", "the setting ends with its transaction");
    let foreign = "BEGIN; SET LOCAL toolfold.tenant = 't:ada';
                   INSERT INTO toolfold.audit VALUES ('bob', 2, '{}', '', '', NULL, '')";
    assert!(app(foreign).unwrap_err().contains("row-level security"));
}

#[test]
fn a_database_that_cannot_be_used_is_refused_with_its_reason() {
    let Some((server, database)) = server("refused") else { return };
    let owner = address(&server, "owner", &database);
    assert_eq!(migrate(&owner, "app").unwrap(), 0, "nothing is left to do");
    let refused =
        |role: &str, database: &str| Database::open(&address(&server, role, database)).unwrap_err().to_string();
    for role in ["owner", "postgres"] {
        let why = refused(role, &database);
        assert!(why.contains("could change or delete audit records"), "{why}");
    }
    let why = migrate(&owner, "nobody").unwrap_err().to_string();
    assert!(why.contains("there is no role `nobody`"), "{why}");
    let why = migrate(&owner, "owner").unwrap_err().to_string();
    assert!(why.contains("replicas need another role"), "{why}");

    let empty = server.database();
    let why = refused("app", &empty);
    assert!(why.contains("no tables of toolfold") && why.contains("gateway migrate"), "{why}");
    let why = migrate(&address(&server, "app", &empty), "owner").unwrap_err().to_string();
    assert!(why.contains("permission denied"), "{why}");
    server.sql("owner", &database, "INSERT INTO toolfold.version VALUES (99)").unwrap();
    for why in [refused("app", &database), migrate(&owner, "app").unwrap_err().to_string()] {
        assert!(why.contains("use a newer version of toolfold"), "{why}");
    }
    server.sql("owner", &database, "DELETE FROM toolfold.version").unwrap();
    let why = refused("app", &database);
    assert!(why.contains("version 0, this program needs 1"), "{why}");
    let why = refused("app", "absent");
    assert!(why.contains("does not exist"), "{why}");
}

/// The owner of the tables can change everything, but not unnoticed.
#[test]
fn a_change_by_the_owner_is_found() {
    let Some((server, database)) = server("forged") else { return };
    let store = std::sync::Arc::new(store(&server, &database, ""));
    let (gate, approver) = open(store.clone());
    let asked = gate.ask(request(&policy(), "forged"), clock(), WAIT).unwrap();
    (0..4).for_each(|at| store.record(&note(&at.to_string())).unwrap());
    let head = store.verify(&[]).unwrap().head.unwrap();
    let owner = |sql: &str| server.sql("owner", &database, sql).unwrap();

    // An approval that no person gave has no effect.
    owner("UPDATE toolfold.approval SET state = 'approved', body = replace(body, '\"pending\"', '\"approved\"')");
    let forged = |result: Result<_, ApprovalError>| {
        let kind = |why| matches!(why, ApprovalError::Store(StoreError { kind: StoreErrorKind::Forged, .. }));
        result.is_err_and(kind)
    };
    assert!(forged(gate.get(&asked.id)) && forged(approver.approve(&asked.id, clock())));
    assert_eq!(gate.open(&asked.request.session, clock()).unwrap(), []);
    let found = store.verify(&[]).unwrap().faults;
    assert!(matches!(&found[..], [Fault::Unrecorded { id, .. }] if *id == asked.id), "{found:?}");
    owner("DELETE FROM toolfold.approval");

    owner("DELETE FROM toolfold.audit WHERE seq = 5");
    let cut = Fault::Truncated { expected: 5, found: 4 };
    assert_eq!(store.verify(&[]).unwrap().faults, std::slice::from_ref(&cut), "by the head");
    owner("UPDATE toolfold.head SET seq = 4, hash = (SELECT hash FROM toolfold.audit WHERE seq = 4)");
    assert_eq!(store.verify(&[]).unwrap().faults, []);
    let known = [Checkpoint { seq: head.seq, hash: head.hash }];
    assert_eq!(store.verify(&known).unwrap().faults, [cut], "by a checkpoint kept elsewhere");
    owner("UPDATE toolfold.audit SET body = replace(body, '\"2\"', '\"9\"') WHERE seq = 4");
    assert_eq!(store.verify(&[]).unwrap().faults, [Fault::Edited { seq: 4 }]);
    owner("DELETE FROM toolfold.head");
    assert!(store.verify(&[]).unwrap().faults.contains(&Fault::NoHead));
}
