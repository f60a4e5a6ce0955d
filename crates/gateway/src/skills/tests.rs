use toolfold::skill::{Caller, Discovery, MemoryFs, Permissions, Root, Scope, SkillLibrary};

use super::*;

fn served(files: &[(&str, &[u8])]) -> ServedSkills {
    let mut fs = MemoryFs::default();
    for (path, bytes) in files {
        fs.put(format!("/skills/{path}"), *bytes);
    }
    let mut root = Root::new("/skills", Scope::User);
    root.trusted = true;
    let discovery = Discovery::new(vec![root]);
    let library = SkillLibrary::discover(&fs, discovery, &mut toolfold::skill::DiscoveryCache::default()).value;
    ServedSkills::new(SkillView::new(&library, &Permissions::default(), Caller::Model), Arc::new(fs))
}

const PDF: &[u8] = b"---\nname: pdf\ndescription: Reads PDFs.\nmetadata:\n  version: 1.5\n---\nSteps.\n";

fn pdf() -> ServedSkills {
    served(&[
        ("pdf/SKILL.md", PDF),
        ("pdf/references/a form.md", b"Form."),
        ("pdf/templates/eu/x.bin", b"\xff\x00"),
        ("pdf/.secret", b"no"),
    ])
}

#[test]
fn an_entry_lists_every_file_with_its_digest() {
    let entries = pdf().resource_entries();
    let digest = |bytes: &[u8]| format!("sha256:{}", ContentHash::of(bytes).as_str());
    let expected = json!([{
        "uri": "skill://toolfold/pdf/SKILL.md",
        "frontmatter": {"name": "pdf", "description": "Reads PDFs.", "metadata": {"version": 1.5}},
        "resources": [
            {"uri": "skill://toolfold/pdf/SKILL.md", "digest": digest(PDF), "size": PDF.len()},
            {"uri": "skill://toolfold/pdf/references/a%20form.md", "digest": digest(b"Form."), "size": 5},
            {"uri": "skill://toolfold/pdf/templates/eu/x.bin", "digest": digest(b"\xff\x00"), "size": 2},
        ],
    }]);
    assert_eq!(Value::Array(entries), expected);
}

#[test]
fn files_match_the_digests_of_the_entry() {
    let skills = pdf();
    let text = skills.read_resource("skill://toolfold/pdf/SKILL.md").unwrap();
    assert_eq!(text["contents"][0]["text"].as_str().unwrap().as_bytes(), PDF);
    assert_eq!(text["contents"][0]["mimeType"], "text/markdown");
    assert_eq!(
        skills.read_resource("skill://toolfold/pdf/references/a%20form.md").unwrap()["contents"][0]["text"],
        "Form."
    );
    assert_eq!(skills.read_resource("skill://toolfold/pdf/templates/eu/x.bin").unwrap()["contents"][0]["blob"], "/wA=");
}

#[test]
fn only_listed_files_are_read() {
    let skills = pdf();
    for path in
        [".secret", "../pdf/SKILL.md", "references/../SKILL.md", "references", "", "references/a form.md", "skill.md"]
    {
        assert!(skills.read_resource(&format!("skill://toolfold/pdf/{path}")).is_err(), "{path}");
    }
    assert!(skills.read_resource("skill://toolfold/other/SKILL.md").is_err());
    assert!(skills.entry_at("skill://toolfold/pdf/references/a%20form.md").is_err());
}

#[test]
fn a_folder_lists_its_direct_children() {
    let skills = pdf();
    let root = skills.folder("skill://toolfold/pdf").unwrap();
    let expected = json!([
        {"uri": "skill://toolfold/pdf/SKILL.md", "name": "SKILL.md", "mimeType": "text/markdown"},
        {"uri": "skill://toolfold/pdf/references", "name": "references", "mimeType": "inode/directory"},
        {"uri": "skill://toolfold/pdf/templates", "name": "templates", "mimeType": "inode/directory"},
    ]);
    assert_eq!(root["resources"], expected);
    let below = skills.folder("skill://toolfold/pdf/references").unwrap();
    assert_eq!(below["resources"][0]["name"], "a form.md");
    for none in
        ["skill://toolfold/pdf/SKILL.md", "skill://toolfold/pdf/", "skill://toolfold/pdf/nothing", "skill://toolfold/x"]
    {
        assert!(skills.folder(none).is_err(), "{none}");
    }
}

#[test]
fn invalid_skills_are_not_served() {
    let skills = served(&[
        ("guessed/SKILL.md", b"---\nname: guessed\ndescription: a: b: c\n---\n"),
        ("nameless/SKILL.md", b"---\ndescription: d\n---\n"),
        ("good/SKILL.md", b"---\nname: good\ndescription: d\n---\n"),
    ]);
    let names: Vec<Value> =
        skills.resource_entries().iter().map(|entry| entry["frontmatter"]["name"].clone()).collect();
    assert_eq!(names, ["good"]);
}
