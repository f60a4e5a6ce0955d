//! What a call of `expand_tools` opens, and the text that answers it.

use std::fmt::Write;

use serde_json::Value;

use crate::catalog::{Catalog, Tool, write_string};
use crate::name::{CategoryName, ToolName, nearest};
use crate::profile::{Arm, Assignment, Deferred, Delivery, Expanded, Presentation, Tier};

/// The most names one call may give; what is beyond is refused, so that a runaway call costs nothing.
const MAX_NAMES: usize = 200;

/// For how many unknown names the nearest are looked up; the rest are counted.
const MAX_UNKNOWN_EXPLAINED: usize = 5;

/// What a call of `expand_tools` asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpandRequest {
    /// Categories to open.
    pub categories: Vec<String>,
    /// Single tools to open.
    pub tools: Vec<String>,
}

/// Why the arguments of `expand_tools` cannot be read. Said to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// The arguments are not an object.
    #[error("the arguments must be an object with `categories` or `tools`")]
    NotAnObject,
    /// A list holds something else than texts.
    #[error("`{0}` must be a list of names")]
    NotNames(&'static str),
    /// Nothing was asked for.
    #[error("give at least one of `categories` and `tools`")]
    Nothing,
    /// Too many names at once.
    #[error("at most {MAX_NAMES} names at once")]
    TooMany,
}

impl ExpandRequest {
    /// Reads the arguments of a call. A single text is taken for a list of one, and the original design's `category`
    /// for `categories`; unknown keys are ignored.
    ///
    /// # Errors
    /// [`ExpandError`] says what is wrong, in words for the model.
    pub fn from_arguments(arguments: &Value) -> Result<Self, ExpandError> {
        let map = arguments.as_object().ok_or(ExpandError::NotAnObject)?;
        let list = |key: &'static str| match map.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(one)) => Ok(vec![one.clone()]),
            Some(Value::Array(many)) => {
                many.iter().map(|v| v.as_str().map(str::to_owned).ok_or(ExpandError::NotNames(key))).collect()
            }
            Some(_) => Err(ExpandError::NotNames(key)),
        };
        let mut categories = list("categories")?;
        categories.extend(list("category")?);
        let request = Self { categories, tools: list("tools")? };
        match request.categories.len() + request.tools.len() {
            0 => Err(ExpandError::Nothing),
            n if n > MAX_NAMES => Err(ExpandError::TooMany),
            _ => Ok(request),
        }
    }
}

/// What a call of `expand_tools` does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expansion {
    /// Categories that this call opens.
    pub categories: Vec<CategoryName>,
    /// Tools that this call opens by name.
    pub tools: Vec<ToolName>,
    /// Every tool whose schema the answer brings (or, in place, the next turn).
    pub opened: Vec<ToolName>,
    /// Every tool that the request names and the catalogue folds, open before or not, in catalogue order.
    pub mentioned: Vec<ToolName>,
    /// Names that open nothing, as they were given.
    pub unknown: Vec<String>,
    /// The answer for the model.
    pub reply: String,
}

impl Expansion {
    fn open_category(&mut self, entry: &Deferred, expanded: &Expanded) {
        let open = expanded.categories().any(|open| *open == entry.category);
        if !open && !self.categories.contains(&entry.category) {
            self.categories.push(entry.category.clone());
        }
    }

    fn open_tool(&mut self, tool: Option<&Tool>, expanded: &Expanded) {
        let Some(tool) = tool else { return };
        if !expanded.tools().any(|open| open == tool.name()) && !self.tools.contains(tool.name()) {
            self.tools.push(tool.name().clone());
        }
    }

    /// Marks what this call opens as open.
    pub fn apply(&self, expanded: &mut Expanded) {
        for name in &self.categories {
            expanded.open_category(name.clone());
        }
        for name in &self.tools {
            expanded.open_tool(name.clone());
        }
    }
}

/// Answers a call of `expand_tools`. Pure: `expanded` is what is open before the call; [`Expansion::apply`] opens.
///
/// A tool's name given as a category, or the other way round, is taken for what it is. Tools already open are named,
/// not repeated.
#[must_use]
pub fn expand(
    catalog: &Catalog,
    assignment: &Assignment,
    presentation: &Presentation,
    expanded: &Expanded,
    request: &ExpandRequest,
) -> Expansion {
    let (known, arm) = (presentation.deferred(), presentation.arm());
    if known.is_empty() {
        let reply = "Nothing is folded: every tool is shown whole. Call it directly.".to_owned();
        return Expansion { reply, ..Expansion::default() };
    }
    let category_of = |at: usize| assignment.at(at).map(|assigned| assigned.category.as_str()).unwrap_or_default();
    let mut found = Expansion {
        categories: vec![],
        tools: vec![],
        opened: vec![],
        mentioned: vec![],
        unknown: vec![],
        reply: String::new(),
    };
    let mut fresh: Vec<usize> = Vec::new();
    let mut already: Vec<usize> = Vec::new();
    let mut whole: Vec<&str> = Vec::new();

    let categories = request.categories.iter().map(|name| (name, true));
    for (wanted, as_category) in categories.chain(request.tools.iter().map(|name| (name, false))) {
        let wanted = wanted.trim();
        let entry = known.iter().find(|entry| entry.category == wanted);
        let tool = || known.iter().flat_map(|entry| &entry.tools).find(|at| named(catalog, **at, wanted)).copied();
        // A name of both kinds is what it was asked for as.
        let members: Vec<usize> = match (entry, tool()) {
            (Some(entry), at) if as_category || at.is_none() => {
                found.open_category(entry, expanded);
                entry.tools.clone()
            }
            (_, Some(at)) => {
                found.open_tool(catalog.at(at), expanded);
                vec![at]
            }
            _ => {
                match catalog.get(wanted).filter(|_| shown(catalog, assignment, wanted)) {
                    Some(tool) => whole.push(tool.name().as_str()),
                    None if found.unknown.iter().any(|seen| seen == wanted) => {}
                    None => found.unknown.push(wanted.to_owned()),
                }
                continue;
            }
        };
        for at in members {
            let Some(tool) = catalog.at(at) else { continue };
            if expanded.has(tool.name().as_str(), category_of(at)) {
                already.push(at);
            } else if !fresh.contains(&at) {
                fresh.push(at);
            }
        }
    }
    fresh.sort_unstable();
    already.sort_unstable();
    already.dedup();
    let mut mentioned: Vec<usize> = fresh.iter().chain(&already).copied().collect();
    mentioned.sort_unstable();
    let name_of = |at: &usize| catalog.at(*at).map(|tool| tool.name().clone());
    found.mentioned = mentioned.iter().filter_map(name_of).collect();
    let already: Vec<&str> = already.iter().filter_map(|at| catalog.at(*at)).map(|tool| tool.name().as_str()).collect();
    let opened: Vec<&Tool> = fresh.iter().filter_map(|at| catalog.at(*at)).collect();
    found.opened = opened.iter().map(|tool| tool.name().clone()).collect();
    whole.dedup();
    found.reply = reply(arm, &opened, &already, &whole);
    let categories = known.iter().map(|entry| entry.category.as_str());
    let tools = catalog.names().map(AsRef::as_ref).filter(|name| shown(catalog, assignment, name));
    let names: Vec<&str> = categories.chain(tools).collect();
    for (at, wanted) in found.unknown.iter().enumerate() {
        if at == MAX_UNKNOWN_EXPLAINED {
            let _ = write!(found.reply, "\nUnknown too: {} more names", found.unknown.len() - at);
            break;
        }
        say_unknown(&mut found.reply, wanted, &names, known.iter().map(|entry| entry.category.as_str()));
    }
    found
}

fn named(catalog: &Catalog, at: usize, name: &str) -> bool {
    catalog.at(at).is_some_and(|tool| *tool.name() == name)
}

fn shown(catalog: &Catalog, assignment: &Assignment, name: &str) -> bool {
    catalog.position(name).and_then(|at| assignment.at(at)).is_some_and(|assigned| assigned.tier != Tier::Hidden)
}

fn reply(arm: Arm, opened: &[&Tool], already: &[&str], whole: &[&str]) -> String {
    let mut text = if opened.is_empty() { String::new() } else { definitions(arm, opened) };
    let mut line = |words: &str, names: &[&str]| {
        if !names.is_empty() {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = write!(text, "{gap}{words}: {}", names.join(", "));
        }
    };
    let call = if arm.delivery() == Delivery::Bridge { "run it with call_tool" } else { "call it directly" };
    line(&format!("Already open, {call}"), already);
    line("Shown whole from the start, call it directly", whole);
    text
}

/// The definitions of opened tools as an arm delivers them: how to call them, then one a line. In place they are only
/// named, since the next turn's array has them.
#[must_use]
pub fn definitions(arm: Arm, tools: &[&Tool]) -> String {
    let mut text = String::from(match arm.delivery() {
        Delivery::InPlace => "Opened, with full parameters in your tool list from now on:",
        Delivery::Bridge => "Opened. Run them with call_tool {\"name\":…,\"arguments\":{…}}:",
        Delivery::None | Delivery::InResult | Delivery::Native => "Opened. Call them directly by name:",
    });
    for tool in tools {
        text.push('\n');
        if arm.delivery() == Delivery::InPlace {
            text.push_str(tool.name().as_str());
        } else {
            text.push_str(&definition(tool));
        }
    }
    text
}

/// One tool as a line of compact JSON, its schema spelt as it came.
#[must_use]
pub fn definition(tool: &Tool) -> String {
    let mut text = String::from("{\"name\":");
    write_string(&mut text, tool.name().as_str());
    if !tool.description().is_empty() {
        text.push_str(",\"description\":");
        write_string(&mut text, tool.description());
    }
    text.push_str(",\"parameters\":");
    text.push_str(tool.parameters_text());
    text.push('}');
    text
}

fn say_unknown<'a>(text: &mut String, wanted: &str, names: &[&str], categories: impl Iterator<Item = &'a str>) {
    let gap = if text.is_empty() { "" } else { "\n" };
    let short: String = crate::diagnostic::visible(wanted).chars().take(80).collect();
    let near = nearest(wanted, names.iter().copied(), 5);
    let _ = if near.is_empty() {
        write!(text, "{gap}Unknown: {short}. Categories: {}", categories.collect::<Vec<_>>().join(", "))
    } else {
        write!(text, "{gap}Unknown: {short}. Near: {}", near.join(", "))
    };
}
