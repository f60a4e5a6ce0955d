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
pub struct PermissionRule {
    /// A name in which `*` matches any text and `?` any one character.
    pub pattern: String,
    /// The permission of matching names.
    pub permission: Permission,
}

/// The rules of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Permissions {
    /// The layers of rules, such as host, user, agent. Within a layer the last matching rule wins,
    /// so exceptions can follow a general rule. Between layers the stricter permission wins: no
    /// later layer lifts a denial.
    pub layers: Vec<Vec<PermissionRule>>,
    /// The permanently approved names: `ask` becomes `allow` for exactly these, `deny` stays.
    pub approved: Vec<String>,
}

impl Permissions {
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
