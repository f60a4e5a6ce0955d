//! Figures and usage over the lists of the corpora, seen from outside.
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "tests read corpora")]
#![allow(clippy::allow_attributes_without_reason, reason = "macros of test crates expand to such attributes")]

mod auto;
mod dearer;
mod lists;
#[path = "../../src/ab/python.rs"]
#[allow(dead_code, reason = "a file of the crate's own source, of which more is used there")]
mod python;
mod suggest_bfcl;
#[path = "../../../../tests/it/bfcl/tasks.rs"]
#[allow(dead_code, reason = "a file of the library's own tests, which use more of it")]
mod tasks;
#[path = "../../benches/tokens.rs"]
#[allow(dead_code, reason = "the bench also prints the lists of the corpora")]
mod tokens;
mod usage;

use lists::corpus;

/// The tokens of the built-in tools in every arm, compared exactly; a change is reviewed as a diff.
#[test]
fn tokens_of_the_builtin_tools() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../../benches/ledger");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_description("cargo bench --bench tokens: the built-in tools; review every change");
    settings.bind(|| insta::assert_snapshot!("tokens", tokens::builtin()));
}
