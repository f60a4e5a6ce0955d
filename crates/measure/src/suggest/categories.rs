//! Chooses the categories: those of a derived profile or of the current one, with those that are
//! needed together merged.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use toolfold::catalog::Catalog;
use toolfold::name::CategoryName;
use toolfold::profile::{Tier, ToolProfile};

use super::SuggestOptions;
use super::costs::{LOOKUP_OUTPUT, Shown};
use super::needs::Needs;
use super::write::{Draft, DraftCategory};
use crate::usage::UsedSession;

/// The maximum number of tools of a merged category. Source: the maximum of a derived profile.
const MOST_TOOLS: usize = 12;

/// The maximum length of the tool names in a description, in characters, as in derived profiles.
const MAX_LINE_CHARS: usize = 50;

/// The maximum number of tools that a description names.
const MAX_NAMED: usize = 3;

/// The minimum number of tools that are separated, and that remain.
const MIN_APART: usize = 3;

/// The suffix of a category of separated tools.
const RARELY: &str = "rarely_used";

/// The assumed number of requests that read an answer again, and of requests before it.
const USUAL_STEPS: usize = 3;

/// The minimum number of sessions that justify a merge.
const MIN_TOGETHER: usize = 3;

#[derive(Debug, Clone)]
pub(super) struct Partition {
    pub(super) categories: IndexMap<String, DraftCategory>,
    /// Whether a person wrote it.
    pub(super) written: bool,
}

pub(super) fn partitions(catalog: &Catalog, today: &ToolProfile, base: &Draft) -> Vec<Partition> {
    let derived = Partition { categories: derived(catalog, &base.visible(catalog)), written: false };
    let mut found = vec![derived];
    // A profile without categories defines no grouping.
    if !today.derived && today.categories().next().is_some() {
        found.insert(0, Partition { categories: of_profile(catalog, today), written: true });
    }
    found
}

fn derived(catalog: &Catalog, tools: &[usize]) -> IndexMap<String, DraftCategory> {
    let wanted: BTreeSet<usize> = tools.iter().copied().collect();
    let kept: Vec<bool> = (0..catalog.len()).map(|tool| wanted.contains(&tool)).collect();
    let some = catalog.filtered(&kept);
    let mut found = of_profile(&some, &ToolProfile::derive(&some));
    // Converts indices of the subset to indices of all tools.
    for tool in found.values_mut().flat_map(|own| own.tools.iter_mut()) {
        *tool = tools.get(*tool).copied().unwrap_or(*tool);
    }
    found
}

/// The categories of a profile, except those that only describe its use.
fn of_profile(catalog: &Catalog, profile: &ToolProfile) -> IndexMap<String, DraftCategory> {
    let assignment = profile.assign(catalog).value;
    let mut found: IndexMap<String, DraftCategory> = IndexMap::new();
    for (name, description) in assignment.categories() {
        found.insert(name.to_string(), DraftCategory { description: description.to_owned(), tools: Vec::new() });
    }
    // The category of uncategorized core tools is not a subject.
    found.shift_remove(toolfold::profile::CORE);
    let mut left = Vec::new();
    for (at, assigned) in assignment.tools.iter().enumerate() {
        match found.get_mut(assigned.category.as_str()) {
            _ if assigned.tier == Tier::Hidden => {}
            Some(category) => category.tools.push(at),
            None => left.push(at),
        }
    }
    if profile.derived || left.is_empty() {
        return found;
    }
    for (name, own) in derived(catalog, &left) {
        match found.get_mut(&name) {
            Some(category) => category.tools.extend(own.tools),
            None => drop(found.insert(name, own)),
        }
    }
    found
}

pub(super) struct Opened<'o> {
    pub(super) shown: &'o Shown,
    pub(super) needs: &'o Needs,
    pub(super) options: &'o SuggestOptions,
    pub(super) sessions: &'o [&'o UsedSession],
}

impl Opened<'_> {
    fn needed(&self) -> Vec<BTreeSet<usize>> {
        self.sessions.iter().map(|session| self.needs.lacking(&self.shown.forms, session)).collect()
    }

    /// The cost of an expansion without schemas, in thousandths of a token.
    fn request_cost(&self) -> f64 {
        let options = self.options;
        let prefix = self.shown.sizes.first_turn + options.system_tokens + options.step_tokens * USUAL_STEPS;
        f64::from(options.rules.read) * prefix as f64 + LOOKUP_OUTPUT as f64 * f64::from(options.output)
    }

    /// The cost of an answer token, in thousandths: its write, and a read in some further requests.
    fn kept(&self) -> f64 {
        f64::from(self.options.rules.write) + f64::from(self.options.rules.read) * USUAL_STEPS as f64
    }

    fn full_tokens(&self, tools: impl Iterator<Item = usize>) -> f64 {
        let mut tokens = 0;
        for tool in tools {
            tokens += self.shown.forms.get(tool).map_or(0, |form| form.whole);
        }
        tokens as f64
    }
}

/// Merges categories that sessions need together, if a saved expansion is worth more than the
/// additional schemas; `None` if there are none.
pub(super) fn merged(catalog: &Catalog, draft: &Draft, opened: &Opened<'_>) -> Option<Draft> {
    let core: BTreeSet<usize> = draft.core.iter().copied().collect();
    let needed = opened.needed();
    let mut categories = draft.categories.clone();
    let mut changed = false;
    loop {
        let mut of_tool = BTreeMap::new();
        for (place, own) in categories.values().enumerate() {
            for tool in &own.tools {
                of_tool.insert(*tool, place);
            }
        }
        let mut together: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut alone: BTreeMap<usize, usize> = BTreeMap::new();
        for tools in &needed {
            let open: BTreeSet<usize> = tools.iter().filter_map(|tool| of_tool.get(tool).copied()).collect();
            for one in &open {
                *alone.entry(*one).or_default() += 1;
                for two in open.range(one + 1..) {
                    *together.entry((*one, *two)).or_default() += 1;
                }
            }
        }
        let whole: Vec<f64> = categories.values().map(|own| opened.full_tokens(folded(own, &core))).collect();
        let (mut most, mut best) = (0.0, None);
        for ((one, two), both) in &together {
            let [(alone_one, whole_one), (alone_two, whole_two)] = [one, two].map(|place| {
                let only = alone.get(place).copied().unwrap_or_default().saturating_sub(*both);
                (only as f64, whole.get(*place).copied().unwrap_or_default())
            });
            // What is opened in addition when only one of the two is needed.
            let more = alone_one * whole_two + alone_two * whole_one;
            let gain = *both as f64 * opened.request_cost() - opened.kept() * more;
            if *both < MIN_TOGETHER || gain <= 0.0 || gain < most {
                continue;
            }
            if let Some(merged) = joined(catalog, &categories, &core, (*one, *two)) {
                (most, best) = (gain, Some(((*one, *two), merged)));
            }
        }
        let Some(((one, two), (name, category))) = best else { break };
        categories.shift_remove_index(two);
        categories.shift_remove_index(one);
        categories.insert(name, category);
        changed = true;
    }
    categories.sort_keys();
    changed.then(|| Draft { categories, ..draft.clone() })
}

/// Moves the unused tools of a category into a separate one, if the others are expanded often
/// enough, because they are delivered each time. Tools that belong together stay together. `None`
/// if it never pays.
pub(super) fn set_apart(catalog: &Catalog, draft: &Draft, opened: &Opened<'_>) -> Option<Draft> {
    let core: BTreeSet<usize> = draft.core.iter().copied().collect();
    let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
    for session in opened.sessions {
        for tool in session.tools() {
            *uses.entry(tool).or_default() += 1;
        }
    }
    let needed = opened.needed();
    let mut categories = IndexMap::new();
    let mut changed = false;
    for (name, own) in &draft.categories {
        let mut used_subjects = BTreeSet::new();
        for tool in &own.tools {
            if uses.contains_key(tool) {
                used_subjects.extend(subject(catalog, *tool));
            }
        }
        let (rare, rest): (Vec<usize>, Vec<usize>) = own.tools.iter().partition(|tool| {
            let has_used_subject = subject(catalog, **tool).is_some_and(|own| used_subjects.contains(own));
            !uses.contains_key(*tool) && !core.contains(*tool) && !has_used_subject
        });
        let openings = needed.iter().filter(|tools| rest.iter().any(|tool| tools.contains(tool))).count() as f64;
        // The probability that a session needs an unused tool is estimated from tools used once
        // (Good and Turing); the split must pay even at one standard error more.
        let once = rest.iter().filter(|tool| uses.get(tool) == Some(&1)).count() as f64;
        let once = once + (once + 1.0).sqrt();
        let whole = opened.full_tokens(rare.iter().copied());
        let gain = openings * whole * opened.kept() - once * (opened.request_cost() + whole * opened.kept());
        let rare_name = format!("{name}_{RARELY}");
        let sound =
            CategoryName::new(&rare_name).is_ok() && !draft.categories.contains_key(&rare_name) && is_divisible(name);
        if gain <= 0.0 || rare.len() < MIN_APART || rest.len() < MIN_APART || !sound {
            categories.insert(name.clone(), own.clone());
            continue;
        }
        for (name, tools) in [(name.clone(), rest), (rare_name, rare)] {
            let mut own = DraftCategory { description: String::new(), tools };
            own.description = describe(&names(catalog, &own, &core));
            categories.insert(name, own);
        }
        changed = true;
    }
    changed.then(|| Draft { categories, ..draft.clone() })
}

/// The subject of a tool's name, such as `note` in `set_note` and `delete_note`.
fn subject(catalog: &Catalog, tool: usize) -> Option<&str> {
    let name = catalog.at(tool)?.name().as_str();
    let end = name.char_indices().skip(1).find(|(_, c)| matches!(c, '_' | '-' | '.') || c.is_uppercase());
    let rest = name.get(end?.0..)?.trim_start_matches(['_', '-', '.']);
    if rest.is_empty() { None } else { Some(rest) }
}

/// Merges two categories under a readable name; `None` if there is none.
fn joined(
    catalog: &Catalog,
    categories: &IndexMap<String, DraftCategory>,
    core: &BTreeSet<usize>,
    (one, two): (usize, usize),
) -> Option<(String, DraftCategory)> {
    let (first, one) = categories.get_index(one)?;
    let (second, two) = categories.get_index(two)?;
    if !is_divisible(first) || !is_divisible(second) {
        return None;
    }
    let (ones, twos) = (names(catalog, one, core), names(catalog, two, core));
    if ones.len() + twos.len() > MOST_TOOLS {
        return None;
    }
    let name = format!("{first}_and_{second}");
    if CategoryName::new(&name).is_err() || categories.contains_key(&name) {
        return None;
    }
    let mut mixed = Vec::new();
    for at in 0..ones.len().max(twos.len()) {
        mixed.extend(ones.get(at).cloned());
        mixed.extend(twos.get(at).cloned());
    }
    let tools = [one.tools.as_slice(), &two.tools].concat();
    Some((name, DraftCategory { description: describe(&mixed), tools }))
}

fn folded<'c>(category: &'c DraftCategory, core: &'c BTreeSet<usize>) -> impl Iterator<Item = usize> + 'c {
    category.tools.iter().copied().filter(|tool| !core.contains(tool))
}

fn names(catalog: &Catalog, category: &DraftCategory, core: &BTreeSet<usize>) -> Vec<String> {
    folded(category, core).filter_map(|tool| Some(catalog.at(tool)?.name().to_string())).collect()
}

/// Whether a category can be merged by name or split: a name with three subjects is unreadable, and
/// the rest of a server is not a subject.
fn is_divisible(name: &str) -> bool {
    !name.contains("_and_") && !name.ends_with("_misc") && !name.ends_with(RARELY) && name != toolfold::profile::OTHER
}

/// Up to three of a category's tools, as in the descriptions of derived profiles.
fn describe(names: &[String]) -> String {
    let mut shown = names.get(..MAX_NAMED).unwrap_or(names).to_vec();
    while shown.len() > 1 && shown.join(", ").chars().count() + 2 > MAX_LINE_CHARS {
        shown.pop();
    }
    let more = if names.len() > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
