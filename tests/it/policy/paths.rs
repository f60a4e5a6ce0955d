//! Spellings of paths, by class: what a deny must see through, and what no allow may rest on.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::dialect::evaluate;

fn decide(rules: &[&str], path: &str, ctx: &Value) -> (String, String) {
    let row = json!({"id": "", "rule": rules, "tool": "Edit", "args": {"file_path": path}, "ctx": ctx});
    let got = evaluate(&row).unwrap();
    (got.decision.to_owned(), got.reason)
}

#[track_caller]
fn check(rules: &[&str], ctx: &Value, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(path, expected)| {
            let (got, reason) = decide(rules, path, ctx);
            (got != *expected).then(|| format!("{path:?}: {got} instead of {expected}: {reason}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{rules:?}\n{}", wrong.join("\n"));
}

/// Every one of these is, to some reader, `/etc/passwd`.
const PASSWD: &[&str] = &[
    "/etc/passwd",
    "//etc//passwd",
    "/./etc/./passwd",
    "/etc/passwd/",
    "../etc/passwd",
    "a/../../etc/passwd",
    "/../etc/passwd",
    "/ETC/Passwd",
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "FILE:///etc/passwd",
    "file:/etc/passwd",
    "file:///etc/%70asswd",
    "file:///etc/%2570asswd",
    "file:///etc/passwd?x=1",
    "file:///etc/passwd#x",
    "/etc/%70asswd",
    "%2fetc%2fpasswd",
    "\\etc\\passwd",
    "C:\\etc\\passwd",
    "c:/etc/passwd",
    "\\\\?\\C:\\etc\\passwd",
    "/etc\\passwd",
    "/etc/pass\\wd",
    "/etc/passwd.",
    "/etc/passwd. .",
    "/etc/passwd ",
    " /etc/passwd",
    "/etc /passwd",
    "/etc/passwd\n",
    "/etc/passwd\0.txt",
    "/etc/pass\u{200b}wd",
    "/etc/\u{202e}passwd",
    "/etc/pass\u{ad}wd",
    "/etc/p\u{e0061}asswd",
    "/etc/pa\u{17f}\u{17f}wd",
    "/etc/\u{ff50}asswd",
    "/proc/self/root/etc/passwd",
    "/x/../proc/self/root/etc/passwd",
    "/proc/../proc/./self/root/etc/passwd",
    "/proc/thread-self/root/etc/passwd",
    "/proc/self/task/1/root/etc/passwd",
    "/proc/1/root/etc/passwd",
    "/proc/self/cwd/../etc/passwd",
    "/private/etc/passwd",
    "/System/Volumes/Data/etc/passwd",
    "/etc\u{ff0f}passwd",
    "a/\u{ff0e}\u{ff0e}/\u{ff0e}\u{ff0e}/etc/passwd",
    "'/etc/passwd'",
    "\"/etc/passwd\"",
    "//localhost/etc/passwd",
    "\\\\LOCALHOST\\etc\\passwd",
    "file://other/etc/passwd",
    "${HOME}/../../etc/passwd",
    " file://localhost\\etc%252f./pass\u{200b}wd. :x ",
    "'C:\\proc/self\\root/%65tc\u{ff0f}p\u{ad}asswd . '",
    "/etc/passwd:stream",
    "/etc/passwd::$DATA",
];

#[test]
fn a_deny_sees_through_every_form() {
    let denied: Vec<_> = PASSWD.iter().map(|path| (*path, "deny")).collect();
    check(&["allow *", "deny Edit(/etc/passwd)"], &json!({}), &denied);
    check(&["allow *", "deny Edit(/etc/**)"], &json!({}), &denied);
}

#[test]
fn an_allow_rests_on_the_plain_form_alone() {
    let plain = [
        "/etc/passwd",
        "//etc//passwd",
        "/./etc/./passwd",
        "/etc/passwd/",
        "../etc/passwd",
        "a/../../etc/passwd",
        "/../etc/passwd",
        "file:///etc/passwd",
    ];
    let rules = ["allow Edit(/etc/passwd)"];
    let cases: Vec<_> = PASSWD.iter().map(|path| (*path, if plain.contains(path) { "allow" } else { "ask" })).collect();
    check(&rules, &json!({}), &cases);
    // What is odd is asked about even where it is below in any reading.
    check(
        &["allow Edit(./**)"],
        &json!({}),
        &[
            ("src/a.rs", "allow"),
            ("src\\a.rs", "ask"),
            ("src/a%20b.rs", "ask"),
            ("src/a.rs.", "ask"),
            ("src/.../a.rs", "ask"),
            ("~root/a", "ask"),
            ("$HOME/a", "ask"),
            ("$PWD/a", "ask"),
            ("src/$id.rs", "allow"),
            ("src/~a", "allow"),
            ("src/a b.rs", "allow"),
            ("src/\u{e9}t\u{e9}.rs", "allow"),
            ("src/10:00.txt", "allow"),
        ],
    );
}

#[test]
fn homes() {
    let rules = ["allow *", "deny Edit(~/.ssh/**)"];
    check(
        &rules,
        &json!({}),
        &[
            ("~/.ssh/id", "deny"),
            ("$HOME/.ssh/id", "deny"),
            ("${HOME}/.ssh/id", "deny"),
            ("%USERPROFILE%\\.ssh\\id", "deny"),
            ("~user/.ssh/id", "deny"),
            ("~other/.ssh/id", "ask"),
            ("/home/user/.SSH/id", "deny"),
            ("~/.sshd/id", "allow"),
            ("$HOMEPAGE/.ssh/id", "allow"),
        ],
    );
    check(&["allow *", "deny Edit(/root/**)"], &json!({}), &[("~root/.ssh/id", "deny")]);
}

#[test]
fn doors_of_the_kernel() {
    check(
        &["allow *", "deny Edit(/etc/**)"],
        &json!({}),
        &[
            ("/dev/fd/3", "ask"),
            ("/dev/fd/0", "allow"),
            ("/dev/stdin", "allow"),
            ("/proc/self/fd/3", "ask"),
            ("/proc/12/cwd/a", "ask"),
            ("/proc/cpuinfo", "allow"),
            ("/dev/null", "allow"),
        ],
    );
    check(
        &["allow Edit(/dev/**)", "allow Edit(/proc/**)"],
        &json!({}),
        &[("/dev/fd/3", "ask"), ("/proc/self/root/proc/a", "ask"), ("/dev/null", "allow")],
    );
}

#[test]
fn invisible_characters_require_approval_despite_an_allow() {
    for (path, shown) in
        [("a\u{200b}b", "a\\u{200b}b"), ("a\u{202e}txt.exe", "\\u{202e}"), ("a\0b", "\\u{0}"), ("a\rb", "\\u{d}")]
    {
        for rules in [&["allow *"][..], &["allow Edit"], &["tier B Edit"], &["tier READ_ONLY Edit"], &["default allow"]]
        {
            let (got, reason) = decide(rules, path, &json!({}));
            assert_eq!(got, "ask", "{rules:?} {path:?}");
            assert!(reason.contains(shown), "{reason}");
            assert!(!reason.chars().any(|c| c.is_control() || c == '\u{202e}' || c == '\u{200b}'), "{reason:?}");
        }
        let (got, _) = decide(&["grant(always) tool=Edit"], path, &json!({}));
        assert_eq!(got, "ask", "{path:?}");
    }
    check(
        &["allow *"],
        &json!({}),
        &[("a", "allow"), ("\u{2764}", "allow"), ("\u{639}\u{631}\u{628}\u{64a}", "allow")],
    );
}

#[test]
fn unicode_forms() {
    let (nfc, nfd) = ("caf\u{e9}/x", "cafe\u{301}/x");
    for (deny, path) in [("deny Edit(caf\u{e9}/**)", nfd), ("deny Edit(cafe\u{301}/**)", nfc)] {
        check(&["allow *", deny], &json!({}), &[(path, "deny"), ("cafe/x", "allow"), ("CAF\u{c9}/x", "deny")]);
        check(&["allow *", deny], &json!({"case_insensitive_fs": false}), &[(path, "deny"), ("CAF\u{c9}/x", "allow")]);
    }
    // An allow takes both forms for one only where the file system does.
    let allow = ["allow Edit(caf\u{e9}/**)"];
    check(&allow, &json!({}), &[(nfc, "allow"), (nfd, "ask")]);
    check(&allow, &json!({"case_insensitive_fs": true}), &[(nfc, "allow"), (nfd, "allow"), ("CAF\u{c9}/x", "allow")]);
}

#[test]
fn letter_case() {
    let rules = ["allow Edit(src/**)", "deny Edit(src/Keep/**)"];
    let cases = |other: &'static str| [("src/a", "allow"), ("SRC/a", other), ("src/keep/a", "deny")];
    check(&rules, &json!({}), &cases("ask"));
    check(&rules, &json!({"case_insensitive_fs": true}), &cases("allow"));
    check(
        &rules,
        &json!({"case_insensitive_fs": false}),
        &[("SRC/a", "ask"), ("src/keep/a", "allow"), ("src/Keep/a", "deny")],
    );
    // Turned round, an allow is wide where it keeps out, and a deny narrow.
    check(&["allow Edit(!./src/**)"], &json!({}), &[("a", "allow"), ("SRC/a", "ask"), ("src", "ask")]);
    check(&["allow *", "deny Edit(!./src/**)"], &json!({}), &[("a", "deny"), ("SRC/a", "deny"), ("src/a", "allow")]);
    // Letters that only some tables take for one.
    let insensitive = json!({"case_insensitive_fs": true});
    check(&["allow Edit(stra\u{df}e/**)"], &insensitive, &[("STRASSE/x", "ask"), ("stra\u{df}e/x", "allow")]);
    check(&["allow *", "deny Edit(stra\u{df}e/**)"], &insensitive, &[("STRASSE/x", "deny")]);
}

#[test]
fn names_of_tools() {
    let call = |rules: &[&str], tool: &str, expected: &str| {
        let got = evaluate(&json!({"id": "", "rule": rules, "tool": tool, "args": {}})).unwrap();
        assert_eq!(got.decision, expected, "{rules:?} {tool:?}: {}", got.reason);
    };
    for tool in ["r\u{e9}set", "re\u{301}set", "R\u{c9}SET", "r\u{e9}\u{200b}set", "\u{ff52}\u{e9}set"] {
        call(&["allow *", "deny r\u{e9}set"], tool, "deny");
    }
    call(&["allow reset"], "re\u{200b}set", "ask");
    call(&["allow re*"], "re\u{200b}set", "ask");
    call(&["allow *"], "re\u{200b}set", "ask");
    call(&["allow reset"], "RESET", "ask");
    call(&["allow reset"], "reset", "allow");
}

/// Ways to spell a path below `/workspace` otherwise, so that it still names the same file to some
/// reader.
const WAYS: usize = 15;

fn rewritten(path: &str, way: usize) -> String {
    let absolute = format!("/workspace/{path}");
    let first = path.chars().next().unwrap();
    match way {
        0 => absolute,
        1 => format!("./{path}"),
        2 => format!("zz/../{path}"),
        3 => path.replace('/', "//"),
        4 => path.replace('/', "/./"),
        5 => format!("file://{absolute}"),
        6 => format!("file://localhost{absolute}"),
        7 => format!("%{:02x}{}", u32::from(first), &path[1..]),
        8 => path.replace('/', "\\"),
        9 => path.to_uppercase(),
        10 => format!("{path} "),
        11 => format!("{path}..."),
        12 => format!("{first}\u{200d}{}", &path[1..]),
        13 => format!("/proc/self/root{absolute}"),
        _ => format!("$PWD/{path}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_deny_of_a_path_denies_its_forms(path in "[a-z]{1,6}(/[a-z]{1,6}){0,3}", ways in prop::collection::vec(0..WAYS, 1..3)) {
        let other = ways.iter().filter(|way| **way != 0 && **way != 5 && **way != 6 && **way != 13 && **way != 14).fold(path.clone(), |p, way| rewritten(&p, *way));
        let other = if other.starts_with(char::is_alphabetic) { rewritten(&other, ways[0]) } else { other };
        let rule = format!("deny Edit({path})");
        prop_assert_eq!(decide(&["allow *", &rule], &other, &json!({})).0, "deny", "{:?}", other);
    }

    #[test]
    fn an_allow_of_a_path_allows_nothing_else(folder in "[a-c]{1,2}", parts in prop::collection::vec(prop::sample::select(&["a", "b", "c", "ab", "..", ".", "", "A", "a ", "a.", "%61", "a\\b", "~", "a\u{200b}", "a\u{301}", "$PWD"][..]), 1..6), root in any::<bool>()) {
        let path = format!("{}{}", if root { "/workspace/" } else { "" }, parts.join("/"));
        let rule = format!("allow Edit({folder}/**)");
        if decide(&[&rule], &path, &json!({})).0 == "allow" {
            // Read by the standard library, component by component.
            let mut real: Vec<std::ffi::OsString> = vec!["workspace".into()];
            for part in std::path::Path::new(&path).components() {
                match part {
                    std::path::Component::RootDir => real.clear(),
                    std::path::Component::ParentDir => drop(real.pop()),
                    std::path::Component::Normal(name) => real.push(name.to_owned()),
                    _ => {}
                }
            }
            prop_assert!(real.len() > 2 && real[0] == "workspace" && real[1] == folder.as_str(), "{:?} -> {:?}", path, real);
        }
    }
}
