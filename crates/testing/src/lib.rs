//! Shared by the tests of every crate: the number of cases, packed files, and the slowest tests.
#![allow(clippy::disallowed_methods, reason = "tests read their environment and keep their times in files")]

mod cases;
mod commands;
mod doc_example;
mod fixture;
mod packed;
#[cfg(target_os = "linux")]
mod postgres;
mod times;

/// Returns a value with some of its public fields set: `with!(Context::default(), skill = true)`.
#[macro_export]
macro_rules! with {
    ($value:expr, $($field:ident = $new:expr),+ $(,)?) => {{
        let mut value = $value;
        $(value.$field = $new;)+
        value
    }};
}

pub use cases::{Cases, cases, cases_of, faults, sample};
pub use commands::command;
pub use doc_example::doc_example;
pub use fixture::fixture;
pub use packed::check_packed;
#[cfg(target_os = "linux")]
pub use postgres::Postgres;
pub use times::{Time, slowest, started, timed};
