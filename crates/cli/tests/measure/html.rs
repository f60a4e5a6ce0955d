//! Tests of `html`.
