//! `[policy]`: which calls are allowed.

use super::super::parse::{optional, parse_into};
use super::super::paths::Paths;
use super::super::scope::{Scope, Tightening};
use super::keys;

/// The values of `[policy]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicySettings {
    /// What the policy is used for.
    pub mode: PolicyUse,
    /// The user's policy file.
    pub file: Option<String>,
    /// The policy file of the project's own configuration: its rules only tighten.
    pub project_file: Option<String>,
}

/// What the policy is used for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PolicyUse {
    /// No policy is loaded.
    Off,
    /// Calls are judged and recorded; none is denied.
    Audit,
    /// Calls are judged; the decision is binding.
    #[default]
    Enforce,
}

keys! {
    MODE = "policy.mode" {
        scope: Scope::Tightens(Tightening::Only {
            value: "enforce",
            reason: "the files of a project cannot turn a policy off or weaken it",
        }),
        env: "TOOLFOLD_POLICY",
        default: "enforce",
        help: "off, audit or enforce; without a policy file it is off",
        store: |settings, text| parse_into(&mut settings.policy.mode, text, policy_use),
    }
    FILE = "policy.file" {
        scope: Scope::Tightens(Tightening::Additional(|settings, file| {
            settings.policy.project_file = Some(file).filter(|file| !file.is_empty());
        })),
        paths: Paths::FileOrName,
        flag: "--policy",
        default: "",
        help: "the policy file",
        store: |settings, text| parse_into(&mut settings.policy.file, text, optional),
    }
}

fn policy_use(text: &str) -> Result<PolicyUse, String> {
    match text {
        "off" => Ok(PolicyUse::Off),
        "audit" => Ok(PolicyUse::Audit),
        "enforce" => Ok(PolicyUse::Enforce),
        _ => Err(format!("`{text}` must be off, audit or enforce")),
    }
}
