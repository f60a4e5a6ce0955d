//! Layer 2: skills.
mod reference;
mod yaml;
pub mod strict;
