//! Builds a configuration from its sources.

use indexmap::IndexMap;

use super::keys::{self, Key};
use super::parse;
use super::paths::Paths;
use super::scope::{Ruling, join_ignored};
use super::settings::Settings;
use super::{Config, ConfigFile, ConfigScope, Origin, Setting, file};
use crate::postgres::without_password;
use toolfold::diagnostic::{Diagnostic, Loaded, Place};
use toolfold::profile::CustomArm;

impl Config {
    /// Builds a configuration. `files` are the configuration files, the weakest first;
    /// `environment` returns the value of a variable; `flags` are values by key. An invalid value
    /// is an error, never a silent default. A value that a project's file may not set is ignored
    /// with a warning.
    pub fn resolve(
        files: &[ConfigFile<'_>],
        environment: impl Fn(&str) -> Option<String>,
        flags: &[(&'static Key, String)],
    ) -> Loaded<Self> {
        let mut diagnostics = Vec::new();
        let written: Vec<_> =
            files.iter().map(|file| file::read_config(file.text, file.name, &mut diagnostics)).collect();
        let mut config = Self::of_defaults(merged_arms(&written), files);
        for (file, written) in files.iter().zip(written) {
            config.take_file(file, written, &mut diagnostics);
        }
        config.take_environment(environment, &mut diagnostics);
        for (key, value) in flags {
            let flag = key.flag.unwrap_or(key.name);
            config.set(key, value.clone(), Origin::Flag(flag), &mut diagnostics);
        }
        Loaded { value: config, diagnostics }
    }

    fn of_defaults(arms: Vec<CustomArm>, files: &[ConfigFile<'_>]) -> Self {
        let mut texts = IndexMap::new();
        for key in Key::all_keys() {
            texts.insert(key.name, Setting { value: key.default.to_owned(), origin: Origin::Default });
        }
        Self {
            settings: Settings::of_defaults(arms.clone()),
            texts,
            arms,
            servers: IndexMap::new(),
            profiles: IndexMap::new(),
            serves: false,
            by_project: Vec::new(),
            files: files.iter().map(|file| file.name.to_owned()).collect(),
        }
    }

    fn take_file(&mut self, file: &ConfigFile<'_>, written: file::Written, diagnostics: &mut Vec<Diagnostic>) {
        let start = diagnostics.len();
        for (name, options, place) in written.servers {
            let options = options.with_absolute_paths(file);
            let own = self.servers.entry(name.clone()).or_default();
            match file.scope {
                ConfigScope::User => own.overlay(options),
                ConfigScope::Project => own.tighten(&name, options, &place, diagnostics),
            }
        }
        for (name, options) in written.profiles {
            self.take_profile(name, options.with_absolute_paths(file), file.scope, diagnostics);
        }
        for (key, text, place) in written.settings {
            let value = file.absolute(key.paths, text.clone());
            match key.ruling(file, &text, &place) {
                Ruling::Ignore(warning) => diagnostics.push(warning),
                Ruling::Add(store) => store(&mut self.settings, value),
                Ruling::Set => {
                    if file.scope == ConfigScope::Project {
                        self.by_project.push(key.name);
                    }
                    self.set(key, value, Origin::File(place), diagnostics);
                }
            }
        }
        join_ignored(diagnostics, start);
    }

    /// Applies the environment. The original design's variable is weaker than the one for an arm.
    fn take_environment(&mut self, environment: impl Fn(&str) -> Option<String>, diagnostics: &mut Vec<Diagnostic>) {
        if let Some(value) = environment(keys::USE_TOOL_PROFILE) {
            match parse::arm_of_switch(&value) {
                Ok(arm) => {
                    let origin = Origin::Environment(keys::USE_TOOL_PROFILE);
                    self.set(&keys::presentation::ARM, arm.name().to_owned(), origin, diagnostics);
                }
                Err(why) => diagnostics.push(refused(keys::USE_TOOL_PROFILE, &why, Place::default())),
            }
        }
        for key in Key::all_keys() {
            if let Some((name, value)) = key.env.and_then(|name| Some((name, environment(name)?))) {
                self.set(key, value, Origin::Environment(name), diagnostics);
            }
        }
    }

    /// Parses a value into its field; an invalid one is reported and changes nothing.
    pub(super) fn set(&mut self, key: &'static Key, value: String, origin: Origin, diagnostics: &mut Vec<Diagnostic>) {
        if let Err(why) = (key.store)(&mut self.settings, &value) {
            let (what, place) = match &origin {
                Origin::File(place) => (key.name.to_owned(), place.clone()),
                other => (other.to_string(), Place::default()),
            };
            return diagnostics.push(refused(&what, &why, place));
        }
        // Where a file can be named, so can a database.
        let value = if key.paths == Paths::File { without_password(&value) } else { value };
        self.texts.insert(key.name, Setting { value, origin });
    }
}

/// The arms of all files. A setting in one file may name an arm of another; for arms with the same
/// name, the later file wins.
fn merged_arms(written: &[file::Written]) -> Vec<CustomArm> {
    let mut arms: Vec<CustomArm> = Vec::new();
    for own in written.iter().flat_map(|written| &written.arms) {
        arms.retain(|arm| arm.name() != own.name());
        arms.push(*own);
    }
    arms
}

pub(super) fn refused(what: &str, why: &str, place: Place) -> Diagnostic {
    Diagnostic::error("bad-setting", place, format!("{what}: {why}"))
        .help("toolfold config --explain lists every setting")
}
