//! Tests that every store passes.
#![allow(clippy::disallowed_methods, reason = "tests write and read their own files")]

use std::sync::Arc;

use super::{MemoryState, SqliteState, StateKey, StateStore, Written};

fn key(tenant: &str, name: &str) -> StateKey {
    StateKey { tenant: tenant.into(), name: name.to_owned() }
}

/// A folder that is removed with the test.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("toolfold-state-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn store(&self) -> SqliteState {
        SqliteState::open_file(&self.0.join("state.db")).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

async fn keeps_its_word(store: &dyn StateStore) {
    let (ada, bob) = (key("ada", "one"), key("bob", "one"));
    assert_eq!((store.read_state(&ada).await.unwrap(), store.version(&ada).await.unwrap()), (None, 0));
    let write = |from, text: &'static str| store.write_state(&ada, from, text.into(), 60_000);
    assert_eq!(write(1, "early").await.unwrap(), Written::Changed(0));
    assert_eq!(write(0, "first").await.unwrap(), Written::Now(1));
    assert_eq!(write(0, "late").await.unwrap(), Written::Changed(1));
    assert_eq!(write(1, "second").await.unwrap(), Written::Now(2));
    let kept = store.read_state(&ada).await.unwrap().unwrap();
    assert_eq!((kept.version, kept.value.as_slice()), (2, b"second".as_slice()));
    assert_eq!(store.version(&ada).await.unwrap(), 2);
    assert_eq!(store.read_state(&bob).await.unwrap(), None, "the key of another tenant");
    store.remove_state(&bob).await.unwrap();
    assert_eq!(store.version(&ada).await.unwrap(), 2);
    store.remove_state(&ada).await.unwrap();
    assert_eq!(store.read_state(&ada).await.unwrap(), None);

    // Used once; the same caller may repeat the call.
    let by = |key: &'static str, who: &'static str| async move {
        let name = StateKey { tenant: key.into(), name: "token".to_owned() };
        store.consume(&name, who, 60_000).await.unwrap()
    };
    assert!(!store.is_consumed(&key("ada", "token")).await.unwrap());
    assert!(by("ada", "a").await && !by("ada", "b").await && by("ada", "a").await);
    assert!(by("bob", "b").await, "the key of another tenant");
    assert!(store.is_consumed(&key("ada", "token")).await.unwrap());

    // An expired entry is invisible and is removed by the next purge.
    assert_eq!(store.write_state(&ada, 0, b"short".to_vec(), 0).await.unwrap(), Written::Now(1));
    assert_eq!((store.read_state(&ada).await.unwrap(), store.version(&ada).await.unwrap()), (None, 0));
    assert!(store.consume(&key("ada", "gone"), "a", 0).await.unwrap());
    assert!(store.consume(&key("ada", "gone"), "b", 0).await.unwrap());
    assert_eq!(store.purge().await.unwrap(), 2);
    assert_eq!(store.purge().await.unwrap(), 0);
    assert!(store.now_ms().await.unwrap() > 1_700_000_000_000, "milliseconds since 1970");
}

#[tokio::test]
async fn a_store_in_memory_passes_all_tests() {
    keeps_its_word(&MemoryState::new()).await;
}

#[tokio::test]
async fn a_store_in_a_file_passes_all_tests() {
    let folder = Folder::new("word");
    keeps_its_word(&folder.store()).await;
}

#[cfg(all(feature = "postgres", target_os = "linux"))]
#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_postgres_passes_all_tests() {
    use crate::postgres::{Address, PostgresState, migrate};

    let Some(server) = toolfold_testing::Postgres::start("state") else { return };
    let database = server.database();
    let at = |role| Address::parse(&server.address(role, &database), None).unwrap();
    migrate(&at("owner"), "app").unwrap();
    let store = PostgresState::open(&at("app")).unwrap();
    keeps_its_word(&store).await;
    writers_share_no_version(|| store.clone()).await;
}

#[tokio::test]
async fn memory_removes_the_least_recently_written_entries() {
    let store = MemoryState::new();
    let big = || vec![0; 20 * 1024 * 1024];
    for name in ["a", "b", "c", "a"] {
        let own = key("t", name);
        let from = store.version(&own).await.unwrap();
        store.write_state(&own, from, big(), 60_000).await.unwrap();
    }
    store.write_state(&key("t", "d"), 0, big(), 60_000).await.unwrap();
    let mut left = Vec::new();
    for name in ["a", "b", "c", "d"] {
        left.push(store.version(&key("t", name)).await.unwrap());
    }
    assert_eq!(left, [2, 0, 1, 1]);
}

#[tokio::test]
async fn concurrent_writers_never_share_a_version() {
    let folder = Folder::new("many");
    writers_share_no_version(|| folder.store()).await;
}

async fn writers_share_no_version<S: StateStore + 'static>(open: impl Fn() -> S) {
    let tasks = (0..8).map(|_| {
        let store = open();
        tokio::spawn(async move {
            let (own, mut written) = (key("t", "one"), Vec::new());
            while written.len() < 25 {
                let from = store.version(&own).await.unwrap();
                if let Written::Now(version) = store.write_state(&own, from, vec![1], 60_000).await.unwrap() {
                    written.push(version);
                }
            }
            written
        })
    });
    let mut all = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        all.extend(task.await.unwrap());
    }
    all.sort_unstable();
    assert_eq!(all, (1..=200).collect::<Vec<u64>>());
    let used: Vec<bool> = futures_util::future::join_all((0..8).map(|number| {
        let (store, by) = (Arc::new(open()), number.to_string());
        async move { store.consume(&key("t", "token"), &by, 60_000).await.unwrap() }
    }))
    .await;
    assert_eq!(used.iter().filter(|first| **first).count(), 1);
}

#[tokio::test]
async fn a_file_of_another_kind_stays_unchanged() {
    let folder = Folder::new("else");
    let path = folder.0.join("else.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE mine (a); INSERT INTO mine VALUES (1);").unwrap();
    drop(other);
    let before = std::fs::read(&path).unwrap();
    let why = SqliteState::open_file(&path).unwrap_err().to_string();
    assert!(why.contains("not a toolfold store"), "{why}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    std::fs::write(&path, "not a database, but a text that is longer than the header of one; it has no meaning.")
        .unwrap();
    assert!(SqliteState::open_file(&path).is_err());
    // A file of a later version is not changed.
    let own = folder.0.join("state.db");
    drop(folder.store());
    let later = rusqlite::Connection::open(&own).unwrap();
    later.pragma_update(None, "user_version", 2).unwrap();
    drop(later);
    let why = SqliteState::open_file(&own).unwrap_err().to_string();
    assert!(why.contains("another version of toolfold"), "{why}");
}
