//! toolfold in agents on other libraries: one file each, to read and copy.
//! `cargo run -p toolfold-examples rig`
#![allow(clippy::print_stdout, reason = "examples say what they do")]

pub mod async_openai;
pub mod genai;
pub mod rig;
pub mod turn;
