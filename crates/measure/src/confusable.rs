//! Tools that a model will confuse: similar in words, or equal in form.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toolfold::catalog::{Catalog, Tool};
use toolfold::profile::{Assignment, tool_index};
use toolfold::search::{Found, Index};

use crate::name_words::{Action, action, split};

/// A sibling is close to a tool if its score for the tool's own words is at least this share of the
/// tool's own score. Source: the design page on measuring.
const CLOSE: f64 = 0.9;

/// The minimum number of tools that search by the same parameters before they count as confusable.
/// A public agent with 11 such tools chose the right one in none of 688 calls; no list of the
/// corpora has more than three.
const MIN_SEARCHES: usize = 4;

/// Verbs that state no more than that something is searched.
const SEARCH_VERBS: [&str; 5] = ["find", "locate", "lookup", "query", "search"];

/// Tools of a list that are easily confused.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Confusable {
    /// The names of the tools, in catalog order; two or more.
    pub tools: Vec<String>,
    /// Why they are confusable.
    pub likeness: Likeness,
}

/// Why tools are easily confused.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Likeness {
    /// For the name and the sentence of one tool, the other scores at least 0.9 of the tool's own
    /// score, and their names share a word and do not say by their verbs which is which. The value
    /// is the other's score divided by the tool's own.
    Words(f64),
    /// The tools search different things by the same parameters, and no description states more
    /// than what is searched.
    Searches,
}

impl fmt::Display for Confusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, tool) in self.tools.iter().enumerate() {
            write!(f, "{}`{tool}`", if at == 0 { "" } else { ", " })?;
        }
        f.write_str(match self.likeness {
            Likeness::Words(_) => ": one is found as well as the other by its own words; add when to use which",
            Likeness::Searches => {
                ": they search by the same parameters, and nothing states when to use which; add it to each \
                 description, or make them one tool with a parameter for the source"
            }
        })
    }
}

/// The confusable tools of a list: pairs that are close in words, in catalog order, then sets that
/// search by the same parameters. A pair that is close in both directions is reported once, with
/// the higher value.
#[must_use]
pub fn confusable(catalog: &Catalog, assignment: &Assignment) -> Vec<Confusable> {
    let index = tool_index(catalog, assignment);
    let parts = Parts::of_all(catalog);
    let mut pairs: BTreeMap<[usize; 2], f64> = BTreeMap::new();
    for (tool, (own, assigned)) in catalog.iter().zip(assignment.tools.iter()).enumerate() {
        let words = format!("{} {}", own.name(), assigned.sentence(own));
        for (other, closeness) in close_to(&index, &words, tool) {
            if let (Some(one), Some(two)) = (parts.get(tool), parts.get(other))
                && one.may_be_taken_for(two)
            {
                let most = pairs.entry([tool.min(other), tool.max(other)]).or_default();
                *most = most.max(closeness);
            }
        }
    }
    let names = |places: &[usize]| places.iter().filter_map(|at| Some(catalog.at(*at)?.name().to_string())).collect();
    let mut found: Vec<Confusable> = Vec::new();
    for (pair, closeness) in pairs {
        found.push(Confusable { tools: names(&pair), likeness: Likeness::Words(closeness) });
    }
    for tools in searches(catalog).into_values() {
        if tools.len() >= MIN_SEARCHES {
            found.push(Confusable { tools: names(&tools), likeness: Likeness::Searches });
        }
    }
    found
}

/// What a tool's name consists of: the verb, and what it is applied to.
#[derive(Debug)]
struct Parts {
    actions: BTreeSet<Action>,
    /// Without the word of a server, and in the singular.
    objects: BTreeSet<String>,
}

impl Parts {
    /// The parts of each tool's name, in catalog order.
    fn of_all(catalog: &Catalog) -> Vec<Self> {
        let names: Vec<Vec<String>> = catalog.iter().map(|tool| split(tool.name().as_str())).collect();
        let mut firsts: BTreeMap<&str, usize> = BTreeMap::new();
        for first in names.iter().filter_map(|words| words.first()) {
            *firsts.entry(first).or_default() += 1;
        }
        let of_server = |word: &str| firsts.get(word).is_some_and(|count| count * 4 > names.len());
        let mut parts = Vec::new();
        for words in &names {
            let mut own = Self { actions: BTreeSet::new(), objects: BTreeSet::new() };
            for (at, word) in words.iter().enumerate() {
                match action(word) {
                    Some(action) => drop(own.actions.insert(action)),
                    None if at == 0 && words.len() > 1 && of_server(word) => {}
                    None => drop(own.objects.insert(word.strip_suffix('s').unwrap_or(word).to_owned())),
                }
            }
            parts.push(own);
        }
        parts
    }

    /// Names of different things are not confused, and neither are names of different actions.
    fn may_be_taken_for(&self, other: &Self) -> bool {
        let same_action =
            self.actions.is_empty() || other.actions.is_empty() || !self.actions.is_disjoint(&other.actions);
        same_action && !self.objects.is_disjoint(&other.objects)
    }
}

/// The other tools that are found about as well as a tool, each with its closeness.
fn close_to(index: &Index, words: &str, tool: usize) -> Vec<(usize, f64)> {
    let Found { hits, .. } = index.search(words);
    let Some(own) = hits.iter().find(|hit| hit.at == tool) else { return Vec::new() };
    let mut close = Vec::new();
    for hit in &hits {
        if hit.at != tool && hit.score >= CLOSE * own.score {
            close.push((hit.at, hit.score / own.score));
        }
    }
    close
}

/// The tools that only search, by the names of their parameters.
fn searches(catalog: &Catalog) -> BTreeMap<Vec<&str>, Vec<usize>> {
    let mut by_parameters: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
    for (at, tool) in catalog.iter().enumerate() {
        if only_searches(tool) {
            let properties = tool.parameters().get("properties").and_then(|own| own.as_object());
            let mut names: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            names.sort_unstable();
            by_parameters.entry(names).or_default().push(at);
        }
    }
    by_parameters
}

/// Whether a tool's name contains a verb of searching, and its description is one sentence.
fn only_searches(tool: &Tool) -> bool {
    let name = tool.name().as_str().to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let text = tool.description().trim().trim_end_matches('.');
    words.any(|word| SEARCH_VERBS.contains(&word)) && !text.contains(". ") && !text.contains('\n')
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the tests read the corpora")]
mod tests {
    use std::path::Path;

    use toolfold::profile::ToolProfile;

    use super::*;

    fn of_file(path: &str) -> Option<(Catalog, Vec<Confusable>)> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora").join(path);
        let catalog = Catalog::import(&std::fs::read_to_string(file).ok()?, path, None).value;
        let assignment = ToolProfile::derive(&catalog).assign(&catalog).value;
        let found = confusable(&catalog, &assignment);
        Some((catalog, found))
    }

    /// The tools of a public agent: 11 that search.
    #[test]
    fn corpus_searches_by_one_query_are_reported_together() {
        let Some((catalog, found)) = of_file("cases/measure/gaia.json") else { return };
        let [pair, set] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(pair.tools, ["search_file", "find_files"]);
        assert!(matches!(pair.likeness, Likeness::Words(close) if close >= CLOSE), "{pair:?}");
        assert_eq!(set.likeness, Likeness::Searches);
        assert_eq!(set.tools.len(), catalog.len());
        assert!(set.to_string().contains("when to use which"), "{set}");
    }

    /// Lists of real servers: no set of searches, and few pairs. They were read one by one.
    #[test]
    fn corpus_lists_of_servers_have_few_confusable_pairs() {
        let mut counts = Vec::new();
        for list in ["filesystem", "git", "github", "gmail", "grafana", "atlassian", "playwright_allcaps"] {
            let Some((_, found)) = of_file(&format!("mcp/{list}.json")) else { return };
            assert!(found.iter().all(|own| own.likeness != Likeness::Searches), "{list}: {found:?}");
            counts.push((list, found.len()));
        }
        let known = [
            ("filesystem", 2),
            ("git", 0),
            ("github", 1),
            ("gmail", 0),
            ("grafana", 7),
            ("atlassian", 11),
            ("playwright_allcaps", 0),
        ];
        assert_eq!(counts, known);
    }

    /// Names decide whether two tools that are close in words can be taken for each other.
    #[test]
    fn different_actions_and_different_things_are_no_pair() {
        let names =
            ["get_value", "set_value", "remove_value", "deleteValues", "retrieve_value", "delete_note", "user_values"];
        let tools: Vec<serde_json::Value> = names.iter().map(|name| serde_json::json!({ "name": name })).collect();
        let catalog = Catalog::import(&serde_json::json!(tools).to_string(), "tools", None).value;
        let parts = Parts::of_all(&catalog);
        let mut taken = Vec::new();
        for (at, one) in parts.iter().enumerate() {
            for (other, two) in parts.iter().enumerate().skip(at + 1) {
                if one.may_be_taken_for(two) {
                    taken.push((names[at], names[other]));
                }
            }
        }
        let known = [
            ("get_value", "retrieve_value"),
            ("get_value", "user_values"),
            ("set_value", "user_values"),
            ("remove_value", "deleteValues"),
            ("remove_value", "user_values"),
            ("deleteValues", "user_values"),
            ("retrieve_value", "user_values"),
        ];
        assert_eq!(taken, known);
    }
}
