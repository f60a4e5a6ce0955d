//! Adds records to a tenant's chain inside a transaction.

use serde_json::Value;
use toolfold::policy::audit::{Entry, GENESIS, Kind, body, link};
use toolfold::policy::{ApprovalError, StoreError, StoreErrorKind};

use super::database::Database;
use super::failure::Failure;
use super::history::count;
use super::session::{Purpose, Session, get};

/// What records about the approver's key are about.
pub(super) const KEY: &str = "approver";

/// A transaction that holds the lock of a tenant's chain.
pub(super) struct Chain {
    pub(super) session: Session,
    pub(super) tenant: String,
    /// Identifies the transaction: 16 random bytes.
    pub(super) batch: Vec<u8>,
    /// The server's time in milliseconds since 1970, or that of the last record if it is later.
    pub(super) now_ms: i64,
    pub(super) seq: i64,
    hash: String,
    new: New,
}

/// Records that are not written yet, by column.
#[derive(Default)]
struct New {
    seq: Vec<i64>,
    body: Vec<String>,
    prev: Vec<String>,
    hash: Vec<String>,
    about: Vec<Option<String>>,
}

impl Chain {
    /// Begins a transaction, and waits for those that hold the lock.
    pub(super) async fn lock(database: &Database, tenant: &str) -> Result<Self, Failure> {
        let session = Session::begin(database, tenant, Purpose::Write).await?;
        let lock = "SELECT seq, hash, time_ms FROM toolfold.head WHERE tenant = $1 FOR UPDATE";
        let mut row = session.row(lock, &[&tenant]).await?;
        if row.is_none() {
            let sql = "INSERT INTO toolfold.head (tenant, seq, hash, time_ms) VALUES ($1, 0, $2, 0)
                       ON CONFLICT (tenant) DO NOTHING";
            session.execute(sql, &[&tenant, &GENESIS]).await?;
            row = session.row(lock, &[&tenant]).await?;
        }
        let row = row.ok_or_else(|| Failure::other("the head of the chain cannot be created"))?;
        let (seq, hash, last_ms) = (get(&row, 0)?, get(&row, 1)?, get::<i64>(&row, 2)?);
        let now_ms = database.server_now(&session).await?.max(last_ms);
        let mut batch = vec![0; 16];
        getrandom::fill(&mut batch).map_err(|why| Failure::other(format!("no random bits available: {why}")))?;
        Ok(Self { session, tenant: tenant.to_owned(), batch, now_ms, seq, hash, new: New::default() })
    }

    /// Adds a record, with the time of the transaction. Fails before it adds anything if the
    /// record's call has raced another one.
    pub(super) async fn append(&mut self, entry: &Entry) -> Result<(), ApprovalError> {
        let mut entry = entry.clone();
        entry.time_ms = self.now_ms;
        count(&self.session, &self.tenant, &entry).await?;
        let text = body(&entry).map_err(|why| StoreError::new(StoreErrorKind::Other, why.to_string()))?;
        self.seq = self.seq.saturating_add(1);
        let hash = link(self.seq.cast_unsigned(), &self.hash, &text);
        let New { seq, body, prev, hash: hashes, about } = &mut self.new;
        seq.push(self.seq);
        body.push(text);
        prev.push(std::mem::replace(&mut self.hash, hash.clone()));
        hashes.push(hash);
        about.push(about_of(&entry));
        Ok(())
    }

    /// Writes the records that were added. What follows can read them.
    pub(super) async fn flush(&mut self) -> Result<(), Failure> {
        if self.new.seq.is_empty() {
            return Ok(());
        }
        let New { seq, body, prev, hash, about } = std::mem::take(&mut self.new);
        let sql = "INSERT INTO toolfold.audit (tenant, seq, body, prev, hash, about, batch)
                   SELECT $1::text, own.*, $2::bytea
                   FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[]) AS own";
        self.session.execute(sql, &[&self.tenant, &self.batch, &seq, &body, &prev, &hash, &about]).await?;
        let sql = "UPDATE toolfold.head SET seq = $2, hash = $3, time_ms = $4 WHERE tenant = $1";
        self.session.execute(sql, &[&self.tenant, &self.seq, &self.hash, &self.now_ms]).await?;
        Ok(())
    }

    /// Whether a transaction whose answer to COMMIT was lost took effect. Its lock is gone, because
    /// this one holds it.
    pub(super) async fn has_committed(&self, seq: i64, batch: &[u8]) -> Result<bool, Failure> {
        let sql = "SELECT 1 FROM toolfold.audit WHERE tenant = $1 AND seq = $2 AND batch = $3";
        Ok(self.session.row(sql, &[&self.tenant, &seq, &batch]).await?.is_some())
    }
}

/// What a record is about, for the search of the records about one approval, grant or key.
fn about_of(entry: &Entry) -> Option<String> {
    if entry.kind == Kind::Approver {
        return Some(KEY.to_owned());
    }
    let named = ["approval", "grant"].into_iter().find_map(|key| entry.detail.get(key).and_then(Value::as_str));
    // Ids are made by stores. Anything else is not searched for.
    let is_id = |id: &&str| id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_graphic());
    named.filter(is_id).map(str::to_owned)
}
