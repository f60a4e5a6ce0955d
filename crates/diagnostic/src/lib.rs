//! What the layers of toolfold share: diagnostics, validated names, a server's hints about a
//! tool, and the search over tools and skills.
//!
//! Hosts use it as `toolfold::diagnostic`, `toolfold::name`, `toolfold::search` and
//! `toolfold::catalog::Annotations`.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod annotations;
pub mod diagnostic;
mod digest;
pub mod name;
pub mod search;

pub use annotations::Annotations;
pub use digest::sha256_hex;
