//! Tests of `probe`.
