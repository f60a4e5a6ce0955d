//! Approvals, grants and the audit chain of a tenant in a database.

use std::sync::Arc;
use std::sync::mpsc::channel;

use tokio::time::Instant;
use toolfold::policy::audit::{Checkpoint, Entry, Sealed, Verified};
use toolfold::policy::gate::{ApprovalStore, Consent, JudgedAgain};
use toolfold::policy::{Answer, Approval, ApprovalError, ApprovalState, Grant, History, Request, Series};
use toolfold::store::{AuditedStore, approver_digest};

use super::address::Address;
use super::change::{Change, Done, fetch, parse};
use super::database::{Database, limit, receive, wait_for};
use super::failure::{Failure, damaged};
use super::proof::{proven, proven_grant};
use super::session::{Purpose, Session, get};
use super::writer::Job;
use super::{history, verify};
use crate::error::GatewayError;

/// A store in a database. Each method waits for the database, for at most 30 seconds.
///
/// The times that callers give are ignored: that of the database counts.
#[derive(Debug, Clone)]
pub struct PostgresStore {
    database: Arc<Database>,
    tenant: Arc<str>,
}

impl PostgresStore {
    /// Opens the store of the address's tenant.
    ///
    /// # Errors
    /// As for [`Database::open`].
    pub fn open(address: &Address) -> Result<Self, GatewayError> {
        Ok(Self { database: Database::open(address)?, tenant: address.tenant.clone() })
    }

    fn make(&self, change: Change) -> Result<Done, ApprovalError> {
        let (answer, receiver) = channel();
        let writer = self.database.writer(&self.tenant)?;
        let until = Instant::now() + limit();
        writer.send(Job { change, answer, until }).map_err(|_| Failure::other("the writer of the store has ended"))?;
        receive(|| receiver.recv_timeout(limit()))?
    }

    /// Reads from one snapshot.
    fn read<T, F>(&self, read: impl Fn(Arc<Session>, Arc<str>) -> F + Send + 'static) -> Result<T, ApprovalError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, ApprovalError>> + Send,
    {
        let (database, tenant) = (self.database.clone(), self.tenant.clone());
        wait_for(async move {
            let session = Arc::new(Session::begin(&database, &tenant, Purpose::Read).await?);
            let value = read(session.clone(), tenant).await;
            if let Some(session) = Arc::into_inner(session) {
                session.end().await;
            }
            value
        })?
    }
}

/// The change returned something else, which no change does.
fn unexpected() -> ApprovalError {
    Failure::other("the store returned the result of another change").into()
}

fn approval(done: Done) -> Result<Approval, ApprovalError> {
    if let Done::Approval(approval) = done { Ok(*approval) } else { Err(unexpected()) }
}

impl ApprovalStore for PostgresStore {
    fn record(&self, entry: &Entry) -> Result<(), ApprovalError> {
        self.make(Change::Record(Box::new(entry.clone()))).map(drop)
    }

    fn ask(&self, request: Request, _: i64, wait_ms: i64) -> Result<Approval, ApprovalError> {
        approval(self.make(Change::Ask { request: Box::new(request), wait_ms, once: false })?)
    }

    fn ask_once(&self, request: Request, _: i64, wait_ms: i64) -> Result<Approval, ApprovalError> {
        approval(self.make(Change::Ask { request: Box::new(request), wait_ms, once: true })?)
    }

    fn get(&self, id: &str) -> Result<Approval, ApprovalError> {
        let id: Arc<str> = id.into();
        self.read(move |session, tenant| {
            let id = id.clone();
            async move { fetch(&session, &tenant, &id).await }
        })
    }

    fn pending(&self, _: i64) -> Result<Vec<Approval>, ApprovalError> {
        let mut open = self.read_open()?;
        open.retain(|approval| approval.state == ApprovalState::Pending);
        Ok(open)
    }

    fn open(&self, session: &str, _: i64) -> Result<Vec<Approval>, ApprovalError> {
        let mut open = self.read_open()?;
        open.retain(|approval| approval.request.session == session);
        Ok(open)
    }

    fn answer(&self, consent: &Consent, id: &str, answer: Answer, _: i64) -> Result<Approval, ApprovalError> {
        approval(self.make(Change::Answer { id: id.to_owned(), answer, by: consent.by().to_owned() })?)
    }

    fn consume(
        &self,
        _: &JudgedAgain,
        id: &str,
        digest: &str,
        _: i64,
        record: &Entry,
    ) -> Result<Approval, ApprovalError> {
        let (id, digest, record) = (id.to_owned(), digest.to_owned(), Box::new(record.clone()));
        approval(self.make(Change::Consume { id, digest, record })?)
    }

    fn add_grant(&self, _: &Consent, grant: Grant, _: i64) -> Result<Grant, ApprovalError> {
        match self.make(Change::Grant(Box::new(grant)))? {
            Done::Grant(grant) => Ok(*grant),
            _ => Err(unexpected()),
        }
    }

    fn grants(&self, _: i64) -> Result<Vec<Grant>, ApprovalError> {
        let database = self.database.clone();
        self.read(move |session, tenant| {
            let database = database.clone();
            async move {
                let sql = "SELECT id, body FROM toolfold.remembered WHERE tenant = $1 AND NOT revoked ORDER BY number";
                let (rows, now_ms) = (session.rows(sql, &[&&*tenant]).await?, database.server_now(&session).await?);
                let mut live = Vec::new();
                for row in rows {
                    let (id, body): (&str, &str) = (get(&row, 0)?, get(&row, 1)?);
                    let grant: Grant =
                        serde_json::from_str(body).map_err(|why| damaged("a remembered approval", &why))?;
                    if grant.expires_ms.is_none_or(|end| now_ms < end) {
                        match proven_grant(&session, &tenant, id, grant).await {
                            Ok(grant) => live.push(grant),
                            // A grant without matching records has no effect; `verify` reports it.
                            Err(ApprovalError::Store(why)) if is_of_a_row(&why) => {}
                            Err(why) => return Err(why),
                        }
                    }
                }
                Ok(live)
            }
        })
    }

    fn revoke(&self, id: &str, _: i64) -> Result<bool, ApprovalError> {
        match self.make(Change::Revoke(id.to_owned()))? {
            Done::Revoked(known) => Ok(known),
            _ => Err(unexpected()),
        }
    }

    fn history(&self, series: &[Series], before: Option<&str>) -> Result<History, ApprovalError> {
        let (series, before): (Arc<[Series]>, _) = (series.into(), before.map(str::to_owned));
        self.read(move |session, tenant| {
            let (series, before) = (series.clone(), before.clone());
            async move { Ok(history::history(&session, &tenant, &series, before.as_deref()).await?) }
        })
    }

    fn now(&self, _: i64) -> i64 {
        self.database.clock.now_ms()
    }
}

/// Whether a failure is that of one row: the others can be read.
fn is_of_a_row(why: &toolfold::policy::StoreError) -> bool {
    use toolfold::policy::StoreErrorKind::{Damaged, Forged};
    matches!(why.kind, Damaged | Forged)
}

impl PostgresStore {
    /// The approvals whose calls may still run, oldest first, as they are now. Those that do not
    /// match the records are left out; `get` and `verify` report them.
    fn read_open(&self) -> Result<Vec<Approval>, ApprovalError> {
        let database = self.database.clone();
        self.read(move |session, tenant| {
            let database = database.clone();
            async move {
                let now_ms = database.server_now(&session).await?;
                let sql = "SELECT id, body FROM toolfold.approval WHERE tenant = $1 AND expires_ms > $2
                               AND state IN ('pending', 'approved') ORDER BY number";
                let mut open = Vec::new();
                for row in session.rows(sql, &[&&*tenant, &now_ms]).await? {
                    let id: &str = get(&row, 0)?;
                    match proven(&session, &tenant, id, parse(id, get(&row, 1)?)?).await {
                        Ok(approval) => open.push(approval),
                        Err(ApprovalError::Store(why)) if is_of_a_row(&why) => {}
                        Err(why) => return Err(why),
                    }
                }
                Ok(open)
            }
        })
    }
}

impl AuditedStore for PostgresStore {
    fn verify(&self, known: &[Checkpoint]) -> Result<Verified, ApprovalError> {
        verify::verify_chain(&self.database, &self.tenant, known)
    }

    fn records(&self, after: u64, most: usize) -> Result<Vec<Sealed>, ApprovalError> {
        let (after, most) = (i64::try_from(after).unwrap_or(i64::MAX), i64::try_from(most).unwrap_or(i64::MAX));
        self.read(move |session, tenant| async move { verify::records(&session, &tenant, after, most).await })
    }

    fn count(&self) -> Result<u64, ApprovalError> {
        self.read(|session, tenant| async move {
            let row = session.row("SELECT count(*) FROM toolfold.audit WHERE tenant = $1", &[&&*tenant]).await?;
            Ok(row.map_or(Ok(0), |row| get::<i64>(&row, 0))?.cast_unsigned())
        })
    }

    fn purge(&self, before_ms: i64, _: i64) -> Result<usize, ApprovalError> {
        match self.make(Change::Purge { before_ms })? {
            Done::Purged(removed) => Ok(removed),
            _ => Err(unexpected()),
        }
    }

    fn approver(&self) -> Result<Option<String>, ApprovalError> {
        self.read(|session, tenant| async move { verify::approver(&session, &tenant).await })
    }

    /// Needs no request.
    fn time_ms(&self) -> Option<i64> {
        Some(self.database.clock.now_ms())
    }

    fn set_approver(&self, known: Option<&str>, key: &str, by: &str, _: i64) -> Result<(), ApprovalError> {
        let (known, new) = (known.map(approver_digest), approver_digest(key));
        self.make(Change::Approver { known, new, by: by.to_owned() }).map(drop)
    }
}
