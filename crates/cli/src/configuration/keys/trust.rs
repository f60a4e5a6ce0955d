//! `[trust]`: which projects are trusted.

use super::super::parse::{comma_list, parse_into};
use super::super::scope::Scope;
use super::keys;

/// The values of `[trust]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrustSettings {
    /// The folders whose configuration counts as the user's own.
    pub workspaces: Vec<String>,
}

keys! {
    WORKSPACES = "trust.workspaces" {
        scope: Scope::User("a project cannot trust itself"),
        default: "",
        help: "folders whose own configuration and policy may also allow; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.trust.workspaces, text, comma_list),
    }
}
