//! Tests of `suggest`.
