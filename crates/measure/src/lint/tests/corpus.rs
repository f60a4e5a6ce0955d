//! The real servers, if the corpora exist: no rule panics, findings are deterministic.
#![allow(clippy::disallowed_methods, reason = "tests read corpora")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::lint::{Options, fix};
use toolfold::catalog::Catalog;

fn lists() -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora");
    let mut files: Vec<PathBuf> = ["mcp", "clients", "excelmanus"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(top.join(folder)).into_iter().flatten())
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .filter(|path| !path.ends_with("policy.json") && !path.ends_with("profile.json"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap())
    };
    let mut all: Vec<(String, String)> = files.iter().map(read).collect();
    if let Ok(text) = std::fs::read_to_string(top.join("bfcl/tools.json")) {
        let bfcl: Value = serde_json::from_str(&text).unwrap();
        for (name, domain) in bfcl["domains"].as_object().unwrap() {
            all.push((name.clone(), domain["tools"].to_string()));
        }
    }
    all
}

#[test]
fn the_real_servers() {
    let lists = toolfold_testing::sample(lists(), 12);
    if lists.is_empty() {
        println!("skipped: ../shared/corpora is not here");
        return;
    }
    let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut errors = Vec::new();
    for (name, text) in &lists {
        let read = Catalog::import(text, name, None);
        let options = Options { noticed: &read.diagnostics, ..Options::new() };
        let found = crate::lint::findings(&read.value, &options);
        for one in &found {
            *counts.entry((one.rule, one.severity.to_string())).or_default() += 1;
            if one.severity == toolfold::diagnostic::Severity::Error {
                errors.push(format!("{name} {:?}: {}: {}", one.tool, one.rule, one.reason));
            }
        }
        // Larger lists are only checked once.
        if text.len() < 25_000 {
            assert_eq!(found, crate::lint::findings(&read.value, &options), "{name}");
            let once = fix(text, name, None, &Options::new());
            assert_eq!(fix(&once.text, name, None, &Options::new()).text, once.text, "{name}");
        }
    }
    for ((rule, severity), count) in &counts {
        println!("{count:6} {severity:8} {rule}");
    }
    // Working servers have no errors.
    assert_eq!(errors, Vec::<String>::new());
}
