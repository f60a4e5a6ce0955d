//! What is decided, and why.

use std::fmt;

use serde::Serialize;

use super::links::Links;
use crate::diagnostic::Place;

/// What to do with a call. Exhaustive on purpose: a caller that forgets one does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run it.
    Allow,
    /// Write the audit record first, then run it; if the record cannot be written, do not run it.
    AllowAudited,
    /// Show it to a person first.
    Confirm,
    /// Refuse it.
    Deny,
}

impl Decision {
    /// Whether the call may run without anyone being asked.
    #[must_use]
    pub fn runs(self) -> bool {
        matches!(self, Self::Allow | Self::AllowAudited)
    }

    /// `allow`, `allow_audited`, `confirm` or `deny`: as in JSON and in audit records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::AllowAudited => "allow_audited",
            Self::Confirm => "confirm",
            Self::Deny => "deny",
        }
    }

    /// `allow`, `ask` or `deny`: the words that rules and `policy eval` use. Audited or not is left out.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow | Self::AllowAudited => "allow",
            Self::Confirm => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::AllowAudited => "allow, audited",
            Self::Confirm => "confirm",
            Self::Deny => "deny",
        })
    }
}

/// What a rule says. Ordered by power: a later one beats an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The call, or the part of it that the rule matches, may run.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused; nothing lifts that.
    Deny,
}

impl Effect {
    /// Reads `allow`, `ask` or `deny`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "allow" => Some(Self::Allow),
            "ask" => Some(Self::Ask),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// Whether a pattern fits a thing that may not be known entirely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// It cannot fit.
    No,
    /// It may fit, depending on what only the run would show. Never enough to allow; enough to ask.
    Maybe,
    /// It fits, whatever the unknown parts turn out to be.
    Yes,
}

impl Fit {
    /// `Yes` or `No`.
    #[must_use]
    pub fn of(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

/// One reason of a verdict: a part of the call and what was decided about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// What this part got.
    #[serde(rename = "says")]
    pub effect: Effect,
    /// A sentence without its full stop, lower case, user input in backticks; fit for a model to read.
    pub text: String,
    /// The rule that decided, as written. Absent where a tier or a default decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where that rule stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

impl Reason {
    /// A reason without a rule.
    pub(crate) fn new(effect: Effect, text: impl Into<String>) -> Self {
        Self { effect, text: text.into(), rule: None, place: None }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.rule {
            Some(rule) => write!(f, " (rule `{rule}`)"),
            None => Ok(()),
        }
    }
}

/// The answer to one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[must_use]
pub struct Verdict {
    /// What to do.
    pub decision: Decision,
    /// Why: the reasons that carry the decision first. Never empty.
    pub reasons: Vec<Reason>,
    /// In the modes `audit` and `off`: what `enforce` would have decided, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_be: Option<Decision>,
    /// The paths that led elsewhere than they say when this was decided. With these as
    /// [`Context::links`](super::Context::links) it is decided again the same.
    #[serde(skip_serializing_if = "Links::is_empty")]
    pub links: Links,
}

impl Verdict {
    /// The reasons as one line. The first carries the decision.
    #[must_use]
    pub fn reason(&self) -> String {
        self.reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }
}
