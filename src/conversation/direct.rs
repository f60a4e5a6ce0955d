//! A call as a framework's own layers should see it: by the name of the tool that would run.

use super::Conversation;
use crate::wire::Arguments;

impl Conversation {
    /// The tool that a call runs, by the name that the host gave it, and its arguments as JSON text, where the model wrote
    /// another name: `call_tool`, a name that the wire required, or one that the gate resolves. `None` where the call already
    /// has the host's name, or resolves to no tool with an object of arguments.
    ///
    /// A framework applies its own rules (approvals, guardrails, stop conditions) to the name of a call. A host that replaces
    /// the call before those layers see it keeps what the model wrote for the next request. [`call`](Self::call) takes both
    /// names.
    ///
    /// Nothing is judged or recorded.
    #[must_use]
    pub fn direct(&self, name: &str, arguments: impl Into<Arguments>) -> Option<(String, String)> {
        let arguments = arguments.into();
        let (index, inner) = self.resolved(name, &arguments)?;
        let own = self.engine.catalog().at(index)?.name().as_str();
        let is_object = inner.value().is_ok_and(serde_json::Value::is_object);
        (own != name && is_object).then(|| (own.to_owned(), inner.text().into_owned()))
    }
}
