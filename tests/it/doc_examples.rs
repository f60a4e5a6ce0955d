//! The examples of the layers that are crates, compiled here.

#[test]
#[rustfmt::skip]
fn policy() {
    use serde_json::json;
    use toolfold::policy::{
        Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin,
    };

    let file = PolicyFile::load(r#"
    [tool.read_file]
    tier = "read_only"
    reads = ["path"]

    [[rule]]
    decide = "deny"
    tool = "*"
    path = "**/.env"
    match = [".env", "app/.env"]
    not_match = [".envrc"]
    "#, "policy.toml", PolicyScope::User).into_result().expect("a sound policy");
    let policy = Policy::new(vec![file]);
    let context = Context::default().with_interactive(true);
    let decide = |path: &str| {
        let arguments = json!({ "path": path });
        let origin = ToolOrigin::Native;
        let call = PolicyCall::new(&origin, "read_file", &arguments);
        policy.decide(&call, &context, &[]).decision
    };
    assert_eq!(decide("notes.md"), Decision::Allow);
    assert_eq!(decide("app/.env"), Decision::Deny);
}

#[test]
#[rustfmt::skip]
fn skill() {
    use toolfold::skill::{
        Caller, Discovery, MemoryFs, Permissions, Root, Scope, SkillLibrary, SkillView,
    };

    let mut fs = MemoryFs::default();
    let text = "---\nname: pdf\ndescription: Read PDFs. Use when a PDF is named.\n---\nSteps.";
    fs.put("/skills/pdf/SKILL.md", text);
    let mut root = Root::new("/skills", Scope::User);
    root.trusted = true;
    let discovery = Discovery::new(vec![root]);
    let library = SkillLibrary::discover(&fs, discovery, &mut Default::default()).value;
    let view = SkillView::new(&library, &Permissions::default(), Caller::Model);
    assert_eq!(view.names().collect::<Vec<_>>(), ["pdf"]);
}

/// The documentation shows the tests above, line by line.
#[test]
fn the_documentation_shows_these_examples() {
    let own = include_str!("doc_examples.rs");
    for layer in ["policy", "skill"] {
        let path = format!("{}/../crates/{layer}/src/lib.rs", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).unwrap();
        let shown = toolfold_testing::doc_example(&source, "//!");
        let test = own.split(&format!("fn {layer}() {{\n")).nth(1).unwrap().split("\n}\n").next().unwrap();
        assert_eq!(test.lines().map(str::trim).collect::<Vec<_>>(), shown, "{layer}");
    }
}
