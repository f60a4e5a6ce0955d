//! State in PostgreSQL under faults: roles, tenants, killed processes, lost answers.

mod killed;
mod relay;
mod roles;
mod states;

use toolfold::policy::ApprovalStore;
use toolfold::policy::audit::{Entry, Kind};
use toolfold::store::AuditedStore;
use toolfold_gateway::postgres::{Address, PostgresStore, migrate};
use toolfold_testing::Postgres;

use crate::stores::clock;

/// A server with a database whose tables exist. `None`, with a printed line, without PostgreSQL.
pub(crate) fn server(name: &str) -> Option<(Postgres, String)> {
    toolfold_testing::timed();
    let server = Postgres::start(name)?;
    let database = server.database();
    assert_eq!(migrate(&address(&server, "owner", &database), "app").unwrap(), 1);
    Some((server, database))
}

pub(crate) fn address(server: &Postgres, role: &str, database: &str) -> Address {
    Address::parse(&server.address(role, database), None).unwrap()
}

pub(crate) fn store(server: &Postgres, database: &str, tenant: &str) -> PostgresStore {
    PostgresStore::open(&address(server, "app", database).of_tenant(tenant)).unwrap()
}

/// A record that has this text.
fn note(text: &str) -> Entry {
    let mut entry = Entry::new(Kind::Outcome, clock());
    entry.call_id = text.to_owned();
    entry
}

/// The texts of all notes.
fn notes(store: &PostgresStore) -> Vec<String> {
    let mut entries = store.records(0, 1_000_000).unwrap().into_iter().map(|record| record.entry).collect::<Vec<_>>();
    entries.retain(|entry| entry.kind == Kind::Outcome);
    entries.into_iter().map(|entry| entry.call_id).collect()
}

fn is_intact(store: &PostgresStore) {
    assert_eq!(store.verify(&[]).unwrap().faults, vec![]);
}

/// Waits until the store answers, which it does as soon as its server does.
fn until_up(store: &PostgresStore) {
    let began = std::time::Instant::now();
    while let Err(why) = store.count() {
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "{why}");
    }
}

#[test]
fn changes_of_many_threads_are_one_chain() {
    let Some((server, database)) = server("chain") else { return };
    let store = store(&server, &database, "");
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let store = &store;
            scope.spawn(move || (0..20).for_each(|at| store.record(&note(&format!("{thread}.{at}"))).unwrap()));
        }
    });
    let all = notes(&store);
    let mut each = all.clone();
    each.sort_unstable();
    each.dedup();
    assert_eq!((all.len(), each.len()), (320, 320));
    for thread in 0..16 {
        let own: Vec<&String> = all.iter().filter(|text| text.starts_with(&format!("{thread}."))).collect();
        assert!(own.iter().map(|text| text.split_once('.').unwrap().1.parse::<u32>().unwrap()).is_sorted());
    }
    is_intact(&store);
    // Waiting changes share transactions.
    let batches = server.sql("owner", &database, "SELECT count(DISTINCT batch) FROM toolfold.audit").unwrap();
    assert!(batches.parse::<u32>().unwrap() < 320, "{batches}");
}
