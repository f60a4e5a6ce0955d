//! The places of skills, and the library that they give: one source for every entry point.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::diagnostic::{Diagnostic, Loaded};
use crate::skill::{
    Discovery, DiscoveryCache, Limits, Permissions, Precedence, Root, SkillFs, SkillLibrary, Style, Surroundings,
    default_roots,
};

use super::SkillLayer;
use super::skill_policy::pre_approvals;

/// Where skills come from and who may activate them: the configuration of a [`SkillLayer`].
///
/// The places are, in order: the usual ones ([`default_roots`]), then the added roots. Created by
/// [`SkillLayer::discovered`].
#[derive(Clone)]
#[must_use]
#[non_exhaustive]
pub struct SkillDiscovery {
    /// The surroundings, which the usual places depend on. They state whether the user trusts the
    /// project, so that the requests of its skills may be granted.
    pub around: Surroundings,
    /// Whether the usual places are searched: the project's folders, the user's, the
    /// installation's. Default: yes.
    pub usual: bool,
    /// Roots after the usual places. Default: none.
    pub roots: Vec<Root>,
    /// Which of two skills with the same name is used. Default: [`Precedence::Scopes`].
    pub precedence: Precedence,
    /// The limits of the search. Default: [`Limits::default`].
    pub limits: Limits,
    /// Which skills the model may activate. Default: all.
    pub permissions: Permissions,
    /// Whether the `allowed-tools` of a trusted skill approve its calls in advance while it is
    /// active: see [`pre_approval`](crate::policy::pre_approval). Default: no.
    pub honour_allowed_tools: bool,
    fs: Arc<dyn SkillFs>,
}

impl std::fmt::Debug for SkillDiscovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SkillDiscovery").field("roots", &self.all_roots()).finish_non_exhaustive()
    }
}

impl SkillDiscovery {
    pub(super) fn new(fs: Arc<dyn SkillFs>, around: Surroundings) -> Self {
        let (precedence, limits, permissions) = (Precedence::default(), Limits::default(), Permissions::default());
        let honour_allowed_tools = false;
        Self { fs, around, usual: true, roots: Vec::new(), precedence, limits, permissions, honour_allowed_tools }
    }

    /// Reads every skill. An error in one hides no other: it is among the diagnostics.
    pub fn library(&self) -> Loaded<SkillLibrary> {
        self.read(&mut DiscoveryCache::default())
    }

    /// Reads every skill and creates the layer. Settings of the layer, such as its
    /// [budget](SkillLayer::budget), follow.
    pub fn layer(self) -> Loaded<SkillLayer> {
        let mut cache = DiscoveryCache::default();
        let Loaded { value, diagnostics } = self.read(&mut cache);
        let (fs, library) = (self.fs.clone(), Arc::new(value));
        let last = Mutex::new(Last { library: library.clone(), diagnostics: diagnostics.clone(), cache });
        let source = Source { discovery: self, last };
        Loaded { value: SkillLayer::of_library(library, Arc::new(source), fs), diagnostics }
    }

    fn read(&self, cache: &mut DiscoveryCache) -> Loaded<SkillLibrary> {
        let mut discovery = Discovery::new(self.all_roots());
        (discovery.precedence, discovery.limits) = (self.precedence, self.limits);
        let mut loaded = SkillLibrary::discover(self.fs.as_ref(), discovery, cache);
        if self.honour_allowed_tools {
            let trusted = loaded.value.skills().filter(|skill| skill.origin.trusted);
            loaded.diagnostics.extend(trusted.flat_map(|skill| pre_approvals(skill).1));
        }
        loaded
    }

    fn all_roots(&self) -> Vec<Root> {
        let mut roots = if self.usual { default_roots(self.fs.as_ref(), &self.around) } else { Vec::new() };
        for root in &self.roots {
            // A project that is named as a root is searched completely.
            roots.retain(|known| known.style != Style::Project || known.path != root.path);
            if !roots.iter().any(|known| known.path == root.path) {
                roots.push(root.clone());
            }
        }
        roots
    }
}

/// What layers are read from, with the last reading, which all of them share.
pub(super) struct Source {
    discovery: SkillDiscovery,
    last: Mutex<Last>,
}

struct Last {
    library: Arc<SkillLibrary>,
    diagnostics: Vec<Diagnostic>,
    cache: DiscoveryCache,
}

impl Source {
    pub(super) fn permissions(&self) -> &Permissions {
        &self.discovery.permissions
    }

    pub(super) fn honours_allowed_tools(&self) -> bool {
        self.discovery.honour_allowed_tools
    }

    /// The current library, which is another one than `known`; `None` if nothing has changed. Only
    /// changed files are read.
    pub(super) fn changed(&self, known: &Arc<SkillLibrary>) -> Option<Loaded<Arc<SkillLibrary>>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current =
            last.cache.is_current(self.discovery.fs.as_ref()) && self.discovery.all_roots() == last.library.roots();
        self.renewed(&mut last, known, is_current)
    }

    /// The same, by looking at one file only.
    pub(super) fn changed_file(&self, known: &Arc<SkillLibrary>, file: &Path) -> Option<Loaded<Arc<SkillLibrary>>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = last.cache.is_file_current(self.discovery.fs.as_ref(), file);
        self.renewed(&mut last, known, is_current)
    }

    fn renewed(
        &self,
        last: &mut Last,
        known: &Arc<SkillLibrary>,
        is_current: bool,
    ) -> Option<Loaded<Arc<SkillLibrary>>> {
        if !is_current {
            let Loaded { value, diagnostics } = self.discovery.read(&mut last.cache);
            if !value.is_same(&last.library) {
                (last.library, last.diagnostics) = (Arc::new(value), diagnostics);
            }
        }
        if Arc::ptr_eq(&last.library, known) {
            return None;
        }
        Some(Loaded { value: last.library.clone(), diagnostics: last.diagnostics.clone() })
    }
}
