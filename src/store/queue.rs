//! Group commit: the changes of many threads share one transaction, so threads wait for the disk
//! once per round instead of once per change.
//!
//! The first thread to arrive leads a round: it runs the queued changes, each in its own savepoint,
//! and commits them together. Meanwhile further changes queue up, and one of their threads leads
//! the next round.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::failed;
use crate::policy::{ApprovalError, StoreError, StoreErrorKind};

/// Reports to the waiting thread how its change ended, given the result of the commit.
type Report = Box<dyn FnOnce(Result<(), ApprovalError>) + Send>;

/// Runs a change in a transaction, or takes the reason why there is no transaction.
type Run = Box<dyn FnOnce(Result<&mut Transaction<'_>, ApprovalError>) -> Report + Send>;

/// A queued change.
struct Job {
    run: Run,
    /// Makes its thread lead the next round.
    lead: Box<dyn Fn() + Send>,
}

/// A message to a waiting thread.
enum Signal<T> {
    Lead,
    Done(Result<T, ApprovalError>),
}

#[derive(Default)]
pub(super) struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    jobs: Vec<Job>,
    /// Whether a thread is leading a round.
    led: bool,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} changes", self.waiting().jobs.len())
    }
}

impl Queue {
    /// Runs a change in a transaction and returns once it is on disk. `connection` is locked for
    /// one round at a time.
    pub(super) fn run_change<'c, T: Send + 'static>(
        &self,
        connection: impl FnOnce() -> MutexGuard<'c, Connection>,
        change: impl FnOnce(&Connection) -> Result<T, ApprovalError> + Send + 'static,
    ) -> Result<T, ApprovalError> {
        let (sender, receiver) = channel();
        let lost = || Err(StoreError::new(StoreErrorKind::Other, "the thread that wrote this change panicked").into());
        if self.enqueue(job(change, sender)) {
            match receiver.recv() {
                Ok(Signal::Done(result)) => return result,
                Ok(Signal::Lead) => {}
                Err(_) => return lost(),
            }
        }
        self.lead(connection);
        match receiver.recv() {
            Ok(Signal::Done(result)) => result,
            _ => lost(),
        }
    }

    /// Queues a change. Returns `false` if no thread is leading, in which case the caller must
    /// lead.
    fn enqueue(&self, job: Job) -> bool {
        let mut waiting = self.waiting();
        waiting.jobs.push(job);
        std::mem::replace(&mut waiting.led, true)
    }

    /// Leads one round, and passes the lead on before the threads of this round continue.
    fn lead<'c>(&self, connection: impl FnOnce() -> MutexGuard<'c, Connection>) {
        let leading = Leading(self);
        let mut connection = connection();
        let jobs = std::mem::take(&mut self.waiting().jobs);
        let mut done = Vec::with_capacity(jobs.len());
        let committed = commit(&mut connection, jobs, &mut done);
        drop(connection);
        drop(leading);
        done.into_iter().for_each(|report| report(committed.clone()));
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Code that holds the lock cannot panic with a partial change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes the lead on when it is dropped, even by a thread that panics.
struct Leading<'q>(&'q Queue);

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        match waiting.jobs.first() {
            Some(next) => (next.lead)(),
            None => waiting.led = false,
        }
    }
}

fn job<T: Send + 'static>(
    change: impl FnOnce(&Connection) -> Result<T, ApprovalError> + Send + 'static,
    sender: Sender<Signal<T>>,
) -> Job {
    let leads = sender.clone();
    // Sending fails only if the receiving thread has ended.
    let lead = Box::new(move || drop(leads.send(Signal::Lead)));
    let run = Box::new(move |transaction: Result<&mut Transaction<'_>, ApprovalError>| -> Report {
        let result = transaction.and_then(|transaction| in_savepoint(transaction, change));
        Box::new(move |committed: Result<(), ApprovalError>| {
            drop(sender.send(Signal::Done(result.and_then(|value| committed.map(|()| value)))));
        })
    });
    Job { run, lead }
}

/// Runs all jobs in one transaction and commits it.
///
/// Some errors (a full or failing disk) make SQLite roll back the whole transaction at once. A
/// later job would then run outside any transaction, and its change would persist although its
/// caller gets an error. So no job runs after that.
fn commit(connection: &mut Connection, jobs: Vec<Job>, done: &mut Vec<Report>) -> Result<(), ApprovalError> {
    let mut transaction = match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => transaction,
        Err(why) => {
            let why = failed(&why);
            done.extend(jobs.into_iter().map(|job| (job.run)(Err(why.clone()))));
            return Err(why);
        }
    };
    for job in jobs {
        let run = job.run;
        done.push(if transaction.is_autocommit() { run(Err(rolled_back())) } else { run(Ok(&mut transaction)) });
    }
    if transaction.is_autocommit() {
        return Err(rolled_back());
    }
    transaction.commit().map_err(|why| failed(&why))
}

fn rolled_back() -> ApprovalError {
    StoreError::new(StoreErrorKind::Full, "the disk is full or failing, and the change was rolled back").into()
}

/// Runs one of several changes: if it fails, only this change is rolled back.
fn in_savepoint<T>(
    transaction: &mut rusqlite::Transaction<'_>,
    change: impl FnOnce(&Connection) -> Result<T, ApprovalError>,
) -> Result<T, ApprovalError> {
    let savepoint = transaction.savepoint().map_err(|why| failed(&why))?;
    let value = change(&savepoint)?;
    savepoint.commit().map_err(|why| failed(&why))?;
    Ok(value)
}
