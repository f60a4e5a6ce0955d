//! Running a script from a test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use toolfold_runner::{Ended, Interpreters, Job, RunError, Running, Script, Supervisor, level, start};

/// A folder for one test, removed at its end.
pub(crate) struct Temp(PathBuf);

impl Temp {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("toolfold-sandbox-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A file of the user outside of the skill.
    pub(crate) fn secret(&self) -> PathBuf {
        let path = self.0.join("secret.txt");
        std::fs::write(&path, "secret").unwrap();
        path
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.0.join("runs")
    }

    /// A skill with a script. `{TEMP}` is replaced by this folder.
    pub(crate) fn script(&self, name: &str, text: &str) -> Script {
        let folder = self.0.join("skill");
        std::fs::create_dir_all(folder.join("scripts")).unwrap();
        let name = format!("scripts/{name}");
        std::fs::write(folder.join(&name), text.replace("{TEMP}", &self.0.to_string_lossy())).unwrap();
        Script::find("test", &folder, Some(&name)).unwrap()
    }

    pub(crate) fn job(&self, name: &str, text: &str) -> Job {
        let script = self.script(name, text);
        let interpreters = Interpreters::new(BTreeMap::new(), std::env::var_os("PATH"), None);
        let interpreter = interpreters.find(&script.entry).unwrap();
        Job::new(script, interpreter, "{}".to_owned())
    }

    pub(crate) fn start(&self, job: &Job) -> Result<Running, RunError> {
        self.start_in(job, &self.runs())
    }

    /// The same with the folders of runs below another folder.
    pub(crate) fn start_in(&self, job: &Job, runs: &Path) -> Result<Running, RunError> {
        start(&supervisor(), job, runs)
    }

    pub(crate) fn run(&self, job: &Job) -> Ended {
        self.start(job).unwrap().wait().unwrap()
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn supervisor() -> Supervisor {
    Supervisor::new(env!("CARGO_BIN_EXE_toolfold-supervisor").into(), Vec::new())
}

/// Whether this machine isolates scripts. Prints why not.
pub(crate) fn isolates() -> bool {
    let level = level();
    if !level.isolates() {
        println!("skipped: {level}");
    }
    level.isolates()
}

/// Whether a program is installed. Prints if not.
pub(crate) fn has(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !found {
        println!("skipped: {name} is not installed");
    }
    found
}

/// The processes whose command line contains a text.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(text)).collect()
}

/// Runs an ignored test of this file in a process of its own, with some variables, and returns its
/// output.
#[track_caller]
pub(crate) fn run_alone(test: &str, variables: &[(&str, &str)]) -> String {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
    print!("{text}");
    text
}

/// The rounds of a test: `quick` ones, 20 in CI, and 200 in a long run.
pub(crate) fn rounds(quick: u32) -> u32 {
    match std::env::var("TOOLFOLD_CASES").as_deref() {
        Ok("long") => 200,
        Ok("ci") => 20,
        _ => quick,
    }
}
