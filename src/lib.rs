#![doc = include_str!("../README.md")]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

pub mod catalog;
pub mod diagnostic;
pub mod engine;
pub mod error;
pub mod name;
pub mod policy;
pub mod profile;
pub mod schema;
pub mod skill;
#[cfg(feature = "store")]
pub mod store;
pub mod tokens;
pub mod wire;
