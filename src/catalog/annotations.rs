//! What a server says of a tool's effects. Hints, never proof.

use serde::{Deserialize, Serialize};

/// MCP's tool annotations. An absent hint is not the same as `false`: the defaults below are the specification's, and
/// nobody may take an absent hint for harmless.
///
/// Source: MCP 2025-11-25, `ToolAnnotations`. No provider shows them to a model or bills them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Annotations {
    /// The tool changes nothing. Absent means `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool may destroy something. Absent means `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling twice does no more than calling once. Absent means `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool talks to things outside the host. Absent means `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}
