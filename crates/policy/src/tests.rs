//! Tables of patterns: over commands, paths and hosts, and the compact form of rules.

use crate::argv::Word;
use crate::command::{CommandForms, CommandPattern};
use crate::decision::Fit;
use crate::host::HostPattern;
use crate::path::PathPattern;
use crate::{Context, Effect, LexPath, ToolPattern, compact};

fn words(text: &str) -> Vec<Word> {
    text.split_whitespace().map(|w| if w.starts_with('$') { Word::unknown(w, false) } else { Word::known(w) }).collect()
}

#[test]
fn commands() {
    use Fit::{Maybe, No, Yes};
    for (pattern, argv, allow, deny) in [
        ("git log:*", "git log --oneline", Yes, Yes),
        ("git log:*", "git logout", No, No),
        ("git log", "git log x", No, No),
        ("ls *", "ls", Yes, Yes),
        ("ls *", "lstmeval", No, No),
        ("ls -l?", "ls -la", Yes, Yes),
        ("ls -l?", "ls -lah", No, No),
        ("git push * -f", "git push origin main -f", Yes, Yes),
        ("find * -delete*", "find . -name x -delete", Yes, Yes),
        ("git push --force*", "git push --force-with-lease x", Yes, Yes),
        ("git push --force:*", "git push x --force", No, Yes),
        ("git push --force:*", "git push --forc", No, Maybe),
        ("rm -rf:*", "rm -f x -r", No, Yes),
        ("rm -rf:*", "rm -r x", No, No),
        ("rm -f:*", "rm -- -f", No, No),
        ("rm -rf:*", "rm -rvf x", No, Yes),
        ("bash -i:*", "bash -init", No, No),
        ("git reset --hard:*", "git $X", Maybe, Maybe),
        ("git reset --hard:*", "git log $X", No, No),
        ("*", "anything", Yes, Yes),
        ("* --force", "x y --force", Yes, Yes),
        ("* --force", "x --force y", No, No),
    ] {
        let pattern_ = CommandPattern::parse(pattern).unwrap();
        assert_eq!(pattern_.fit(&words(argv)), allow, "allow {pattern} ~ {argv}");
        let words = words(argv);
        assert_eq!(pattern_.fit_any_form(&words, &CommandForms::new(&words)), deny, "deny {pattern} ~ {argv}");
    }
}

fn fit(pattern: &str, path: &str, loosen: bool) -> Fit {
    let context = Context { cwd: Some("/repo".to_owned()), ..Context::default() };
    PathPattern::parse(pattern).unwrap().fit(&LexPath::read(path), false, &context, loosen)
}

#[test]
fn paths() {
    use Fit::{No, Yes};
    for (pattern, path, allow, deny) in [
        ("src/**", "src/a/b.rs", Yes, Yes),
        ("src/**", "src", No, Yes),
        ("src/*", "src/a/b.rs", No, Yes),
        ("src/*", "/repo/src/a", Yes, Yes),
        ("**/.env", "a/b/.env", Yes, Yes),
        ("**/.env", ".env", Yes, Yes),
        ("**/.env", "/etc/.env", No, Yes),
        ("/etc/**", "../etc/passwd", Yes, Yes),
        ("src/**", "src/../secret", No, No),
        ("Makefile", "makefile", No, Yes),
        ("!./src/**", "README.md", Yes, Yes),
        ("!./src/**", "src/a", No, No),
        ("!./src/**", "SRC/a", No, Yes),
        ("!./src/**", "src", No, No),
        ("!./src/*", "src/a/b", No, Yes),
        ("!./**", "/etc/passwd", No, Yes),
        ("reports/", "reports/a", Yes, Yes),
    ] {
        assert_eq!(fit(pattern, path, true), allow, "allow {pattern} ~ {path}");
        assert_eq!(fit(pattern, path, false), deny, "deny {pattern} ~ {path}");
    }
}

#[test]
fn hosts() {
    for (pattern, host, allow) in [
        ("github.com", "api.github.com", true),
        ("github.com", "notgithub.com", false),
        ("*.github.com", "github.com", false),
        ("*.github.com", "a.b.github.com", true),
        ("10.*", "10.0.0.1", true),
        ("10.*", "10.evil.com", false),
        ("0.0.1", "127.0.0.1", false),
        ("*", "example.com", true),
        ("[::1]", "::1", true),
    ] {
        assert_eq!(HostPattern::parse(pattern).unwrap().fits(host), allow, "{pattern} ~ {host}");
    }
}

#[test]
fn malformed_compact_rules_are_refused() {
    for text in ["Bash(git status", "Bash(rm -rf /)*", "Bash(", "(src)", "Read([invalid", "Bash()", "", "Ba sh", "x)"] {
        assert!(compact(Effect::Allow, text, |_| None).is_err(), "{text}");
    }
}

#[test]
fn compact_rules() {
    let rule = |text| compact(Effect::Allow, text, |_| None).unwrap();
    assert!(rule("Bash(git log:*)").command.is_some());
    assert!(rule("Edit(src/**)").path.is_some());
    assert!(rule("WebFetch(domain:x.org)").host.is_some());
    assert_eq!(rule("Agent(explore)").target.as_deref(), Some("explore"));
    assert_eq!(rule("mcp__a__b__c").tool, ToolPattern::Mcp { server: "a".into(), tool: "b__c".into() });
    assert_eq!(rule("deploy(env:prod*)").args, [("env".to_owned(), "prod*".to_owned())]);
}
