//! Scripts of skills that a session runs itself.

use super::super::ledger::now_ms;
use super::super::skills::Stop;
use super::dialogue::Dialogue;
use super::outcome::{OutcomeAnswer, Ran};
use super::part::Problem;
use toolfold::conversation::{Outcome, ToolResult};

impl Dialogue {
    /// Runs the script that an outcome lets run, if it is one. It blocks until the script has
    /// ended. The log contains the call before the script starts, so that it never runs twice.
    pub(super) fn run_script(&mut self, outcome: &Outcome) -> Result<Option<Ran>, Problem> {
        let (Outcome::Forward(forward), Some(scripts)) = (outcome, &self.scripts) else { return Ok(None) };
        let scripts = scripts.clone();
        let tool = self.conversation.engine().catalog().get(forward.target.as_str());
        let Some(tool) = tool.filter(|tool| tool.skill_run().is_some()).cloned() else { return Ok(None) };
        self.write_log().map_err(|why| Problem::new(format!("the script was not run: {why}")))?;
        let (content, ok) = scripts.run(&tool, &forward.arguments, &Stop::default());
        Ok(Some(Ran { content, is_error: !ok }))
    }

    /// The answer to one call whose script ran; that of the outcome for other calls.
    pub(super) fn outcome_answer(&mut self, outcome: &Outcome) -> Result<OutcomeAnswer, Problem> {
        let ran = self.run_script(outcome)?;
        if let Some(Ran { content, is_error }) = &ran {
            let result = ToolResult::new(content.as_str(), *is_error);
            self.conversation.answer(outcome.id(), result).map_err(Problem::new)?;
        }
        let answer = OutcomeAnswer::new(outcome, &self.conversation.digest());
        Ok(match ran {
            Some(ran) => answer.ran(ran),
            None => answer,
        })
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
