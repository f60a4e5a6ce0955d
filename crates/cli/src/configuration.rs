//! Configuration: defaults < `toolfold.toml` < environment < flags, and every value knows where it came from.
//!
//! One [`Key`] a setting holds everything about it. Nothing here reads a file or the environment: the command line
//! hands both in.

mod auth;
pub(crate) mod checks;
mod file;
mod gateway;
mod keys;
mod profiles;
pub(crate) mod units;
mod value;

pub use auth::AuthOptions;
pub use checks::UnusableValue;
pub use gateway::ServerOptions;
pub use keys::{KEYS, Key};
pub use profiles::ProfileOptions;

use std::fmt;

use indexmap::IndexMap;
use serde::Serialize;

use toolfold::diagnostic::{Diagnostic, Loaded, Place};
use toolfold::engine::Experiment;
use toolfold::profile::{Arm, CustomArm, UnknownArm};
use toolfold::skill::{Budget, Limits};

/// The name of the configuration file, looked for in the working directory and above it, and in the user's folder of
/// configurations.
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

/// Who wrote a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope {
    /// The user: it may say anything.
    User,
    /// Whoever wrote the folder that the command runs in, an agent perhaps: of policy it may say only what is stricter, and
    /// its skills are not trusted.
    Project,
}

/// A configuration file.
#[derive(Debug, Clone, Copy)]
pub struct ConfigFile<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its name, for diagnostics.
    pub name: &'a str,
    /// Who wrote it.
    pub scope: ConfigScope,
    /// The folder below which its relative paths are, if not the working folder.
    pub folder: Option<&'a str>,
}

impl ConfigFile<'_> {
    /// A value of it: paths below its folder. What may be a built-in name is one.
    fn value(&self, key: &str, value: String) -> String {
        let Some(folder) = self.folder else { return value };
        let name = |part: &str| !part.contains(['/', '.']);
        let below = |part: &str| {
            let own = part.is_empty() || part == "-" || part.starts_with(['/', '~']);
            if own { part.to_owned() } else { format!("{folder}/{part}") }
        };
        match key {
            "tools.file"
            | "tools.mcp_config"
            | "presentation.capabilities"
            | "gateway.servers"
            | "gateway.state"
            | "check.lock" => below(&value),
            "presentation.profile" | "policy.file" if !name(&value) => below(&value),
            "skills.roots" => value.split(',').map(|part| below(part.trim())).collect::<Vec<_>>().join(","),
            _ => value,
        }
    }
}

/// Every setting by its key, in the order of [`KEYS`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Config {
    settings: IndexMap<&'static str, Setting>,
    /// The arms that the files put together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    arms: Vec<CustomArm>,
    /// What the files say of the gateway's servers, by name.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    servers: IndexMap<String, ServerOptions>,
    /// The profiles that clients of the gateway may choose, by name.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    profiles: IndexMap<String, ProfileOptions>,
    /// Whether it is a gateway's, for whose servers the policies of servers are.
    #[serde(skip)]
    serves: bool,
    /// The policy that a project's file names: it only tightens.
    #[serde(skip)]
    project_policy: Option<String>,
    /// The keys that a project's file set.
    #[serde(skip)]
    by_project: Vec<&'static str>,
    /// The files that were read, by name.
    #[serde(skip)]
    files: Vec<String>,
}

impl Config {
    /// Puts a configuration together. `files` are the configuration files, the weakest first; `environment` gives a
    /// variable's value; `flags` are values by key. A value that its key refuses is an error, never a silent default. What a
    /// project's file may not say is left out with a warning.
    pub fn resolve(
        files: &[ConfigFile<'_>],
        environment: impl Fn(&str) -> Option<String>,
        flags: &[(&'static str, String)],
    ) -> Loaded<Self> {
        let default = |key: &Key| (key.name, Setting { value: key.default.to_owned(), origin: Origin::Default });
        let settings = KEYS.iter().map(default).collect();
        let names = files.iter().map(|file| file.name.to_owned()).collect();
        let mut config = Self {
            settings,
            arms: Vec::new(),
            servers: IndexMap::new(),
            profiles: IndexMap::new(),
            serves: false,
            project_policy: None,
            by_project: Vec::new(),
            files: names,
        };
        let mut diagnostics = Vec::new();
        let written: Vec<_> = files.iter().map(|file| file::read(file.text, file.name, &mut diagnostics)).collect();
        // A setting of one file may name an arm of another; of two arms with one name the later file's counts.
        for own in written.iter().flat_map(|written| &written.arms) {
            config.arms.retain(|arm| arm.name() != own.name());
            config.arms.push(*own);
        }
        for (file, written) in files.iter().zip(written) {
            for (name, options, place) in written.servers {
                let options = options.below(file);
                let own = config.servers.entry(name.clone()).or_default();
                match file.scope {
                    ConfigScope::User => own.overlay(options),
                    ConfigScope::Project => own.tighten(&name, options, &place, &mut diagnostics),
                }
            }
            for (name, options) in written.profiles {
                config.take_profile(name, options.below(file), file.scope, &mut diagnostics);
            }
            for (key, value, place) in written.settings {
                if key == "check.lock" && file.scope == ConfigScope::Project && !stays_inside(&value) {
                    diagnostics.push(outside(place));
                    continue;
                }
                let value = file.value(key, value);
                if file.scope == ConfigScope::Project && !config.take_of_project(key, &value, &place, &mut diagnostics)
                {
                    continue;
                }
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

    /// Takes what a project's file says of policy and trust; whether the value is one to set as any other.
    fn take_of_project(
        &mut self,
        key: &'static str,
        value: &str,
        place: &Place,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> bool {
        let help = "say so in your own configuration, with --config FILE, or trust this folder: [trust] workspaces";
        let mut ignored = |what: &str| {
            let message = format!("`{key}` is left out: {what}");
            diagnostics.push(Diagnostic::warning("ignored-setting", place.clone(), message).help(help));
            false
        };
        match key {
            "policy.mode" if value != "enforce" => {
                ignored("the files of a project cannot turn a policy off or weaken it")
            }
            "trust.workspaces" => ignored("a project cannot trust itself"),
            "skills.depth" | "skills.folders" | "skills.entries" | "skills.bytes" => {
                ignored("a project cannot say how much is read")
            }
            "tools.mcp" | "tools.mcp_url" | "tools.mcp_config" | "tools.mcp_token_env" => {
                ignored("a project cannot start servers, nor say what they are sent")
            }
            "gateway.servers"
            | "gateway.http"
            | "gateway.token_env"
            | "gateway.eager_cache"
            | "gateway.state"
            | "gateway.state_key_env" => ignored("a project cannot add servers, nor say how they are reached and kept"),
            "undo.limit" | "undo.total" | "undo.keep" => ignored("a project cannot say what is kept to undo its calls"),
            "policy.file" => {
                self.project_policy = Some(value.to_owned());
                false
            }
            _ => {
                self.by_project.push(key);
                true
            }
        }
    }

    /// The policy that the project's own configuration names. Its rules only tighten.
    #[must_use]
    pub fn project_policy(&self) -> Option<&str> {
        self.project_policy.as_deref().filter(|file| !file.is_empty())
    }

    /// The same as the configuration of a gateway.
    #[must_use]
    pub fn for_gateway(self) -> Self {
        Self { serves: true, ..self }
    }

    /// The policies of single servers, by the server, for a gateway.
    pub fn server_policies(&self) -> impl Iterator<Item = (&str, &str)> {
        let servers = self.servers.iter().filter(|_| self.serves);
        servers.filter_map(|(name, own)| Some((name.as_str(), own.policy.as_deref()?)))
    }

    /// The profiles of single servers, by the server, for a gateway.
    pub fn server_profiles(&self) -> impl Iterator<Item = (&str, &str)> {
        let servers = self.servers.iter().filter(|_| self.serves);
        servers.filter_map(|(name, own)| Some((name.as_str(), own.profile.as_deref()?)))
    }

    /// Whether a value comes from the project's own configuration.
    #[must_use]
    pub fn is_of_project(&self, name: &str) -> bool {
        self.by_project.contains(&name) && matches!(self.origin(name), Some(Origin::File(_)))
    }

    /// The configuration files that were read, by name.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    fn set(&mut self, name: &'static str, value: String, origin: Origin, diagnostics: &mut Vec<Diagnostic>) {
        let Some(key) = KEYS.iter().find(|key| key.name == name) else { return };
        let checked = match name {
            "presentation.arm" => self.named_arm(&value).map(drop).map_err(|why| why.to_string()),
            "experiment.arms" => keys::experiment_arms(&value, &self.arms).map(drop),
            _ => key.check(&value).map_err(|why| why.to_string()),
        };
        if let Err(why) = checked {
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

    /// How much is read below a root of skills, and held.
    #[must_use]
    pub fn skill_limits(&self) -> Limits {
        let usual = Limits::default();
        let bytes = self.get("skills.bytes").and_then(|text| units::size(text).ok()).unwrap_or(usual.bytes);
        Limits {
            depth: self.read("skills.depth").unwrap_or(usual.depth),
            folders: self.read("skills.folders").unwrap_or(usual.folders),
            entries: self.read("skills.entries").unwrap_or(usual.entries),
            root_bytes: bytes,
            bytes,
        }
    }

    /// What the declaration of `activate_skill` may cost.
    #[must_use]
    pub fn skill_budget(&self) -> Budget {
        self.read("skills.budget").map_or_else(Budget::default, Budget::Tokens)
    }

    /// The arm; [`Arm::Auto`] if nobody said anything.
    #[must_use]
    pub fn arm(&self) -> Arm {
        self.get("presentation.arm").and_then(|name| self.named_arm(name).ok()).unwrap_or(Arm::Auto)
    }

    /// The arm of that name, a built-in one or one of the files' own.
    ///
    /// # Errors
    /// [`UnknownArm`], which lists the names that there are.
    pub fn named_arm(&self, name: &str) -> Result<Arm, UnknownArm> {
        Arm::named(name, &self.arms)
    }

    /// What the files say of the gateway's servers, by name.
    #[must_use]
    pub fn gateway_servers(&self) -> &IndexMap<String, ServerOptions> {
        &self.servers
    }

    /// The arms that the files put together.
    #[must_use]
    pub fn own_arms(&self) -> &[CustomArm] {
        &self.arms
    }

    /// The experiment, if there is one and no stronger source than the configuration file names an arm.
    #[must_use]
    pub fn experiment(&self) -> Option<Experiment> {
        let forced = matches!(self.origin("presentation.arm"), Some(Origin::Environment(_) | Origin::Flag(_)));
        let arms = keys::experiment_arms(self.get("experiment.arms").filter(|_| !forced)?, &self.arms).ok()?;
        Some(Experiment { arms, ratio: self.read("experiment.ratio").unwrap_or(0.5) })
    }
}

/// Whether a path cannot lead out of the folder that it is below.
fn stays_inside(path: &str) -> bool {
    !path.starts_with(['/', '\\', '~', '-']) && !path.contains(':') && path.split(['/', '\\']).all(|part| part != "..")
}

/// `toolfold lock` writes the lock: a project says where in its own folder, and nowhere else.
fn outside(place: Place) -> Diagnostic {
    let message = "`check.lock` is left out: the lock of a project lies in its folder";
    Diagnostic::warning("ignored-setting", place, message)
        .help("name another with --lock, or in your own configuration")
}

fn refused(what: &str, why: &str, place: Place) -> Diagnostic {
    Diagnostic::error("bad-setting", place, format!("{what}: {why}"))
        .help("toolfold config --explain lists every setting")
}
