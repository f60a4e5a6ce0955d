//! Which configuration files may set a key.

use super::{ConfigFile, ConfigScope, Key, Settings};
use toolfold::diagnostic::{Diagnostic, Place};

/// The code of warnings about ignored values.
const IGNORED: &str = "ignored-setting";

/// Which configuration files may set a key. A project's file may come with a cloned repository, so
/// every key states its scope; there is no default.
#[derive(Debug, Clone, Copy)]
pub enum Scope {
    /// Only the user's own files. The text is the reason that a warning gives.
    User(&'static str),
    /// The user's and the project's files: the value can neither start a program nor loosen a rule.
    Project,
    /// The project's file may only restrict what the user allows.
    Tightens(Tightening),
}

/// How a project's value is restricted.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Tightening {
    /// A project may set only this value, the strictest one.
    Only {
        /// The value.
        value: &'static str,
        /// The reason that the warning for other values gives.
        reason: &'static str,
    },
    /// The project's value applies in addition to the user's; the function stores it.
    Additional(fn(&mut Settings, String)),
    /// A path inside the project's folder.
    InsideFolder,
}

/// What happens to a value that a file sets.
#[derive(Debug)]
pub(super) enum Ruling {
    /// The value is set.
    Set,
    /// The function stores the value beside the user's.
    Add(fn(&mut Settings, String)),
    /// The value is ignored with a warning.
    Ignore(Diagnostic),
}

impl Key {
    /// What happens to `text`, as `file` has it at `place`.
    pub(super) fn ruling(&self, file: &ConfigFile<'_>, text: &str, place: &Place) -> Ruling {
        if file.scope == ConfigScope::User {
            return Ruling::Set;
        }
        match self.scope {
            Scope::Project => Ruling::Set,
            Scope::User(reason) => Ruling::Ignore(ignored(self.name, reason, place)),
            Scope::Tightens(Tightening::Only { value, .. }) if text == value => Ruling::Set,
            Scope::Tightens(Tightening::Only { reason, .. }) => Ruling::Ignore(ignored(self.name, reason, place)),
            Scope::Tightens(Tightening::Additional(store)) => Ruling::Add(store),
            Scope::Tightens(Tightening::InsideFolder) if stays_inside(text) => Ruling::Set,
            Scope::Tightens(Tightening::InsideFolder) => Ruling::Ignore(outside(self, place)),
        }
    }
}

/// Joins the warnings from `start` on about a file's ignored values that have the same help.
pub(super) fn join_ignored(diagnostics: &mut Vec<Diagnostic>, start: usize) {
    for own in diagnostics.split_off(start) {
        let same = |other: &&mut Diagnostic| own.code == IGNORED && other.code == IGNORED && other.help == own.help;
        match diagnostics.iter_mut().skip(start).find(same) {
            Some(other) => other.message = format!("{}; {}", other.message, own.message),
            None => diagnostics.push(own),
        }
    }
}

/// The warning that a project's value is ignored.
pub(super) fn ignored(what: &str, reason: &str, place: &Place) -> Diagnostic {
    let help = "set it in your own configuration or with --config FILE, or trust this folder: [trust] workspaces";
    Diagnostic::warning(IGNORED, place.clone(), format!("`{what}` is ignored: {reason}")).help(help)
}

/// The warning that a project's file names a file outside its folder. `toolfold lock` writes there.
fn outside(key: &Key, place: &Place) -> Diagnostic {
    let message = format!("`{}` is ignored: a project's lock must be in its folder", key.name);
    Diagnostic::warning(IGNORED, place.clone(), message).help("name another with --lock, or in your own configuration")
}

/// Whether a path cannot lead out of the folder that it is relative to.
fn stays_inside(path: &str) -> bool {
    !path.starts_with(['/', '\\', '~', '-']) && !path.contains(':') && path.split(['/', '\\']).all(|part| part != "..")
}
