//! The command line in the same module.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

use crate::error::detached;

/// Runs the ``toolfold`` command with these arguments, the program's name first, and gives its exit code: 0 ok, 1 the
/// thing asked about is bad, 2 usage, 3 it could not be measured. It prints to the process's own output.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    detached(py, || {
        let code = toolfold_cli::run_with(arguments);
        // `ExitCode` gives no number; there are four that the command uses.
        Ok((0..=3).find(|number| ExitCode::from(*number) == code).unwrap_or(1))
    })
}
