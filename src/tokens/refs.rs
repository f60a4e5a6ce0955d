//! Following `$ref` inside one tool's parameters: never over the network, never in a circle.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// How many references may point at references before the chain is cut.
const LONGEST_CHAIN: usize = 64;

/// What a reference could not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Dangling {
    /// It leads back to itself.
    Cycle,
    /// It points at nothing here: a missing definition or another document.
    Missing,
}

/// A schema with its references followed: the schema's own members first, then those of what it points at.
///
/// A view of the maps rather than a merged copy, so that following costs nothing however large the target is.
#[derive(Debug, Clone, Default)]
pub(super) struct View<'a> {
    layers: Vec<&'a Map<String, Value>>,
    /// One type out of a list of them: then title and default are not seen, since they belong to the whole.
    one_type: Option<&'a Value>,
}

impl<'a> View<'a> {
    /// A schema as it stands, its own `$ref` not followed.
    pub(super) fn of_map(map: &'a Map<String, Value>) -> Self {
        Self { layers: vec![map], one_type: None }
    }

    /// The member of that name, the schema's own before that of what it points at.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        match (self.one_type, key) {
            (Some(one), "type") => Some(one),
            (Some(_), "title" | "default") => None,
            _ => self.layers.iter().find_map(|layer| layer.get(key)),
        }
    }

    /// The member of that name if Python holds it for true.
    pub(super) fn truthy(&self, key: &str) -> Option<&'a Value> {
        self.get(key).filter(|v| super::python::truthy(v))
    }

    /// The same schema with one of its types.
    pub(super) fn with_type(&self, one: &'a Value) -> Self {
        Self { layers: self.layers.clone(), one_type: Some(one) }
    }

    /// The maps it is made of.
    pub(super) fn layers(&self) -> &[&'a Map<String, Value>] {
        &self.layers
    }

    /// Whether it may be met more than once: a reference was followed to get it, or it is one type of a list.
    pub(super) fn is_copy(&self) -> bool {
        self.layers.len() > 1 || self.one_type.is_some()
    }
}

/// The document that references are looked up in: the `parameters` of one tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Root<'a> {
    document: Option<&'a Value>,
    definitions: Option<&'a Map<String, Value>>,
}

impl<'a> Root<'a> {
    pub(super) fn new(document: Option<&'a Value>) -> Self {
        let named = |key| document.and_then(|d| d.get(key)).filter(|d| super::python::truthy(d));
        let definitions = named("$defs").or_else(|| named("definitions")).and_then(Value::as_object);
        Self { document, definitions }
    }

    /// The definitions by name, if there are any.
    pub(super) fn definitions(self) -> Option<&'a Map<String, Value>> {
        self.definitions
    }

    /// Follows the references of a schema to their end. What is not a map is an empty schema.
    pub(super) fn follow(self, schema: &'a Value) -> (View<'a>, Option<Dangling>) {
        let mut layers: Vec<&'a Map<String, Value>> = Vec::with_capacity(1);
        let mut next = schema.as_object();
        while let Some(map) = next {
            if layers.len() >= LONGEST_CHAIN || layers.iter().any(|seen| std::ptr::eq(*seen, map)) {
                return (View { layers, one_type: None }, Some(Dangling::Cycle));
            }
            layers.push(map);
            let Some(reference) = map.get("$ref") else { break };
            next = reference.as_str().and_then(|r| self.resolve(r));
            if next.is_none() {
                return (View { layers, one_type: None }, Some(Dangling::Missing));
            }
        }
        (View { layers, one_type: None }, None)
    }

    /// A JSON Pointer into the document (RFC 6901, in its URI fragment form); failing that the definition named by
    /// the last segment. Other documents are never fetched.
    pub(super) fn resolve(self, reference: &str) -> Option<&'a Map<String, Value>> {
        if reference.contains("://") {
            return None;
        }
        let pointed = reference.strip_prefix('#').map(|p| percent_decode_str(p).decode_utf8_lossy());
        let pointed = pointed.and_then(|p| self.document?.pointer(&p)?.as_object());
        pointed.or_else(|| {
            let last = reference.rsplit('/').next().unwrap_or(reference);
            self.definitions?.get(last)?.as_object()
        })
    }
}
