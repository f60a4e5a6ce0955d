//! Tests of `ab`.
