//! Tests of the pure half.
