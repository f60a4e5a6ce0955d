//! The one integration binary of the command line; every file of this folder is a module of it.
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "tests read fixtures and corpora")]
#![allow(clippy::allow_attributes_without_reason, reason = "macros of test crates expand to such attributes")]

mod commands;
mod configuration;
mod configuration_scope;
#[cfg(unix)]
mod disk;
#[cfg(unix)]
mod gateway;
mod help;
mod hygiene;
mod logs;
mod measure;
mod parts;
mod policy_derive;
mod policy_eval;
mod policy_history;
mod policy_new;
mod policy_templates;
mod readme;
mod schemas;
mod search;
mod session;
mod skill_approvals;
mod skill_parity;
#[cfg(unix)]
mod skill_places;
mod skill_runs;
mod skill_tools;
mod skills;
mod skills_run;
mod store;
mod sub_agents;
#[cfg(unix)]
mod tracked;

use std::path::{Path, PathBuf};

/// The top of the repository, where README's commands run.
fn root() -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    top.canonicalize().unwrap_or_else(|why| panic!("{}: {why}", top.display()))
}

fn project(path: &str) -> String {
    toolfold_testing::timed();
    let file = root().join(path);
    std::fs::read_to_string(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()))
}

/// A file or folder of the corpora, which are not part of the repository. `None`, with a printed
/// line, if it is absent.
fn corpus(path: &str) -> Option<PathBuf> {
    let place = root().join("../shared/corpora").join(path);
    if !place.exists() {
        println!("skipped: {} is not here", place.display());
    }
    Some(place).filter(|place| place.exists())
}

/// Cases of `trycmd`, which runs commands in the process's own working directory.
fn cases() -> trycmd::TestCases {
    // Every test of this binary uses absolute paths or this folder, so that they can share it.
    std::env::set_current_dir(root()).unwrap();
    let cases = trycmd::TestCases::new();
    cases.default_bin_name("toolfold");
    cases
}

fn skill(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n{body}")
}
