//! The one integration binary.
mod skill;
