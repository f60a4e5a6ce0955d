//! House rules that no compiler checks: short files, none forgotten, nothing left lying about.
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "a test reads the files it judges")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[path = "tidy/source.rs"]
mod source;

use source::{Module, normal, sources};

/// Files aim for 400 lines; beyond this they have more than one subject.
const MAX_LINES: usize = 420;

/// A type with more methods than this has more than one subject: give each its own type and fields.
const MAX_METHODS: usize = 40;

/// The types that have more methods than [`MAX_METHODS`], by crate and name, with the number they
/// had when the rule was made. It may only fall: a type that no longer needs its exception loses
/// it.
const MANY_METHODS: &[(&str, &str, usize)] = &[
    ("src", "Conversation", 143),
    ("crates/policy/src", "Walker", 60),
    ("crates/policy/src", "Reader", 64),
    ("crates/policy/src", "Lexer", 44),
];

/// Comments are narrower than code (120 columns), because prose is read line by line.
const MAX_COMMENT_COLUMNS: usize = 100;

/// What the top of the project holds, and nothing else.
const TOP: &[&str] = &[
    ".cargo",
    ".ci",
    ".git",
    ".github",
    ".gitignore",
    ".pre-commit-hooks.yaml",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "benches",
    "bindings",
    "clippy.toml",
    "crates",
    "docs",
    "evidence",
    "examples",
    "profiles",
    "rustfmt.toml",
    "skillpacks",
    "src",
    "target",
    "tests",
    // The project's own settings: the skills in it are for its users.
    "toolfold.toml",
];

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Every text file below a folder of the project, sorted, as paths from its top. Nothing if there
/// is no such folder. The packed vocabularies (`.bin`) are data, compared token by token by their
/// own test; what Python and its tools leave behind is not the project's.
fn files(folder: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root().join(folder)) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.map(Result::unwrap) {
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        let left_behind = [".venv", "__pycache__", ".pytest_cache", ".mypy_cache"];
        if entry.path().is_dir() {
            if left_behind.iter().all(|name| entry.file_name() != *name) {
                found.extend(files(&path));
            }
        } else if ![".bin", ".so", ".pyd"].iter().any(|end| path.ends_with(end)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn rust_files() -> Vec<String> {
    let all = ["src", "tests", "benches", "bindings", "crates", "examples"].into_iter().flat_map(files);
    let rust: Vec<String> = all.filter(|path| path.ends_with(".rs")).collect();
    assert!(rust.len() > 20, "the sources were not found");
    rust
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn every_file_is_short() {
    let python = ["bindings", "examples"].into_iter().flat_map(files).filter(|path| path.ends_with(".py"));
    for path in rust_files().into_iter().chain(python) {
        let lines = text(&path).lines().count();
        assert!(lines <= MAX_LINES, "{path} has {lines} lines, at most {MAX_LINES}: give its second subject a file");
    }
}

#[test]
fn no_file_is_forgotten() {
    let mut known = BTreeSet::new();
    for path in rust_files() {
        let parts: Vec<&str> = path.split('/').collect();
        let is_root = match parts[..] {
            ["src", name] => name == "lib.rs",
            ["crates", _, "src", name] => ["lib.rs", "main.rs"].contains(&name),
            ["crates", _, "tests" | "benches" | "examples", _] => true,
            ["crates", _, "tests" | "benches", _, name] => name == "main.rs",
            ["bindings", _, "src", name] => name == "lib.rs",
            ["examples", "frameworks", "src", name] => ["lib.rs", "main.rs"].contains(&name),
            ["examples", "frameworks", "tests", _] => true,
            ["bindings" | "crates", ..] => false,
            [_, _] => true,
            ["tests" | "benches" | "examples", _, name] => name == "main.rs",
            _ => false,
        };
        if is_root {
            let folder = path.rsplit_once('/').unwrap().0.to_owned();
            declared(&sources()[&path].modules, [&folder, &folder], &mut known);
            known.insert(path);
        }
    }
    for path in rust_files() {
        assert!(known.contains(&path), "{path} is declared nowhere: add `mod …;`, or take it out");
        assert!(!path.ends_with("/mod.rs"), "{path}: write foo.rs beside foo/, not mod.rs");
    }
}

/// Adds the files that modules declare, and those that these declare: by their names below
/// `folder`, by a path below the folder `own` of the file that says it.
fn declared(modules: &[Module], [folder, own]: [&str; 2], known: &mut BTreeSet<String>) {
    for Module { name, path, content } in modules {
        match (content, path) {
            (Some(modules), None) => {
                let inner = format!("{folder}/{name}");
                declared(modules, [&inner, &inner], known);
            }
            // A layer compiled by itself: its files belong to the library, which declares them.
            (Some(_), Some(_)) => {}
            (None, given) => {
                let path =
                    given.as_ref().map_or_else(|| format!("{folder}/{name}.rs"), |given| format!("{own}/{given}"));
                assert!(root().join(&path).is_file(), "{path} is declared but missing");
                let inner = path.strip_suffix(".rs").unwrap().to_owned();
                let own = path.rsplit_once('/').unwrap().0.to_owned();
                let Some(source) = sources().get(&normal(&path)) else { panic!("{path} is not among the sources") };
                declared(&source.modules, [&inner, &own], known);
                known.insert(path);
            }
        }
    }
}

/// The folder of the sources of the crate that a file belongs to: `src`, `crates/gateway/src`.
/// Types of one name in a crate count as one type.
fn crate_of(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        ["src", ..] => Some("src".to_owned()),
        ["crates", name, "src", ..] => Some(format!("crates/{name}/src")),
        _ => None,
    }
}

#[test]
fn every_type_has_one_subject() {
    let mut crates: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for path in rust_files() {
        if let Some(own) = crate_of(&path) {
            let types = crates.entry(own).or_default();
            for (name, methods) in &sources()[&path].methods {
                *types.entry(name.clone()).or_default() += methods;
            }
        }
    }
    for (own, types) in &crates {
        for (name, methods) in types {
            let known = MANY_METHODS.iter().find(|(of, known, _)| of == own && known == name);
            let limit = known.map_or(MAX_METHODS, |(.., ceiling)| *ceiling);
            assert!(*methods <= limit, "{own}: `{name}` has {methods} methods, at most {limit}: split it into parts");
        }
    }
    for (own, name, _) in MANY_METHODS {
        let methods = crates.get(*own).and_then(|types| types.get(*name)).copied().unwrap_or_default();
        assert!(methods > MAX_METHODS, "{own}: `{name}` has {methods} methods: remove it from MANY_METHODS");
    }
}

#[test]
fn nothing_is_left_to_do() {
    let marks = ["TODO", "FIXME", "XXX", "dbg!", "todo!", "unimplemented!"];
    for path in ["src", "bindings", "crates"].into_iter().flat_map(files) {
        for (at, line) in text(&path).lines().enumerate() {
            let mark = marks.iter().find(|mark| line.contains(*mark));
            assert!(mark.is_none(), "{path}:{}: `{}` is left over", at + 1, mark.unwrap());
        }
    }
}

#[test]
fn every_line_ends_clean() {
    let below = ["src", "tests", "benches", "bindings", "crates", "docs", "examples", "profiles", ".ci"]
        .into_iter()
        .flat_map(files);
    let top = TOP.iter().map(|name| (*name).to_owned()).filter(|name| root().join(name).is_file());
    let kept = |path: &String| {
        [".rs", ".toml", ".md", ".lock", ".json", ".py", ".pyi", "/run"].iter().any(|end| path.ends_with(end))
    };
    for path in below.chain(top).filter(kept) {
        let text = text(&path);
        assert!(text.is_empty() || text.ends_with('\n'), "{path} does not end with a newline");
        assert!(!text.ends_with("\n\n"), "{path} ends with an empty line");
        for (at, line) in text.split('\n').enumerate() {
            assert!(line == line.trim_end(), "{path}:{}: white space at the end", at + 1);
            assert!(!line.starts_with('\t') || !path.ends_with(".rs"), "{path}:{}: a tab", at + 1);
        }
    }
}

/// The numbers of the comment lines that are too wide. Code and tables in comments cannot be
/// wrapped.
fn wide_comments(text: &str) -> Vec<usize> {
    let (mut wide, mut is_code) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            is_code = false;
            continue;
        };
        let comment = comment.trim_start_matches(['/', '!', ' ']);
        is_code ^= comment.starts_with("```");
        if !is_code && !comment.starts_with('|') && line.chars().count() > MAX_COMMENT_COLUMNS {
            wide.push(at + 1);
        }
    }
    wide
}

#[test]
fn comments_are_at_most_100_columns_wide() {
    for path in rust_files() {
        let wide = wide_comments(&text(&path));
        assert!(wide.is_empty(), "{path}:{wide:?}: comments beyond column {MAX_COMMENT_COLUMNS}");
    }
}

#[test]
fn every_exception_has_a_reason() {
    for (path, source) in sources() {
        let lines = &source.unexplained;
        assert!(lines.is_empty(), "{path}:{lines:?}: `allow` without `reason = \"…\"`");
    }
}

#[test]
fn the_root_has_only_the_listed_files() {
    for entry in std::fs::read_dir(root()).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(TOP.contains(&name.as_str()), "`{name}` has no place at the top of the project");
    }
    for folder in ["src", "tests", "benches", "profiles"] {
        assert!(Path::new(&root()).join(folder).is_dir(), "`{folder}` is missing");
    }
}

/// README shows the loop that the crate's front page teaches, which is compiled and run.
#[test]
fn the_loop_of_the_readme_is_tested() {
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let shown = page.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    let front = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let lines = front.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).filter(|line| !line.starts_with("# "));
    let front = lines.collect::<Vec<_>>().join("\n");
    assert!(front.contains(&format!("```\n{shown}```")), "README.md:\n{shown}\nsrc/lib.rs:\n{front}");
    assert!(shown.lines().count() <= 15, "a loop of {} lines", shown.lines().count());
}

/// The library is compiled without its unit tests, so that they run where a layer is compiled alone
/// and nowhere else: in `tests/*_alone.rs`, or as a target of `tests` for a layer that is a crate.
/// Those of the command line run where parts of it are compiled alone.
#[test]
fn every_unit_test_of_the_library_and_the_command_line_is_compiled() {
    const PARTS_OF_COMMAND_LINE: &str = "crates/cli/tests/it/parts.rs";
    let mut compiled = Vec::new();
    for Module { path, .. } in &sources()[PARTS_OF_COMMAND_LINE].modules {
        compiled.extend(path.as_ref().map(|path| path.replace("../../", "crates/cli/").replace(".rs", "")));
    }
    for path in files("tests").iter().filter(|path| path.ends_with("_alone.rs")) {
        for Module { path: given, content, .. } in &sources()[path].modules {
            let given = given.as_ref().map(|given| given.replace("../", ""));
            match content {
                Some(layers) => {
                    let folder = given.unwrap_or_default();
                    compiled.extend(layers.iter().map(|layer| format!("{folder}/{}", layer.name)));
                }
                None => compiled.extend(given.map(|given| given.replace(".rs", ""))),
            }
        }
    }
    let targets = text("tests/Cargo.toml");
    let mut sources = files("src");
    sources.extend(files("crates/cli/src"));
    for layer in ["diagnostic", "policy", "skill"].map(|layer| format!("crates/{layer}/src")) {
        sources.extend(files(&layer));
        if targets.contains(&format!("path = \"../{layer}/lib.rs\"")) {
            compiled.push(layer);
        }
    }
    assert!(compiled.len() > 10, "{compiled:?}");
    for path in sources.iter().filter(|path| text(path).contains("#[cfg(test)]")) {
        let found = compiled
            .iter()
            .any(|known| path.starts_with(&format!("{known}.")) || path.starts_with(&format!("{known}/")));
        assert!(found, "{path} has unit tests that are not compiled: move them to tests/it");
    }
}

/// What is published is packed from its own folder, so that each has a copy.
#[test]
fn licences_are_the_same_everywhere() {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let own = text(name);
        for folder in [
            "bindings/python",
            "crates/cli",
            "crates/diagnostic",
            "crates/gateway",
            "crates/measure",
            "crates/policy",
            "crates/skill",
        ] {
            assert!(text(&format!("{folder}/{name}")) == own, "{folder}/{name} is another text than {name}");
        }
    }
}

/// `TOOLFOLD_CASES` reaches every property test.
#[test]
fn every_property_test_uses_the_number_of_cases() {
    for path in rust_files().into_iter().filter(|path| path != "tests/tidy.rs") {
        let text = text(&path);
        let tests = text.matches("proptest! {").count() + text.matches("TestRunner::new(").count();
        let asked = text.matches("toolfold_testing::cases").count();
        assert!(asked >= tests, "{path}: {tests} property tests, {asked} of them ask `toolfold_testing::cases`");
    }
}

/// The tests that `docs/seeds.md` names for its features, in the third column.
#[test]
fn tests_that_a_page_names_exist() {
    let mut all = String::new();
    for file in rust_files() {
        all.push_str(&text(&file));
    }
    let page = text("docs/seeds.md");
    let mut named = 0;
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let tests = line.split('|').nth(3).unwrap_or_default();
        for name in tests.split('`').skip(1).step_by(2) {
            named += 1;
            assert!(all.contains(&format!("fn {name}(")), "docs/seeds.md names `{name}`, which is no test");
        }
    }
    assert!(named > 40, "{named}");
}
