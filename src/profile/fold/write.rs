//! Writes a schema without annotations directly to text.

use serde_json::Value;

use super::Kept;
use crate::catalog::write_string;
use crate::schema::{Holds, Role, holds, role};

/// Writes a schema without annotations, with the kept hints and definitions.
pub(super) fn write_schema(out: &mut String, node: &Value, kept: &Kept) {
    let Some(map) = node.as_object() else { return write_value(out, node) };
    let mut members = Members::open_object(out, kept);
    for (key, value) in map {
        members.member(key, value);
    }
    members.hint(node);
    members.close();
}

/// Writes a value unchanged.
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
    kept: &'o Kept,
    first: bool,
}

impl<'o> Members<'o> {
    pub(super) fn open_object(out: &'o mut String, kept: &'o Kept) -> Self {
        out.push('{');
        Self { out, kept, first: true }
    }

    pub(super) fn write_key(&mut self, key: &str) {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
        write_string(self.out, key);
        self.out.push(':');
    }

    /// Writes a keyword of a schema, folded according to what it holds.
    pub(super) fn member(&mut self, key: &str, value: &Value) {
        match (role(key), holds(key), value) {
            (Role::Annotation, ..) => {}
            (Role::Definitions, _, Value::Object(map)) => {
                let definitions = &self.kept.definitions;
                let mut left = map.iter().filter(|(_, node)| definitions.keeps(node)).peekable();
                if left.peek().is_some() {
                    self.write_named_schemas(key, left.map(|(name, node)| (name, node, None)));
                }
            }
            (_, Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(list)) => {
                self.write_key(key);
                self.out.push('[');
                for (index, item) in list.iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    write_schema(self.out, item, self.kept);
                }
                self.out.push(']');
            }
            (_, Holds::Schema | Holds::SchemaOrSchemas, _) => {
                self.write_key(key);
                write_schema(self.out, value, self.kept);
            }
            // A list of names is written like any value.
            (_, Holds::Named | Holds::NamedOrNames, Value::Object(map)) => {
                self.write_named_schemas(key, map.iter().map(|(name, node)| (name, node, None)));
            }
            _ => {
                self.write_key(key);
                write_value(self.out, value);
            }
        }
    }

    /// Writes a keyword that holds named schemas, with some of them: each folded, or replaced by
    /// its text.
    pub(super) fn write_named_schemas<'v>(
        &mut self,
        key: &str,
        entries: impl Iterator<Item = (&'v String, &'v Value, Option<String>)>,
    ) {
        self.write_key(key);
        let mut inner = Members::open_object(self.out, self.kept);
        for (name, node, instead) in entries {
            inner.write_key(name);
            match instead.as_ref().or_else(|| inner.kept.loose.get(&std::ptr::from_ref(node))) {
                Some(text) => inner.out.push_str(text),
                None => write_schema(inner.out, node, inner.kept),
            }
        }
        inner.close();
    }

    /// Writes the hint of a parameter in place of its description.
    fn hint(&mut self, node: &Value) {
        if let Some(hint) = self.kept.hints.get(&std::ptr::from_ref(node)) {
            self.write_key("description");
            write_string(self.out, hint);
        }
    }

    pub(super) fn close(self) {
        self.out.push('}');
    }
}
