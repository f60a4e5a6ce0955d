//! Why a call is not allowed.

use super::decision::{Decision, Effect, Reason};
use super::rule::Access;
use super::shell::FileEffect;

/// Why a call is not allowed, and the decision that follows.
pub(super) struct Refusal {
    pub(super) reason: Reason,
    pub(super) decision: Decision,
}

impl Refusal {
    pub(super) fn ask(text: impl Into<String>) -> Self {
        Self { reason: Reason::new(Effect::Ask, text), decision: Decision::Confirm }
    }

    pub(super) fn because(mut self, text: String) -> Self {
        self.reason.text = text;
        self
    }
}

/// Why a call whose paths need rules is not allowed: the first file without one.
pub(super) fn no_rule_for(file: &FileEffect) -> String {
    let verb = if file.access == Access::Write { "writing" } else { "reading" };
    format!("no rule allows {verb} `{}`", file.text)
}
