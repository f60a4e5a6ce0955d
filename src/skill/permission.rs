//! Which skills an agent may activate: decided on the name alone, before a body is read.

use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

/// What may happen when a skill is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// It is activated.
    #[default]
    Allow,
    /// A person decides first.
    Ask,
    /// It does not exist, as far as this agent can tell.
    Deny,
}

/// One rule: every name that the pattern matches gets the permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PermissionRule {
    /// A name in which `*` stands for any text and `?` for any one character.
    pub pattern: String,
    /// What it gets.
    pub permission: Permission,
}

impl PermissionRule {
    /// A rule.
    #[must_use]
    pub fn new(pattern: &str, permission: Permission) -> Self {
        Self { pattern: pattern.to_owned(), permission }
    }
}

/// The rules of one agent, in layers: host, user, agent, ….
///
/// Within a layer the last rule that matches wins, so that a general rule can be followed by exceptions. Between
/// layers the stricter word wins: no later layer, and no approval that was remembered, lifts a denial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permissions {
    layers: Vec<Vec<PermissionRule>>,
    approved: Vec<String>,
}

impl Permissions {
    /// One layer of rules.
    #[must_use]
    pub fn new(rules: Vec<PermissionRule>) -> Self {
        Self { layers: vec![rules], approved: Vec::new() }
    }

    /// The same with one more layer, which can only make it stricter.
    #[must_use]
    pub fn layer(mut self, rules: Vec<PermissionRule>) -> Self {
        self.layers.push(rules);
        self
    }

    /// Remembers that a person allowed a skill for good: `ask` becomes `allow` for this exact name, `deny` stays.
    pub fn approve(&mut self, name: &str) {
        if !self.approved.iter().any(|a| a == name) {
            self.approved.push(name.to_owned());
        }
    }

    /// What a name gets. Without a matching rule: [`Permission::Allow`].
    #[must_use]
    pub fn decide(&self, name: &str) -> Permission {
        let of_layer = |rules: &Vec<PermissionRule>| {
            rules.iter().rev().find(|r| WildMatch::new(&r.pattern).matches(name)).map(|r| r.permission)
        };
        let strictest = self.layers.iter().filter_map(of_layer).max().unwrap_or_default();
        if strictest == Permission::Ask && self.approved.iter().any(|a| a == name) {
            Permission::Allow
        } else {
            strictest
        }
    }
}
