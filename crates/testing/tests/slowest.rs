//! The end of `cargo test`: reports the slowest tests.
#![allow(clippy::disallowed_methods, reason = "it is started as a test executable")]

fn main() {
    // A list of tests, or a run of those with a name, needs no report.
    if std::env::args().skip(1).any(|word| word == "--list" || !word.starts_with('-')) {
        return;
    }
    let (times, counted) = toolfold_testing::slowest(10);
    if times.is_empty() {
        return;
    }
    println!("\nThe slowest of {counted} tests that use the shared helpers (seconds; CPU of their own thread):");
    println!("{:>8} {:>7}", "elapsed", "cpu");
    for time in times {
        println!("{:8.1} {:7.1}  {}", time.wall, time.cpu, time.name);
    }
}
