//! The shipped skill packs: strictly valid, within the limits, and naming only tools that exist.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use toolfold::skill::{Discovery, DiskFs, Root, Scope, SkillLibrary, Vocabulary, lint, read_folder, resource};
use toolfold_testing::with;

fn folder(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path)
}

fn collect(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(words.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|v| collect(v, words)),
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            words.insert(key.clone());
            collect(value, words);
        }),
        _ => {}
    }
}

/// The tools of the built-in Excel domain, the words of their schemas, and names of Python.
fn vocabulary() -> Vocabulary {
    let text = std::fs::read_to_string(folder("profiles/excel/tools.json")).unwrap();
    let tools: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut vocabulary = Vocabulary::default();
    for tool in &tools {
        vocabulary.tools.insert(tool["function"]["name"].as_str().unwrap().to_owned());
        collect(&tool["function"]["parameters"], &mut vocabulary.words);
    }
    vocabulary.words.extend(["icon_set", "max_row", "cell_is"].map(str::to_owned));
    vocabulary
}

fn library() -> SkillLibrary {
    let root = with!(Root::new(folder("skillpacks/excel"), Scope::System), trusted = true);
    let discovery = Discovery::new(vec![root]);
    let loaded = SkillLibrary::discover(&DiskFs, discovery, &mut Default::default());
    assert!(loaded.diagnostics.is_empty(), "{:#?}", loaded.diagnostics);
    loaded.value
}

#[test]
fn six_skills_all_valid() {
    let library = library();
    let names: Vec<&str> = library.skills().map(|s| s.name()).collect();
    assert_eq!(names, ["chart-basic", "data-basic", "excel-code-runner", "file-ops", "format-basic", "sheet-ops"]);
    let profile = std::fs::read_to_string(folder("profiles/excel/profile.toml")).unwrap();
    for skill in library.skills() {
        let categories = skill.fields().metadata.get("toolfold-categories").map_or("", String::as_str);
        for category in categories.split([' ', ',']).filter(|one| !one.is_empty()) {
            assert!(profile.contains(&format!("[category.{category}]")), "{}: {category}", skill.name());
        }
    }
    for finding in library.findings() {
        assert_eq!(read_folder(&DiskFs, finding.file.parent().unwrap()).document.strict, Vec::<String>::new());
    }
}

#[test]
fn every_tool_they_name_exists() {
    let vocabulary = vocabulary();
    let mut named = BTreeSet::new();
    for skill in library().skills() {
        let (files, _) = resource::list(&DiskFs, &skill.origin.folder);
        let document = read_folder(&DiskFs, &skill.origin.folder).document;
        let content = document.content.unwrap();
        let notes = lint(&content, skill.name(), Some(&files), Some(&vocabulary), 0);
        assert!(notes.is_empty(), "{notes:#?}");
        for file in files {
            let mut content = (*content).clone();
            content.body = resource::read(&DiskFs, skill, &file).unwrap();
            let notes = lint(&content, &file, None, Some(&vocabulary), 0);
            assert!(notes.is_empty(), "{notes:#?}");
        }
        named.extend(vocabulary.tools.iter().filter(|t| content.body.contains(&format!("`{t}`"))).cloned());
    }
    assert!(named.len() >= 40, "the pack covers the domain: {} tools", named.len());
}

#[test]
fn lint_finds_its_mistakes() {
    let vocabulary = vocabulary();
    let body = "Use `read_exel` and `drop_table(x)` and `file_path`.\nSee [a](references/x/y.md), [b](../z.md), \
                [c](none.md), [d](ok.md), [e](https://x.y/z).";
    let text = format!("---\nname: x\ndescription: Good things\n---\n{body}\n{}", "line\n".repeat(600));
    let content = toolfold::skill::Document::read(text.as_bytes(), "SKILL.md", "x").content.unwrap();
    let files = ["ok.md".to_owned(), "references/x/y.md".to_owned()];
    let mut vocabulary = vocabulary;
    vocabulary.unreachable.insert("delete_file".to_owned());
    let notes = lint(&content, "SKILL.md", Some(&files), Some(&vocabulary), 4);
    let codes: Vec<(&str, Option<usize>)> = notes.iter().map(|n| (n.code, n.place.line)).collect();
    assert_eq!(
        codes,
        [
            ("says-not-when", None),
            ("long-body", None),
            ("unknown-tool", Some(5)),
            ("unknown-tool", Some(5)),
            ("deep-reference", Some(6)),
            ("link-leaves", Some(6)),
            ("broken-link", Some(6)),
        ]
    );
    assert_eq!(notes[2].help.as_deref(), Some("did you mean `read_excel`?"));
}
