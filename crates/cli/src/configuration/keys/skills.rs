//! `[skills]`: which skills are offered, and the limits for reading them.

use super::super::parse::{comma_list, parse_into, switch, whole_number};
use super::super::paths::Paths;
use super::super::scope::Scope;
use super::super::units;
use super::keys;
use toolfold::skill::{Budget, Limits};

/// Why a project cannot set the limits.
const LIMITS: Scope = Scope::User("a project cannot change the limits of skills");

/// Whose requests are granted.
fn trusted_only(text: &str) -> Result<bool, String> {
    match text {
        "trusted" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("`{text}` is neither `off` nor `trusted`")),
    }
}

/// The values of `[skills]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skills {
    /// Whether skills are offered.
    pub on: bool,
    /// Whether the usual places are searched.
    pub usual: bool,
    /// Further folders of skills.
    pub roots: Vec<String>,
    /// Whether the script of a skill is a tool of its own.
    pub as_tools: bool,
    /// Whether the `allowed-tools` of trusted skills approve calls in advance.
    pub honour_allowed_tools: bool,
    /// Maximum cost of the declaration of `activate_skill`.
    pub budget: Budget,
    /// Limits for what is read below a root, and stored.
    pub limits: Limits,
}

keys! {
    MODE = "skills.mode" {
        scope: Scope::Project,
        env: "TOOLFOLD_SKILLS",
        default: "on",
        help: "on or off",
        store: |settings, text| parse_into(&mut settings.skills.on, text, switch),
    }
    ROOTS = "skills.roots" {
        scope: Scope::Project,
        paths: Paths::Folders,
        flag: "--skills",
        default: "",
        help: "folders of skills besides the usual places, separated by commas",
        store: |settings, text| parse_into(&mut settings.skills.roots, text, comma_list),
    }
    USUAL = "skills.usual" {
        scope: Scope::Project,
        default: "on",
        help: "whether the usual places are searched: .claude/skills and others of the project and the user",
        store: |settings, text| parse_into(&mut settings.skills.usual, text, switch),
    }
    AS_TOOLS = "skills.as_tools" {
        scope: Scope::User("a project cannot offer scripts to a model"),
        default: "off",
        help: "whether each skill is a tool, skill:NAME, that runs its script (with skill_scripts.enabled) or activates it",
        store: |settings, text| parse_into(&mut settings.skills.as_tools, text, switch),
    }
    HONOUR_ALLOWED_TOOLS = "skills.honour_allowed_tools" {
        scope: Scope::User("a project cannot approve calls"),
        default: "off",
        help: "off or trusted: whether the allowed-tools of trusted skills approve calls while the skill is active",
        store: |settings, text| parse_into(&mut settings.skills.honour_allowed_tools, text, trusted_only),
    }
    BUDGET = "skills.budget" {
        scope: Scope::Project,
        default: "2000",
        help: "maximum tokens of activate_skill, list and enum together",
        store: |settings, text| parse_into(&mut settings.skills.budget, text, |text| whole_number(text).map(Budget::Tokens)),
    }
    DEPTH = "skills.depth" {
        scope: LIMITS,
        default: "6",
        help: "maximum depth of folders below a root of skills",
        store: |settings, text| parse_into(&mut settings.skills.limits.depth, text, whole_number),
    }
    FOLDERS = "skills.folders" {
        scope: LIMITS,
        default: "20000",
        help: "maximum number of folders below a root of skills",
        store: |settings, text| parse_into(&mut settings.skills.limits.folders, text, whole_number),
    }
    ENTRIES = "skills.entries" {
        scope: LIMITS,
        default: "200000",
        help: "maximum number of names in the folders below a root of skills",
        store: |settings, text| parse_into(&mut settings.skills.limits.entries, text, whole_number),
    }
    BYTES = "skills.bytes" {
        scope: LIMITS,
        default: "256MiB",
        help: "maximum size of skill texts, per root and in total",
        store: |settings, text| {
            let bytes = units::size(text)?;
            settings.skills.limits.root_bytes = bytes;
            settings.skills.limits.bytes = bytes;
            Ok(())
        },
    }
}
