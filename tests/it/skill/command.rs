//! Commands of other agents, read as skills.

use toolfold::skill::{Document, read_command, strict, to_standard};

use super::codes;

fn command(text: &str, name: &str) -> Document {
    read_command(text.as_bytes(), "commands/x.md", name)
}

#[test]
fn a_command_becomes_a_skill_of_the_standard() {
    let text = "---\ndescription: Fix an issue\nallowed-tools: Bash(git add:*), Read\nargument-hint: [number]\nmodel: opus\n---\n\
                Fix issue #$ARGUMENTS. Take $1 first.\n\nState: !`git status`\nRules: @docs/rules.md, mail a@b.org\n";
    let document = command(text, "dev:fix_issue");
    let content = document.content.as_ref().unwrap();
    let (name, written) = to_standard(content);
    assert_eq!(strict::validate(&written, &name), Vec::<String>::new(), "{written}");
    assert_eq!(name, "dev-fix-issue");
    for line in [
        "name: dev-fix-issue\n",
        "description: Fix an issue\n",
        "allowed-tools: \"Bash(git add:*) Read\"\n",
        "  former-name: \"dev:fix_issue\"\n",
        "  model: opus\n",
        "  argument-hint: \"[number]\"\n",
        "\nFix issue #$ARGUMENTS. Take $ARGUMENTS[0] first.\n\nState: !`git status`\nRules: @docs/rules.md, mail a@b.org\n",
    ] {
        assert!(written.contains(line), "{line} is missing in\n{written}");
    }
    let notes: Vec<String> = document.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        codes(&document),
        ["command-not-run", "file-not-read", "no-counterpart", "no-counterpart"],
        "{notes:#?}"
    );
    assert!(notes[0].starts_with("warning[command-not-run] commands/x.md:9:8: "), "{}", notes[0]);
    assert!(notes[1].starts_with("warning[file-not-read] commands/x.md:10:8: `@docs/rules.md`"), "{}", notes[1]);
    assert!(notes[2].ends_with("without effect: `model`"), "{}", notes[2]);
}

#[test]
fn missing_fields_of_a_command_come_from_its_text() {
    for (text, description) in [
        ("Review the diff carefully. Then fix it.", "Review the diff carefully."),
        ("# Deploy\n\n- one\n", "Deploy"),
        ("---\nmodel: opus\n---\nReview the diff carefully.", "Review the diff carefully."),
        ("---\n---\nSay \"hi\" to everybody", "Say 'hi' to everybody"),
    ] {
        let document = command(text, "x");
        let content = document.content.as_ref().unwrap_or_else(|| panic!("{text}: {:?}", document.diagnostics));
        assert_eq!((content.name.as_str(), content.description.as_str()), ("x", description), "{text}");
        assert!(codes(&document).contains(&"no-description"), "{text}");
        assert!(!content.body.contains("model:"), "{text}");
    }
    for (text, code) in [
        ("", "no-body"),
        ("---\nmodel: opus\n---\n", "no-body"),
        ("---\ndescription: a\ndescription: b\n---\nText", "duplicate-key"),
    ] {
        let document = command(text, "x");
        assert!(document.content.is_none() && codes(&document).contains(&code), "{text}: {:?}", document.diagnostics);
    }
}

#[test]
fn code_and_mail_addresses_are_not_files() {
    let text = "---\ndescription: x\n---\nUse `@dataclass`, ask @ann, or:\n```\n@app.route(\"/\")\n!`ls`\n```\nThen read @~/notes.md.";
    let document = command(text, "x");
    let named: Vec<&str> =
        document.diagnostics.iter().filter(|d| d.code == "file-not-read").map(|d| d.message.as_str()).collect();
    assert_eq!(named, ["`@~/notes.md` is not replaced by the file"]);
}

#[test]
fn arguments_of_commands_are_counted_from_zero() {
    for (body, expected) in [
        ("Review $1 and $2.", "Review $ARGUMENTS[0] and $ARGUMENTS[1]."),
        ("$9", "$ARGUMENTS[8]"),
        ("costs $20 or $1.42B or $1,000", "costs $20 or $1.42B or $1,000"),
        ("$0 $1x $HOME \\$1 $", "$0 $1x $HOME \\$1 $"),
    ] {
        let document = command(&format!("---\ndescription: x\n---\n{body}"), "x");
        assert_eq!(document.content.unwrap().body.trim(), expected, "{body}");
    }
}

#[test]
fn a_converted_command_still_declares_its_arguments() {
    let text = "---\ndescription: x\nargument-hint: [number]\narguments: [issue, label]\n---\nTake $issue.";
    let (name, written) = to_standard(&command(text, "fix").content.unwrap());
    assert_eq!(strict::validate(&written, &name), Vec::<String>::new(), "{written}");
    let fields = super::read(&written, "fix").content.unwrap().fields.clone();
    assert_eq!((fields.argument_hint.as_deref(), fields.arguments), (Some("[number]"), names(&["issue", "label"])));
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
