//! Proof 4 of orthogonality: what layer 1 shows is a function of catalogue, profile, arm and what was opened, and of
//! nothing else; and whatever it folds can be found again. It grows with the layers.

mod corpora;
pub(crate) mod generate;
mod presentation;
pub(crate) mod shape;
