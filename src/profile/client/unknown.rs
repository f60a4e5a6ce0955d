//! Distinguishes an agent's own tools from servers' tools for a client without a profile.

use std::collections::BTreeMap;

use super::CLIENTS;
use crate::catalog::{Catalog, Tool};
use crate::profile::words::{can_be_verb, lower_case_words, without_mcp};

/// The minimum number of tools that share a prefix before it counts as a server's.
const MIN_PREFIXED: usize = 3;

/// The minimum number of names common among known agents that identify an array as an agent's.
const MIN_FAMILIAR: usize = 3;

/// For each tool, whether it is unprefixed while others are prefixed.
pub(super) fn unprefixed(catalog: &Catalog) -> Vec<bool> {
    let marked: Vec<bool> = catalog.iter().map(is_marked).collect();
    let others = names_without(catalog, &marked);
    let count = catalog.len() - others.len();
    if count > 0 {
        // Few marked tools among many unfamiliar ones come from a server that uses such names.
        let mixed = !others.is_empty() && (familiar(&others) >= MIN_FAMILIAR || others.len() <= 2 * count);
        return inverted_if(mixed, marked);
    }
    let prefixed = prefixed(catalog);
    let own = names_without(catalog, &prefixed);
    let count = catalog.len() - own.len();
    let plain = own.iter().filter(|name| is_plain(name)).count() * 2 >= own.len();
    // An array is an agent's if it has several servers and a few plain names, or one server and the
    // tools that every agent has.
    let mut servers = 0;
    for tools in leading_groups(catalog.iter(), 1).values() {
        servers += usize::from(tools.len() >= MIN_PREFIXED);
    }
    let mixed = count > 0
        && !own.is_empty()
        && (familiar(&own) >= MIN_FAMILIAR || plain && servers > 1 && count * 2 > catalog.len());
    inverted_if(mixed, prefixed)
}

/// Each flag inverted, or all of them false.
fn inverted_if(mixed: bool, mut flags: Vec<bool>) -> Vec<bool> {
    for flag in &mut flags {
        *flag = mixed && !*flag;
    }
    flags
}

fn familiar(names: &[&str]) -> usize {
    names.iter().filter(|name| is_familiar(name)).count()
}

/// The names of the tools that are not marked.
fn names_without<'c>(catalog: &'c Catalog, marked: &[bool]) -> Vec<&'c str> {
    let mut names = Vec::new();
    for (tool, marked) in catalog.iter().zip(marked) {
        if !marked {
            names.push(tool.name().as_str());
        }
    }
    names
}

/// Whether a tool's name marks it as a server's: `mcp__x__y`, `mcp_x_y`, `x__y`, or a namespace
/// `mcp__x`. `mcp_status` names no server.
fn is_marked(tool: &Tool) -> bool {
    let name = tool.name().as_str();
    let inside = name.find("__").is_some_and(|at| at > 0 && at + 2 < name.len());
    let prefixed = name.strip_prefix("mcp").and_then(|rest| rest.strip_prefix(['_', '-']));
    inside || prefixed.is_some_and(|rest| lower_case_words(rest).len() > 1)
}

/// Whether known agents have their own tool of that name.
fn is_familiar(name: &str) -> bool {
    for client in CLIENTS.iter() {
        for own in [&client.recognised_by, &client.own] {
            if own.iter().any(|own| own.eq_ignore_ascii_case(name)) {
                return true;
            }
        }
    }
    false
}

/// Whether a name contains no server name: it is one word, or begins with a verb. `sns_publish`
/// belongs to a server with one tool.
fn is_plain(name: &str) -> bool {
    let words = lower_case_words(name);
    words.len() == 1 || words.first().is_some_and(|first| can_be_verb(first))
}

/// For each tool, whether other tools share the first word of its name as a server prefix: it is
/// not a verb, and a verb usually follows.
fn prefixed(catalog: &Catalog) -> Vec<bool> {
    let mut prefixed = vec![false; catalog.len()];
    for places in leading_groups(catalog.iter(), 1).into_values() {
        for at in &places {
            if let Some(flag) = prefixed.get_mut(*at) {
                *flag = places.len() >= MIN_PREFIXED;
            }
        }
    }
    prefixed
}

/// The indices of tools by the first word of their names, if it is not a verb and a verb follows it
/// within a few words in most of the names: `slack_post_message`, not `cookie_list`.
pub(in super::super) fn leading_groups<'t>(
    tools: impl Iterator<Item = &'t Tool>,
    depth: usize,
) -> BTreeMap<String, Vec<usize>> {
    let mut groups: BTreeMap<String, (Vec<usize>, usize)> = BTreeMap::new();
    for (at, tool) in tools.enumerate() {
        let words = lower_case_words(tool.name().as_str());
        let [first, rest @ ..] = &words[..] else { continue };
        if rest.is_empty() || can_be_verb(first) {
            continue;
        }
        let verb_next = rest.len() > 1 && rest.iter().take(depth).any(|word| can_be_verb(word));
        let (places, with_verb) = groups.entry(first.clone()).or_default();
        places.push(at);
        *with_verb += usize::from(verb_next);
    }
    let mut usual = BTreeMap::new();
    for (first, (places, with_verb)) in groups {
        if with_verb * 5 >= places.len() * 3 {
            usual.insert(first, places);
        }
    }
    usual
}

/// The prefixes of the tools that are not `own`, one per server, with the separator: words that all
/// names with the same first word begin with.
pub(in super::super) fn prefix_groups(catalog: &Catalog, own: &[bool]) -> Vec<String> {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names_without(catalog, own) {
        if let Some(first) = lower_case_words(without_mcp(name)).into_iter().next() {
            groups.entry(first).or_default().push(name);
        }
    }
    let mut prefixes = Vec::new();
    for names in groups.values() {
        prefixes.extend(common_prefix(names));
    }
    prefixes
}

/// The common beginning of some names, up to a separator that leaves a word of each and before any
/// verb.
fn common_prefix(names: &[&str]) -> Option<String> {
    let first = *names.first()?;
    let mut best = None;
    for (at, _) in first.match_indices(['_', '-']) {
        let end = at + 1;
        let prefix = first.get(..end)?;
        let last = lower_case_words(prefix).pop().unwrap_or_default();
        let all = names.iter().all(|name| name.len() > end && name.starts_with(prefix));
        if !all || can_be_verb(&last) && best.is_some() {
            break;
        }
        let marks_only = matches!(prefix, "mcp_" | "mcp-");
        if marks_only {
            continue;
        }
        best = Some(prefix);
        if names.len() == 1 {
            break;
        }
    }
    best.map(str::to_owned)
}
