//! A session made from a provider's message array alone, for an agent that keeps no state of ours.

use serde_json::Value;

use super::input::{Step, steps};
use super::{Wire, WireError};
use crate::engine::{Engine, Outcome, Session, SessionOptions};

impl Engine {
    /// The session whose model made the calls of a message array, in order.
    ///
    /// Every call goes through the gate again, which is what opened things the first time: `expand_tools`, and answers that
    /// brought a schema. Nothing is run; a result in the array finishes its call. `messages` is the array, or the request
    /// that holds it (`messages`, `input`, `contents`); for `mcp` the JSON-RPC messages of both directions. With the same
    /// engine and options the session has opened the same, and its array has the same digest, as the one that was there.
    /// What was opened by calls that are no longer in the array (dropped by a compaction) is closed again.
    ///
    /// Policy judges each call as it would now, but writes no record and asks nobody a second time. A call that waits for a
    /// person waits again if the options give the session the id it had: its approval is found in the store.
    ///
    /// # Errors
    /// [`WireError::Shape`] names the place where the array has not the wire's shape; [`WireError::Arm`] if the wire cannot
    /// carry the session's arm.
    pub fn from_transcript(&self, wire: Wire, messages: &Value, options: SessionOptions) -> Result<Session, WireError> {
        wire.supports(self.chosen_arm(&options))?;
        let steps = steps(self, wire, messages)?;
        let mut session = self.session_with(options);
        session.recall(|session| take(session, steps));
        Ok(session)
    }
}

fn take(session: &mut Session, steps: Vec<Step>) {
    // Calls at the host: the call's id and the name it was made by.
    let mut open: Vec<(String, String)> = Vec::new();
    for step in steps {
        match step {
            Step::Call(call) => {
                if let Outcome::Forward(forward) = session.dispatch(&call) {
                    open.push((forward.id, call.name));
                }
            }
            Step::Result { id, name, ok } => {
                let same = |(own, called): &&(String, String)| match (&id, &name) {
                    (Some(id), _) => own == id,
                    (None, Some(name)) => called == name,
                    (None, None) => false,
                };
                let place = open.iter().position(|one| same(&one));
                if let Some((id, _)) = place.map(|at| open.remove(at)) {
                    session.finished(&id, ok);
                }
            }
        }
    }
}
