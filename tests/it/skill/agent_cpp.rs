//! The behavior of agent-cpp's skills: parsing, discovery, instruction files; without its bugs.

use std::path::PathBuf;

use toolfold::skill::{MemoryFs, Precedence, Scope, Surroundings, instructions};
use toolfold_testing::with;

use super::{codes, discover, discover_from, read, root, skill};

/// Parses front matter lines in a folder `my-skill`.
fn parse(front: &str) -> toolfold::skill::Document {
    read(&format!("---\n{front}\n---\nBody text"), "my-skill")
}

#[test]
fn names() {
    // (name, folder, valid strictly)
    for (name, folder, valid) in [
        ("git-release", "git-release", true),
        ("a", "a", true),
        ("a1-b2-c3", "a1-b2-c3", true),
        ("2fa", "2fa", true),
        ("Git", "Git", false),
        ("git_release", "git_release", false),
        ("-git", "-git", false),
        ("git-", "git-", false),
        ("git--release", "git--release", false),
        ("git release", "git release", false),
        ("git-release", "other", false),
        (&"x".repeat(64), &"x".repeat(64), true),
        (&"x".repeat(65), &"x".repeat(65), false),
        ("技能", "技能", true),
        ("cafe\u{301}", "café", true),
        ("นี้", "นี้", false),
    ] {
        let document = read(&skill(name, "x", ""), folder);
        assert_eq!(document.strict.is_empty(), valid, "{name}: {:?}", document.strict);
        assert_eq!(document.content.expect("loads").name, name, "a bad name warns and loads");
    }
}

#[test]
fn fields_are_read() {
    let document = parse(
        "name: my-skill\ndescription: Does it\nlicense: MIT\ncompatibility: opencode\nmetadata:\n  audience: \
         developers\n  workflow: github",
    );
    assert!(document.strict.is_empty());
    let content = document.content.unwrap();
    assert_eq!(content.body, "Body text");
    assert_eq!(content.fields.license.as_deref(), Some("MIT"));
    assert_eq!(content.fields.compatibility.as_deref(), Some("opencode"));
    assert_eq!(content.fields.metadata.get("workflow").map(String::as_str), Some("github"));
}

#[test]
fn bug_metadata_name_overwrote_name() {
    let document = parse("name: my-skill\ndescription: outer\nmetadata:\n  name: inner\n  description: inner");
    let content = document.content.unwrap();
    assert_eq!((content.name.as_str(), content.description.as_str()), ("my-skill", "outer"));
    // Even when the YAML is broken and read line by line.
    let broken = parse("name: my-skill\ndescription: \"a\" b: c\nmetadata:\n  name: inner\n  - x");
    assert_eq!(broken.content.unwrap().name, "my-skill");
}

#[test]
fn bug_description_limit_counted_bytes() {
    let cjk = "技".repeat(1024);
    assert!(parse(&format!("name: my-skill\ndescription: {cjk}")).strict.is_empty());
    let over = parse(&format!("name: my-skill\ndescription: {cjk}技"));
    assert_eq!(over.strict, ["Description exceeds 1024 character limit (1025 chars)"]);
    assert_eq!(codes(&over), ["description-length"]);
    assert!(over.content.is_some());
}

#[test]
fn bug_no_block_scalars() {
    for (value, expected) in [
        (">-\n  line one\n  line two", "line one line two"),
        ("|\n  line one\n  line two", "line one\nline two"),
        (">\n  a\n\n  b", "a\nb"),
        ("|-\n  x", "x"),
        ("\"a\n  b\"", "a b"),
        ("plain\n  goes on", "plain goes on"),
    ] {
        let document = parse(&format!("name: my-skill\ndescription: {value}"));
        assert_eq!(document.content.unwrap().description, expected, "{value}");
    }
}

#[test]
fn lenient_forms() {
    // (front matter, description, code of the oddity)
    for (front, description, code) in [
        ("name: my-skill\ndescription: Use when: always", "Use when: always", Some("broken-yaml")),
        ("name: my-skill\ndescription: *bold* text", "*bold* text", Some("broken-yaml")),
        ("name: my-skill\ndescription: @scope/pkg helps", "@scope/pkg helps", Some("broken-yaml")),
        ("name: my-skill\ndescription: `x` helps", "`x` helps", Some("broken-yaml")),
        ("name: my-skill\ndescription: | Use it", "Use it", Some("broken-yaml")),
        ("name: my-skill\ndescription: one\ntwo three\nversion: 1", "one two three", Some("broken-yaml")),
        ("name: my-skill\ndescription: \"a\" and \"b\"", "a\" and \"b", Some("broken-yaml")),
        ("name: my-skill\nDescription: x", "x", Some("key-spelling")),
        ("name: my-skill\nsummary: x", "x", Some("no-description")),
        ("description: x", "x", Some("no-name")),
        ("name: my-skill\ndescription: {a} b", "{a} b", Some("broken-yaml")),
        ("name: my-skill\ndescription: a --- b", "a --- b", Some("dashes")),
        ("name: my-skill\ndescription: Use C # language", "Use C", Some("comment-cut")),
        ("name: my-skill\ndescription: \"Use C # language\"", "Use C # language", None),
        ("name: my-skill\ndescription: x\ntags: [a, b]", "x", None),
    ] {
        let document = parse(front);
        let found = codes(&document);
        assert_eq!(document.content.as_ref().expect(front).description, description, "{front}");
        assert_eq!(found.first().copied(), code, "{front}: {found:?}");
    }
}

#[test]
fn fences() {
    for (text, rescued, code) in [
        ("\u{feff}---\nname: my-skill\ndescription: x\n---\nB", true, Some("bom")),
        ("---\r\nname: my-skill\r\ndescription: x\r\n---\r\nB", false, None),
        ("\n\n---\nname: my-skill\ndescription: x\n---\nB", true, Some("fence")),
        ("----\nname: my-skill\ndescription: x\n----\nB", true, Some("fence")),
        ("---\nname: my-skill\ndescription: x\n\nB", true, Some("unclosed")),
        ("---  \nname: my-skill\ndescription: x\n---  \nB", false, None),
    ] {
        let document = read(text, "my-skill");
        assert_eq!(document.rescued, rescued, "{text:?}");
        assert_eq!(codes(&document).first().copied(), code, "{text:?}");
        let content = document.content.unwrap();
        assert_eq!((content.description.as_str(), content.body.as_str()), ("x", "B"), "{text:?}");
    }
}

#[test]
fn unloadable_files_are_explained() {
    for (text, code, help) in [
        ("# Title\n\nDoes things well.", "no-front-matter", "put four lines at the top: `---`, `name: my-skill`"),
        ("---\nname: my-skill\n---\nDoes things well.", "no-description", "write `description: \"Does things well.\"`"),
        ("---\nname: my-skill\ndescription: \"\"\n---\n", "no-description", "write `description:`"),
        ("---\nname: a\ndescription: x\nname: b\n---\n", "duplicate-key", "delete one of the two"),
        ("---\nhello\n---\n", "not-a-map", "write `name: …`"),
        ("", "no-front-matter", "put four lines"),
    ] {
        let document = read(text, "my-skill");
        assert!(document.content.is_none(), "{text:?}");
        let why = document.diagnostics.iter().find(|d| d.is_error()).unwrap();
        assert_eq!(why.code, code, "{text:?}");
        assert!(why.help.as_deref().unwrap().starts_with(help), "{why}");
    }
}

#[test]
fn places_are_lines_and_columns_of_the_file() {
    let document = read("---\nname: my-skill\ndescription: x\nuser-invocabel: true\n---\n", "my-skill");
    let note = &document.diagnostics[0];
    assert_eq!(
        note.to_string(),
        "warning[unknown-key] SKILL.md:4:1: `user-invocabel` is not a key of a skill (did you mean `user-invocable`? This key has no effect)"
    );
}

#[test]
fn project_levels_up_to_the_git_root() {
    let mut fs = MemoryFs::default();
    fs.put("/work/.git/HEAD", "")
        .put("/work/a/b/x.txt", "")
        .put("/.agents/skills/outside/SKILL.md", skill("outside", "x", ""))
        .put("/work/.agents/skills/top/SKILL.md", skill("top", "x", ""))
        .put("/work/a/.claude/skills/middle/SKILL.md", skill("middle", "x", ""))
        .put("/work/a/b/.toolfold/skills/inner/SKILL.md", skill("inner", "x", ""))
        .put("/work/a/b/.opencode/skill/single/SKILL.md", skill("single", "x", ""))
        .put("/work/a/.codex/skills/codex/SKILL.md", skill("codex", "x", ""))
        .put("/work/a/.codex/skills/middle/SKILL.md", skill("middle", "codex", ""))
        .put("/work/.github/skills/github/SKILL.md", skill("github", "x", ""))
        .put("/home/u/.codex/skills/own/SKILL.md", skill("own", "x", ""))
        .put("/home/u/.claude/skills/mine/SKILL.md", skill("mine", "x", ""))
        .put("/home/u/.config/opencode/skills/xdg/SKILL.md", skill("xdg", "x", ""));
    let (library, notes) = discover_from(&fs, "/work/a/b");
    let names: Vec<&str> = library.skills().map(|s| s.name()).collect();
    let all = ["codex", "github", "inner", "middle", "mine", "own", "single", "top", "xdg"];
    assert_eq!(names, all, "{notes:?}");
    let scope = |n: &str| library.get(n).unwrap().origin.scope;
    assert_eq!((scope("codex"), scope("github"), scope("own")), (Scope::Project, Scope::Project, Scope::User));
    let trusted = |n: &str| library.get(n).unwrap().origin.trusted;
    assert!(!trusted("codex") && !trusted("github") && trusted("own"));
    assert_eq!(library.get("middle").unwrap().description(), "x", "`.claude` comes before `.codex`");
    assert_eq!(
        (scope("inner"), scope("top"), scope("mine"), scope("xdg")),
        (Scope::Project, Scope::Project, Scope::User, Scope::User)
    );
}

/// The folders of other agents, in a project and at home.
#[test]
fn folders_of_other_agents_are_searched() {
    let mut fs = MemoryFs::default();
    fs.put("/work/.git/HEAD", "");
    let folders = [".cursor", ".gemini", ".qwen", ".windsurf", ".kiro", ".roo", ".factory", ".goose", ".junie"];
    for folder in folders {
        let name = folder.trim_start_matches('.');
        fs.put(format!("/work/{folder}/skills/{name}/SKILL.md"), skill(name, "x", ""));
        fs.put(format!("/home/u/{folder}/skills/{name}-own/SKILL.md"), skill(&format!("{name}-own"), "x", ""));
    }
    fs.put("/home/u/.codeium/windsurf/skills/surf/SKILL.md", skill("surf", "x", ""));
    fs.put("/home/u/.copilot/skills/pilot/SKILL.md", skill("pilot", "x", ""));
    let (library, notes) = discover_from(&fs, "/work");
    let scope = |name: &str| library.get(name).map(|found| (found.origin.scope, found.origin.trusted));
    for folder in folders {
        let name = folder.trim_start_matches('.');
        assert_eq!(scope(name), Some((Scope::Project, false)), "{folder}: {notes:?}");
        assert_eq!(scope(&format!("{name}-own")), Some((Scope::User, true)), "{folder}: {notes:?}");
    }
    assert_eq!((scope("surf"), scope("pilot")), (Some((Scope::User, true)), Some((Scope::User, true))));
}

#[test]
fn a_git_file_ends_the_walk_too() {
    let mut fs = MemoryFs::default();
    fs.put("/work/tree/.git", "gitdir: elsewhere")
        .put("/work/tree/sub/x", "")
        .put("/work/.agents/skills/outside/SKILL.md", skill("outside", "x", ""))
        .put("/work/tree/.agents/skills/in/SKILL.md", skill("in", "x", ""));
    let (library, _) = discover_from(&fs, "/work/tree/sub");
    assert_eq!(library.skills().map(|s| s.name()).collect::<Vec<_>>(), ["in"]);
}

#[test]
fn first_of_a_name_wins_and_the_rest_is_reported() {
    let mut fs = MemoryFs::default();
    fs.put("/work/.git/HEAD", "");
    for folder in ["/work/.toolfold", "/work/.agents", "/work/.claude", "/home/u/.agents"] {
        fs.put(format!("{folder}/skills/same/SKILL.md"), skill("same", folder, ""));
    }
    let (library, notes) = discover_from(&fs, "/work");
    assert_eq!(library.get("same").unwrap().description(), "/work/.toolfold");
    assert_eq!(notes.iter().filter(|n| n.starts_with("warning[shadowed]")).count(), 3, "{notes:#?}");
    assert_eq!(library.get("same@user").unwrap().description(), "/home/u/.agents");
}

#[test]
fn one_broken_skill_does_not_hide_others() {
    let mut fs = MemoryFs::default();
    fs.put("/s/good/SKILL.md", skill("good", "x", "")).put("/s/bad/SKILL.md", "no front matter");
    let (library, notes) =
        discover(&fs, vec![root("/s", Scope::User), root("/absent", Scope::User)], Precedence::Scopes);
    assert_eq!(library.skills().len(), 1);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("error[no-front-matter] /s/bad/SKILL.md:1:1"), "{}", notes[0]);
}

#[test]
fn instruction_files_from_the_general_to_the_specific() {
    let mut fs = MemoryFs::default();
    for file in [
        "/work/.git/HEAD",
        "/work/AGENTS.md",
        "/work/CLAUDE.md",
        "/work/a/AGENTS.md",
        "/work/a/.toolfold/AGENTS.md",
        "/work/a/.claude/CLAUDE.md",
        "/home/u/.config/toolfold/AGENTS.md",
        "/home/u/.agents/AGENTS.md",
        "/home/u/.claude/CLAUDE.md",
        "/home/u/.config/opencode/AGENTS.md",
        "/AGENTS.md",
    ] {
        fs.put(file, file);
    }
    fs.link("/work/a/CLAUDE.md", "AGENTS.md");
    let around = with!(Surroundings::default(), cwd = PathBuf::from("/work/a"), home = Some(PathBuf::from("/home/u")));
    let found = instructions(&fs, &around);
    let files: Vec<String> = found.value.iter().map(|i| i.file.display().to_string()).collect();
    assert_eq!(
        files,
        [
            "/home/u/.config/toolfold/AGENTS.md",
            "/home/u/.agents/AGENTS.md",
            "/home/u/.claude/CLAUDE.md",
            "/home/u/.config/opencode/AGENTS.md",
            "/work/AGENTS.md",
            "/work/CLAUDE.md",
            "/work/a/AGENTS.md",
            "/work/a/.toolfold/AGENTS.md",
            "/work/a/.claude/CLAUDE.md",
        ]
    );
}
