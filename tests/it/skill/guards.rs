//! Keys that restrict a skill: each has an effect or is reported.

use toolfold::skill::{
    ActivateRequest, ActiveSet, Answer, Caller, CategoryHint, Facts, Permission, PermissionRule, Permissions,
    SkillView, activate, strict, to_standard,
};
use toolfold_testing::with;

use super::{codes, library, read};

/// Whether an activation by a caller requires approval.
fn asks(keys: &str, caller: Caller) -> bool {
    let (fs, library) = library(&[("x", &format!("y\n{keys}"), "Body")]);
    let view = SkillView::new(&library, &Permissions::default(), caller);
    let answer = |request: ActivateRequest| {
        activate(&fs, &view, &request, &ActiveSet::default(), &Facts::default(), CategoryHint::Silent).unwrap()
    };
    let approved = answer(with!(ActivateRequest::new("x"), approved = true));
    assert!(matches!(approved, Answer::Activated(_)), "{keys}: {approved:?}");
    matches!(answer(ActivateRequest::new("x")), Answer::NeedsApproval { .. })
}

#[test]
fn dangerous_and_confirm_require_approval() {
    for (keys, expected) in [
        ("license: x", false),
        ("dangerous: true", true),
        ("dangerous: false", false),
        // An unreadable guard counts as set.
        ("dangerous: perhaps", true),
        ("confirm: Really wipe the disk?", true),
        ("confirm: true", true),
        ("confirm: false", false),
        ("metadata:\n  dangerous: true", true),
        ("metadata:\n  dangerous: false", false),
        ("metadata:\n  confirm: Sure?", true),
    ] {
        assert_eq!(asks(keys, Caller::Model), expected, "{keys}");
        // A user who names the skill has decided.
        assert!(!asks(keys, Caller::User), "{keys}");
    }
}

#[test]
fn a_remembered_approval_lifts_a_guard() {
    let (_, library) = library(&[("x", "y\ndangerous: true", "Body")]);
    let mut permissions = Permissions::default();
    permissions.approved.push("x".to_owned());
    let view = SkillView::new(&library, &permissions, Caller::Model);
    assert_eq!(view.get("x").map(|(_, permission)| permission), Some(Permission::Allow));
}

#[test]
fn a_guard_never_lifts_a_denial() {
    let (_, library) = library(&[("x", "y\ndangerous: true", "Body")]);
    let rules = vec![PermissionRule { pattern: "x".to_owned(), permission: Permission::Deny }];
    let denied = with!(Permissions::default(), layers = vec![rules]);
    assert_eq!(SkillView::new(&library, &denied, Caller::Model).names().count(), 0);
}

#[test]
fn guards_without_effect_are_reported() {
    for (keys, expected) in [
        ("disallowed-tools: Bash, Write", vec!["no-effect"]),
        ("disallowedTools: Bash", vec!["no-effect"]),
        ("permissions:\n  - fs.write", vec!["no-effect"]),
        ("timeout: 10", vec!["no-effect"]),
        ("hooks:\n  PreToolUse:\n    - matcher: Bash", vec!["no-effect"]),
        ("paths:\n  - src/**", vec!["no-effect"]),
        ("mode: sandbox", vec!["no-effect"]),
        ("mode: direct", vec![]),
        ("homepage: https://x.y", vec![]),
    ] {
        let document = read(&format!("---\nname: x\ndescription: y\n{keys}\n---\n"), "x");
        assert_eq!(codes(&document), expected, "{keys}");
    }
}

#[test]
fn a_converted_skill_keeps_its_guards() {
    let text = "---\nname: x\ndescription: y\ndangerous: true\nconfirm: Sure?\n---\nBody";
    let (name, written) = to_standard(&read(text, "x").content.unwrap());
    assert_eq!(strict::validate(&written, &name), Vec::<String>::new(), "{written}");
    let fields = read(&written, "x").content.unwrap().fields.clone();
    assert_eq!((fields.dangerous, fields.confirm.as_deref()), (true, Some("Sure?")));
}
