//! What the options of a program do: code for interpreters, and the entries of the table of options.

use super::heuristics;
use super::options::{Does, OPTIONS, family, value_letters};
use super::side_effects::Weight;
use super::walker::Walker;
use crate::policy::argv::Word;
use crate::policy::rule::Access;

/// Whether an interpreter takes code from this option.
pub(super) fn gives_code(base: &str, option: &str) -> bool {
    let letters = option.strip_prefix('-').filter(|l| !l.starts_with('-') && !l.is_empty());
    let short = |codes: &str| {
        letters.is_some_and(|l| l.chars().take_while(char::is_ascii_alphabetic).any(|c| codes.contains(c)))
    };
    let long = |names: &[&str]| names.iter().any(|n| option == *n || option.starts_with(&format!("{n}=")));
    match base {
        b if b.starts_with("python") || b.starts_with("pypy") || b.starts_with("ipython") => letters.is_some_and(|l| {
            // `-c` takes the rest. Letters in the value of -W, -X, -m are not options.
            l.chars().take_while(|c| !"WXmQ".contains(*c)).any(|c| c == 'c')
        }),
        "node" | "nodejs" | "tsx" | "ts-node" => {
            letters.is_some_and(|l| l.chars().all(|c| "epic".contains(c)) && l.contains(['e', 'p']))
                || long(&["--eval", "--print"])
        }
        "deno" | "bun" => matches!(option, "-e" | "-p" | "--eval" | "--print" | "eval"),
        "ruby" | "perl" => short("eErIM") || long(&["--require"]),
        "php" => short("rBRE") || long(&["--run", "--process-code"]),
        "lua" | "luajit" => short("el"),
        "osascript" | "Rscript" | "R" | "julia" | "elixir" | "groovy" | "scala" | "swift" | "guile" | "racket"
        | "ghci" | "runghc" => short("eE") || long(&["--eval", "--expr"]),
        "pwsh" | "powershell" => {
            let lower = option.to_ascii_lowercase();
            lower.starts_with("-c") || lower.starts_with("-e") || lower.starts_with("-enc")
        }
        "expect" | "tclsh" | "wish" => short("c"),
        "raku" | "clojure" | "clj" | "bb" | "janet" | "octave" | "ghc" | "kotlin" | "erl" | "iex" | "sbcl" => {
            short("e") || long(&["--eval", "-eval"])
        }
        "crystal" => option == "eval",
        "sqlite3" => option.starts_with(".sh") || option.starts_with(".sys") || option.starts_with(".load"),
        "psql" => short("cf") || long(&["--command", "--file"]),
        "mysql" => short("e") || long(&["--execute"]),
        "gdb" | "lldb" => {
            matches!(option, "-ex" | "-x" | "-o" | "-s" | "--eval-command" | "--command" | "--args" | "-iex")
        }
        _ => false,
    }
}

/// Subcommands of git that run programs named in their arguments or in files.
const GIT_RUNNERS: &[&[&str]] = &[
    &["bisect", "run"],
    &["submodule", "foreach"],
    &["filter-branch"],
    &["difftool"],
    &["mergetool"],
    &["config"],
    &["daemon"],
    &["send-email"],
    &["credential"],
    &["instaweb"],
    &["hook", "run"],
    &["remote-ext"],
    &["remote-fd"],
    &["web--browse"],
    &["maintenance", "start"],
];

/// Reads the options of a program.
pub(super) fn options(walker: &mut Walker, base: &str, words: &[Word]) {
    let name = family(base);
    let end = words.iter().position(|w| w.is("--")).unwrap_or(words.len());
    let subcommand = if name == "git" { super::tables::subcommand(words) } else { None };
    let own: Vec<&(&str, &str, Does)> = OPTIONS.iter().filter(|(p, _, _)| *p == name).collect();
    let end = if own.is_empty() { 1 } else { end };
    for (at, word) in words.iter().enumerate().take(end).skip(1) {
        let Some(text) = literal(word) else { continue };
        for &&(_, option, does) in &own {
            // `git commit -c` is a different option from `git -c`.
            if name == "git" && option == "-c" && subcommand.is_some_and(|s| at >= s) {
                continue;
            }
            if let Some(value) = value_of(name, text, option) {
                apply(walker, words, at, (text, value), does);
            }
        }
    }
    if let Some(at) = subcommand {
        git(walker, words, at);
    }
    operands(walker, name, words);
}

/// The certain part of a word: all of it, or what precedes the first expansion.
fn literal(word: &Word) -> Option<&str> {
    if let Some(text) = word.get() {
        return Some(text);
    }
    let text = word.text.trim_start_matches(['"', '\'']);
    let end = text.find(['$', '`', '*', '?', '[', '{', '~', '"', '\'', '\\']).unwrap_or(text.len());
    text.get(..end).filter(|t| t.len() > 1 && t.starts_with('-'))
}

/// Operands that are commands for the program itself, or settings.
fn operands(walker: &mut Walker, name: &str, words: &[Word]) {
    for word in words.iter().skip(1) {
        let Some(text) = word.get() else { continue };
        let runs = match name {
            // `+12` and `+/text` only choose where to start.
            "vim" => text
                .strip_prefix('+')
                .is_some_and(|c| !c.is_empty() && !c.starts_with(|c: char| c == '/' || c.is_ascii_digit())),
            "less" | "more" => {
                text.trim_start_matches('+').starts_with('!') && text.starts_with('+') || matches!(text, "+v" | "++v")
            }
            "make" => text.split_once('=').is_some_and(|(n, _)| {
                super::tables::is_dangerous_variable(n.trim_end_matches([':', '+', '?'])) || n == ".SHELLFLAGS"
            }),
            "zip" => text.starts_with("-TT"),
            "socat" => {
                let kind = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
                text.contains(':') && matches!(kind.as_str(), "exec" | "system" | "shell")
            }
            // A setting such as `script-shell` affects every later run.
            "npm" | "pnpm" | "yarn" => {
                let is = |at: usize, name: &str| words.get(at).is_some_and(|w| w.is(name));
                let sets = |first| is(first, "set") || is(first, "config") && is(first + 1, "set");
                text == "set" && super::tables::subcommand(words).is_none_or(sets)
            }
            "tar" => words.get(1) == Some(word) && !text.starts_with('-') && text.contains(['I', 'F']),
            _ => false,
        };
        if runs {
            walker.found.unknown("executing-option", text, Weight::Code);
            let line = if name == "socat" { text.split_once(':').map_or(text, |(_, line)| line) } else { text };
            walker.suppose(line);
        }
    }
}

fn apply(walker: &mut Walker, words: &[Word], at: usize, (text, value): (&str, Option<&str>), does: Does) {
    let whole = words.get(at).is_some_and(|w| w.get().is_some());
    match does {
        Does::Runs => {
            let line =
                value.filter(|_| whole).or_else(|| words.get(at + 1).and_then(Word::get).filter(|_| value.is_none()));
            // A fully known command line is evaluated like any other.
            let known = line.is_some_and(|line| walker.suppose(line));
            walker.found.unknown("executing-option", text, if known { Weight::Value } else { Weight::Code });
        }
        Does::Loads => {
            let line = value.or_else(|| words.get(at + 1).and_then(Word::get));
            let harmless = text.starts_with("-c") && line.is_some_and(is_plain_setting);
            walker.found.unknown("executing-option", text, if harmless { Weight::Value } else { Weight::Code });
            // `alias.x=reset --hard` defines a subcommand of git.
            let alias = line.and_then(|l| l.strip_prefix("alias.")).and_then(|l| l.split_once('='));
            match (alias, line) {
                (Some((_, own)), _) if !own.starts_with('!') => walker.suppose(&format!("git {own}")),
                (_, line) => line.is_some_and(|line| walker.suppose(line)),
            };
        }
        Does::WritesHere => walker.file(&Word::unknown("a file named by the server", true), Access::Write, true, false),
        Does::Writes => {
            let file = match value {
                Some(value) if whole => Some(Word::known(value)),
                Some(_) => None,
                None => words.get(at + 1).cloned(),
            };
            let file = file.unwrap_or_else(|| Word::unknown(text, true));
            if !file.is("-") && !file.is("/dev/null") {
                walker.file(&file, Access::Write, true, false);
            }
        }
    }
}

/// Whether a git setting `name=value` only changes how something is displayed or named. Others run programs.
pub(super) fn is_plain_setting(setting: &str) -> bool {
    let name = setting.split('=').next().unwrap_or(setting).to_ascii_lowercase();
    let sections = ["user.", "author.", "committer.", "color.", "advice.", "column.", "log.", "blame.", "push.default"];
    let names = [
        "core.quotepath",
        "core.autocrlf",
        "core.filemode",
        "core.abbrev",
        "init.defaultbranch",
        "commit.gpgsign",
        "tag.gpgsign",
        "pull.rebase",
        "pull.ff",
        "merge.ff",
        "merge.conflictstyle",
        "diff.noprefix",
        "diff.renames",
        "diff.mnemonicprefix",
        "diff.algorithm",
        "fetch.prune",
        "rebase.autostash",
        "http.proxy",
        "http.extraheader",
        "safe.directory",
        "status.short",
    ];
    sections.iter().any(|s| name.starts_with(s)) || names.contains(&name.as_str())
}

/// Options that are a prefix of a dangerous option.
const WHOLE: &[(&str, &str)] = &[("git", "--text"), ("tar", "--checkpoint"), ("git", "--conf")];

/// Whether a word is an option, and its attached value. Long options may be abbreviated.
fn value_of<'w>(program: &str, word: &'w str, option: &str) -> Option<Option<&'w str>> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    if name == option {
        return Some(value);
    }
    if option.starts_with("--") {
        let cut = name.len() > 2 && name.starts_with("--") && option.starts_with(name);
        return (cut && !WHOLE.contains(&(program, name))).then_some(value);
    }
    // `-ofile`, and `-nofile` with combined letters.
    let letter = option.strip_prefix('-').filter(|l| l.chars().count() == 1)?;
    let cluster = word.strip_prefix('-').filter(|l| !l.starts_with('-'))?;
    let (before, after) = cluster.split_once(letter)?;
    let glued = match value_letters(program) {
        Some(letters) => before.chars().all(|c| c.is_ascii_alphanumeric() && !letters.contains(c)),
        None => before.is_empty() || (before.len() < 4 && before.chars().all(|c| c.is_ascii_alphabetic())),
    };
    glued.then_some(if after.is_empty() { None } else { Some(after) })
}

/// Options of individual git subcommands: `(subcommand, option, what it does)`.
const GIT_OPTIONS: &[(&str, &str, Does)] = &[
    ("rebase", "-x", Does::Runs),
    ("difftool", "-x", Does::Runs),
    ("clone", "-u", Does::Runs),
    ("clone", "-c", Does::Runs),
    ("archive", "-o", Does::Writes),
    ("format-patch", "-o", Does::Writes),
    ("bundle", "-o", Does::Writes),
    ("grep", "-O", Does::Runs),
    ("help", "-w", Does::Runs),
    ("help", "--web", Does::Runs),
    ("instaweb", "-d", Does::Runs),
];

fn git(walker: &mut Walker, words: &[Word], at: usize) {
    let own = words.get(at..).unwrap_or_default();
    let rest: Vec<&str> = own.iter().filter_map(Word::get).collect();
    // Options may come between the words of a subcommand: `submodule --quiet foreach`.
    let named: Vec<&str> = rest.iter().copied().filter(|w| !w.starts_with('-')).take(2).collect();
    for runner in GIT_RUNNERS.iter().filter(|r| named.starts_with(r)) {
        // Reading a setting runs nothing.
        let reads = *runner == ["config"]
            && rest
                .iter()
                .any(|w| matches!(*w, "--get" | "--list" | "-l" | "--get-all" | "--get-regexp" | "get" | "list"));
        if !reads {
            walker.found.unknown("executing-option", &runner.join(" "), Weight::Code);
            let last = own.iter().position(|w| w.get() == runner.last().copied());
            let given = last.and_then(|last| own.get(last + 1..)).unwrap_or(own);
            match runner {
                ["config"] => {
                    let texts = given.iter().filter_map(Word::get).filter(|v| v.contains(' '));
                    for text in texts {
                        walker.suppose(text);
                    }
                }
                _ => heuristics::anywhere(given, &mut walker.found),
            }
        }
    }
    let Some(&subcommand) = rest.first() else { return };
    let end = own.iter().position(|w| w.is("--")).unwrap_or(own.len());
    for (i, word) in own.iter().enumerate().take(end).skip(1) {
        let Some(text) = literal(word) else { continue };
        for &(_, option, does) in GIT_OPTIONS.iter().filter(|(s, _, _)| *s == subcommand) {
            if let Some(value) = value_of("git", text, option) {
                apply(walker, words, at + i, (text, value), does);
            }
        }
        if text.contains("ext::") && !matches!(subcommand, "commit" | "log" | "grep" | "show" | "tag" | "notes") {
            walker.found.unknown("executing-option", text, Weight::Code);
            if let Some((_, line)) = text.split_once("ext::") {
                walker.suppose(line);
            }
        }
    }
    // Another repository has its own settings, and settings run programs.
    let elsewhere = words.iter().take(at).skip(1).any(|w| {
        w.get().is_some_and(|v| {
            v == "-C" || v.starts_with("--git-dir") || v.starts_with("--work-tree") || v == "-p" || v == "--paginate"
        })
    });
    if elsewhere {
        walker.found.unknown("other-repository", "git -C", Weight::Value);
    }
}
