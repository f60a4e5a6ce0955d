//! The tools to send, as the wire's array and in neutral form.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::bound::{Bound, ToolArray};
use crate::engine::Engine;
use crate::profile::Plan;
use crate::wire::{RenderedFacts, ToolEntry};

/// The tools that a model is shown now. Both forms come from one source.
#[derive(Debug, Clone)]
pub struct Tools {
    array: Arc<ToolArray>,
    engine: Engine,
    bound: Arc<Bound>,
    plan: Plan,
}

impl Tools {
    pub(super) fn new(array: Arc<ToolArray>, engine: Engine, bound: Arc<Bound>, plan: Plan) -> Self {
        Self { array, engine, bound, plan }
    }

    /// The array to send, as compact JSON: what the request's `tools` holds, for Gemini one entry with every function, for
    /// MCP the `tools` of a `tools/list` result. The same bytes as long as nothing changes it.
    #[must_use]
    pub fn json(&self) -> &str {
        self.array.text()
    }

    /// The same array as a value.
    #[must_use]
    pub fn value(&self) -> Value {
        // The text is JSON that this crate wrote; were it ever not, a request without tools fails visibly at the provider.
        serde_json::from_str(self.json()).unwrap_or(Value::Null)
    }

    /// The same array in a client library's own types.
    ///
    /// # Errors
    /// That library's, if its types have no room for a part of the array.
    pub fn to<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.json())
    }

    /// SHA-256 of the array, in hexadecimal digits: its identity.
    #[must_use]
    pub fn digest(&self) -> &str {
        self.array.digest()
    }

    /// The same tools in neutral form and the same order, for hosts that write requests themselves. Entries that are not the
    /// catalogue's (tools that a provider runs) have no neutral form; they stand in the array only.
    #[must_use]
    pub fn entries(&self) -> Vec<ToolEntry> {
        self.bound.tool_entries(&self.engine, &self.plan)
    }

    /// The facts about the array that a provider's limits refer to.
    #[must_use]
    pub fn facts(&self) -> RenderedFacts {
        self.bound.facts(&self.engine, &self.plan, &self.array)
    }
}

impl PartialEq for Tools {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl PartialEq<str> for Tools {
    fn eq(&self, other: &str) -> bool {
        self.json() == other
    }
}
