//! `[skills]`: which skills are offered, and how much is read.

use super::super::parse::{comma_list, parse_into, switch, whole_number};
use super::super::paths::Paths;
use super::super::scope::Scope;
use super::super::units;
use super::keys;
use toolfold::skill::{Budget, Limits};

/// Why a project cannot set the limits.
const LIMITS: Scope = Scope::User("a project cannot say how much is read");

/// The values of `[skills]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skills {
    /// Whether skills are offered.
    pub on: bool,
    /// The folders of skills.
    pub roots: Vec<String>,
    /// What the declaration of `activate_skill` may cost.
    pub budget: Budget,
    /// How much is read below a root, and stored.
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
        help: "folders of skills, separated by commas",
        store: |settings, text| parse_into(&mut settings.skills.roots, text, comma_list),
    }
    BUDGET = "skills.budget" {
        scope: Scope::Project,
        default: "2000",
        help: "tokens that activate_skill may cost, list and enum together",
        store: |settings, text| parse_into(&mut settings.skills.budget, text, |text| whole_number(text).map(Budget::Tokens)),
    }
    DEPTH = "skills.depth" {
        scope: LIMITS,
        default: "6",
        help: "levels of folders that are read below a root of skills",
        store: |settings, text| parse_into(&mut settings.skills.limits.depth, text, whole_number),
    }
    FOLDERS = "skills.folders" {
        scope: LIMITS,
        default: "20000",
        help: "folders that are read below a root of skills",
        store: |settings, text| parse_into(&mut settings.skills.limits.folders, text, whole_number),
    }
    ENTRIES = "skills.entries" {
        scope: LIMITS,
        default: "200000",
        help: "names that are read in the folders below a root of skills",
        store: |settings, text| parse_into(&mut settings.skills.limits.entries, text, whole_number),
    }
    BYTES = "skills.bytes" {
        scope: LIMITS,
        default: "256MiB",
        help: "text of skills that is held, of one root and of all",
        store: |settings, text| {
            let bytes = units::size(text)?;
            settings.skills.limits = Limits { root_bytes: bytes, bytes, ..settings.skills.limits };
            Ok(())
        },
    }
}
