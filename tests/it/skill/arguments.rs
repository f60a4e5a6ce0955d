//! Arguments by declaration.
//!
//! The rules are those of Claude Code's page on skills, with one difference: `$N` needs a
//! declaration, because prices and shell code contain it.

use toolfold::skill::{
    ActivateRequest, ActiveSet, Answer, Budget, Caller, CategoryHint, Facts, Permissions, SkillView, activate,
    activate_tool,
};

use super::{library, read};

const HINT: &str = "argument-hint: \"[a] [b]\"";
const NAMES: &str = "arguments: [base, base_2]";

/// Renders a body of a skill with further lines of front matter.
fn render(keys: &str, body: &str, arguments: Option<&str>) -> (String, Vec<String>) {
    let (fs, library) = library(&[("x", &format!("y\n{keys}"), body)]);
    let view = SkillView::new(&library, &Permissions::default(), Caller::Model);
    let mut request = ActivateRequest::new("x");
    request.arguments = arguments.map(str::to_owned);
    let facts = Facts::default();
    let answer = activate(&fs, &view, &request, &ActiveSet::default(), &facts, CategoryHint::Silent).unwrap();
    let Answer::Activated(activation) = answer else { panic!("{answer:?}") };
    let inner = activation.text.strip_prefix("<skill_content name=\"x\">\n").unwrap();
    let inner = inner.split("\n</skill_content>").next().unwrap().to_owned();
    (inner, activation.diagnostics.iter().map(|d| d.message.clone()).collect())
}

#[test]
fn placeholders_are_those_that_the_skill_declares() {
    for (keys, body, arguments, expected) in [
        // Without a declaration: only `$ARGUMENTS`.
        ("license: x", "all $ARGUMENTS", "x y", "all x y"),
        ("license: x", "$ARGUMENTS[1], $ARGUMENTS[0]", "x y", "y, x"),
        ("license: x", "$20/month", "x y", "$20/month\n\nARGUMENTS: x y"),
        ("license: x", "awk '{print $1}' $0", "x", "awk '{print $1}' $0\n\nARGUMENTS: x"),
        ("license: x", "$base", "x", "$base\n\nARGUMENTS: x"),
        ("license: x", "$ARGUMENTS[a] $ARGUMENTSX", "x", "x[a] $ARGUMENTSX"),
        // A hint declares positions.
        (HINT, "$0|$1", "x y", "x|y"),
        (HINT, "$base", "x", "$base\n\nARGUMENTS: x"),
        (HINT, "$1.42B $1,000 $1x $0.", "x y", "$1.42B $1,000 $1x x."),
        // Names declare both.
        (NAMES, "$base|$base_2|$base_3|$1", "x y", "x|y|$base_3|y"),
        ("arguments: base base_2", "$base_2", "x y", "y"),
        ("arguments:\n  - name: base\n    required: true", "$base", "x", "x"),
        // A backslash before an argument is removed; before other text it stays.
        (HINT, r"\$0 $1", "x y", "$0 y"),
        (HINT, r"\$ARGUMENTS \$HOME \${X_Y} \n", "x", "$ARGUMENTS \\$HOME \\${X_Y} \\n\n\nARGUMENTS: x"),
        ("license: x", r"\$1", "x", "\\$1\n\nARGUMENTS: x"),
        // Words.
        (HINT, "$0|$1", "'a b' \"c d\"", "a b|c d"),
        (HINT, "$0|$1", "fix #12", "fix|#12"),
        (HINT, "$0|$1", "it's late", "it's|late"),
        (HINT, "$0|$1", "a\\ b c", "a b|c"),
    ] {
        assert_eq!(render(keys, body, Some(arguments)).0, expected, "{keys}: {body} with {arguments}");
    }
}

#[test]
fn arguments_without_a_value_stay_and_are_reported() {
    for (keys, body, arguments, reported) in [
        (HINT, "$2", Some("x y"), "$2"),
        (HINT, "$0", None, "$0"),
        (NAMES, "$base_2", Some("x"), "$base_2"),
        ("license: x", "$ARGUMENTS[7]", Some("x"), "$ARGUMENTS[7]"),
    ] {
        let (text, notes) = render(keys, body, arguments);
        let given = arguments.map(|given| format!("\n\nARGUMENTS: {given}")).unwrap_or_default();
        assert_eq!(text, format!("{body}{given}"));
        assert_eq!(notes, [format!("placeholder `{reported}` has no value and is unchanged")], "{body}");
    }
}

#[test]
fn arguments_are_offered_when_a_skill_can_take_some() {
    for (keys, body, offered) in [
        ("license: x", "Body $1", false),
        ("license: x", "Body $ARGUMENTS", true),
        (HINT, "Body", true),
        (NAMES, "Body", true),
    ] {
        let (_, library) = library(&[("x", &format!("y\n{keys}"), body)]);
        let view = SkillView::new(&library, &Permissions::default(), Caller::Model);
        let tool = activate_tool(&view, Budget::default()).unwrap();
        assert_eq!(tool.parameters.pointer("/properties/arguments").is_some(), offered, "{keys}: {body}");
    }
}

#[test]
fn the_declaration_is_not_an_unknown_key() {
    let document = read("---\nname: x\ndescription: y\narguments: [a]\n---\n", "x");
    assert_eq!(document.content.unwrap().fields.arguments, ["a"]);
    assert!(document.diagnostics.is_empty(), "{:?}", document.diagnostics);
}
