//! What became of one task in one arm: a line of the JSONL that `ab` writes.

use serde::{Deserialize, Serialize};

use super::exchange::Usage;

/// The name of the row's form.
pub const ROW_SCHEMA: &str = "toolfold.ab/1";

/// One task in one arm, played once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// Always [`ROW_SCHEMA`].
    pub schema: String,
    /// The task.
    pub task: String,
    /// The arm that was asked for.
    pub arm: String,
    /// The arm that it was played in: what `auto` took.
    pub taken: String,
    /// The oracle, or `model`.
    pub driver: String,
    /// Which repeat, from 0.
    pub repeat: usize,
    /// Why it was not played to its end; such a row is not compared, and played again on `--resume`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What became of the calls.
    #[serde(flatten)]
    pub calls: Calls,
    /// Every true call that is not right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<Wrong>,
    /// Requests to the model.
    pub requests: usize,
    /// Requests whose calls were all answered here: nothing ran.
    pub extra_requests: usize,
    /// Turns that were ended because they took too many requests.
    pub cut: usize,
    /// Requests whose tool array is not the one before.
    pub breaks: usize,
    /// SHA-256 of the first tool array.
    pub digest: String,
    /// What was counted here.
    pub tokens: Tokens,
    /// What the provider reports, summed over requests; absent if it reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How long the driver took, in milliseconds; never compared.
    #[serde(default)]
    pub ms: u64,
}

impl Row {
    /// What tells it from other rows: task, arm, driver, repeat.
    #[must_use]
    pub fn key(&self) -> (&str, &str, &str, usize) {
        (&self.task, &self.arm, &self.driver, self.repeat)
    }
}

/// Calls, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Calls {
    /// True calls of the task.
    pub truths: usize,
    /// True calls that ran with all of their arguments.
    pub right: usize,
    /// Those of them that were right the first time the tool was called in that turn.
    pub at_once: usize,
    /// True calls of which only a call with other arguments ran: valid, run, and wrong.
    pub silent: usize,
    /// True calls whose tool never ran.
    pub missed: usize,
    /// Calls that ran and that no true call asks for.
    pub stray: usize,
    /// Calls that the driver made, meta-tools among them.
    pub made: usize,
    /// Calls that ran.
    pub forwarded: usize,
    /// Those of them that were made before the model had been shown the tool's whole schema.
    pub blind: usize,
    /// Calls whose arguments were put right before they ran.
    pub coerced: usize,
    /// Calls that were answered with what is wrong with their arguments.
    pub repaired: usize,
    /// Calls that were answered with parameters that had been hidden.
    pub shown: usize,
    /// Calls of tools that do not exist.
    pub unknown: usize,
    /// Calls that were answered with a directive, because the model went in circles.
    pub loops: usize,
    /// Calls that policy did not let run.
    pub refused: usize,
    /// Calls of `expand_tools`.
    pub expanded: usize,
}

/// A true call that is not right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Wrong {
    /// The turn, from 0.
    pub turn: usize,
    /// The tool.
    pub tool: String,
    /// The arguments that differ; empty where the tool never ran.
    pub arguments: Vec<String>,
}

/// What was counted, in tokens: tool arrays by the meter, messages as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tokens {
    /// What counted the tool arrays.
    pub meter: String,
    /// The tool array of the first request.
    pub first: usize,
    /// Everything that was sent, summed over requests; nothing is taken as cached.
    pub input: usize,
    /// Everything that the driver wrote.
    pub output: usize,
}
