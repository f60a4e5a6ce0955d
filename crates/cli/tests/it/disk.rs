//! Commands follow this machine's links; an approval holds while they lead to the place that was
//! shown.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::policy::LinkTable;
use toolfold::policy::links::follow;

/// A folder with a policy that keeps calls out of `secret`, and links in `work`.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("toolfold-disk-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        for inner in ["work", "secret", "other", "third"] {
            std::fs::create_dir_all(folder.join(inner)).unwrap();
        }
        let folder = folder.canonicalize().unwrap();
        let policy = format!(
            "[tool.delete_file]\ntier = 'a'\nwrites = ['file_path']\n\n[[rule]]\ndecide = 'deny'\ntool = '*'\npath = '{}/secret/**'\n",
            folder.display()
        );
        std::fs::write(folder.join("policy.toml"), policy).unwrap();
        symlink("../secret", folder.join("work/x")).unwrap();
        symlink("round", folder.join("work/round")).unwrap();
        let place = Self(folder);
        place.link("y", "other");
        place
    }

    fn link(&self, name: &str, target: &str) {
        let link = self.0.join("work").join(name);
        drop(std::fs::remove_file(&link));
        symlink(self.0.join(target), link).unwrap();
    }

    fn toolfold(&self, args: &[&str]) -> Child {
        let mut command = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")));
        command.args(args).current_dir(self.0.join("work")).env("NO_COLOR", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn text(&self, path: &str) -> String {
        Path::new(&self.0).join(path).display().to_string()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn delete(id: &str, path: &str) -> Value {
    json!({"call": {"id": id, "name": "delete_file", "arguments": {"file_path": path, "confirm": true}}})
}

#[test]
fn a_session_sees_where_links_lead() {
    let place = Place::new("session");
    let (policy, store) = (place.text("policy.toml"), place.text("store.sqlite"));
    let mut child = place.toolfold(&["session", "--policy", &policy, "--store", &store, "--arm", "stable"]);
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |line: Value| -> Value {
        writeln!(input, "{line}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    };
    let denied = ask(delete("1", "x/a.xlsx"));
    assert_eq!(denied["outcome"], "refuse", "{denied}");
    let denied = ask(delete("2", "y/../secret/a.xlsx"));
    assert_eq!(denied["outcome"], "refuse", "the kernel goes up from where the link led: {denied}");
    let unknown = ask(delete("3", "round/a.xlsx"));
    assert_eq!(unknown["outcome"], "confirm", "{unknown}");

    let asked = ask(delete("4", "y/a.xlsx"));
    let effects = asked["shown"]["effects"].to_string();
    assert!(effects.contains(&format!("which leads to {}", place.text("other/a.xlsx"))), "{asked}");
    place.link("y", "third");
    let void = ask(json!({"accept": asked["approval"]}));
    assert_eq!(void["outcome"], "refuse", "{void}");
    assert!(void.to_string().contains("lead elsewhere"), "{void}");

    let asked = ask(delete("5", "y/a.xlsx"));
    let run = ask(json!({"accept": asked["approval"]}));
    assert_eq!(run["outcome"], "forward", "{run}");

    let asked = ask(delete("6", "y/b.xlsx"));
    place.link("y", "secret");
    let forbidden = ask(json!({"accept": asked["approval"]}));
    assert_eq!(forbidden["outcome"], "refuse", "{forbidden}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn explain_follows_links_unless_as_written() {
    let place = Place::new("explain");
    let policy = place.text("policy.toml");
    let explain = |more: &[&str]| {
        let mut args = vec!["policy", "explain", &policy, "delete_file", "--args", r#"{"file_path": "x/a"}"#];
        args.extend(more);
        String::from_utf8(place.toolfold(&args).wait_with_output().unwrap().stdout).unwrap()
    };
    let looked = explain(&[]);
    assert!(looked.starts_with("deny") && looked.contains("leads to"), "{looked}");
    assert!(explain(&["--as-written"]).starts_with("confirm"));
    assert!(explain(&["--cwd", "/nowhere"]).starts_with("confirm"));
    assert!(explain(&["--cwd", ".."]).starts_with("confirm"));
    assert!(explain(&["--cwd", "."]).starts_with("deny"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn links_resolve_as_in_the_kernel(
        links in prop::collection::vec((prop::sample::select(NAMES), prop::sample::select(TARGETS)), 0..5),
        paths in prop::collection::vec(prop::collection::vec(prop::sample::select(STEPS), 1..6), 12),
    ) {
        let place = Place::new("follow");
        let root = place.text("work");
        for folder in ["a/b", "c"] {
            std::fs::create_dir_all(place.0.join("work").join(folder)).unwrap();
        }
        let mut table = Vec::new();
        for (name, target) in links {
            // An existing name is unchanged.
            let target = target.replace("ROOT", &root);
            if symlink(&target, place.0.join("work").join(name)).is_ok() {
                table.push((format!("{root}/{name}"), target));
            }
        }
        for (name, target) in [("x", "../secret"), ("round", "round"), ("y", &place.text("other"))] {
            table.push((format!("{root}/{name}"), target.to_owned()));
        }
        let table = LinkTable::new(table);
        for path in paths {
            let path = format!("{root}/{}", path.join("/"));
            let followed = follow(&path, &table);
            match std::fs::canonicalize(&path) {
                Ok(real) => prop_assert_eq!(followed.map(PathBuf::from), Some(real), "{}", path),
                Err(why) if why.raw_os_error() == Some(ELOOP) => prop_assert_eq!(followed, None, "{}", path),
                // A path that does not exist resolves to nothing.
                Err(_) => {}
            }
        }
    }
}

const NAMES: &[&str] = &["l", "m", "a/n", "a/b/o", "c/p"];
const TARGETS: &[&str] =
    &["a", "..", "../c", "l", "m", "b/..", "ROOT/a/b", "a/n", "missing", "../../work/c/p", "x", "."];
const STEPS: &[&str] = &["a", "b", "c", "l", "m", "n", "o", "p", "..", ".", "x", "y", "round"];
#[cfg(target_os = "linux")]
const ELOOP: i32 = 40;
#[cfg(not(target_os = "linux"))]
const ELOOP: i32 = 62;
