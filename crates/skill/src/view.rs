//! The skills of a library that one agent or the user sees.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::library::{Skill, SkillLibrary};
use super::permission::{Permission, Permissions};
use super::search::{Hit, SkillIndex};
use crate::name::nearest;

/// The caller that requests a skill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Caller {
    /// The model. It does not see skills with `disable-model-invocation`.
    #[default]
    Model,
    /// The user, by name (`/commit`). Skills with `user-invocable: false` are hidden.
    User,
}

/// The skills visible to a caller, by name. Everything shown, listed, searched or activated goes
/// through a view, so a denied skill is invisible everywhere.
#[derive(Debug, Clone, Default)]
pub struct SkillView {
    /// The skills that won their names, by name, followed by their copies.
    entries: Vec<Entry>,
    winners: usize,
    qualified: BTreeMap<String, usize>,
    index: OnceLock<Arc<SkillIndex>>,
}

#[derive(Debug, Clone)]
struct Entry {
    skill: Arc<Skill>,
    permission: Permission,
    /// The name that selects this skill only.
    name: String,
}

impl Caller {
    fn sees(self, skill: &Skill) -> bool {
        match self {
            Self::Model => !skill.fields().disable_model_invocation,
            Self::User => !skill.fields().hidden_from_user,
        }
    }
}

impl SkillView {
    /// Creates the view of a caller.
    #[must_use]
    pub fn new(library: &SkillLibrary, permissions: &Permissions, caller: Caller) -> Self {
        let (mut won, mut copies) = (Vec::new(), Vec::new());
        for finding in library.findings() {
            let Some(skill) = &finding.skill else { continue };
            let guarded = caller == Caller::Model && skill.fields().requires_approval();
            let least =
                if guarded && !permissions.is_approved(skill.name()) { Permission::Ask } else { Permission::Allow };
            let permission = permissions.decide(skill.name()).max(least);
            if permission != Permission::Deny && caller.sees(skill) {
                let entry = Entry { skill: Arc::clone(skill), permission, name: finding.qualified.clone() };
                if finding.shadowed_by.is_none() { won.push(entry) } else { copies.push(entry) }
            }
        }
        Self::of(won, copies)
    }

    /// The same view without some skills, by their own names: a copy is hidden with the skill that
    /// won its name.
    #[must_use]
    pub fn without(&self, hidden: impl Fn(&Arc<Skill>, Permission) -> bool) -> Self {
        let (mut won, mut copies) = (Vec::new(), Vec::new());
        for (at, entry) in self.entries.iter().enumerate() {
            if !hidden(&entry.skill, entry.permission) {
                if at < self.winners { won.push(entry.clone()) } else { copies.push(entry.clone()) }
            }
        }
        Self::of(won, copies)
    }

    fn of(mut won: Vec<Entry>, mut copies: Vec<Entry>) -> Self {
        won.sort_by(|a, b| a.skill.name().cmp(b.skill.name()));
        copies.sort_by_cached_key(|entry| entry.name.clone());
        let winners = won.len();
        let mut entries = won;
        entries.append(&mut copies);
        let mut qualified = BTreeMap::new();
        for (at, entry) in entries.iter().enumerate() {
            qualified.insert(entry.name.clone(), at);
        }
        for (at, entry) in entries.iter_mut().enumerate().take(winners) {
            // A skill may have a name that selects a copy of another; its own name then does not
            // select it.
            if qualified.get(entry.skill.name()).is_none_or(|other| *other == at) {
                entry.name = entry.skill.name().to_owned();
            }
        }
        Self { entries, winners, qualified, index: OnceLock::new() }
    }

    /// The visible skills that won their names, by name.
    pub fn skills(&self) -> impl ExactSizeIterator<Item = &Arc<Skill>> {
        self.entries.iter().take(self.winners).map(|entry| &entry.skill)
    }

    /// The name that selects each of [`skills`](Self::skills), in the same order. For a skill whose
    /// name selects a copy of another, such as `commit@user`, it includes the scope.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().take(self.winners).map(|entry| entry.name.as_str())
    }

    /// The visible copies whose names other skills have, each with the name that selects it:
    /// `name@scope`, and `name@scope:2` for the second of that name in a scope.
    pub fn copies(&self) -> impl ExactSizeIterator<Item = (&str, &Arc<Skill>)> {
        self.entries.iter().skip(self.winners).map(|entry| (entry.name.as_str(), &entry.skill))
    }

    pub(super) fn has_copies(&self) -> bool {
        self.entries.len() > self.winners
    }

    /// All selectable skills, each with the name that selects it.
    pub(super) fn all(&self) -> impl ExactSizeIterator<Item = (&str, &Arc<Skill>)> {
        self.entries.iter().map(|entry| (entry.name.as_str(), &entry.skill))
    }

    /// The name that selects only this visible skill; its plain name if it is not in this view.
    #[must_use]
    pub fn name_of<'a>(&'a self, skill: &'a Arc<Skill>) -> &'a str {
        let found = self.entries.iter().find(|entry| Arc::ptr_eq(&entry.skill, skill));
        found.map_or(skill.name(), |entry| entry.name.as_str())
    }

    /// Returns a visible skill by its name, or a copy by `name@scope`. Another Unicode form (NFKC)
    /// or another case of a name, and the name of a plugin's skill without the plugin, is accepted
    /// if it is unambiguous.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<(&Arc<Skill>, Permission)> {
        let entry = self.entry(name)?;
        Some((&entry.skill, entry.permission))
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        if let Some(entry) = self.qualified.get(name).and_then(|at| self.entries.get(*at)) {
            return Some(entry);
        }
        let won = self.entries.get(..self.winners).unwrap_or_default();
        if let Ok(at) = won.binary_search_by(|entry| entry.skill.name().cmp(name)) {
            return won.get(at);
        }
        let folded = fold(name);
        let only = |is_meant: &dyn Fn(&Entry) -> bool| {
            let mut meant = self.entries.iter().filter(|entry| is_meant(entry));
            meant.next().filter(|_| meant.next().is_none())
        };
        only(&|entry| fold(&entry.name) == folded).or_else(|| {
            // Texts of plugins often name their other skills without the plugin.
            let of_plugin = |entry: &Entry| entry.skill.origin.plugin.is_some();
            only(&|entry| of_plugin(entry) && entry.name.split_once(':').is_some_and(|(_, own)| own == name))
        })
    }

    /// Returns a skill and, after a `/`, a path in its folder. The longest visible name at the
    /// start of the text wins, because names may contain `/`.
    #[must_use]
    pub fn split<'a>(&self, text: &'a str) -> Option<(&Arc<Skill>, Permission, Option<&'a str>)> {
        if let Some((skill, permission)) = self.get(text) {
            return Some((skill, permission, None));
        }
        let cuts = text.char_indices().rev().filter(|(_, c)| *c == '/').take(64);
        for (at, _) in cuts {
            if let Some((skill, permission)) = self.get(text.get(..at)?) {
                return Some((skill, permission, text.get(at + 1..)));
            }
        }
        None
    }

    /// At most five visible names similar to an unknown one, closest first.
    #[must_use]
    pub fn near(&self, name: &str) -> Vec<&str> {
        let base = name.split(['/', '@']).next().unwrap_or(name);
        let mut near = nearest(name, self.names(), 5);
        for other in nearest(base, self.names(), 5) {
            if !near.contains(&other) && near.len() < 5 {
                near.push(other);
            }
        }
        near
    }

    /// Returns the best skills for a query, best first; equal scores by name. A skill whose name is
    /// the query comes first. If no skill shares a word: those whose name or description contains
    /// the query. `*` or an empty query returns all skills, by name.
    #[must_use]
    pub fn search(&self, query: &str, most: usize) -> Vec<Hit> {
        self.index().search(query, most)
    }

    /// The index of these skills, built at the first search.
    pub(super) fn index(&self) -> Arc<SkillIndex> {
        Arc::clone(self.index.get_or_init(|| Arc::new(SkillIndex::new(self))))
    }
}

/// Normalizes a name's Unicode form and case.
fn fold(name: &str) -> String {
    name.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}
