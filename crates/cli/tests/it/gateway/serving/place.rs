//! The surroundings of a test: the binaries, its own folder, and processes that end with it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(crate) const TOOLFOLD: &str = env!("CARGO_BIN_EXE_toolfold");

pub(crate) fn fixture() -> String {
    toolfold_testing::fixture(TOOLFOLD)
}

pub(crate) fn server(args: &str) -> Vec<String> {
    std::iter::once(fixture()).chain(args.split_whitespace().map(str::to_owned)).collect()
}

/// A test's own folder, removed at the end.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        toolfold_testing::timed();
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolfold-gateway-{}-{number}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder.canonicalize().unwrap())
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn put(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.file(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    /// A command that does not find this machine's configuration.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0).env("HOME", &self.0).env("XDG_CONFIG_HOME", self.0.join("config"));
        command.env("XDG_STATE_HOME", self.0.join("state")).env("TOOLFOLD_LOG", "toolfold_gateway=info");
        // Long enough for servers on a busy machine.
        command.env("TOOLFOLD_GATEWAY_START_BUDGET", "60s");
        command
    }

    /// Runs `toolfold` to its end: its output, and whether it succeeded.
    pub(crate) fn toolfold(&self, args: &[&str]) -> (String, bool) {
        let output = self.command(TOOLFOLD).args(args).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (String::from_utf8(said).unwrap(), output.status.success())
    }

    /// A decision on a call, with the key that the store gets with the first one.
    pub(crate) fn approve(&self, id: &str, store: &str) -> (String, bool) {
        let key = format!("{store}.key");
        if !std::path::Path::new(&key).exists() {
            let (said, good) = self.toolfold(&["approvals", "init", "--store", store, "--key-file", &key]);
            assert!(good, "{said}");
        }
        self.toolfold(&["approvals", "approve", id, "--store", store, "--key-file", &key])
    }

    /// A configuration of servers, by their names and command lines.
    pub(crate) fn servers(&self, all: &[(&str, Vec<String>)]) -> String {
        let entry = |(name, command): &(&str, Vec<String>)| {
            ((*name).to_owned(), serde_json::json!({"command": command[0], "args": command[1..]}))
        };
        let all: serde_json::Map<String, serde_json::Value> = all.iter().map(entry).collect();
        self.put("servers.json", &serde_json::json!({"mcpServers": all}).to_string())
    }

    /// The command line of a gateway in front of a server on standard input and output.
    pub(crate) fn gateway(&self, options: &str, behind: &[String]) -> Vec<String> {
        let mut all: Vec<String> = vec![TOOLFOLD.to_owned(), "gateway".to_owned()];
        all.extend(options.split_whitespace().map(str::to_owned));
        all.push("--".to_owned());
        all.extend_from_slice(behind);
        all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A server over HTTP that ends with the test.
pub(crate) struct Http {
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl Http {
    pub(crate) fn fixture(args: &str) -> Self {
        let mut command = Command::new(fixture());
        command.args(["--http", "127.0.0.1:0"]).args(args.split_whitespace()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let url = url_in(BufReader::new(child.stdout.take().unwrap()));
        Self { child, url }
    }

    /// A gateway over HTTP; the command is that of one on standard input and output.
    pub(crate) fn gateway(place: &Place, command: &[String]) -> Self {
        let mut starts = place.command(&command[0]);
        starts.args(["gateway", "--http", "127.0.0.1:0"]).args(&command[2..]);
        Self::of(starts.stderr(Stdio::piped()).spawn().unwrap())
    }

    /// A process that prints its address on standard error. Its other output is read and dropped.
    pub(crate) fn of(mut child: Child) -> Self {
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let url = url_in(&mut log);
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { child, url }
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn address(&self) -> &str {
        self.url.trim_start_matches("http://").split('/').next().unwrap()
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        // Terminated with a signal, so that it can end its own children.
        terminate(self.child.id());
        if within(Duration::from_secs(15), || self.child.try_wait().is_ok_and(|ended| ended.is_some())) {
            return;
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn terminate(process: u32) {
    signal(process, "TERM");
}

pub(crate) fn signal(process: u32, name: &str) {
    drop(Command::new("kill").args([format!("-{name}"), process.to_string()]).stderr(Stdio::null()).status());
}

fn url_in(mut lines: impl BufRead) -> String {
    let mut said = String::new();
    loop {
        let mut line = String::new();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it says where it listens: {said}");
        if let Some(at) = line.find("http://") {
            return line[at..].split_whitespace().next().unwrap().to_owned();
        }
        said.push_str(&line);
    }
}

/// The processes that a process has started, without the one that ends a gateway's servers if the
/// gateway is killed.
pub(crate) fn children(process: u32) -> Vec<u32> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(own) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse::<u32>().ok());
        let is_guard = std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line.ends_with(b"\0__guard\0"));
        if parent == Some(process) && !is_guard {
            all.push(own);
        }
    }
    all
}

pub(crate) fn files_of(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}

/// Whether a process is running, and not only waiting to be reaped.
pub(crate) fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// Waits until a condition is true: at most half a minute, which only a failure takes.
pub(crate) fn eventually(what: &str, is_so: impl FnMut() -> bool) {
    assert!(within(Duration::from_secs(30), is_so), "not within 30 s: {what}");
}

/// Waits until a condition is true, and returns whether it was true in time. The pauses between the
/// checks are a tenth of the time that has passed, from 2 to 100 ms: a short wait ends soon, and a
/// long one takes few checks.
pub(crate) fn within(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !is_so() {
        let passed = began.elapsed();
        if passed > limit {
            return false;
        }
        std::thread::sleep((passed / 10).clamp(Duration::from_millis(2), Duration::from_millis(100)));
    }
    true
}
