//! Skills of plugins, and skills anywhere in a project.

use std::path::Path;

use toolfold::skill::{
    ActivateRequest, ActiveSet, Answer, Caller, CategoryHint, DiscoveryCache, Facts, MemoryFs, Permissions, Precedence,
    Scope, SkillLibrary, SkillView, Style, activate,
};
use toolfold_testing::with;

use super::{discover, discover_from, root, skill};

/// The names of the skills of a project in `/p`, and what was noticed.
fn names_of(fs: &MemoryFs) -> (Vec<String>, Vec<String>) {
    let (library, notes) = discover_from(fs, "/p");
    (library.skills().map(|skill| skill.name().to_owned()).collect(), notes)
}

/// Files at these paths: a `SKILL.md` is a skill with the name of its folder, and a manifest has
/// the text after the path.
fn tree(files: &[(&str, &str)]) -> MemoryFs {
    let mut fs = MemoryFs::default();
    fs.put("/p/.git/HEAD", "");
    for (path, text) in files {
        let text = match path.strip_suffix("/SKILL.md").and_then(|folder| folder.rsplit('/').next()) {
            Some(name) if text.is_empty() => skill(name, "Use to test.", "Body."),
            _ => (*text).to_owned(),
        };
        fs.put(format!("/p/{path}"), text);
    }
    fs
}

#[test]
fn plugins_are_roots() {
    for (what, files, expected) in [
        (
            "a plugin of Claude Code",
            &[(".claude-plugin/plugin.json", r#"{"name": "acme"}"#), ("skills/ship/SKILL.md", "")][..],
            &["acme:ship"][..],
        ),
        (
            "a plugin of Cursor",
            &[("a/.cursor-plugin/plugin.json", "\u{feff}{\"name\": \"acme\"}"), ("a/skills/ship/SKILL.md", "")],
            &["acme:ship"],
        ),
        (
            "a bare manifest beside skills, and one of another program",
            &[
                ("a/plugin.json", r#"{"name": "acme"}"#),
                ("a/skills/ship/SKILL.md", ""),
                ("b/plugin.json", r#"{"name": "panel", "type": "datasource"}"#),
                ("b/docs/SKILL.md", ""),
            ],
            &["acme:ship", "docs"],
        ),
        (
            "declared paths, also in folders that are not searched",
            &[
                (".claude-plugin/plugin.json", r#"{"name": "acme", "skills": ["./templates", "./dist/one/SKILL.md"]}"#),
                ("templates/a/SKILL.md", ""),
                ("dist/one/SKILL.md", ""),
                ("dist/two/SKILL.md", ""),
            ],
            &["acme:a", "acme:one"],
        ),
        (
            "a marketplace",
            &[
                (
                    ".claude-plugin/marketplace.json",
                    r#"{"metadata": {"pluginRoot": "./plugins"}, "plugins": [
                        {"name": "one", "source": "first"}, {"name": "two", "source": "./test/second"},
                        {"name": "far", "source": {"source": "github", "repo": "a/b"}}]}"#,
                ),
                ("plugins/first/skills/a/SKILL.md", ""),
                ("test/second/.claude-plugin/plugin.json", r#"{"name": "second"}"#),
                ("test/second/skills/b/SKILL.md", ""),
                ("skills/c/SKILL.md", ""),
            ],
            &["c", "one:a", "two:b"],
        ),
        (
            "a marketplace whose plugins share its folder",
            &[
                (
                    ".claude-plugin/marketplace.json",
                    r#"{"plugins": [{"name": "docs", "source": "./", "strict": false, "skills": ["./skills/pdf"]},
                        {"name": "art", "source": "./", "skills": ["./skills/draw", "./skills/pdf"]}]}"#,
                ),
                ("skills/pdf/SKILL.md", ""),
                ("skills/draw/SKILL.md", ""),
                ("skills/other/SKILL.md", ""),
            ],
            &["art:draw", "docs:pdf", "other"],
        ),
        (
            "a plugin that is one skill, with others below",
            &[
                (".claude-plugin/plugin.json", r#"{"name": "acme"}"#),
                ("SKILL.md", "---\nname: acme:start\ndescription: d. Use.\n---\nBody."),
                ("skills/ship/SKILL.md", ""),
            ],
            &["acme:ship", "acme:start"],
        ),
    ] {
        let (names, notes) = names_of(&tree(files));
        assert_eq!(names, expected, "{what}: {notes:#?}");
        assert!(!notes.iter().any(|note| note.starts_with("error")), "{what}: {notes:#?}");
    }
}

#[test]
fn skills_anywhere_in_a_project_are_found() {
    let mut fs = tree(&[
        ("skills/a/SKILL.md", ""),
        ("skills/.curated/b/SKILL.md", ""),
        ("packages/web/skills/c/SKILL.md", ""),
        ("packages/web/.claude/skills/d/SKILL.md", ""),
        ("top/SKILL.md", ""),
        ("skills/build/SKILL.md", ""),
        // The name of a file elsewhere is no sign of a skill.
        ("docs/skill.md", "# How to write skills"),
        // Of tests, templates, dependencies and other projects.
        ("tests/t1/SKILL.md", ""),
        ("web/node_modules/t2/SKILL.md", ""),
        ("templates/t3/SKILL.md", ""),
        ("other/.git/HEAD", ""),
        ("other/skills/t4/SKILL.md", ""),
    ]);
    fs.put("/home/u/.claude/skills/mine/SKILL.md", skill("mine", "d", ""));
    let (library, notes) = discover_from(&fs, "/p/packages/web");
    let names: Vec<&str> = library.skills().map(|skill| skill.name()).collect();
    assert_eq!(names, ["a", "b", "build", "c", "d", "mine", "top"], "{notes:#?}");
    assert_eq!(library.get("a").unwrap().origin.style, Style::Project);
    assert_eq!(library.get("d").unwrap().origin.style, Style::Claude, "a usual place of the working directory");
    assert!(notes.iter().all(|note| note.starts_with("note[not-searched] /p/other")), "{notes:#?}");
    // Without a git root, the project is the working directory; the home folder is no project.
    let mut fs = MemoryFs::default();
    fs.put("/home/u/w/skills/a/SKILL.md", skill("a", "d", "")).put("/home/u/v/skills/b/SKILL.md", skill("b", "d", ""));
    assert_eq!(discover_from(&fs, "/home/u/w").0.skills().len(), 1);
    for above in ["/home/u", "/home", "/"] {
        assert_eq!(discover_from(&fs, above).0.skills().len(), 0, "{above}");
    }
}

#[test]
fn skills_of_plugins_have_a_scope_and_the_trust_of_their_root() {
    let mut fs = tree(&[(".claude-plugin/plugin.json", r#"{"name": "acme"}"#), ("skills/ship/SKILL.md", "")]);
    fs.put("/home/u/.claude/skills/x/SKILL.md", skill("acme:ship", "Of the user.", ""));
    let (library, notes) = discover_from(&fs, "/p");
    assert_eq!(library.get("acme:ship").unwrap().origin.scope, Scope::User, "the user's is used: {notes:#?}");
    let of_plugin = library.get("acme:ship@plugin").unwrap();
    let origin = &of_plugin.origin;
    assert_eq!((origin.scope, origin.style, origin.trusted), (Scope::Plugin, Style::Plugin, false));
    assert_eq!(origin.plugin.as_deref(), Some(Path::new("/p")));
    // A folder that the user names is trusted, and its plugins are plugins too.
    let mut fs = MemoryFs::default();
    fs.put("/x/a/.claude-plugin/plugin.json", r#"{"name": "acme"}"#).put("/x/a/skills/s/SKILL.md", skill("s", "d", ""));
    let library = discover(&fs, vec![root("/x", Scope::Explicit)], Precedence::Scopes).0;
    let origin = &library.get("acme:s").unwrap().origin;
    assert_eq!((origin.scope, origin.trusted), (Scope::Plugin, true));
}

#[test]
fn the_folder_of_a_plugin_is_a_placeholder() {
    let text = "---\nname: ship\ndescription: d. Use.\n---\nRun ${CLAUDE_PLUGIN_ROOT}/bin/x and ${PLUGIN_ROOT}/y.";
    let fs = tree(&[
        ("a/.claude-plugin/plugin.json", r#"{"name": "acme"}"#),
        ("a/skills/ship/SKILL.md", text),
        ("b/SKILL.md", text.replace("ship", "b").as_str()),
    ]);
    let library = discover_from(&fs, "/p").0;
    let view = SkillView::new(&library, &Permissions::default(), Caller::Model);
    let text_of = |name: &str| {
        let request = ActivateRequest::new(name);
        let (active, facts) = (ActiveSet::default(), Facts::default());
        match activate(&fs, &view, &request, &active, &facts, CategoryHint::Silent) {
            Ok(Answer::Activated(activation)) => (activation.name, activation.text),
            other => panic!("{other:?}"),
        }
    };
    let (name, text) = text_of("acme:ship");
    assert!(text.contains("Run /p/a/bin/x and /p/a/y."), "{text}");
    assert!(text.contains("<skill_content name=\"acme:ship\">"), "{text}");
    assert_eq!(text_of("ship").0, name, "without the plugin, the name is clear");
    assert!(text_of("b").1.contains("${CLAUDE_PLUGIN_ROOT}"), "no plugin, no folder");
}

/// One bad plugin hides no other, and what is wrong is reported with file, reason and fix.
#[test]
fn bad_plugins_are_reported_and_hide_no_skill() {
    let huge = format!("{{\"name\": \"{}\"}}", "x".repeat(2 << 20));
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for (what, manifest, name, code, reason) in [
        ("damaged", "{\"name\": ", "bad", "plugin-manifest", "not JSON"),
        ("no object", "[]", "bad", "plugin-manifest", "not a JSON object"),
        ("deep", deep.as_str(), "bad", "plugin-manifest", "not JSON"),
        ("huge", huge.as_str(), "bad", "plugin-manifest", "bytes"),
        ("a name that selects others", r#"{"name": "a:b"}"#, "bad", "plugin-name", "`a:b`"),
        ("no name", "{}", "bad", "plugin-name", "no name"),
        ("the name of another", r#"{"name": "good"}"#, "good", "same-plugin", "/p/good"),
        (
            "a path out",
            r#"{"name": "acme", "skills": ["../../private", "/private"]}"#,
            "acme",
            "plugin-path",
            "leads out",
        ),
        ("no such path", r#"{"name": "acme", "skills": "./nowhere"}"#, "acme", "plugin-path", "./nowhere"),
        ("a link out", r#"{"name": "acme", "skills": "./link"}"#, "acme", "plugin-path", "leads out"),
    ] {
        // In both orders of the folders.
        for folder in ["a-bad", "z-bad"] {
            let mut fs =
                tree(&[("good/.claude-plugin/plugin.json", r#"{"name": "good"}"#), ("good/skills/fine/SKILL.md", "")]);
            fs.put(format!("/p/{folder}/.claude-plugin/plugin.json"), manifest);
            fs.put(format!("/p/{folder}/skills/own/SKILL.md"), skill("own", "d", ""));
            fs.put("/private/secret/SKILL.md", skill("secret", "d", ""));
            fs.link(format!("/p/{folder}/link"), "/private");
            let (names, notes) = names_of(&fs);
            let own = format!("{}:own", if name == "bad" { folder } else { name });
            let mut expected = vec![own, "good:fine".to_owned()];
            expected.sort();
            assert_eq!(names, expected, "{what}: {notes:#?}");
            let about = notes.iter().find(|note| note.contains(&format!("[{code}]")));
            let about = about.unwrap_or_else(|| panic!("{what}: {notes:#?}"));
            assert!(about.contains("/p/") && about.contains(" ("), "{what}: place and fix in {about}");
            assert!(about.contains(reason) || folder == "a-bad" && code == "same-plugin", "{what}: {about}");
        }
    }
}

#[test]
fn bad_marketplaces_are_reported_and_hide_no_skill() {
    for (what, manifest, code) in [
        ("damaged", "{", "plugin-manifest"),
        ("no list", "{\"plugins\": {}}", "plugin-manifest"),
        ("entries of other kinds", r#"{"plugins": [1, {}, {"name": "own", "source": "./own"}]}"#, "plugin-manifest"),
        ("a path out", r#"{"plugins": [{"name": "x", "source": "../private"}]}"#, "plugin-path"),
        ("an absolute path", r#"{"plugins": [{"name": "x", "source": "/private"}]}"#, "plugin-path"),
        ("a skill out", r#"{"plugins": [{"name": "x", "source": "./", "skills": ["./link/secret"]}]}"#, "plugin-path"),
        ("no such folder", r#"{"plugins": [{"name": "x", "source": "./nowhere"}]}"#, "plugin-path"),
    ] {
        let mut fs = tree(&[("own/skills/s/SKILL.md", ""), (".claude-plugin/marketplace.json", manifest)]);
        fs.put("/private/secret/SKILL.md", skill("secret", "d", "")).link("/p/link", "/private");
        let (names, notes) = names_of(&fs);
        assert_eq!(names.len(), 1, "{what}: {names:?} {notes:#?}");
        assert!(names[0].ends_with('s'), "{names:?}");
        assert!(
            notes.iter().any(|note| note.contains(&format!("[{code}]")) && note.contains(" (")),
            "{what}: {notes:#?}"
        );
    }
    // A plugin that contains itself, and a chain of marketplaces, end.
    let mut fs = tree(&[
        (
            ".claude-plugin/marketplace.json",
            r#"{"plugins": [{"name": "x", "source": "./x"}, {"name": "y", "source": "."}]}"#,
        ),
        ("x/.claude-plugin/marketplace.json", r#"{"plugins": [{"name": "z", "source": "./back/x"}]}"#),
        ("x/skills/s/SKILL.md", ""),
    ]);
    fs.link("/p/x/back", "/p");
    let (names, notes) = names_of(&fs);
    assert_eq!(names, ["x:s"], "{notes:#?}");
}

#[test]
fn a_project_is_searched_within_limits() {
    let mut fs = tree(&[("a/skills/s/SKILL.md", "")]);
    for n in 0..11_000 {
        fs.put(format!("/p/b{n:05}/file"), "");
    }
    let (library, notes) = discover_from(&fs, "/p");
    assert_eq!(library.skills().len(), 0, "the folders of the first level are read first");
    let [note] = &notes[..] else { panic!("{notes:#?}") };
    assert!(note.starts_with("warning[large-project]") && note.contains("more than 10000 folders"), "{note}");
    // Entries of a marketplace count as well.
    let entries: Vec<String> = (0..1_500).map(|n| format!("{{\"name\": \"p{n}\", \"source\": \"./p{n}\"}}")).collect();
    let mut fs = tree(&[(".claude-plugin/marketplace.json", &format!("{{\"plugins\": [{}]}}", entries.join(",")))]);
    for n in 0..1_500 {
        fs.put(format!("/p/p{n}/skills/s/SKILL.md"), skill("s", "d", ""));
    }
    let (library, notes) = discover_from(&fs, "/p");
    assert_eq!(library.skills().len(), 1_001, "1,000 with the names of their plugins, and `s`");
    assert_eq!(library.findings().len(), 1_500);
    assert!(notes.iter().any(|note| note.contains("only 1000 of its 1500 entries")), "{notes:#?}");
}

/// A reload notices a changed manifest and a new skill in a plugin, and reads only what changed.
#[test]
fn a_changed_manifest_is_noticed() {
    let mut fs = tree(&[("a/.claude-plugin/plugin.json", r#"{"name": "acme"}"#), ("a/skills/ship/SKILL.md", "")]);
    let around = with!(toolfold::skill::Surroundings::default(), cwd = "/p".into());
    let discovery = toolfold::skill::Discovery::new(toolfold::skill::default_roots(&fs, &around));
    let mut cache = DiscoveryCache::default();
    let first = SkillLibrary::discover(&fs, discovery, &mut cache).value;
    assert!(cache.is_current(&fs) && first.get("acme:ship").is_some());
    fs.put("/p/a/.claude-plugin/plugin.json", r#"{"name": "other"}"#);
    assert!(!cache.is_current(&fs));
    let second = first.reload(&fs, &mut cache).value;
    assert!(second.get("other:ship").is_some() && second.get("acme:ship").is_none());
    assert_eq!(cache.reads, 1, "the skill itself is not read again");
    assert!(!second.is_same(&first));
}

/// A root, or a folder above it, that a link leads out of the project is refused like a link below.
#[test]
fn a_link_above_a_root_does_not_leave_the_project() {
    for (link, target, place) in [
        ("/p/.claude", "/private/claude", "/p/.claude"),
        ("/p/.agents/skills", "/private/claude/skills", "/p/.agents/skills"),
        ("/p/skills", "/private/claude/skills", "/p/skills"),
    ] {
        let mut fs = tree(&[("own/SKILL.md", "")]);
        fs.put("/private/claude/skills/x/SKILL.md", skill("x", "d", "")).link(link, target);
        let (names, notes) = names_of(&fs);
        assert_eq!(names, ["own"], "{link}: {notes:#?}");
        assert!(notes.iter().any(|note| note.starts_with(&format!("error[link-outside] {place}: "))), "{notes:#?}");
    }
    // A link in the project is followed, and into the user's own folders it is read there.
    let mut fs = tree(&[("shared/skills/x/SKILL.md", "")]);
    fs.put("/home/u/.claude/skills/y/SKILL.md", skill("y", "d", ""));
    fs.link("/p/.claude", "shared").link("/p/.agents", "/home/u/.claude");
    let (library, notes) = discover_from(&fs, "/p");
    let scopes: Vec<(&str, Scope)> = library.skills().map(|skill| (skill.name(), skill.origin.scope)).collect();
    assert_eq!(scopes, [("x", Scope::Project), ("y", Scope::User)], "{notes:#?}");
    assert!(!notes.iter().any(|note| note.starts_with("error")), "{notes:#?}");
}

/// Git on Windows writes a link as a file with the path.
#[test]
fn the_text_of_a_link_is_named_as_such() {
    for (path, text) in [
        (".claude/skills/x", "../../.agents/skills/x"),
        (".claude/skills", "../.agents/skills\n"),
        (".claude/skills/x/SKILL.md", "../../../.agents/skills/x/SKILL.md\r\n"),
        ("skills/x", "../.agents/skills/x"),
    ] {
        let fs = tree(&[(".agents/skills/real/SKILL.md", ""), (path, text)]);
        let (names, notes) = names_of(&fs);
        assert_eq!(names, ["real"], "{path}: {notes:#?}");
        let [note] = &notes[..] else { panic!("{path}: one note: {notes:#?}") };
        assert!(note.starts_with(&format!("error[link-as-text] /p/{path}: ")), "{note}");
        assert!(note.contains(text.trim()) && note.contains("core.symlinks"), "{note}");
    }
    for (path, text) in [(".claude/skills/LICENSE", "MIT"), (".claude/skills/NOTES", "../a\n../b"), ("x", "../y")] {
        let (names, notes) = names_of(&tree(&[(path, text)]));
        assert!(names.is_empty() && notes.is_empty(), "{path}: {notes:#?}");
    }
}
