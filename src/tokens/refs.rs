//! Follows `$ref` inside one tool's parameters, never over the network and never in a cycle.

use serde_json::{Map, Value};

use super::python::truthy;
use crate::schema::{self, Broken, Target};

/// A schema with its references followed: its own members first, then those of the targets.
///
/// A view of the maps rather than a merged copy, so that following costs nothing for large targets.
#[derive(Debug, Clone, Default)]
pub(super) struct View<'a> {
    layers: Vec<&'a Map<String, Value>>,
    /// One type of a list of types. Title and default are then hidden, because they belong to the
    /// whole.
    one_type: Option<&'a Value>,
}

impl<'a> View<'a> {
    /// A schema without following its own `$ref`.
    pub(super) fn of_map(map: &'a Map<String, Value>) -> Self {
        Self { layers: vec![map], one_type: None }
    }

    /// The member of that name; the schema's own takes precedence over those of the targets.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        match (self.one_type, key) {
            (Some(one), "type") => Some(one),
            (Some(_), "title" | "default") => None,
            _ => self.layers.iter().find_map(|layer| layer.get(key)),
        }
    }

    /// The member of that name if it is true in Python.
    pub(super) fn truthy(&self, key: &str) -> Option<&'a Value> {
        self.get(key).filter(|v| truthy(v))
    }

    /// The same schema with one of its types.
    pub(super) fn with_type(&self, one: &'a Value) -> Self {
        Self { layers: self.layers.clone(), one_type: Some(one) }
    }

    /// The maps of the view.
    pub(super) fn layers(&self) -> &[&'a Map<String, Value>] {
        &self.layers
    }

    /// Whether it may occur more than once: it was reached by a reference, or is one type of a
    /// list.
    pub(super) fn is_copy(&self) -> bool {
        self.layers.len() > 1 || self.one_type.is_some()
    }
}

/// The document in which references are resolved: the `parameters` of one tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Root<'a> {
    document: Option<&'a Value>,
    definitions: Option<&'a Map<String, Value>>,
}

impl<'a> Root<'a> {
    pub(super) fn new(document: Option<&'a Value>) -> Self {
        let mut named = ["$defs", "definitions"].into_iter().filter_map(|key| document?.get(key));
        let definitions = match named.find(|definitions| truthy(definitions)) {
            Some(Value::Object(definitions)) => Some(definitions),
            _ => None,
        };
        Self { document, definitions }
    }

    /// The definitions by name, if present.
    pub(super) fn definitions(self) -> Option<&'a Map<String, Value>> {
        self.definitions
    }

    /// Follows the references of a schema to their end. A value that is not a map is an empty
    /// schema.
    pub(super) fn follow(self, node: &'a Value) -> (View<'a>, Option<Broken>) {
        let chain = schema::follow_by(node, |reference| self.resolve(reference));
        (View { layers: chain.layers, one_type: None }, chain.broken)
    }

    /// Resolves a JSON Pointer into the document or, failing that, the definition named by its last
    /// segment, as OpenAI's renderer does. Other documents are never fetched.
    pub(super) fn resolve(self, reference: &str) -> Target<'a> {
        if reference.contains("://") {
            return Target::Remote;
        }
        if let Some(document) = self.document
            && let Some(target @ Value::Object(_)) = schema::pointed_at(document, reference)
        {
            return Target::Found(target);
        }
        let name = reference.rsplit('/').next().unwrap_or(reference);
        match self.definitions.and_then(|definitions| definitions.get(name)) {
            Some(target @ Value::Object(_)) => Target::Found(target),
            _ => Target::Missing,
        }
    }
}
