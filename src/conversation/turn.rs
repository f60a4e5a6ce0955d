//! One assistant message: its calls, judged in order, and their answers.

use serde_json::{Value, json};

use super::outcome::{Confirm, Forward, Outcome, Resumed};
use super::{ApprovalId, CallError, CallId, Conversation, ToolResult};
use crate::wire::{Arguments, Message, Wire, WireError};

/// Why a message gives no turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The message has not the wire's shape.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// One of its calls cannot be judged.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// A call of a model, for hosts that do not pass on the wire's message.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    /// The provider's id; an empty one is replaced by one of the conversation's own.
    pub id: CallId,
    /// The name that the model wrote.
    pub name: String,
    /// The arguments, as the model wrote them or as a value.
    pub arguments: Arguments,
}

/// What became of one call of the message.
#[derive(Debug)]
struct Judged {
    /// The id under which the conversation remembers the call.
    own: CallId,
    /// The call as the model wrote it.
    call: ModelCall,
    /// The id of a JSON-RPC request, which may be a number.
    request: Option<Value>,
    outcome: Outcome,
    /// What the call is answered with; empty until its result is there.
    answers: Vec<Value>,
}

impl Judged {
    /// Whether the host is to run the call, which it knows by this id.
    fn runs(&self, id: &CallId) -> bool {
        matches!(&self.outcome, Outcome::Forward(forward) if forward.id == *id)
    }
}

/// The calls of one assistant message. They were judged when it was made, one by one and in order.
#[derive(Debug)]
pub struct Turn<'c> {
    conversation: &'c mut Conversation,
    calls: Vec<Judged>,
}

/// A [turn](Turn) put aside: the conversation is free meanwhile. [`Conversation::take_up_turn`] goes on with it.
#[derive(Debug)]
pub struct PausedTurn {
    calls: Vec<Judged>,
}

impl Conversation {
    /// Goes on with a turn of this conversation that was [paused](Turn::pause). Those of another conversation take no
    /// results here: their calls are not at this one's host.
    pub fn take_up_turn(&mut self, turn: PausedTurn) -> Turn<'_> {
        Turn { conversation: self, calls: turn.calls }
    }

    /// Reads and judges every call of an assistant message, in order. The message is a value or JSON text in the wire's own
    /// shape: the message (`openai-chat`, `anthropic`), the output items (`openai-responses`), the content (`gemini`), the
    /// request or requests (`mcp`). As text, arguments keep every digit. [`Message::keyed`] gives the message a key.
    ///
    /// A message that comes again is a resend: under the same key whenever it comes, without a key as long as one of its
    /// calls has not ended. Each call of a resend gets its answer, its stored result or its approval, or is forwarded again
    /// if its result was not reported. Every other message is new, whatever the ids of its calls.
    ///
    /// # Errors
    /// [`TurnError`] if the message is of another API, a whole response, or malformed: it names what it looks like, or the
    /// place. Nothing is judged then.
    pub fn turn<'m>(&mut self, message: impl Into<Message<'m>>) -> Result<Turn<'_>, TurnError> {
        let message = message.into();
        let calls = self.wire().calls(&message)?;
        let each = calls.into_iter().map(|call| (self.model_call(call.id, call.name, call.arguments), call.request));
        let (calls, requests) = each.unzip();
        Ok(self.judged_turn(calls, requests, message.key()))
    }

    /// The same for the calls of one message as a host has them that does not pass on the wire's message.
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
        Turn { conversation: self, calls: judged }
    }
}

impl Turn<'_> {
    /// What became of each call, in the model's order.
    pub fn outcomes(&self) -> impl ExactSizeIterator<Item = &Outcome> {
        self.calls.iter().map(|call| &call.outcome)
    }

    /// Whether the message had no call: the model has ended its turn.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The same turn, for a host that was told that there are calls (a stop reason such as `tool_use`).
    ///
    /// # Errors
    /// [`WireError::NoCall`] if there are none.
    pub fn require_calls(self) -> Result<Self, WireError> {
        if self.is_empty() { Err(WireError::NoCall { wire: self.conversation.wire() }) } else { Ok(self) }
    }

    /// Puts the turn aside, for hosts that cannot keep the conversation borrowed while tools run.
    #[must_use]
    pub fn pause(self) -> PausedTurn {
        PausedTurn { calls: self.calls }
    }

    /// The calls to run that have no result yet.
    #[must_use]
    pub fn runnable(&self) -> Vec<Forward> {
        let open = self.calls.iter().filter(|call| call.answers.is_empty());
        open.filter_map(|call| match &call.outcome {
            Outcome::Forward(forward) => Some(forward.clone()),
            _ => None,
        })
        .collect()
    }

    /// The calls that wait for a person.
    #[must_use]
    pub fn waiting(&self) -> Vec<Confirm> {
        let each = self.calls.iter().filter_map(|call| match &call.outcome {
            Outcome::Confirm(confirm) => Some(confirm.clone()),
            _ => None,
        });
        each.collect()
    }

    /// Takes the result of a call that was run.
    ///
    /// # Errors
    /// [`CallError::NotAtHost`] if no call of that id in this turn is to be run, or it has its result already.
    pub fn finish(&mut self, id: &CallId, result: impl Into<ToolResult>) -> Result<(), CallError> {
        let Some(call) = self.calls.iter_mut().find(|call| call.runs(id)) else {
            return Err(CallError::NotAtHost(id.clone()));
        };
        call.answers = vec![self.conversation.answer_part(&call.own, &result.into())?];
        Ok(())
    }

    /// Takes up a person's answer to a call that waits. What is approved is [runnable](Self::runnable) from now on. Where a
    /// call that is the same has used the approval, this one is judged anew: it usually waits for another approval.
    ///
    /// # Errors
    /// [`CallError::NotWaiting`] if nothing waits under this id.
    pub fn resume(&mut self, approval: &ApprovalId) -> Result<Resumed, CallError> {
        // The same call may have asked before, in another message: the one of this turn is to run.
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

    /// Judges the call anew that waits for an approval which a call that is the same has used.
    fn judge_anew(&mut self, approval: &ApprovalId) -> Option<(CallId, Resumed)> {
        let waiting = self.waiting_for(approval)?;
        let (own, arrived) = (waiting.own.clone(), self.conversation.arrived(&waiting.call));
        let resumed = match self.conversation.judge_known(&own, arrived)? {
            Outcome::Forward(forward) => Resumed::Run(forward),
            Outcome::Confirm(confirm) => Resumed::Waiting(confirm),
            Outcome::Refuse(refuse) => Resumed::Refused(refuse),
            Outcome::Reply(_) => return None,
        };
        Some((own, resumed))
    }

    /// What to append to the conversation behind the assistant message: one answer a call, in the model's order and the
    /// wire's shape, and behind them, under an arm that appends, one message with the tools that they open. A call that still waits is answered with its approval; a later call that is the same takes it up. A
    /// call that was to be run and has no result is answered as failed.
    #[must_use]
    pub fn into_messages(mut self) -> Vec<Value> {
        let missing: Vec<CallId> = self.runnable().into_iter().map(|forward| forward.id).collect();
        for id in missing {
            let result = ToolResult { content: "the tool gave no result".to_owned(), is_error: true };
            // It is runnable, so that it takes a result.
            drop(self.finish(&id, result));
        }
        self.wrapped(|_| true)
    }

    /// What can be appended already: whole messages with the calls that have their answer, in the model's order. Calls that
    /// are to be run or wait for a person are not in it.
    #[must_use]
    pub fn answered(&self) -> Vec<Value> {
        self.wrapped(|outcome| !matches!(outcome, Outcome::Confirm(_)))
    }

    fn wrapped(&self, wanted: impl Fn(&Outcome) -> bool) -> Vec<Value> {
        let wire = self.conversation.wire();
        let answers = self.calls.iter().filter(|call| wanted(&call.outcome)).flat_map(|call| {
            call.answers.iter().map(|answer| match (&call.request, wire) {
                (Some(id), Wire::Mcp) => json!({"jsonrpc": "2.0", "id": id, "result": answer}),
                _ => answer.clone(),
            })
        });
        let mut messages = wire.wrapped(answers.collect());
        let mut additions: Vec<Value> = Vec::new();
        let outcomes = self.calls.iter().map(|call| &call.outcome).filter(|outcome| wanted(outcome));
        for addition in outcomes.flat_map(Outcome::additions) {
            // Conversations shared by models are answered whole each time.
            if !additions.contains(addition) {
                additions.push(addition.clone());
            }
        }
        messages.extend(wire.appended(&additions));
        messages
    }
}
