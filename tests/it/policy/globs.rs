//! Glob words and braces against rules over paths: what no expansion can be is not asked about.

use proptest::prelude::*;
use serde_json::json;
use toolfold::policy::eval::evaluate;

fn decide(rules: &[&str], command: &str) -> (String, String) {
    let row = json!({"id": "", "rule": rules, "tool": "Bash", "args": {"command": command}});
    let got = evaluate(&row).unwrap();
    (got.decision.to_owned(), got.reason)
}

#[track_caller]
fn check(rules: &[&str], cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(command, expected)| {
            let (got, reason) = decide(rules, command);
            (got != *expected).then(|| format!("{command}: {got} instead of {expected}: {reason}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{rules:?}\n{}", wrong.join("\n"));
}

#[test]
fn impossible_expansions() {
    check(
        &["allow Bash(*)", "deny Read(**/.env)"],
        &[
            ("cat *.txt", "allow"),
            ("cat *", "allow"),
            ("cat */*", "allow"),
            ("cat src/**/*.rs", "allow"),
            ("cat file[0-9].log", "allow"),
            ("cat {a,b}.c", "allow"),
            ("cat {a,b{1..3}}.c", "allow"),
            ("cat ?env", "allow"),
            // An interactive shell may replace the `!` by an earlier command.
            ("cat [!a]env", "ask"),
            ("cat [^a]env", "allow"),
            ("cat 'my dir'/*.txt", "allow"),
            ("cat \"my dir\"/*.txt", "allow"),
            ("cat ~/*.txt", "allow"),
            ("cat /tmp/*.txt", "allow"),
            ("cat < *.txt", "allow"),
            ("cat .e*", "ask"),
            ("cat .en?", "ask"),
            ("cat .EN?", "ask"),
            ("cat a/.*", "ask"),
            ("cat .en[uvw]", "ask"),
            ("cat .en[^a]", "ask"),
            ("cat .en[[:lower:]]", "ask"),
            ("cat [.]env", "ask"),
            ("cat .en['v']*", "ask"),
            ("cat */.env", "deny"),
            ("cat **/.env", "deny"),
            ("cat {.env,a}", "deny"),
            ("cat {.en,a}v", "deny"),
            ("cat a/{b,.env}", "deny"),
            ("cat .en{t..w}", "ask"),
            ("cat /tmp/.e*", "ask"),
            ("cat $x*", "ask"),
            ("cat */../.e*", "ask"),
            ("grep -r x *", "ask"),
            // What goes down into folders that a glob names.
            ("tar czf a.tgz *", "ask"),
            ("zip -r a.zip *", "ask"),
            ("diff -r a* b", "ask"),
            ("rg x src/*", "ask"),
            ("fish -c 'cat a**v'", "ask"),
        ],
    );
}

#[test]
fn settings_of_the_shell() {
    check(
        &["allow Bash(*)", "deny Read(**/.env)"],
        &[
            ("shopt -s dotglob; cat *", "ask"),
            ("cat *; shopt -s dot''glob", "ask"),
            ("GLOBIGNORE=a; cat *", "ask"),
            ("export GLOB\"\"IGNORE=a; cat *", "ask"),
            ("n=BIGNORE; export GLO$n=a; cat *", "ask"),
            ("bash -O dotglob -c 'cat *'", "ask"),
            ("zsh -c 'setopt glob_dots; cat *'", "ask"),
            ("zsh -c 'cat *(D)'", "ask"),
            ("shopt -s extglob\ncat @(.env|a)", "ask"),
            ("set -e; cat *.txt", "allow"),
            ("export A=b; cat *", "allow"),
        ],
    );
}

#[test]
fn certain_expansions() {
    check(
        &["allow Bash(*)", "deny Edit(secret/**)", "deny Edit(**/*.lock)"],
        &[
            ("rm secret/*", "deny"),
            ("rm -rf secret/*/x", "deny"),
            ("rm ./secret/*.txt", "deny"),
            ("cd secret && rm *", "deny"),
            ("rm *.lock", "deny"),
            ("rm build/*", "ask"),
            ("rm build/*.o", "allow"),
            ("rm -r build/*", "ask"),
            ("rm *", "ask"),
            ("rm s*/a", "ask"),
            ("rm [a-r]*/a", "ask"),
            ("rm [0-9]*/a.txt", "allow"),
            ("rm se{cret,x}/a", "deny"),
            ("cat secret/*", "allow"),
        ],
    );
}

#[test]
fn copies_of_globs() {
    check(
        &["allow Bash(*)", "deny Edit(**/.env)"],
        &[
            ("cp ./*.txt x/", "allow"),
            ("cp a*.txt x/", "allow"),
            // A file may be called `-rS.txt`.
            ("cp *.txt x/", "ask"),
            ("cp {a,b}.c x/", "allow"),
            ("cp a/.e* x/", "ask"),
            ("cp {a,.env} x/", "deny"),
            // A whole folder may be moved.
            ("mv *.txt x/", "ask"),
            ("rm *.txt", "allow"),
            ("rm *", "ask"),
            ("rm -- *.txt", "allow"),
            ("cp -t x a/.e*", "ask"),
            ("cp $f x/", "ask"),
        ],
    );
}

#[test]
fn turned_round_and_allowed() {
    check(
        &["allow Bash(*)", "deny Edit(!./src/**)"],
        &[("rm src/*.rs", "allow"), ("rm *.rs", "deny"), ("rm s*/a", "deny"), ("rm src/*/../../a", "deny")],
    );
    // Where single commands are allowed, a glob is the files of a program that takes files there,
    // and no target of a redirection.
    check(
        &["allow Bash(echo:*)", "allow Bash(cat:*)", "allow Edit(out/**)", "allow Read(src/**)"],
        &[("echo x > out/*", "ask"), ("cat src/*.rs", "allow"), ("echo x > out/a", "allow")],
    );
}

/// A leading dot must be written: what stands before it names nothing hidden, be it empty.
#[test]
fn a_dot_after_a_wildcard_is_not_leading() {
    check(
        &["allow Bash(*)", "deny Read(.env)"],
        &[
            ("cat *.env", "allow"),
            ("cat *.*", "allow"),
            ("cat ./*env", "allow"),
            ("cat .*", "ask"),
            ("cat .e*", "ask"),
            ("cat .*env", "ask"),
            ("cat [.]env", "ask"),
            ("shopt -s dotglob; cat *.env", "ask"),
        ],
    );
}

#[test]
fn links_that_a_glob_may_name() {
    let decide = |command: &str, links: serde_json::Value| {
        let rules = ["allow Bash(*)", "deny Read(**/.env)", "deny Edit(/etc/**)"];
        let row =
            json!({"id": "", "rule": rules, "tool": "Bash", "args": {"command": command}, "ctx": {"links": links}});
        evaluate(&row).unwrap().decision
    };
    for (command, links, expected) in [
        ("cat *.txt", json!({"a.txt": ".env"}), "ask"),
        ("cat *.txt", json!({"a.rs": ".env"}), "allow"),
        ("cat *.txt", json!({"sub/a.txt": ".env"}), "allow"),
        ("cat */*.txt", json!({"sub/a.txt": ".env"}), "ask"),
        ("cat */*.txt", json!({"sub/b/a.txt": ".env"}), "allow"),
        ("cat **/*.txt", json!({"sub/b/a.txt": ".env"}), "ask"),
        ("cat **/*.txt", json!({"sub/b/a.rs": ".env"}), "ask"),
        ("cat */a.txt", json!({"sub": "other"}), "ask"),
        ("cat x/*.txt", json!({"x": "other", "other/a.txt": "b"}), "ask"),
        ("cat x/*.txt", json!({"x": "other", "other/a.rs": "b"}), "allow"),
        ("cat x/../*.txt", json!({"x": "other"}), "ask"),
        ("rm x/*", json!({"x": "/etc"}), "deny"),
        ("cat [ab].txt", json!({"c.txt": ".env"}), "allow"),
        ("cat [ab].txt", json!({"b.txt": ".env"}), "ask"),
    ] {
        assert_eq!(decide(command, links.clone()), expected, "{command} {links}");
    }
}

#[test]
fn links_of_the_same_line() {
    check(
        &["allow Bash(*)", "deny Read(/etc/**)"],
        &[
            ("ln -s /usr y && cat x*/passwd", "allow"),
            ("ln -s /usr xy && cat x*/passwd", "ask"),
            ("ln -s /usr x; cat */passwd", "ask"),
            ("ln -s /usr x; cat *.txt", "allow"),
        ],
    );
}

#[test]
fn long_and_hostile_words_are_answered() {
    for command in [
        format!("cat {}b", "*a".repeat(3_000)),
        format!("cat {}", "*/".repeat(4_000)),
        format!("cat {}", "{a,b}".repeat(800)),
        format!("cat {}", "**/".repeat(3_000)),
        format!("cat {}", "[a]".repeat(3_000)),
        format!("cat {}", "{1..9}".repeat(20)),
    ] {
        let pattern = format!("deny Read(**/{}c)", "*a".repeat(300));
        let (decision, reason) = decide(&["allow Bash(*)", &pattern, "deny Read(**/a/**/b/**/c/**/.env)"], &command);
        // Each may be a file that a rule denies.
        assert_ne!(decision, "allow", "{}…: {reason}", command.get(..20).unwrap_or(&command));
    }
}

/// Whether a name fits a segment of a shell's glob: `*`, `?`, `[ab]`, `[!a]`.
fn shell_segment(glob: &[char], name: &[char], start: bool) -> bool {
    let dot = |c: char| start && c == '.';
    match (glob.first(), name.first()) {
        (None, None) => true,
        (Some('*'), _) => {
            (!start || name.first() != Some(&'.')) && shell_segment(&glob[1..], name, false)
                || name.first().is_some_and(|&c| !dot(c)) && shell_segment(glob, &name[1..], false)
        }
        (Some('?'), Some(&c)) => !dot(c) && shell_segment(&glob[1..], &name[1..], false),
        (Some('['), Some(&c)) => {
            let end = glob.iter().position(|c| *c == ']').unwrap();
            let body = &glob[1..end];
            let fits = if body[0] == '!' { !body[1..].contains(&c) } else { body.contains(&c) };
            fits && !dot(c) && shell_segment(&glob[end + 1..], &name[1..], false)
        }
        (Some(a), Some(b)) => a == b && shell_segment(&glob[1..], &name[1..], false),
        _ => false,
    }
}

fn pattern_segment(glob: &[char], name: &[char]) -> bool {
    match (glob.first(), name.first()) {
        (None, None) => true,
        (Some('*'), _) => pattern_segment(&glob[1..], name) || !name.is_empty() && pattern_segment(glob, &name[1..]),
        (Some('?'), Some(_)) => pattern_segment(&glob[1..], &name[1..]),
        (Some(a), Some(b)) => a == b && pattern_segment(&glob[1..], &name[1..]),
        _ => false,
    }
}

fn pattern_fits(pattern: &[&str], path: &[&str]) -> bool {
    let letters = |text: &str| text.chars().collect::<Vec<_>>();
    match (pattern.first(), path.first()) {
        (None, None) => true,
        // At the end of what forbids, everything below too.
        (Some(&"*"), Some(_)) if pattern.len() == 1 => true,
        (Some(&"**"), _) => pattern_fits(&pattern[1..], path) || !path.is_empty() && pattern_fits(pattern, &path[1..]),
        (Some(p), Some(s)) => pattern_segment(&letters(p), &letters(s)) && pattern_fits(&pattern[1..], &path[1..]),
        _ => false,
    }
}

fn shell_fits(word: &[&str], path: &[&str]) -> bool {
    let letters = |text: &str| text.chars().collect::<Vec<_>>();
    word.len() == path.len() && word.iter().zip(path).all(|(w, s)| shell_segment(&letters(w), &letters(s), true))
}

/// Every name of one to three letters that is no step, and every path of one or two of them.
fn names() -> Vec<String> {
    let letters = ["a", "b", "."];
    let mut all: Vec<String> = Vec::new();
    let mut last = vec![String::new()];
    for _ in 0..3 {
        last = last.iter().flat_map(|head| letters.iter().map(move |c| format!("{head}{c}"))).collect();
        all.extend(last.iter().filter(|n| !matches!(n.as_str(), "." | "..")).cloned());
    }
    all
}

fn expansions(word: &[&str]) -> Vec<Vec<String>> {
    let names = names();
    let fitting = |w: &str| -> Vec<String> { names.iter().filter(|n| shell_fits(&[w], &[n])).cloned().collect() };
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for w in word {
        let next = fitting(w);
        all = all.iter().flat_map(|head| next.iter().map(move |n| [head.clone(), vec![n.clone()]].concat())).collect();
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(1_500), max_global_rejects: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn answers_match_brute_force(
        word in prop::collection::vec("([ab.]|\\*|\\?|\\[ab\\]|\\[!a\\]){1,3}", 1..3),
        pattern in prop::collection::vec("\\*\\*|([ab.]|\\*|\\?){1,3}", 1..4),
    ) {
        let step = |s: &str| s.chars().all(|c| c == '.');
        let (word, pattern): (Vec<&str>, Vec<&str>) = (word.iter().map(String::as_str).collect(), pattern.iter().map(String::as_str).collect());
        // `Read(**)` speaks of every file, as `Read` does.
        prop_assume!(pattern != ["**"] && pattern != ["*"]);
        prop_assume!(word.iter().any(|w| w.contains(['*', '?', '['])));
        prop_assume!(!word.iter().any(|w| step(w)) && !pattern.iter().any(|p| step(p)));
        let rule = format!("deny Read({})", pattern.join("/"));
        let (got, reason) = decide(&["allow Bash(*)", &rule], &format!("cat ./{}", word.join("/")));
        let paths = expansions(&word);
        // `**` at the front of what forbids means anywhere, also above the working folder.
        let one = |path: &[&str]| {
            pattern_fits(&pattern, path)
                || pattern[0] == "**" && pattern_fits(&pattern, &[&["workspace"], path].concat())
        };
        let fits = |path: &Vec<String>| one(&path.iter().map(String::as_str).collect::<Vec<_>>());
        let meets = paths.iter().any(fits);
        if got == "allow" {
            prop_assert!(!meets, "{:?} {:?}", word, rule);
        }
        // A pattern without wildcards names one path, which is expanded to or not.
        // The word as it stands is looked at too: it is what the shell leaves where nothing fits.
        if got == "deny" && !one(&word) && !word.iter().any(|w| w.ends_with('.')) {
            prop_assert!(paths.iter().all(fits), "{:?} {:?}", word, rule);
        }
        let literal = !pattern.iter().any(|p| p.contains(['*', '?']));
        // `b/**` may be `b/`. `[!a]` may be `A`, which some disks take for `a`.
        let understood = !word.iter().any(|w| w.contains('!') || w.contains("**") || w.ends_with('.') || w.starts_with('.') && !w.contains(['a', 'b']) || w.starts_with(".["));
        if literal && understood && !meets {
            prop_assert_eq!(got, "allow", "{:?} {:?} {}", word, rule, reason);
        }
    }
}
