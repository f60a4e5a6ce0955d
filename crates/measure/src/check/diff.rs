//! The differences between two locks.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolfold::catalog::Tool;
use toolfold::schema::pointer_token;

use super::lock::{Lock, LockedTool};
use super::parts::{definition, same};
use crate::figures::grouped;

/// The maximum number of changed pointers that are listed.
const MAX_POINTERS: usize = 20;

/// The differences between two locks of the same meter, wire, model and arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Diff {
    /// The first turn of each arm in either lock, in the newer one's order.
    pub arms: Vec<ArmChange>,
    /// Tools that were added, removed, changed or recounted, largest growth first.
    pub tools: Vec<ToolChange>,
    /// The number of unchanged tools.
    pub unchanged: usize,
    /// Whether the same tools are in another order, which invalidates prompt caches.
    pub reordered: bool,
    /// Whether the profile assigns the tools differently.
    pub profile: bool,
}

/// The first turn of an arm; `None` if it was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ArmChange {
    /// The arm.
    pub arm: String,
    /// Tokens before.
    pub before: Option<usize>,
    /// Tokens after.
    pub after: Option<usize>,
    /// For arm `auto`, the arms it chose before and after, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes: Option<(String, String)>,
}

impl ArmChange {
    /// For arm `auto`: which arm it takes instead of which, if that changed.
    #[must_use]
    pub fn flip(&self) -> Option<String> {
        let (old, new) = self.takes.as_ref()?;
        Some(format!("`{}` takes `{new}` instead of `{old}`", self.arm))
    }

    pub(super) fn is_unchanged(&self) -> bool {
        self.before == self.after && self.takes.is_none()
    }
}

/// The kind of change of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// The tool is new.
    Added,
    /// The tool was removed.
    Removed,
    /// The definition changed.
    Changed,
    /// The definition is unchanged; its tier, its category, its neighbors or the counting changed.
    Recounted,
}

impl ChangeKind {
    /// The name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Recounted => "recounted",
        }
    }
}

/// A changed tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolChange {
    /// Its name.
    pub name: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The full tool's own tokens before; 0 if it is new.
    pub before: usize,
    /// The full tool's own tokens after; 0 if it was removed.
    pub after: usize,
    /// Tokens as the arm shows it, before.
    pub shown_before: usize,
    /// Tokens as the arm shows it, after.
    pub shown_after: usize,
    /// Parts whose tokens changed, largest change first.
    pub parts: Vec<PartChange>,
    /// JSON Pointers into the definition where it differs, if both definitions were available.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pointers: Vec<String>,
}

impl ToolChange {
    /// The growth; 0 if it did not grow.
    #[must_use]
    pub fn growth(&self) -> usize {
        self.after.saturating_sub(self.before)
    }
}

/// A part whose cost changed; 0 if it was absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PartChange {
    /// `description`, the JSON pointer of a parameter, or `rest`.
    pub part: String,
    /// Tokens before.
    pub before: usize,
    /// Tokens now.
    pub after: usize,
}

impl Diff {
    /// Compares two locks. [`Lock::comparable`] checks whether they can be compared.
    #[must_use]
    pub fn between(before: &Lock, after: &Lock) -> Self {
        let mut tools = Vec::new();
        let mut unchanged = 0;
        for tool in &after.tools {
            let change = match before.tool(&tool.name) {
                None => Some(change(ChangeKind::Added, None, Some(tool))),
                Some(old) if old == tool => None,
                Some(old) if old.digest == tool.digest => Some(change(ChangeKind::Recounted, Some(old), Some(tool))),
                Some(old) => Some(change(ChangeKind::Changed, Some(old), Some(tool))),
            };
            unchanged += usize::from(change.is_none());
            tools.extend(change);
        }
        for tool in &before.tools {
            if after.tool(&tool.name).is_none() {
                tools.push(change(ChangeKind::Removed, Some(tool), None));
            }
        }
        tools.sort_by(|a, b| {
            (b.growth(), b.before.abs_diff(b.after), &a.name).cmp(&(a.growth(), a.before.abs_diff(a.after), &b.name))
        });
        let redefined = tools.iter().any(|tool| tool.kind != ChangeKind::Recounted);
        Self {
            arms: arms(before, after),
            unchanged,
            reordered: !redefined && before.digest != after.digest,
            profile: refolded(before, after, redefined),
            tools,
        }
    }

    /// Whether there is no difference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && !self.reordered && !self.profile && self.arms.iter().all(ArmChange::is_unchanged)
    }

    /// The changes in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        if self.is_empty() {
            return "Nothing changed.".to_owned();
        }
        let mut parts = Vec::new();
        for kind in [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Changed, ChangeKind::Recounted] {
            let count = self.count(kind);
            if count > 0 {
                parts.push(format!("{} {}", grouped(count), kind.name()));
            }
        }
        parts.push(format!("{} unchanged", grouped(self.unchanged)));
        let flips: String = self.arms.iter().filter_map(ArmChange::flip).map(|flip| flip + ". ").collect();
        format!("{flips}Tools: {}.", parts.join(", "))
    }

    /// The changes other than tools and totals, one sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<&'static str> {
        let mut notes = Vec::new();
        if self.reordered {
            notes.push("The order of the tools changed, which breaks prompt caches.");
        }
        if self.profile {
            notes.push("The profile assigns the tools differently.");
        }
        notes
    }

    /// The number of tools with a kind of change.
    #[must_use]
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.tools.iter().filter(|tool| tool.kind == kind).count()
    }

    /// Adds the pointers of differences for tools of which both definitions are available.
    pub fn with_pointers<'t>(
        &mut self,
        before: impl Fn(&str) -> Option<&'t Tool>,
        after: impl Fn(&str) -> Option<&'t Tool>,
    ) {
        for change in &mut self.tools {
            if let (Some(before), Some(after)) = (before(&change.name), after(&change.name)) {
                change.pointers = changed_pointers(before, after);
            }
        }
    }
}

/// Whether the profile assigns the same tools differently. A derived profile differs with every new
/// tool, so only the tools in both locks count.
fn refolded(before: &Lock, after: &Lock, redefined: bool) -> bool {
    if before.profile.name != after.profile.name || !redefined && before.profile.digest != after.profile.digest {
        return true;
    }
    for new in &after.tools {
        if let Some(old) = before.tool(&new.name)
            && (&old.tier, &old.category) != (&new.tier, &new.category)
        {
            return true;
        }
    }
    false
}

fn change(kind: ChangeKind, before: Option<&LockedTool>, after: Option<&LockedTool>) -> ToolChange {
    let none = LockedTool::default();
    let (old, new) = (before.unwrap_or(&none), after.unwrap_or(&none));
    // A tool whose parts were not measured on one side has no part changes.
    let measured = !old.parts.is_empty() && !new.parts.is_empty();
    ToolChange {
        name: before.unwrap_or(new).name.clone(),
        kind,
        before: old.full,
        after: new.full,
        shown_before: old.shown,
        shown_after: new.shown,
        parts: if measured { changed_parts(&old.parts, &new.parts) } else { Vec::new() },
        pointers: Vec::new(),
    }
}

fn changed_parts(before: &IndexMap<String, usize>, after: &IndexMap<String, usize>) -> Vec<PartChange> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut parts = Vec::new();
    for name in names {
        let [before, after] = [before, after].map(|own| own.get(name).copied().unwrap_or_default());
        if before != after {
            parts.push(PartChange { part: name.clone(), before, after });
        }
    }
    parts.sort_by_cached_key(|part| std::cmp::Reverse(part.before.abs_diff(part.after)));
    parts
}

fn arms(before: &Lock, after: &Lock) -> Vec<ArmChange> {
    let mut changes = Vec::new();
    for arm in after.arms.keys().chain(before.arms.keys().filter(|arm| !after.arms.contains_key(*arm))) {
        let (before, after) = (before.arms.get(arm), after.arms.get(arm));
        let takes = match (before, after) {
            (Some(before), Some(after)) if before.takes != after.takes => {
                Some((before.takes.clone(), after.takes.clone()))
            }
            _ => None,
        };
        let [before, after] = [before, after].map(|own| Some(own?.tokens));
        changes.push(ArmChange { arm: arm.clone(), before, after, takes });
    }
    changes
}

/// The JSON Pointers at which two definitions differ: at most 20, then `…`.
#[must_use]
pub fn changed_pointers(before: &Tool, after: &Tool) -> Vec<String> {
    let mut found = Vec::new();
    compare(&definition(before), &definition(after), &mut String::new(), &mut found);
    if found.len() > MAX_POINTERS {
        found.truncate(MAX_POINTERS);
        found.push("…".to_owned());
    }
    found
}

fn compare(before: &Value, after: &Value, at: &mut String, found: &mut Vec<String>) {
    if found.len() > MAX_POINTERS || same(before, after) {
        return;
    }
    let (Some(old), Some(new)) = (before.as_object(), after.as_object()) else {
        return found.push(at.clone());
    };
    let length = at.len();
    for name in new.keys().chain(old.keys().filter(|name| !new.contains_key(*name))) {
        at.push('/');
        at.push_str(&pointer_token(name));
        match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => compare(old, new, at, found),
            _ => found.push(at.clone()),
        }
        at.truncate(length);
    }
}
