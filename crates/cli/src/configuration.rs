//! Configuration: defaults < `toolfold.toml` < environment < flags, and every value has an origin.
//!
//! One [`Key`] defines everything about a setting; its value is parsed once, into [`Settings`].
//! Nothing here reads a file or the environment: the command line passes both.

mod auth;
pub(crate) mod command_line;
mod file;
mod gateway;
pub mod keys;
mod parse;
mod paths;
mod profiles;
mod resolve;
mod scope;
mod settings;
pub(crate) mod units;
mod value;

pub use auth::AuthOptions;
pub use command_line::CommandLine;
pub use gateway::ServerOptions;
pub use keys::{Flag, Key};
pub use paths::Paths;
pub use profiles::ProfileOptions;
pub use scope::{Scope, Tightening};
pub use settings::Settings;

use std::fmt;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use toolfold::diagnostic::{InvalidValue, Place};
use toolfold::engine::Experiment;
use toolfold::profile::{Arm, CustomArm};

/// The name of the configuration file, searched for in the working directory, in the folders above
/// it, and in the user's configuration folder.
pub const CONFIG_FILE: &str = "toolfold.toml";

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// No source sets the value.
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

/// A valid value as text, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setting {
    /// The value; empty if there is none. The address of a database is without its password.
    pub value: String,
    /// Where it came from.
    pub origin: Origin,
}

/// Who wrote a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope {
    /// The user: the file may set every key.
    User,
    /// The author of the folder that the command runs in, who may be an agent or a stranger. The
    /// [`Scope`] of each key determines what the file may set; its skills are not trusted.
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
    /// The folder that its relative paths are resolved against; `None` for the working directory.
    pub folder: Option<&'a str>,
}

/// Every setting: its typed value in [`Config::settings`], its text and its origin.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Config {
    /// The typed values.
    #[serde(skip)]
    pub settings: Settings,
    /// The values as text with their origins, by key, in the order of [`Key::all_keys`].
    #[serde(rename = "settings")]
    texts: IndexMap<&'static str, Setting>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    arms: Vec<CustomArm>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    servers: IndexMap<String, ServerOptions>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    profiles: IndexMap<String, ProfileOptions>,
    /// Whether this is the configuration of a gateway, whose servers may have their own policies.
    #[serde(skip)]
    serves: bool,
    #[serde(skip)]
    by_project: Vec<&'static str>,
    #[serde(skip)]
    files: Vec<String>,
}

impl Config {
    /// The same configuration, marked as a gateway's.
    #[must_use]
    pub fn for_gateway(self) -> Self {
        Self { serves: true, ..self }
    }

    /// The policies of individual servers, by server name; none unless this is a gateway.
    pub fn server_policies(&self) -> impl Iterator<Item = (&str, &str)> {
        let servers = self.servers.iter().filter(|_| self.serves);
        servers.filter_map(|(name, own)| Some((name.as_str(), own.policy.as_deref()?)))
    }

    /// The profiles of individual servers, by server name; none unless this is a gateway.
    pub fn server_profiles(&self) -> impl Iterator<Item = (&str, &str)> {
        let servers = self.servers.iter().filter(|_| self.serves);
        servers.filter_map(|(name, own)| Some((name.as_str(), own.profile.as_deref()?)))
    }

    /// Whether the value of a key comes from the project's own configuration.
    #[must_use]
    pub fn is_of_project(&self, key: &Key) -> bool {
        self.by_project.contains(&key.name) && matches!(self.origin(key), Origin::File(_))
    }

    /// The names of the configuration files that were read.
    #[must_use]
    pub fn file_names(&self) -> &[String] {
        &self.files
    }

    /// Every setting as text, in the order of [`Key::all_keys`].
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.texts.iter().map(|(name, setting)| (*name, setting))
    }

    /// The value of a key as text, for messages; empty if there is none.
    #[must_use]
    pub fn value_text(&self, key: &Key) -> &str {
        self.texts.get(key.name).map_or("", |setting| setting.value.as_str())
    }

    /// The value of a key as text if a source sets it, even to an empty one; else `None`.
    #[must_use]
    pub fn given(&self, key: &Key) -> Option<&str> {
        (*self.origin(key) != Origin::Default).then(|| self.value_text(key))
    }

    /// The names of the files that it was read from, the weakest first.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Where the value of a key came from.
    #[must_use]
    pub fn origin(&self, key: &Key) -> &Origin {
        self.texts.get(key.name).map_or(&Origin::Default, |setting| &setting.origin)
    }

    /// The arm of that name: a built-in one or one that the files declare.
    ///
    /// # Errors
    ///
    /// [`InvalidValue`], which lists the valid names.
    pub fn named_arm(&self, name: &str) -> Result<Arm, InvalidValue> {
        Arm::named(name, &self.arms)
    }

    /// The options of the gateway's servers, by name.
    #[must_use]
    pub fn gateway_servers(&self) -> &IndexMap<String, ServerOptions> {
        &self.servers
    }

    /// The arms that the files declare.
    #[must_use]
    pub fn own_arms(&self) -> &[CustomArm] {
        &self.arms
    }

    /// The experiment; `None` if there is none, or if the environment or a flag names an arm.
    #[must_use]
    pub fn experiment(&self) -> Option<Experiment> {
        if matches!(self.origin(&keys::presentation::ARM), Origin::Environment(_) | Origin::Flag(_)) {
            return None;
        }
        let experiment = &self.settings.experiment;
        Some(Experiment { arms: experiment.arms.clone()?, ratio: experiment.ratio })
    }
}
