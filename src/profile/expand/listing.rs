//! How the description of `expand_tools` lists folded tools that are not in the array.

use indexmap::IndexMap;

use super::Deferred;
use crate::catalog::Catalog;
use crate::profile::Naming;
use crate::profile::cost::text_tokens;
use crate::profile::search::server_or_other;
use crate::profile::words::split_server;

/// The maximum size of a list without tool names, in estimated tokens. With it, `expand_tools` and
/// `call_tool` have at most 1,300 tokens.
const COUNTED_TOKENS: usize = 950;

/// The characters that separate a prefix from the rest of a name.
const SEPARATORS: [char; 5] = ['_', '-', '.', ':', '/'];

/// The minimum length of a common prefix that is written once, in bytes.
const MIN_PREFIX_BYTES: usize = 3;

/// What the model reads if a prefix is written once.
const PREFIX_NOTE: &str = " (`a_{b, c}` is a_b and a_c)";

/// The categories, a line each, with the names of their tools.
pub(super) fn lines_with_names(catalog: &Catalog, categories: &[Deferred], naming: &dyn Naming) -> String {
    let (mut whole, mut short) = (String::new(), String::new());
    for entry in categories {
        let mut line = format!("\n- {} ({}): ", naming.category(entry.category.as_str()), entry.tools.len());
        if !entry.description.is_empty() && !repeats_names(catalog, entry) {
            line.push_str(&format!("{}: ", entry.description));
        }
        let names: Vec<&str> = entry.tools.iter().filter_map(|at| shown_name(catalog, *at, naming)).collect();
        whole.push_str(&format!("{line}{}", names.join(", ")));
        short.push_str(&format!("{line}{}", with_prefixes_once(&names)));
    }
    if short.len() + PREFIX_NOTE.len() < whole.len() {
        format!("Categories{PREFIX_NOTE}:{short}")
    } else {
        format!("Categories:{whole}")
    }
}

fn shown_name<'n>(catalog: &'n Catalog, at: usize, naming: &'n dyn Naming) -> Option<&'n str> {
    Some(naming.tool(at, catalog.at(at)?.name().as_str()))
}

/// Whether a category's description only consists of names of its tools, like that of a derived
/// profile.
fn repeats_names(catalog: &Catalog, entry: &Deferred) -> bool {
    for part in entry.description.split(", ").filter(|part| *part != "…") {
        let mut tools = entry.tools.iter().filter_map(|at| catalog.at(*at));
        if !tools.any(|tool| is_short_form(part, tool.name().as_str())) {
            return false;
        }
    }
    true
}

/// Whether a text is a name, or the end of it after a separator.
fn is_short_form(text: &str, name: &str) -> bool {
    name.strip_suffix(text).is_some_and(|before| before.is_empty() || before.ends_with(SEPARATORS))
}

/// Names in order, by server, with each common prefix once: `github__{get_issue, list_issues}`.
fn with_prefixes_once(names: &[&str]) -> String {
    let mut groups: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for name in names {
        let own = split_server(name).map_or(*name, |(_, own)| own);
        let mark = name.strip_suffix(own).unwrap_or_default();
        groups.entry(mark).or_default().push(name);
    }
    let mut parts: Vec<String> = Vec::new();
    for names in groups.values() {
        let prefix = common_prefix(names);
        if names.len() < 2 || prefix.len() < MIN_PREFIX_BYTES {
            parts.extend(names.iter().map(|name| (*name).to_owned()));
            continue;
        }
        let rests: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix(prefix)).collect();
        parts.push(format!("{prefix}{{{}}}", rests.join(", ")));
    }
    parts.join(", ")
}

/// The longest prefix of all names that ends with a separator and leaves some of each name.
fn common_prefix<'n>(names: &[&'n str]) -> &'n str {
    let first = names.first().copied().unwrap_or_default();
    for (at, separator) in first.rmatch_indices(SEPARATORS) {
        let prefix = first.get(..at + separator.len()).unwrap_or_default();
        if names.iter().all(|name| name.starts_with(prefix) && name.len() > prefix.len()) {
            return prefix;
        }
    }
    ""
}

/// The categories with their numbers of tools, of a limited size for any number of tools: if they
/// do not fit, the servers with theirs; if there are no servers, the first categories.
pub(super) fn counted(catalog: &Catalog, categories: &[Deferred], naming: &dyn Naming) -> String {
    let mut names: Vec<(&str, usize)> = Vec::new();
    for entry in categories {
        names.push((naming.category(entry.category.as_str()), entry.tools.len()));
    }
    let (list, left_out) = counts_that_fit(&names);
    if left_out == 0 {
        return format!("Categories: {list}");
    }
    let mut servers: IndexMap<&str, usize> = IndexMap::new();
    for tool in categories.iter().flat_map(|entry| &entry.tools).filter_map(|at| catalog.at(*at)) {
        *servers.entry(server_or_other(tool)).or_default() += 1;
    }
    if servers.len() < 2 {
        return format!("Categories: {list} and {left_out} more");
    }
    let mut servers = Vec::from_iter(servers);
    if counts_that_fit(&servers).1 > 0 {
        servers.sort_by_cached_key(|(_, tools)| std::cmp::Reverse(*tools));
    }
    let (list, left_out) = counts_that_fit(&servers);
    let more = if left_out == 0 { String::new() } else { format!(" and {left_out} more") };
    format!("Servers (pass a name in `categories` to list its categories): {list}{more}")
}

/// As many names with their counts as fit, and the number of the others.
pub(super) fn counts_that_fit(names: &[(&str, usize)]) -> (String, usize) {
    let mut list = String::new();
    let mut tokens = 0;
    for (at, (name, count)) in names.iter().enumerate() {
        let part = format!("{}{name} ({count})", if at == 0 { "" } else { ", " });
        tokens += text_tokens(&part);
        if tokens > COUNTED_TOKENS {
            return (list, names.len() - at);
        }
        list.push_str(&part);
    }
    (list, 0)
}

#[cfg(test)]
mod tests {
    use super::with_prefixes_once;

    #[test]
    fn prefixes_are_written_once() {
        for (names, expected) in [
            (&["a__get_x", "a__list_y"][..], "a__{get_x, list_y}"),
            (&["mcp__a__x_get", "mcp__a__x_list", "draw"], "mcp__a__x_{get, list}, draw"),
            (&["one.a", "two.a", "one.b", "two.b"], "one.{a, b}, two.{a, b}"),
            (&["git_add", "git_log"], "git_{add, log}"),
            (&["git_add", "git_log", "push"], "git_add, git_log, push"),
            (&["a_b", "a_b_c"], "a_b, a_b_c"),
            (&["get", "get_all"], "get, get_all"),
            (&["读__取", "读__写"], "读__{取, 写}"),
            (&["only__one"], "only__one"),
            (&[], ""),
        ] {
            assert_eq!(with_prefixes_once(names), expected);
        }
    }
}
