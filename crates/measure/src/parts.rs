//! The parts of a tool and their costs: the tool with the part minus the tool without it.
//!
//! Costs of parts do not add up to the tool's: a name, its brackets and its type are not separate
//! parts, and two parts may share a line break. The remainder belongs to the tool's structure.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use toolfold::catalog::Tool;
use toolfold::profile::{Detail, Folded};
use toolfold::schema::pointer_token;
use toolfold::tokens::{CountError, Meter, Tiktoken, TokenCounter, ToolTexts};
use toolfold::wire::chat_tool;

/// The maximum depth of schemas that are divided into parts.
const MAX_DEPTH: usize = 8;

/// The place of the schema in a Chat Completions tool.
const SCHEMA: &str = "/function/parameters";

/// The kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartKind {
    /// The tool's name and the constant text around every tool.
    Name,
    /// A description, of the tool or in its schema.
    Description,
    /// A parameter, or a property of a nested object, with everything in it.
    Parameter,
    /// A `title`.
    Title,
    /// `enum` or `const`.
    Enum,
    /// A `default`.
    Default,
    /// `examples` or `example`.
    Examples,
    /// The schema of the items of a list.
    Items,
    /// `anyOf`, `oneOf` or `allOf`.
    Alternatives,
    /// `$defs` or `definitions`.
    Definitions,
    /// Any other keyword.
    Keyword,
}

/// A part and its cost in tokens of the meter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Part {
    /// The kind of the part.
    pub kind: PartKind,
    /// Its name: a parameter's, or the keyword's.
    pub name: String,
    /// Its place in the schema, as a JSON Pointer; empty for name and description.
    pub pointer: String,
    /// The tool with it minus the tool without it.
    pub tokens: usize,
    /// The parts in it with a cost, most expensive first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// Counts tools and their parts under one meter.
#[derive(Debug)]
pub struct Measurer<'m> {
    meter: &'m Meter,
    counter: Tiktoken,
}

impl<'m> Measurer<'m> {
    /// Creates a measurer with this meter. Its vocabulary is loaded with the first text.
    #[must_use]
    pub fn new(meter: &'m Meter) -> Self {
        Self { meter, counter: Tiktoken::new(meter.encoding()) }
    }

    /// The meter.
    #[must_use]
    pub fn meter(&self) -> &'m Meter {
        self.meter
    }

    /// The texts that are counted for an array of Chat Completions tools.
    ///
    /// # Errors
    /// Returns a [`CountError`] if a tool has another format.
    pub fn texts(&self, tools: &[Value]) -> Result<ToolTexts, CountError> {
        self.meter.tool_texts(tools)
    }

    /// The tokens of an array of Chat Completions tools.
    ///
    /// # Errors
    /// As for [`Measurer::texts`].
    pub fn total(&self, tools: &[Value]) -> Result<usize, CountError> {
        Ok(self.texts(tools)?.total(&self.counter))
    }

    /// The marginal tokens of each tool of an array, in order.
    ///
    /// # Errors
    /// As for [`Measurer::texts`].
    pub fn each(&self, tools: &[Value]) -> Result<Vec<usize>, CountError> {
        Ok(self.texts(tools)?.marginal(&self.counter))
    }

    /// The marginal tokens of one tool.
    ///
    /// # Errors
    /// As for [`Measurer::texts`].
    pub fn one(&self, tool: &Value) -> Result<usize, CountError> {
        Ok(self.each(std::slice::from_ref(tool))?.into_iter().sum())
    }

    /// The tokens of a single text in the meter's vocabulary.
    #[must_use]
    pub fn text(&self, text: &str) -> usize {
        self.counter.count(text)
    }

    /// The parts of a tool that cost at least `min` tokens, most expensive first: its name, its
    /// description, its parameters and the rest of its schema.
    ///
    /// # Errors
    /// As for [`Measurer::texts`].
    pub fn parts(&self, tool: &Tool, min: usize) -> Result<Vec<Part>, CountError> {
        let whole = chat_value(&Folded::new(tool, Detail::Full, None));
        let cost = self.one(&whole)?;
        let mut parts = vec![self.name_part(&whole)?];
        if !tool.description().is_empty() {
            let mut without = whole.clone();
            remove_member(&mut without, "/function/description");
            let tokens = cost.saturating_sub(self.one(&without)?);
            parts.push(Part::new(PartKind::Description, "description", "", tokens));
        }
        let empty = Value::Null;
        let schema = whole.pointer(SCHEMA).unwrap_or(&empty);
        parts.extend(self.schema_parts(&whole, cost, schema, "", min, 0)?);
        Ok(over(parts, min))
    }

    /// The name with the constant text around every tool: the cost of a tool that has nothing else.
    fn name_part(&self, whole: &Value) -> Result<Part, CountError> {
        let name = whole.pointer("/function/name").cloned().unwrap_or_default();
        let bare = serde_json::json!({"type": "function", "function": {"name": name,
            "parameters": {"type": "object", "properties": {}}}});
        Ok(Part::new(PartKind::Name, "name", "", self.one(&bare)?))
    }

    fn schema_parts(
        &self,
        whole: &Value,
        cost: usize,
        node: &Value,
        at: &str,
        min: usize,
        depth: usize,
    ) -> Result<Vec<Part>, CountError> {
        let mut parts = Vec::new();
        if depth >= MAX_DEPTH {
            return Ok(parts);
        }
        for (keyword, value) in node.as_object().into_iter().flatten() {
            let place = format!("{at}/{}", pointer_token(keyword));
            match (keyword_kind(keyword), value) {
                (None, _) => {}
                (Some(PartKind::Parameter), Value::Object(named)) => {
                    for (name, property) in named {
                        let place = format!("{place}/{}", pointer_token(name));
                        parts.push(self.part(
                            whole,
                            cost,
                            (PartKind::Parameter, name),
                            property,
                            &place,
                            min,
                            depth,
                        )?);
                    }
                }
                (Some(PartKind::Parameter), _) => {}
                // A bill that inlines definitions counts each with its parameter.
                (Some(PartKind::Definitions), _) if matches!(self.meter, Meter::Billed { .. }) => {}
                (Some(kind), value) => {
                    parts.push(self.part(whole, cost, (kind, keyword), value, &place, min, depth)?);
                }
            }
        }
        Ok(over(parts, min))
    }

    #[allow(clippy::too_many_arguments, reason = "one recursion with its place in the tool")]
    fn part(
        &self,
        whole: &Value,
        cost: usize,
        (kind, name): (PartKind, &str),
        value: &Value,
        place: &str,
        min: usize,
        depth: usize,
    ) -> Result<Part, CountError> {
        let mut without = whole.clone();
        remove_member(&mut without, &format!("{SCHEMA}{place}"));
        let tokens = cost.saturating_sub(self.one(&without)?);
        let inner = matches!(kind, PartKind::Parameter | PartKind::Items) && tokens >= min.max(1);
        let parts = if inner { self.schema_parts(whole, cost, value, place, min, depth + 1)? } else { Vec::new() };
        Ok(Part { parts, ..Part::new(kind, name, place, tokens) })
    }
}

impl Part {
    fn new(kind: PartKind, name: &str, pointer: &str, tokens: usize) -> Self {
        Self { kind, name: name.to_owned(), pointer: pointer.to_owned(), tokens, parts: Vec::new() }
    }
}

/// The kind of a keyword's value; `None` for structure.
fn keyword_kind(keyword: &str) -> Option<PartKind> {
    Some(match keyword {
        "type" | "required" => return None,
        "properties" => PartKind::Parameter,
        "description" => PartKind::Description,
        "title" => PartKind::Title,
        "enum" | "const" => PartKind::Enum,
        "default" => PartKind::Default,
        "examples" | "example" => PartKind::Examples,
        "items" => PartKind::Items,
        "anyOf" | "oneOf" | "allOf" => PartKind::Alternatives,
        "$defs" | "definitions" => PartKind::Definitions,
        _ => PartKind::Keyword,
    })
}

/// The parts with at least `min` tokens and more than 0, most expensive first.
fn over(mut parts: Vec<Part>, min: usize) -> Vec<Part> {
    parts.retain(|part| part.tokens >= min.max(1));
    parts.sort_by_cached_key(|part| std::cmp::Reverse(part.tokens));
    parts
}

/// A Chat Completions tool as a value.
#[must_use]
pub fn chat_value(tool: &Folded<'_>) -> Value {
    // The text was written by this workspace, so it parses.
    chat_tool(tool).parse().unwrap_or_default()
}

/// Removes a member of an object. A property is removed from `required`, too.
pub fn remove_member(value: &mut Value, pointer: &str) {
    let Some((parent, token)) = pointer.rsplit_once('/') else { return };
    let name = token.replace("~1", "/").replace("~0", "~");
    if let Some(Value::Object(map)) = value.pointer_mut(parent) {
        map.shift_remove(&name);
    }
    if let Some(holder) = parent.strip_suffix("/properties")
        && let Some(Value::Array(required)) = value.pointer_mut(&format!("{holder}/required"))
    {
        required.retain(|own| own.as_str() != Some(&name));
    }
}
