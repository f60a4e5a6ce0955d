//! Folding: what it may drop, and what it must never cost.

mod cases;
mod corpora;
mod generated;
