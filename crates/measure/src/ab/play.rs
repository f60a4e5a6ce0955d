//! Plays one task in one arm, request by request.

use serde_json::{Map, Value};
use toolfold::conversation::{Conversation, Event, Outcome, ReplyKind, StartError, TurnError};
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::wire::{Capabilities, Wire};

use super::counter::Counter;
use super::driver::{Driver, Scripted};
use super::exchange::{Ask, ExchangeError, Usage, body_of, closing_message, user_message};
use super::row::{Calls, ROW_SCHEMA, Row, Tokens};
use super::tasks::{Task, TrueCall};
use super::turn::{Judge, Made, recorded};

/// The answer to a forwarded call without a recorded result.
pub const STUB: &str = "ok";
/// The maximum number of requests of a user's turn.
pub const MAX_REQUESTS_A_TURN: usize = 25;
/// The tokens of a request without tools and messages: OpenAI's constant.
const REQUEST: usize = 12;
/// The text with which an oracle ends its turn.
const CLOSING: &str = "Done.";

/// How a task is played.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Setting<'s> {
    /// The arm.
    pub arm: Arm,
    /// The wire.
    pub wire: Wire,
    /// The model; empty if none is named.
    pub model: &'s str,
    /// The system text of every request, if there is one.
    pub system: Option<&'s str>,
    /// What makes the calls: an oracle, or a model whose answers are supplied.
    pub driver: Driver,
    /// The capability table.
    pub capabilities: &'s Capabilities,
}

impl<'s> Setting<'s> {
    /// A setting without a system text.
    #[must_use]
    pub fn new(arm: Arm, wire: Wire, model: &'s str, driver: Driver, capabilities: &'s Capabilities) -> Self {
        Self { arm, wire, model, system: None, driver, capabilities }
    }
}

/// Why a play cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The model's message cannot be read.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The wire has no models.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// A result was not accepted, which is a bug of this crate.
    #[error(transparent)]
    Call(#[from] toolfold::conversation::CallError),
}

/// A task in one arm on the real conversation, with a host's names, gate and repairs.
#[derive(Debug)]
pub struct Play<'t> {
    task: &'t Task,
    setting: Setting<'t>,
    conversation: Conversation,
    scripted: Option<Scripted>,
    messages: Vec<Value>,
    /// The tokens of `messages`.
    sent: usize,
    turn: usize,
    requests_in_turn: usize,
    calls_made: usize,
    /// The calls of this turn, in order.
    made: Vec<Made>,
    last: Option<String>,
    row: Row,
}

impl<'t> Play<'t> {
    /// Starts the conversation with the task's first turn.
    ///
    /// # Errors
    /// Returns a [`StartError`] if the wire does not support the arm with these tools.
    pub fn start_task(
        task: &'t Task,
        engine: &Engine,
        setting: Setting<'t>,
        counter: &mut Counter,
    ) -> Result<Self, StartError> {
        let start = engine.conversation(setting.wire).model(setting.model).capabilities(setting.capabilities);
        let conversation = start.arm(setting.arm).start()?;
        let row = Row {
            schema: ROW_SCHEMA.to_owned(),
            task: task.id.clone(),
            arm: setting.arm.to_string(),
            taken: conversation.arm().to_string(),
            driver: setting.driver.map_or("model", |oracle| oracle.name()).to_owned(),
            tokens: Tokens { meter: counter.meter().to_string(), ..Tokens::default() },
            ..Row::default()
        };
        let mut play = Self {
            task,
            setting,
            conversation,
            scripted: setting.driver.map(Scripted::new),
            messages: Vec::new(),
            sent: setting.system.map_or(0, |text| counter.text_tokens(text)),
            turn: 0,
            requests_in_turn: 0,
            calls_made: 0,
            made: Vec::new(),
            last: None,
            row,
        };
        play.hear_user(counter);
        Ok(play)
    }

    /// Whether every turn was played.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.turn >= self.task.turns.len()
    }

    /// Returns the body of the next request.
    ///
    /// # Errors
    /// Returns [`PlayError::Exchange`] if the wire has no models.
    pub fn request_body(&mut self, more: &Map<String, Value>) -> Result<Value, PlayError> {
        let tools = self.conversation.tools();
        let Setting { model, system, .. } = self.setting;
        let ask = Ask { model, system, messages: &self.messages, tools: tools.json(), more };
        Ok(body_of(self.setting.wire, &ask)?)
    }

    /// The oracle's answer to the next request; a closing message if a model plays.
    #[must_use]
    pub fn scripted(&mut self) -> Value {
        let wire = self.setting.wire;
        let truths: &[TrueCall] = self.task.turns.get(self.turn).map_or(&[], |turn| &turn.calls);
        let next = self.scripted.as_mut().and_then(|own| own.next(&self.conversation, truths));
        let Some((name, arguments)) = next else { return closing_message(wire, CLOSING) };
        self.calls_made += 1;
        wire.assistant_message(&[(&format!("c{}", self.calls_made), &name, arguments)])
    }

    /// Processes a model's answer: its calls are judged, calls to run are answered as recorded, and
    /// the turn ends if there is no call.
    ///
    /// # Errors
    /// Returns a [`PlayError`] if the message cannot be read.
    pub fn take_answer(
        &mut self,
        message: &Value,
        usage: Option<Usage>,
        counter: &mut Counter,
    ) -> Result<(), PlayError> {
        self.count_exchange(message, usage, counter);
        let engine = self.conversation.engine().clone();
        let truths: &'t [TrueCall] = self.task.turns.get(self.turn).map_or(&[], |turn| &turn.calls);
        let mut turn = self.conversation.turn(message)?;
        let ends = turn.is_empty();
        let mut any_ran = false;
        for outcome in turn.outcomes() {
            self.row.calls.tally_outcome(outcome);
            if let Some(scripted) = &mut self.scripted {
                scripted.heard(outcome);
            }
            any_ran |= matches!(outcome, Outcome::Forward(_));
            if let Outcome::Reply(reply) = outcome
                && matches!(reply.answer.kind, ReplyKind::Invalid | ReplyKind::Shown | ReplyKind::Loop)
            {
                self.made.extend(reply.target.clone().map(|tool| Made { tool, ran: None }));
            }
        }
        for call in turn.runnable() {
            let made = Made { tool: call.target.to_string(), ran: Some(call.arguments) };
            turn.finish(&call.id, recorded(&engine, truths, &self.made, &made).unwrap_or(STUB))?;
            self.made.push(made);
        }
        let answers = turn.into_messages();
        self.row.extra_requests += usize::from(!ends && !any_ran);
        self.messages.push(message.clone());
        for answer in answers {
            self.sent += counter.message(&answer);
            self.messages.push(answer);
        }
        let too_many = self.requests_in_turn >= MAX_REQUESTS_A_TURN;
        self.row.cut += usize::from(!ends && too_many);
        if ends || too_many {
            let judge = Judge::new(&engine, self.task, truths, &self.made);
            judge.add(self.turn, &mut self.row.calls, &mut self.row.wrong);
            self.turn += 1;
            self.hear_user(counter);
        }
        Ok(())
    }

    /// The messages so far, in the wire's format.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// The row, once the play is done or cannot continue.
    #[must_use]
    pub fn finish_row(mut self, error: Option<String>) -> Row {
        self.row.error = error;
        for event in self.conversation.events() {
            if let Event::Forwarded { notes, .. } = event {
                self.row.calls.blind += usize::from(notes.blind);
            }
        }
        self.row
    }

    fn hear_user(&mut self, counter: &mut Counter) {
        let Some(turn) = self.task.turns.get(self.turn) else { return };
        self.row.calls.truths += turn.calls.len();
        self.requests_in_turn = 0;
        self.made.clear();
        if let Some(scripted) = &mut self.scripted {
            scripted.begin();
        }
        let message = user_message(self.setting.wire, &turn.user);
        self.sent += counter.message(&message);
        self.messages.push(message);
    }

    fn count_exchange(&mut self, message: &Value, usage: Option<Usage>, counter: &mut Counter) {
        let tools = self.conversation.tools();
        let array = counter.array_tokens(self.setting.wire, &tools);
        match &self.last {
            None => {
                self.row.tokens.first = array;
                self.row.digest = tools.digest().to_owned();
            }
            Some(last) => self.row.breaks += usize::from(last != tools.digest()),
        }
        self.last = Some(tools.digest().to_owned());
        let said = counter.message(message);
        self.row.tokens.input += REQUEST + array + self.sent;
        self.row.tokens.output += said;
        self.sent += said;
        self.row.requests += 1;
        self.requests_in_turn += 1;
        if let Some(usage) = usage {
            self.row.usage.get_or_insert_default().add(usage);
        }
    }
}

impl Calls {
    fn tally_outcome(&mut self, outcome: &Outcome) {
        self.made += 1;
        self.coerced += usize::from(!outcome.context().coerced.is_empty());
        match outcome {
            Outcome::Forward(_) => self.forwarded += 1,
            // There is no user to approve.
            Outcome::Confirm(_) | Outcome::Refuse(_) => self.refused += 1,
            Outcome::Reply(reply) => match reply.answer.kind {
                ReplyKind::Expanded => self.expanded += 1,
                ReplyKind::Invalid => self.repaired += 1,
                ReplyKind::Shown => self.shown += 1,
                ReplyKind::UnknownTool => self.unknown += 1,
                ReplyKind::Loop => self.loops += 1,
                _ => {}
            },
        }
    }
}
