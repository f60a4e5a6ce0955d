//! README and the pages in `docs` show what the command prints.

use std::process::Command;

/// A line of a page that represents any lines of the output.
const ANY: &str = "…";

/// A command of a page, and what the page shows below it.
struct Shown {
    line: usize,
    command: String,
    output: Vec<String>,
}

/// The commands of every `console` block: a line `$ …` and what follows up to the next one.
fn shown(page: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let (mut inside, mut open) = (false, false);
    for (at, line) in page.lines().enumerate() {
        match line {
            "```console" => (inside, open) = (true, false),
            "```" if inside => inside = false,
            _ if !inside => {}
            line => match line.strip_prefix("$ ") {
                Some(command) => {
                    all.push(Shown { line: at + 1, command: command.to_owned(), output: Vec::new() });
                    open = true;
                }
                None if open => all.last_mut().unwrap().output.push(line.trim_end().to_owned()),
                None => panic!("line {}: a console block begins with a command", at + 1),
            },
        }
    }
    for one in &mut all {
        while one.output.pop_if(|line| line.is_empty()).is_some() {}
    }
    all
}

/// Whether lines match those of a page, where a line of `…` matches any.
fn fits(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == ANY => (0..=printed.len()).any(|from| fits(rest, &printed[from..])),
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(first, printed)| line == first && fits(rest, printed))
        }
    }
}

#[test]
fn only_an_ellipsis_matches_any_lines() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (page, printed, expected) in [
        ("a\nb", "a\nb", true),
        ("a\n…", "a", true),
        ("a\n…\nd", "a\nb\nc\nd", true),
        ("…\nb\n…", "a\nb\nc", true),
        ("a", "a\nb", false),
        ("a\n…\nd", "a\nb\nc", false),
        ("a…", "ab", false),
        ("", "a", false),
    ] {
        assert_eq!(fits(&lines(page), &lines(printed)), expected, "{page:?} {printed:?}");
    }
    let page = "```sh\n$ no\n```\n```console\n$ one\nout\n\n$ two\n```\n";
    let read: Vec<(usize, String, usize)> =
        shown(page).into_iter().map(|one| (one.line, one.command, one.output.len())).collect();
    assert_eq!(read, [(5, "one".to_owned(), 1), (8, "two".to_owned(), 0)]);
}

/// The pages with commands and their output.
#[cfg(unix)]
const PAGES: [&str; 2] = ["README.md", "docs/policy.md"];

#[cfg(unix)]
#[test]
fn pages_show_what_is_printed() {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_toolfold")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut wrong = Vec::new();
    for page in PAGES {
        let all = shown(&crate::project(page));
        assert!(!all.is_empty(), "{page} has no console block");
        for one in all {
            assert!(one.command.contains("toolfold"), "{page}:{}: not a command of ours", one.line);
            // Both outputs as a terminal shows them, with any exit code.
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{{ {}; }} 2>&1", one.command)]).current_dir(crate::root());
            shell.env("PATH", &path).env("NO_COLOR", "1").env_remove("TOOLFOLD_ARM").env_remove("TOOLFOLD_PROFILE");
            let printed = String::from_utf8(shell.output().unwrap().stdout).unwrap();
            let mut lines: Vec<String> = printed.lines().map(|line| line.trim_end().to_owned()).collect();
            while lines.pop_if(|line| line.is_empty()).is_some() {}
            if !fits(&one.output, &lines) {
                let (line, command, shown) = (one.line, one.command, one.output.join("\n"));
                wrong.push(format!("{page}:{line}: $ {command}\n--- shown\n{shown}\n--- printed\n{printed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
