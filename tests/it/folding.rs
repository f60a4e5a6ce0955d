//! Folding: what it may drop, and what it must never cost.

mod cases;
#[cfg(feature = "tiktoken")]
mod corpora;
mod generated;
#[cfg(feature = "tiktoken")]
mod servers;
