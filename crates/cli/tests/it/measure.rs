//! The commands that measure.

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
