//! Writes the changes of a tenant. Changes that arrive while others are being written share the
//! next transaction, so that many callers wait for one COMMIT.
//!
//! A caller learns of its change after the COMMIT. If the answer to a COMMIT is lost, the writer
//! takes the lock of the chain again, behind the transaction in question, and looks whether its
//! records are there.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use toolfold::policy::{ApprovalError, StoreErrorKind};

use super::append::Chain;
use super::change::{Change, Done};
use super::database::Database;
use super::failure::{Failure, Trouble};

/// The maximum number of changes in a transaction.
const MAX_BATCH: usize = 100;

/// The number of attempts to write, if the connection is lost before anything is committed.
const TRIES: u32 = 3;

type Outcome = Result<Done, ApprovalError>;

/// A change, and the caller that waits for it.
pub(super) struct Job {
    pub(super) change: Change,
    pub(super) answer: Sender<Outcome>,
    /// When the caller gives up. Later, the change must not be made: no one would act on it.
    pub(super) until: Instant,
}

/// Starts the writer of a tenant. It ends with the database.
pub(super) fn start_writer(runtime: &Runtime, database: &Arc<Database>, tenant: &Arc<str>) -> UnboundedSender<Job> {
    let (sender, jobs) = unbounded_channel();
    runtime.spawn(write_all(Arc::downgrade(database), tenant.clone(), jobs));
    sender
}

async fn write_all(database: Weak<Database>, tenant: Arc<str>, mut jobs: UnboundedReceiver<Job>) {
    while let Some(first) = jobs.recv().await {
        let mut batch = vec![first];
        while batch.len() < MAX_BATCH
            && let Ok(job) = jobs.try_recv()
        {
            batch.push(job);
        }
        let now = Instant::now();
        batch.retain(|job| job.until > now);
        // The callers hold the database.
        let Some(database) = database.upgrade() else { return };
        let changes: Vec<&Change> = batch.iter().map(|job| &job.change).collect();
        let mut outcomes = write(&database, &tenant, &changes).await;
        if batch.len() > 1 && outcomes.as_ref().is_err_and(is_about_one) {
            // One change that the server refuses must not stop the others.
            let mut each = Vec::new();
            for change in changes {
                each.push(write(&database, &tenant, &[change]).await.and_then(first_of));
            }
            outcomes = Ok(each.into_iter().map(|own| own.unwrap_or_else(|why| Err(why.into()))).collect());
        }
        drop(database);
        match outcomes {
            Ok(outcomes) => {
                for (job, outcome) in batch.into_iter().zip(outcomes) {
                    // A caller that has gone gets no answer.
                    drop(job.answer.send(outcome));
                }
            }
            Err(why) => batch.into_iter().for_each(|job| drop(job.answer.send(Err(why.clone().into())))),
        }
    }
}

/// Whether a failure can be that of one change among others: the server is neither busy nor full.
fn is_about_one(why: &Failure) -> bool {
    why.trouble == Trouble::Refused && why.kind == StoreErrorKind::Other
}

fn first_of(outcomes: Vec<Outcome>) -> Result<Outcome, Failure> {
    outcomes.into_iter().next().ok_or_else(|| Failure::other("the change was not made"))
}

/// Makes changes in one transaction. An error means that none of them was made, or that this is
/// unknown.
async fn write(database: &Database, tenant: &str, changes: &[&Change]) -> Result<Vec<Outcome>, Failure> {
    let mut last = Failure::other("no attempt was made");
    for _ in 0..TRIES {
        match attempt(database, tenant, changes).await {
            Err(why) if why.trouble == Trouble::Lost => last = why,
            done => return done,
        }
    }
    Err(last)
}

/// One attempt. An error that is lost means that nothing was committed.
async fn attempt(database: &Database, tenant: &str, changes: &[&Change]) -> Result<Vec<Outcome>, Failure> {
    let mut chain = Chain::lock(database, tenant).await?;
    let mut outcomes = Vec::new();
    for change in changes {
        match change.make(&mut chain).await {
            // The transaction can do nothing more.
            Err(ApprovalError::Store(why))
                if why.kind != StoreErrorKind::Forged && why.kind != StoreErrorKind::Damaged =>
            {
                let is_lost = why.kind == StoreErrorKind::CannotOpen;
                let trouble = if is_lost { Trouble::Lost } else { Trouble::Refused };
                return Err(Failure { kind: why.kind, why: why.message, trouble });
            }
            outcome => outcomes.push(outcome),
        }
    }
    chain.flush().await?;
    let (seq, batch) = (chain.seq, chain.batch.clone());
    match chain.session.commit().await {
        Ok(()) => Ok(outcomes),
        Err(why) if why.trouble != Trouble::Lost => Err(why),
        Err(why) => match settled(database, tenant, seq, &batch).await {
            Ok(true) => Ok(outcomes),
            Ok(false) => Err(why),
            Err(why) => Err(unknown(&why)),
        },
    }
}

/// Whether a transaction whose answer to COMMIT was lost took effect.
async fn settled(database: &Database, tenant: &str, seq: i64, batch: &[u8]) -> Result<bool, Failure> {
    let mut last = Failure::other("no attempt was made");
    for _ in 0..TRIES {
        let asked = async {
            let chain = Chain::lock(database, tenant).await?;
            let committed = chain.has_committed(seq, batch).await?;
            chain.session.end().await;
            Ok(committed)
        };
        match asked.await {
            Ok(committed) => return Ok(committed),
            Err(why) => last = why,
        }
    }
    Err(last)
}

/// The caller must not run its call, although it may be on record.
fn unknown(why: &Failure) -> Failure {
    let why = format!("the answer to COMMIT was lost, and it is unknown whether the change was made: {why}");
    Failure { kind: StoreErrorKind::Other, why, trouble: Trouble::Final }
}
