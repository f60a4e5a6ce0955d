//! Conversations and one-time keys, and the clock of the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::time::Instant;

use super::address::Address;
use super::database::{Database, run};
use super::failure::Failure;
use super::session::{Purpose, Session, get};
use crate::error::GatewayError;
use crate::state::{BoxFuture, LeftMessage, POLL, StateKey, StateStore, StoredState, Written};

/// How long a message for other replicas is kept, in milliseconds.
const KEPT_MS: i64 = 60_000;

/// The server's time in milliseconds since 1970, as an SQL expression.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The time of the server, without a request to it each time.
#[derive(Debug)]
pub(super) struct ServerClock {
    since: Instant,
    /// The server's time at `since`.
    base_ms: AtomicI64,
}

impl Default for ServerClock {
    fn default() -> Self {
        Self { since: Instant::now(), base_ms: AtomicI64::new(0) }
    }
}

impl ServerClock {
    pub(super) fn set(&self, now_ms: i64) {
        self.base_ms.store(now_ms.saturating_sub(self.passed()), Ordering::Release);
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.base_ms.load(Ordering::Acquire).saturating_add(self.passed())
    }

    fn passed(&self) -> i64 {
        i64::try_from(self.since.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

/// A store of conversations in a database, for every tenant.
#[derive(Debug, Clone)]
pub struct PostgresState(Arc<Database>);

impl PostgresState {
    /// Opens the store in a database.
    ///
    /// # Errors
    /// As for [`Database::open`].
    pub fn open(address: &Address) -> Result<Self, GatewayError> {
        Ok(Self(Database::open(address)?))
    }

    /// Runs one transaction for the rows of a key's tenant.
    fn step<'a, T, F>(
        &self,
        doing: &'static str,
        tenant: &str,
        step: impl FnOnce(Arc<Database>, Session) -> F + Send + 'static,
    ) -> BoxFuture<'a, T>
    where
        T: Send + 'static,
        F: Future<Output = Result<(T, Session), Failure>> + Send + 'static,
    {
        let (database, tenant) = (self.0.clone(), tenant.to_owned());
        let purpose = if doing == "read" { Purpose::Read } else { Purpose::Write };
        Box::pin(async move {
            let done = run(async move {
                let session = Session::begin(&database, &tenant, purpose).await?;
                let (value, session) = step(database.clone(), session).await?;
                session.commit().await?;
                Ok(value)
            });
            done.await.and_then(|done| done).map_err(|why: Failure| why.of_state(doing))
        })
    }
}

/// The version of an entry; 0 if it does not exist.
async fn version_of(session: &Session, tenant: &str, key: &[u8]) -> Result<u64, Failure> {
    let sql = format!("SELECT version FROM toolfold.conversation WHERE tenant = $1 AND key = $2 AND until_ms > {NOW}");
    match session.row(&sql, &[&tenant, &key]).await? {
        Some(row) => Ok(get::<i64>(&row, 0)?.cast_unsigned()),
        None => Ok(0),
    }
}

/// Writes over version `from`, if that is the current one.
async fn write_over(
    session: &Session,
    (tenant, key): (&str, &[u8]),
    from: u64,
    value: &[u8],
    life_ms: i64,
) -> Result<Written, Failure> {
    let (from_version, new) = (from.cast_signed(), from.saturating_add(1));
    let sql = if from == 0 {
        format!(
            "INSERT INTO toolfold.conversation AS own (tenant, key, version, until_ms, body)
                 VALUES ($1, $2, $3::bigint + 1, {NOW} + $4, $5)
             ON CONFLICT (tenant, key) DO UPDATE
                 SET version = excluded.version, until_ms = excluded.until_ms, body = excluded.body
             WHERE own.until_ms <= {NOW}"
        )
    } else {
        format!(
            "UPDATE toolfold.conversation SET version = $3::bigint + 1, until_ms = {NOW} + $4, body = $5
             WHERE tenant = $1 AND key = $2 AND until_ms > {NOW} AND version = $3"
        )
    };
    if session.execute(&sql, &[&tenant, &key, &from_version, &life_ms, &value]).await? > 0 {
        return Ok(Written::Now(new));
    }
    version_of(session, tenant, key).await.map(Written::Changed)
}

impl StateStore for PostgresState {
    fn now_ms(&self) -> BoxFuture<'_, i64> {
        self.step("read", "", |database, session| async move { Ok((database.server_now(&session).await?, session)) })
    }

    fn read_state<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, Option<StoredState>> {
        let own = key.clone();
        self.step("read", &key.tenant, |_, session| async move {
            let sql = format!(
                "SELECT version, body FROM toolfold.conversation WHERE tenant = $1 AND key = $2 AND until_ms > {NOW}"
            );
            let found = match session.row(&sql, &[&&*own.tenant, &own.name.as_bytes()]).await? {
                Some(row) => Some(StoredState { version: get::<i64>(&row, 0)?.cast_unsigned(), value: get(&row, 1)? }),
                None => None,
            };
            Ok((found, session))
        })
    }

    fn version<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, u64> {
        let own = key.clone();
        self.step("read", &key.tenant, |_, session| async move {
            Ok((version_of(&session, &own.tenant, own.name.as_bytes()).await?, session))
        })
    }

    fn write_state<'a>(&'a self, key: &'a StateKey, from: u64, value: Vec<u8>, life_ms: i64) -> BoxFuture<'a, Written> {
        let own = key.clone();
        self.step("written", &key.tenant, move |_, session| async move {
            let at = (&*own.tenant, own.name.as_bytes());
            Ok((write_over(&session, at, from, &value, life_ms).await?, session))
        })
    }

    fn consume<'a>(&'a self, key: &'a StateKey, by: &'a str, life_ms: i64) -> BoxFuture<'a, bool> {
        let (own, by) = (key.clone(), by.as_bytes().to_vec());
        self.step("written", &key.tenant, move |_, session| async move {
            let (tenant, name) = (&*own.tenant, own.name.as_bytes());
            let sql = format!(
                "INSERT INTO toolfold.used AS own (tenant, key, used_by, until_ms) VALUES ($1, $2, $3, {NOW} + $4)
                 ON CONFLICT (tenant, key) DO UPDATE SET used_by = excluded.used_by, until_ms = excluded.until_ms
                 WHERE own.until_ms <= {NOW}"
            );
            session.execute(&sql, &[&tenant, &name, &by, &life_ms]).await?;
            let sql = "SELECT used_by = $3 FROM toolfold.used WHERE tenant = $1 AND key = $2";
            let first = match session.row(sql, &[&tenant, &name, &by]).await? {
                Some(row) => get(&row, 0)?,
                None => false,
            };
            Ok((first, session))
        })
    }

    fn is_consumed<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, bool> {
        let own = key.clone();
        self.step("read", &key.tenant, |_, session| async move {
            let sql = format!("SELECT 1 FROM toolfold.used WHERE tenant = $1 AND key = $2 AND until_ms > {NOW}");
            let found = session.row(&sql, &[&&*own.tenant, &own.name.as_bytes()]).await?;
            Ok((found.is_some(), session))
        })
    }

    fn remove_state<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, ()> {
        let own = key.clone();
        self.step("written", &key.tenant, |_, session| async move {
            let sql = "DELETE FROM toolfold.conversation WHERE tenant = $1 AND key = $2";
            session.execute(sql, &[&&*own.tenant, &own.name.as_bytes()]).await?;
            Ok(((), session))
        })
    }

    fn purge(&self) -> BoxFuture<'_, usize> {
        self.step("written", "", |_, session| async move {
            // A function of the owner: the rows are those of all tenants.
            let row = session.row("SELECT toolfold.remove_expired()", &[]).await?;
            let removed = row.map_or(Ok(0), |row| get::<i64>(&row, 0))?;
            Ok((usize::try_from(removed).unwrap_or(usize::MAX), session))
        })
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn carries_messages(&self) -> bool {
        true
    }

    fn leave_message<'a>(&'a self, key: &'a StateKey, message: Vec<u8>) -> BoxFuture<'a, ()> {
        let own = key.clone();
        self.step("written", &key.tenant, move |_, session| async move {
            let sql =
                format!("INSERT INTO toolfold.message (tenant, key, until_ms, body) VALUES ($1, $2, {NOW} + $3, $4)");
            session.execute(&sql, &[&&*own.tenant, &own.name.as_bytes(), &KEPT_MS, &message]).await?;
            // Sent with the COMMIT.
            session.run("NOTIFY toolfold").await?;
            Ok(((), session))
        })
    }

    fn messages<'a>(&'a self, tenant: &'a str, names: Vec<String>) -> BoxFuture<'a, Vec<LeftMessage>> {
        let own = tenant.to_owned();
        self.step("read", tenant, move |_, session| async move {
            let keys: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
            let sql = format!(
                "SELECT number, key, body FROM toolfold.message
                 WHERE tenant = $1 AND key = ANY ($2) AND until_ms > {NOW} ORDER BY number"
            );
            let mut left = Vec::new();
            for row in session.rows(&sql, &[&own, &keys]).await? {
                let name = String::from_utf8_lossy(get(&row, 1)?).into_owned();
                left.push(LeftMessage { number: get(&row, 0)?, name, value: get(&row, 2)? });
            }
            Ok((left, session))
        })
    }

    fn until_message(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.0.hearing.wait(POLL).await;
            Ok(())
        })
    }
}
