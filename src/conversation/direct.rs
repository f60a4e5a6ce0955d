//! The form in which a framework's own layers should see a call: under the name of the tool that
//! will run.

use super::Conversation;
use super::gate::known_name;
use crate::wire::{Arguments, Named};

impl Conversation {
    /// Returns the host's name of the tool that a call runs and its arguments as JSON text, if the
    /// model wrote another name: `call_tool`, a name required by the wire, or one that the gate
    /// resolves. `None` if the call already uses the host's names, or does not resolve to a tool
    /// with an object as arguments.
    ///
    /// A framework applies its own rules (approvals, guardrails, stop conditions) to the name of a
    /// call. A host that replaces the call for these layers keeps the original for the next
    /// request. [`call`](Self::call) accepts both names.
    ///
    /// Judges and records nothing.
    #[must_use]
    pub fn direct(&self, name: &str, arguments: impl Into<Arguments>) -> Option<(String, String)> {
        let arguments = arguments.into();
        let (index, inner) = self.resolved(name, &arguments)?;
        let tool = self.engine.catalog().at(index)?;
        let (own, input) = (tool.name().as_str(), inner.own_input(tool));
        let is_object = input.value().is_ok_and(serde_json::Value::is_object);
        let differs = own != name || *input != inner;
        (differs && is_object).then(|| (own.to_owned(), input.text().into_owned()))
    }

    /// Whether [`direct`](Self::direct) returns `None` for every call of this name: it is the
    /// host's name of a tool that the model sees with its own parameters.
    #[must_use]
    pub fn is_direct(&self, name: &str) -> bool {
        let tool = match known_name(&self.engine, &self.bound.names, name) {
            Some(Named::Tool(index)) => self.engine.catalog().at(index),
            _ => None,
        };
        tool.is_some_and(|tool| tool.name().as_str() == name && !tool.input().differs())
    }
}
