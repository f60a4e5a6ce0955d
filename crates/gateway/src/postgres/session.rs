//! One transaction, for the rows of one tenant.

use std::time::Duration;

use deadpool_postgres::Object;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::database::Database;
use super::failure::{Failure, Trouble};

/// How long the client waits for an answer. Longer than the server's own limit for a statement, so
/// that only a server that does not answer at all exceeds it.
const ANSWER: Duration = Duration::from_secs(5);

/// The number of attempts to begin: connections of a server that has restarted are found to be lost
/// one by one.
const TRIES: usize = super::database::MAX_CONNECTIONS + 1;

/// The values of a statement.
pub(super) type Values<'v> = &'v [&'v (dyn ToSql + Sync)];

/// What a transaction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Reads one snapshot.
    Read,
    /// Reads what is committed, and writes.
    Write,
}

/// A transaction on a connection of its own. Without [`commit`](Self::commit), the connection is
/// closed, which rolls the transaction back.
pub(super) struct Session(Option<Object>);

impl Session {
    /// Begins a transaction that reads and writes the rows of a tenant.
    pub(super) async fn begin(database: &Database, tenant: &str, purpose: Purpose) -> Result<Self, Failure> {
        let begin = match purpose {
            Purpose::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Purpose::Write => "BEGIN ISOLATION LEVEL READ COMMITTED",
        };
        let mut last = Failure::other("no attempt was made");
        for _ in 0..TRIES {
            let own = Self(Some(database.connection().await?));
            match own.run(begin).await {
                Ok(()) => {}
                Err(why) if why.trouble == Trouble::Lost => {
                    last = why;
                    continue;
                }
                Err(why) => return Err(why),
            }
            // A prefix, so that no tenant is named while no transaction sets one: the setting is
            // empty then.
            own.rows("SELECT set_config('toolfold.tenant', 't:' || $1::text, true)", &[&tenant]).await?;
            return Ok(own);
        }
        Err(last)
    }

    /// Commits. An error that is lost leaves open whether the transaction took effect.
    pub(super) async fn commit(mut self) -> Result<(), Failure> {
        self.run("COMMIT").await?;
        // Back into the pool.
        drop(self.0.take());
        Ok(())
    }

    /// Ends a transaction that has changed nothing.
    pub(super) async fn end(self) {
        drop(self.commit().await);
    }

    /// Runs statements without values.
    pub(super) async fn run(&self, sql: &str) -> Result<(), Failure> {
        in_time(self.client()?.batch_execute(sql)).await
    }

    pub(super) async fn rows(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Failure> {
        let client = self.client()?;
        let statement = in_time(client.prepare_cached(sql)).await?;
        in_time(client.query(&statement, values)).await
    }

    pub(super) async fn row(&self, sql: &str, values: Values<'_>) -> Result<Option<Row>, Failure> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    pub(super) async fn execute(&self, sql: &str, values: Values<'_>) -> Result<u64, Failure> {
        let client = self.client()?;
        let statement = in_time(client.prepare_cached(sql)).await?;
        in_time(client.execute(&statement, values)).await
    }

    fn client(&self) -> Result<&Object, Failure> {
        self.0.as_ref().ok_or_else(|| Failure::other("the transaction has ended"))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            drop(Object::take(client));
        }
    }
}

async fn in_time<T>(answer: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, Failure> {
    match tokio::time::timeout(ANSWER, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(Failure::lost("the database does not answer")),
    }
}

/// A column of a row.
pub(super) fn get<'r, T: tokio_postgres::types::FromSql<'r>>(row: &'r Row, at: usize) -> Result<T, Failure> {
    row.try_get(at).map_err(|why| Failure::other(format!("a row of the database cannot be read: {why}")))
}
