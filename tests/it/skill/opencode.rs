//! The behavior of OpenCode's skill tool and the general principles: listing, permission,
//! activation; without their bugs.

use toolfold::skill::{
    ActivateError, ActivateRequest, Activation, ActiveSet, Answer, Budget, Caller, CategoryHint, Discovery,
    DiscoveryCache, Facts, MemoryFs, Permission, PermissionRule, Permissions, Precedence, Scope, SkillLibrary,
    SkillView, Surroundings, activate, activate_tool, catalog_text, catalog_xml, default_roots,
};
use toolfold_testing::with;

use super::{discover, library, root, skill};

fn rules(rules: &[(&str, Permission)]) -> Vec<PermissionRule> {
    rules
        .iter()
        .map(|(pattern, permission)| PermissionRule { pattern: (*pattern).to_owned(), permission: *permission })
        .collect()
}

fn view(library: &SkillLibrary, permissions: &[(&str, Permission)]) -> SkillView {
    SkillView::new(library, &with!(Permissions::default(), layers = vec![rules(permissions)]), Caller::Model)
}

fn ask(fs: &MemoryFs, view: &SkillView, name: &str) -> Result<Answer, ActivateError> {
    let request = ActivateRequest::new(name);
    activate(fs, view, &request, &ActiveSet::default(), &Facts::default(), CategoryHint::Suggest)
}

fn active(fs: &MemoryFs, view: &SkillView, name: &str) -> Activation {
    match ask(fs, view, name) {
        Ok(Answer::Activated(activation)) => *activation,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn permission_table() {
    use Permission::{Allow, Ask, Deny};
    for (layer, name, expected) in [
        (vec![], "pdf", Allow),
        (vec![("*", Deny)], "pdf", Deny),
        (vec![("*", Deny), ("pdf", Allow)], "pdf", Allow),
        (vec![("pdf", Allow), ("*", Deny)], "pdf", Deny),
        (vec![("internal-*", Deny)], "internal-docs", Deny),
        (vec![("internal-*", Deny)], "internal", Allow),
        (vec![("p?f", Ask)], "pdf", Ask),
        (vec![("p?f", Ask)], "pdff", Allow),
        (vec![("*", Ask), ("git-*", Allow), ("git-push", Deny)], "git-push", Deny),
        (vec![("*", Ask), ("git-*", Allow), ("git-push", Deny)], "git-log", Allow),
        (vec![("*", Ask), ("git-*", Allow), ("git-push", Deny)], "other", Ask),
    ] {
        assert_eq!(
            with!(Permissions::default(), layers = vec![rules(&layer)]).decide(name),
            expected,
            "{layer:?} {name}"
        );
    }
}

#[test]
fn bug_a_remembered_approval_overrode_a_denial() {
    let layer = rules(&[("*", Permission::Ask), ("secret", Permission::Deny)]);
    let mut permissions = with!(Permissions::default(), layers = vec![layer]);
    permissions.approved.push("secret".to_owned());
    permissions.approved.push("pdf".to_owned());
    assert_eq!(permissions.decide("secret"), Permission::Deny);
    assert_eq!(permissions.decide("pdf"), Permission::Allow);
    assert_eq!(permissions.decide("other"), Permission::Ask);
    // Nor does a later layer.
    permissions.layers.push(rules(&[("*", Permission::Allow)]));
    assert_eq!(permissions.decide("secret"), Permission::Deny);
    assert_eq!(permissions.decide("other"), Permission::Ask);
}

#[test]
fn bug_the_error_leaked_denied_names() {
    let (fs, library) = library(&[("salary-report", "x", "SECRET"), ("sales-report", "x", "open")]);
    let view = view(&library, &[("salary-*", Permission::Deny)]);
    let denied = ask(&fs, &view, "salary-report").unwrap_err().to_string();
    let absent = ask(&fs, &view, "salami-report").unwrap_err().to_string();
    assert_eq!(denied, "unknown skill `salary-report`; did you mean `sales-report`?");
    assert_eq!(absent, "unknown skill `salami-report`; did you mean `sales-report`?");
    for text in [
        catalog_text(&view, Budget::default()).text,
        catalog_xml(&view),
        activate_tool(&view, Budget::default()).unwrap().parameters.to_string(),
        format!("{:?}", view.search("salary", 5).len()),
        ask(&fs, &view, "salary-report/x").unwrap_err().to_string().replacen("salary-report/x", "", 1),
        ask(&fs, &view, "salary-report@user").unwrap_err().to_string().replacen("salary-report@user", "", 1),
    ] {
        assert!(!text.contains("salary") && !text.contains("SECRET"), "{text}");
    }
}

#[test]
fn bug_the_winner_depended_on_load_order() {
    let mut fs = MemoryFs::default();
    fs.put("/p/same/SKILL.md", skill("same", "project", ""))
        .put("/u/same/SKILL.md", skill("same", "user", ""))
        .put("/y/same/SKILL.md", skill("same", "system", ""));
    let roots = [root("/y", Scope::System), root("/u", Scope::User), root("/p", Scope::Project)];
    for (precedence, expected, turned) in [
        (Precedence::Scopes, "project", "project"),
        (Precedence::UserFirst, "user", "user"),
        (Precedence::FirstWins, "system", "project"),
        (Precedence::LastWins, "project", "system"),
    ] {
        let winner = |roots: Vec<_>| discover(&fs, roots, precedence).0.get("same").unwrap().description().to_owned();
        assert_eq!(winner(roots.to_vec()), expected);
        assert_eq!(winner(roots.iter().rev().cloned().collect()), turned);
    }
}

#[test]
fn the_tool_lists_what_this_agent_may_see() {
    let (_, library) = library(&[("b-skill", "Does b.", ""), ("a-skill", "Does a.", ""), ("c-skill", "Does c.", "")]);
    let tool =
        activate_tool(&view(&library, &[("c-*", Permission::Deny), ("b-*", Permission::Ask)]), Budget::default());
    let tool = tool.unwrap();
    assert_eq!(tool.name, "activate_skill");
    assert!(tool.description.ends_with("\n\nSkills:\n- a-skill: Does a.\n- b-skill: Does b."), "{}", tool.description);
    assert_eq!(tool.parameters["properties"]["name"]["enum"], serde_json::json!(["a-skill", "b-skill"]));
    assert_eq!(tool.parameters["required"], serde_json::json!(["name"]));
    assert!(activate_tool(&view(&library, &[("*", Permission::Deny)]), Budget::default()).is_none());
}

#[test]
fn guards_hide_a_skill_from_the_model_or_from_the_user() {
    let mut fs = MemoryFs::default();
    for (name, keys, model, user) in [
        ("plain", "", true, true),
        ("manual", "disable-model-invocation: true\n", false, true),
        ("yes", "disable-model-invocation: yes\n", false, true),
        ("quoted", "disable-model-invocation: \"true\"\n", false, true),
        ("unreadable", "disable-model-invocation: maybe\n", false, true),
        ("off", "disable-model-invocation: false\n", true, true),
        ("camel", "disableModelInvocation: true\n", false, true),
        ("in-metadata", "metadata:\n  disable-model-invocation: true\n", false, true),
        ("background", "user-invocable: false\n", true, false),
        ("mistyped", "disable-model-invokation: true\n", true, true),
    ] {
        let text = format!("---\nname: {name}\ndescription: x\n{keys}---\nbody");
        fs.put(format!("/s/{name}/SKILL.md"), text);
        let (library, notes) = discover(&fs, vec![root("/s", Scope::User)], Precedence::Scopes);
        let sees = |caller| SkillView::new(&library, &Permissions::default(), caller).get(name).is_some();
        assert_eq!((sees(Caller::Model), sees(Caller::User)), (model, user), "{name}");
        if name == "mistyped" {
            assert!(notes.iter().any(|n| n.contains("did you mean `disable-model-invocation`?")), "{notes:?}");
        }
    }
}

#[test]
fn ask_comes_before_the_body() {
    let (fs, library) = library(&[("deploy", "x", "BODY")]);
    let view = view(&library, &[("*", Permission::Ask)]);
    assert_eq!(ask(&fs, &view, "deploy").unwrap(), Answer::NeedsApproval { name: "deploy".to_owned() });
    assert_eq!(ask(&fs, &view, "deploy/x.md").unwrap(), Answer::NeedsApproval { name: "deploy".to_owned() });
    let request = with!(ActivateRequest::new("deploy"), approved = true);
    let answer =
        activate(&fs, &view, &request, &ActiveSet::default(), &Facts::default(), CategoryHint::Suggest).unwrap();
    assert!(matches!(answer, Answer::Activated(a) if a.text.contains("BODY")));
}

#[test]
fn an_activation_has_body_folder_and_files() {
    let (mut fs, _) = library(&[("pdf", "x", "# PDF\n\nSteps.")]);
    fs.put("/s/pdf/references/forms.md", "forms").put("/s/pdf/scripts/run.py", "x").put("/s/pdf/.hidden", "x");
    let (library, _) = discover(&fs, vec![root("/s", Scope::User)], Precedence::Scopes);
    let view = view(&library, &[]);
    let activation = active(&fs, &view, "pdf");
    assert_eq!(
        activation.text,
        "<skill_content name=\"pdf\">\n# PDF\n\nSteps.\n</skill_content>\n\
         Skill folder: /s/pdf (relative paths in the text are relative to it)\n\
         Files (read one by calling with `path`):\n- references/forms.md\n- scripts/run.py"
    );
    assert_eq!(ask(&fs, &view, "pdf/references/forms.md").unwrap(), Answer::Resource("forms".to_owned()));
    let near = ask(&fs, &view, "pdf/references/form.md").unwrap_err().to_string();
    assert_eq!(near, "unknown file `references/form.md`; did you mean `references/forms.md`?");
}

#[test]
fn names_with_a_slash_and_at_work() {
    let mut fs = MemoryFs::default();
    fs.put("/s/ios/SKILL.md", skill("contact-center/ios", "x", "IOS"))
        .put("/s/ios/notes.md", "N")
        .put("/s/fm/SKILL.md", skill("open/skills@files", "x", "FM"));
    let (library, _) = discover(&fs, vec![root("/s", Scope::User)], Precedence::Scopes);
    let view = view(&library, &[]);
    assert!(active(&fs, &view, "contact-center/ios").text.contains("IOS"));
    assert!(active(&fs, &view, "open/skills@files").text.contains("FM"));
    assert_eq!(ask(&fs, &view, "contact-center/ios/notes.md").unwrap(), Answer::Resource("N".to_owned()));
}

#[test]
fn a_second_activation_is_brief() {
    let (fs, library) = library(&[("pdf", "x", "Work on $ARGUMENTS.")]);
    let view = view(&library, &[]);
    let mut set = ActiveSet::default();
    let mut call = |arguments: &str| {
        let request = with!(ActivateRequest::new("pdf"), arguments = Some(arguments.into()));
        let answer = activate(&fs, &view, &request, &set, &Facts::default(), CategoryHint::Suggest).unwrap();
        let Answer::Activated(activation) = answer else { panic!() };
        set.insert(activation.name.clone(), (&*activation).into());
        activation.repeated
    };
    assert_eq!([call("a"), call("a"), call("b"), call("b")], [false, true, false, true]);
    let saved = serde_json::to_string(&set).unwrap();
    assert_eq!(serde_json::from_str::<ActiveSet>(&saved).unwrap(), set);
}

#[test]
fn budgets_shrink_evenly_and_count_the_rest() {
    let long = "word ".repeat(100);
    let skills: Vec<(String, String)> = (0..40)
        .map(|n| (format!("skill-{n:02}"), if n % 2 == 0 { long.clone() } else { "Short one.".to_owned() }))
        .collect();
    let borrowed: Vec<(&str, &str, &str)> = skills.iter().map(|(n, d)| (n.as_str(), d.as_str(), "")).collect();
    let (_, library) = library(&borrowed);
    let view = view(&library, &[]);
    let mut before = usize::MAX;
    for (chars, full, trimmed, names, omitted) in
        [(50_000, 40, 0, 0, 0), (5_000, 20, 20, 0, 0), (1_000, 2, 0, 38, 0), (300, 0, 0, 22, 18), (0, 0, 0, 0, 40)]
    {
        let list = catalog_text(&view, Budget::Chars(chars));
        let shape = (list.full, list.trimmed, list.names_only, list.omitted);
        assert_eq!((shape.0, shape.1, shape.3), (full, trimmed, omitted).clone(), "{chars}: {shape:?}");
        assert_eq!(list.names_only, names, "{chars}: {shape:?}");
        assert!(list.text.chars().count() <= chars.max(60), "{chars}: {}", list.text.chars().count());
        assert!(list.text.len() <= before, "less budget never discloses more");
        before = list.text.len();
        if omitted > 0 {
            assert!(list.text.ends_with(&format!("- (and {omitted} more skills that are not listed here)\n")));
        }
    }
    let short = catalog_text(&view, Budget::Chars(5_000)).text;
    assert!(short.contains("- skill-01: Short one.\n") && short.contains("word…\n"), "{short}");
}

/// 32 names take 190 characters, and each of two descriptions 201 more: those of the project,
/// although the user's come first by name.
#[test]
fn the_nearest_skills_keep_their_descriptions() {
    let mut fs = MemoryFs::default();
    let text = |name: &str| skill(name, "word ".repeat(40).trim_end(), "Body.");
    let user = (0..30).map(|n| (format!("/home/u/.claude/skills/u{n:02}"), format!("u{n:02}")));
    let project = (0..2).map(|n| (format!("/p/.claude/skills/z{n}"), format!("z{n}")));
    for (folder, name) in user.chain(project) {
        fs.put(format!("{folder}/SKILL.md"), text(&name));
    }
    let around = toolfold_testing::with!(Surroundings::default(), cwd = "/p".into(), home = Some("/home/u".into()));
    let discovery = Discovery::new(default_roots(&fs, &around));
    let library = SkillLibrary::discover(&fs, discovery, &mut DiscoveryCache::default()).value;
    let list = catalog_text(&view(&library, &[]), Budget::Chars(640));
    assert_eq!((list.full, list.trimmed, list.names_only, list.omitted), (2, 0, 30, 0), "{}", list.text);
    let described: Vec<&str> = list.text.lines().filter(|line| line.contains(": word")).collect();
    assert!(described.len() == 2 && described.iter().all(|line| line.starts_with("- z")), "{}", list.text);
}

#[test]
fn search_supports_chinese_and_appears_with_many_skills() {
    let mut skills: Vec<(String, String, String)> =
        (0..60).map(|n| (format!("skill-{n:02}"), format!("Thing {n}."), String::new())).collect();
    skills.push(("geshi".to_owned(), "单元格格式化与样式操作指引".to_owned(), "# 条件格式".to_owned()));
    skills.push(("charts".to_owned(), "Draw charts and dashboards.".to_owned(), "# Pivot tables".to_owned()));
    let borrowed: Vec<_> = skills.iter().map(|(n, d, b)| (n.as_str(), d.as_str(), b.as_str())).collect();
    let (fs, library) = library(&borrowed);
    let view = view(&library, &[]);
    for (query, first) in [
        ("格式", "geshi"),
        ("条件", "geshi"),
        ("chart", "charts"),
        ("Dashboard", "charts"),
        ("pivot", "charts"),
        ("thing 42", "skill-42"),
    ] {
        assert_eq!(view.search(query, 3).first().map(|h| h.skill.name().to_owned()).as_deref(), Some(first), "{query}");
    }
    assert!(view.search("zzz", 3).is_empty());
    let tool = activate_tool(&view, Budget::default()).unwrap();
    assert!(tool.parameters["properties"]["search"].is_object());
    let request = ActivateRequest::from_json(&serde_json::json!({"search": "chart"})).unwrap();
    let found = activate(&fs, &view, &request, &ActiveSet::default(), &Facts::default(), CategoryHint::Silent).unwrap();
    assert!(matches!(found, Answer::Found(text) if text.contains("- charts: Draw charts")));
}

#[test]
fn xml_is_escaped() {
    let (_, library) = library(&[("x", "Use <b> & \"c\" 'd'", "")]);
    assert_eq!(
        catalog_xml(&view(&library, &[])),
        "<available_skills>\n<skill>\n<name>\nx\n</name>\n<description>\nUse &lt;b&gt; &amp; &quot;c&quot; &#x27;d&#x27;\n\
         </description>\n<location>\n/s/x/SKILL.md\n</location>\n</skill>\n</available_skills>"
    );
}
