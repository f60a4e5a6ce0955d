//! What other edges of the library take from this one, so that policy knows the same surroundings
//! everywhere: the disk, the clock, the working folder, and the built-in domain.

use std::path::Path;

use super::{builtin, layers, ledger};
use toolfold::policy::Context;

pub use super::disk::OwnDisk;

/// The name of the built-in domain: its tools, its profile, its policy.
pub const EXCEL: &str = builtin::EXCEL_PROFILE;
/// The 49 built-in Excel tools, as JSON in Chat Completions' shape.
pub const EXCEL_TOOLS: &str = builtin::EXCEL_TOOLS;
/// The policy of the built-in tools, as TOML.
pub const EXCEL_POLICY: &str = builtin::EXCEL_POLICY;

/// The text of a built-in profile, as TOML; `None` if there is none of that name.
#[must_use]
pub fn builtin_profile(name: &str) -> Option<&'static str> {
    builtin::PROFILES.iter().find(|own| own.name == name).map(|own| own.text)
}

/// Now, in milliseconds since 1970 UTC.
#[must_use]
pub fn now_ms() -> i64 {
    ledger::now_ms()
}

/// What policy knows of the place that this process runs in: working folder, project, home.
/// Somebody can be asked. `own` are files that no call may write, such as the policy and the store;
/// what SQLite keeps beside them is held, too.
#[must_use]
pub fn policy_context(own: &[&Path]) -> Context {
    layers::context(own)
}
