//! The runs of scripts beside a session, and the lines that wait for them.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::sync::mpsc::SyncSender;

use serde_json::Value;
use serde_json::value::RawValue;

use super::super::skills::{SkillTools, Stop};
use super::outcome::Ran;
use super::part::Problem;
use super::received::Received;
use toolfold::catalog::Tool;
use toolfold::conversation::{CallId, Outcome, PausedTurn};
use toolfold::diagnostic::Diagnostic;

/// Maximum number of scripts that run at once in the process, as in the gateway; each may use the
/// memory of the setting `skill_scripts.memory`.
const MAX_RUNNING: usize = 4;

/// Maximum number of runs of a conversation that have not ended. A further call fails, so that a
/// host that does not read answers cannot fill the memory.
const MAX_RUNS: usize = 64;

/// The scripts that a session runs itself.
pub(super) struct Runs {
    scripts: SkillTools,
    ended: SyncSender<Received>,
    /// The runs that have not ended, oldest first.
    runs: VecDeque<Run>,
    process: ProcessRuns,
}

/// What the runs of all conversations of a process share.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessRuns {
    /// Each run that was started has a weak reference to it.
    started: Rc<()>,
    /// The number of the next run.
    next: Rc<Cell<u64>>,
}

/// The script of one call.
pub(super) struct Run {
    number: u64,
    /// The number of the line that waits for it.
    pub(super) line: usize,
    /// The position of the call in the line.
    pub(super) at: usize,
    id: CallId,
    tool: Tool,
    input: Value,
    stop: Stop,
    /// Counts the run as one that was started.
    started: Option<Weak<()>>,
    stopped: bool,
}

/// A line whose answer waits for scripts.
pub(super) struct WaitingLine {
    pub(super) line: usize,
    pub(super) outcomes: Vec<Outcome>,
    /// How the script of each call ended; `None` for calls that run none, or whose script has not
    /// ended.
    pub(super) ran: Vec<Option<Ran>>,
    /// The number of scripts that have not ended.
    pub(super) left: usize,
    pub(super) form: Form,
    /// The first result that the conversation did not accept.
    pub(super) failed: Option<Problem>,
}

/// The form of a line's answer.
pub(super) enum Form {
    /// The outcome of one call.
    Call,
    /// The outcomes of several calls.
    Calls(Vec<Diagnostic>),
    /// The outcomes of a message, with the message for the history.
    Message { turn: Option<PausedTurn>, message: Box<RawValue>, diagnostics: Vec<Diagnostic> },
}

impl Runs {
    pub(super) fn new(scripts: SkillTools, ended: SyncSender<Received>, process: ProcessRuns) -> Self {
        Self { scripts, ended, runs: VecDeque::new(), process }
    }

    /// Adds the run of a permitted call.
    ///
    /// # Errors
    /// How the call ends if too many wait.
    pub(super) fn add(&mut self, (line, at): (usize, usize), id: CallId, tool: Tool, input: Value) -> Result<(), Ran> {
        if self.runs.len() >= MAX_RUNS {
            let why = format!("{MAX_RUNS} runs have not ended; try again when one has");
            return Err(not_run(&tool, &why));
        }
        let (number, stop) = (self.process.next.get(), Stop::default());
        self.process.next.set(number + 1);
        self.runs.push_back(Run { number, line, at, id, tool, input, stop, started: None, stopped: false });
        Ok(())
    }

    /// Starts the runs that may start now. Returns those that end without a start: they were
    /// cancelled, or no thread could be started.
    pub(super) fn start(&mut self) -> Vec<(Run, Ran)> {
        let mut failed = Vec::new();
        for mut run in std::mem::take(&mut self.runs) {
            let running = Rc::weak_count(&self.process.started);
            if run.stopped && run.started.is_none() {
                let ran = not_run(&run.tool, "the run was cancelled");
                failed.push((run, ran));
                continue;
            }
            if run.started.is_none() && running < MAX_RUNNING {
                if let Err(why) = self.spawn(&run) {
                    let ran = not_run(&run.tool, &format!("no thread can be started: {why}"));
                    failed.push((run, ran));
                    continue;
                }
                run.started = Some(Rc::downgrade(&self.process.started));
            }
            self.runs.push_back(run);
        }
        failed
    }

    fn spawn(&self, run: &Run) -> std::io::Result<()> {
        let (scripts, ended, number) = (self.scripts.clone(), self.ended.clone(), run.number);
        let (tool, input, stop) = (run.tool.clone(), run.input.clone(), run.stop.clone());
        let runs = move || {
            let (content, ok) = scripts.run(&tool, &input, &stop);
            // A session that has ended has stopped the script.
            drop(ended.send(Received::Ran(number, Ran { content, is_error: !ok })));
        };
        std::thread::Builder::new().name("script".to_owned()).spawn(runs).map(drop)
    }

    /// Whether the run with this number has not ended.
    pub(super) fn has_run(&self, number: u64) -> bool {
        self.runs.iter().any(|run| run.number == number)
    }

    /// Removes a run that has ended.
    pub(super) fn ended(&mut self, number: u64) -> Option<Run> {
        let at = self.runs.iter().position(|run| run.number == number)?;
        self.runs.remove(at)
    }

    /// Kills the script of a call; of several calls with one id, that of the newest. Returns
    /// `false` if there is none.
    pub(super) fn cancel(&mut self, id: &CallId) -> bool {
        let run = self.runs.iter_mut().rev().find(|run| run.id == *id && !run.stopped);
        run.map(Run::stop).is_some()
    }

    pub(super) fn cancel_all(&mut self) {
        self.runs.iter_mut().for_each(Run::stop);
    }

    /// The calls whose scripts have not ended.
    pub(super) fn calls(&self) -> Vec<&str> {
        self.runs.iter().filter(|run| !run.stopped).map(|run| run.id.as_str()).collect()
    }
}

impl Run {
    fn stop(&mut self) {
        self.stopped = true;
        self.stop.stop();
    }
}

fn not_run(tool: &Tool, why: &str) -> Ran {
    Ran { content: SkillTools::not_run(tool, why), is_error: true }
}
