//! Options by which a program runs another one, or writes a file that nobody would expect it to write.
//!
//! Sources: each program's manual page; GTFOBins for what has been used.

use super::Weight;
use super::walk::Walker;
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
            // `-c` takes the rest; letters behind the value of -W, -X, -m are no options.
            l.chars().take_while(|c| !"WXmQ".contains(*c)).any(|c| c == 'c')
        }),
        "node" | "nodejs" | "tsx" | "ts-node" => {
            letters.is_some_and(|l| l.chars().all(|c| "epirc".contains(c)) && l.contains(['e', 'p', 'r']))
                || long(&["--eval", "--print", "--require", "--import", "--loader", "--experimental-loader"])
        }
        "deno" | "bun" => matches!(option, "-e" | "-p" | "--eval" | "--print" | "--preload" | "-r"),
        "ruby" | "perl" => short("eErIM") || long(&["--require"]),
        "php" => short("rBRE") || long(&["--run", "--process-code"]),
        "lua" | "luajit" => short("el"),
        "osascript" | "Rscript" | "R" | "julia" | "elixir" | "groovy" | "scala" | "swift" | "guile" | "racket"
        | "ghci" | "runghc" => short("eE") || long(&["--eval", "--expr"]),
        "pwsh" | "powershell" => {
            let lower = option.to_ascii_lowercase();
            lower.starts_with("-c") || lower.starts_with("-e") || lower.starts_with("-enc")
        }
        "psql" => short("cf") || long(&["--command", "--file"]),
        "mysql" => short("e") || long(&["--execute"]),
        "gdb" | "lldb" => {
            matches!(option, "-ex" | "-x" | "-o" | "-s" | "--eval-command" | "--command" | "--args" | "-iex")
        }
        _ => false,
    }
}

/// What an option does beyond the program's own purpose.
#[derive(Clone, Copy)]
enum Does {
    /// Runs, or loads, a program named by it.
    Runs,
    /// Writes the file that is its value.
    Writes,
}
use Does::{Runs, Writes};

/// `(program, option, what it does)`. A two-letter option (`-o`) may have its value glued on.
const OPTIONS: &[(&str, &str, Does)] = &[
    ("rg", "--pre", Runs),
    ("rg", "--hostname-bin", Runs),
    ("rg", "--search-zip", Runs),
    ("rg", "-z", Runs),
    ("git", "-c", Runs),
    ("git", "--config-env", Runs),
    ("git", "--exec-path", Runs),
    ("git", "--upload-pack", Runs),
    ("git", "--receive-pack", Runs),
    ("git", "--exec", Runs),
    ("git", "--open-files-in-pager", Runs),
    ("git", "--ext-diff", Runs),
    ("git", "--textconv", Runs),
    ("git", "--extcmd", Runs),
    ("git", "--output", Writes),
    ("git", "--output-directory", Writes),
    ("tar", "--to-command", Runs),
    ("tar", "--checkpoint-action", Runs),
    ("tar", "--use-compress-program", Runs),
    ("tar", "--rsh-command", Runs),
    ("tar", "--info-script", Runs),
    ("tar", "--new-volume-script", Runs),
    ("tar", "-I", Runs),
    ("tar", "-F", Runs),
    ("rsync", "--rsh", Runs),
    ("rsync", "-e", Runs),
    ("rsync", "--rsync-path", Runs),
    ("scp", "-S", Runs),
    ("scp", "-o", Runs),
    ("sftp", "-S", Runs),
    ("sftp", "-o", Runs),
    ("ssh", "-o", Runs),
    ("ssh", "-F", Runs),
    ("sort", "--compress-program", Runs),
    ("sort", "--output", Writes),
    ("sort", "-o", Writes),
    ("man", "--pager", Runs),
    ("man", "-P", Runs),
    ("man", "--html", Runs),
    ("man", "-H", Runs),
    ("man", "--preprocessor", Runs),
    ("zip", "-TT", Runs),
    ("zip", "--unzip-command", Runs),
    ("curl", "--config", Runs),
    ("curl", "-K", Runs),
    ("curl", "--output", Writes),
    ("curl", "-o", Writes),
    ("curl", "--dump-header", Writes),
    ("curl", "-D", Writes),
    ("curl", "--cookie-jar", Writes),
    ("curl", "-c", Writes),
    ("curl", "--trace", Writes),
    ("curl", "--trace-ascii", Writes),
    ("curl", "--output-dir", Writes),
    ("curl", "--stderr", Writes),
    ("wget", "--execute", Runs),
    ("wget", "-e", Runs),
    ("wget", "--use-askpass", Runs),
    ("wget", "--output-document", Writes),
    ("wget", "-O", Writes),
    ("wget", "--output-file", Writes),
    ("wget", "-o", Writes),
    ("wget", "--directory-prefix", Writes),
    ("wget", "-P", Writes),
    ("split", "--filter", Runs),
    ("make", "--eval", Runs),
    ("make", "-f", Runs),
    ("go", "-exec", Runs),
    ("go", "-toolexec", Runs),
    ("go", "-vettool", Runs),
    ("gcc", "-wrapper", Runs),
    ("gcc", "-fplugin", Runs),
    ("cargo", "--config", Runs),
    ("apt", "-o", Runs),
    ("apt-get", "-o", Runs),
    ("vim", "-c", Runs),
    ("vim", "--cmd", Runs),
    ("vi", "-c", Runs),
    ("nvim", "-c", Runs),
    ("less", "-o", Writes),
    ("tree", "-o", Writes),
    ("base64", "-o", Writes),
    ("base64", "--output", Writes),
    ("tcpdump", "-z", Runs),
    ("tcpdump", "-w", Writes),
    ("openssl", "-engine", Runs),
    ("openssl", "-out", Writes),
    ("gpg", "--output", Writes),
    ("gpg", "-o", Writes),
    ("pandoc", "--filter", Runs),
    ("pandoc", "--lua-filter", Runs),
    ("pandoc", "-o", Writes),
    ("nmap", "--script", Runs),
    ("nmap", "-oN", Writes),
    ("strace", "-o", Writes),
    ("ls", "--dired-command", Runs),
    ("diff", "--to-command", Runs),
    ("file", "--compile", Writes),
    ("file", "-C", Writes),
    ("file", "--uncompress", Runs),
    ("file", "-z", Runs),
    ("file", "-Z", Runs),
    ("xxd", "-r", Writes),
    ("jq", "-L", Runs),
    ("date", "--set", Writes),
    ("date", "-s", Writes),
    ("hostname", "-F", Runs),
    ("uniq", "--output", Writes),
    ("shuf", "-o", Writes),
    ("shuf", "--output", Writes),
    ("env", "-S", Runs),
    ("npm", "--script-shell", Runs),
    ("ps", "--config", Runs),
    ("troff", "-U", Runs),
    ("grep", "--devices-command", Runs),
    ("fd", "-x", Runs),
    ("fd", "-X", Runs),
    ("fd", "--exec", Runs),
    ("fd", "--exec-batch", Runs),
    ("fzf", "--preview", Runs),
    ("fzf", "--bind", Runs),
    ("bat", "--pager", Runs),
    ("delta", "--pager", Runs),
    ("xdotool", "exec", Runs),
    ("dpkg", "--pre-invoke", Runs),
    ("dd", "of", Writes),
];

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
];

/// Looks at the options of a program.
pub(super) fn options(walker: &mut Walker, base: &str, words: &[Word]) {
    let alias = match base {
        "gtar" | "bsdtar" => "tar",
        "gsort" => "sort",
        "ripgrep" => "rg",
        "gmake" => "make",
        "fdfind" => "fd",
        "g++" | "cc" | "clang" | "c++" => "gcc",
        other => other,
    };
    let end = words.iter().position(|w| w.is("--")).unwrap_or(words.len());
    let subcommand = if alias == "git" { super::tables::subcommand(words) } else { None };
    for (at, word) in words.iter().enumerate().take(end).skip(1) {
        let Some(text) = word.get() else { continue };
        for &(program, option, does) in OPTIONS.iter().filter(|(p, _, _)| *p == alias) {
            // `git commit -c` is another option than `git -c`.
            if program == "git" && option == "-c" && subcommand.is_some_and(|s| at >= s) {
                continue;
            }
            if let Some(value) = value_of(text, option) {
                apply(walker, words, at, (text, value), does);
            }
        }
    }
    if let Some(at) = subcommand {
        git(walker, words, at);
    }
    if alias == "tar" && words.get(1).and_then(Word::get).is_some_and(|v| !v.starts_with('-') && v.contains(['I', 'F']))
    {
        walker.found.unknown("executing-option", "tar", Weight::Code);
    }
}

fn apply(walker: &mut Walker, words: &[Word], at: usize, (text, value): (&str, Option<&str>), does: Does) {
    match does {
        Runs => walker.found.unknown("executing-option", text, Weight::Code),
        Writes => {
            let file = match value {
                Some(value) => Some(Word::known(value)),
                None => words.get(at + 1).cloned(),
            };
            let file = file.unwrap_or_else(|| Word::unknown(text, true));
            if !file.is("-") && !file.is("/dev/null") {
                walker.file(&file, Access::Write, true, false);
            }
        }
    }
}

/// Whether a word is an option, and its glued value. Long options may be cut short.
fn value_of<'w>(word: &'w str, option: &str) -> Option<Option<&'w str>> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    if name == option {
        return Some(value);
    }
    if option.starts_with("--") {
        let cut = name.len() > 4 && name.starts_with("--") && option.starts_with(name);
        return cut.then_some(value);
    }
    // `-ofile`, and `-nofile` where letters are written together.
    let letter = option.strip_prefix('-').filter(|l| l.len() == 1)?;
    let cluster = word.strip_prefix('-').filter(|l| !l.starts_with('-'))?;
    let (before, after) = cluster.split_once(letter)?;
    let glued = before.is_empty() || (before.len() < 4 && before.chars().all(|c| c.is_ascii_alphabetic()));
    glued.then_some(if after.is_empty() { None } else { Some(after) })
}

fn git(walker: &mut Walker, words: &[Word], at: usize) {
    let rest: Vec<&str> = words.get(at..).unwrap_or_default().iter().filter_map(Word::get).collect();
    for runner in GIT_RUNNERS.iter().filter(|r| rest.starts_with(r)) {
        // Reading a setting runs nothing.
        let reads = *runner == ["config"]
            && rest.iter().any(|w| matches!(*w, "--get" | "--list" | "-l" | "--get-all" | "get" | "list"));
        if !reads {
            walker.found.unknown("executing-option", &runner.join(" "), Weight::Code);
        }
    }
    let exec = |w: &&&str| {
        w.starts_with("-x") || w.starts_with("ext::") || w.starts_with("-O") && rest.first() == Some(&"grep")
    };
    let rebase = matches!(
        rest.first(),
        Some(&("rebase" | "clone" | "fetch" | "pull" | "push" | "ls-remote" | "remote" | "grep"))
    );
    if let Some(word) = rest.iter().skip(1).find(exec).filter(|_| rebase) {
        walker.found.unknown("executing-option", word, Weight::Code);
    }
    // Another repository brings its own settings, and settings run programs.
    let elsewhere = words.iter().take(at).skip(1).any(|w| {
        w.get().is_some_and(|v| {
            v == "-C" || v.starts_with("--git-dir") || v.starts_with("--work-tree") || v == "-p" || v == "--paginate"
        })
    });
    if elsewhere {
        walker.found.unknown("other-repository", "git -C", Weight::Value);
    }
}
