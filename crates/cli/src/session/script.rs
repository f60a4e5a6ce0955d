//! Scripts of skills that a session runs itself, beside its lines.

use std::sync::mpsc::SyncSender;

use super::super::clock::now_ms;
use super::answer::{Answer, CallsAnswer, CancelledAnswer, MessageAnswer};
use super::dialogue::Dialogue;
use super::outcome::{OutcomeAnswer, Ran};
use super::part::Problem;
use super::received::Received;
use super::runs::{Form, ProcessRuns, Run, Runs, WaitingLine};
use toolfold::catalog::Tool;
use toolfold::conversation::{CallId, Outcome, ToolResult};

impl Dialogue {
    /// Runs scripts itself if the session offers them, and sends their ends to `ended`.
    pub(super) fn run_scripts(&mut self, ended: SyncSender<Received>, process: ProcessRuns) {
        self.runs = self.scripts.take().map(|scripts| Runs::new(scripts, ended, process));
    }

    /// The answer to judged calls; `None` if scripts run for them first.
    pub(super) fn answer_calls(&mut self, outcomes: Vec<Outcome>, form: Form) -> Result<Option<Answer>, Problem> {
        let ran = outcomes.iter().map(|_| None).collect();
        let mut waiting = WaitingLine { line: self.line, outcomes, ran, left: 0, form, failed: None };
        for at in 0..waiting.outcomes.len() {
            let Some(Outcome::Forward(forward)) = waiting.outcomes.get(at) else { continue };
            let Some(tool) = self.script_tool(forward.target.as_str()) else { continue };
            let (id, input) = (forward.id.clone(), forward.arguments.clone());
            let Some(runs) = &mut self.runs else { continue };
            waiting.left += 1;
            if let Err(ran) = runs.add((self.line, at), id, tool, input) {
                waiting.ended(self, at, ran);
            }
        }
        if waiting.left == 0 {
            return waiting.into_answer(self).map(Some);
        }
        self.waiting.push(waiting);
        Ok(None)
    }

    /// The tool with this name if a call of it runs a script.
    fn script_tool(&self, target: &str) -> Option<Tool> {
        let tool = self.conversation.engine().catalog().get(target);
        tool.filter(|tool| tool.skill_run().is_some()).cloned()
    }

    /// Starts the scripts of logged calls, so that none runs twice after a crash.
    pub(super) fn start_scripts(&mut self) {
        for (run, ran) in self.runs.as_mut().map(Runs::start).unwrap_or_default() {
            self.ended(&run, ran);
        }
    }

    /// The script of a run has ended.
    pub(super) fn script_ended(&mut self, number: u64, ran: Ran) {
        if let Some(run) = self.runs.as_mut().and_then(|runs| runs.ended(number)) {
            self.ended(&run, ran);
        }
    }

    /// Takes the result of a run, and answers its line if it was the last one.
    fn ended(&mut self, run: &Run, ran: Ran) {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.line == run.line) else { return };
        let mut waiting = self.waiting.remove(at);
        waiting.ended(self, run.at, ran);
        if waiting.left > 0 {
            return self.waiting.insert(at, waiting);
        }
        let line = waiting.line;
        let answer = waiting.into_answer(self).unwrap_or_else(|why| Self::error_in(line, why));
        self.answers.push((line, answer));
    }

    /// Kills the script of a call. The line of the call is answered when the script has ended.
    pub(super) fn cancel(&mut self, id: CallId) -> Result<Answer, Problem> {
        let Some(runs) = &mut self.runs else {
            return Err(
                Problem::new("no script runs").help("only calls of scripts that the session runs are cancelled")
            );
        };
        if runs.cancel(&id) {
            return Ok(Answer::Cancelled(CancelledAnswer { cancelled: id }));
        }
        let calls = runs.calls();
        let help = match calls.is_empty() {
            true => "no script runs; only calls of scripts that the session runs are cancelled".to_owned(),
            false => format!("scripts run for the calls {}", calls.join(", ")),
        };
        Err(Problem::new(format!("no script runs for call `{id}`")).help(help))
    }

    /// Kills all scripts.
    pub(super) fn cancel_all(&mut self) {
        if let Some(runs) = &mut self.runs {
            runs.cancel_all();
        }
    }

    /// Whether a line waits for its answer.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Writes the new records to the log. They must be stored before the answer that they led to is
    /// returned, and before a script starts.
    pub(super) fn write_log(&mut self) -> Result<(), String> {
        self.records.extend(self.conversation.take_log(now_ms()));
        if let Some(log) = &mut self.log {
            let new = self.records.get(self.written..).unwrap_or_default();
            log.append(new).map_err(|why| format!("the log cannot be written: {why}"))?;
        }
        self.written = self.records.len();
        Ok(())
    }
}

impl WaitingLine {
    /// Reports the result of one of its calls.
    fn ended(&mut self, dialogue: &mut Dialogue, at: usize, ran: Ran) {
        self.left = self.left.saturating_sub(1);
        let Some(Outcome::Forward(forward)) = self.outcomes.get(at) else { return };
        let result = ToolResult::new(ran.content.as_str(), ran.is_error);
        let accepted = match &mut self.form {
            Form::Message { turn, .. } => match turn.take() {
                Some(paused) => {
                    let mut resumed = dialogue.conversation.take_up_turn(paused);
                    let accepted = resumed.finish(&forward.id, result);
                    *turn = Some(resumed.pause());
                    accepted
                }
                None => Ok(()),
            },
            Form::Call | Form::Calls(_) => dialogue.conversation.answer_forward(forward, result).map(drop),
        };
        if let Err(why) = accepted {
            self.failed.get_or_insert(Problem::new(why));
        }
        if let Some(own) = self.ran.get_mut(at) {
            *own = Some(ran);
        }
    }

    fn into_answer(self, dialogue: &mut Dialogue) -> Result<Answer, Problem> {
        if let Some(why) = self.failed {
            return Err(why);
        }
        let line = self.ran.iter().any(Option::is_some).then_some(self.line);
        let digest = dialogue.conversation.digest();
        let mut outcomes = Vec::with_capacity(self.outcomes.len());
        for (outcome, ran) in self.outcomes.iter().zip(self.ran) {
            let answer = OutcomeAnswer::new(outcome, &digest);
            outcomes.push(match ran {
                Some(ran) => answer.ran(ran),
                None => answer,
            });
        }
        Ok(match self.form {
            Form::Call => match outcomes.pop() {
                Some(outcome) => Answer::Outcome(Box::new(OutcomeAnswer { line, ..outcome })),
                None => return Err(Problem::new("the line has no call")),
            },
            Form::Calls(diagnostics) => Answer::Calls(CallsAnswer { line, outcomes, diagnostics, digest }),
            Form::Message { turn, message, diagnostics } => {
                let (messages, append) = match turn {
                    Some(turn) => {
                        let turn = dialogue.conversation.take_up_turn(turn);
                        (turn.answer_parts(), turn.answered())
                    }
                    None => Default::default(),
                };
                Answer::Message(MessageAnswer { line, message, outcomes, messages, append, diagnostics, digest })
            }
        })
    }
}
