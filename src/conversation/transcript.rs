//! A conversation made from a provider's message array alone, for an agent that keeps no state of ours.

use serde_json::Value;

use super::outcome::Outcome;
use super::turn::TurnError;
use super::unread::Unread;
use super::{CallId, Conversation, Start};
use crate::profile::Delivery;
use crate::wire::{Arguments, Step, StepResult, WireCall};

/// One thing that a host's own history tells, for hosts whose messages are of no wire.
#[derive(Debug, Clone, PartialEq)]
pub enum PastStep {
    /// The model called.
    Call {
        /// The call.
        id: CallId,
        /// The name by which the model made it.
        name: String,
        /// The arguments as the model wrote them.
        arguments: Arguments,
    },
    /// A call was answered, and the model still sees the whole answer.
    Result {
        /// The call.
        id: CallId,
        /// Whether the tool did its work.
        ok: bool,
    },
}

impl From<PastStep> for Step {
    fn from(step: PastStep) -> Self {
        match step {
            PastStep::Call { id, name, arguments } => {
                let id = Some(id.as_str().to_owned()).filter(|id| !id.is_empty());
                Self::Call(WireCall { id, name: Some(name), arguments, request: None })
            }
            PastStep::Result { id, ok } => {
                Self::Result(StepResult { id: Some(id.as_str().to_owned()), name: None, ok, text: String::new() })
            }
        }
    }
}

impl Start<'_> {
    /// Begins the conversation whose model made the calls of a message array, in order.
    ///
    /// Every call goes through the gate again, which is what opened things the first time: `expand_tools`, and answers that
    /// brought a schema. Nothing is run; a result in the array finishes its call. `messages` is the array, or the request
    /// that holds it (`messages`, `input`, `contents`); for `mcp` the JSON-RPC messages of both directions. With the same
    /// engine, wire, model and arm it has opened the same, and its array has the same digest, as the one that was there.
    /// What was opened by calls that are no longer in the array (dropped by a compaction) is closed again. Under an arm that
    /// appends, exactly the tools are open that messages of the array define.
    ///
    /// Policy judges each call as it would now, but writes no record and asks nobody a second time. A call that waits for a
    /// person waits again if the conversation has the id it had: its approval is found in the store.
    ///
    /// # Errors
    /// As [`start`](Self::start); and the place where the array has not the wire's shape.
    pub fn from_transcript(self, messages: &Value) -> Result<Conversation, TranscriptError> {
        let mut conversation = self.start()?;
        let steps = conversation.wire().steps(messages).map_err(TurnError::from)?;
        let changed = conversation.changed_tools(&steps);
        conversation.recall(steps);
        if conversation.arm().delivery() == Delivery::Append {
            conversation.drop_undefined(&changed);
        }
        Ok(conversation)
    }

    /// The same for a host whose messages are of no wire: the calls and answers that the model still sees, in order. Under an
    /// arm that appends, the tools that an answer opened count as seen with it.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn from_steps(self, steps: impl IntoIterator<Item = PastStep>) -> Result<Conversation, TranscriptError> {
        let mut conversation = self.start()?;
        conversation.recall(steps.into_iter().map(Step::from).collect());
        Ok(conversation)
    }
}

/// Why a message array gives no conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// The conversation does not start.
    #[error(transparent)]
    Start(#[from] super::StartError),
    /// The messages have not the wire's shape.
    #[error(transparent)]
    Turn(#[from] TurnError),
}

impl Conversation {
    fn recall(&mut self, steps: Vec<Step>) {
        self.recalling = true;
        self.replay_steps(steps);
        (self.recalling, self.unread) = (false, None);
        // What is judged next may be a call that the transcript ends with.
        self.ended = false;
    }

    fn replay_steps(&mut self, steps: Vec<Step>) {
        // Calls at the host: the call, its label, and the name it was made by.
        let mut open: Vec<(CallId, CallId, String)> = Vec::new();
        for step in steps {
            match step {
                Step::Call(call) => {
                    // Calls without a result between them are of one message.
                    let message = match self.unread {
                        Some(Unread::Message(message)) => message,
                        _ => self.new_message(),
                    };
                    self.unread = Some(Unread::Message(message));
                    let arrived = self.arrived(&self.model_call(call.id, call.name, call.arguments));
                    if let (own, Outcome::Forward(forward)) = self.recall_call(arrived, message) {
                        let label = self.label_of(&own);
                        open.push((own, label, forward.name));
                    }
                }
                Step::Changed(_) => {}
                Step::Result(StepResult { id, name, ok, .. }) => {
                    self.unread = None;
                    let place = open.iter().position(|(_, label, called)| match (&id, &name) {
                        (Some(id), _) => *label == id.as_str(),
                        (None, Some(name)) => called == name,
                        (None, None) => false,
                    });
                    if let Some((own, ..)) = place.map(|at| open.remove(at)) {
                        self.finished(&own, ok, None);
                    }
                }
            }
        }
    }
}
