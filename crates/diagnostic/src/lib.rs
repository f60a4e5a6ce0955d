//! What the layers of toolfold share: diagnostics, validated names, and a server's hints about a
//! tool.
//!
//! Hosts use it as `toolfold::diagnostic`, `toolfold::name` and `toolfold::catalog::Annotations`.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod annotations;
pub mod diagnostic;
mod digest;
pub mod name;

pub use annotations::Annotations;
pub use digest::sha256_hex;
