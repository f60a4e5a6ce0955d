//! The `toolfold` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolfold_cli::main()
}
