//! The names of one conversation: a tool keeps its name, and no other tool ever gets it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::comparison_key;
use super::rules::{Known, Rules, Why};

/// The names of meta-tools (`toolfold::profile`, `toolfold::engine`). A meta-tool may be declared
/// under one of them, with a number where a tool had it first, so that no tool gets such a name
/// once the list has been shown.
const META: [&str; 6] = ["expand_tools", "activate_skill", "call_tool", "call_read", "call_write", "call_destructive"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The server's index in the configuration.
    pub(crate) server: usize,
    pub(crate) raw: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    /// Why the name differs from the tool's own, if it was assigned now.
    pub(crate) new: Option<Why>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Given {
    name: String,
    server: String,
    tool: String,
}

/// The names of a conversation. A tool keeps the first name it gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Given>", into = "Vec<Given>")]
pub(crate) struct Book {
    given: Vec<Given>,
    by_name: HashMap<String, usize>,
    by_tool: HashMap<(String, String), usize>,
    /// The server that owns the names with a key.
    by_key: HashMap<String, String>,
}

/// The names of one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    pub(crate) tools: Book,
    pub(crate) prompts: Book,
}

impl From<Vec<Given>> for Book {
    fn from(given: Vec<Given>) -> Self {
        let mut book = Self::default();
        given.into_iter().for_each(|own| book.insert_latest(own));
        book
    }
}

impl From<Book> for Vec<Given> {
    fn from(book: Book) -> Self {
        book.given
    }
}

impl Book {
    pub(crate) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The names of these tools, in order; `None` for a tool that is not in `known`. Tools keep
    /// their names. A tool whose name is in use gets another one in its server's namespace.
    pub(crate) fn assign_names(&mut self, rules: &Rules, known: &Known, tools: &[Wanted]) -> Vec<Option<Named>> {
        let fresh = rules.fresh(known);
        // Before a list has been shown, a tool may have the name of a meta-tool.
        let shown = !self.is_empty();
        let mut in_use = Vec::new();
        for own in tools {
            if self.name_of(rules, own).is_some() {
                continue;
            }
            let Some((name, why)) = fresh.get(own.server).and_then(|names| names.get(&own.raw)) else { continue };
            if self.is_free(name, rules.server(own.server)) && !(shown && is_of_meta_tool(name)) {
                self.give(rules, own, name.clone());
                in_use.push((own, *why));
            }
        }
        // Tools whose computed name is free get it first: no fallback takes such a name.
        for own in tools {
            if self.name_of(rules, own).is_some()
                || fresh.get(own.server).is_none_or(|names| !names.contains_key(&own.raw))
            {
                continue;
            }
            let server = rules.server(own.server);
            let free = rules.prefixed(own.server, &own.raw).find(|name| self.is_free(name, server));
            if let Some(name) = free {
                self.give(rules, own, name);
                in_use.push((own, Some(Why::Used)));
            }
        }
        let new: HashMap<(usize, &str), Option<Why>> =
            in_use.into_iter().map(|(own, why)| ((own.server, own.raw.as_str()), why)).collect();
        let named = |own: &Wanted| {
            let name = self.name_of(rules, own)?.to_owned();
            Some(Named { name, new: new.get(&(own.server, own.raw.as_str())).copied().flatten() })
        };
        tools.iter().map(named).collect()
    }

    /// The name of the server whose tool has a name.
    pub(crate) fn server_of(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).and_then(|at| self.given.get(*at)).map(|given| given.server.as_str())
    }

    /// Adds another process's names of the conversation. Names in use stay.
    pub(crate) fn join(&mut self, other: Self) {
        other.given.into_iter().for_each(|own| self.insert(own));
    }

    fn name_of(&self, rules: &Rules, own: &Wanted) -> Option<&str> {
        let at = self.by_tool.get(&(rules.server(own.server).to_owned(), own.raw.clone()))?;
        // The setting that reserves a name may be newer than the conversation.
        self.given.get(*at).map(|given| given.name.as_str()).filter(|name| !rules.is_own(name))
    }

    /// Whether a name is available for a server's tool: no tool has it, and no other server has one
    /// that differs only in case and separators.
    fn is_free(&self, name: &str, server: &str) -> bool {
        !self.by_name.contains_key(name) && self.by_key.get(&comparison_key(name)).is_none_or(|of| of == server)
    }

    fn give(&mut self, rules: &Rules, own: &Wanted, name: String) {
        let server = rules.server(own.server).to_owned();
        self.insert_latest(Given { name, server, tool: own.raw.clone() });
    }

    /// Adds a name, which replaces an earlier name of the tool.
    fn insert_latest(&mut self, given: Given) {
        let (at, tool) = (self.given.len(), (given.server.clone(), given.tool.clone()));
        self.insert(given);
        if at < self.given.len() {
            self.by_tool.insert(tool, at);
        }
    }

    fn insert(&mut self, given: Given) {
        if self.by_name.contains_key(&given.name) {
            return;
        }
        let at = self.given.len();
        self.by_name.insert(given.name.clone(), at);
        self.by_tool.entry((given.server.clone(), given.tool.clone())).or_insert(at);
        self.by_key.entry(comparison_key(&given.name)).or_insert_with(|| given.server.clone());
        self.given.push(given);
    }
}

fn is_of_meta_tool(name: &str) -> bool {
    let is_number =
        |rest: &str| rest.strip_prefix('_').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    META.iter().filter_map(|meta| name.strip_prefix(meta)).any(|rest| rest.is_empty() || is_number(rest))
}
