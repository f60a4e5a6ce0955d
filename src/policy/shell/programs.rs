//! What some programs run that no list of options says: code for interpreters, operands that are commands.

use super::heuristics;
use super::side_effects::Weight;
use super::walker::Walker;
use crate::policy::argv::Word;
use crate::policy::programs;

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

/// Operands that are commands for the program itself, or settings.
pub(super) fn operands(walker: &mut Walker, name: &str, words: &[Word]) {
    if let Some(at) = super::tables::subcommand(words).filter(|_| name == "git") {
        git(walker, words, at);
    }
    let kinds = programs::find(name).into_iter().flat_map(|program| program.list("is"));
    for (at, word) in words.iter().enumerate().skip(1) {
        let Some(text) = word.get() else { continue };
        let runs = kinds.clone().any(|kind| match kind {
            // `+12` and `+/text` only choose where to start.
            "plus-commands" => text
                .strip_prefix('+')
                .is_some_and(|c| !c.is_empty() && !c.starts_with(|c: char| c == '/' || c.is_ascii_digit())),
            "plus-keys" => {
                text.trim_start_matches('+').starts_with('!') && text.starts_with('+') || matches!(text, "+v" | "++v")
            }
            "sets-variables" => text.split_once('=').is_some_and(|(n, _)| {
                super::tables::is_dangerous_variable(n.trim_end_matches([':', '+', '?'])) || n == ".SHELLFLAGS"
            }),
            "tests-with-command" => text.starts_with("-TT"),
            "addresses" => {
                let kind = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
                text.contains(':') && matches!(kind.as_str(), "exec" | "system" | "shell")
            }
            // A setting such as `script-shell` affects every later run.
            "sets-settings" => {
                let is = |at: usize, name: &str| words.get(at).is_some_and(|w| w.is(name));
                let sets = |first| is(first, "set") || is(first, "config") && is(first + 1, "set");
                text == "set" && super::tables::subcommand(words).is_none_or(sets)
            }
            "bundled-letters" => words.get(1) == Some(word) && !text.starts_with('-') && text.contains(['I', 'F']),
            _ => false,
        });
        if runs {
            walker.found.unknown("executing-option", text, Weight::Code);
            walker.suppose(text);
            if let Some(line) = words.get(at + 1).and_then(Word::get).filter(|_| text.starts_with("-TT")) {
                walker.suppose(line);
            }
            if let Some((_, line)) = text.split_once(':') {
                walker.suppose(line);
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
    for word in own.iter().take(end).skip(1) {
        let Some(text) = word.get() else { continue };
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
