//! A policy: the files of all scopes, from the weakest to the strongest, combined.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::capability::{PolicyTier, ToolCapability};
use super::check::never::unmatched;
use super::context::{Context, PolicyCall, ToolOrigin};
use super::decision::Effect;
use super::load::{PolicyFile, PolicyMode};
use super::rule::{PolicyScope, Rule};
use crate::diagnostic::Diagnostic;
use toolfold_diagnostic::sha256_hex;

/// What is known of a tool, and the record that says what its arguments are, if there is one.
pub(crate) type Recorded<'p> = (Cow<'p, ToolCapability>, Option<&'p ToolCapability>);

/// A policy. Immutable and shared; a reload builds a new one, with another
/// [`version`](Self::version).
#[derive(Debug, Clone, Default)]
pub struct Policy {
    pub(crate) files: Arc<Vec<PolicyFile>>,
    version: Arc<str>,
    pub(crate) mode: PolicyMode,
    pub(crate) default: Option<Effect>,
    pub(crate) broken: bool,
    has_memory: bool,
}

impl Policy {
    /// Combines files. The order of files of one scope does not affect decisions.
    #[must_use]
    pub fn new(mut files: Vec<PolicyFile>) -> Self {
        files.sort_by_cached_key(|f| f.scope);
        // A rule has the scope of its file, however it was built.
        for file in &mut files {
            file.rules.iter_mut().for_each(|rule| rule.scope = file.scope);
        }
        let mut identity = String::new();
        for file in &files {
            identity += &format!("{:?}\n{}\n", file.scope, file.source.1);
            if file.source.1.is_empty() {
                identity += &format!("{:?}", file.rules);
            }
        }
        // The strongest scope that sets a mode or a default decides. A project may only tighten the
        // default.
        let (mut mode, mut default, mut of_project) = (None, None, None);
        for file in &files {
            if file.scope == PolicyScope::Project {
                of_project = of_project.max(file.default);
            } else {
                (mode, default) = (file.mode.or(mode), file.default.or(default));
            }
        }
        let mode = mode.unwrap_or_default();
        let default = match (default, of_project) {
            (None, Some(Effect::Allow)) => None,
            (own, project) => own.max(project),
        };
        let broken = files.iter().any(|f| f.broken) || !unmatched(&files).is_empty();
        let has_memory = files.iter().any(|file| {
            let guards = file.capabilities.values().any(|record| record.repeat_asks);
            guards || file.rules.iter().any(|rule| rule.memory.is_some())
        });
        let version = sha256_hex(identity.as_bytes()).into();
        Self { files: Arc::new(files), version, mode, default, broken, has_memory }
    }

    /// The asks and denies that never match, as its files together show: because no file has a
    /// record of their tool, or because another file's record has no such argument. While there is
    /// one, every call asks.
    #[must_use]
    pub fn unmatched(&self) -> Vec<Diagnostic> {
        unmatched(&self.files)
    }

    /// A digest over all its files. An approval given under another version is void.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The same policy in another mode. The version stays the same: an approval is for a call and
    /// not for a mode.
    #[must_use]
    pub fn with_mode(mut self, mode: PolicyMode) -> Self {
        self.mode = mode;
        self
    }

    /// Its files, from the weakest scope to the strongest.
    #[must_use]
    pub fn files(&self) -> &[PolicyFile] {
        &self.files
    }

    /// Whether a decision may depend on earlier calls.
    #[must_use]
    pub fn has_memory(&self) -> bool {
        self.has_memory
    }

    /// All rules, in the order of files.
    pub(crate) fn rules(&self) -> impl DoubleEndedIterator<Item = &Rule> {
        self.files.iter().flat_map(|f| &f.rules)
    }

    /// The capability record of a tool, from the strongest scope that has one, else the built-in
    /// one. A project's record only adds to it: a higher tier, more arguments. It is used
    /// alone only if the workspace is trusted and no stronger scope covers the tool.
    ///
    /// Also the written record that may declare the tool's arguments, without the additions of a
    /// project; `None` if there is only the built-in one.
    pub(crate) fn capability(&self, call: &PolicyCall<'_>, context: &Context) -> Recorded<'_> {
        let identity = match call.origin {
            ToolOrigin::Native => Cow::Borrowed(call.tool),
            ToolOrigin::Mcp(_) => Cow::Owned(call.origin.identity(call.tool)),
        };
        let mut found: Option<Cow<'_, ToolCapability>> = None;
        let mut recorded = None;
        for file in self.files.iter().rev() {
            let Some(capability) = file.capabilities.get(identity.as_ref()) else { continue };
            let may_loosen = file.scope.may_loosen(context);
            if may_loosen && !capability.says_only_undo(call.tool) {
                recorded.get_or_insert(capability);
            }
            match (&mut found, file.scope) {
                (None, _) if !may_loosen => {
                    let known = ToolCapability::builtin(call.tool).unwrap_or_default();
                    let tier = if capability.tier == Some(PolicyTier::A) { capability.tier } else { None };
                    found = Some(Cow::Owned(ToolCapability { tier, ..known.with(capability) }));
                }
                (None, _) => found = Some(Cow::Borrowed(capability)),
                (Some(above), scope) => {
                    let own = above.to_mut();
                    if let (Some(have), Some(more)) = (own.tier, capability.tier) {
                        own.tier = Some(have.max(more));
                    }
                    if scope == PolicyScope::Project {
                        *own = std::mem::take(own).with(capability);
                    }
                }
            }
        }
        let known = found.unwrap_or_else(|| Cow::Owned(ToolCapability::builtin(call.tool).unwrap_or_default()));
        (known, recorded)
    }

    /// The program that has this absolute path, so that an allow which names it covers the path.
    pub(crate) fn program_at(&self, path: &str) -> Option<&str> {
        for file in self.files.iter().filter(|file| file.scope > PolicyScope::Project) {
            for (name, paths) in &file.programs {
                if paths.iter().any(|own| own == path) {
                    return Some(name);
                }
            }
        }
        None
    }

    /// Whether the built-in table of read-only shell commands allows.
    pub(crate) fn read_only_shell(&self, context: &Context) -> bool {
        self.files.iter().any(|f| f.read_only_shell && f.scope.may_loosen(context))
    }

    /// Globs over the names of arguments to redact in the audit trail, in addition to the built-in
    /// ones.
    #[must_use]
    pub fn redactions(&self) -> Vec<&str> {
        self.files.iter().flat_map(|file| &file.redact).map(String::as_str).collect()
    }

    /// The capability records of all files by identity, for checks and listings.
    #[must_use]
    pub fn capabilities(&self) -> BTreeMap<&str, &ToolCapability> {
        let records = self.files.iter().flat_map(|file| &file.capabilities);
        records.map(|(name, record)| (name.as_str(), record)).collect()
    }
}
