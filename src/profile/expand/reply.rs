//! The effect of an `expand_tools` call, and the text of its answer.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::bridges;
use crate::catalog::{Catalog, Tool, write_string};
use crate::name::{CategoryName, ToolName, nearest};
use crate::profile::fold::schema_in_answers;
use crate::profile::{Arm, Assignment, Deferred, Delivery, Expanded, Naming, Presentation, Tier};

/// The maximum number of names in a call; more are rejected, so that a runaway call costs nothing.
const MAX_NAMES: usize = 200;

/// The maximum number of unknown names with suggestions; the rest are counted.
const MAX_UNKNOWN_EXPLAINED: usize = 5;

/// The arguments of an `expand_tools` call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpandRequest {
    /// Categories to open.
    pub categories: Vec<String>,
    /// Single tools to open.
    pub tools: Vec<String>,
    /// Words to search the tools for; the best results are opened.
    pub query: Option<String>,
}

/// Why the arguments of `expand_tools` are invalid. Shown to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// The arguments are not an object.
    #[error("the arguments must be an object with `query`, `categories` or `tools`")]
    NotAnObject,
    /// A list has an element that is not a string.
    #[error("`{0}` must be a list of names")]
    NotNames(&'static str),
    /// The query is not a string.
    #[error("`query` must be a string")]
    NotAQuery,
    /// Nothing was requested.
    #[error("give at least one of `query`, `categories` and `tools`")]
    Nothing,
    /// Too many names in one call.
    #[error("at most {MAX_NAMES} names at once")]
    TooMany,
}

impl ExpandRequest {
    /// Sets [`Self::categories`].
    #[must_use]
    pub fn with_categories(mut self, categories: Vec<String>) -> Self {
        self.categories = categories;
        self
    }

    /// Sets [`Self::tools`].
    #[must_use]
    pub fn with_tools(mut self, tools: Vec<String>) -> Self {
        self.tools = tools;
        self
    }

    /// Sets [`Self::query`].
    #[must_use]
    pub fn with_query(mut self, query: String) -> Self {
        self.query = Some(query);
        self
    }

    /// Reads the arguments of a call. A single string counts as a list of one, and the original
    /// design's `category` as `categories`. Unknown keys are ignored.
    ///
    /// # Errors
    /// Returns an [`ExpandError`] with a message for the model.
    pub fn from_arguments(arguments: &Value) -> Result<Self, ExpandError> {
        let map = arguments.as_object().ok_or(ExpandError::NotAnObject)?;
        let mut categories = names_under(map, "categories")?;
        categories.extend(names_under(map, "category")?);
        let query = match map.get("query") {
            None | Some(Value::Null) => None,
            Some(query) => Some(query.as_str().ok_or(ExpandError::NotAQuery)?.trim().to_owned()),
        };
        let query = query.filter(|query| !query.is_empty());
        let request = Self { categories, tools: names_under(map, "tools")?, query };
        match request.categories.len() + request.tools.len() {
            0 if request.query.is_none() => Err(ExpandError::Nothing),
            n if n > MAX_NAMES => Err(ExpandError::TooMany),
            _ => Ok(request),
        }
    }
}

/// The names in an argument: one, or a list.
fn names_under(map: &Map<String, Value>, key: &'static str) -> Result<Vec<String>, ExpandError> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one.clone()]),
        Some(Value::Array(many)) => {
            many.iter().map(|v| v.as_str().map(str::to_owned).ok_or(ExpandError::NotNames(key))).collect()
        }
        Some(_) => Err(ExpandError::NotNames(key)),
    }
}

/// The effect of an `expand_tools` call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expansion {
    /// Categories that this call opens.
    pub categories: Vec<CategoryName>,
    /// Tools that this call opens by name.
    pub tools: Vec<ToolName>,
    /// Every tool whose schema is in the answer or, in place, in the next turn.
    pub opened: Vec<ToolName>,
    /// Every folded tool that the request names, whether it was open before or not, in catalog
    /// order, and then those that its query finds, best first.
    pub mentioned: Vec<ToolName>,
    /// Names that open nothing, as given.
    pub unknown: Vec<String>,
    /// The answer for the model, with the names that it sees.
    pub reply: String,
    /// The part of the answer without definitions: what a query finds, unknown names and
    /// suggestions.
    pub notes: String,
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

    /// Marks everything that this call opens as open.
    pub fn apply(&self, expanded: &mut Expanded) {
        for name in &self.categories {
            expanded.open_category(name.clone());
        }
        for name in &self.tools {
            expanded.open_tool(name.clone());
        }
    }
}

/// The only tool whose name ends with this text after a separator: categories omit the server
/// prefix of tool names.
fn by_end(catalog: &Catalog, wanted: &str) -> Option<usize> {
    let mut found = catalog.names().enumerate().filter(|(_, own)| {
        let before = own.as_str().strip_suffix(wanted).filter(|_| !wanted.is_empty());
        before.is_some_and(|before| before.ends_with(['_', '-', '.', '/', ':']))
    });
    found.next().filter(|_| found.next().is_none()).map(|(at, _)| at)
}

/// Answers an `expand_tools` call. A pure function: `expanded` is what is open before the call;
/// [`Expansion::apply`] opens.
///
/// The request and the answer use the names that the model sees. A tool's name given as a category,
/// or the other way round, is accepted. Tools that are already open are named, not repeated.
#[must_use]
pub fn expand(
    catalog: &Catalog,
    assignment: &Assignment,
    presentation: &Presentation,
    expanded: &Expanded,
    request: &ExpandRequest,
    naming: &dyn Naming,
) -> Expansion {
    let known = presentation.deferred();
    if known.is_empty() {
        let reply = "Nothing is folded: every tool is shown whole. Call it directly.".to_owned();
        return Expansion { reply, ..Expansion::default() };
    }
    let words = Reply { catalog, assignment, known, arm: presentation.arm(), naming };
    let mut found = Expansion::default();
    let Named { fresh, already, whole, unknown } = words.open_named(presentation, expanded, request, &mut found);
    let mut mentioned: Vec<usize> = fresh.union(&already).copied().collect();
    let (mut fresh, mut already) = (Vec::from_iter(fresh), Vec::from_iter(already));
    if let Some(query) = &request.query {
        let searched = words.search(presentation, expanded, query);
        for at in searched.opens.into_iter().filter(|at| !mentioned.contains(at)) {
            found.open_tool(catalog.at(at), expanded);
            fresh.push(at);
        }
        already.extend(searched.already.into_iter().filter(|at| !mentioned.contains(at)));
        found.notes = searched.text;
    }
    mentioned.extend(fresh.iter().chain(&already).filter(|at| !mentioned.contains(at)).copied().collect::<Vec<_>>());
    let name_of = |at: &usize| catalog.at(*at).map(|tool| tool.name().clone());
    found.mentioned = mentioned.iter().filter_map(name_of).collect();
    found.opened = fresh.iter().filter_map(name_of).collect();
    found.reply = joined_lines(&found.notes, &words.opened_text(&fresh, &already, &whole));
    if !unknown.is_empty() {
        let unknown_text = words.unknown_text(&unknown);
        found.reply = joined_lines(&found.reply, &unknown_text);
        found.notes = joined_lines(&found.notes, &unknown_text);
        found.unknown = unknown.into_iter().map(|(name, _)| name.to_owned()).collect();
    }
    found
}

/// What the names in a request refer to.
#[derive(Debug, Default)]
struct Named<'n> {
    /// Folded tools that this call opens.
    fresh: BTreeSet<usize>,
    /// Folded tools that were open before.
    already: BTreeSet<usize>,
    /// Tools that are not folded.
    whole: Vec<usize>,
    /// Each unknown name, and whether it was given as a category.
    unknown: Vec<(&'n str, bool)>,
}

/// Builds the text of an answer.
pub(super) struct Reply<'r> {
    pub(super) catalog: &'r Catalog,
    pub(super) assignment: &'r Assignment,
    pub(super) known: &'r [Deferred],
    arm: Arm,
    pub(super) naming: &'r dyn Naming,
}

impl<'r> Reply<'r> {
    /// Opens the categories and tools that a request names.
    fn open_named<'n>(
        &self,
        presentation: &Presentation,
        expanded: &Expanded,
        request: &'n ExpandRequest,
        found: &mut Expansion,
    ) -> Named<'n> {
        let (catalog, naming) = (self.catalog, self.naming);
        let mut named = Named::default();
        let categories = request.categories.iter().map(|name| (name, true));
        for (wanted, as_category) in categories.chain(request.tools.iter().map(|name| (name, false))) {
            let wanted = wanted.trim();
            let entry = self.known.iter().find(|entry| entry.category == naming.find_category(wanted));
            let tool = naming.find_tool(catalog, wanted).or_else(|| by_end(catalog, wanted));
            let folded = tool.filter(|at| presentation.plan_of(*at).is_some_and(|planned| planned.deferred));
            // A name of both kinds has the kind it was requested as.
            let members: &[usize] = match (entry, &folded) {
                (Some(entry), at) if as_category || at.is_none() => {
                    found.open_category(entry, expanded);
                    &entry.tools
                }
                (_, Some(at)) => {
                    found.open_tool(catalog.at(*at), expanded);
                    std::slice::from_ref(at)
                }
                (_, None) => {
                    match tool.filter(|at| self.is_shown(*at)) {
                        Some(at) if named.whole.contains(&at) => {}
                        Some(at) => named.whole.push(at),
                        None if named.unknown.iter().any(|(seen, _)| *seen == wanted) => {}
                        None => named.unknown.push((wanted, as_category)),
                    }
                    continue;
                }
            };
            for at in members {
                match self.is_open(expanded, *at) {
                    true => named.already.insert(*at),
                    false => named.fresh.insert(*at),
                };
            }
        }
        named
    }

    pub(super) fn is_open(&self, expanded: &Expanded, at: usize) -> bool {
        let category = self.assignment.at(at).map(|assigned| assigned.category.as_str());
        let tool = self.catalog.at(at).map(|tool| tool.name().as_str());
        tool.zip(category).is_some_and(|(tool, category)| expanded.opens_tool(tool, category))
    }

    pub(super) fn is_shown(&self, at: usize) -> bool {
        self.assignment.at(at).is_some_and(|assigned| assigned.tier != Tier::Hidden)
    }

    fn opened_text(&self, fresh: &[usize], already: &[usize], whole: &[usize]) -> String {
        let mut text = String::new();
        if !fresh.is_empty() && self.arm.delivery() != Delivery::Append {
            text = definitions(self.catalog, self.arm, fresh.iter().copied(), self.naming);
        }
        let mut line = |words: &str, tools: Vec<&str>| {
            if !tools.is_empty() {
                break_line(&mut text);
                text.push_str(&format!("{words}: {}", tools.join(", ")));
            }
        };
        let name = |at: &usize| Some(self.naming.tool(*at, self.catalog.at(*at)?.name().as_str()));
        if self.arm.delivery() == Delivery::Append {
            line("Loaded, call it directly", fresh.iter().filter_map(name).collect());
        }
        if self.arm.delivery() == Delivery::Bridge {
            for bridge in bridges(self.catalog, already.iter().copied(), self.naming) {
                let own = already.iter().filter(|at| self.catalog.at(**at).is_some_and(|tool| bridge.is_for(tool)));
                let words = format!("Already open, run it with {}", self.naming.bridge(bridge));
                line(&words, own.filter_map(name).collect());
            }
        } else {
            line("Already open, call it directly", already.iter().filter_map(name).collect());
        }
        line("Shown whole from the start, call it directly", whole.iter().filter_map(name).collect());
        text
    }

    /// The text about names that open nothing.
    fn unknown_text(&self, unknown: &[(&str, bool)]) -> String {
        let categories: Vec<&'r str> =
            self.known.iter().map(|entry| self.naming.category(entry.category.as_str())).collect();
        let tools = self.catalog.names().enumerate().filter(|(at, _)| self.is_shown(*at));
        let tools = tools.map(|(at, own)| self.naming.tool(at, own.as_str()));
        let names: Vec<&'r str> = categories.iter().copied().chain(tools).collect();
        let mut text = String::new();
        for (at, (wanted, as_category)) in unknown.iter().enumerate() {
            break_line(&mut text);
            if at == MAX_UNKNOWN_EXPLAINED {
                text.push_str(&format!("{} more names are unknown too.", unknown.len() - at));
                break;
            }
            let short: String = crate::diagnostic::visible(wanted).chars().take(80).collect();
            let near: Vec<String> =
                nearest(wanted, names.iter().copied(), 5).into_iter().map(|name| format!("`{name}`")).collect();
            let kind = if *as_category { "category" } else { "tool" };
            match near.split_last() {
                None => text.push_str(&format!("Unknown {kind} `{short}`. Categories: {}.", categories.join(", "))),
                Some((only, [])) => text.push_str(&format!("Unknown {kind} `{short}`. Did you mean {only}?")),
                Some((last, rest)) => {
                    text.push_str(&format!("Unknown {kind} `{short}`. Did you mean {} or {last}?", rest.join(", ")));
                }
            }
        }
        text
    }
}

/// Two texts, on separate lines.
fn joined_lines(one: &str, other: &str) -> String {
    let separator = if one.is_empty() || other.is_empty() { "" } else { "\n" };
    format!("{one}{separator}{other}")
}

pub(super) fn break_line(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}

/// The definitions of opened tools as an arm delivers them: how to call them, then one per line. In
/// place they are only named, because the next turn's array contains them. `tools` are indices in
/// the catalog.
#[must_use]
pub fn definitions(catalog: &Catalog, arm: Arm, tools: impl IntoIterator<Item = usize>, naming: &dyn Naming) -> String {
    let mut text = match arm.delivery() {
        Delivery::InPlace => "Opened, with full parameters in your tool list from now on:".to_owned(),
        Delivery::Bridge => return bridged(catalog, &tools.into_iter().collect::<Vec<_>>(), naming),
        Delivery::None | Delivery::InResult | Delivery::Native | Delivery::Append => {
            "Opened. Call them directly by name:".to_owned()
        }
    };
    for (at, tool) in tools.into_iter().filter_map(|at| Some((at, catalog.at(at)?))) {
        text.push('\n');
        let shown = naming.tool(at, tool.name().as_str());
        if arm.delivery() == Delivery::InPlace {
            text.push_str(shown);
        } else {
            text.push_str(&definition(tool, shown));
        }
    }
    text
}

/// The definitions of opened tools, grouped by the meta-tool that runs them.
fn bridged(catalog: &Catalog, tools: &[usize], naming: &dyn Naming) -> String {
    let mut text = String::new();
    for bridge in bridges(catalog, tools.iter().copied(), naming) {
        break_line(&mut text);
        let opened = if text.is_empty() { "Opened. " } else { "" };
        let name = naming.bridge(bridge);
        text.push_str(&format!("{opened}Run them with {name} {{\"name\":…,\"arguments\":{{…}}}}:"));
        for (at, tool) in tools.iter().filter_map(|at| Some((*at, catalog.at(*at)?))) {
            if bridge.is_for(tool) {
                text.push('\n');
                text.push_str(&definition(tool, naming.tool(at, tool.name().as_str())));
            }
        }
    }
    text
}

/// A tool as a line of compact JSON under the name that the model sees, with its original schema
/// except for `$schema` and the title at its root.
#[must_use]
pub fn definition(tool: &Tool, shown: &str) -> String {
    let mut text = String::from("{\"name\":");
    write_string(&mut text, shown);
    if !tool.description().is_empty() {
        text.push_str(",\"description\":");
        write_string(&mut text, tool.description());
    }
    text.push_str(",\"parameters\":");
    text.push_str(&schema_in_answers(tool));
    text.push('}');
    text
}
