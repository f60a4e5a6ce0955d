//! Decisions and the reasons for them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::links::Links;
use crate::diagnostic::Place;

/// What to do with a call. Exhaustive on purpose: a caller that omits a case does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run it.
    Allow,
    /// Write the audit record first, then run it; if the record cannot be written, do not run it.
    AllowAudited,
    /// Ask a person for approval first.
    Confirm,
    /// Refuse it.
    Deny,
}

impl Decision {
    /// Whether the call may run without asking a person.
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

    /// `allow`, `ask` or `deny`: the words that rules and `policy eval` use, without the
    /// distinction of audited calls.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Allow | Self::AllowAudited => "allow",
            Self::Confirm => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `allow, audited`
        f.write_str(&self.name().replace('_', ", "))
    }
}

/// The effect of a rule. Ordered by precedence: a later variant overrides an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The call, or the part of it that the rule matches, may run.
    Allow,
    /// The call needs approval.
    Ask,
    /// The call is refused. No grant lifts that.
    Deny,
}

impl Effect {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_value(text.into()).ok()
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Whether a pattern fits something that may be known only in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Fit {
    No,
    /// It may fit, depending on what is known only when the call runs. Never enough to allow, but
    /// enough to ask.
    Maybe,
    /// It fits, whatever the unknown parts turn out to be.
    Yes,
}

impl Fit {
    pub(crate) fn of(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

/// A reason for a verdict: a part of the call and the effect for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Reason {
    /// The effect for this part.
    #[serde(rename = "says")]
    pub effect: Effect,
    /// A sentence in lower case without a full stop, user input in backticks. The model may read
    /// it.
    pub text: String,
    /// The rule that decided, as written. `None` where a tier or a default decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where that rule is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

impl Reason {
    /// A reason without a rule, such as a person's own action.
    #[must_use]
    pub fn new(effect: Effect, text: impl Into<String>) -> Self {
        Self { effect, text: text.into(), rule: None, place: None }
    }

    /// Why a person is asked, without a rule.
    pub(crate) fn ask(text: impl Into<String>) -> Self {
        Self::new(Effect::Ask, text)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if let Some(rule) = &self.rule { write!(f, " (rule `{rule}`)") } else { Ok(()) }
    }
}

/// The decision on a call, with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[must_use]
#[non_exhaustive]
pub struct Verdict {
    /// What to do.
    pub decision: Decision,
    /// The reasons. The deciding ones come first. Never empty.
    pub reasons: Vec<Reason>,
    /// In the mode `audit`: the decision that `enforce` would have made, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_be: Option<Decision>,
    /// The symbolic links that this decision considered. With them as
    /// [`Context::links`](super::Context::links), the decision is reproducible.
    #[serde(skip_serializing_if = "Links::is_empty")]
    pub links: Links,
}

impl Verdict {
    /// The reasons on one line, the deciding one first.
    #[must_use]
    pub fn reason(&self) -> String {
        self.reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }

    /// The verdict on a call that requires approval each time, whatever a rule, a mode or a
    /// remembered approval allows. `why`: the reason, as a sentence. `can_ask`: whether a person
    /// can be asked; if not, the call is denied.
    pub fn requiring_approval(mut self, why: &str, can_ask: bool) -> Self {
        if self.decision.runs() {
            self.decision = if can_ask { Decision::Confirm } else { Decision::Deny };
            self.would_be = None;
            self.reasons.insert(0, Reason::ask(why));
        }
        self
    }
}
