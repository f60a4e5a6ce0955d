//! The command line in the same module.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use pyo3::prelude::*;

use toolfold_cli::edge;

use crate::error::detached;
use crate::typed::Sequence;

/// Loads only the native module, whose path is the first argument, and runs the command.
const START: &str = "import sys, importlib.util as u; \
    s = u.spec_from_file_location('_toolfold', sys.argv[1]); m = u.module_from_spec(s); \
    s.loader.exec_module(m); sys.exit(m.run_command(['toolfold', *sys.argv[2:]]))";

/// Makes this interpreter the program that supervises the scripts of skills.
pub(crate) fn supervise_scripts(py: Python<'_>) -> PyResult<()> {
    let executable: PathBuf = py.import("sys")?.getattr("executable")?.extract()?;
    let file = |name| py.import("sys")?.getattr("modules")?.get_item(name)?.getattr("__file__");
    let module: OsString =
        file("toolfold._toolfold").or_else(|_| file("_toolfold")).and_then(|own| own.extract()).unwrap_or_default();
    edge::supervise_with(
        executable,
        ["-I", "-S", "-c", START].map(OsString::from).into_iter().chain([module]).collect(),
    );
    Ok(())
}

/// Runs the ``toolfold`` command. It prints to the output of this process.
///
/// :param arguments: the arguments of the command line, the program's name first.
/// :returns: the exit code: 0 ok, 1 invalid input or a failed check, 2 usage, 3 not measurable.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Sequence<OsString>) -> PyResult<u8> {
    supervise_scripts(py)?;
    detached(py, || {
        if let Some(code) = edge::part_of_run(arguments.0.get(1).map(OsString::as_os_str)) {
            return Ok(u8::from(code != ExitCode::SUCCESS));
        }
        let code = toolfold_cli::run_with(arguments.0);
        // `ExitCode` has no number; the command uses only these four.
        Ok((0..=3).find(|number| ExitCode::from(*number) == code).unwrap_or(1))
    })
}
