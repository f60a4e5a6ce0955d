//! The net under changes to the reader of commands: everything that it finds in every command of
//! the corpora, of the tests and of a generator, and what is decided on each. Too much for the
//! repository, so it is recorded in a file:
//!
//! `TOOLFOLD_EFFECTS=FILE cargo test --test it effects` writes FILE where there is none, and else
//! compares with it: what was found then and is not found now, and what is decided more softly, is
//! printed and fails the test. `TOOLFOLD_COMMANDS=FILE` adds the lines of a file as commands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toolfold::policy::eval::evaluate;
use toolfold::policy::shell::effects;

/// The rules under which every command is decided, with the program of its first word in place of
/// `PROGRAM`.
const RULES: &[&[&str]] = &[
    &["allow Bash(PROGRAM:*)"],
    &["allow Bash(PROGRAM:*)", "deny Bash(rm:*)", "deny Read(**/.env)", "deny Edit(src/**)"],
    &["allow Bash(*)", "deny Bash(rm:*)", "deny Read(**/.env)", "deny Edit(src/**)"],
    &["builtin READ_ONLY_SAFE_SHELL"],
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The rows of the corpora.
fn corpora() -> Vec<Value> {
    let folder = root().join("../shared/corpora/policy");
    let mut all = Vec::new();
    for name in ["calls.jsonl", "attacks.jsonl", "benign.jsonl"] {
        let Ok(text) = std::fs::read_to_string(folder.join(name)) else {
            println!("skipped: {name} is not here");
            continue;
        };
        all.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }
    all
}

/// The texts between quotes in the tests beside this one.
fn quoted_in_tests() -> Vec<String> {
    let (mut folders, mut all) = (vec![root().join("tests/it/policy")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ends| ends == "rs") && !path.ends_with("effects.rs") {
                all.extend(strings(&std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    all
}

/// The string literals of a source, roughly.
fn strings(source: &str) -> Vec<String> {
    let (mut all, mut text, mut inside, mut chars) = (Vec::new(), String::new(), false, source.chars());
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                if inside && text.contains(' ') {
                    all.push(std::mem::take(&mut text));
                }
                text.clear();
                inside = !inside;
            }
            '\\' if inside => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                other => text.extend(other),
            },
            c if inside => text.push(c),
            _ => {}
        }
    }
    all
}

#[cfg(unix)]
fn generated() -> Vec<String> {
    super::differential::generated(3_000)
}

#[cfg(not(unix))]
fn generated() -> Vec<String> {
    Vec::new()
}

/// What is found in a command and decided on it, a line each.
fn lines(command: &str, row: Option<&Value>) -> BTreeSet<String> {
    let found = effects(command);
    let mut all = BTreeSet::new();
    for one in &found.commands {
        let words: Vec<&str> = one.words.iter().map(|word| word.value.as_deref().unwrap_or(&word.text)).collect();
        all.insert(format!("command {:?} {words:?}", one.role));
    }
    for (kind, files) in [("file", &found.files), ("suspect", &found.suspects)] {
        all.extend(files.iter().map(|file| format!("{kind} {file:?}")));
    }
    for part in &found.unknowns {
        let text = format!("unknown {} {:?} {:?}", part.kind, part.weight, part.text);
        all.insert(format!("{text} interpreter={} option={}", part.interpreter.is_some(), part.option.is_some()));
    }
    all.extend(found.hosts.iter().map(|host| format!("host {host}")));
    all.extend(found.code_hints.iter().map(|text| format!("code-hint {text:?}")));
    all.extend(found.file_hints.iter().map(|text| format!("file-hint {text:?}")));
    let program = command.split_whitespace().next().unwrap_or_default();
    for rules in RULES {
        let own: Vec<String> = rules.iter().map(|rule| rule.replace("PROGRAM", program)).collect();
        let judged = evaluate(&json!({"id": "", "rule": own, "tool": "Bash", "args": {"command": command}}));
        all.insert(format!(
            "decided {} {own:?}",
            judged.map_or("error".to_owned(), |judged| judged.decision.to_string())
        ));
    }
    if let Some(row) = row
        && row.get("rule").is_some()
    {
        let judged = evaluate(row).map_or("error".to_owned(), |judged| judged.decision.to_string());
        all.insert(format!("decided {judged} [{} {}]", row["id"], row["rule"]));
    }
    all
}

fn recorded() -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    let mut add = |command: &str, row: Option<&Value>| {
        all.entry(command.to_owned()).or_insert_with(BTreeSet::new).extend(lines(command, row));
    };
    for row in corpora() {
        if let Some(command) = row["args"]["command"].as_str().filter(|_| row["tool"] == "Bash") {
            add(command, Some(&row));
        }
    }
    let mut more = quoted_in_tests();
    more.extend(generated());
    if let Some(path) = std::env::var_os("TOOLFOLD_COMMANDS") {
        more.extend(std::fs::read_to_string(path).unwrap().lines().map(str::to_owned));
    }
    more.iter().for_each(|command| add(command, None));
    all
}

/// How soft a recorded decision is, and under which rules it was made.
fn softness(line: &str) -> Option<(usize, &str)> {
    let (word, rules) = line.strip_prefix("decided ")?.split_once(' ')?;
    Some((["deny", "ask", "allow"].iter().position(|one| *one == word)?, rules))
}

#[test]
fn effects_do_not_vanish() {
    let Some(path) = std::env::var_os("TOOLFOLD_EFFECTS") else {
        println!("skipped: TOOLFOLD_EFFECTS names no file");
        return;
    };
    let now = recorded();
    let Ok(text) = std::fs::read_to_string(&path) else {
        let rows = now.iter().map(|(command, lines)| format!("{}\n", json!([command, lines])));
        std::fs::write(&path, rows.collect::<String>()).unwrap();
        println!("{} commands recorded", now.len());
        return;
    };
    let (mut lost, mut softer, mut harder) = (Map::new(), 0, 0);
    for line in text.lines() {
        let (command, before): (String, BTreeSet<String>) = serde_json::from_str(line).unwrap();
        let Some(after) = now.get(&command) else { continue };
        let decided: BTreeMap<&str, usize> =
            after.iter().filter_map(|line| softness(line)).map(|(soft, rules)| (rules, soft)).collect();
        let mut own = Vec::new();
        for line in before.difference(after) {
            match softness(line) {
                None => own.push(format!("- {line}")),
                Some((soft, rules)) => match decided.get(rules).copied().unwrap_or(soft) {
                    now if now > soft => {
                        softer += 1;
                        own.push(format!("SOFTER {line}"));
                    }
                    now if now < soft => {
                        harder += 1;
                        own.push(format!("harder {line}"));
                    }
                    _ => {}
                },
            }
        }
        if !own.is_empty() {
            own.extend(after.difference(&before).map(|line| format!("+ {line}")));
            lost.insert(command, json!(own));
        }
    }
    let differs = lost.values().flat_map(|own| own.as_array().unwrap()).filter_map(Value::as_str);
    let vanished = differs.filter(|line| line.starts_with("- ")).count();
    println!("{}", serde_json::to_string_pretty(&lost).unwrap());
    println!("{} commands: {vanished} lines vanished, {softer} softer, {harder} harder", now.len());
    assert_eq!((vanished, softer), (0, 0));
}
