//! A tool as the rules see it: every schema in it with its place.

use serde_json::{Map, Value};

use toolfold::catalog::Tool;
use toolfold::schema::{Holds, holds, pointer_token};

/// The maximum number of schemas of a tool that are checked.
const MAX_NODES: usize = 5_000;

pub(super) struct View<'t> {
    pub(super) tool: &'t Tool,
    /// Its index in the catalog.
    pub(super) at: usize,
    pub(super) schema: &'t Value,
    /// Every schema object, outermost first, in order.
    pub(super) nodes: Vec<Node<'t>>,
}

pub(super) struct Node<'t> {
    /// Its place relative to the tool: `/parameters/properties/a`.
    pub(super) at: String,
    pub(super) map: &'t Map<String, Value>,
    /// Its name, if it is a property.
    pub(super) property: Option<&'t str>,
    /// Its name, if it is a definition.
    pub(super) definition: Option<&'t str>,
    pub(super) required: bool,
    /// The number of properties above it.
    pub(super) depth: usize,
}

impl Node<'_> {
    pub(super) fn string_keyword(&self, keyword: &str) -> Option<&str> {
        self.map.get(keyword).and_then(Value::as_str)
    }

    /// Its description; `None` for a blank one.
    pub(super) fn description(&self) -> Option<&str> {
        self.string_keyword("description").filter(|text| !text.trim().is_empty())
    }

    pub(super) fn is_parameter(&self) -> bool {
        self.property.is_some() && self.at.matches('/').count() == 3 && self.at.starts_with("/parameters/properties/")
    }

    /// Whether `type` is this one, ignoring null.
    pub(super) fn is(&self, name: &str) -> bool {
        match self.map.get("type") {
            Some(Value::String(own)) => own == name,
            Some(Value::Array(own)) => own.iter().any(|one| one == name),
            _ => false,
        }
    }

    pub(super) fn has_any(&self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.map.contains_key(*keyword))
    }

    pub(super) fn keyword_place(&self, keyword: &str) -> String {
        format!("{}/{}", self.at, pointer_token(keyword))
    }
}

impl<'t> View<'t> {
    /// Indexes a tool. Its schema is not nested more than [`toolfold::schema::MAX_DEPTH`] deep.
    pub(super) fn of_tool(at: usize, tool: &'t Tool) -> Self {
        let schema = tool.given_parameters();
        let mut view = Self { tool, at, schema, nodes: Vec::new() };
        view.gather("/parameters", schema, None, None, false, 0);
        view
    }

    fn gather(
        &mut self,
        at: &str,
        value: &'t Value,
        property: Option<&'t str>,
        definition: Option<&'t str>,
        required: bool,
        depth: usize,
    ) {
        let Some(map) = value.as_object() else { return };
        if self.nodes.len() >= MAX_NODES {
            return;
        }
        self.nodes.push(Node { at: at.to_owned(), map, property, definition, required, depth });
        for (keyword, value) in map {
            let place = format!("{at}/{}", pointer_token(keyword));
            match (holds(keyword), value) {
                (Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(list)) => {
                    for (index, inner) in list.iter().enumerate() {
                        self.gather(&format!("{place}/{index}"), inner, None, None, false, depth);
                    }
                }
                (Holds::Schema | Holds::SchemaOrSchemas, _) => self.gather(&place, value, None, None, false, depth),
                (Holds::Named | Holds::NamedOrNames, Value::Object(named)) => {
                    let is_property = keyword == "properties";
                    let is_definition = matches!(keyword.as_str(), "$defs" | "definitions");
                    let required = match map.get("required") {
                        Some(Value::Array(required)) if is_property => required.as_slice(),
                        _ => &[],
                    };
                    for (name, inner) in named {
                        let place = format!("{place}/{}", pointer_token(name));
                        let needed = required.iter().any(|own| own == name);
                        let own = is_property.then_some(name.as_str());
                        let of = is_definition.then_some(name.as_str());
                        self.gather(&place, inner, own, of, needed, depth + usize::from(is_property));
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn parameters(&self) -> impl Iterator<Item = &Node<'t>> {
        self.nodes.iter().filter(|node| node.is_parameter())
    }

    /// Every text of the tool that a model reads, with its place.
    pub(super) fn model_texts(&self) -> Vec<(String, &'t str)> {
        let own = ("/description".to_owned(), self.tool.description());
        let mut all = vec![own];
        strings("/parameters", self.schema, &mut all);
        all
    }
}

fn strings<'t>(at: &str, value: &'t Value, all: &mut Vec<(String, &'t str)>) {
    match value {
        Value::String(text) => all.push((at.to_owned(), text)),
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                strings(&format!("{at}/{index}"), inner, all);
            }
        }
        Value::Object(map) => {
            for (key, inner) in map {
                strings(&format!("{at}/{}", pointer_token(key)), inner, all);
            }
        }
        _ => {}
    }
}

pub(super) fn short_line(text: &str) -> String {
    const MOST: usize = 60;
    let words: Vec<&str> = text.split_whitespace().take(24).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// Names in backticks, at most five: `` `a`, `b` and 3 more ``.
pub(super) fn first_names(names: &[impl AsRef<str>]) -> String {
    const MOST: usize = 5;
    let said: Vec<String> = names.iter().take(MOST).map(|name| format!("`{}`", short_line(name.as_ref()))).collect();
    match names.len().saturating_sub(MOST) {
        0 => said.join(", "),
        more => format!("{} and {more} more", said.join(", ")),
    }
}
