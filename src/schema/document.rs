//! A document's base URIs, anchors and references: everything that a reference could resolve to in
//! some validator.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::reference::pointer_token;
use super::text_member;

/// The possible targets of a document's references.
#[derive(Debug, Default)]
pub(crate) struct Document<'s> {
    /// The document and every object with its own `$id`, each with its JSON Pointer.
    bases: Vec<(String, &'s Value)>,
    anchors: Vec<(&'s str, &'s Value)>,
    references: Vec<&'s str>,
}

impl<'s> Document<'s> {
    /// Indexes a document. The stack use grows with the depth of the document: check that first
    /// ([`MAX_DEPTH`](super::MAX_DEPTH)).
    #[must_use]
    pub(crate) fn new(root: &'s Value) -> Self {
        let mut document = Self { bases: vec![(String::new(), root)], ..Self::default() };
        document.gather(root, &mut String::new());
        document
    }

    fn gather(&mut self, node: &'s Value, at: &mut String) {
        let length = at.len();
        match node {
            Value::Array(list) => {
                for (index, value) in list.iter().enumerate() {
                    at.push_str(&format!("/{index}"));
                    self.gather(value, at);
                    at.truncate(length);
                }
            }
            Value::Object(map) => {
                if length > 0 && map.get("$id").is_some_and(Value::is_string) {
                    self.bases.push((at.clone(), node));
                }
                for (key, value) in map {
                    match (key.as_str(), value.as_str()) {
                        ("$ref" | "$dynamicRef" | "$recursiveRef", Some(reference)) => self.references.push(reference),
                        ("$anchor" | "$dynamicAnchor", Some(name)) => self.anchors.push((name, node)),
                        _ => {}
                    }
                    at.push('/');
                    at.push_str(&pointer_token(key));
                    self.gather(value, at);
                    at.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// The number of places at which references can start: the document, and each `$id`.
    #[must_use]
    pub(crate) fn base_count(&self) -> usize {
        self.bases.len()
    }

    /// Every reference, as written.
    #[must_use]
    pub(crate) fn references(&self) -> &[&'s str] {
        &self.references
    }

    /// The JSON Pointers of all possible targets of a JSON Pointer reference; empty for other
    /// references.
    #[must_use]
    pub(crate) fn pointers(&self, reference: &str) -> Vec<String> {
        let fragment = fragment(reference);
        if !fragment.starts_with('/') {
            return Vec::new();
        }
        self.bases.iter().map(|(base, _)| format!("{base}{fragment}")).collect()
    }

    /// All possible targets of a reference.
    #[must_use]
    pub(crate) fn targets(&self, reference: &str) -> Vec<&'s Value> {
        let fragment = fragment(reference);
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.bases.iter().filter_map(|(_, base)| base.pointer(&fragment)).collect();
        }
        let mut targets = Vec::new();
        for (name, node) in &self.anchors {
            if *name == fragment {
                targets.push(*node);
            }
        }
        // In draft 7 an anchor is an `$id` that consists of only a fragment.
        for (_, base) in &self.bases {
            if text_member(*base, "$id") == Some(reference) {
                targets.push(*base);
            }
        }
        targets
    }
}

/// The decoded fragment after the `#` of a reference; empty if there is none, which refers to the
/// whole document.
fn fragment(reference: &str) -> Cow<'_, str> {
    let encoded = reference.split_once('#').map_or("", |(_, fragment)| fragment);
    percent_decode_str(encoded).decode_utf8_lossy()
}
