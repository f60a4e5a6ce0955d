//! The environment of a server's process: harmless variables, and what the user configures. Secrets
//! of the gateway and of other servers stay out.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that reads the environment for processes")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

/// The variables that every process gets: those that the official SDKs pass (TypeScript SDK 1.20,
/// `getDefaultEnvironment`), the locale, the time zone and the user's folders.
const USUAL: &[&str] = if cfg!(windows) {
    &[
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
    ]
} else {
    &[
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
    ]
};

/// Variables, or beginnings of their names, that many servers use and that must be configured.
const OFTEN_NEEDED: [&str; 22] = [
    "ALL_PROXY",
    "AWS_",
    "AZURE_",
    "CURL_CA_BUNDLE",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "DOCKER_",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "JAVA_HOME",
    "KUBECONFIG",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NO_PROXY",
    "NPM_CONFIG_",
    "PYTHONPATH",
    "REQUESTS_CA_BUNDLE",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "WAYLAND_DISPLAY",
];

/// The variables of the gateway that a server's process gets, before those of its own `env`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inherit {
    /// The usual variables, and these.
    Usual(BTreeSet<String>),
    /// All variables.
    All,
}

impl Default for Inherit {
    fn default() -> Self {
        Self::Usual(BTreeSet::new())
    }
}

impl Inherit {
    /// The inherited variables with their values. `None`: all.
    pub(super) fn variables(&self) -> Option<Vec<(OsString, OsString)>> {
        let Self::Usual(more) = self else { return None };
        let is_inherited = |name: &OsStr, value: &OsStr| {
            let is_usual = USUAL.iter().any(|usual| is_same(name, usual)) && !is_shell_function(value);
            is_usual || more.iter().any(|own| is_same(name, own))
        };
        Some(std::env::vars_os().filter(|(name, value)| is_inherited(name, value)).collect())
    }

    /// The variables that many servers use, that are set here, and that a server with this `env`
    /// does not get, in order.
    #[must_use]
    pub fn not_passed(&self, env: &BTreeMap<String, String>) -> Vec<String> {
        let Self::Usual(more) = self else { return Vec::new() };
        let is_needed = |name: &str| {
            let upper = name.to_ascii_uppercase();
            OFTEN_NEEDED.iter().any(|own| upper == *own || (own.ends_with('_') && upper.starts_with(own)))
        };
        let is_passed = |name: &str| env.contains_key(name) || more.contains(name);
        let all = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let found: BTreeSet<String> = all.filter(|name| is_needed(name) && !is_passed(name)).collect();
        found.into_iter().collect()
    }
}

/// Whether two names are of one variable: Windows ignores case.
fn is_same(name: &OsStr, other: &str) -> bool {
    if cfg!(windows) { name.eq_ignore_ascii_case(other) } else { name == other }
}

/// Whether a value is a function that bash exports, which other shells would run.
fn is_shell_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}
