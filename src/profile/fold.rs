//! Folds a tool to a detail.
//!
//! Folding only removes. If it would save nothing, the tool stays full, so a folded tool never
//! costs more than the full one.

mod bare;
mod hint;
mod loose;
mod reach;
mod schema;
mod write;

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use self::reach::Definitions;
use self::schema::{partial_text, signature_text};
use super::cost::{UNBILLED, estimated_tokens, full_tokens, saved_by, unbilled_texts};
use super::{Detail, Planned, first_sentence};
use crate::catalog::Tool;
use crate::schema::{drops_null, layers};

/// The minimum saving that is worth a round trip, in estimated tokens. Below it a tool is sent
/// full: an open stub instead of an equally small schema would hide something and save nothing.
const MIN_SAVED_TOKENS: usize = 2;

/// A saving of this many bytes exceeds [`MIN_SAVED_TOKENS`] in any text.
const MANY_SAVED_BYTES: usize = 200;

/// The stub's schema. It is open, because a closed one would be wrong for a tool that takes
/// arguments.
const OPEN: &str = r#"{"type":"object","properties":{},"additionalProperties":true}"#;

/// What a folded schema keeps beside its structure.
#[derive(Debug, Default)]
struct Kept {
    definitions: Definitions,
    /// Hints for writing a required parameter, by the address of its schema in the document.
    hints: HashMap<*const Value, String>,
    /// The text that replaces a property's schema, by the same address.
    loose: HashMap<*const Value, String>,
}

/// The folded form of a tool, without the tool.
#[derive(Debug, Clone)]
pub(super) struct FoldedForm {
    pub(super) detail: Detail,
    /// Whether expanding the tool reveals more.
    pub(super) deferred: bool,
    description: Option<String>,
    schema: Option<Cow<'static, str>>,
}

impl FoldedForm {
    /// The form of a tool that is not folded.
    pub(super) fn full() -> Self {
        Self { detail: Detail::Full, deferred: false, description: None, schema: None }
    }

    /// The form of a tool that is not in the array, at a detail that has none.
    pub(super) fn absent(detail: Detail) -> Self {
        Self { detail, deferred: true, description: None, schema: None }
    }

    /// Whether the tool is not in the prompt. `native`: the provider keeps deferred tools out of
    /// it.
    pub(super) fn is_absent(&self, native: bool) -> bool {
        !self.detail.is_in_array() || native && self.deferred
    }

    /// The number of prompt tokens that the form saves, estimated with this many letters of a word
    /// for one token; the usual estimate if the tool is absent from the array.
    pub(super) fn saved_tokens(&self, tool: &Tool, native: bool, letters: usize) -> usize {
        if self.is_absent(native) {
            return full_tokens(tool);
        }
        let description = self.description.as_deref().unwrap_or_else(|| tool.description());
        match self.schema.as_deref() {
            None if self.detail == Detail::Full => 0,
            schema => {
                let schema = schema.unwrap_or_else(|| tool.parameters_text());
                saved_by(tool, description, schema, letters)
            }
        }
    }

    /// The form's tool as planned.
    pub(super) fn planned<'t>(&'t self, tool: &'t Tool, planned: Planned) -> Folded<'t> {
        let Planned { index, detail, deferred } = planned;
        let mut folded = Folded { index: Some(index), deferred, ..Folded::full(tool) };
        if detail != Detail::Full {
            folded.detail = self.detail;
            folded.description = Cow::Borrowed(self.description.as_deref().unwrap_or_else(|| tool.description()));
            folded.schema = self.schema.as_deref().map(Cow::Borrowed);
        }
        folded
    }
}

/// A tool's schema folded to the wanted detail, and the resulting detail. `None` if nothing can be
/// removed.
fn fold_tool(tool: &Tool, wanted: Detail) -> (Detail, Option<Cow<'static, str>>) {
    let (root, own) = (tool.parameters(), tool.parameters_text());
    let signature = || signature_text(root, own).map(Cow::Owned);
    match wanted {
        Detail::Full => (Detail::Full, None),
        // A tool without parameters already has an exact schema; an open stub would contradict it.
        Detail::Summary | Detail::Index | Detail::Search if !tool.takes_no_parameters() => {
            (wanted, Some(Cow::Borrowed(OPEN)))
        }
        Detail::Signature | Detail::Summary | Detail::Index | Detail::Search => (wanted, signature()),
        Detail::Outline | Detail::Required => {
            let whole = signature();
            let least = whole.as_deref().map_or(own.len(), str::len);
            match partial_text(root, own, wanted).filter(|(_, text)| text.len() < least) {
                Some((detail, text)) => (detail, Some(Cow::Owned(text))),
                None => (Detail::Signature, whole),
            }
        }
    }
}

/// The parameters that a tool's schema does not name at a detail.
pub(super) fn hidden(tool: &Tool, detail: Detail) -> Vec<&str> {
    schema::hidden(tool.parameters(), tool.parameters_text(), detail)
}

/// A tool's schema as an answer contains it: without the members that only a validator needs.
pub(super) fn schema_in_answers(tool: &Tool) -> Cow<'_, str> {
    let own = tool.parameters_text();
    let Some(map) = tool.parameters().as_object() else { return Cow::Borrowed(own) };
    if !UNBILLED.iter().any(|key| map.contains_key(*key)) {
        return Cow::Borrowed(own);
    }
    Cow::Owned(Value::Object(billed_members(map)).to_string())
}

/// The schema of [`schema_in_answers`] in which `null` is the default of each optional parameter
/// that has no default, if the gate drops `null` for that parameter.
///
/// A small model fills in every parameter of a definition that it has just read, and writes `null`
/// where that is the default: of 32 plays in evidence/wording, 18 are right instead of 15.
pub(super) fn schema_with_null_defaults(tool: &Tool) -> Cow<'_, str> {
    let root = tool.parameters();
    let Some(map) = root.as_object() else { return Cow::Borrowed(tool.parameters_text()) };
    let mut map = billed_members(map);
    let layers = layers(root, root, "object");
    let Some(Value::Object(properties)) = map.get_mut("properties") else { return schema_in_answers(tool) };
    for (name, own) in properties {
        let dropped = drops_null(root, &layers, name, own);
        let Some(own) = own.as_object_mut().filter(|own| dropped && !own.contains_key("default")) else { continue };
        if let Some(Value::Array(values)) = own.get_mut("enum") {
            values.push(Value::Null);
        }
        own.insert("default".to_owned(), Value::Null);
    }
    Cow::Owned(Value::Object(map).to_string())
}

/// The members of a schema that a model needs.
fn billed_members(map: &Map<String, Value>) -> Map<String, Value> {
    let mut map = map.clone();
    for key in UNBILLED {
        map.shift_remove(key);
    }
    map
}

/// Detaches a schema from the tool's lifetime. The stub, which most folded tools share, is not
/// copied.
fn kept_schema(schema: Cow<'_, str>) -> Cow<'static, str> {
    if schema == OPEN { Cow::Borrowed(OPEN) } else { Cow::Owned(schema.into_owned()) }
}

/// Whether this form of a tool saves enough tokens, and no bytes are added. The text of most tools
/// is so much longer that they need not be estimated.
fn saves_enough(tool: &Tool, description: &str, schema: &str) -> bool {
    let unbilled: usize = unbilled_texts(tool).map(str::len).sum();
    // Escapes in the full description are not counted: they could only increase the saving.
    let whole = tool.description().len() + if tool.declares_parameters() { tool.parameters_text().len() } else { 0 };
    if whole > description.len() * MAX_ESCAPED + schema.len() + unbilled + MANY_SAVED_BYTES {
        return true;
    }
    full_tokens(tool) >= estimated_tokens(tool.name().as_str(), description, schema) + MIN_SAVED_TOKENS
        && whole >= escaped_len(description) + schema.len()
}

/// The maximum number of bytes that one byte takes in a JSON string: `\u0001`.
const MAX_ESCAPED: usize = 6;

/// The length of a text as a JSON string without quotes, in bytes.
fn escaped_len(text: &str) -> usize {
    text.bytes().map(escaped_byte_len).sum()
}

fn escaped_byte_len(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => MAX_ESCAPED,
        _ => 1,
    }
}

/// A tool at a detail, independent of any provider's format.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Folded<'t> {
    /// The tool's index in the catalog; `None` outside an array and for a meta-tool.
    pub index: Option<usize>,
    /// The actual detail: [`Detail::Full`] if folding saves nothing.
    pub detail: Detail,
    /// As [`Planned::deferred`]; always false for a meta-tool.
    pub deferred: bool,
    /// The description at this detail; may be empty.
    pub description: Cow<'t, str>,
    tool: &'t Tool,
    schema: Option<Cow<'t, str>>,
}

impl<'t> Folded<'t> {
    /// The tool at the wanted detail, or full if that saves nothing. `summary` replaces the first
    /// sentence; a tool without a description gets none. A detail that
    /// [is not in the array](Detail::is_in_array) equals a summary here.
    #[must_use]
    pub fn new(tool: &'t Tool, wanted: Detail, summary: Option<&'t str>) -> Self {
        let full = Self::full(tool);
        if wanted == Detail::Full {
            return full;
        }
        let description = match summary {
            _ if tool.description().is_empty() => Cow::Borrowed(""),
            Some(summary) => Cow::Borrowed(summary),
            None => Cow::Owned(first_sentence(tool.description())),
        };
        let own = tool.parameters_text();
        let (detail, folded) = fold_tool(tool, wanted);
        let schema: Cow<'t, str> = match folded {
            Some(text) if text.len() < own.len() => text,
            _ => Cow::Borrowed(own),
        };
        if !saves_enough(tool, &description, &schema) {
            return full;
        }
        Self { detail, deferred: true, description, schema: Some(schema), ..full }
    }

    /// The unchanged tool.
    pub(super) fn full(tool: &'t Tool) -> Self {
        Self {
            tool,
            index: None,
            detail: Detail::Full,
            deferred: false,
            description: Cow::Borrowed(tool.description()),
            schema: None,
        }
    }

    /// Detaches the folded form from its tool. `native`: the provider defers the tool, folded or
    /// not.
    pub(super) fn keep(self, native: bool) -> FoldedForm {
        let folded = self.detail != Detail::Full;
        let description = folded.then(|| self.description.into_owned());
        FoldedForm {
            detail: self.detail,
            deferred: self.deferred || native,
            description,
            schema: self.schema.map(kept_schema),
        }
    }

    /// The tool.
    #[must_use]
    pub(crate) fn tool(&self) -> &'t Tool {
        self.tool
    }

    /// Whether the tool is sent in its original form.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.detail == Detail::Full && self.schema.is_none()
    }

    /// Replaces the schema, and the description if given, as a provider requires.
    pub(crate) fn replace(&mut self, schema: String, description: Option<String>) {
        self.schema = Some(Cow::Owned(schema));
        if let Some(description) = description {
            self.description = Cow::Owned(description);
        }
    }

    /// Whether the tool may be sent with OpenAI's or Anthropic's `strict`: it requests it and is
    /// not folded. A folded strict schema would forbid the arguments that it omits.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.detail == Detail::Full && self.tool.strict() == Some(true)
    }

    /// The schema at this detail as compact JSON text.
    #[must_use]
    pub fn parameters_text(&self) -> &str {
        self.schema.as_deref().unwrap_or_else(|| self.tool.parameters_text())
    }

    /// The schema at this detail as a value.
    #[must_use]
    pub fn parameters(&self) -> Cow<'t, Value> {
        match &self.schema {
            None => Cow::Borrowed(self.tool.parameters()),
            // The text was written from a value above, so it parses. The full schema is correct in
            // any case.
            Some(text) => serde_json::from_str(text).map_or(Cow::Borrowed(self.tool.parameters()), Cow::Owned),
        }
    }
}
