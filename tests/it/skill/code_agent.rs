//! The requirements of Code Agent's migration to the standard: typed extension keys, two channels,
//! data for the host, old cloud skills, key hints; without its bugs.

use std::sync::Arc;

use serde_json::json;
use toolfold::skill::{
    ActivateRequest, Activation, ActiveSet, Answer, Caller, CategoryHint, Context, Discovery, Facts, Fields, MemoryFs,
    Permissions, Precedence, Scope, SkillLibrary, SkillView, activate, read_cloud, strict, to_standard,
};

use super::{codes, discover, read, root};

fn fields(keys: &str) -> Fields {
    read(&format!("---\nname: x\ndescription: y\n{keys}\n---\n"), "x").content.expect(keys).fields.clone()
}

fn activation(fs: &MemoryFs, library: &SkillLibrary, name: &str, hint: CategoryHint) -> Activation {
    let view = SkillView::new(library, &Permissions::default(), Caller::User);
    let request = ActivateRequest::new(name);
    match activate(fs, &view, &request, &ActiveSet::default(), &Facts::default(), hint) {
        Ok(Answer::Activated(activation)) => *activation,
        other => panic!("{other:?}"),
    }
}

#[test]
fn allowed_tools_in_every_form() {
    for (value, expected) in [
        ("Read Write", vec!["Read", "Write"]),
        ("Read, Write", vec!["Read", "Write"]),
        ("[Read, Write]", vec!["Read", "Write"]),
        ("[\"Read\", 'Write']", vec!["Read", "Write"]),
        ("\n  - Read\n  - Write", vec!["Read", "Write"]),
        ("Bash(git add:*) Bash(git commit -m:*)", vec!["Bash(git add:*)", "Bash(git commit -m:*)"]),
        ("Bash(git:*), Read, mcp__x__y", vec!["Bash(git:*)", "Read", "mcp__x__y"]),
        ("Bash (npm run test:*)", vec!["Bash(npm run test:*)"]),
        ("\n  - Bash(a, b)\n  - Read", vec!["Bash(a, b)", "Read"]),
        ("Task(agent(x), y) Read", vec!["Task(agent(x), y)", "Read"]),
        ("", vec![]),
    ] {
        assert_eq!(fields(&format!("allowed-tools: {value}")).allowed_tools, expected, "{value}");
    }
    let open = read("---\nname: x\ndescription: y\nallowed-tools: Bash(git\n---\n", "x");
    assert_eq!(codes(&open), ["allowed-tools"]);
}

#[test]
fn extension_keys_are_typed() {
    let all = fields(
        "model: opus\ncontext: fork\nagent: Explore\nargument-hint: \"[file]\"\nversion: 1.0\nauthor: Me\ntags: [a, b]\n\
         disable-model-invocation: true\nuser-invocable: false\nhomepage: https://x.y\npriority: 3",
    );
    assert_eq!(all.model.as_deref(), Some("opus"));
    assert_eq!((all.context, all.agent.as_deref()), (Context::Fork, Some("Explore")));
    assert_eq!(all.argument_hint.as_deref(), Some("[file]"));
    assert_eq!((all.version.as_deref(), all.author.as_deref()), (Some("1.0"), Some("Me")));
    assert_eq!(all.tags, ["a", "b"]);
    assert!(all.disable_model_invocation && all.hidden_from_user);
    assert_eq!(json!(all.other), json!({"homepage": "https://x.y", "priority": 3}));
    assert_eq!(fields("argument-hint: [file] ").argument_hint.as_deref(), Some("[file]"));
    assert_eq!(fields("model: inherit").model, None);
    assert_eq!(fields("author:\n  name: Me\n  url: x").author.as_deref(), Some("Me"));
    assert_eq!(fields("metadata:\n  a: {b: [1, true]}").metadata["a"], r#"{"b":[1,true]}"#);
}

#[test]
fn unknown_keys_close_to_a_guard_get_a_hint() {
    for (key, meant) in [
        ("allowed-tool", Some("allowed-tools")),
        ("alowed-tools", Some("allowed-tools")),
        ("allow-tools", Some("allowed-tools")),
        ("disable-model-invokation", Some("disable-model-invocation")),
        ("disable-model-invoke", Some("disable-model-invocation")),
        ("disable-invocation", Some("disable-model-invocation")),
        ("user-invokable", Some("user-invocable")),
        ("user-invocation", Some("user-invocable")),
        ("licence", Some("license")),
        ("compatability", Some("compatibility")),
        ("contxt", Some("context")),
        ("argument-hints", Some("argument-hint")),
        ("metdata", Some("metadata")),
        ("tools", None),
        ("category", None),
        ("zeta", None),
        ("modes", Some("mode")),
        ("triggers", None),
    ] {
        let document = read(&format!("---\nname: x\ndescription: y\n{key}: true\n---\n"), "x");
        let hint = document.diagnostics.iter().find(|d| d.code == "unknown-key");
        let help = hint.and_then(|d| d.help.clone()).unwrap_or_default();
        match meant {
            Some(meant) => assert!(help.contains(&format!("did you mean `{meant}`?")), "{key}: {help}"),
            None => assert!(hint.is_none(), "{key}: {help}"),
        }
    }
}

#[test]
fn other_spellings_are_read_with_a_warning_and_never_override() {
    for (key, standard) in
        [("allowed_tools", "allowed-tools"), ("allowedTools", "allowed-tools"), ("Allowed-Tools", "allowed-tools")]
    {
        let document = read(&format!("---\nname: x\ndescription: y\n{key}: Read\n---\n"), "x");
        assert_eq!(document.content.as_ref().unwrap().fields.allowed_tools, ["Read"]);
        assert_eq!(document.diagnostics[0].code, "key-spelling");
        assert!(document.diagnostics[0].help.as_deref().unwrap().contains(standard));
    }
    let both = read("---\nname: x\ndescription: y\nallowed_tools: Write\nallowed-tools: Read\n---\n", "x");
    assert_eq!(both.content.as_ref().unwrap().fields.allowed_tools, ["Read"]);
    assert_eq!(codes(&both), ["key-twice"]);
    let bad = read("---\nname: x\ndescription: y\ncontext: forked\nmode: Direct\n---\n", "x");
    assert_eq!(codes(&bad), ["bad-value"]);
}

#[test]
fn two_channels_and_data_for_the_host() {
    let text = "---\nname: commit\ndescription: y\nallowed-tools: Bash(git:*) Read\nmodel: opus\ncontext: fork\nagent: \
                Plan\nmetadata:\n  toolfold-categories: \"format, chart\"\n---\nBody";
    let mut fs = MemoryFs::default();
    fs.put("/u/commit/SKILL.md", text).put("/p/commit2/SKILL.md", text.replace("commit", "commit2"));
    let roots = vec![root("/u", Scope::User), root("/p", Scope::Project)];
    let (library, _) = discover(&fs, roots, Precedence::Scopes);
    let trusted = activation(&fs, &library, "commit", CategoryHint::Suggest);
    let [status, content] = &trusted.messages;
    assert!(!status.is_meta && !status.text.contains("Body"));
    assert!(content.is_meta && content.text.contains("Body"));
    assert_eq!(trusted.pre_approved_tools, ["Bash(git:*)", "Read"]);
    assert_eq!(
        (trusted.model.as_deref(), trusted.context, trusted.agent.as_deref()),
        (Some("opus"), Context::Fork, Some("Plan"))
    );
    assert_eq!(trusted.categories, ["format", "chart"]);
    assert!(
        trusted.text.ends_with("categories `format`, `chart`: expand them with `expand_tools` to see every argument.")
    );
    assert_eq!(trusted.hash.as_str().len(), 64);
    // An untrusted skill only suggests.
    let project = activation(&fs, &library, "commit2", CategoryHint::Silent);
    assert!(project.pre_approved_tools.is_empty());
    assert_eq!(project.suggested_tools, ["Bash(git:*)", "Read"]);
    assert!(!project.text.contains("expand_tools"));
}

#[test]
fn cloud_skills_load_as_builtin_and_migrate() {
    let cloud = json!({
        "name": "code_review", "description": "Review code: use when asked", "prompt": "Look at $ARGUMENTS --- well.",
        "allowedTools": ["Read", "Bash(git:*)"], "userInvocable": false, "disableModelInvocation": true,
        "executionContext": "fork", "triggers": ["review"], "priority": 5
    });
    let bytes = cloud.to_string().into_bytes();
    let document = read_cloud(&bytes, "review.json");
    assert_eq!(codes(&document), ["legacy"]);
    let content = document.content.clone().unwrap();
    assert!(content.fields.disable_model_invocation && content.fields.hidden_from_user);
    let (name, text) = to_standard(&content);
    assert_eq!(name, "code-review");
    assert_eq!(strict::validate(&text, &name), Vec::<String>::new(), "{text}");
    let again = read(&text, "code-review").content.unwrap();
    assert_eq!(again.body, content.body);
    assert_eq!(again.description, content.description);
    assert_eq!(again.fields.allowed_tools, content.fields.allowed_tools);
    assert!(again.fields.disable_model_invocation && again.fields.hidden_from_user, "guards survive migration");
    assert_eq!(again.fields.metadata["former-name"], "code_review");
    assert_eq!(again.fields.metadata["triggers"], "[\"review\"]");
    let mut discovery = Discovery::default();
    discovery.builtin.push(Arc::new(document));
    let library = SkillLibrary::discover(&MemoryFs::default(), discovery, &mut Default::default()).value;
    assert_eq!(library.get("code_review@builtin").unwrap().origin.scope, Scope::Builtin);
    for (bytes, code) in [
        (&b"[]"[..], "cloud-json"),
        (b"{", "cloud-json"),
        (b"\xff", "cloud-json"),
        (b"{}", "no-name"),
        (br#"{"name":"x"}"#, "no-description"),
        (br#"{"name":"x","description":"y","prompt":" "}"#, "no-body"),
    ] {
        assert_eq!(codes(&read_cloud(bytes, "x.json")), [code]);
    }
}

#[test]
fn old_front_matter_migrates() {
    let old = "---\nname: data_basic\ndescription: \"分析: 数据\"\nallowed_tools:\n  - read_excel\ntriggers: [a, b]\npriority: 5\n\
               file_patterns: [\"*.xlsx\"]\n---\nBody";
    let document = read(old, "data_basic");
    assert_eq!(codes(&document), ["name-form", "key-spelling", "legacy-key", "legacy-key"]);
    assert!(!document.strict.is_empty());
    let (name, text) = to_standard(document.content.as_ref().unwrap());
    assert_eq!((name.as_str(), strict::validate(&text, "data-basic")), ("data-basic", vec![]), "{text}");
    assert!(text.contains("allowed-tools: read_excel") || text.contains("allowed-tools: \"read_excel\""), "{text}");
}

#[test]
fn bug_a_prefix_rule_by_text_is_not_ours_to_make() {
    // The skill's requests stay patterns as written: this layer never matches a command against
    // them.
    assert_eq!(fields("allowed-tools: Bash(git status:*)").allowed_tools, ["Bash(git status:*)"]);
}
