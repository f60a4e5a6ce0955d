//! Runs a planned script and describes how it ended: the one place where scripts of skills start.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it creates folders")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use super::plan::Plan;
use super::report::{RunResult, SkillError};
use toolfold_runner::{Canceller, Cause, Ended, Files, Supervisor, collect, start};

/// Where scripts run and where their files go.
#[derive(Debug, Clone)]
pub(in super::super) struct Places<'p> {
    /// The folder of the store, which has the folders of runs and of results.
    pub(in super::super) base: &'p Path,
    /// The folder for the files of this run instead of the store's.
    pub(in super::super) out: Option<&'p Path>,
    /// How long files of runs are stored.
    pub(in super::super) keep: Duration,
}

/// Stops a run from another thread, also one that has not started yet.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Mutex<Stopping>>);

#[derive(Debug, Default)]
struct Stopping {
    is_stopped: bool,
    running: Option<Canceller>,
}

impl Stop {
    /// Kills the script.
    pub fn stop(&self) {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        own.is_stopped = true;
        if let Some(running) = own.running.take() {
            running.cancel();
        }
    }

    fn follow(&self, running: Canceller) {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_stopped { running.cancel() } else { own.running = Some(running) }
    }
}

/// The program that supervises scripts, if it is not this one.
static SUPERVISOR: OnceLock<Supervisor> = OnceLock::new();

/// Sets the program that supervises scripts, for a process of another program: an interpreter, with
/// the arguments with which it calls [`part_of_run`](crate::edge::part_of_run). The first call
/// counts.
pub(crate) fn supervise_with(program: PathBuf, arguments: Vec<OsString>) {
    SUPERVISOR.get_or_init(|| Supervisor::new(program, arguments));
}

/// The program that supervises scripts: this one, even if its file was replaced.
pub(crate) fn supervisor() -> Supervisor {
    SUPERVISOR.get().cloned().unwrap_or_else(|| Supervisor::new("/proc/self/exe".into(), Vec::new()))
}

/// Runs the script, and moves the files that it wrote.
pub(in super::super) fn execute(plan: &Plan, places: &Places<'_>, stop: &Stop) -> Result<RunResult, SkillError> {
    let ended = start(&supervisor(), &plan.job, &places.base.join("skill-runs")).and_then(|running| {
        stop.follow(running.canceller());
        running.wait()
    });
    let ended = ended.map_err(|why| plan.error(why.cause(), why.to_string()))?;
    let failed = |why| plan.error(Cause::Execution, format!("the files of the script cannot be stored: {why}"));
    let files = moved(places, &ended).map_err(failed)?;
    Ok(RunResult::new(plan, &ended, files))
}

/// Moves the files of a run.
fn moved(places: &Places<'_>, ended: &Ended) -> std::io::Result<Files> {
    let results = places.base.join("skill-results");
    match places.out {
        Some(out) => collect(&ended.folder.work(), |name, _| {
            let path = out.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(out))?;
            Ok(path)
        }),
        None => {
            remove_old(&results, places.keep);
            collect(&ended.folder.work(), |_, sha256| {
                std::fs::create_dir_all(&results)?;
                Ok(results.join(sha256))
            })
        }
    }
}

/// Removes the results of runs that are older than copies for undo.
fn remove_old(results: &Path, keep: Duration) {
    let oldest = SystemTime::now().checked_sub(keep);
    for entry in std::fs::read_dir(results).into_iter().flatten().filter_map(Result::ok) {
        let modified = entry.metadata().and_then(|found| found.modified()).ok();
        if modified.zip(oldest).is_some_and(|(modified, oldest)| modified < oldest) {
            // The next run tries again.
            drop(std::fs::remove_file(entry.path()));
        }
    }
}
