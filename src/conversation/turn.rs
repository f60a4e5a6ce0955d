//! One assistant message: its calls, judged in order, and their answers.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::gate::accepted_name;
use super::outcome::{Confirm, Forward, Outcome, Resumed};
use super::repair::{Reading, read_arguments};
use super::{ApprovalId, CallError, CallId, Conversation, ToolResult};
use crate::wire::{Arguments, HistoryCall, Message, WireCall, WireError};

/// Why a message cannot be turned into a turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The message does not have the wire's shape.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A call cannot be judged.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// A call of a model, for hosts that do not pass on the wire's message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelCall {
    /// The provider's id; an empty one is replaced by a generated one.
    pub id: CallId,
    /// The name that the model wrote.
    pub name: String,
    /// The arguments, as JSON text or as a value.
    pub arguments: Arguments,
}

impl ModelCall {
    /// A call as the model made it.
    #[must_use]
    pub fn new(id: impl Into<CallId>, name: impl Into<String>, arguments: impl Into<Arguments>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}

/// A judged call of the message.
#[derive(Debug)]
struct Judged {
    /// The id under which the conversation remembers the call.
    own: CallId,
    /// The call as the model wrote it.
    call: ModelCall,
    /// The id of a JSON-RPC request, which may be a number.
    request: Option<Value>,
    outcome: Outcome,
    /// The answers to the call; empty until its result is known.
    answers: Vec<Value>,
}

impl Judged {
    /// Whether the host must run the call that it knows by this id.
    fn runs(&self, id: &CallId) -> bool {
        matches!(&self.outcome, Outcome::Forward(forward) if forward.id == *id)
    }
}

/// The calls of one assistant message, which were judged in order when the turn was created.
#[derive(Debug)]
pub struct Turn<'c> {
    conversation: &'c mut Conversation,
    calls: Vec<Judged>,
    /// The message for the history; `None` if the turn was created from calls.
    message: Option<Box<RawValue>>,
}

/// A suspended [turn](Turn), which does not borrow the conversation. [`Conversation::take_up_turn`]
/// resumes it.
#[derive(Debug)]
pub struct PausedTurn {
    calls: Vec<Judged>,
    message: Option<Box<RawValue>>,
}

impl Conversation {
    /// Resumes a turn of this conversation that was [suspended](Turn::pause). A turn of another
    /// conversation accepts no results here, because its calls are not at this conversation's host.
    pub fn take_up_turn(&mut self, turn: PausedTurn) -> Turn<'_> {
        Turn { conversation: self, calls: turn.calls, message: turn.message }
    }

    /// Reads and judges every call of an assistant message, in order. The message is a value or
    /// JSON text in the wire's own shape: the message (`openai-chat`, `anthropic`,
    /// `bedrock-converse`), the output items (`openai-responses`), the content (`gemini`), the
    /// request or requests (`mcp`). Text preserves every digit of the arguments. [`Message::keyed`]
    /// gives the message a key.
    ///
    /// A repeated message is a resend: at any time if it has the same key, without a key as long as
    /// one of its calls has not ended. Each call of a resend gets its answer, its stored result or
    /// its approval, or is forwarded again if its result was not reported. Every other message is
    /// new, whatever the ids of its calls.
    ///
    /// # Errors
    /// [`TurnError`] if the message is of another API, a whole response, or malformed, with what it
    /// resembles or the place of the error. Nothing is judged then.
    pub fn turn<'m>(&mut self, message: impl Into<Message<'m>>) -> Result<Turn<'_>, TurnError> {
        let message = message.into();
        let mut received = self.wire().calls(&message)?;
        self.wire().accept_ids(&mut received);
        let (mut calls, mut requests) = (Vec::new(), Vec::new());
        for call in received.clone() {
            calls.push(self.model_call(call.id, call.name, call.arguments));
            requests.push(call.request);
        }
        let mut turn = self.judged_turn(calls, requests, message.key());
        turn.message = turn.for_history(&message, &received);
        Ok(turn)
    }

    /// Like [`turn`](Self::turn), for a host that has the calls of one message but not the wire's
    /// message.
    pub fn calls(&mut self, calls: impl IntoIterator<Item = ModelCall>, key: Option<&str>) -> Turn<'_> {
        let calls: Vec<ModelCall> = calls.into_iter().collect();
        let requests = vec![None; calls.len()];
        self.judged_turn(calls, requests, key)
    }

    fn judged_turn(&mut self, calls: Vec<ModelCall>, requests: Vec<Option<Value>>, key: Option<&str>) -> Turn<'_> {
        let arrived = calls.iter().map(|call| self.arrived(call)).collect();
        let mut judged = Vec::with_capacity(calls.len());
        for (((own, outcome), call), request) in self.judge_message(arrived, key).into_iter().zip(calls).zip(requests) {
            judged.push(Judged { own, call, request, answers: outcome.answers(), outcome });
        }
        Turn { conversation: self, calls: judged, message: None }
    }
}

impl Turn<'_> {
    /// The assistant message for the history, as JSON text. The messages after it answer its calls.
    ///
    /// It is the given message, unchanged to the byte, unless the provider would refuse it in later
    /// requests: missing ids are filled in, ids that repeat in the message or that the wire refuses
    /// are renamed, arguments that are not a JSON object are replaced by their only reading or by
    /// `{}`, and names are written in the wire's alphabet. `None` if the turn was created from
    /// [calls](Conversation::calls) without a message.
    #[must_use]
    pub fn message(&self) -> Option<&RawValue> {
        self.message.as_deref()
    }

    fn for_history(&self, message: &Message<'_>, received: &[WireCall]) -> Option<Box<RawValue>> {
        let mut parts = Vec::with_capacity(received.len());
        for (call, Judged { own, call: ModelCall { name, arguments, .. }, .. }) in received.iter().zip(&self.calls) {
            if let Some(place) = &call.place {
                let (id, accepted) = (self.conversation.label_of(own), accepted_name(self.conversation, name));
                parts.push((place, id, name, accepted, object_text(arguments)));
            }
        }
        let mut calls = Vec::with_capacity(parts.len());
        for (place, id, name, accepted, arguments) in &parts {
            calls.push(HistoryCall { place, id: id.as_str(), name: (name, accepted), arguments });
        }
        self.conversation.wire().message_for_history(message, &calls)
    }

    /// The current outcome of each call, in the model's order.
    pub fn outcomes(&self) -> impl ExactSizeIterator<Item = &Outcome> {
        self.calls.iter().map(|call| &call.outcome)
    }

    /// Whether the message had no calls, so that the model has ended its turn.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Suspends the turn, for hosts that cannot borrow the conversation while tools run.
    #[must_use]
    pub fn pause(self) -> PausedTurn {
        PausedTurn { calls: self.calls, message: self.message }
    }

    /// The calls to run that have no result yet.
    #[must_use]
    pub fn runnable(&self) -> Vec<Forward> {
        let mut runnable = Vec::new();
        for call in &self.calls {
            if let (Outcome::Forward(forward), true) = (&call.outcome, call.answers.is_empty()) {
                runnable.push(forward.clone());
            }
        }
        runnable
    }

    /// The calls that wait for approval.
    #[must_use]
    pub fn waiting(&self) -> Vec<Confirm> {
        let mut waiting = Vec::new();
        for call in &self.calls {
            if let Outcome::Confirm(confirm) = &call.outcome {
                waiting.push(confirm.clone());
            }
        }
        waiting
    }

    /// Accepts the result of a call that was run.
    ///
    /// # Errors
    /// [`CallError::NotAtHost`] if no call with this id in this turn is to be run, or it already
    /// has its result.
    pub fn finish(&mut self, id: &CallId, result: impl Into<ToolResult>) -> Result<(), CallError> {
        let Some(call) = self.calls.iter_mut().find(|call| call.runs(id)) else {
            return Err(CallError::NotAtHost(id.clone()));
        };
        call.answers = vec![self.conversation.answer_part(&call.own, &result.into())?];
        Ok(())
    }

    /// Resumes a call that waits for approval. An approved call is [runnable](Self::runnable) from
    /// then on. If an identical call has used the approval, this one is judged again; usually it
    /// then waits for another approval.
    ///
    /// # Errors
    /// [`CallError::NotWaiting`] if no call waits for this approval.
    pub fn resume(&mut self, approval: &ApprovalId) -> Result<Resumed, CallError> {
        // If an identical call of another message requested this approval, the call of this turn
        // runs.
        let mine = self.waiting_for(approval).map(|call| call.own.clone());
        let (own, resumed) = match self.conversation.resume_call(approval, mine.as_ref()) {
            Err(why @ CallError::NotWaiting(_)) => self.judge_anew(approval).ok_or(why)?,
            other => other?,
        };
        let outcome = Outcome::from(resumed.clone());
        if let Some(call) = self.calls.iter_mut().find(|call| call.own == own) {
            call.answers = outcome.answers();
            call.outcome = outcome;
        }
        Ok(resumed)
    }

    /// The first call of the message that waits for an approval.
    fn waiting_for(&self, approval: &ApprovalId) -> Option<&Judged> {
        self.calls.iter().find(|call| matches!(&call.outcome, Outcome::Confirm(own) if own.approval == *approval))
    }

    /// Judges a call again whose approval was used by an identical call.
    fn judge_anew(&mut self, approval: &ApprovalId) -> Option<(CallId, Resumed)> {
        let waiting = self.waiting_for(approval)?;
        let (own, arrived) = (waiting.own.clone(), self.conversation.arrived(&waiting.call));
        let resumed = match self.conversation.judge_known(&own, arrived)? {
            Outcome::Forward(forward) => Resumed::Run(forward),
            Outcome::Confirm(confirm) => Resumed::Waiting(confirm),
            Outcome::Refuse(refuse) => Resumed::Refused(refuse),
            Outcome::Reply(reply) => Resumed::Answered(reply),
        };
        Some((own, resumed))
    }

    /// The messages to append after the assistant message: one answer per call, in the model's
    /// order and the wire's shape, followed, if the arm appends, by one message with the newly
    /// opened tools. A call that still waits is answered with its approval, which a later identical
    /// call uses. A call to run without a result is answered as failed.
    #[must_use]
    pub fn into_messages(mut self) -> Vec<Value> {
        let missing: Vec<CallId> = self.runnable().into_iter().map(|forward| forward.id).collect();
        for id in missing {
            let result = ToolResult { content: "the tool returned no result".to_owned(), is_error: true };
            // The call is runnable, so it accepts a result.
            drop(self.finish(&id, result));
        }
        self.wrapped(|_| true)
    }

    /// The messages that can already be appended: whole messages with the calls that have their
    /// answer, in the model's order. Calls to run and calls that wait for approval are omitted.
    #[must_use]
    pub fn answered(&self) -> Vec<Value> {
        self.wrapped(|outcome| !matches!(outcome, Outcome::Confirm(_)))
    }

    /// The same answers, each as the wire's message, item, block or part.
    #[must_use]
    pub fn answer_parts(&self) -> Vec<Value> {
        let known = self.calls.iter().filter(|call| !matches!(call.outcome, Outcome::Confirm(_)));
        known.flat_map(|call| call.answers.iter().cloned()).collect()
    }

    fn wrapped(&self, wanted: impl Fn(&Outcome) -> bool) -> Vec<Value> {
        let wire = self.conversation.wire();
        let (mut answers, mut additions) = (Vec::new(), Vec::new());
        for call in self.calls.iter().filter(|call| wanted(&call.outcome)) {
            for answer in &call.answers {
                answers.push(match &call.request {
                    Some(id) => json!({"jsonrpc": "2.0", "id": id, "result": answer}),
                    None => answer.clone(),
                });
            }
            for addition in call.outcome.additions() {
                // In a shared conversation every answer contains the definitions.
                if !additions.contains(addition) {
                    additions.push(addition.clone());
                }
            }
        }
        let mut messages = wire.wrapped(answers);
        messages.extend(wire.appended(&additions));
        messages
    }
}

/// The arguments object of a call: its only reading, or an empty one.
fn object_text(arguments: &Arguments) -> String {
    let text = arguments.text();
    if arguments.value().is_ok_and(Value::is_object) {
        return text.into_owned();
    }
    match read_arguments(&text, false) {
        Reading::Object { text, .. } => text,
        Reading::Several(_) | Reading::Unclear => "{}".to_owned(),
    }
}
