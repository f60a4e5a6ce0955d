//! Changes of many threads in one transaction, so that the disk is waited for once a round and not once a change.
//!
//! The first thread to come leads a round: it runs the changes that have gathered, each in a savepoint of its own, and
//! puts them on disk together. Meanwhile the changes of others gather, and one of those threads leads the next round.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::failed;
use crate::policy::ApprovalError;

/// A change that has run, told whether the transaction around it is on disk.
type Told = Box<dyn FnOnce(Result<(), ApprovalError>) + Send>;

/// Runs a change in a transaction, or tells it why there is none.
type Run = Box<dyn FnOnce(Result<&mut Transaction<'_>, ApprovalError>) -> Told + Send>;

/// A change that waits.
struct Job {
    run: Run,
    /// Has its thread lead the next round.
    lead: Box<dyn Fn() + Send>,
}

/// What a waiting thread hears.
enum Word<T> {
    Lead,
    Done(Result<T, ApprovalError>),
}

#[derive(Default)]
pub(super) struct Queue(Mutex<Line>);

#[derive(Default)]
struct Line {
    jobs: Vec<Job>,
    /// Whether a thread leads now.
    led: bool,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} changes", self.line().jobs.len())
    }
}

impl Queue {
    /// Runs a change in a transaction and returns when it is on disk. `connection` is locked for one round at a time.
    pub(super) fn write<'c, T: Send + 'static>(
        &self,
        connection: impl FnOnce() -> MutexGuard<'c, Connection>,
        change: impl FnOnce(&Connection) -> Result<T, ApprovalError> + Send + 'static,
    ) -> Result<T, ApprovalError> {
        let (tell, told) = channel();
        let lost = || Err(ApprovalError::Store("the thread that wrote for this one has failed".to_owned()));
        if self.joins(job(change, tell)) {
            match told.recv() {
                Ok(Word::Done(result)) => return result,
                Ok(Word::Lead) => {}
                Err(_) => return lost(),
            }
        }
        self.lead(connection);
        match told.recv() {
            Ok(Word::Done(result)) => result,
            _ => lost(),
        }
    }

    /// Puts a change into the line. False where nobody leads: then the caller does.
    fn joins(&self, job: Job) -> bool {
        let mut line = self.line();
        line.jobs.push(job);
        std::mem::replace(&mut line.led, true)
    }

    /// Leads one round, and hands over before its threads go on.
    fn lead<'c>(&self, connection: impl FnOnce() -> MutexGuard<'c, Connection>) {
        let leading = Leading(self);
        let mut connection = connection();
        let jobs = std::mem::take(&mut self.line().jobs);
        let mut done = Vec::with_capacity(jobs.len());
        let committed = commit(&mut connection, jobs, &mut done);
        drop(connection);
        drop(leading);
        done.into_iter().for_each(|tell| tell(committed.clone()));
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        // Nothing that fails holds it half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands the lead on when it is dropped, also by a thread that fails.
struct Leading<'q>(&'q Queue);

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        let mut line = self.0.line();
        match line.jobs.first() {
            Some(next) => (next.lead)(),
            None => line.led = false,
        }
    }
}

fn job<T: Send + 'static>(
    change: impl FnOnce(&Connection) -> Result<T, ApprovalError> + Send + 'static,
    tell: Sender<Word<T>>,
) -> Job {
    let leads = tell.clone();
    // In both the other end waits, unless its thread is gone.
    let lead = Box::new(move || drop(leads.send(Word::Lead)));
    let run = Box::new(move |transaction: Result<&mut Transaction<'_>, ApprovalError>| -> Told {
        let result = transaction.and_then(|transaction| in_savepoint(transaction, change));
        Box::new(move |committed: Result<(), ApprovalError>| {
            drop(tell.send(Word::Done(result.and_then(|value| committed.map(|()| value)))));
        })
    });
    Job { run, lead }
}

/// Runs all jobs in one transaction and puts it on disk.
///
/// Some errors (a full disk, a failing one) make SQLite take the whole transaction back at once. What a later job would
/// then do would stand alone and be kept although its caller is told otherwise, so no job runs after that.
fn commit(connection: &mut Connection, jobs: Vec<Job>, done: &mut Vec<Told>) -> Result<(), ApprovalError> {
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
        done.push(if transaction.is_autocommit() { run(Err(taken_back())) } else { run(Ok(&mut transaction)) });
    }
    if transaction.is_autocommit() {
        return Err(taken_back());
    }
    transaction.commit().map_err(|why| failed(&why))
}

fn taken_back() -> ApprovalError {
    ApprovalError::Store("the disk is full or fails, and the change was taken back".to_owned())
}

/// One change among others: if it fails, only what it did is taken back.
fn in_savepoint<T>(
    transaction: &mut rusqlite::Transaction<'_>,
    change: impl FnOnce(&Connection) -> Result<T, ApprovalError>,
) -> Result<T, ApprovalError> {
    let savepoint = transaction.savepoint().map_err(|why| failed(&why))?;
    let value = change(&savepoint)?;
    savepoint.commit().map_err(|why| failed(&why))?;
    Ok(value)
}
