//! The text that OpenAI bills for function definitions: a TypeScript namespace.
//!
//! Every rule and quirk was fitted on recorded requests. There is no indentation, and constraints
//! beyond types are not in the text, except `required`, which is the `?`.
//!
//! Rendering is total: any JSON value gives a text. Parts that cannot be followed are `any`: a
//! cyclic or missing reference, a type nested deeper than 64, and everything after inlined
//! references exceed a budget (a few definitions that each use the next one twice expand to
//! gigabytes). What was cut is among the reasons of [`unverified`](super::unverified).

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::marginal::Frame;
use super::python::{dumps, strip, text_of};
use super::reason::Reason;
use super::refs::{Root, View};
use crate::schema::{Broken, object_member};

/// The maximum nesting of types; deeper ones are `any`. The deepest recorded row nests 3.
const DEEPEST_TYPE: usize = 64;
/// The maximum number of bytes that references and type lists of one tool may add to its text: more
/// than any context window holds.
const COPIED_BY_ONE_TOOL: usize = 1 << 20;
/// The same for all tools of a block.
const COPIED_BY_ALL: usize = 16 << 20;

/// A function definition, independent of a provider's format.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// The description for the model.
    pub description: Option<&'a str>,
    /// The JSON Schema of its arguments.
    pub parameters: Option<&'a Value>,
}

impl<'a> Function<'a> {
    /// A function with its description and its schema.
    #[must_use]
    pub fn new(name: &'a str, description: Option<&'a str>, parameters: Option<&'a Value>) -> Self {
        Self { name, description, parameters }
    }

    /// Whether it has a non-empty description.
    #[must_use]
    pub(crate) fn is_described(&self) -> bool {
        self.description.is_some_and(|d| !strip(d).is_empty())
    }
}

/// The rendered text of each tool, and the reasons why it may be incomplete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Block {
    /// One text per tool, in order, without the text around it ([`Frame::OPENAI`]).
    pub texts: Vec<String>,
    /// Why the text may differ from what is billed, sorted: references and nesting that were cut.
    pub reasons: Vec<Reason>,
}

impl Block {
    /// Renders tools one by one.
    #[must_use]
    pub(crate) fn of(functions: &[Function<'_>]) -> Self {
        Self::render_functions(functions, false)
    }

    /// The same, with `old` for the model snapshots of 2023.
    pub(super) fn render_functions(functions: &[Function<'_>], old: bool) -> Self {
        let mut left = COPIED_BY_ALL;
        let mut cuts = BTreeSet::new();
        let texts = functions.iter().map(|f| render_tool(f, old, &mut left, &mut cuts)).collect();
        Self { texts, reasons: Vec::from_iter(cuts) }
    }
}

/// The whole text that is encoded for these tools.
#[must_use]
pub fn render(functions: &[Function<'_>]) -> String {
    Frame::OPENAI.join(&Block::of(functions).texts)
}

fn render_tool(function: &Function<'_>, old: bool, left: &mut usize, cuts: &mut BTreeSet<Reason>) -> String {
    let mut lines = match function.description {
        Some(description) if function.is_described() => comment(description),
        _ => Vec::new(),
    };
    let name = function.name;
    let parameters = function.parameters.and_then(Value::as_object);
    lines.push(match parameters {
        Some(parameters) if object_member(parameters, "properties").is_some_and(|own| !own.is_empty()) => {
            let budget = COPIED_BY_ONE_TOOL.min(*left);
            let root = Root::new(function.parameters);
            let mut types = Types { root, old, active: Vec::new(), depth: 0, copies: 0, budget, cuts };
            let view = View::of_map(parameters);
            let above = types.comment_above(&view);
            types.active.push(parameters);
            let object = types.object(&view);
            let spent = budget - types.budget;
            *left -= spent;
            format!("type {name} = (_: {above}{object}) => any;")
        }
        _ => format!("type {name} = () => any;"),
    });
    lines.join("\n")
}

/// A description as comment lines, stripped as a whole and line by line.
fn comment(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in strip(text).split('\n').map(strip) {
        lines.push(if line.is_empty() { "//".to_owned() } else { format!("// {line}") });
    }
    lines
}

/// Renders the types of one tool.
struct Types<'a, 'c> {
    root: Root<'a>,
    /// Whether arrays of plain types omit the annotations of their items, as snapshots of 2023 did.
    old: bool,
    /// The schemas being rendered, outermost first: meeting one again is a cycle.
    active: Vec<&'a Map<String, Value>>,
    depth: usize,
    /// The number of enclosing copies (followed references, single types of a list). The budget is
    /// spent only inside copies.
    copies: usize,
    budget: usize,
    cuts: &'c mut BTreeSet<Reason>,
}

impl<'a> Types<'a, '_> {
    fn follow(&mut self, schema: &'a Value) -> View<'a> {
        let (view, broken) = self.root.follow(schema);
        let reason = match broken {
            Some(Broken::Cycle) => Reason::CyclicRef,
            Some(Broken::Remote | Broken::Missing) => Reason::MissingRef,
            None => return view,
        };
        self.cuts.insert(reason);
        view
    }

    /// The type of a schema. `many_lines`: the enclosing object is written over several lines.
    fn type_of(&mut self, view: &View<'a>, many_lines: bool) -> String {
        if view.layers().iter().any(|layer| self.active.iter().any(|a| std::ptr::eq(*a, *layer))) {
            return self.cut_to_any(Reason::CyclicRef);
        }
        let outer = self.active.len();
        self.active.extend(view.layers());
        let out = self.bounded_type(view, many_lines);
        self.active.truncate(outer);
        out
    }

    fn bounded_type(&mut self, view: &View<'a>, many_lines: bool) -> String {
        if self.depth >= DEEPEST_TYPE {
            return self.cut_to_any(Reason::TooDeep);
        }
        if self.spent_up(view) {
            return self.cut_to_any(Reason::TooLarge);
        }
        self.depth += 1;
        self.copies += usize::from(view.is_copy());
        let out = self.plain_type(view, many_lines);
        self.copies -= usize::from(view.is_copy());
        self.depth -= 1;
        out
    }

    fn cut_to_any(&mut self, reason: Reason) -> String {
        self.cuts.insert(reason);
        "any".to_owned()
    }

    fn spent_up(&self, view: &View<'a>) -> bool {
        self.budget == 0 && (self.copies > 0 || view.is_copy())
    }

    /// Charges text that may occur more often than in the schema; everything else is linear in the
    /// input.
    fn spend(&mut self, view: &View<'a>, bytes: usize) {
        if self.copies > 0 || view.is_copy() {
            self.budget = self.budget.saturating_sub(bytes);
        }
    }

    fn plain_type(&mut self, view: &View<'a>, many_lines: bool) -> String {
        self.spend(view, 8);
        if let Some(Value::Array(variants)) = view.truthy("anyOf").or_else(|| view.truthy("oneOf")) {
            let views: Vec<_> = variants.iter().map(|v| self.follow(v)).collect();
            return self.union(&views, many_lines, Self::type_of);
        }
        if let Some(Value::Array(all)) = view.get("allOf")
            && let [only] = all.as_slice()
        {
            let only = self.follow(only);
            return self.type_of(&only, many_lines);
        }
        if let Some(Value::Array(values)) = view.truthy("enum") {
            let out = values.iter().map(dumps).collect::<Vec<_>>().join(" | ");
            self.spend(view, out.len());
            return out;
        }
        match view.get("type") {
            Some(Value::Array(types)) => {
                if many_lines {
                    self.cuts.insert(Reason::TypeList);
                }
                let views: Vec<_> = types.iter().map(|one| view.with_type(one)).collect();
                self.union(&views, many_lines, Self::bounded_type)
            }
            Some(Value::String(name)) => self.named_type(name, view, many_lines),
            _ if view.get("properties").is_some() => self.object(view),
            _ => "any".to_owned(),
        }
    }

    fn named_type(&mut self, name: &str, view: &View<'a>, many_lines: bool) -> String {
        match name {
            "string" | "boolean" | "null" => name.to_owned(),
            "number" | "integer" => "number".to_owned(),
            "array" => self.array_type(view, many_lines),
            "object" => self.object(view),
            _ if view.get("properties").is_some() => self.object(view),
            _ => "any".to_owned(),
        }
    }

    fn array_type(&mut self, view: &View<'a>, many_lines: bool) -> String {
        let Some(items) = view.truthy("items") else { return "any[]".to_owned() };
        let items = self.follow(items);
        let item = self.type_of(&items, many_lines);
        let is_described = items.truthy("title").or(items.truthy("description")).is_some();
        let described = is_described && !self.old && !item.starts_with('{');
        if !item.contains('\n') && !described {
            return item + "[]";
        }
        let above = self.comment_above(&items);
        format!("Array<\n{above}{item}\n>")
    }

    /// Variants on one line, or one per line, each with its description and format.
    fn union(
        &mut self,
        variants: &[View<'a>],
        many_lines: bool,
        type_of: fn(&mut Self, &View<'a>, bool) -> String,
    ) -> String {
        if !many_lines {
            let types: Vec<_> = variants.iter().map(|v| type_of(self, v, false)).collect();
            return types.join(" | ");
        }
        let mut out = String::new();
        for variant in variants {
            out.push_str("\n | ");
            out.push_str(&type_of(self, variant, true));
            let is_object = variant.get("type").is_some_and(|t| t == "object");
            let mut notes = Vec::new();
            if let (Some(description), false) = (variant.truthy("description"), is_object) {
                notes.push(text_of(description));
            }
            if let Some(format) = variant.truthy("format") {
                notes.push(format!("format: {}", text_of(format)));
            }
            if !notes.is_empty() && !self.spent_up(variant) {
                let notes = notes.join(" ");
                self.spend(variant, notes.len());
                out.push_str(" // ");
                out.push_str(&notes);
            }
        }
        out + "\n"
    }

    /// An object: on one line if no member has comments and every member's type fits on one line.
    fn object(&mut self, view: &View<'a>) -> String {
        let Some(Value::Object(properties)) = view.truthy("properties") else { return "object".to_owned() };
        let members: Vec<_> = properties.iter().map(|(key, schema)| (key, self.follow(schema))).collect();
        let mut many_lines = members.iter().any(|(_, member)| has_comment(member));
        let required = Required::of_keyword(view.truthy("required"));
        let mut parts = Vec::with_capacity(members.len());
        for (key, member) in &members {
            let type_ = self.type_of(member, many_lines);
            many_lines |= type_.contains('\n');
            let mark = if required.holds(key) { "" } else { "?" };
            self.spend(view, key.len() + 8);
            parts.push((key, mark, type_, member));
        }
        if !many_lines {
            let mut members = Vec::new();
            for (key, mark, type_, _) in parts {
                members.push(format!("{key}{mark}: {type_}"));
            }
            return format!("{{ {} }}", members.join(", "));
        }
        let mut lines = vec!["{".to_owned()];
        for (key, mark, type_, member) in parts {
            lines.extend(self.comment_lines(member));
            let gap = if type_.starts_with('\n') { "" } else { " " };
            lines.push(format!("{key}{mark}:{gap}{type_},{}", self.default_note(member)));
        }
        lines.push("}".to_owned());
        lines.join("\n")
    }

    fn default_note(&mut self, view: &View<'a>) -> String {
        let note = match view.get("default").filter(|_| !self.spent_up(view)) {
            None => return String::new(),
            Some(Value::String(default)) if view.truthy("enum").is_some() => format!(" // default: {default}"),
            Some(default) => format!(" // default: {}", dumps(default)),
        };
        self.spend(view, note.len());
        note
    }

    /// The comment lines above a member: its title, an empty one, its description.
    fn comment_lines(&mut self, view: &View<'a>) -> Vec<String> {
        if self.spent_up(view) {
            return Vec::new();
        }
        let mut lines = Vec::new();
        if let Some(title) = view.truthy("title") {
            lines.push(format!("// {}", text_of(title)));
        }
        if let Some(description) = view.truthy("description") {
            if !lines.is_empty() {
                lines.push("//".to_owned());
            }
            lines.extend(comment(&text_of(description)));
        }
        self.spend(view, lines.iter().map(String::len).sum());
        lines
    }

    /// The comment lines before a type, each with its line end.
    fn comment_above(&mut self, view: &View<'a>) -> String {
        let mut above = String::new();
        for line in self.comment_lines(view) {
            above.push_str(&line);
            above.push('\n');
        }
        above
    }
}

/// Whether a member is rendered with a comment.
fn has_comment(view: &View<'_>) -> bool {
    view.truthy("description").or(view.truthy("title")).or(view.get("default")).is_some()
}

/// The value that determines required members: a list that contains the key; for a string, Python
/// tests whether it contains the key.
enum Required<'a> {
    Keys(HashSet<&'a str>),
    Text(&'a str),
}

impl<'a> Required<'a> {
    fn of_keyword(required: Option<&'a Value>) -> Self {
        match required {
            Some(Value::Array(keys)) => Self::Keys(keys.iter().filter_map(Value::as_str).collect()),
            Some(Value::Object(keys)) => Self::Keys(keys.keys().map(String::as_str).collect()),
            Some(Value::String(text)) => Self::Text(text),
            _ => Self::Keys(HashSet::new()),
        }
    }

    fn holds(&self, key: &str) -> bool {
        match self {
            Self::Keys(keys) => keys.contains(key),
            Self::Text(text) => text.contains(key),
        }
    }
}
