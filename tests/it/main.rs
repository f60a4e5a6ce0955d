//! The one integration binary; every file of this folder is a module of it.
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "tests read fixtures and corpora")]
#![allow(clippy::allow_attributes_without_reason, reason = "macros of test crates expand to such attributes")]

mod auto;
#[cfg(all(feature = "tiktoken", feature = "validate"))]
mod bfcl;
mod catalog;
mod client_profiles;
#[cfg(feature = "shell")]
mod consent;
mod conversation;
mod corpora;
mod derive;
mod direct;
mod dispatch;
mod doc_examples;
mod engine;
#[cfg(feature = "shell")]
mod evaluated;
mod folding;
mod frameworks;
mod hidden;
mod hostile;
mod interference;
#[cfg(feature = "shell")]
mod layers;
#[cfg(feature = "tiktoken")]
mod ledger;
mod listed;
#[cfg(feature = "shell")]
mod messages;
mod orthogonality;
#[cfg(feature = "shell")]
mod policy;
mod profile;
mod repairs;
mod search;
mod sentences;
mod skill;
mod talk;
#[cfg(feature = "tiktoken")]
mod tokens;
mod tool_lists;
#[cfg(feature = "shell")]
mod undo;
#[cfg(feature = "validate")]
mod validate;

mod wire;

use std::path::PathBuf;

/// A file of `../shared/corpora`, or nothing (with a printed notice) where the folder is absent.
fn corpus(path: &str) -> Option<PathBuf> {
    toolfold_testing::timed();
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("../shared/corpora").join(path);
    if file.exists() {
        return Some(file);
    }
    println!("notice: {} is absent, skipped", file.display());
    None
}

/// A file of the project.
fn project(path: &str) -> String {
    toolfold_testing::timed();
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path);
    std::fs::read_to_string(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()))
}

/// Words of about 4,000 bytes: a tool described with them is worth folding alone, meta-tools
/// counted.
pub(crate) const LONG: &str = {
    macro_rules! words {
        () => {
            "Where to put it: a path below the working folder, with `/` between its parts on every system. Folders that \
             are not there are made. A path that leads out of the working folder is refused, and so is one that names a \
             device. What is there already is replaced without a question, unless the tool was started as read-only; \
             then the call fails and nothing is changed. "
        };
    }
    concat!(words!(), words!(), words!(), words!(), words!(), words!(), words!(), words!(), words!(), words!())
};
