//! Tests of `capture`.
