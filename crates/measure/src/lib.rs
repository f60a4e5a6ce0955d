//! Measures the cost of tool schemas and checks changes to them.
//!
//! Pure functions: no files, sockets, clocks or processes. The command line (`crates/cli`) reads
//! and writes.

#![forbid(unsafe_code)]

pub mod ab;
pub mod check;
pub mod confusable;
pub mod figures;
mod github;
pub mod html;
mod json;
pub mod lint;
mod name_words;
pub mod parts;
pub mod prices;
pub mod probe;
pub mod report;
pub mod sim;
pub mod suggest;
pub mod tree;
pub mod usage;
pub mod why;
