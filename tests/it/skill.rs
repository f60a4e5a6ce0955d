//! Layer 2: skills.

mod corpora;
