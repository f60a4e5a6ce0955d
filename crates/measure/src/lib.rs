//! What tool schemas cost, and whether a change of them is safe: the pure half of the commands that measure.
//!
//! Values in, values out: no file, no socket, no clock, no process. The command line (`crates/cli`) reads and writes.

#![forbid(unsafe_code)]

pub mod ab;
pub mod check;
pub mod html;
pub mod lint;
pub mod parts;
pub mod prices;
pub mod probe;
pub mod report;
pub mod sim;
pub mod suggest;
pub mod tree;
pub mod usage;
pub mod why;
