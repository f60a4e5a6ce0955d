//! Tests of `sources`.
