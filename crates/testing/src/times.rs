//! The times of the tests of a run.
//!
//! Rust's test harness reports no times on a stable toolchain. It runs each test in a thread with
//! the test's name, and a thread-local value is dropped when the test ends: then the time is
//! recorded. A test is included if it calls [`timed`], as every shared helper of the tests does.
//! The tests of one run have the same parent process, cargo, whose process id names their file.

use std::cell::RefCell;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// The time of one test.
#[derive(Debug, Clone, PartialEq)]
pub struct Time {
    /// Seconds from the start of its thread to the end, including waits.
    pub wall: f64,
    /// CPU seconds of its own thread, without started ones. Linux only, 0 elsewhere.
    pub cpu: f64,
    /// The executable without its hash, and the test's path in it.
    pub name: String,
}

/// Records the time when a test's thread ends.
struct Running {
    began: Instant,
    /// The seconds that the thread had run before.
    before: f64,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// Includes the test of this thread in the report of the slowest. Further calls have no effect.
pub fn timed() {
    let of_a_test = std::thread::current().name().is_some_and(|name| name != "main");
    if !of_a_test {
        return;
    }
    RUNNING.with_borrow_mut(|running| {
        running.get_or_insert_with(|| Running { began: Instant::now(), before: age().unwrap_or(0.0) });
    });
}

/// Returns the path of an executable to start, and reports the test.
#[must_use]
pub fn started(program: &str) -> &str {
    timed();
    program
}

impl Drop for Running {
    fn drop(&mut self) {
        let thread = std::thread::current();
        let (Some(name), Some(file)) = (thread.name(), times_file()) else { return };
        let wall = self.before + self.began.elapsed().as_secs_f64();
        let cpu = ticks().map_or(0.0, |(_, cpu)| cpu / TICKS);
        let line = format!("{wall:.3} {cpu:.2} {}::{name}\n", executable());
        // The report is optional: a test does not fail because its time cannot be recorded.
        let open = || OpenOptions::new().create(true).append(true).open(&file);
        if fs::create_dir_all(file.parent().unwrap_or(&file)).is_ok() {
            drop(open().and_then(|mut file| file.write_all(line.as_bytes())));
        }
    }
}

/// The slowest tests of this run, at most `most`, and the number of recorded tests. Times of
/// earlier runs are removed.
#[must_use]
pub fn slowest(most: usize) -> (Vec<Time>, usize) {
    let Some(file) = times_file() else { return (Vec::new(), 0) };
    let text = fs::read_to_string(&file).unwrap_or_default();
    if let Some(folder) = file.parent() {
        drop(fs::remove_dir_all(folder));
    }
    let mut times: Vec<Time> = text.lines().filter_map(parse_time).collect();
    let counted = times.len();
    times.sort_by(|one, two| two.wall.total_cmp(&one.wall));
    times.truncate(most);
    (times, counted)
}

fn parse_time(line: &str) -> Option<Time> {
    let mut parts = line.splitn(3, ' ');
    let mut next = || parts.next();
    let (wall, cpu, name) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?);
    Some(Time { wall, cpu, name: name.to_owned() })
}

/// The name of this executable without the hash that cargo adds.
fn executable() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    name.rsplit_once('-').map_or(name.clone(), |(own, _)| own.to_owned())
}

/// The file of this run's times: beside the folder `deps` of cargo's test executables.
fn times_file() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?;
    let profile = path.parent()?.parent()?;
    Some(profile.join("test-times").join(parent()?.to_string()))
}

#[cfg(unix)]
fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
fn parent() -> Option<u32> {
    None
}

/// Ticks per second in `/proc`: 100 on every Linux.
const TICKS: f64 = 100.0;

/// The start of this thread and its CPU time: both in ticks, the first since the system's start.
fn ticks() -> Option<(f64, f64)> {
    let text = fs::read_to_string("/proc/thread-self/stat").ok()?;
    // The second field is a name in brackets that can contain anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    Some((field(22)?, field(14)? + field(15)?))
}

/// The age of this thread, in seconds.
fn age() -> Option<f64> {
    let up: f64 = fs::read_to_string("/proc/uptime").ok()?.split_whitespace().next()?.parse().ok()?;
    Some((up - ticks()?.0 / TICKS).max(0.0))
}
