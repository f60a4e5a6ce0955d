//! Parts of the command line that need nothing else of it, compiled here with their unit tests: to
//! compile the whole library again for them would take seconds of each build.
#![allow(dead_code, unreachable_pub, reason = "a part of the command line, seen from a test")]

#[path = "../../src/postgres/address.rs"]
mod address;
#[path = "../../src/clock.rs"]
mod clock;
#[path = "../../src/configuration/command_line.rs"]
mod command_line;
#[path = "../../src/session/exact.rs"]
mod exact;
#[path = "../../src/source/lines.rs"]
mod lines;
#[path = "../../src/capture/text.rs"]
mod text;
#[path = "../../src/configuration/units.rs"]
mod units;
