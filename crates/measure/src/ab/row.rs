//! The result of one task in one arm: a line of the JSONL that `ab` writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exchange::Usage;

/// The name of the row format.
pub const ROW_SCHEMA: &str = "toolfold.ab/1";

/// One task in one arm, played once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// Always [`ROW_SCHEMA`].
    pub schema: String,
    /// The task.
    pub task: String,
    /// The requested arm.
    pub arm: String,
    /// The arm actually played: what `auto` chose.
    pub taken: String,
    /// The oracle, or `model`.
    pub driver: String,
    /// The repeat, from 0.
    pub repeat: usize,
    /// Why it was not completed; such a row is not compared, and is played again with `--resume`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The counts of calls.
    #[serde(flatten)]
    pub calls: Calls,
    /// Every true call that is not right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<Wrong>,
    /// Requests to the model.
    pub requests: usize,
    /// Requests whose calls were all answered without running anything.
    pub extra_requests: usize,
    /// Turns that were ended for too many requests.
    pub cut: usize,
    /// Requests whose tool array differs from the previous one.
    pub breaks: usize,
    /// SHA-256 of the first tool array.
    pub digest: String,
    /// The tokens counted here.
    pub tokens: Tokens,
    /// The provider's counts, summed over requests; absent if it reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The driver's time in milliseconds; never compared.
    #[serde(default)]
    pub ms: u64,
}

impl Row {
    /// Whether the task is right: all true calls, and no other call that may have written.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.error.is_none() && self.calls.right == self.calls.truths && self.calls.writes == 0
    }

    /// The key of the row: task, arm, driver, repeat.
    #[must_use]
    pub fn key(&self) -> (&str, &str, &str, usize) {
        (&self.task, &self.arm, &self.driver, self.repeat)
    }
}

/// Counts of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Calls {
    /// True calls of the task.
    pub truths: usize,
    /// True calls that ran with all of their arguments.
    pub right: usize,
    /// The right calls before which no other call of their tool was made in that turn, except right
    /// ones.
    pub at_once: usize,
    /// True calls of which only a valid call with other arguments ran.
    pub silent: usize,
    /// True calls whose tool never ran.
    pub missed: usize,
    /// Calls that ran without a matching true call.
    pub stray: usize,
    /// The stray calls of tools that may write.
    #[serde(default)]
    pub writes: usize,
    /// True calls whose tool never ran, while another tool that no true call asks for ran.
    #[serde(default)]
    pub siblings: usize,
    /// Calls that the driver made, including meta-tools.
    pub made: usize,
    /// Calls that ran.
    pub forwarded: usize,
    /// The forwarded calls made before the model had seen the tool's full schema.
    pub blind: usize,
    /// Calls whose arguments were corrected before they ran.
    pub coerced: usize,
    /// Calls answered with errors in their arguments.
    pub repaired: usize,
    /// Calls answered with hidden parameters.
    pub shown: usize,
    /// Calls of tools that do not exist.
    pub unknown: usize,
    /// Calls answered with a directive, because the model was looping.
    pub loops: usize,
    /// Calls that the policy did not allow.
    pub refused: usize,
    /// Calls of `expand_tools`.
    pub expanded: usize,
}

/// A true call that is not right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Wrong {
    /// The turn, from 0.
    pub turn: usize,
    /// The tool.
    pub tool: String,
    /// The arguments that differ; empty if the tool never ran.
    pub arguments: Vec<String>,
}

/// Counted tokens: tool arrays by the meter, messages as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Tokens {
    /// The meter of the tool arrays.
    pub meter: String,
    /// The tool array of the first request.
    pub first: usize,
    /// All input, summed over requests without caching.
    pub input: usize,
    /// All output of the driver.
    pub output: usize,
}
