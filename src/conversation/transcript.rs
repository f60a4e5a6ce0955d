//! Recreates a conversation from a provider's message array alone, for an agent that stores no
//! state of toolfold's.

use serde_json::Value;

use super::outcome::Outcome;
use super::turn::TurnError;
use super::unread::Unread;
use super::{CallId, Conversation, Start};
use crate::profile::Delivery;
use crate::wire::{Arguments, Step, StepResult, WireCall};

/// A step of a host's own history, for hosts without messages of a wire.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PastStep {
    /// The model made a call.
    Call {
        /// The call.
        id: CallId,
        /// The name that the model wrote.
        name: String,
        /// The arguments as the model wrote them.
        arguments: Arguments,
    },
    /// A call was answered, and the model still sees the whole answer.
    Result {
        /// The call.
        id: CallId,
        /// Whether the tool succeeded.
        ok: bool,
    },
}

impl From<PastStep> for Step {
    fn from(step: PastStep) -> Self {
        match step {
            PastStep::Call { id, name, arguments } => {
                let id = Some(id.as_str().to_owned()).filter(|id| !id.is_empty());
                Self::Call(WireCall { id, name: Some(name), arguments, request: None, place: None })
            }
            PastStep::Result { id, ok } => {
                Self::Result(StepResult { id: Some(id.as_str().to_owned()), name: None, ok, text: String::new() })
            }
        }
    }
}

impl Start<'_> {
    /// Starts the conversation whose model made the calls of a message array, in order.
    ///
    /// Every call passes through the gate again, so `expand_tools` and answers with a schema open
    /// the same tools as before. Nothing is run; a result in the array ends its call. `messages` is
    /// the array, or the request that contains it (`messages`, `input`, `contents`); for `mcp`, the
    /// JSON-RPC messages of both directions. With the same engine, wire, model and arm, the
    /// conversation has the same open tools and the same array digest as the original. Tools that
    /// were opened by calls missing from the array (dropped by a compaction) are closed. If the arm
    /// appends, exactly the tools that the messages define are open.
    ///
    /// Policy judges each call by its current rules, but writes no record and requests no approval
    /// again. A call that waits for approval waits again if the conversation has the same id: its
    /// approval is found in the store.
    ///
    /// # Errors
    /// As for [`start`](Self::start); and the place where the array does not have the wire's shape.
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

    /// Like [`from_transcript`](Self::from_transcript), for a host without messages of a wire:
    /// takes the calls and answers that the model still sees, in order. If the arm appends, the
    /// tools that an answer opened count as visible with it.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    pub fn from_steps(self, steps: impl IntoIterator<Item = PastStep>) -> Result<Conversation, TranscriptError> {
        let mut conversation = self.start()?;
        conversation.recall(steps.into_iter().map(Step::from).collect());
        Ok(conversation)
    }
}

/// Why a message array cannot be turned into a conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// The conversation cannot start.
    #[error(transparent)]
    Start(#[from] super::StartError),
    /// The messages do not have the wire's shape.
    #[error(transparent)]
    Turn(#[from] TurnError),
}

impl Conversation {
    fn recall(&mut self, steps: Vec<Step>) {
        self.recalling = true;
        self.replay_steps(steps);
        (self.recalling, self.unread) = (false, None);
        // The next call may be the last one of the transcript.
        self.ended = false;
    }

    fn replay_steps(&mut self, steps: Vec<Step>) {
        // Calls at the host: the call, its label, and the name that the model wrote.
        let mut open: Vec<(CallId, CallId, String)> = Vec::new();
        for step in steps {
            match step {
                Step::Call(call) => {
                    // Calls without a result between them belong to one message.
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
                        self.finished(&own, ok.into(), None);
                    }
                }
            }
        }
    }
}
