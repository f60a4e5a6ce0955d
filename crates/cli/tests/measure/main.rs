//! The commands that measure; every file of this folder is a module of it.
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "tests read fixtures and corpora")]
#![allow(clippy::allow_attributes_without_reason, reason = "macros of test crates expand to such attributes")]

mod ab;
mod capture;
mod check;
mod html;
mod lint;
mod probe;
mod report;
mod sim;
mod sources;
mod suggest;
mod tree;
mod why;
