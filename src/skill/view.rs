//! What one agent, or a person, sees of a library.

use std::sync::Arc;

use super::library::{Skill, SkillLibrary};
use super::permission::{Permission, Permissions};
use crate::name::nearest;

/// Who asks for a skill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Caller {
    /// The model: it does not see skills with `disable-model-invocation`.
    #[default]
    Model,
    /// A person, by name (`/commit`): does not see skills with `user-invocable: false`.
    User,
}

/// The skills that a caller may know of, by name. Everything shown, listed, searched or activated goes through it, so
/// a denied skill is invisible everywhere.
#[derive(Debug, Clone, Default)]
pub struct SkillView {
    skills: Vec<(Arc<Skill>, Permission)>,
    hidden: Vec<(Arc<Skill>, Permission)>,
}

impl SkillView {
    /// The view of a caller.
    #[must_use]
    pub fn new(library: &SkillLibrary, permissions: &Permissions, caller: Caller) -> Self {
        let visible = |skill: &Skill| match caller {
            Caller::Model => !skill.fields().disable_model_invocation,
            Caller::User => !skill.fields().hidden_from_user,
        };
        let with_permission = |s: &Arc<Skill>| (Arc::clone(s), permissions.decide(s.name()));
        let allowed = |(s, p): &(Arc<Skill>, Permission)| *p != Permission::Deny && visible(s);
        let skills = library.skills().map(with_permission).filter(allowed).collect();
        // The losers of a name can still be picked with `name@scope`.
        let losers = library.findings().iter().filter(|f| f.shadowed_by.is_some()).filter_map(|f| f.skill.clone());
        let hidden = losers.map(|s| with_permission(&s)).filter(allowed).collect();
        Self { skills, hidden }
    }

    /// The visible skills, by name.
    pub fn skills(&self) -> impl ExactSizeIterator<Item = &Arc<Skill>> {
        self.skills.iter().map(|(skill, _)| skill)
    }

    /// The visible names, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.skills.iter().map(|(skill, _)| skill.name())
    }

    /// A visible skill by its name, or by `name@scope`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<(&Arc<Skill>, Permission)> {
        let found = self.skills.binary_search_by(|(s, _)| s.name().cmp(name)).ok().and_then(|at| self.skills.get(at));
        if let Some((skill, permission)) = found {
            return Some((skill, *permission));
        }
        let (base, scope) = name.rsplit_once('@')?;
        let matches = |s: &Skill| s.name() == base && s.origin.scope.as_str() == scope;
        let mut all = self.skills.iter().chain(&self.hidden);
        all.find(|(s, _)| matches(s)).map(|(skill, permission)| (skill, *permission))
    }

    /// A skill and, after a `/`, a path in its folder: the longest visible name that begins the text wins, because
    /// names may hold a `/` themselves.
    #[must_use]
    pub fn split<'a>(&self, text: &'a str) -> Option<(&Arc<Skill>, Permission, Option<&'a str>)> {
        if let Some((skill, permission)) = self.get(text) {
            return Some((skill, permission, None));
        }
        let cuts = text.char_indices().rev().filter(|(_, c)| *c == '/');
        for (at, _) in cuts {
            if let Some((skill, permission)) = text.get(..at).and_then(|name| self.get(name)) {
                return Some((skill, permission, text.get(at + 1..)));
            }
        }
        None
    }

    /// At most five visible names close to one that does not exist, closest first.
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
}
