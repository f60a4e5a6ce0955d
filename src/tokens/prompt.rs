//! A request in a form that every meter reads, independent of its API.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::reason::Reason;
use super::render::Function;

/// A parsed request.
#[derive(Debug, Default)]
pub(super) struct Prompt<'a> {
    /// The system texts, messages, calls and results, in order.
    pub(super) turns: Vec<Turn<'a>>,
    /// The offered functions.
    pub(super) tools: Vec<Function<'a>>,
    /// Functions that are declared but hidden from the model until something refers to them.
    pub(super) deferred: Vec<Function<'a>>,
    /// The names that results refer to, whose functions are therefore shown.
    pub(super) referred: BTreeSet<&'a str>,
    /// Whether the functions came in the old `functions`.
    pub(super) bare_functions: bool,
    /// The tool choice of the request.
    pub(super) choice: Choice<'a>,
    /// The required structure of the answer.
    pub(super) format: Option<Format<'a>>,
    /// The thinking mode of the request.
    pub(super) thinking: Thinking,
    /// Constructs of the request that no recorded request covers.
    pub(super) reasons: BTreeSet<Reason>,
    /// Further texts that the model reads, such as the names of namespaces.
    pub(super) beside: Vec<Cow<'a, str>>,
    /// The index of the last round.
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
    /// The name of the author, if given.
    pub(super) name: Option<&'a str>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The system, or a developer.
    System,
    User,
    Assistant,
    /// A tool whose call is not in the request, or an unknown role.
    Other,
}

/// Calls of one assistant message, and their results.
#[derive(Debug, Default)]
pub(super) struct Round<'a> {
    /// The assistant's text beside them.
    pub(super) said: Cow<'a, str>,
    /// The name of their message, if given.
    pub(super) name: Option<&'a str>,
    pub(super) calls: Vec<Call<'a>>,
    /// Results in order. There may be fewer than calls.
    pub(super) results: Vec<Cow<'a, str>>,
}

/// A call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    /// The arguments as JSON text, as sent.
    pub(super) arguments: Cow<'a, str>,
    /// Whether a Responses item was sent back with `status: "completed"`.
    pub(super) completed: bool,
}

/// A request's rule for calling functions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Choice<'a> {
    /// The model decides.
    #[default]
    Auto,
    /// No function may be called.
    Never,
    /// A function must be called.
    Required,
    /// This function must be called.
    Named(&'a str),
}

/// The required structure of the answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format<'a> {
    pub(super) name: &'a str,
    pub(super) description: Option<&'a str>,
    pub(super) schema: Option<&'a Value>,
}

/// The thinking mode of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Not specified.
    #[default]
    Off,
    /// With a budget of tokens.
    Budget,
    /// Adaptive.
    Adaptive,
}

impl<'a> Prompt<'a> {
    /// Adds a text message.
    pub(super) fn say(&mut self, role: Role, text: impl Into<Cow<'a, str>>) {
        self.turns.push(Turn::Message(Message { role, text: text.into(), name: None }));
    }

    /// Adds calls of one assistant message. `merged`: they join preceding calls without results.
    pub(super) fn add_calls(&mut self, said: Cow<'a, str>, calls: Vec<Call<'a>>, merged: bool) {
        match self.turns.last_mut() {
            Some(Turn::Round(round)) if merged && round.results.is_empty() => round.calls.extend(calls),
            _ => {
                self.last_round = Some(self.turns.len());
                self.turns.push(Turn::Round(Round { said, name: None, calls, results: Vec::new() }));
            }
        }
    }

    /// Adds a result to the last round. Without a round, the result is a separate message, which no
    /// recorded request has.
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

    /// Whether the request contains a system text.
    pub(super) fn has_system(&self) -> bool {
        self.turns.iter().any(|turn| matches!(turn, Turn::Message(Message { role: Role::System, .. })))
    }
}
