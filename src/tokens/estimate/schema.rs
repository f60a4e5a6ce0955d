//! Separates the text of a function definition from its structure.

use serde_json::{Map, Value};

use crate::tokens::encoding::TokenCounter;
use crate::tokens::json::{Member, Style, write_text};
use crate::tokens::render::Function;

/// The maximum depth of a schema that is read. serde_json reads no deeper.
const DEEPEST: usize = 128;

/// The counted texts of a function definition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Texts {
    /// Tokens of its description and of all descriptions in its schema.
    pub(super) descriptions: usize,
    /// Tokens of its name and the names of its properties.
    pub(super) names: usize,
    /// Tokens of its enum values.
    pub(super) values: usize,
    /// The number of its properties at any depth.
    pub(super) properties: usize,
}

impl Texts {
    pub(super) fn of_function<C: TokenCounter>(function: &Function<'_>, counter: &C) -> Self {
        let mut texts = Self { names: counter.count(function.name), ..Self::default() };
        texts.descriptions += function.description.map_or(0, |text| counter.count(text));
        if let Some(Value::Object(schema)) = function.parameters {
            texts.add_schema(schema, DEEPEST, counter);
        }
        texts
    }

    fn add_schema<C: TokenCounter>(&mut self, schema: &Map<String, Value>, depth: usize, counter: &C) {
        if depth == 0 {
            return;
        }
        for (key, value) in schema {
            match (key.as_str(), value) {
                ("description", Value::String(text)) => self.descriptions += counter.count(text),
                ("enum", Value::Array(values)) => {
                    for value in values {
                        self.values += match value {
                            Value::String(text) => counter.count(text),
                            other => counter.count(&Style::COMPACT.print(other)),
                        };
                    }
                }
                ("properties", Value::Object(members)) => {
                    self.properties += members.len();
                    for (name, member) in members {
                        self.names += counter.count(name);
                        self.inner(member, depth, counter);
                    }
                }
                ("$defs" | "definitions", Value::Object(members)) => {
                    members.values().for_each(|member| self.inner(member, depth, counter));
                }
                ("anyOf" | "oneOf" | "allOf", Value::Array(variants)) => {
                    variants.iter().for_each(|variant| self.inner(variant, depth, counter));
                }
                ("items", item) => self.inner(item, depth, counter),
                _ => {}
            }
        }
    }

    fn inner<C: TokenCounter>(&mut self, schema: &Value, depth: usize, counter: &C) {
        if let Value::Object(schema) = schema {
            self.add_schema(schema, depth - 1, counter);
        }
    }
}

/// A definition in Anthropic's format as compact JSON, with every description emptied.
pub(super) fn structure(function: &Function<'_>) -> String {
    let emptied = Style::choosing(|key, value| match (key, value) {
        ("description", Value::String(_)) => Member::Emptied,
        _ => Member::Kept,
    });
    definition(function, emptied, "", "input_schema")
}

/// A definition in Gemini's format as compact JSON.
pub(super) fn compact_definition(function: &Function<'_>) -> String {
    definition(function, Style::COMPACT, function.description.unwrap_or_default(), "parameters")
}

fn definition(function: &Function<'_>, style: Style, description: &str, key: &str) -> String {
    let mut out = String::from("{\"name\":");
    write_text(function.name, &mut out);
    out.push_str(",\"description\":");
    write_text(description, &mut out);
    out.push_str(",\"");
    out.push_str(key);
    out.push_str("\":");
    out.push_str(&function.parameters.map_or_else(|| "{}".to_owned(), |schema| style.print(schema)));
    out.push('}');
    out
}
