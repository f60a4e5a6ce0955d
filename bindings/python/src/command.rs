//! The command line in the same module.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

use crate::error::detached;
use crate::typed::Sequence;

/// Runs the ``toolfold`` command. It prints to the output of this process.
///
/// :param arguments: the arguments of the command line, the program's name first.
/// :returns: the exit code: 0 ok, 1 invalid input or a failed check, 2 usage, 3 not measurable.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Sequence<OsString>) -> PyResult<u8> {
    detached(py, || {
        let code = toolfold_cli::run_with(arguments.0);
        // `ExitCode` has no number; the command uses only these four.
        Ok((0..=3).find(|number| ExitCode::from(*number) == code).unwrap_or(1))
    })
}
