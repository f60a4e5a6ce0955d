//! Which skills an agent may activate: decided by name alone, before a body is read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

/// The permission for a skill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// The skill is activated.
    #[default]
    Allow,
    /// Approval is required.
    Ask,
    /// The skill is invisible to this agent.
    Deny,
}

/// A rule: every matching name gets the permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PermissionRule {
    /// A name in which `*` matches any text and `?` any one character.
    pub pattern: String,
    /// The permission of matching names.
    pub permission: Permission,
}

impl PermissionRule {
    /// Creates a rule.
    #[must_use]
    pub fn new(pattern: &str, permission: Permission) -> Self {
        Self { pattern: pattern.to_owned(), permission }
    }
}

/// The rules of one agent, in layers such as host, user, agent.
///
/// Within a layer the last matching rule wins, so exceptions can follow a general rule. Between
/// layers the stricter permission wins: no later layer and no remembered approval lifts a denial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Permissions {
    layers: Vec<Vec<PermissionRule>>,
    approved: Vec<String>,
}

impl Permissions {
    /// Creates permissions with one layer of rules.
    #[must_use]
    pub fn new(rules: Vec<PermissionRule>) -> Self {
        Self { layers: vec![rules], approved: Vec::new() }
    }

    /// Adds a layer, which can only make the permissions stricter.
    #[must_use]
    pub fn layer(mut self, rules: Vec<PermissionRule>) -> Self {
        self.layers.push(rules);
        self
    }

    /// Remembers a permanent approval: `ask` becomes `allow` for this exact name, `deny` stays.
    pub fn approve(&mut self, name: &str) {
        if !self.approved.iter().any(|a| a == name) {
            self.approved.push(name.to_owned());
        }
    }

    /// Whether a permanent approval of a name is remembered.
    pub(crate) fn is_approved(&self, name: &str) -> bool {
        self.approved.iter().any(|approved| approved == name)
    }

    /// The permission of a name. Without a matching rule: [`Permission::Allow`].
    #[must_use]
    pub fn decide(&self, name: &str) -> Permission {
        let strictest = self.layers.iter().filter_map(|rules| last_match(rules, name)).max().unwrap_or_default();
        if strictest == Permission::Ask && self.is_approved(name) { Permission::Allow } else { strictest }
    }
}

fn last_match(rules: &[PermissionRule], name: &str) -> Option<Permission> {
    let rule = rules.iter().rev().find(|rule| WildMatch::new(&rule.pattern).matches(name))?;
    Some(rule.permission)
}
