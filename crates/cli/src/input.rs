//! The input of a command: tools and a profile.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that reads files and the environment")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use clap::Args;

use super::builtin;
use super::config_files::FoundFile;
use super::output::{Failure, progress, say_all};
use super::skills::SkillTools;
use super::source::{self, SourceArgs, Text};
use crate::configuration::keys::presentation::Presentation;
use crate::configuration::{Config, ConfigFile, Flag, Key, keys};
use crate::disk::variable;
use toolfold::catalog::{Catalog, Format};
use toolfold::diagnostic::{Diagnostic, Place, Severity};
use toolfold::engine::{Engine, EngineBuilder, SkillLayer};
use toolfold::profile::{Arm, MAX_PROFILE_BYTES, ProfilePart, ProfileSource, ToolProfile, Workload};
use toolfold::wire::Capabilities;

/// Input larger than this, in bytes, prints a progress line: about a second of work.
const SLOW_BYTES: usize = 4_000_000;

/// Which tools, with which profile.
#[derive(Debug, Default, Clone, Args)]
pub(super) struct InputArgs {
    #[command(flatten)]
    pub(super) source: SourceArgs,

    /// Profile: a TOML file, a built-in name (excel, excel-original), `derived`, or `off`
    /// [default: excel for the built-in tools, derived for others]
    #[arg(long, value_name = "FILE|NAME")]
    profile: Option<String>,

    /// Fail if a tool of the list cannot be read, instead of leaving it out; lint: also on warnings
    #[arg(long, help_heading = "Tools")]
    pub(super) strict: bool,

    /// Configuration file [default: toolfold/toolfold.toml in your configuration folder, then the
    /// toolfold.toml here or in the nearest folder above, which may only tighten policy]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

#[derive(Clone)]
pub(super) struct Input {
    pub(super) config: Config,
    pub(super) catalog: Catalog,
    /// Layer 1; `None` if it is off.
    pub(super) profile: Option<ToolProfile>,
    pub(super) builtin: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl InputArgs {
    pub(super) fn for_gateway(profile: Option<String>, config: Option<String>) -> Self {
        Self { profile, config, ..Self::default() }
    }

    pub(super) fn of_tools(source: SourceArgs) -> Self {
        Self { source, ..Self::default() }
    }

    pub(super) fn with_config(self, config: Option<String>) -> Self {
        Self { config, ..self }
    }

    /// The configuration with these flags and `more`. An invalid value is an error: exit code 2 if
    /// it comes from a flag or the environment, 1 if it comes from a file.
    pub(super) fn config(&self, more: &[Flag]) -> Result<Config, Failure> {
        let strict = self.strict.then(|| "on".to_owned());
        let rest = [(&keys::presentation::PROFILE, self.profile.clone()), (&keys::tools::STRICT, strict)];
        let own = self.source.flags().into_iter().chain(rest);
        let flags = own.chain(more.iter().cloned()).filter_map(|(key, value)| Some((key, value?)));
        let flags: Vec<(&'static Key, String)> = flags.collect();
        let found = super::config_files::find_config_files(self.config.as_deref())?;
        let files: Vec<ConfigFile<'_>> = found.iter().map(FoundFile::as_file).collect();
        let loaded = Config::resolve(&files, variable, &flags);
        let is_in_file = |diagnostic: &Diagnostic| diagnostic.is_error() && diagnostic.place.file.is_some();
        let in_file = loaded.diagnostics.iter().any(is_in_file);
        if !loaded.has_errors() {
            say_all(&loaded.diagnostics);
        }
        loaded.into_result().map_err(|why| Failure::refused(if in_file { 1 } else { 2 }, why.0))
    }
}

impl Input {
    /// Reads tools and profile. Any error in one of them ends the command.
    pub(super) fn load(config: Config) -> Result<Self, Failure> {
        let source = source::read_tools(&config)?;
        let builtin = source.builtin;
        let (catalog, mut diagnostics) = imported(&source, config.settings.tools.format, config.settings.tools.strict)?;
        let profile = match (config.settings.presentation.profile.as_deref(), builtin) {
            (None, true) => Some(load_profile(builtin::EXCEL_PROFILE, &mut diagnostics)?),
            (named, _) => profile(named, &catalog, &mut diagnostics)?,
        };
        Ok(Self { config, catalog, profile, builtin, diagnostics })
    }

    pub(super) fn of_catalog(config: Config, catalog: Catalog) -> Result<Self, Failure> {
        let mut diagnostics = Vec::new();
        let profile = profile(config.settings.presentation.profile.as_deref(), &catalog, &mut diagnostics)?;
        Ok(Self { config, catalog, profile, builtin: false, diagnostics })
    }

    /// The input for the tools of servers, some of which have their own profiles. `servers` maps
    /// such a server to its tools: the name in the catalog to the tool's own name.
    pub(super) fn of_servers(
        config: Config,
        catalog: Catalog,
        servers: &BTreeMap<String, BTreeMap<String, String>>,
    ) -> Result<Self, Failure> {
        let mut diagnostics = Vec::new();
        let mut written = BTreeMap::new();
        let general = config.settings.presentation.profile.as_deref();
        let mut names: Vec<&str> = Vec::new();
        for (server, name) in config.server_profiles() {
            if servers.contains_key(server) {
                names.push(name);
            }
        }
        names.extend(general);
        for name in names {
            if !matches!(name, "off" | "derived") && !written.contains_key(name) {
                written.insert(name.to_owned(), load_profile(name, &mut diagnostics)?);
            }
        }
        let mut parts = Vec::new();
        for (server, name) in config.server_profiles() {
            if let Some(names) = servers.get(server) {
                parts.push(ProfilePart { source: profile_source(Some(name), &written), names });
            }
        }
        let rest = profile_source(general, &written);
        let whole = ToolProfile::of_parts(&catalog, rest, &parts);
        diagnostics.extend(whole.diagnostics);
        let profile = Some(whole.value);
        Ok(Self { config, catalog, profile, builtin: false, diagnostics })
    }

    /// The same input with skills among the tools.
    pub(super) fn with_skill_tools(mut self, skills: &SkillTools) -> Self {
        let noticed = skills.add_tools(&mut self.catalog);
        say_all(&noticed);
        if self.profile.as_ref().is_some_and(|profile| profile.derived) {
            self.profile = Some(ToolProfile::derive(&self.catalog));
        }
        self
    }

    pub(super) fn say_warnings(&self) {
        let mut worth = self.diagnostics.clone();
        worth.retain(|diagnostic| diagnostic.severity == Severity::Warning);
        say_all(&worth);
    }

    /// An engine for one arm that does not validate calls. Without a profile, every arm is full.
    pub(super) fn engine(&self, arm: Arm) -> Result<Engine, Failure> {
        Self::built(self.measured(arm))
    }

    pub(super) fn engine_with(&self, arm: Arm, skills: SkillLayer) -> Result<Engine, Failure> {
        Self::built(self.measured(arm).skills(skills))
    }

    fn measured(&self, arm: Arm) -> EngineBuilder {
        self.builder(if self.profile.is_some() { arm } else { Arm::Full }).without_validation()
    }

    /// The capability table: the rows of the configured file override the built-in ones.
    pub(super) fn capabilities(&self) -> Result<Capabilities, Failure> {
        let Some(file) = &self.config.settings.presentation.capabilities else {
            return Ok(Capabilities::builtin().clone());
        };
        let loaded = Capabilities::parse(&read_text(file, MAX_PROFILE_BYTES)?, file);
        let own = loaded.into_result().map_err(|why| Failure::bad(why.0))?;
        Ok(own.over(Capabilities::builtin()))
    }

    pub(super) fn workload(&self) -> Workload {
        self.config.settings.presentation.workload
    }

    pub(super) fn builder(&self, arm: Arm) -> EngineBuilder {
        let Presentation { budget, workload, blind, coerce, .. } = self.config.settings.presentation;
        let builder = Engine::builder(self.catalog.clone()).arm(arm).budget(budget).workload(workload);
        let builder = builder.blind(blind).coerce(coerce);
        match &self.profile {
            Some(profile) => builder.profile(profile.clone()),
            None => builder.without_profile(),
        }
    }

    /// Builds an engine; an error lists what does not fit together.
    pub(super) fn built(builder: EngineBuilder) -> Result<Engine, Failure> {
        builder.build().map_err(|why| Failure::bad(why.diagnostics))
    }
}

/// The profile of that name: off, one of the loaded ones, or a derived one.
fn profile_source<'p>(name: Option<&str>, written: &'p BTreeMap<String, ToolProfile>) -> ProfileSource<'p> {
    match name {
        Some("off") => ProfileSource::Off,
        Some(name) => written.get(name).map_or(ProfileSource::Derived, ProfileSource::Written),
        None => ProfileSource::Derived,
    }
}

/// The configured profile of tools that are not built in; derived if none is configured.
fn profile(
    named: Option<&str>,
    catalog: &Catalog,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<ToolProfile>, Failure> {
    Ok(match named {
        Some("off") => None,
        None | Some("derived") => Some(ToolProfile::derive(catalog)),
        Some(name) => Some(load_profile(name, diagnostics)?),
    })
}

/// Reads a tool list that others are compared with, from a file or standard input, or the built-in
/// one. Every tool must be readable: what is left out would look like a difference.
pub(super) fn load_tools(file: Option<&str>, format: Option<Format>) -> Result<(Catalog, Vec<Diagnostic>), Failure> {
    imported(&file.map_or_else(|| Ok(source::of_binary()), source::of_file)?, format, true)
}

pub(super) fn configured_tools(config: &Config) -> Result<(Catalog, Vec<Diagnostic>), Failure> {
    imported(&source::read_tools(config)?, config.settings.tools.format, config.settings.tools.strict)
}

/// The catalog of a list. If `is_strict`, or if nothing can be read, an error ends the command;
/// otherwise it is about a tool that is left out, and reported here, so that no command omits it.
fn imported(source: &Text, format: Option<Format>, is_strict: bool) -> Result<(Catalog, Vec<Diagnostic>), Failure> {
    let Text { text, name, .. } = source;
    let format = format.or(source.format);
    if text.len() > SLOW_BYTES {
        progress(&format!("reading {} MB of tools …", text.len() / 1_000_000));
    }
    let mut loaded = Catalog::import(text, name, format);
    loaded.value = loaded.value.with_origins(&source.origins);
    if loaded.value.is_empty() {
        return Err(no_tools(name, loaded.diagnostics));
    }
    if loaded.has_errors() && is_strict {
        return Err(Failure::bad(loaded.diagnostics));
    }
    let left_out: Vec<Diagnostic> = loaded.diagnostics.iter().filter(|one| one.is_error()).cloned().collect();
    say_all(&left_out);
    Ok((loaded.value, loaded.diagnostics))
}

/// Why a list has no tools: what is wrong with them, or that there are none.
pub(super) fn no_tools(name: &str, mut diagnostics: Vec<Diagnostic>) -> Failure {
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.push(Diagnostic::error("no-tools", Place::file(name), "the tool list is empty"));
    }
    Failure::bad(diagnostics)
}

/// Reads a profile: a built-in name or a file.
pub(super) fn load_profile(name: &str, diagnostics: &mut Vec<Diagnostic>) -> Result<ToolProfile, Failure> {
    let (text, file) = profile_text(name)?;
    let loaded = ToolProfile::parse(&text, &file);
    if loaded.has_errors() {
        return Err(Failure::bad(loaded.diagnostics));
    }
    diagnostics.extend(loaded.diagnostics);
    Ok(loaded.value)
}

pub(super) fn profile_text(name: &str) -> Result<(String, String), Failure> {
    if let Some(found) = builtin::PROFILES.iter().find(|profile| profile.name == name) {
        return Ok((found.text.to_owned(), found.file.to_owned()));
    }
    let looks_like_a_name = !name.contains(['/', '\\', '.']) && name != "-";
    if looks_like_a_name && !std::path::Path::new(name).exists() {
        let names: Vec<&str> = builtin::PROFILES.iter().map(|profile| profile.name).collect();
        let message = format!("unknown profile `{name}`: use {} or a file", names.join(", "));
        return Err(Failure::usage(message));
    }
    Ok((read_text(name, MAX_PROFILE_BYTES)?, name.to_owned()))
}

/// Reads a file or standard input as text. Larger input than `limit` is an error.
pub(super) fn read_text(file: &str, limit: usize) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    if file == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(|why| unreadable(file, &why))?;
    } else {
        open_file(file)?.take(most).read_to_end(&mut bytes).map_err(|why| unreadable(file, &why))?;
    }
    if bytes.len() > limit {
        let message = format!("is larger than the {} MiB limit", limit / 1024 / 1024);
        return Err(unusable(file, "too-large", &message, "split it"));
    }
    String::from_utf8(bytes).map_err(|why| {
        let at = why.utf8_error().valid_up_to();
        let message = format!("is not UTF-8: byte {at} is invalid");
        unusable(file, "not-utf8", &message, "save it as UTF-8")
    })
}

/// Opens a file; a folder is an error.
pub(super) fn open_file(file: &str) -> Result<File, Failure> {
    let opened = File::open(file).map_err(|why| unreadable(file, &why))?;
    if opened.metadata().is_ok_and(|meta| meta.is_dir()) {
        return Err(unusable(file, "unreadable", "is a folder, not a file", "name a file in it"));
    }
    Ok(opened)
}

fn unreadable(file: &str, why: &std::io::Error) -> Failure {
    unusable(file, "unreadable", &format!("cannot be read: {why}"), "check the path")
}

fn unusable(file: &str, code: &'static str, message: &str, help: &str) -> Failure {
    Failure::bad(vec![Diagnostic::error(code, Place::file(file), message).help(help)])
}
