//! Tests of `why`.
