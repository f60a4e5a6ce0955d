//! Conversations for tests, with calls as values.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;
use toolfold::conversation::{CallId, Conversation, Outcome, ReplyKind, Resumed};
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::wire::Wire;

/// A call as a model makes it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

impl Call {
    pub(crate) fn new(id: &str, name: &str, arguments: Value) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), arguments }
    }

    /// A call with a unique id.
    pub(crate) fn fresh(name: &str, arguments: Value) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self::new(&format!("fresh-{}", NEXT.fetch_add(1, Ordering::Relaxed)), name, arguments)
    }

    /// The same call with another id.
    pub(crate) fn again(&self) -> Self {
        Self::fresh(&self.name, self.arguments.clone())
    }

    pub(crate) fn id(&self) -> CallId {
        CallId::from(&self.id)
    }
}

pub(crate) trait Talk {
    /// A conversation on a wire, with the engine's arm.
    fn talk_on(&self, wire: Wire) -> Conversation;

    /// A conversation with the engine's arm: on Chat Completions, or, if that cannot carry the arm,
    /// on the next wire that can.
    fn talk(&self) -> Conversation;

    /// The same with another arm.
    fn talk_as(&self, wire: Wire, arm: Arm) -> Conversation;
}

impl Talk for Engine {
    fn talk(&self) -> Conversation {
        let able = |wire: &Wire| wire.supports(self.arm()).is_ok();
        self.talk_on(Wire::ALL.into_iter().find(able).unwrap())
    }

    fn talk_on(&self, wire: Wire) -> Conversation {
        toolfold_testing::timed();
        self.conversation(wire).start().unwrap()
    }

    fn talk_as(&self, wire: Wire, arm: Arm) -> Conversation {
        self.conversation(wire).arm(arm).start().unwrap()
    }
}

pub(crate) trait Dispatch {
    fn dispatch(&mut self, call: &Call) -> Outcome;

    /// The same; a call that is only shown hidden parameters is repeated.
    fn dispatch_seen(&mut self, call: &Call) -> Outcome {
        match self.dispatch(call) {
            Outcome::Reply(reply) if reply.answer.kind == ReplyKind::Shown => self.dispatch(&call.again()),
            other => other,
        }
    }

    /// Resumes an approval as an outcome.
    fn take_up(&mut self, approval: &str) -> Option<Outcome>;
}

impl Dispatch for Conversation {
    fn dispatch(&mut self, call: &Call) -> Outcome {
        self.call(&call.id, &call.name, &call.arguments).unwrap()
    }

    fn take_up(&mut self, approval: &str) -> Option<Outcome> {
        match self.resume(&approval.into()).ok()? {
            Resumed::Run(forward) => Some(Outcome::Forward(forward)),
            Resumed::Answered(reply) => Some(Outcome::Reply(reply)),
            Resumed::Waiting(confirm) => Some(Outcome::Confirm(confirm)),
            Resumed::Refused(refuse) => Some(Outcome::Refuse(refuse)),
        }
    }
}
