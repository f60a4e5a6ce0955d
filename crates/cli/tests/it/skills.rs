//! `toolfold skills` as its users run it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::skill;

/// A test's own folder, also its home and working directory; removed at the end.
struct World(PathBuf);

impl World {
    fn new(name: &str) -> Self {
        toolfold_testing::timed();
        let path = std::env::temp_dir().join(format!("toolfold-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("work/.git")).unwrap();
        Self(std::fs::canonicalize(path).unwrap())
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Exit code, standard output, standard error, with this world's path removed.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let output = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")))
            .arg("skills")
            .args(args)
            .current_dir(self.0.join("work"))
            .env("HOME", self.0.join("home"))
            .env_remove("XDG_CONFIG_HOME")
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let base = self.0.to_string_lossy().into_owned();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().replace(&base, "~");
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn validate_prints_what_the_reference_prints() {
    let world = World::new("validate");
    world.put("work/good/SKILL.md", skill("good", "x", "")).put("work/bad/SKILL.md", skill("Bad_", "x", ""));
    assert_eq!(world.run(&["validate", "good"]), (0, "Valid skill: good\n".to_owned(), String::new()));
    for same in ["good/", "./good", "good/SKILL.md", "good//."] {
        assert_eq!(world.run(&["validate", same]).1, "Valid skill: good\n", "{same}");
    }
    let (code, out, err) = world.run(&["validate", "bad", "good", "none"]);
    assert_eq!((code, out.as_str()), (1, "Valid skill: good\n"));
    assert_eq!(
        err,
        "Validation failed for bad:\n  - Skill name 'Bad_' must be lowercase\n  - Skill name 'Bad_' contains invalid \
         characters. Only letters, digits, and hyphens are allowed.\n  - Directory name 'bad' must match skill name \
         'Bad_'\nValidation failed for none:\n  - Path does not exist: none\n"
    );
    assert_eq!(world.run(&["validate"]).0, 2);
    let (code, out, _) = world.run(&["validate", "--json", "good", "bad"]);
    let rows: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(code, 1);
    assert_eq!(rows[0]["strict"], serde_json::json!({"valid": true, "errors": []}));
    assert_eq!(rows[1]["load"]["name"], "Bad_");
    assert_eq!(rows[1]["load"]["diagnostics"][0]["code"], "name-form");
    assert_eq!(rows[1]["load"]["diagnostics"][0]["line"], 2);
}

#[test]
fn prompt_prints_what_the_reference_prints() {
    let world = World::new("prompt");
    world.put("work/a/SKILL.md", skill("a", "x & y", "")).put("work/b/SKILL.md", "---\nname: b\n---\n");
    let (code, out, _) = world.run(&["prompt", "a", "a/SKILL.md"]);
    let one = "<skill>\n<name>\na\n</name>\n<description>\nx &amp; y\n</description>\n<location>\n~/work/a/SKILL.md\n</location>\n</skill>\n";
    assert_eq!((code, out), (0, format!("<available_skills>\n{one}{one}</available_skills>\n")));
    let (code, out, err) = world.run(&["prompt", "a", "b"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(err, "Error: Missing required field in frontmatter: description\n");
}

#[test]
fn list_show_activate() {
    let world = World::new("list");
    world
        .put("work/.agents/skills/commit/SKILL.md", skill("commit", "Commits.", "Commit $ARGUMENTS for {{input.who}}."))
        .put("work/.agents/skills/commit/references/a.md", "A\n")
        .put("home/.claude/skills/commit/SKILL.md", skill("commit", "Mine.", "Mine"))
        .put("home/.claude/skills/other/SKILL.md", "nothing");
    let (code, out, _) = world.run(&["list", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&out).unwrap();
    let summary: Vec<(&str, &str, &str, bool)> = rows
        .iter()
        .map(|r| {
            let text = |k: &str| r[k].as_str().unwrap();
            (text("name"), text("scope"), text("verdict"), r["shadowed_by"].is_string())
        })
        .collect();
    assert_eq!(code, 0);
    assert_eq!(
        summary,
        [
            ("commit", "project", "valid", false),
            ("commit", "user", "valid", true),
            ("other", "user", "not loaded", false)
        ]
    );
    let (_, out, _) = world.run(&["show", "commit"]);
    assert_eq!(
        out,
        "commit\nCommits.\n~/work/.agents/skills/commit/SKILL.md\n  references/a.md\n\nCommit $ARGUMENTS for {{input.who}}.\n"
    );
    assert_eq!(world.run(&["show", "commit/references/a.md"]).1, "A\n");
    assert!(world.run(&["show", "commit@user"]).1.ends_with("\n\nMine\n"));
    assert_eq!(rows[1]["pick_as"], "commit@user");
    assert!(world.run(&["list"]).1.contains("\ncommit@user  user"), "a person sees what to write");
    let (code, _, err) = world.run(&["show", "comit"]);
    assert_eq!((code, err.as_str()), (1, "error: unknown skill `comit`: did you mean `commit`?\n"));
    let (code, out, err) = world.run(&["activate", "commit", "--arguments", "-a x", "--input", "{\"who\": \"Ann\"}"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("<skill_content name=\"commit\">\nCommit -a x for Ann.\n</skill_content>\n"), "{out}");
    assert_eq!(world.run(&["activate", "commit", "--input", "{"]).0, 2);
    let (_, out, _) = world.run(&["activate", "commit", "--json", "--root", "../home/.claude/skills"]);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["trusted"], true);
}

#[test]
fn doctor_shows_a_newcomer_what_to_do() {
    let world = World::new("doctor");
    let put = |name: &str, text: &[u8]| {
        world.put(&format!("work/s/{name}/SKILL.md"), text);
    };
    put("nofm", b"# Hi\n\nThis skill formats things nicely. More.");
    put("dup", b"---\nname: dup\ndescription: x\nname: b\n---\n");
    put("nodesc", b"---\nname: nodesc\n---\nHelps with taxes in Germany.");
    put("colon", b"---\nname: colon\ndescription: Use when: always\n---\n");
    put("Case_", b"---\nname: Case_\ndescription: x\n---\n");
    put("bom", b"\xef\xbb\xbf---\nname: bom\ndescription: x\n---\n");
    put("latin", b"---\nname: latin\ndescription: caf\xe9\n---\n");
    put("open", b"---\nname: open\ndescription: x\n\nBody");
    put("typo", b"---\nname: typo\ndescription: x\nalowed-tools: Read\n---\n");
    put("empty", b"");
    let (code, out, _) = world.run(&["doctor", "--root", "s"]);
    assert_eq!(code, 1);
    for line in [
        "put four lines at the top: `---`, `name: nofm`, `description: \"This skill formats things nicely.\"`, `---`",
        "s/dup/SKILL.md:4:1: error[duplicate-key]",
        "help: write `description: \"Helps with taxes in Germany.\"`",
        "help: put the value of `description` in double quotes",
        "rename skill and folder to `case`",
        "save it as UTF-8 without BOM",
        "the byte at offset",
        "put a line `---` after the last key",
        "did you mean `allowed-tools`?",
        "10 found: 6 usable, 0 hidden by another with the same name, 4 not loaded.",
    ] {
        assert!(out.contains(line), "{line} is missing in\n{out}");
    }
}

#[test]
fn new_lint_and_migrate() {
    let world = World::new("new");
    assert_eq!(world.run(&["new", "my-skill"]).0, 0);
    assert_eq!(world.run(&["validate", "my-skill"]).0, 0);
    assert_eq!(world.run(&["new", "my-skill"]).0, 1, "nothing is written over");
    let (code, _, err) = world.run(&["new", "My Skill"]);
    assert!(code == 1 && err.contains("such as `my-skill`"), "{err}");
    assert_eq!(world.run(&["new", "../x"]).0, 1);
    let old = "---\nname: data_old\ndescription: \"a: b\"\nallowed_tools: [read_excel]\n---\nSee [x](references/x.md).";
    let cloud = r#"{"name":"review","description":"Use when reviewing","prompt":"Look.","allowedTools":["Read"]}"#;
    world
        .put("work/old/data_old/SKILL.md", old)
        .put("work/old/data_old/references/x.md", "X")
        .put("work/old/review.json", cloud);
    let (_, out, _) = world.run(&["list", "--json", "--root", "old"]);
    assert!(out.contains("\"scope\":\"builtin\"") && out.contains("data_old"), "{out}");
    world.put("work/plain/package.json", "{\"name\": \"x\"}").put("work/plain/a/SKILL.md", skill("a", "x", ""));
    assert_eq!(world.run(&["doctor", "--root", "plain"]).0, 0, "a package.json is no broken skill");
    let (code, out, err) = world.run(&["migrate", "old"]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(world.run(&["validate", "old/data-old", "old/review"]).0, 0);
    assert!(Path::new(&world.0).join("work/old/data-old/references/x.md").exists());
    let (code, out, _) = world.run(&["migrate", "old"]);
    assert_eq!(code, 1, "a second time nothing is written over: {out}");
    world.put("work/l/a/SKILL.md", skill("a", "Good things", "Use `read_exel`."));
    let tools = crate::root().join("profiles/excel/tools.json");
    let tools = tools.to_str().unwrap();
    let (code, out, _) = world.run(&["lint", "--root", "l", "--tools", tools]);
    assert_eq!(code, 1);
    assert!(out.contains("l/a/SKILL.md:5:6: warning[unknown-tool]: unknown tool `read_exel`"), "{out}");
    assert!(out.contains("says-not-when"), "{out}");
}

#[test]
fn commands_of_other_agents_migrate() {
    let world = World::new("commands");
    world
        .put(
            "work/.claude/commands/commit.md",
            "---\ndescription: Commits\nmodel: opus\n---\nLook: !`git diff`\n$ARGUMENTS\n",
        )
        .put("work/.claude/commands/ui/review.md", "Review the interface of $1 with care.")
        .put("work/.claude/commands/ui-review.md", "The same name as the other one has.")
        .put("work/.claude/commands/README.md", "About these commands")
        .put("work/.claude/commands/empty.md", "");
    let (code, planned, errors) = world.run(&["migrate", ".claude/commands", "--dry-run"]);
    assert_eq!(code, 1, "{planned}{errors}");
    assert!(!world.0.join("work/.claude/skills").exists(), "a dry run writes nothing");
    let (code, out, err) = world.run(&["migrate", ".claude"]);
    assert_eq!((code, &err), (1, &errors), "a dry run says the same");
    assert_eq!(out, planned.replace("would write", "wrote"));
    for line in [
        "wrote .claude/skills/commit/SKILL.md from .claude/commands/commit.md\n",
        "wrote .claude/skills/ui-review/SKILL.md from .claude/commands/ui/review.md\n",
        "disable-model-invocation: \"true\"\n",
    ] {
        assert!(out.contains(line), "{line} is missing in\n{out}");
    }
    for line in [
        ".claude/commands/commit.md:5:7: warning[command-not-run]: !`git diff` is not run",
        "`.claude/skills/ui-review/SKILL.md` is not written: another source of this run has the same name",
        ".claude/commands/empty.md: error[no-body]",
        ".claude/commands/README.md: note[left-out]",
    ] {
        assert!(err.contains(line), "{line} is missing in\n{err}");
    }
    assert_eq!(world.run(&["validate", ".claude/skills/commit", ".claude/skills/ui-review"]).0, 0);
    let (_, out, _) = world.run(&["activate", "commit", "--arguments", "now"]);
    assert!(out.contains("Look: [not run: git diff]\nnow\n"), "{out}");
    // Existing files are not overwritten, and one file goes to the given folder.
    assert_eq!(world.run(&["migrate", ".claude/commands/commit.md"]).0, 1);
    assert_eq!(world.run(&["migrate", ".claude/commands/commit.md", "--to", "own"]).0, 0);
    assert_eq!(world.run(&["validate", "own/commit"]).0, 0);
}

#[test]
fn doctor_reports_problems_first_and_then_how_to_trust() {
    let world = World::new("trust");
    world
        .put("work/.agents/skills/a/SKILL.md", skill("a", "Fine.", ""))
        .put("work/.codex/skills/z/SKILL.md", "no front matter")
        .put("home/.claude/skills/b/SKILL.md", skill("b", "Fine.", ""));
    let (code, out, _) = world.run(&["doctor"]);
    assert_eq!(code, 1);
    let place = |what: &str| out.find(what).unwrap_or_else(|| panic!("{what} is missing in\n{out}"));
    let order = ["Not loaded", "error[no-front-matter]", "Not trusted", "Healthy: a, b\n", "Searched", "3 found"];
    let places: Vec<usize> = order.iter().map(|what| place(what)).collect();
    assert!(places.is_sorted(), "{places:?}\n{out}");
    // The suggested text makes the project trusted.
    let (from, to) = (place("    [trust]"), place("\nHealthy"));
    let setting = out[from..to].replace("~/work", &world.0.join("work").to_string_lossy());
    world.put("home/.config/toolfold/toolfold.toml", setting);
    let (_, out, _) = world.run(&["doctor"]);
    assert!(!out.contains("ot trusted"), "{out}");
    let (_, out, _) = world.run(&["activate", "a", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["trusted"], true);
    world.put("home/.config/toolfold/toolfold.toml", "[trust]\nworkspaces = [\"/elsewhere\"]\n");
    let (_, out, _) = world.run(&["activate", "a", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["trusted"], false);
}

/// Every command reports what a limit left unread, not only `doctor`.
#[test]
fn every_command_reports_unread_files() {
    let world = World::new("unread");
    world
        .put("work/.agents/skills/a/SKILL.md", skill("a", "Fine.", "Body."))
        .put("work/.agents/skills/x/1/2/deep/SKILL.md", skill("deep", "Fine.", ""));
    let commands: [&[&str]; 5] = [&["list"], &["list", "--json"], &["show", "a"], &["activate", "a"], &["lint"]];
    for command in commands {
        let (_, out, err) = world.run(command);
        assert!(!format!("{out}{err}").contains("too-"), "{command:?}: {out}{err}");
    }
    let all = "[skills]\ndepth = 2\nfolders = 3\nentries = 100\nbytes = \"64MiB\"\n";
    let limits = [
        (all, "warning[too-deep]"),
        ("[skills]\nfolders = 1\n", "error[too-many]"),
        ("[skills]\nentries = 1\n", "error[too-many]"),
        ("[skills]\nbytes = \"10B\"\n", "error[too-much]"),
    ];
    for (setting, code) in toolfold_testing::sample(limits, 2) {
        world.put("home/.config/toolfold/toolfold.toml", setting);
        for command in commands.iter().chain(&[&["doctor"][..]]) {
            let (_, out, err) = world.run(command);
            assert!(format!("{out}{err}").contains(code), "{setting}{command:?}: {out}{err}");
        }
        // A session reports it too, and so does a report, which takes long: once.
        let folder = world.0.join("work/.agents/skills");
        let started = if setting == all { &["report", "session"][..] } else { &["session"] };
        for command in started {
            let output = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")))
                .args([command, "--skills", folder.to_str().unwrap()])
                .current_dir(world.0.join("work"))
                .env("HOME", world.0.join("home"))
                .env_remove("XDG_CONFIG_HOME")
                .env("NO_COLOR", "1")
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert!(err.contains(code), "{setting}{command}: {err}");
        }
        // The files of a project cannot change the limits.
        world.put("work/toolfold.toml", "[skills]\ndepth = 64\nfolders = 9999\nentries = 9999\nbytes = \"1GiB\"\n");
        let (_, _, err) = world.run(&["list"]);
        assert!(err.contains(code) && err.contains("`skills.depth` is ignored"), "{err}");
        std::fs::remove_file(world.0.join("work/toolfold.toml")).unwrap();
    }
}

#[test]
fn doctor_counts_the_whole_tool_and_explains_how_to_pick_a_copy() {
    let world = World::new("declared");
    for n in 0..300 {
        world.put(&format!("work/.agents/skills/s{n:03}/SKILL.md"), skill(&format!("s{n:03}"), "Does a thing.", ""));
    }
    world.put("work/.claude/skills/s000/SKILL.md", skill("s000", "Other.", ""));
    world.put("home/.config/toolfold/toolfold.toml", "[skills]\nbudget = 1000\n");
    let (code, out, _) = world.run(&["doctor"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("Healthy: s000, s001"), "one line: {out}");
    assert!(out.contains("and 290 more: toolfold skills list"), "{out}");
    assert!(out.contains("s000 hidden") && out.contains("name it `s000@project:2`"), "{out}");
    assert!(out.contains("with their description") && out.contains("found with `search`"), "{out}");
    assert!(out.ends_with("in toolfold.toml: [skills] budget = 2000\n"), "{out}");
    assert!(out.lines().count() < 40, "{out}");
    let (_, json, _) = world.run(&["doctor", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let declared = &json["activate_skill"];
    let number = |key: &str| declared[key].as_u64().unwrap();
    assert!((900..=1_000).contains(&number("tokens")), "the budget is used and kept: {declared}");
    assert_eq!(json["catalog_tokens"], declared["tokens"]);
    assert_eq!(number("full") + number("trimmed") + number("names_only") + number("omitted"), 300);
    let unknown = skill("s000", "Other.", "");
    for n in 0..60 {
        world.put(&format!("work/.agents/skills/t{n:03}/SKILL.md"), unknown.replace("s000", "bad name"));
    }
    let (_, out, _) = world.run(&["doctor"]);
    assert!(out.contains("more: --all and --json list them"), "{out}");
    assert!(!world.run(&["doctor", "--all"]).1.contains("--all says them"));
}

#[test]
fn instructions_from_the_general_to_the_specific() {
    let world = World::new("agents");
    world.put("work/AGENTS.md", "a").put("home/.claude/CLAUDE.md", "b").put("AGENTS.md", "outside");
    let (code, out, _) = world.run(&["instructions"]);
    assert_eq!(code, 0);
    let files: Vec<&str> = out.lines().map(|l| l.split(' ').next().unwrap()).collect();
    assert_eq!(files, ["~/home/.claude/CLAUDE.md", "~/work/AGENTS.md"]);
}
