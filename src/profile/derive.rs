//! Deriving a profile: categories from names alone.
//!
//! Either every name has a server's prefix (`server__tool`, `server.tool`, `mcp__server__tool`), and the servers are the
//! categories; or names are cut into words and tools that share a telling word go together. The result depends on the
//! names and their order only.

use indexmap::IndexMap;

use super::{Category, OTHER, Pattern, Tier, ToolProfile};
use crate::catalog::Catalog;
use crate::diagnostic::Place;
use crate::name::CategoryName;

/// The fewest and the most categories that words may be derived into; each costs a line in `expand_tools`.
const CATEGORIES: (usize, usize) = (12, 32);

/// How many tools a further category is worth, between the two.
const TOOLS_PER_CATEGORY: usize = 8;

/// A category of more tools than this is cut into smaller ones where its names allow it.
const MAX_TOOLS: usize = 25;

/// Words that say what is done rather than what it is done to: poor names for a group.
const VERBS: [&str; 62] = [
    "add",
    "adjust",
    "all",
    "and",
    "append",
    "apply",
    "as",
    "attach",
    "batch",
    "by",
    "calculate",
    "call",
    "cancel",
    "check",
    "copy",
    "count",
    "create",
    "delete",
    "describe",
    "detach",
    "download",
    "edit",
    "execute",
    "export",
    "fetch",
    "find",
    "for",
    "from",
    "get",
    "import",
    "in",
    "insert",
    "inspect",
    "list",
    "load",
    "make",
    "merge",
    "move",
    "of",
    "on",
    "open",
    "or",
    "patch",
    "post",
    "put",
    "query",
    "read",
    "remove",
    "rename",
    "run",
    "save",
    "search",
    "send",
    "set",
    "show",
    "start",
    "stop",
    "to",
    "update",
    "upload",
    "with",
    "write",
];

pub(super) fn derive(catalog: &Catalog) -> ToolProfile {
    let names: Vec<&str> = catalog.names().map(AsRef::as_ref).collect();
    let groups = by_server(&names).unwrap_or_else(|| by_word(&names));
    let categories = groups
        .into_iter()
        .filter_map(|(word, members)| {
            let tools = members.iter().filter_map(|at| names.get(*at));
            let tools = tools.map(|name| Pattern::new(name, Place::default())).collect();
            Some((CategoryName::new(&word).ok()?, Category { description: String::new(), tools }))
        })
        .collect();
    ToolProfile {
        name: "derived".to_owned(),
        derived: true,
        core: Vec::new(),
        unlisted: Tier::Extended,
        categories,
        summaries: IndexMap::new(),
        place: Place::default(),
    }
}

type Groups = IndexMap<String, Vec<usize>>;

/// Groups by server prefix, if every name has one and there are at least two servers.
fn by_server(names: &[&str]) -> Option<Groups> {
    let mut groups = Groups::new();
    for (at, name) in names.iter().enumerate() {
        let name = name.strip_prefix("mcp__").unwrap_or(name);
        let cut = name.find("__").or_else(|| name.find(['.', ':', '/'])).filter(|cut| *cut > 0)?;
        groups.entry(name.get(..cut)?.to_owned()).or_default().push(at);
    }
    (groups.len() >= 2).then_some(groups)
}

/// Groups by shared words: the most telling word takes its tools, then the next, until none is shared.
fn by_word(names: &[&str]) -> Groups {
    let words: Vec<Vec<String>> = names.iter().map(|name| words(name)).collect();
    let all: Vec<usize> = (0..names.len()).collect();
    let most = (names.len() / TOOLS_PER_CATEGORY).clamp(CATEGORIES.0, CATEGORIES.1);
    let mut groups = split(&words, &all, &[], most);
    // One group that holds nearly everything says nothing: look inside it with its own word set aside.
    while let Some((word, members)) =
        groups.iter().find(|(_, m)| m.len() > MAX_TOOLS).map(|(w, m)| (w.clone(), m.clone()))
    {
        let inner = split(&words, &members, &word.split('_').collect::<Vec<_>>(), most);
        if inner.len() < 2 || groups.len() + inner.len() > most {
            break;
        }
        let at = groups.get_index_of(&word).unwrap_or_default();
        groups.shift_remove(&word);
        for (offset, (sub, tools)) in inner.into_iter().enumerate() {
            let name = if sub == OTHER { word.clone() } else { format!("{word}_{sub}") };
            groups.shift_insert((at + offset).min(groups.len()), name, tools);
        }
    }
    groups
}

/// One round of grouping of `members` into at most `most` groups, without the words in `aside`.
fn split(words: &[Vec<String>], members: &[usize], aside: &[&str], most: usize) -> Groups {
    let own = |at: usize| words.get(at).into_iter().flatten().filter(|word| !aside.contains(&word.as_str()));
    let mut groups = Groups::new();
    let mut left: Vec<usize> = members.to_vec();
    while groups.len() + 1 < most {
        let mut shared: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for &at in &left {
            let mut seen: Vec<&str> = Vec::new();
            for word in own(at).filter(|word| !VERBS.contains(&word.as_str())) {
                if !seen.contains(&word.as_str()) {
                    seen.push(word);
                    shared.entry(word).or_default().push(at);
                }
            }
        }
        // A word that all of several tools share tells nothing apart.
        let telling =
            shared.iter().filter(|(_, tools)| tools.len() >= 2 && (tools.len() < members.len() || members.len() <= 3));
        // The first of the most shared: `max_by_key` alone would take the last.
        let Some((word, tools)) = telling.rev().max_by_key(|(_, tools)| tools.len()) else { break };
        let (word, tools) = ((*word).to_owned(), tools.clone());
        left.retain(|at| !tools.contains(at));
        groups.insert(word, tools);
    }
    if !left.is_empty() {
        groups.entry(OTHER.to_owned()).or_default().extend(left);
    }
    groups
}

/// The words of a name: cut at joints and at capitals, lower case, plural `s` off.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let starts = c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_lower));
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| word.chars().count() >= 2 && !word.chars().all(|c| c.is_ascii_digit()));
    words.into_iter().map(singular).collect()
}

fn singular(word: String) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word,
    }
}
