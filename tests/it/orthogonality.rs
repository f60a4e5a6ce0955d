//! Proof 4 of orthogonality: what layer 1 shows is a pure function of catalog, profile, arm and
//! openings, and everything it folds can be found again.

mod corpora;
pub(crate) mod generate;
mod presentation;
pub(crate) mod shape;
