//! Writing a schema without its words, straight to text.

use serde_json::Value;

use super::reach::Definitions;
use crate::catalog::write_string;
use crate::schema::{Holds, Role, holds, role};

/// Writes a schema without annotations, and of its definitions those that are kept.
pub(super) fn write(out: &mut String, node: &Value, definitions: &Definitions) {
    let Some(map) = node.as_object() else { return write_value(out, node) };
    let mut members = Members::open(out, definitions);
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
pub(super) struct Members<'o> {
    pub(super) out: &'o mut String,
    definitions: &'o Definitions,
    first: bool,
}

impl<'o> Members<'o> {
    pub(super) fn open(out: &'o mut String, definitions: &'o Definitions) -> Self {
        out.push('{');
        Self { out, definitions, first: true }
    }

    pub(super) fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
        write_string(self.out, key);
        self.out.push(':');
    }

    /// A keyword of a schema, folded as what it holds.
    pub(super) fn member(&mut self, key: &str, value: &Value) {
        match (role(key), holds(key), value) {
            (Role::Annotation, ..) => {}
            (Role::Definitions, _, Value::Object(map)) => {
                let definitions = self.definitions;
                let mut kept = map.iter().filter(|(_, node)| definitions.keeps(node)).peekable();
                if kept.peek().is_some() {
                    self.named(key, kept);
                }
            }
            (_, Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(list)) => {
                self.key(key);
                self.out.push('[');
                for (index, item) in list.iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    write(self.out, item, self.definitions);
                }
                self.out.push(']');
            }
            (_, Holds::Schema | Holds::SchemaOrSchemas, _) => {
                self.key(key);
                write(self.out, value, self.definitions);
            }
            // A list of names is written as any value is.
            (_, Holds::Named | Holds::NamedOrNames, Value::Object(map)) => self.named(key, map.iter()),
            _ => {
                self.key(key);
                write_value(self.out, value);
            }
        }
    }

    /// A keyword that holds named schemas, with some of them.
    pub(super) fn named<'v>(&mut self, key: &str, entries: impl Iterator<Item = (&'v String, &'v Value)>) {
        self.key(key);
        let mut inner = Members::open(self.out, self.definitions);
        for (name, node) in entries {
            inner.key(name);
            write(inner.out, node, inner.definitions);
        }
        inner.close();
    }

    pub(super) fn close(self) {
        self.out.push('}');
    }
}
