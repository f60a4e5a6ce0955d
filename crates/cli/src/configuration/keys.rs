//! Every key: who may set it, its variable and flag, its default, and the field of its value.

pub mod check;
pub mod experiment;
pub mod gateway;
pub mod policy;
pub mod presentation;
pub mod skill_scripts;
pub mod skills;
pub mod tools;
pub mod trust;
pub mod undo;

use super::paths::Paths;
use super::scope::Scope;
use super::settings::Settings;

/// The variable of the original design: `false` is arm full, `true` arm seed.
pub(super) const USE_TOOL_PROFILE: &str = "TOOLFOLD_USE_TOOL_PROFILE";

/// One key of the configuration. The scope has no default: a new key states who may set it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Key {
    /// The dotted key in `toolfold.toml`.
    pub name: &'static str,
    /// Which configuration files may set it.
    pub scope: Scope,
    /// Whether its value is a path.
    pub paths: Paths,
    /// The environment variable, if there is one.
    pub env: Option<&'static str>,
    /// The flag, if there is one.
    pub flag: Option<&'static str>,
    /// The value if no source sets one; empty for none.
    pub default: &'static str,
    /// What it is for, in one line.
    pub help: &'static str,
    /// Parses a value and stores it in its field; the error is the reason why the value is invalid.
    pub(super) store: fn(&mut Settings, &str) -> Result<(), String>,
}

/// A key and the value that a flag gives it, if the flag was given.
pub type Flag = (&'static Key, Option<String>);

/// The sections, in the order in which settings are printed.
static SECTIONS: [&[&Key]; 10] = [
    tools::KEYS,
    presentation::KEYS,
    check::KEYS,
    skills::KEYS,
    skill_scripts::KEYS,
    policy::KEYS,
    gateway::KEYS,
    undo::KEYS,
    trust::KEYS,
    experiment::KEYS,
];

impl Key {
    /// Every key, in the order in which settings are printed.
    pub fn all_keys() -> impl Iterator<Item = &'static Self> {
        SECTIONS.iter().copied().flatten().copied()
    }

    /// The key of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        Self::all_keys().find(|key| key.name == name)
    }
}

/// Declares the keys of a section, each as a static and all of them as `KEYS`, so that no key is
/// left out of the list. `paths`, `env` and `flag` are optional; a key without a scope does not
/// compile.
macro_rules! keys {
    ($($id:ident = $name:literal {
        scope: $scope:expr,
        $(paths: $paths:expr,)?
        $(env: $env:literal,)?
        $(flag: $flag:literal,)?
        default: $default:expr,
        help: $help:expr,
        store: $store:expr,
    })*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $id: $crate::configuration::Key = $crate::configuration::Key {
                name: $name,
                scope: $scope,
                paths: keys!(@paths $($paths)?),
                env: keys!(@text $($env)?),
                flag: keys!(@text $($flag)?),
                default: $default,
                help: $help,
                store: $store,
            };
        )*
        /// The keys of this section, in the order in which they are printed.
        pub(in crate::configuration) static KEYS: &[&$crate::configuration::Key] = &[$(&$id),*];
    };
    (@paths) => { $crate::configuration::Paths::None };
    (@paths $paths:expr) => { $paths };
    (@text) => { None };
    (@text $text:literal) => { Some($text) };
}
use keys;
