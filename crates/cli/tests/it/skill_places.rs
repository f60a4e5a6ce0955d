//! What `skills list` prints is what every entry point offers the model.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::gateway::serving::lines::Lines;
use crate::gateway::serving::place::{Place, TOOLFOLD, server};
use crate::skill;

/// A tree of skills, and the folder in which the commands run.
struct Tree {
    name: &'static str,
    cwd: &'static str,
    files: Vec<(String, String)>,
}

fn one(path: &str, about: &str) -> (String, String) {
    let name = path.rsplit('/').next().unwrap();
    (format!("{path}/SKILL.md"), skill(name, &format!("From {about}. Use to test."), "Body."))
}

fn with(path: &str, keys: &str) -> (String, String) {
    let name = path.rsplit('/').next().unwrap();
    (format!("{path}/SKILL.md"), format!("---\nname: {name}\ndescription: d. Use.\n{keys}\n---\nBody."))
}

fn trees() -> Vec<Tree> {
    let text = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let git = || text("p/.git/HEAD", "");
    let both = || {
        vec![
            git(),
            one("p/.claude/skills/x", "the project"),
            one(".claude/skills/x", "the user"),
            one(".agents/skills/own", "the user"),
            one("pack/x", "the pack"),
            one("pack/y", "the pack"),
        ]
    };
    let mut configured = both();
    configured.push(text("config/toolfold/toolfold.toml", "[skills]\nroots = [\"../../pack\"]\n"));
    let mut only = both();
    only.push(text("config/toolfold/toolfold.toml", "[skills]\nusual = false\nroots = [\"../../pack\"]\n"));
    let mut many = vec![git()];
    for n in 0..200 {
        let about = format!("department {n} and its partners, who ask about topic {n} whenever they meet");
        many.push(one(&format!("p/.claude/skills/s{n}"), &about));
    }
    vec![
        Tree { name: "project and user", cwd: "p", files: both() },
        Tree {
            name: "levels",
            cwd: "p/packages/web",
            files: vec![
                git(),
                one("p/.claude/skills/top", "the top"),
                one("p/packages/web/.github/skills/web", "the package"),
                one("p/packages/web/.codex/skills/top", "the package"),
                one(".config/opencode/skills/no", "a folder that XDG_CONFIG_HOME replaces"),
                one("config/opencode/skills/yes", "the configuration"),
            ],
        },
        Tree { name: "added roots", cwd: "p", files: configured },
        Tree { name: "only roots", cwd: "p", files: only },
        Tree {
            name: "callers and broken files",
            cwd: "p",
            files: vec![
                git(),
                with("p/.claude/skills/hidden", "disable-model-invocation: true"),
                with("p/.claude/skills/model-only", "user-invocable: false"),
                with("p/.claude/skills/rescued", "note: a: b"),
                text("p/.claude/skills/broken/SKILL.md", "---\nname: broken\n"),
                text("p/.claude/skills/cr/SKILL.md", "\u{feff}---\r\nname: cr\r\ndescription: c.\r\n---\r\nBody"),
            ],
        },
        Tree { name: "more than fit", cwd: "p", files: many },
        Tree {
            name: "plugins",
            cwd: "p",
            files: vec![
                git(),
                text(
                    "p/.claude-plugin/marketplace.json",
                    r#"{"plugins": [{"name": "acme", "source": "./plugins/a"}, {"name": "bad", "source": "../.."}]}"#,
                ),
                one("p/plugins/a/skills/deploy", "a plugin"),
                text("p/plugins/b/.cursor-plugin/plugin.json", "{\"name\": "),
                one("p/plugins/b/skills/deploy", "a plugin whose manifest is damaged"),
                one("p/.claude/skills/deploy", "the project"),
                one(".claude/skills/mine", "the user"),
            ],
        },
        Tree {
            name: "anywhere in a project",
            cwd: "p/packages/web",
            files: vec![
                git(),
                one("p/skills/top", "the top"),
                one("p/skills/.curated/hidden-folder", "the top"),
                one("p/packages/web/skills/web", "the package"),
                one("p/packages/api/.agents/skills/api", "another package"),
                one("p/tests/skills/no", "a test"),
            ],
        },
        Tree {
            name: "a project without git",
            cwd: "p",
            files: vec![one("p/skills/a", "the folder"), text("p/.gemini", "../.agents"), one("p/b", "the folder")],
        },
    ]
}

/// Standard output of a command in the tree.
fn run(place: &Place, tree: &Tree, args: &[&str], input: &str) -> String {
    let mut command = place.command(TOOLFOLD);
    command.args(args).current_dir(place.file(tree.cwd)).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

/// The description of `activate_skill` in a list of tools.
fn declared(tools: &Value) -> String {
    let all = tools.as_array().unwrap().iter().map(|tool| tool.get("function").unwrap_or(tool));
    let own = all.filter(|tool| tool["name"] == "activate_skill").map(|tool| tool["description"].as_str().unwrap());
    own.collect()
}

#[test]
fn every_entry_point_offers_what_the_list_prints() {
    for tree in toolfold_testing::sample(trees(), 2) {
        let place = Place::new();
        std::fs::create_dir_all(place.file(tree.cwd)).unwrap();
        for (path, text) in &tree.files {
            place.put(path, text);
        }
        let listed = parsed(&run(&place, &tree, &["skills", "list", "--json"], ""));
        let mut rows: Vec<(&str, &str)> = Vec::new();
        for row in listed.as_array().unwrap() {
            if row["shadowed_by"].is_null() && row["model"] == true {
                rows.push((row["name"].as_str().unwrap(), row["description"].as_str().unwrap()));
            }
        }
        rows.sort_unstable();
        assert!(!rows.is_empty(), "{}", tree.name);
        let asked = "{\"tools\":true}\n";
        let session = parsed(&run(&place, &tree, &["session", "--arm", "full"], asked));
        let session = declared(&session["tools"]);
        let (_, list) = session.split_once("Skills:\n").unwrap();
        let doctor = parsed(&run(&place, &tree, &["skills", "doctor", "--json"], ""));
        if rows.len() < 100 {
            let mut expected = String::new();
            for (name, description) in &rows {
                writeln!(expected, "- {name}: {description}").unwrap();
            }
            assert_eq!(list, expected.trim_end(), "{}", tree.name);
            assert_eq!(doctor["activate_skill"]["full"], rows.len(), "{}", tree.name);
        } else {
            assert!(rows.iter().any(|(name, _)| list.contains(&format!("- {name}"))), "{list}");
        }
        let report = parsed(&run(&place, &tree, &["report", "--json"], ""));
        assert_eq!(report["skills"]["skills"], rows.len(), "{}: {report}", tree.name);
        for count in ["full", "trimmed", "names_only", "omitted"] {
            assert_eq!(report["skills"][count], doctor["activate_skill"][count], "{} {count}", tree.name);
        }
        let served = parsed(&run(&place, &tree, &["tools", "--arm", "full"], ""));
        assert_eq!(declared(&served), session, "{}: tools", tree.name);
        gateway(&place, &tree, &session);
    }
}

fn gateway(place: &Place, tree: &Tree, session: &str) {
    // The gateway starts in the tree's folder through a shell, as its host would.
    let command = place.gateway("--arm full --profile off", &server("--raw"));
    let inner = format!("cd '{}' && exec \"$@\"", place.file(tree.cwd));
    let mut shell = vec!["sh".to_owned(), "-c".to_owned(), inner, "sh".to_owned()];
    shell.extend(command);
    let mut lines = Lines::session(place, &shell, &json!({}));
    let tools = lines.asked("1", "tools/list", &json!({}));
    assert_eq!(declared(&tools["result"]["tools"]), session, "{}: gateway", tree.name);
    assert_eq!(lines.end(), Some(0));
}
