//! The end of `cargo test`: which tests took longest.
#![allow(clippy::disallowed_methods, reason = "it is started as a test executable")]

fn main() {
    // Whoever lists tests, or asks for some by name, is not asking for a report.
    if std::env::args().len() > 1 {
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
