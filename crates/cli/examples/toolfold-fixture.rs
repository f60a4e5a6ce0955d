//! The fixture as an example: cargo builds the examples of a package with its tests, and the
//! executables of no other package.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolfold_fixture::main()
}
