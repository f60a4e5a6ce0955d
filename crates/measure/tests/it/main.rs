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
mod usage;

use lists::corpus;
