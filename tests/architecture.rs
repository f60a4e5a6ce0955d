//! Proof 1 and 3 of orthogonality: every name in `src/` keeps to the table of the architecture, and
//! the engine alone brings in no async runtime, network or database.
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "a test reads the source it judges")]

#[path = "architecture/growing.rs"]
mod growing;
#[path = "architecture/reader.rs"]
mod reader;
#[path = "architecture/rules.rs"]
mod rules;

use std::path::{Path, PathBuf};
use std::process::Command;

use rules::{judge, judge_layer};

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Every Rust file below a folder, sorted.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Every Rust file below a folder of the project, by its path below that folder, with its text.
fn sources(folder: &str) -> Vec<(String, String)> {
    let folder = root().join(folder);
    let mut found = Vec::new();
    for path in rust_files(&folder) {
        let file = path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
        found.push((file, std::fs::read_to_string(&path).unwrap()));
    }
    assert!(found.len() > 4, "{} was not found", folder.display());
    found
}

#[test]
fn every_name_in_src_follows_the_table() {
    let mut faults = Vec::new();
    for (file, text) in sources("src") {
        faults.extend(judge(&file, &text));
    }
    assert!(faults.is_empty(), "see tests/architecture/rules.rs:\n{}", faults.join("\n"));
}

/// The crates that the library re-exports as modules.
const LAYERS: [&str; 3] = ["diagnostic", "policy", "skill"];

#[test]
fn the_layers_that_are_crates_touch_no_file_or_clock() {
    let mut faults = Vec::new();
    for layer in LAYERS {
        for (file, text) in sources(&format!("crates/{layer}/src")) {
            faults.extend(judge_layer(layer, &file, &text));
        }
    }
    assert!(faults.is_empty(), "see tests/architecture/rules.rs:\n{}", faults.join("\n"));
    let refused = judge_layer("skill", "roots.rs", "use std::fs::read;");
    assert!(refused[0].starts_with("crates/skill/src/roots.rs:1: `std::fs::read`"), "{refused:?}");
    assert_eq!(judge_layer("skill", "disk.rs", "use std::fs;"), [""; 0]);
}

#[test]
fn the_layers_that_are_crates_do_not_know_each_other() {
    for layer in LAYERS {
        let own = format!("toolfold-{layer}");
        let tree = tree(&["--package", &own, "--all-features"]);
        let mut ours: Vec<&String> = tree.iter().filter(|name| name.starts_with("toolfold")).collect();
        ours.dedup();
        let strange = ours.iter().find(|name| ![own.as_str(), "toolfold-diagnostic"].contains(&name.as_str()));
        assert!(strange.is_none() && !ours.is_empty(), "{own} depends on {ours:?}");
    }
}

#[test]
fn one_api_is_named_only_where_the_table_allows() {
    let (mut faults, mut read) = (Vec::new(), 0);
    let folders = ["src", "crates/cli/src", "crates/gateway/src", "crates/measure/src", "bindings/python/src"];
    for path in folders.into_iter().flat_map(|folder| rust_files(&root().join(folder))) {
        let file = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        // Unit tests may name an API.
        if !file.contains("/tests/") && !file.ends_with("/tests.rs") {
            faults.extend(rules::judge_apis(&file, &std::fs::read_to_string(&path).unwrap()));
            read += 1;
        }
    }
    assert!(read > 300, "{read} files were read");
    assert!(faults.is_empty(), "see tests/architecture/rules.rs:\n{}", faults.join("\n"));
    let named = |file: &str, text: &str| !rules::judge_apis(file, text).is_empty();
    assert!(named("src/wire/steps.rs", "impl Wire { fn f(self) { match self { Self::Gemini => {} _ => {} } } }"));
    assert!(named("src/conversation.rs", "fn f(w: Wire) { if matches!(w, crate::wire::Wire::Mcp) {} }"));
    assert!(named("src/tokens.rs", "use crate::wire::Wire::Anthropic;"));
    assert!(!named("src/tokens/read.rs", "fn f() -> Request { Request::Anthropic }"));
}

#[test]
fn the_root_only_declares_and_re_exports() {
    for file in ["src/lib.rs", "crates/diagnostic/src/lib.rs", "crates/policy/src/lib.rs", "crates/skill/src/lib.rs"] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        for item in syn::parse_file(&text).unwrap().items {
            let bare = match &item {
                syn::Item::Mod(item) => item.content.is_none(),
                syn::Item::Use(_) => true,
                _ => false,
            };
            assert!(bare, "{file} holds something else than `mod` and `use`");
        }
    }
}

#[test]
fn public_types_can_grow_or_say_why_not() {
    let mut found = Vec::new();
    for (name, folder) in growing::PUBLISHED {
        for (file, text) in sources(folder) {
            let types = growing::exhaustive_types(&text).into_iter();
            found.extend(types.map(|own| (format!("{name}::{own}"), format!("{folder}/{file}"))));
        }
    }
    for (own, file) in &found {
        let listed = growing::EXHAUSTIVE.iter().any(|(listed, _)| listed == own);
        assert!(listed, "{file}: {own} needs #[non_exhaustive], or a reason in tests/architecture/growing.rs");
    }
    for (listed, _) in growing::EXHAUSTIVE {
        assert!(found.iter().any(|(own, _)| own == listed), "{listed} is not exhaustive: remove it from growing.rs");
    }
    let text = "pub struct A { pub a: u8 } pub struct B { pub a: u8, b: u8 } pub enum C { D } #[non_exhaustive] pub enum E { F }";
    assert_eq!(growing::exhaustive_types(text), ["A", "C"]);
}

/// The check itself: a source text of a file must be refused with that text in the message.
#[track_caller]
fn refused(file: &str, text: &str, because: &str) {
    let faults = judge(file, text);
    let found = faults.iter().any(|fault| fault.contains(because) && fault.starts_with(&format!("src/{file}:")));
    assert!(found, "`{text}` in {file} must be refused with `{because}`, but: {faults:?}");
}

#[track_caller]
fn accepted(file: &str, text: &str) {
    let faults = judge(file, text);
    assert!(faults.is_empty(), "`{text}` in {file} must pass, but: {faults:?}");
}

#[test]
fn the_check_rejects_paths_to_a_forbidden_module() {
    refused("profile.rs", "use crate::engine::Engine;", "src/profile.rs:1: `crate::engine::Engine`");
    refused(
        "profile.rs",
        "\n\nuse crate::engine as e;",
        "src/profile.rs:3: `crate::engine`: `profile` may name catalog",
    );
    refused(
        "profile/plan.rs",
        "use super::super::{catalog::Tool, skill::{self, Skill}};",
        "super::super::skill::Skill",
    );
    refused("profile/plan.rs", "use crate::{catalog::Tool, policy::*};", "crate::policy");
    refused(
        "profile/plan.rs",
        "use self::super::super::engine::Engine;",
        "may name catalog, schema, name, search, diagnostic only",
    );
    refused("profile.rs", "fn f() -> crate::wire::Wire { todo!() }", "crate::wire::Wire");
    refused("profile.rs", "fn f() { let _ = super::engine::Engine::builder; }", "super::engine");
    refused("profile.rs", "mod inner { fn f() { super::super::engine::g() } }", "super::super::engine");
    refused("profile.rs", "impl From<Vec<crate::engine::Engine>> for X {}", "crate::engine::Engine");
    refused("profile.rs", "fn f() { assert!(matches!(x, [crate::policy::Decision::Deny])) }", "crate::policy");
    refused("profile.rs", "macro_rules! m { () => { $crate::engine::Engine } }", "crate::engine::Engine");
    refused("profile.rs", "m! { use crate::{catalog::Tool, engine::{Engine}}; }", "crate::engine::Engine");
    refused(
        "profile.rs",
        "#[derive(Serialize)] struct S { #[serde(with = \"crate::wire::x\")] a: u8 }",
        "crate::wire::x",
    );
    refused("profile.rs", "#[error(\"{}\", crate::tokens::x(.0))] struct E;", "crate::tokens::x");
    refused("profile.rs", "use toolfold::engine::Engine;", "toolfold::engine");
    refused("excel.rs", "use crate::diagnostic::Place;", "`excel` may name nothing of ours");
    refused("profile.rs", "use toolfold_policy::Policy;", "only lib may name it");
}

#[test]
fn what_tests_may_do_is_compiled_for_tests_only() {
    for module in rules::TESTS {
        let (parent, name) = module.rsplit_once("::").unwrap();
        let file = root().join("src").join(parent.replace("::", "/")).with_extension("rs");
        let text = std::fs::read_to_string(&file).unwrap();
        let declared = text.split(&format!("\nmod {name};")).next().unwrap();
        assert_ne!(declared, text, "{}: there is no `mod {name};`", file.display());
        let attribute = declared.lines().last().unwrap();
        assert!(attribute.starts_with("#[cfg(") && attribute.contains("test"), "{}: {attribute}", file.display());
        assert!(!attribute.contains("not(") && !attribute.contains("any("), "{}: {attribute}", file.display());
    }
}

#[test]
fn the_check_rejects_detours() {
    refused("profile.rs", "use crate::*;", "every module");
    refused("profile.rs", "use crate as root;", "every module");
    refused("profile.rs", "use super::*;", "every module");
    refused("profile/plan.rs", "use super::super::{self as all};", "every module");
    refused("profile.rs", "use crate::Engine;", "`profile` may name");
    refused("profile.rs", "extern crate self as me;", "another name");
    refused("profile.rs", "#[path = \"engine.rs\"] mod mine;", "own name");
    refused("profile.rs", "include!(\"engine.rs\");", "nobody may name it");
    refused("novelty.rs", "", "module `novelty` is not in the table");
    refused("novelty/inner.rs", "", "module `novelty` is not in the table");
    refused("profile.rs", "fn (", "cannot be read");
}

#[test]
fn the_check_rejects_io_outside_the_edges() {
    refused("engine.rs", "fn f() { println!(\"x\") }", "`println!`: nobody may name it");
    refused("engine.rs", "fn f() { vec![1].iter().for_each(|x| m!(eprintln!(\"{x}\"))) }", "eprintln!");
    refused("engine.rs", "use std::{fmt, fs};", "`std::fs`: only store");
    refused("engine.rs", "use std::*;", "std::fs");
    refused("engine.rs", "fn f() { std::env::var(\"HOME\"); }", "std::env");
    refused("engine.rs", "use std::time::{Duration, Instant};", "std::time::Instant");
    refused("engine.rs", "use std::time;", "std::time::SystemTime");
    refused("engine.rs", "fn f() { ::std::net::lookup() }", "std::net");
    refused("catalog/import.rs", "use std::io::stdin;", "std::io::stdin");
    refused("wire.rs", "#[tokio::main] async fn f() {}", "tokio");
    refused("store.rs", "use axum as web;", "axum");
    refused("wire.rs", "#[derive(clap::Parser)] struct S;", "clap");
    refused("store.rs", "fn f() { std::process::exit(1) }", "std::process");
    refused("engine.rs", "use rusqlite::Connection;", "only store");
}

#[test]
fn the_check_accepts_what_the_table_allows() {
    accepted(
        "profile/plan.rs",
        "use super::{Arm, expand::deferred}; use crate::catalog::{self, Tool}; use crate::name::X;",
    );
    accepted(
        "profile/plan.rs",
        "pub(crate) fn f() {} pub(in super::super) fn g() {} fn h(self_: &str) { super::super::name::x() }",
    );
    accepted(
        "profile.rs",
        "/// [`crate::engine::Engine`]\n#[doc = \"crate::engine\"]\nmod arm; use std::fmt; use serde::Serialize;",
    );
    accepted("profile.rs", "use std::time::Duration; fn f(axum: u8) -> u8 { format!(\"{axum}\"); axum }");
    accepted("catalog.rs", "use crate::error::Error;");
    accepted(
        "lib.rs",
        "pub mod engine; pub use engine::Engine; pub use crate::wire::Wire; pub use toolfold_policy as policy;",
    );
}

/// `cargo tree` of packages without their default features, one package a line.
fn tree(more: &[&str]) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let output = Command::new(cargo)
        .current_dir(root())
        .args(["tree", "--no-default-features", "-e", "normal", "--prefix", "none", "--offline", "--color", "never"])
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn the_engine_alone_has_no_runtime_network_or_database() {
    let banned = [
        "anstream",
        "async-std",
        "axum",
        "clap",
        "futures",
        "futures-executor",
        "h2",
        "hyper",
        "libsqlite3-sys",
        "mio",
        "native-tls",
        "notify",
        "openssl",
        "openssl-sys",
        "reqwest",
        "rmcp",
        "rusqlite",
        "rustls",
        "smol",
        "socket2",
        "tiktoken-rs",
        "tokio",
        "ureq",
    ];
    let found: Vec<String> =
        tree(&["--package", "toolfold"]).into_iter().filter(|name| banned.contains(&name.as_str())).collect();
    assert!(found.is_empty(), "--no-default-features brings in {found:?}");
}

#[test]
fn the_engine_alone_uses_few_crates() {
    // The second line is for what the other layers bring: allowed, not required.
    let allowed = [
        "indexmap",
        "schemars",
        "serde",
        "serde_json",
        "strsim",
        "thiserror",
        "toml",
        "wildmatch",
        "granit-parser",
        "jsonschema",
        "miniz_oxide",
        "percent-encoding",
        "sha2",
        "shlex",
        "unicode-general-category",
        "unicode-normalization",
    ];
    let mut packages = vec!["--depth", "1", "--no-dedupe", "--package", "toolfold"];
    packages.extend([
        "--package",
        "toolfold-policy",
        "--package",
        "toolfold-skill",
        "--package",
        "toolfold-diagnostic",
    ]);
    let direct: Vec<String> = tree(&packages).into_iter().filter(|name| !name.starts_with("toolfold")).collect();
    let strange: Vec<&String> = direct.iter().filter(|name| !allowed.contains(&name.as_str())).collect();
    assert!(strange.is_empty(), "not on the list of the engine's dependencies: {strange:?}");
    let missing: Vec<&&str> = allowed[..8].iter().filter(|name| !direct.iter().any(|own| own == *name)).collect();
    assert!(missing.is_empty(), "on the list but gone: {missing:?}");
}

/// Every package below a selection of the workspace's, with its features.
fn features(edges: &str, selection: &[&str]) -> std::collections::BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let fixed = ["tree", "--prefix", "none", "--offline", "--color", "never", "-e", edges];
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(fixed).args(["-f", "{p} [{f}]"]).args(selection);
    let output = command.output().unwrap();
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    // A package that was printed before is marked.
    let plain = |line: &str| line.strip_suffix(" (*)").unwrap_or(line).to_owned();
    String::from_utf8(output.stdout).unwrap().lines().map(plain).collect()
}

/// Each row of the table in CONTRIBUTING.md: a term that occurs once, and its file.
#[test]
fn one_search_answers_where_a_decision_is_made() {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let files: Vec<PathBuf> = ["src", "crates"].iter().flat_map(|folder| rust_files(&root().join(folder))).collect();
    let mut questions = 0;
    for row in text.lines().filter(|line| line.contains("? | `")) {
        let [_, term, _, file, _] = row.split('`').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let found: Vec<&PathBuf> =
            files.iter().filter(|path| std::fs::read_to_string(path).unwrap().contains(term)).collect();
        assert_eq!(found, [&root().join(file)], "{row}");
        questions += 1;
    }
    assert_eq!(questions, 10);
}

/// Otherwise `cargo test -p` compiles half of the dependencies once more.
#[test]
fn one_package_is_tested_with_the_features_of_all() {
    let (every, linked) = ("normal,build,dev", "normal,dev,no-proc-macro");
    let (all, all_linked) = (features(every, &[]), features(linked, &[]));
    let check = &|package: &str| {
        let own = features(every, &["-p", package]);
        // Cargo compiles a crate with another profile if only build scripts and macros use it.
        let own_linked = features(linked, &["-p", package]);
        let unlinked: Vec<&String> = own.difference(&own_linked).filter(|name| all_linked.contains(*name)).collect();
        assert!(unlinked.is_empty(), "{package}: add these to crates/testing/Cargo.toml: {unlinked:#?}");
        let other: Vec<&String> = own.difference(&all).collect();
        assert!(other.is_empty(), "{package}: give crates/testing/Cargo.toml the features that these lack: {other:#?}");
    };
    std::thread::scope(|scope| {
        let packages = ["toolfold-cli", "toolfold-gateway", "toolfold-measure", "toolfold-library-tests"];
        for package in toolfold_testing::sample(packages, 1) {
            scope.spawn(move || check(package));
        }
    });
}

/// Otherwise CI optimises everything twice.
#[test]
fn the_python_package_has_the_features_of_the_command() {
    let linked = |selection: &[&str]| features("normal,build", selection);
    let (command, python) = (linked(&[]), linked(&["-p", "toolfold-python"]));
    let own = ["pyo3", "target-lexicon ", "toolfold-python "];
    let other: Vec<&String> =
        python.difference(&command).filter(|name| !own.iter().any(|own| name.starts_with(own))).collect();
    assert!(
        other.is_empty(),
        "give crates/testing/Cargo.toml, without a condition, the features that these lack: {other:#?}"
    );
}
