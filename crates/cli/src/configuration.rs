//! Configuration: defaults < `toolfold.toml` < environment < flags, and every value knows where it came from.
//!
//! One [`Key`] a setting holds everything about it. Nothing here reads a file or the environment: the command line
//! hands both in.

mod file;
mod keys;

pub use keys::{KEYS, Key};

use std::fmt;

use indexmap::IndexMap;
use serde::Serialize;

use toolfold::diagnostic::{Diagnostic, Loaded, Place};
use toolfold::engine::Experiment;
use toolfold::profile::Arm;

/// The name of the configuration file, looked for in the working directory.
pub const CONFIG_FILE: &str = "toolfold.toml";

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// The configuration file, at this place.
    File(Place),
    /// This environment variable.
    Environment(&'static str),
    /// This flag.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(place) => place.fmt(f),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// A value and where it came from. Every value is text that its key's check has accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The value; empty if there is none.
    pub value: String,
    /// Where it came from.
    pub origin: Origin,
}

/// Every setting by its key, in the order of [`KEYS`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Config {
    settings: IndexMap<&'static str, Setting>,
}

impl Config {
    /// Puts a configuration together. `file` is the text of the configuration file with its name; `environment` gives a
    /// variable's value; `flags` are values by key. A value that its key refuses is an error, never a silent default.
    pub fn resolve(
        file: Option<(&str, &str)>,
        environment: impl Fn(&str) -> Option<String>,
        flags: &[(&'static str, String)],
    ) -> Loaded<Self> {
        let default = |key: &Key| (key.name, Setting { value: key.default.to_owned(), origin: Origin::Default });
        let mut config = Self { settings: KEYS.iter().map(default).collect() };
        let mut diagnostics = Vec::new();
        if let Some((text, name)) = file {
            for (key, value, place) in file::read(text, name, &mut diagnostics) {
                config.set(key, value, Origin::File(place), &mut diagnostics);
            }
        }
        // The original's switch is the weaker of the two: who names an arm means it.
        if let Some(value) = environment(keys::USE_TOOL_PROFILE) {
            match keys::arm_of_switch(&value) {
                Ok(arm) => {
                    let origin = Origin::Environment(keys::USE_TOOL_PROFILE);
                    config.set("presentation.arm", arm.name().to_owned(), origin, &mut diagnostics);
                }
                Err(why) => diagnostics.push(refused(keys::USE_TOOL_PROFILE, &why, Place::default())),
            }
        }
        for key in &KEYS {
            if let Some((name, value)) = key.env.and_then(|name| Some((name, environment(name)?))) {
                config.set(key.name, value, Origin::Environment(name), &mut diagnostics);
            }
        }
        for (name, value) in flags {
            let flag = KEYS.iter().find(|key| key.name == *name).and_then(|key| key.flag).unwrap_or(name);
            config.set(name, value.clone(), Origin::Flag(flag), &mut diagnostics);
        }
        Loaded { value: config, diagnostics }
    }

    fn set(&mut self, name: &'static str, value: String, origin: Origin, diagnostics: &mut Vec<Diagnostic>) {
        let Some(key) = KEYS.iter().find(|key| key.name == name) else { return };
        if let Err(why) = (key.check)(&value) {
            let (what, place) = match &origin {
                Origin::File(place) => (name.to_owned(), place.clone()),
                other => (other.to_string(), Place::default()),
            };
            return diagnostics.push(refused(&what, &why, place));
        }
        self.settings.insert(name, Setting { value, origin });
    }

    /// Every setting, in the order of [`KEYS`].
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.settings.iter().map(|(name, setting)| (*name, setting))
    }

    /// The value of a key; `None` if it is empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(|setting| setting.value.as_str()).filter(|value| !value.is_empty())
    }

    /// The value of a key, read as a type. Checked when it was set, so that it reads.
    #[must_use]
    pub fn read<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name).and_then(|value| value.parse().ok())
    }

    /// Where the value of a key came from.
    #[must_use]
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.settings.get(name).map(|setting| &setting.origin)
    }

    /// The arm; [`Arm::Auto`] if nobody said anything.
    #[must_use]
    pub fn arm(&self) -> Arm {
        self.read("presentation.arm").unwrap_or(Arm::Auto)
    }

    /// The experiment, if there is one and no stronger source than the configuration file names an arm.
    #[must_use]
    pub fn experiment(&self) -> Option<Experiment> {
        let forced = matches!(self.origin("presentation.arm"), Some(Origin::Environment(_) | Origin::Flag(_)));
        let arms = keys::experiment_arms(self.get("experiment.arms").filter(|_| !forced)?).ok()?;
        Some(Experiment { arms, ratio: self.read("experiment.ratio").unwrap_or(0.5) })
    }
}

fn refused(what: &str, why: &str, place: Place) -> Diagnostic {
    Diagnostic::error("bad-setting", place, format!("{what}: {why}"))
        .help("toolfold config --explain lists every setting")
}
