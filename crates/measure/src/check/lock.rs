//! The lock: the accepted cost of every tool, one line per tool.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolfold::catalog::Tool;
use toolfold::profile::Assigned;

use super::parts::tool_digest;

/// The version of the lock format that is written, and the newest that can be read.
pub const LOCK_VERSION: u64 = 1;

/// The first line of a lock, by which it is recognized before it is overwritten.
pub const MARK: &str = "# toolfold.lock: ";

/// The cost of a tool list under one meter, profile and set of arms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Lock {
    /// The version of the format: [`LOCK_VERSION`].
    pub version: u64,
    /// What the figures measure, such as `billed:openai-chat/gpt-4.1`.
    pub meter: String,
    /// The wire whose rules apply, such as `openai-chat`.
    pub wire: String,
    /// The model; empty if none was named.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The arm that `shown` of each tool refers to; one of `arms`.
    pub arm: String,
    /// The profile under which the tools were folded.
    pub profile: ProfileId,
    /// The digest of all definitions in order: it changes with any of them, and if they are
    /// reordered.
    pub digest: String,
    /// The cost of a first turn's tool block, by arm.
    pub arms: IndexMap<String, ArmTotal>,
    /// Every tool, sorted by name.
    pub tools: Vec<LockedTool>,
}

impl Lock {
    /// A lock in the current format without a model, arms and tools. `digest`: of all definitions.
    #[must_use]
    pub fn new(
        meter: impl Into<String>,
        wire: impl Into<String>,
        arm: impl Into<String>,
        profile: ProfileId,
        digest: impl Into<String>,
    ) -> Self {
        Self {
            version: LOCK_VERSION,
            meter: meter.into(),
            wire: wire.into(),
            model: String::new(),
            arm: arm.into(),
            profile,
            digest: digest.into(),
            arms: IndexMap::new(),
            tools: Vec::new(),
        }
    }
}

/// A profile's name and digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProfileId {
    /// Its name; `off` if there is none.
    pub name: String,
    /// SHA-256 of the profile as TOML, applied to the tools; of nothing if there is none.
    pub digest: String,
}

impl ProfileId {
    /// A profile by its name and digest.
    #[must_use]
    pub fn new(name: impl Into<String>, digest: impl Into<String>) -> Self {
        Self { name: name.into(), digest: digest.into() }
    }
}

/// The cost of an arm's first turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ArmTotal {
    /// Tokens of the tool block including meta-tools, without messages and constants.
    pub tokens: usize,
    /// For arm `auto`, the arm it chose; empty for others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub takes: String,
}

impl ArmTotal {
    /// The tokens of an arm, and the arm that it takes.
    #[must_use]
    pub fn new(tokens: usize, takes: impl Into<String>) -> Self {
        Self { tokens, takes: takes.into() }
    }
}

/// The cost of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LockedTool {
    /// Its name.
    pub name: String,
    /// The full tool's own tokens: the block of all tools minus the block without it.
    pub full: usize,
    /// The same as the lock's arm shows it; 0 if it is not in the array.
    pub shown: usize,
    /// `core`, `extended` or `hidden`.
    pub tier: String,
    /// The category it expands with.
    pub category: String,
    /// SHA-256 of its definition as canonical JSON.
    pub digest: String,
    /// Tokens of its parts and the rest: `description`, and each top-level parameter by its JSON
    /// Pointer in the schema. Empty if they were not measured.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub parts: IndexMap<String, usize>,
}

impl LockedTool {
    /// A tool with its place in a profile and its tokens, full and as the lock's arm shows it.
    #[must_use]
    pub fn new(tool: &Tool, own: &Assigned, full: usize, shown: usize) -> Self {
        Self {
            name: tool.name().to_string(),
            full,
            shown,
            tier: own.tier.name().to_owned(),
            category: own.category.to_string(),
            digest: tool_digest(tool),
            parts: IndexMap::new(),
        }
    }
}

/// Why two locks cannot be compared: they count different things.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {} there and {} here", quoted_or_none(own), quoted_or_none(other))]
#[non_exhaustive]
pub struct Incomparable {
    /// What differs, with its article: `the meter`, `the wire`, `the model` or `the arm`.
    pub what: &'static str,
    /// Its value in this lock; empty if none.
    pub own: String,
    /// Its value in the other lock; empty if none.
    pub other: String,
}

fn quoted_or_none(text: &str) -> String {
    if text.is_empty() { "none".to_owned() } else { format!("`{text}`") }
}

impl Lock {
    /// Returns the tool of that name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&LockedTool> {
        let at = self.tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok()?;
        self.tools.get(at)
    }

    /// The cost of each category's full tools, in order of the names.
    #[must_use]
    pub fn categories(&self) -> std::collections::BTreeMap<&str, usize> {
        let mut all = std::collections::BTreeMap::new();
        for tool in self.tools.iter().filter(|tool| tool.tier != "core") {
            let own: &mut usize = all.entry(tool.category.as_str()).or_default();
            *own = own.saturating_add(tool.full);
        }
        all
    }

    /// Whether both locks count the same, so that their figures can be compared.
    ///
    /// # Errors
    /// Returns [`Incomparable`] if they differ in meter, wire or model, or if the other lock lacks
    /// the arm.
    pub fn comparable(&self, other: &Self) -> Result<(), Incomparable> {
        for (what, own, others) in [
            ("the meter", &self.meter, &other.meter),
            ("the wire", &self.wire, &other.wire),
            ("the model", &self.model, &other.model),
            ("the arm", &self.arm, &other.arm),
        ] {
            if own != others {
                return Err(Incomparable { what, own: own.clone(), other: others.clone() });
            }
        }
        Ok(())
    }

    /// The lock as text: TOML with one line per tool. Equal locks give equal bytes.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut out = format!("{MARK}what each tool costs. Written by `toolfold lock`; commit it.\n");
        out.push_str(&format!("version = {}\n", self.version));
        let heads = [("meter", &self.meter), ("wire", &self.wire), ("model", &self.model), ("arm", &self.arm)];
        for (key, value) in heads.into_iter().filter(|(_, value)| !value.is_empty()) {
            out.push_str(&format!("{key} = {}\n", toml_string(value)));
        }
        let (name, digest) = (toml_string(&self.profile.name), toml_string(&self.profile.digest));
        out.push_str(&format!("profile = {{ name = {name}, digest = {digest} }}\n"));
        out.push_str(&format!("digest = {}\n", toml_string(&self.digest)));
        out.push_str("tools = [\n");
        for tool in &self.tools {
            out.push_str(&format!("  {},\n", tool_line(tool)));
        }
        out.push_str("]\n\n[arms]\n");
        for (arm, total) in &self.arms {
            let takes =
                if total.takes.is_empty() { String::new() } else { format!(", takes = {}", toml_string(&total.takes)) };
            out.push_str(&format!("{} = {{ tokens = {}{takes} }}\n", toml_string(arm), total.tokens));
        }
        out
    }
}

fn tool_line(tool: &LockedTool) -> String {
    let LockedTool { name, full, shown, tier, category, digest, parts } = tool;
    let [name, tier, category, digest] = [name, tier, category, digest].map(|text| toml_string(text));
    let parts: Vec<String> = parts.iter().map(|(part, tokens)| format!("{} = {tokens}", toml_string(part))).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(", parts = {{ {} }}", parts.join(", ")) };
    format!(
        "{{ name = {name}, full = {full}, shown = {shown}, tier = {tier}, category = {category}{parts}, digest = {digest} }}"
    )
}

/// A basic TOML string, which has the same escapes as JSON; invisible characters are escaped too.
fn toml_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() || toolfold::diagnostic::is_invisible(c) => {
                let code = u32::from(c);
                out.push_str(&if code > 0xffff { format!("\\U{code:08X}") } else { format!("\\u{code:04X}") });
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
