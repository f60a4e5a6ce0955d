//! A schema without its words, written straight to text.
//!
//! What is valid is kept (types, names, `required`, `enum`, shape, bounds); what only explains is dropped. A property
//! *named* `description` is a property and stays: the walk knows where schemas are.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::catalog::write_string;
use crate::schema::{self, Holds, Target, holds};

/// A schema's whole shape. `own` is its text, which the result is never longer than.
pub(super) fn signature_text(root: &Value, own: &str) -> String {
    let mut out = String::with_capacity(own.len() / 2);
    write(&mut out, root);
    out
}

/// The required top-level parameters only, open for the others.
///
/// Falls back to the whole shape where leaving parameters out could leave out what the others refer to or what the schema
/// requires in another place.
pub(super) fn required_text(root: &Value, own: &str) -> String {
    match Required::of(root, own) {
        None => signature_text(root, own),
        Some(required) => {
            let mut out = String::with_capacity(own.len() / 4);
            required.write(&mut out);
            out
        }
    }
}

/// A schema of which only the required parameters are written.
struct Required<'s> {
    root: &'s Value,
    top: &'s Map<String, Value>,
    names: Vec<&'s str>,
    /// The definitions that they need.
    definitions: BTreeSet<&'s str>,
}

impl<'s> Required<'s> {
    fn of(root: &'s Value, own: &str) -> Option<Self> {
        let top = schema::top(root);
        // One search stands for three: most schemas have no reference of any kind.
        let refers = own.contains("ef\"");
        // A reference at the top stands for the whole only if nothing that counts stands beside it.
        let beside =
            |key: &String| !matches!(key.as_str(), "$ref" | "$defs" | "definitions") && holds(key) != Holds::Annotation;
        if (refers && (own.contains("$dynamicRef\"") || own.contains("$recursiveRef\"")))
            || (!std::ptr::eq(top, root) && root.as_object().is_some_and(|map| map.keys().any(beside)))
            || (std::ptr::eq(top, root) && schema::reference(root).is_some())
        {
            return None;
        }
        let names: Vec<&str> = schema::required(root).collect();
        let mut required = Self { root, top: top.as_object()?, names, definitions: BTreeSet::new() };
        if refers {
            required.collect_definitions()?;
        }
        Some(required)
    }

    fn is_required(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Finds the definitions that what is written refers to; nothing if a reference leads anywhere else, since what it
    /// names might be among the parameters left out.
    fn collect_definitions(&mut self) -> Option<()> {
        let mut queue: Vec<&'s Value> = Vec::new();
        for (key, value) in self.top {
            match (key.as_str(), value) {
                ("properties", Value::Object(map)) => {
                    queue.extend(map.iter().filter(|(name, _)| self.is_required(name)).map(|(_, node)| node));
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
                if self.definitions.insert(definition(reference)?)
                    && let Target::Found(target) = schema::resolve(self.root, reference)
                {
                    queue.push(target);
                }
            }
        }
        Some(())
    }

    fn write(&self, out: &mut String) {
        let mut members = Members::open(out);
        let mut has_properties = false;
        for (key, value) in self.top {
            match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    has_properties = true;
                    members.named(key, properties.iter().filter(|(name, _)| self.is_required(name)));
                }
                ("$defs" | "definitions" | "additionalProperties" | "unevaluatedProperties", _) => {}
                _ => members.member(key, value),
            }
        }
        if !has_properties {
            members.named("properties", std::iter::empty());
        }
        members.key("additionalProperties");
        members.out.push_str("true");
        for key in ["$defs", "definitions"] {
            if let Some(Value::Object(all)) = self.root.get(key) {
                let mut kept = all.iter().filter(|(name, _)| self.definitions.contains(name.as_str())).peekable();
                if kept.peek().is_some() {
                    members.named(key, kept);
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

/// Writes a schema without its words.
fn write(out: &mut String, node: &Value) {
    let Some(map) = node.as_object() else { return write_value(out, node) };
    let mut members = Members::open(out);
    for (key, value) in map {
        members.member(key, value);
    }
    members.close();
}

/// Writes a value whole.
fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::String(text) => write_string(out, text),
        Value::Array(list) => {
            out.push('[');
            for (index, item) in list.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Null => out.push_str("null"),
        other => out.push_str(&other.to_string()),
    }
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
            _ => {
                self.key(key);
                write_value(self.out, value);
            }
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
