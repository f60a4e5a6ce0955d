//! placeholder
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]
pub mod diagnostic;
pub mod error;
pub mod name;
pub mod policy;
