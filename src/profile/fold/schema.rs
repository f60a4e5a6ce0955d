//! A schema without its words, written straight to text.
//!
//! What is valid is kept (types, names, `required`, `enum`, shape, bounds); what only explains is dropped. A property
//! *named* `description` is a property and stays: the walk knows where schemas are.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use crate::catalog::schema::{self, Holds, Target, holds};
use crate::catalog::write_string;

/// A schema to be written without its words.
pub(super) struct FoldedSchema<'s> {
    top: &'s Value,
    root: &'s Value,
    /// Whether only required parameters are written; then also which definitions they need.
    required_only: Option<BTreeSet<&'s str>>,
}

impl<'s> FoldedSchema<'s> {
    /// The whole shape.
    pub(super) fn signature(root: &'s Value) -> Self {
        Self { top: root, root, required_only: None }
    }

    /// The required top-level parameters only, open for the others.
    ///
    /// Falls back to the whole shape if a reference leads anywhere but into the definitions: what it names might
    /// be among the parameters left out.
    pub(super) fn required(root: &'s Value) -> Self {
        let top = schema::top(root);
        let required: BTreeSet<&str> = schema::required(root).collect();
        let mut needed = BTreeSet::new();
        let mut queue: Vec<&'s Value> = Vec::new();
        for (key, value) in top.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("properties", Value::Object(map)) => {
                    queue.extend(map.iter().filter(|(name, _)| required.contains(name.as_str())).map(|(_, node)| node));
                }
                ("$defs" | "definitions", _) => {}
                (_, Value::Array(list)) if holds(key) == Holds::Schemas => queue.extend(list),
                (_, Value::Object(map)) if holds(key) == Holds::Named => queue.extend(map.values()),
                _ if holds(key) == Holds::Schema => queue.push(value),
                _ => {}
            }
        }
        while let Some(node) = queue.pop() {
            let mut references = Vec::new();
            schema::walk(node, &mut |inner| references.extend(schema::reference(inner)));
            for reference in references {
                let Some(name) = definition(reference) else { return Self::signature(root) };
                if needed.insert(name)
                    && let Target::Found(target) = schema::resolve(root, reference)
                {
                    queue.push(target);
                }
            }
        }
        Self { top, root, required_only: Some(needed) }
    }

    fn write_top(&self, out: &mut String) {
        let Some(needed) = &self.required_only else { return write(out, self.root) };
        let Some(map) = self.top.as_object() else { return write(out, self.root) };
        let required: BTreeSet<&str> = schema::required(self.root).collect();
        let mut members = Members::open(out);
        let mut has_properties = false;
        for (key, value) in map {
            match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    has_properties = true;
                    let kept = properties.iter().filter(|(name, _)| required.contains(name.as_str()));
                    members.named(key, kept);
                }
                ("$defs" | "definitions" | "additionalProperties" | "unevaluatedProperties", _) => {}
                _ => members.member(key, value),
            }
        }
        if !has_properties {
            members.named("properties", std::iter::empty());
        }
        members.raw("additionalProperties", "true");
        for key in ["$defs", "definitions"] {
            if let Some(Value::Object(all)) = self.root.get(key) {
                let kept: Vec<_> = all.iter().filter(|(name, _)| needed.contains(name.as_str())).collect();
                if !kept.is_empty() {
                    members.named(key, kept.into_iter());
                }
            }
        }
        members.close();
    }
}

/// The definition that a reference names, if it names a whole one: `#/$defs/Name`.
fn definition(reference: &str) -> Option<&str> {
    let name = reference.strip_prefix("#/$defs/").or_else(|| reference.strip_prefix("#/definitions/"))?;
    (!name.contains(['/', '~', '%'])).then_some(name)
}

impl fmt::Display for FoldedSchema<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write_top(&mut out);
        f.write_str(&out)
    }
}

/// Writes a schema without its words.
fn write(out: &mut String, node: &Value) {
    let Some(map) = node.as_object() else { return out.push_str(&node.to_string()) };
    let mut members = Members::open(out);
    for (key, value) in map {
        members.member(key, value);
    }
    members.close();
}

/// Writes the members of an object one by one.
struct Members<'o> {
    out: &'o mut String,
    first: bool,
}

impl<'o> Members<'o> {
    fn open(out: &'o mut String) -> Self {
        out.push('{');
        Self { out, first: true }
    }

    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
        write_string(self.out, key);
        self.out.push(':');
    }

    fn raw(&mut self, key: &str, text: &str) {
        self.key(key);
        self.out.push_str(text);
    }

    /// A keyword of a schema, folded as what it holds.
    fn member(&mut self, key: &str, value: &Value) {
        match (holds(key), value) {
            (Holds::Annotation, _) => {}
            (Holds::Schema | Holds::Schemas, Value::Array(list)) => {
                self.key(key);
                self.out.push('[');
                for (index, item) in list.iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    write(self.out, item);
                }
                self.out.push(']');
            }
            (Holds::Schema, _) => {
                self.key(key);
                write(self.out, value);
            }
            (Holds::Named, Value::Object(map)) => self.named(key, map.iter()),
            _ => self.raw(key, &value.to_string()),
        }
    }

    fn named<'v>(&mut self, key: &str, entries: impl Iterator<Item = (&'v String, &'v Value)>) {
        self.key(key);
        let mut inner = Members::open(self.out);
        for (name, node) in entries {
            inner.key(name);
            write(inner.out, node);
        }
        inner.close();
    }

    fn close(self) {
        self.out.push('}');
    }
}
