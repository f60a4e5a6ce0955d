//! Scripts in the sandbox: what they cannot do, and how they end. Without Landlock the tests of
//! isolation print `skipped:` and pass.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "tests prepare and examine files")]

mod ending;
mod forbidden;
mod outputs;
mod run;
