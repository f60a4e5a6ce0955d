//! The behavior of apex-bridge's skill tools: placeholders, direct mode, errors; without its bugs.

use serde_json::{Value, json};
use toolfold::skill::{
    ActivateError, ActivateRequest, ActiveSet, Answer, Caller, CategoryHint, Facts, Mode, Permissions, SkillView,
    activate, direct, skill_tools,
};
use toolfold_testing::with;

use super::{library, read};

/// Renders a body. Returns the text and the codes of the diagnostics.
fn render(body: &str, arguments: Option<&str>, input: Value) -> (String, Vec<String>) {
    let (fs, library) = library(&[("x", "y", body)]);
    let view = SkillView::new(&library, &Permissions::default(), Caller::Model);
    let facts = with!(
        Facts::default(),
        session = Some("s-1".into()),
        cwd = Some("/work".into()),
        timestamp = Some("2026-05-01T12:00:00Z".into())
    );
    let mut request = with!(ActivateRequest::new("x"), input = Some(input));
    request.arguments = arguments.map(str::to_owned);
    let answer = activate(&fs, &view, &request, &ActiveSet::default(), &facts, CategoryHint::Silent).unwrap();
    let Answer::Activated(activation) = answer else { panic!() };
    let start = "<skill_content name=\"x\">\n";
    let inner = activation.text.strip_prefix(start).unwrap().split("\n</skill_content>").next().unwrap();
    (inner.to_owned(), activation.diagnostics.iter().map(|d| d.message.clone()).collect())
}

#[test]
fn placeholders() {
    let input =
        json!({"name": "Ann", "n": 3, "a": {"b": ["x", {"c": true}]}, "list": [1, 2], "evil": "{{input.name}} $1"});
    for (body, arguments, expected) in [
        ("Hi {{input.name}}", None, "Hi Ann"),
        ("Hi {{ input.name }}", None, "Hi Ann"),
        ("{{input.n}}/{{input.a.b.1.c}}/{{input.list}}", None, "3/true/[1,2]"),
        ("{{system.cwd}} {{system.timestamp}}", None, "/work 2026-05-01T12:00:00Z"),
        ("${SESSION_ID} ${CLAUDE_SESSION_ID}", None, "s-1 s-1"),
        ("${SKILL_DIR}/run.py ${CLAUDE_SKILL_DIR}", None, "/s/x/run.py /s/x"),
        ("do $ARGUMENTS now", Some("a b"), "do a b now"),
        ("do $ARGUMENTS.", None, "do ."),
        ("$ARGUMENTS[0] and $ARGUMENTS[1]", Some("a \"b c\""), "a and b c"),
        ("no place", Some("a b"), "no place\n\nARGUMENTS: a b"),
        // Once and literally: inserted text is not expanded.
        ("{{input.evil}}", Some("z"), "{{input.name}} $1\n\nARGUMENTS: z"),
        ("$ARGUMENTS", Some("$1 ${SESSION_ID} {{input.name}} !`ls`"), "$1 ${SESSION_ID} {{input.name}} !`ls`"),
        // Not placeholders.
        (
            "awk '{print $1}' $HOME ${HOME:-x} $$ {{name}} {{{x}}} {% if %} $",
            None,
            "awk '{print $1}' $HOME ${HOME:-x} $$ {{name}} {{{x}}} {% if %} $",
        ),
        ("$ARGUMENTS_X $0 $100", Some(""), "$ARGUMENTS_X $0 $100"),
        ("wow!`x` a!`y`", None, "wow!`x` a!`y`"),
    ] {
        let (text, notes) = render(body, arguments, input.clone());
        assert_eq!(text, expected, "{body} {notes:?}");
    }
}

#[test]
fn unknown_placeholders_stay_and_are_reported() {
    for (body, arguments, message) in [
        ("{{input.nope}}", None, "placeholder `{{input.nope}}` has no value and is unchanged"),
        ("{{input.a.b.c}}", None, "placeholder `{{input.a.b.c}}` has no value and is unchanged"),
        ("{{system.user}}", None, "placeholder `{{system.user}}` has no value and is unchanged"),
        ("${OTHER_THING}", None, "placeholder `${OTHER_THING}` has no value and is unchanged"),
        ("$ARGUMENTS[3] $ARGUMENTS[1]", Some("a b"), "placeholder `$ARGUMENTS[3]` has no value and is unchanged"),
    ] {
        let (text, notes) = render(body, arguments, json!({"a": "x"}));
        assert_eq!(notes, [message], "{body}");
        assert!(text.contains(body.split(' ').next().unwrap()));
    }
}

#[test]
fn commands_are_never_run() {
    let (text, notes) = render("State:\n!`git status` and (!`rm -rf /`)", None, json!({}));
    assert_eq!(text, "State:\n[not run: git status] and ([not run: rm -rf /])");
    assert_eq!(notes, ["the command `git status` was not run", "the command `rm -rf /` was not run"]);
}

#[test]
fn rendering_is_linear() {
    let start = std::time::Instant::now();
    for unit in ["{{", "${", "!`", "$", "{{input.", "$ARGUMENT", "$ARGUMENTS[", "\\$"] {
        let body = unit.repeat(100_000 / unit.len());
        render(&body, Some("a"), json!({}));
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn bug_direct_mode_ignored_its_arguments_and_left_the_folder() {
    let (_, library) = library(&[("greet", "y", "Hi {{input.name}}: $ARGUMENTS"), ("other", "y", "SECRET")]);
    let view = SkillView::new(&library, &Permissions::default(), Caller::Model);
    let call = |name: &str| {
        let request =
            with!(ActivateRequest::new(name), arguments = Some("go".into()), input = Some(json!({"name": "Ann"})));
        direct(&view, &request, &Facts::default())
    };
    assert_eq!(call("greet").unwrap(), Answer::Resource("Hi Ann: go".to_owned()));
    for name in ["../other", "greet/../other", "/s/other", "other/../../etc/passwd"] {
        assert!(matches!(call(name), Err(ActivateError::Unknown { .. })), "{name}");
    }
    let tools = skill_tools(&view);
    assert_eq!(tools.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["skill:greet", "skill:other"]);
}

#[test]
fn modes() {
    let mode =
        |keys: &str| read(&format!("---\nname: x\ndescription: y\n{keys}\n---\n"), "x").content.unwrap().fields.mode;
    assert_eq!(mode("mode: direct"), Some(Mode::Direct));
    assert_eq!(mode("mode: sandbox"), Some(Mode::Sandbox));
    assert_eq!(mode("mode: subagent"), None);
    assert_eq!(mode("version: 1"), None);
}

#[test]
fn invalid_calls_are_explained() {
    for (arguments, message) in [
        (json!(null), "activate_skill: pass an object with `name`"),
        (json!("x"), "activate_skill: pass an object with `name`"),
        (json!({}), "activate_skill: `name` is missing"),
        (json!({"name": ""}), "activate_skill: `name` is missing"),
        (json!({"name": 3}), "activate_skill: `name` must be a string"),
        (json!({"name": "x", "path": []}), "activate_skill: `path` must be a string"),
    ] {
        assert_eq!(ActivateRequest::from_json(&arguments).unwrap_err().to_string(), message);
    }
    let other = ActivateRequest::from_json(&json!({"command": "commit", "args": "x"})).unwrap();
    assert_eq!((other.name.as_str(), other.arguments.as_deref()), ("commit", Some("x")));
}

#[test]
fn bug_file_star_allowed_filesystem_wipe() {
    // A requested tool is an exact text here; the host's policy decides whether to grant it.
    let document = read("---\nname: x\ndescription: y\nallowed-tools: file:*\n---\n", "x");
    assert_eq!(document.content.unwrap().fields.allowed_tools, ["file:*"]);
}
