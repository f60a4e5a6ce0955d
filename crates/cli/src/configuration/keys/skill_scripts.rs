//! `[skill_scripts]`: whether the scripts of skills run, and their limits.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::parse::{comma_list, parse_into, period, switch, whole_number};
use super::super::scope::Scope;
use super::super::units::size;
use super::keys;
use toolfold_runner::MAX_TIMEOUT_MS;

/// Why a project cannot set these keys.
const USER: Scope = Scope::User("a project cannot decide that scripts run, or how");

/// The values of `[skill_scripts]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillScripts {
    /// Whether the scripts of skills run.
    pub enabled: bool,
    /// Time until a script is killed, if its skill sets none.
    pub timeout: Duration,
    /// Maximum resident memory in bytes of all processes of a script together, and of private
    /// memory of each.
    pub memory: u64,
    /// Maximum number of processes.
    pub processes: usize,
    /// The interpreters by the ending of a script's name.
    pub interpreters: BTreeMap<String, String>,
}

keys! {
    ENABLED = "skill_scripts.enabled" {
        scope: USER,
        default: "off",
        help: "whether the scripts of skills run",
        store: |settings, text| parse_into(&mut settings.skill_scripts.enabled, text, switch),
    }
    TIMEOUT = "skill_scripts.timeout" {
        scope: USER,
        default: "30s",
        help: "time until a script is killed, at most 10m; a skill's `timeout` overrides it",
        store: |settings, text| parse_into(&mut settings.skill_scripts.timeout, text, timeout),
    }
    MEMORY = "skill_scripts.memory" {
        scope: USER,
        default: "1GiB",
        help: "maximum memory of a script",
        store: |settings, text| parse_into(&mut settings.skill_scripts.memory, text, size),
    }
    PROCESSES = "skill_scripts.processes" {
        scope: USER,
        default: "64",
        help: "maximum number of processes of a script",
        store: |settings, text| parse_into(&mut settings.skill_scripts.processes, text, whole_number),
    }
    INTERPRETERS = "skill_scripts.interpreters" {
        scope: USER,
        default: "",
        help: "interpreters by ending: ts=deno, py=/opt/python/bin/python3",
        store: |settings, text| parse_into(&mut settings.skill_scripts.interpreters, text, interpreters),
    }
}

fn timeout(text: &str) -> Result<Duration, String> {
    match period(text)? {
        time if time.is_zero() || time > Duration::from_millis(MAX_TIMEOUT_MS) => {
            Err(format!("`{text}` is not between 1 ms and 10m"))
        }
        time => Ok(time),
    }
}

fn interpreters(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut all = BTreeMap::new();
    for part in comma_list(text)? {
        match part.split_once('=').map(|(ending, program)| (ending.trim(), program.trim())) {
            Some((ending, program)) if !ending.is_empty() && !program.is_empty() && !ending.contains('.') => {
                all.insert(ending.to_owned(), program.to_owned());
            }
            _ => return Err(format!("`{part}` is not ending=program, such as ts=deno")),
        }
    }
    Ok(all)
}
