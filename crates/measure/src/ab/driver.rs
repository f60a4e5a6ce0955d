//! Drivers that know the true calls and make them in different ways.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};
use toolfold::conversation::{Conversation, Outcome, ReplyKind};
use toolfold::name::nearest;
use toolfold::profile::{Arm, CALL_TOOL, Delivery, EXPAND_TOOLS, Folded};

use super::tasks::TrueCall;
use crate::json::{list_member, object_member};

/// A strategy for making known calls: it measures the machinery, not a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Oracle {
    /// Expands the category of a folded tool before calling it.
    Expands,
    /// Expands a single folded tool by name, or its category if the arm only opens categories.
    ByName,
    /// Never expands, and knows what is hidden.
    Blind,
    /// Expands a folded tool by name exactly if the true call needs something that the folded form
    /// lacks: a parameter, or a value that only an `enum` defines.
    Needs,
    /// Never expands, and omits every optional argument, even if shown after an answer. It is wrong
    /// in every arm; a comparison that does not detect this is worthless.
    Omits,
}

/// What makes the calls: an oracle, or a model if `None`.
pub type Driver = Option<Oracle>;

impl Oracle {
    /// The four oracles that are right in every arm.
    pub const RIGHT: [Self; 4] = [Self::Expands, Self::ByName, Self::Blind, Self::Needs];
    /// All oracles.
    pub const ALL: [Self; 5] = [Self::Expands, Self::ByName, Self::Blind, Self::Needs, Self::Omits];

    /// The name in flags and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Expands => "expands",
            Self::ByName => "by-name",
            Self::Blind => "blind",
            Self::Needs => "needs",
            Self::Omits => "omits",
        }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text does not name a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownDriver(pub String);

impl fmt::Display for UnknownDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Oracle::ALL.map(Oracle::name);
        write!(f, "unknown driver `{}`: use one of {}", toolfold::diagnostic::visible(&self.0), names.join(", "))?;
        match nearest(&self.0, names, 1).first() {
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownDriver {}

impl FromStr for Oracle {
    type Err = UnknownDriver;
    fn from_str(text: &str) -> Result<Self, UnknownDriver> {
        Self::ALL.into_iter().find(|own| own.name() == text).ok_or_else(|| UnknownDriver(text.to_owned()))
    }
}

/// The maximum number of attempts at a true call. A call answered with hidden parameters is
/// repeated, and a directive against loops does not end the attempts.
const MAX_TRIES: usize = 3;

#[derive(Debug)]
pub(super) struct Scripted {
    oracle: Oracle,
    at: usize,
    tries: usize,
    /// Whether it was expanded.
    looked: bool,
}

impl Scripted {
    pub(super) fn new(oracle: Oracle) -> Self {
        Self { oracle, at: 0, tries: 0, looked: false }
    }

    pub(super) fn begin(&mut self) {
        *self = Self::new(self.oracle);
    }

    /// The next call as the model writes it; `None` at the end of the turn.
    pub(super) fn next(&mut self, conversation: &Conversation, truths: &[TrueCall]) -> Option<(String, Value)> {
        let truth = truths.get(self.at)?;
        let catalog = conversation.engine().catalog();
        let folded = catalog.position(&truth.tool).and_then(|at| {
            let entry = conversation.presentation().deferred.iter().find(|entry| entry.tools.contains(&at))?;
            Some((at, entry.category.to_string()))
        });
        if let Some((at, category)) = &folded
            && !self.looked
            && self.tries == 0
            && !conversation.expanded().opens_tool(&truth.tool, category)
            && self.expands(conversation, *at, truth)
        {
            self.looked = true;
            return Some((EXPAND_TOOLS.to_owned(), self.lookup(conversation.arm(), category, &truth.tool)));
        }
        self.tries += 1;
        let arguments = match self.oracle {
            Oracle::Omits => required_only(conversation, truth),
            _ => truth.arguments.clone(),
        };
        Some(if folded.is_some() && conversation.arm().delivery() == Delivery::Bridge {
            (CALL_TOOL.to_owned(), json!({"name": truth.tool, "arguments": arguments}))
        } else {
            (truth.tool.clone(), arguments)
        })
    }

    pub(super) fn heard(&mut self, outcome: &Outcome) {
        let again = match outcome {
            Outcome::Reply(reply) => match reply.answer.kind {
                ReplyKind::Expanded => return,
                ReplyKind::Shown | ReplyKind::Loop => self.tries < MAX_TRIES,
                _ => false,
            },
            Outcome::Forward(_) | Outcome::Confirm(_) | Outcome::Refuse(_) => false,
        };
        if !again {
            (self.at, self.tries, self.looked) = (self.at + 1, 0, false);
        }
    }

    fn expands(&self, conversation: &Conversation, at: usize, truth: &TrueCall) -> bool {
        match self.oracle {
            Oracle::Expands | Oracle::ByName => true,
            Oracle::Blind | Oracle::Omits => false,
            Oracle::Needs => lacks(conversation, at, truth),
        }
    }

    fn lookup(&self, arm: Arm, category: &str, tool: &str) -> Value {
        match (arm, self.oracle) {
            // The original design opens only categories, one at a time.
            (Arm::Seed, _) => json!({"category": category}),
            (_, Oracle::Expands) => json!({"categories": [category]}),
            _ => json!({"tools": [tool]}),
        }
    }
}

/// Whether the true call uses a parameter name or an `enum` value that the folded form lacks.
fn lacks(conversation: &Conversation, at: usize, truth: &TrueCall) -> bool {
    let Some(tool) = conversation.engine().catalog().at(at) else { return false };
    let Some(planned) = conversation.presentation().plan_of(at) else { return true };
    let none = Map::new();
    let given = truth.arguments.as_object().unwrap_or(&none);
    let hidden = conversation.presentation().hidden_parameters(at, tool);
    if given.keys().any(|name| hidden.contains(&name.as_str())) {
        return true;
    }
    let shown = Folded::new(tool, planned.detail, None).parameters().into_owned();
    let shown = object_member(&shown, "properties").unwrap_or(&none);
    let whole = object_member(tool.parameters(), "properties").unwrap_or(&none);
    for (name, value) in given {
        let is_listed = whole.get(name).is_some_and(|schema| schema.get("enum").is_some());
        let is_shown = shown.get(name).is_some_and(|schema| schema.to_string().contains(&value.to_string()));
        if value.is_string() && is_listed && !is_shown {
            return true;
        }
    }
    false
}

fn required_only(conversation: &Conversation, truth: &TrueCall) -> Value {
    let tool = conversation.engine().catalog().get(&truth.tool);
    let required = tool.map_or(&[][..], |tool| list_member(tool.parameters(), "required"));
    let mut arguments = truth.arguments.as_object().cloned().unwrap_or_default();
    arguments.retain(|name, _| required.iter().any(|own| own == name));
    Value::Object(arguments)
}
