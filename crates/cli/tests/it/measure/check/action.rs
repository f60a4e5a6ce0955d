//! The action and the pre-commit hooks call existing commands with existing flags.

use std::path::{Path, PathBuf};
use std::process::Command;

use granit_parser::{Event, Parser};
use serde_json::{Map, Value};

use super::{locked, run, tools, write};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn yaml(file: &str) -> Value {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let mut events = Parser::new_from_str(&text).map(|event| event.unwrap().0).filter(|event| {
        let scalar = matches!(event, Event::Scalar(..));
        scalar
            || matches!(
                event,
                Event::SequenceStart(..) | Event::SequenceEnd | Event::MappingStart(..) | Event::MappingEnd
            )
    });
    let first = events.next().unwrap();
    node(first, &mut events)
}

fn node<'y>(event: Event<'y>, events: &mut impl Iterator<Item = Event<'y>>) -> Value {
    match event {
        Event::Scalar(text, ..) => Value::from(text.into_owned()),
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            loop {
                match events.next().unwrap() {
                    Event::SequenceEnd => return Value::Array(list),
                    event => list.push(node(event, events)),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut map = Map::new();
            loop {
                match events.next().unwrap() {
                    Event::MappingEnd => return Value::Object(map),
                    event => {
                        let key = node(event, events).as_str().unwrap().to_owned();
                        let value = events.next().unwrap();
                        assert!(map.insert(key, node(value, events)).is_none(), "a key twice");
                    }
                }
            }
        }
        event => panic!("{event:?}"),
    }
}

/// The last step of the action as GitHub runs it: its script in bash, its inputs as variables.
#[test]
fn the_action_annotates_and_summarises() {
    let action = yaml(".github/actions/check/action.yml");
    let step = action["runs"]["steps"].as_array().unwrap().last().unwrap();
    let path = locked("action", &[]);
    std::fs::create_dir(path.join(".git")).unwrap();
    write(&path, "tools.json", &tools(20));
    std::fs::write(path.join("step.sh"), step["run"].as_str().unwrap()).unwrap();
    let go = |inputs: &[(&str, &str)]| {
        let mut command = Command::new("bash");
        command.current_dir(&path).args(["--noprofile", "--norc", "-eo", "pipefail", "step.sh"]).env("HOME", &path);
        for (name, text) in step["env"].as_object().unwrap() {
            let input = text.as_str().unwrap().trim_start_matches("${{ inputs.").trim_end_matches(" }}");
            let default = action["inputs"][input]["default"].as_str().unwrap_or_else(|| panic!("no input {input}"));
            let own = inputs.iter().find(|(own, _)| *own == input).map_or(default, |(_, value)| value);
            command.env(name, if input == "toolfold" { env!("CARGO_BIN_EXE_toolfold") } else { own });
        }
        let output = command.env("GITHUB_STEP_SUMMARY", path.join("summary.md")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap(), text + &String::from_utf8(output.stderr).unwrap())
    };
    let (code, out) = go(&[("tools", "tools.json")]);
    assert!(
        code == 1 && out.contains("::error file=tools.json,line=3,title=toolfold check%3A max-tool-growth::"),
        "{out}"
    );
    assert!(out.contains("Over budget"), "{out}");
    assert!(std::fs::read_to_string(path.join("summary.md")).unwrap().starts_with("### ❌ toolfold check"));
    let (code, out) = go(&[
        ("tools", "tools.json"),
        ("budgets", "--max-tool-growth 500 --no-new-tools"),
        ("format", "sarif"),
        ("output", "o.sarif"),
    ]);
    assert_eq!(code, 0, "{out}");
    assert!(std::fs::read_to_string(path.join("o.sarif")).unwrap().contains("\"2.1.0\""));
    // What cannot be compared is said on the pull request, too.
    for (inputs, code, why) in [
        (&[("tools", "none.json")][..], 1, "none.json"),
        (&[("tools", "tools.json"), ("budgets", "--max-growth much")], 2, "much"),
    ] {
        std::fs::write(path.join("summary.md"), "").unwrap();
        let (found, out) = go(inputs);
        let annotation =
            out.lines().find(|line| line.starts_with("::error title=toolfold check::")).unwrap_or_default();
        assert!(found == code && annotation.contains(why), "{found}: {out}");
        let summary = std::fs::read_to_string(path.join("summary.md")).unwrap();
        assert!(
            summary.starts_with("### ❌ toolfold check: nothing was compared") && summary.contains(why),
            "{summary}"
        );
    }
    // An input is one argument, never a part of the script.
    let (code, out) = go(&[("tools", "x; touch broken"), ("budgets", "$(touch broken)")]);
    assert!(code != 0 && !path.join("broken").exists(), "{out}");
    assert_eq!(action["runs"]["using"], "composite");
}

/// The first step of the action: a release whose checksum is right, with `curl` replaced.
#[test]
fn the_action_installs_the_release_of_its_tag() {
    let action = yaml(".github/actions/check/action.yml");
    let step = action["runs"]["steps"].as_array().unwrap().first().unwrap();
    let path = locked("install", &[]);
    let shell = |script: &str, variables: &[(&str, &str)]| {
        let search = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("bash");
        command.current_dir(&path).args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).env("PATH", search);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let name = "toolfold-x86_64-unknown-linux-gnu";
    let release = format!(
        "mkdir -p site {name} && echo program >{name}/toolfold && tar -czf site/{name}.tar.gz {name} && rm -r {name} && \
         cd site && sha256sum -- *.tar.gz >SHA256SUMS && cd .. && \
         printf '#!/bin/sh\\necho \"$6\" >>asked\\ncp \"site/$5\" \"$5\"\\n' >curl && chmod +x curl"
    );
    assert_eq!(shell(&release, &[]), (0, String::new()));
    let script = step["run"].as_str().unwrap();
    let place = path.to_str().unwrap();
    let paths = path.join("paths");
    let go = |version: &str, tag: &str, arch: &str| {
        let variables = [
            ("RUNNER_OS", "Linux"),
            ("RUNNER_ARCH", arch),
            ("RUNNER_TEMP", place),
            ("GITHUB_PATH", paths.to_str().unwrap()),
            ("VERSION", version),
            ("TAG", tag),
        ];
        std::fs::remove_file(path.join("asked")).ok();
        let (code, out) = shell(script, &variables);
        (code, out, std::fs::read_to_string(path.join("asked")).unwrap_or_default())
    };
    for (version, tag, from) in
        [("", "v0.1.0", "download/v0.1.0"), ("0.2.0", "v0.1.0", "download/v0.2.0"), ("", "main", "latest/download")]
    {
        let (code, out, asked) = go(version, tag, "X64");
        let archive = format!("https://github.com/toolfold/toolfold/releases/{from}/{name}.tar.gz\n");
        assert!(code == 0 && asked.starts_with(&archive), "{out}{asked}");
    }
    assert!(std::fs::read_to_string(&paths).unwrap().starts_with(&format!("{place}/{name}\n")));
    let (code, out, _) = go("", "v0.1.0", "S390X");
    assert!(code == 3 && out.contains("::error title=toolfold check::no release runs on Linux-S390X"), "{out}");
    std::fs::write(path.join(format!("site/{name}.tar.gz")), "another file").unwrap();
    let (code, out, _) = go("", "v0.1.0", "X64");
    assert!(code == 3 && out.contains("its checksum differs"), "{out}");
}

#[test]
fn the_hooks_call_existing_commands() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let ids: Vec<&str> = hooks.as_array().unwrap().iter().map(|hook| hook["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["toolfold-check", "toolfold-lint"]);
    let path = locked("hooks", &[]);
    std::fs::write(path.join("toolfold.toml"), "[tools]\nfile = 'tools.json'\n").unwrap();
    for hook in hooks.as_array().unwrap() {
        let words: Vec<&str> = hook["entry"].as_str().unwrap().split(' ').collect();
        assert_eq!(words[0], "toolfold");
        let (code, out, err) = run(&path, &words[1..]);
        assert!(code <= 1, "{words:?}: {out}{err}");
    }
}
