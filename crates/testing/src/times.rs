//! How long the tests of a run took.
//!
//! Rust's test harness gives no times on a stable toolchain. It runs each test in a thread that has the test's name, so that a
//! value of that thread is dropped when the test ends: then the time is written down. A test is seen if it calls [`timed`], which
//! every shared helper of the tests does. Tests of one run have one parent, which is cargo: its process id names their file.

use std::cell::RefCell;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// How long one test took.
#[derive(Debug, Clone, PartialEq)]
pub struct Time {
    /// Seconds from the start of its thread to the end, waits included.
    pub wall: f64,
    /// CPU seconds of its own thread: processes and threads that it started are not in it. Linux only, 0 elsewhere.
    pub cpu: f64,
    /// The executable without its hash, and the test's path in it.
    pub name: String,
}

/// What is written down when a test's thread ends.
struct Running {
    began: Instant,
    /// Seconds that the thread had run before.
    before: f64,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// Lets the test that runs in this thread be counted for the report of the slowest. To be called as often as one likes.
pub fn timed() {
    let of_a_test = std::thread::current().name().is_some_and(|name| name != "main");
    if !of_a_test {
        return;
    }
    RUNNING.with_borrow_mut(|running| {
        running.get_or_insert_with(|| Running { began: Instant::now(), before: age().unwrap_or(0.0) });
    });
}

/// The path of an executable that a test is about to start, so that the test is counted.
#[must_use]
pub fn started(program: &str) -> &str {
    timed();
    program
}

impl Drop for Running {
    fn drop(&mut self) {
        let thread = std::thread::current();
        let (Some(name), Some(file)) = (thread.name(), file()) else { return };
        let wall = self.before + self.began.elapsed().as_secs_f64();
        let cpu = ticks().map_or(0.0, |(_, cpu)| cpu / TICKS);
        let line = format!("{wall:.3} {cpu:.2} {}::{name}\n", executable());
        // The report is a service: a test does not fail because its time cannot be kept.
        let open = || OpenOptions::new().create(true).append(true).open(&file);
        if fs::create_dir_all(file.parent().unwrap_or(&file)).is_ok() {
            drop(open().and_then(|mut file| file.write_all(line.as_bytes())));
        }
    }
}

/// The tests of this run that took longest, at most `most`, and how many were counted. Times of earlier runs are removed.
#[must_use]
pub fn slowest(most: usize) -> (Vec<Time>, usize) {
    let Some(file) = file() else { return (Vec::new(), 0) };
    let text = fs::read_to_string(&file).unwrap_or_default();
    if let Some(folder) = file.parent() {
        drop(fs::remove_dir_all(folder));
    }
    let mut times: Vec<Time> = text.lines().filter_map(read).collect();
    let counted = times.len();
    times.sort_by(|one, two| two.wall.total_cmp(&one.wall));
    times.truncate(most);
    (times, counted)
}

fn read(line: &str) -> Option<Time> {
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

/// Where this run's times are: beside the folder `deps` that cargo puts test executables into.
fn file() -> Option<PathBuf> {
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

/// Ticks in a second, of the figures in `/proc`: 100 on every Linux.
const TICKS: f64 = 100.0;

/// When this thread began, and the CPU time it has had: both in ticks, the first since the system's start.
fn ticks() -> Option<(f64, f64)> {
    let text = fs::read_to_string("/proc/thread-self/stat").ok()?;
    // The second field is a name in brackets that can hold anything; the third is the first one behind it.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    Some((field(22)?, field(14)? + field(15)?))
}

/// For how many seconds this thread has been there.
fn age() -> Option<f64> {
    let up: f64 = fs::read_to_string("/proc/uptime").ok()?.split_whitespace().next()?.parse().ok()?;
    Some((up - ticks()?.0 / TICKS).max(0.0))
}
