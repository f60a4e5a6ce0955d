//! Programs that start another one: their own options, and where the other one begins.

use super::redirect::Input;
use super::walk::Walker;
use super::{Role, Weight, crude};
use crate::policy::argv::Word;

/// The grammar of a wrapper's own arguments.
struct Wrapper {
    name: &'static str,
    /// Whether an allow for the inner command is enough.
    transparent: bool,
    /// One-letter options without a value.
    flags: &'static str,
    /// One-letter options with a value.
    values: &'static str,
    /// Long options without a value, and with one.
    long: &'static [&'static str],
    long_values: &'static [&'static str],
    /// How many words stand between the options and the command.
    operands: usize,
}

const fn wrapper(name: &'static str, transparent: bool, flags: &'static str, values: &'static str) -> Wrapper {
    Wrapper { name, transparent, flags, values, long: &[], long_values: &[], operands: 0 }
}

/// Sources: the manual pages of coreutils 9, util-linux 2.39, findutils 4.9, sudo 1.9, bash 5.2.
const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        long: &["--foreground", "--preserve-status", "--verbose"],
        long_values: &["--kill-after", "--signal"],
        operands: 1,
        ..wrapper("timeout", true, "fpv", "ks")
    },
    Wrapper { long_values: &["--adjustment"], ..wrapper("nice", true, "", "n") },
    wrapper("nohup", true, "", ""),
    Wrapper { long_values: &["--input", "--output", "--error"], ..wrapper("stdbuf", true, "", "ioe") },
    Wrapper { long_values: &["--class", "--classdata"], long: &["--ignore"], ..wrapper("ionice", true, "t", "cn") },
    wrapper("command", true, "p", ""),
    wrapper("builtin", true, "", ""),
    wrapper("time", true, "pv", ""),
    wrapper("env", true, "", ""),
    wrapper("setsid", false, "cfw", ""),
    wrapper("exec", false, "cl", "a"),
    wrapper("busybox", false, "", ""),
    wrapper("toybox", false, "", ""),
    wrapper("doas", false, "ns", "uC"),
    Wrapper {
        long: &["--non-interactive", "--preserve-env", "--set-home", "--stdin", "--background", "--login"],
        long_values: &["--user", "--group", "--prompt", "--chdir", "--host", "--role", "--type"],
        ..wrapper("sudo", false, "nEHSbkiPA", "ugpCDhrtT")
    },
    Wrapper {
        long: &["--shared", "--exclusive", "--nonblock", "--close", "--verbose"],
        long_values: &["--timeout", "--wait", "--conflict-exit-code"],
        operands: 1,
        ..wrapper("flock", false, "sxneoFv", "wE")
    },
    Wrapper {
        long: &["--null", "--no-run-if-empty", "--verbose", "--interactive", "--exit", "--open-tty"],
        long_values: &[
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--max-chars",
            "--delimiter",
            "--replace",
            "--arg-file",
            "--eof",
        ],
        ..wrapper("xargs", true, "0rtxpo", "nPLsdEIa")
    },
    wrapper("chrt", false, "bfiorv", ""),
    wrapper("unshare", false, "muinpUCTfr", ""),
    wrapper("strace", false, "fFqvcCtTrxyi", "eopsauPOSbE"),
    wrapper("ltrace", false, "fcCtTrSi", "eopsaunlA"),
    wrapper("pkexec", false, "", ""),
    wrapper("catchsegv", false, "", ""),
    wrapper("npx", false, "yq", "pw"),
    wrapper("bunx", false, "", ""),
    wrapper("uvx", false, "qv", ""),
];

/// Programs whose grammar is not known here, or too rich: what they start is guessed at.
const OPAQUE: &[&str] = &[
    "su",
    "runuser",
    "script",
    "watch",
    "parallel",
    "ssh",
    "chroot",
    "nsenter",
    "systemd-run",
    "docker",
    "podman",
    "kubectl",
    "screen",
    "tmux",
    "at",
    "batch",
    "wsl",
    "cmd",
    "start",
    "fd",
    "fdfind",
    "entr",
    "taskset",
    "numactl",
    "proxychains",
    "torsocks",
    "firejail",
    "bwrap",
    "dbus-run-session",
    "xvfb-run",
    "faketime",
    "unbuffer",
    "rlwrap",
    "gdb",
    "valgrind",
    "perf",
    "uv",
    "pipx",
    "poetry",
    "bundle",
    "npm",
    "pnpm",
    "yarn",
    "cargo",
    "make",
    "just",
    "hyperfine",
    "daemonize",
    "sg",
];

/// Those of them that take a command line as one text.
const TAKES_TEXT: &[&str] = &[
    "su",
    "runuser",
    "script",
    "watch",
    "parallel",
    "ssh",
    "sg",
    "at",
    "batch",
    "hyperfine",
    "tmux",
    "screen",
    "entr",
    "cmd",
    "wsl",
];

/// Readers that do no harm whatever operands are added to them.
const PURE_READERS: &[&str] = &[
    "cat",
    "grep",
    "egrep",
    "fgrep",
    "head",
    "wc",
    "ls",
    "echo",
    "stat",
    "basename",
    "dirname",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "nl",
    "cut",
    "tr",
    "true",
    "false",
    "du",
    "readlink",
    "realpath",
];

/// Handles a command that starts another one; false if it is none.
pub(super) fn unwrap(walker: &mut Walker, base: &str, words: &[Word], input: &Input, index: usize) -> bool {
    if base == "find" {
        find(walker, words);
        return false;
    }
    if OPAQUE.contains(&base) {
        crude::tails(words, &mut walker.found);
        if TAKES_TEXT.contains(&base) {
            for word in words.iter().skip(1) {
                match word.get() {
                    Some(text) if text.contains(char::is_whitespace) => crude::guess(text, &mut walker.found),
                    Some(_) => {}
                    None => walker.found.unknown("payload", &word.text, Weight::Code),
                }
            }
        }
        return false;
    }
    let Some(wrapper) = WRAPPERS.iter().find(|w| w.name == base) else { return false };
    if base == "command"
        && words
            .iter()
            .skip(1)
            .take_while(|w| w.get().is_some_and(|v| v.starts_with('-')))
            .any(|w| w.get().is_some_and(|v| v.contains(['v', 'V'])))
    {
        // A look-up: nothing runs.
        return true;
    }
    let Some(start) = inner(walker, wrapper, words) else {
        crude::tails(words, &mut walker.found);
        return true;
    };
    let mut rest: Vec<Word> = words.get(start..).unwrap_or_default().to_vec();
    if rest.is_empty() {
        return true;
    }
    if wrapper.transparent {
        if let Some(outer) = walker.found.commands.get_mut(index).filter(|c| c.role == Role::Runs) {
            outer.role = Role::Carries;
        }
    } else if matches!(base, "sudo" | "doas" | "pkexec") {
        walker.found.unknown("privilege", base, Weight::Value);
    }
    if base == "xargs" {
        let program = rest.first().and_then(Word::get).unwrap_or_default().to_owned();
        if !PURE_READERS.contains(&program.as_str()) {
            walker.found.unknown("added-arguments", &program, Weight::Value);
        }
        let replaces = words
            .iter()
            .take(start)
            .any(|w| w.get().is_some_and(|v| v.starts_with("-I") || v.starts_with("--replace")));
        if !replaces {
            rest.push(Word::unknown("…", false));
        } else {
            for word in rest.iter_mut().filter(|w| w.get().is_some_and(|v| v.contains("{}"))) {
                *word = Word::unknown(&word.text.clone(), true);
            }
        }
        if super::tables::is_shell(&program) || super::tables::is_interpreter(&program) {
            walker.found.unknown("piped-code", &program, Weight::Code);
        }
    }
    if base == "env" && rest.first().is_some_and(|w| w.get().is_some_and(|v| v.contains('='))) {
        return true;
    }
    walker.deeper(|walker| walker.run(rest, input), "a wrapped command");
    true
}

/// Where the inner command starts. Nothing, with an unknown, if an option is not known.
fn inner(walker: &mut Walker, wrapper: &Wrapper, words: &[Word]) -> Option<usize> {
    let mut at = 1;
    let unknown = |walker: &mut Walker, word: &Word| walker.found.unknown("wrapper-option", &word.text, Weight::Code);
    while let Some(word) = words.get(at) {
        let Some(option) = word.get() else {
            unknown(walker, word);
            return None;
        };
        if option == "--" {
            at += 1;
            break;
        }
        if wrapper.name == "env" {
            if let Some((name, _)) = option.split_once('=') {
                walker.environment(name);
                at += 1;
                continue;
            }
            match option {
                "-i" | "-" | "--ignore-environment" | "-0" | "--null" => {
                    walker.found.unknown("environment", option, Weight::Value);
                }
                "-u" | "--unset" => {
                    walker.found.unknown("environment", option, Weight::Value);
                    at += 1;
                }
                _ if option.starts_with('-') => {
                    unknown(walker, word);
                    return None;
                }
                _ => break,
            }
            at += 1;
            continue;
        }
        if let Some(long) = option.strip_prefix("--").filter(|l| !l.is_empty()) {
            let name = format!("--{}", long.split('=').next().unwrap_or(long));
            if wrapper.long_values.contains(&name.as_str()) {
                at += if option.contains('=') { 1 } else { 2 };
            } else if wrapper.long.contains(&option) {
                at += 1;
            } else {
                unknown(walker, word);
                return None;
            }
            continue;
        }
        let Some(letters) = option.strip_prefix('-').filter(|l| !l.is_empty()) else { break };
        if wrapper.name == "nice" && letters.chars().all(|c| c.is_ascii_digit()) {
            at += 1;
            continue;
        }
        match letters.char_indices().find(|&(_, c)| !wrapper.flags.contains(c)) {
            None => at += 1,
            Some((i, c)) if wrapper.values.contains(c) => {
                let glued = letters.len() > i + c.len_utf8();
                at += if glued { 1 } else { 2 };
            }
            Some(_) => {
                unknown(walker, word);
                return None;
            }
        }
    }
    if wrapper.name == "sudo" {
        // `sudo NAME=value program`
        while let Some((name, _)) = words.get(at).and_then(Word::get).and_then(|v| v.split_once('=')) {
            walker.environment(name);
            at += 1;
        }
    }
    at += wrapper.operands;
    if wrapper.name == "flock" && words.get(at).is_some_and(|w| w.is("-c") || w.is("--command")) {
        walker.found.unknown("payload", "flock -c", Weight::Code);
        return None;
    }
    Some(at)
}

/// `find`: what `-exec` and its kin run, what `-delete` and `-fprint` change.
fn find(walker: &mut Walker, words: &[Word]) {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.get().unwrap_or_default() {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = words.get(at + 1..).unwrap_or_default();
                let end = rest.iter().position(|w| w.is(";") || w.is("+")).unwrap_or(rest.len());
                let fill = |w: &Word| match w.get() {
                    Some(v) if v.contains("{}") => Word::unknown(&w.text, true),
                    _ => w.clone(),
                };
                let command: Vec<Word> = rest.get(..end).unwrap_or_default().iter().map(fill).collect();
                walker.found.unknown("executing-option", &word.text, Weight::Code);
                walker.deeper(|walker| walker.run(command, &Input::Inherited), "find -exec");
                at += end + 1;
            }
            "-delete" => {
                let is_start = |w: &&Word| w.get().is_none_or(|v| !v.starts_with(['-', '(', '!']));
                let starts: Vec<Word> = words.iter().skip(1).take_while(is_start).cloned().collect();
                let starts = if starts.is_empty() { vec![Word::known(".")] } else { starts };
                for start in starts {
                    walker.file(&start, crate::policy::rule::Access::Write, true, true);
                }
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = words.get(at + 1) {
                    walker.file(&file.clone(), crate::policy::rule::Access::Write, true, false);
                }
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
}
