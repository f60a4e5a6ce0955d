//! Scripts in the sandbox: what they cannot do, and how they end. Without Landlock the tests of
//! isolation print `skipped:` and pass.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "tests prepare and examine files")]

mod ending;
mod forbidden;
mod outputs;
mod run;
