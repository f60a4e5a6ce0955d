//! The tools to send, as the wire's array and in neutral form.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::bound::{Bound, ToolArray};
use crate::engine::Engine;
use crate::profile::Plan;
use crate::wire::{RenderedFacts, ToolEntry};

/// The tools that a model is currently shown. Both forms come from one source.
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

    /// The array to send, as compact JSON: the value of the request's `tools`. For Gemini it is one
    /// entry with every function, for MCP the `tools` of a `tools/list` result. The bytes stay the
    /// same until the array changes.
    #[must_use]
    pub fn json(&self) -> &str {
        self.array.text()
    }

    /// The same array as a value.
    #[must_use]
    pub fn value(&self) -> Value {
        // The text is JSON that this crate wrote. Otherwise, the provider would visibly reject a
        // request without tools.
        serde_json::from_str(self.json()).unwrap_or(Value::Null)
    }

    /// The same array in a client library's own types.
    ///
    /// # Errors
    /// The library's error if its types cannot represent the array.
    pub fn to<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.json())
    }

    /// The SHA-256 of the array in hexadecimal digits, which identifies it.
    #[must_use]
    pub fn digest(&self) -> &str {
        self.array.digest()
    }

    /// The same tools in neutral form and order, for hosts that write requests themselves. Omits
    /// entries without a neutral form: tools that a provider runs.
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
