//! Tests of `ab`: recorded tasks, oracles, resuming, models that are programs or servers, and
//! reports.

mod judging;
mod live;
#[cfg(unix)]
mod models;
mod oracles;
pub(crate) mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A temporary folder that is removed when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("toolfold-ab-{name}-{}", std::process::id()));
        std::fs::remove_dir_all(&folder).ok();
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let file = self.0.join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn toolfold(args: &[&str]) -> Command {
    let mut command = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")));
    // The configuration of the user who runs the tests is not read.
    command.args(args).current_dir(std::env::temp_dir()).env("XDG_CONFIG_HOME", "/nonexistent").env("NO_COLOR", "1");
    command
}

fn ran(args: &[&str]) -> Output {
    toolfold_testing::command(env!("CARGO_BIN_EXE_toolfold"), &std::env::temp_dir(), args, b"")
}

#[track_caller]
fn json_of(args: &[&str]) -> Value {
    let output = ran(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    crate::schemas::check_output(args, &String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Tools that are worth folding; half of their parameters are optional.
fn tools() -> Value {
    let words = "It says at some length what it does, so that there is something to fold away here. ".repeat(6);
    let text = |about: &str| json!({"type": "string", "description": format!("{about}. {words}")});
    let tool = |name: &str, does: &str| {
        json!({"name": name, "description": format!("{does} {words}"), "inputSchema": {
            "type": "object",
            "required": ["path"],
            "properties": {
                "path": text("Where"),
                "mode": {"type": "string", "enum": ["fast", "safe"], "description": words},
                "limit": {"type": "integer", "default": 10, "description": words},
                "note": text("A note"),
            }
        }})
    };
    json!([
        tool("copy_file", "Copy a file to another place."),
        tool("move_file", "Move a file to another place."),
        tool("print_page", "Print a page on the printer."),
        tool("scan_page", "Scan a page from the scanner."),
        tool("send_mail", "Send a mail to somebody."),
        tool("read_mail", "Read a mail from the box."),
    ])
}

/// Six tasks: of their eight calls, four give an optional argument that is not its default.
fn tasks() -> String {
    let task = |id: usize, calls: Value| json!({"id": format!("t{id}"), "turns": [format!("Do t{id}.")], "ground_truth": [calls]});
    let tasks = [
        task(0, json!(["copy_file('a')"])),
        task(1, json!(["move_file('a', mode='safe')"])),
        task(2, json!(["print_page(path='a', limit=10)"])),
        task(3, json!(["scan_page('a', limit=3)", "send_mail('b')"])),
        task(4, json!(["read_mail('b', note='x', mode='fast')", "copy_file('c', mode='fast')"])),
        task(5, json!([{"name": "move_file", "arguments": {"path": "z"}}])),
    ];
    tasks.map(|task| task.to_string()).join("\n")
}

fn given(scratch: &Scratch) -> (String, String) {
    (scratch.write("tasks.jsonl", &tasks()), scratch.write("tools.json", &tools().to_string()))
}

/// A file of the corpora, which are not part of the repository. `None`, with a printed line, if it
/// is absent.
fn corpus(path: &str) -> Option<String> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora").join(path);
    if !place.exists() {
        println!("skipped: {} is not here", place.display());
        return None;
    }
    Some(place.to_str().unwrap().to_owned())
}

fn cell<'c>(report: &'c Value, driver: &str, arm: &str) -> &'c Value {
    let cells = report["cells"].as_array().unwrap();
    cells.iter().find(|cell| cell["driver"] == driver && cell["arm"] == arm).unwrap()
}
