//! Runs the script of a skill in a sandbox: a process of its own with one writable folder, without
//! network, and with limits on time, memory, processes and output.
//!
//! Three processes take part in a run. The *host* calls [`start`]. The *supervisor*, a program
//! that calls [`hidden`] first, starts the script, reads its output, enforces the limits and ends
//! every descendant. The *child* restricts itself and then executes the interpreter. The supervisor
//! ends the script when its standard input closes, so the script ends with its host.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod error;
mod files;
mod guard;
mod host;
mod interpreter;
mod isolation;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod linux;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))))]
#[path = "elsewhere.rs"]
mod linux;
mod output;
mod run_folder;
mod script;
pub mod seatbelt;
mod spec;
mod tree;

pub use error::{Cause, RunError};
pub use files::{Files, ProducedFile, collect};
pub use guard::Guard;
pub use host::{Canceller, Ended, Job, Running, Supervisor, start};
pub use interpreter::{Interpreter, Interpreters};
pub use isolation::{Isolation, Level, hidden, level};
pub use output::clean;
pub use run_folder::{RunFolder, remove_left_over};
pub use script::{DEFAULT_ENTRY, Script};
pub use spec::{Limits, MAX_TIMEOUT_MS, Stopped, parse_timeout};
