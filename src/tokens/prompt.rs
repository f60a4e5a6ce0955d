//! A request as every meter reads it: the same parts, whichever API it is written for.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::reason::Reason;
use super::render::Function;

/// A request, read.
#[derive(Debug, Default)]
pub(super) struct Prompt<'a> {
    /// The system texts, messages, calls and results, in order.
    pub(super) turns: Vec<Turn<'a>>,
    /// The functions offered.
    pub(super) tools: Vec<Function<'a>>,
    /// Functions that are declared but not shown to the model until something names them.
    pub(super) deferred: Vec<Function<'a>>,
    /// The names that a result refers to, so that these are shown.
    pub(super) referred: BTreeSet<&'a str>,
    /// Whether they came in the old `functions`.
    pub(super) bare_functions: bool,
    /// What the request says of calling them.
    pub(super) choice: Choice<'a>,
    /// The structure that the answer must have.
    pub(super) format: Option<Format<'a>>,
    /// Whether the model is told to think, and how.
    pub(super) thinking: Thinking,
    /// What was met on reading that no recorded request covers.
    pub(super) reasons: BTreeSet<Reason>,
    /// Texts that the model reads beside all that, such as the names of namespaces.
    pub(super) beside: Vec<Cow<'a, str>>,
    /// Where the last round stands.
    last_round: Option<usize>,
}

/// A part of the conversation.
#[derive(Debug)]
pub(super) enum Turn<'a> {
    /// A message of text.
    Message(Message<'a>),
    /// Calls of one assistant message, and their results.
    Round(Round<'a>),
}

/// A message of text.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) role: Role,
    pub(super) text: Cow<'a, str>,
    /// The name of its author, where one is given.
    pub(super) name: Option<&'a str>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The system, or a developer.
    System,
    User,
    Assistant,
    /// A tool whose call is not in the request, or a role that no API has.
    Other,
}

/// Calls of one assistant message, and their results.
#[derive(Debug, Default)]
pub(super) struct Round<'a> {
    /// What the assistant said beside them.
    pub(super) said: Cow<'a, str>,
    /// The name of the message they stand in, where one is given.
    pub(super) name: Option<&'a str>,
    pub(super) calls: Vec<Call<'a>>,
    /// Results in the order they came. There may be fewer than calls.
    pub(super) results: Vec<Cow<'a, str>>,
}

/// A call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    /// Its arguments as JSON text, as they were sent.
    pub(super) arguments: Cow<'a, str>,
    /// Whether a Responses item was sent back with `status: "completed"`.
    pub(super) completed: bool,
}

/// What a request says of calling functions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Choice<'a> {
    /// The model decides.
    #[default]
    Auto,
    /// None may be called.
    Never,
    /// One must be called.
    Required,
    /// This one must be called.
    Named(&'a str),
}

/// The structure that the answer must have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format<'a> {
    pub(super) name: &'a str,
    pub(super) description: Option<&'a str>,
    pub(super) schema: Option<&'a Value>,
}

/// Whether the model is told to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Thinking {
    /// It is not said.
    #[default]
    Off,
    /// With a budget of tokens.
    Budget,
    /// As it sees fit.
    Adaptive,
}

impl<'a> Prompt<'a> {
    /// Adds a message of text.
    pub(super) fn say(&mut self, role: Role, text: impl Into<Cow<'a, str>>) {
        self.turns.push(Turn::Message(Message { role, text: text.into(), name: None }));
    }

    /// Adds calls of one assistant message. `merged`: they join calls before them that have no result yet.
    pub(super) fn call(&mut self, said: Cow<'a, str>, calls: Vec<Call<'a>>, merged: bool) {
        match self.turns.last_mut() {
            Some(Turn::Round(round)) if merged && round.results.is_empty() => round.calls.extend(calls),
            _ => {
                self.last_round = Some(self.turns.len());
                self.turns.push(Turn::Round(Round { said, name: None, calls, results: Vec::new() }));
            }
        }
    }

    /// Adds a result to the last round; to no round, it is a message of its own that no recorded request has.
    pub(super) fn result(&mut self, text: Cow<'a, str>) {
        match self.last_round.and_then(|at| self.turns.get_mut(at)) {
            Some(Turn::Round(round)) => round.results.push(text),
            _ => {
                self.reasons.insert(Reason::ToolResult);
                self.say(Role::Other, text);
            }
        }
    }

    /// Shows the deferred functions that a result refers to.
    pub(super) fn show_referred(&mut self) {
        let referred = std::mem::take(&mut self.referred);
        let (shown, deferred) = std::mem::take(&mut self.deferred).into_iter().partition(|f| referred.contains(f.name));
        self.tools.extend::<Vec<_>>(shown);
        self.deferred = deferred;
    }

    /// Whether a system text is part of it.
    pub(super) fn has_system(&self) -> bool {
        self.turns.iter().any(|turn| matches!(turn, Turn::Message(Message { role: Role::System, .. })))
    }
}
