//! The table of programs: it is what the library holds, it contradicts itself nowhere, and it
//! closes what it was made for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

const LISTS: [&str; 19] = [
    "flags", "values", "optional", "named", "below", "read", "write", "makes", "here", "run", "line", "own_line",
    "load", "code", "starts", "folder", "into", "host", "acts",
];

fn folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("crates/policy/src")
}

/// The rows of all files, each with its manual and date.
fn rows() -> Vec<Table> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder().join("programs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut rows = Vec::new();
    for path in files {
        let file: Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let unknown: Vec<&String> =
            file.keys().filter(|key| !["date", "manual", "program"].contains(&key.as_str())).collect();
        assert!(unknown.is_empty(), "{}: unknown keys {unknown:?}", path.display());
        let mut titles = BTreeSet::new();
        let tables = |table: &Table, key: &str| -> Vec<Table> {
            let list = table.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            list.into_iter().map(|own| own.try_into().unwrap()).collect()
        };
        let mut name_once = |title: &Value| assert!(titles.insert(format!("{title:?}")), "{title:?} is named twice");
        for manual in tables(&file, "manual") {
            assert!(manual.keys().all(|key| ["title", "program"].contains(&key.as_str())), "{}", path.display());
            name_once(&manual["title"]);
            for mut row in tables(&manual, "program") {
                let other = row.insert("manual".to_owned(), manual["title"].clone());
                assert!(other.is_none(), "{row:?}: two manuals");
                rows.push(row);
            }
        }
        for row in tables(&file, "program") {
            name_once(&row["manual"]);
            rows.push(row);
        }
        for row in rows.iter_mut().filter(|row| !row.contains_key("date")) {
            row.insert("date".to_owned(), file["date"].clone());
        }
    }
    rows
}

/// What the library contains of the rows: a line for each, with its names and then its other keys
/// as JSON.
fn packed() -> String {
    let mut text = String::new();
    for row in rows() {
        let mut options = serde_json::Map::new();
        let mut others = serde_json::Map::new();
        for (key, value) in &row {
            let value = match value {
                Value::String(words) => words.split_whitespace().collect::<Vec<_>>().join(" ").into(),
                other => serde_json::to_value(other).unwrap(),
            };
            match key.as_str() {
                "names" | "manual" | "date" | "why" => {}
                key if LISTS.contains(&key) => drop(options.insert(key.to_owned(), value)),
                key => drop(others.insert(key.to_owned(), value)),
            }
        }
        others.insert("options".to_owned(), options.into());
        for name in row["names"].as_array().unwrap() {
            text += &format!("{}\t", name.as_str().unwrap());
        }
        text += &format!("{}\n", serde_json::Value::Object(others));
    }
    text
}

/// `TOOLFOLD_PACK=1 cargo test --test it packed` writes what the library holds.
#[test]
fn packed_rows_match_their_sources() {
    let path = folder().join("programs.bin");
    toolfold_testing::check_packed(path, packed().as_bytes(), "cargo test --test it packed");
}

#[test]
fn no_row_contradicts_itself_or_another() {
    let rows = rows();
    let mut names = BTreeSet::new();
    let mut wrong = Vec::new();
    for row in &rows {
        let own: Vec<&str> = row["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let mut say = |what: String| wrong.push(format!("{own:?}: {what}"));
        for name in &own {
            if !names.insert((*name).to_owned()) {
                say(format!("`{name}` has two rows"));
            }
        }
        let said = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
        for key in ["manual", "date", "operands"] {
            if said(key).is_empty() {
                say(format!("no {key}"));
            }
        }
        let is = |kind: &str| said("is").split_whitespace().any(|own| own == kind);
        if is("only-reads") && (is("launcher") || is("interpreter") || is("shell") || said("operands") == "code") {
            say("it only reads, and runs other programs".to_owned());
        }
        let mut options: BTreeMap<&str, &str> = BTreeMap::new();
        for key in LISTS {
            for option in said(key).split_whitespace() {
                if let Some(before) = options.insert(option, key) {
                    say(format!("`{option}` is in `{before}` and in `{key}`"));
                }
                if !option.starts_with(['-', '+']) {
                    say(format!("`{option}` is no option"));
                }
            }
        }
        for stop in said("stop").split_whitespace().filter(|stop| !options.contains_key(stop)) {
            say(format!("`stop` names `{stop}`, which is in no list"));
        }
    }
    println!("{} names in {} rows", names.len(), rows.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(names.len() >= 1_500, "the table lost rows: {}", names.len());
}

#[test]
fn unlisted_options_require_approval_unless_a_rule_lists_them() {
    let check = |rules: &[&str], cases: &[(&str, &str)]| super::check(rules, ("Bash", "command"), cases);
    check(
        &[
            "allow Bash(kubectl get:*)",
            "allow Bash(pytest:*)",
            "allow Bash(git:*)",
            "allow Bash(gh:*)",
            "allow Bash(ls:*)",
        ],
        &[
            ("kubectl get pods -n kube-system -o wide", "allow"),
            ("kubectl get pods --kubeconfig /tmp/evil", "ask"),
            ("kubectl get pods --kubeconfig=/tmp/evil", "ask"),
            ("kubectl get pods --an-option-of-next-year", "ask"),
            ("pytest -x -q tests/a.py::test_b", "allow"),
            ("pytest -xq tests", "allow"),
            ("pytest -pevil", "ask"),
            ("pytest -xpevil", "ask"),
            ("git log --oneline -5", "allow"),
            ("git log --output=PWNED", "ask"),
            ("git frobnicate", "ask"),
            ("gh pr view 12", "allow"),
            ("gh alias set x '!touch PWNED'", "ask"),
            ("ls -la src", "allow"),
            ("ls --weird", "ask"),
        ],
    );
    check(
        &["allow Bash(kubectl get pods --kubeconfig=dev.yaml:*)", "allow Bash(pytest -p no:cacheprovider:*)"],
        &[
            ("kubectl get pods --kubeconfig=dev.yaml -o json", "allow"),
            ("kubectl get pods --kubeconfig=dev.yaml --server=https://evil", "ask"),
            ("pytest -p no:cacheprovider tests", "allow"),
            ("pytest -p evil tests", "ask"),
        ],
    );
    // A program without a row: the rule means what it says.
    check(&["allow Bash(own-tool:*)"], &[("own-tool --any-option x", "allow")]);
}

#[test]
fn a_value_that_looks_like_an_option_is_read_as_one_too() {
    let check = |rules: &[&str], cases: &[(&str, &str)]| super::check(rules, ("Bash", "command"), cases);
    check(
        &["allow Bash(git log:*)", "allow Bash(sort:*)", "allow Bash(cargo tree:*)"],
        &[
            ("git log --grep -q --max-count --output=F", "ask"),
            ("git log --author x", "allow"),
            ("sort -k -o out in", "ask"),
            ("sort -k 2 in", "allow"),
            ("sort --outp=x in", "ask"),
            ("cargo tree -p x -p --config=evil", "ask"),
        ],
    );
}

#[test]
fn a_started_command_is_judged_by_its_own_row() {
    let check = |rules: &[&str], cases: &[(&str, &str)]| super::check(rules, ("Bash", "command"), cases);
    check(
        &["allow Bash(uv run pytest:*)", "allow Bash(poetry:*)", "allow Bash(python3:*)", "allow Bash(perl -c:*)"],
        &[
            ("uv run pytest -q", "allow"),
            ("uv run pytest -p evil", "ask"),
            ("poetry show", "allow"),
            ("poetry run touch PWNED", "ask"),
            ("python3 -c 'print(1)'", "allow"),
            ("python3 -m http.server", "allow"),
            ("perl -c x.pl", "allow"),
            ("perl -c -e 'BEGIN{system 1}'", "ask"),
        ],
    );
}

#[test]
fn files_of_a_search_are_known_by_name() {
    let rules =
        ["allow Bash(grep:*)", "allow Bash(find:*)", "allow Bash(xargs:*)", "allow Bash(head:*)", "deny Read(**/.env)"];
    super::check(
        &rules,
        ("Bash", "command"),
        &[
            ("grep -r x src --include='*.py'", "allow"),
            ("grep -r x src", "ask"),
            ("grep -r x", "ask"),
            ("grep -r x src --include='*'", "ask"),
            ("grep -r x src --include='*.py' --include='.e*'", "ask"),
            // grep passes over it, and other programs of that name may not.
            ("grep -rn x .env --include='*.py'", "ask"),
            ("find src -name '*.py' | xargs grep -l x", "allow"),
            ("find src -name '*.py' | head -5 | xargs grep -l x", "allow"),
            ("find src -type f | xargs grep -l x", "ask"),
            ("find src -name '*.py' -o -type f | xargs grep x", "ask"),
            ("find src \\( -name '*.py' -o -name '*.rs' \\) | xargs grep x", "allow"),
            ("find src ! -name '*.py' | xargs grep x", "ask"),
            ("find . -name '.e*' | xargs grep x", "ask"),
            ("find src -name '*.py' -printf '.env' | xargs grep x", "ask"),
            ("find src -name '*.py' -exec grep -l x {} \\;", "allow"),
            ("find src -type f -exec grep -l x {} +", "ask"),
            ("find .env -name '*.py' | xargs grep x", "deny"),
        ],
    );
}

#[test]
fn an_unlisted_option_is_treated_as_the_worst_case() {
    let check = |rules: &[&str], cases: &[(&str, &str)]| super::check(rules, ("Bash", "command"), cases);
    check(
        &["allow Bash(*)", "deny Bash(rm:*)", "deny Edit(src/**)"],
        &[
            ("apt --config-fi out", "ask"),
            ("tar --to-com='rm x' -xf a.tar", "deny"),
            ("cc a.c -osrc/b", "deny"),
            ("tsc --outDir src/b", "deny"),
            ("tsc --outDir build", "allow"),
            ("curl -o src/b https://example.com", "deny"),
            ("zip x.zip a -T -TT 'rm VICTIM #'", "deny"),
        ],
    );
    check(
        &["allow Bash(git:*)"],
        &[("git bisect start", "allow"), ("git bisect --output=out", "ask"), ("git bisect run id", "ask")],
    );
}

#[test]
fn a_row_without_a_list_states_only_the_kind_of_program() {
    let check = |rules: &[&str], cases: &[(&str, &str)]| super::check(rules, ("Bash", "command"), cases);
    check(
        &["allow Bash(openvpn:*)", "allow Bash(unlink:*)", "deny Bash(rm:*)", "deny Edit(src/**)"],
        &[
            ("openvpn --verb 3", "allow"),
            ("openvpn --up 'touch x'", "ask"),
            ("openvpn --up 'rm x'", "deny"),
            ("unlink a", "allow"),
            ("unlink src/a", "deny"),
        ],
    );
}

#[test]
fn an_option_with_the_pattern_makes_every_operand_a_file() {
    let check = |rules: &[&str], cases: &[(&str, &str)]| super::check(rules, ("Bash", "command"), cases);
    check(
        &["allow Bash(*)", "deny Read(.env)"],
        &[
            ("grep x .env", "deny"),
            ("grep -e x .env", "deny"),
            ("grep -ne x .env", "deny"),
            ("grep --regexp=x .env", "deny"),
            ("grep -m 2 .env a", "allow"),
            ("head -n 2 .env", "deny"),
            ("head -n .env a", "allow"),
            ("dc -f .env", "deny"),
        ],
    );
}

#[test]
fn only_its_own_row_makes_a_program_read_only() {
    let check = |rules: &[&str], cases: &[(&str, &str)]| super::check(rules, ("Bash", "command"), cases);
    check(
        &["builtin READ_ONLY_SAFE_SHELL"],
        &[
            ("cat a", "allow"),
            ("diff a b", "allow"),
            ("colordiff a b", "ask"),
            ("hostname", "allow"),
            ("hostname x", "ask"),
            ("date -u +%F", "allow"),
            ("date -s x", "ask"),
            ("uniq a", "allow"),
            ("uniq a b", "ask"),
            ("command -v ls", "allow"),
            ("command ls", "allow"),
            ("command touch x", "ask"),
            ("sort a", "allow"),
            ("sort -uo b a", "ask"),
            ("sort --outp=b a", "ask"),
            ("find . -name x", "allow"),
            ("find . -delete", "ask"),
            ("cat2 a", "ask"),
            ("arch ls", "ask"),
        ],
    );
}
