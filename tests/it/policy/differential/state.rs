//! The state that an allowed line leaves behind in real shells: variables, functions, options,
//! aliases, traps, descriptors, the table of found programs and the working directory.
//!
//! A line may only change variables that no program reads (`HARMLESS`), and `cd` the directory.
//! `TOOLFOLD_SHELLS` names more shells, separated by `:`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toolfold::policy::shell::{Role, SideEffects, effects};

use super::grammar::{ALLOWED, Rng, program, script};
use super::{allows, logged, originals, round_folder, run};

/// The variables that the generator assigns and that no program reads.
const HARMLESS: &[&str] = &["v", "x", "y", "i", "l", "w"];

/// Variables by which a line changes what later commands do.
const NAMES: &[&str] = &["PATH", "IFS", "HOME", "BASH_ENV", "ENV", "LD_PRELOAD", "GIT_PAGER", "CDPATH", "PS4", "x"];

/// Commands that change the state of a shell. `@` is replaced by a variable.
const CHANGES: &[&str] = &[
    "printf '%n' @",
    "printf 'abc%n' @",
    "printf '\\x25n' @",
    "printf \"%5n\" @",
    "printf -v @ b",
    "printf -v'@' b",
    "builtin printf -v @ b",
    "true {@}>/dev/null",
    ": {@}</dev/null",
    "exec {@}>/dev/null",
    "exec 7</dev/null",
    "exec 8>&1",
    "{ ok; } {@}>&1",
    ": ${@:=y}",
    ": \"${@:=y}\"",
    "echo ${x:+${@:=y}}",
    ": ${@=y}",
    ": ${!@}",
    ": $((@=1))",
    ": $((@++))",
    ": $[@=1]",
    "echo $((x ? 1 : (@=2)))",
    "((@=1))",
    "((x=1,@+=1))",
    "let @=1",
    ": ${x[@=1]}",
    ": ${x:@=1}",
    "[[ @=1 -eq 1 ]]",
    "[[ 1 -eq '@=1' ]]",
    "[[ -v 'a[$(rm q)]' ]]",
    "[[ 'a[$(rm q)]' -eq 1 ]]",
    "test -v 'a[$(rm q)]'",
    "test -v 'a[@=1]'",
    "[ -v 'a[@=1]' ]",
    "test 'a[$(rm q)]' -eq 1",
    "read @ <<<b",
    "read @ <<E\nb\nE\n",
    "read -a @ <<<b",
    "echo b | read @",
    "getopts a @ -a",
    "getopts a: @",
    "mapfile @ <<<b",
    "mapfile -C 'rm q' -c 1 x <<<b",
    "readarray -t @ <<<b",
    "coproc ok",
    "coproc @ { ok; }",
    "trap 'rm q' EXIT",
    "trap - INT",
    "trap ok DEBUG",
    "enable -n echo",
    "enable -f ./x x",
    "hash -p /bin/false ok",
    "hash -p ../rm ok",
    "alias ok=rm",
    "unalias -a",
    "set -f",
    "set -o noglob",
    "set +B",
    "shopt -s extglob",
    "shopt -u sourcepath",
    "umask 000",
    "ulimit -n 20",
    "unset @",
    "unset -f ok",
    "export @=b",
    "export @",
    "readonly @",
    "declare @=b",
    "declare -n x=@; x=1",
    "typeset -g @=b",
    "local @=b",
    "@=b",
    "@+=b",
    "@=b :",
    "@=b eval :",
    "@[0]=b",
    "@=(b c)",
    "for @ in b c; do ok; done",
    "for ((@=0;@<1;@++)); do ok; done",
    "select @ in b; do break; done <<<1",
    "ok() { rm q; }",
    "cd() { rm q; }",
    "function echo { rm q; }",
    "x() { rm q; }; x",
    "{@=b,c}",
    "echo {a,$((@=1))}",
    "echo ${v:-$((@=1))}",
    "echo \"$((@=1))\"",
    "cat <<E\n${@:=y}\nE\n",
    "cat <<E\n$((@=1))\nE\n",
    "cat <<'E'\n${@:=y}\nE\n",
    "pushd /",
    "cd /",
    "cd -P /",
    "command cd /",
    "eval @=b",
    "command eval @=b",
    ". ./x",
    "source /dev/stdin <<<'@=b'",
    "wait -p @",
    "time @=b",
    "! @=b",
    "case $((@=1)) in *) ok;; esac",
    "case b in $((@=1))) ok;; esac",
    "ok >/dev/fd/$((@=1))",
    "echo =rm",
    "echo ok=rm",
    "echo *(e:'rm q':)",
    "exec >/dev/null",
    "disown",
    "bind -x '\"a\":rm'",
    "complete -C rm ok",
];

/// A line that changes the state, perhaps in a compound command or next to another program.
fn line(rng: &mut Rng) -> String {
    let change = rng.of(CHANGES).replace('@', rng.of(NAMES));
    let framed = match rng.below(14) {
        0 => format!("({change})"),
        1 => format!("{{ {change}\n}}"),
        2 => format!("if ok; then {change}\nfi"),
        3 => format!("for v in a b; do {change}\ndone"),
        4 => format!("true && {change}"),
        5 => format!("echo a | {change}"),
        6 => format!("echo \"$({change}\n)\""),
        7 => format!("command {change}"),
        8 => format!("builtin {change}"),
        _ => change,
    };
    match rng.below(6) {
        0 => format!("{framed}\n{}", program(rng, 0)),
        1 => format!("{}\n{framed}", program(rng, 0)),
        2 => format!("{framed}\nok"),
        _ => framed,
    }
}

/// The paths of the installed shells.
fn shells() -> Vec<PathBuf> {
    let known = ["bash", "dash", "zsh", "mksh"].map(|name| Path::new("/bin").join(name));
    let named = std::env::var_os("TOOLFOLD_SHELLS").unwrap_or_default();
    known.into_iter().chain(std::env::split_paths(&named)).filter(|path| is_here(path)).collect()
}

/// Whether a program is installed. If not, that is printed.
fn is_here(program: &Path) -> bool {
    if !program.is_file() {
        println!("skipped: {} is missing", program.display());
    }
    program.is_file()
}

/// The commands that print the state of a shell into a file.
fn dump(shell: &Path, file: &Path) -> String {
    let name = shell.file_name().unwrap_or_default().to_string_lossy();
    let own = if name.contains("bash") {
        "builtin declare -p; builtin declare -f; builtin shopt; builtin hash -l; builtin enable -a"
    } else if name.contains("zsh") {
        "builtin typeset -p; builtin typeset -f; builtin hash"
    } else {
        "command set"
    };
    let file = file.display();
    format!(
        "{{ {own}; \\command set +o; \\command alias; \\command trap; \\command umask; \\command pwd; \
         \\command echo /proc/$$/fd/*; }} >'{file}' 2>/dev/null"
    )
}

/// The variable that a line of a dump describes.
fn variable(line: &str) -> Option<&str> {
    let word = match line.split_once(' ') {
        Some(("declare" | "typeset" | "export", rest)) => rest.split(' ').find(|word| !word.starts_with('-'))?,
        _ => line,
    };
    let name = word.split(['=', '[']).next()?;
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then_some(name)
}

/// Variables that every command changes, or that only describe the running line.
fn is_volatile(name: &str) -> bool {
    let names =
        ["_", "LINENO", "RANDOM", "SRANDOM", "SECONDS", "PIPESTATUS", "pipestatus", "PPID", "status", "TTYIDLE"];
    names.contains(&name) || name.starts_with("BASH_") && name != "BASH_ENV" || name.starts_with("EPOCH")
}

/// The lines that one dump has and the other has not, without those that the line may change.
fn changes(own: &Path, seen: &SideEffects) -> Vec<String> {
    let read = |name: &str| fs::read_to_string(own.join(name)).ok();
    // Without the second dump, the shell has ended and its state with it.
    let (Some(before), Some(after)) = (read("before"), read("after")) else { return Vec::new() };
    let (before, after): (BTreeSet<&str>, BTreeSet<&str>) = (before.lines().collect(), after.lines().collect());
    let enters = seen.commands.iter().any(|command| {
        command.role == Role::Runs && command.words.iter().any(|word| word.value.as_deref() == Some("cd"))
    });
    let (found, in_zsh) = (format!("builtin hash -p {}/", own.display()), format!("={}/", own.display()));
    let is_expected = |line: &str| {
        let name = variable(line);
        name.is_some_and(|name| is_volatile(name) || HARMLESS.contains(&name))
            || line.starts_with("trap --") && before.contains(line)
            || enters && (name.is_some_and(|name| ["PWD", "OLDPWD"].contains(&name)) || line.starts_with('/'))
            // A program that was found is remembered with its own name.
            || line.strip_prefix(&found).is_some_and(|rest| rest.split_once(' ').is_some_and(|(file, name)| file == name))
            || line.split_once(&in_zsh).is_some_and(|(name, file)| file == name)
            || line.contains("hash table empty")
    };
    before.symmetric_difference(&after).filter(|line| !is_expected(line)).map(|line| (*line).to_owned()).collect()
}

/// A folder without other content, removed at the end.
pub(super) fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toolfold-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn allowed_lines_leave_the_state() {
    let folder = scratch("state");
    let originals = originals(&folder.join("bin"));
    let (mut rng, shells) = (Rng(20_261_127), shells());
    let policies =
        ["bash", "zsh", "sh"].map(|name| (name, super::policy(&format!("shell = \"{name}\"\ninteractive = false"))));
    let (count, mut ran, mut wrong) = (toolfold_testing::cases(4_000), 0, BTreeSet::new());
    for round in 0..count {
        let text = line(&mut rng);
        let seen = effects(&text);
        for shell in &shells {
            // What is neither a bash nor a zsh is some `sh`.
            let name = shell.file_name().unwrap_or_default().to_string_lossy();
            let policy = policies.iter().find(|(own, _)| name.contains(own)).map(|(_, policy)| policy);
            if !policy.is_some_and(|policy| allows(policy, &text)) {
                continue;
            }
            ran += 1;
            let own = round_folder(&folder, round.into(), &originals);
            fs::write(own.join("line"), &text).unwrap();
            let [before, after] = ["before", "after"].map(|name| dump(shell, &own.join(name)));
            run(&shell.to_string_lossy(), &format!("{before}\n. '{}'\n{after}", own.join("line").display()), &own);
            let mut found = changes(&own, &seen);
            found.extend(
                logged(&own).into_iter().filter(|argv| !ALLOWED.contains(&argv[0].as_str())).map(|a| a.join(" ")),
            );
            found.extend(
                fs::read_dir(own.join("empty")).unwrap().map(|file| format!("{:?}", file.unwrap().file_name())),
            );
            if !found.is_empty() {
                wrong.insert(format!("{text:?} in {}: {found:?}", shell.display()));
            }
            fs::remove_dir_all(&own).unwrap();
        }
    }
    let _ = fs::remove_dir_all(&folder);
    println!("{count} lines, {ran} allowed and run in {shells:?}, {} changed the state", wrong.len());
    wrong.iter().for_each(|line| println!("  {line}"));
    assert!(wrong.is_empty() && ran * 50 > count, "{ran} of {count} were allowed");
}

#[test]
fn scripts_that_are_allowed_only_read_in_every_awk_and_sed() {
    let folder = scratch("scripts");
    let originals = originals(&folder.join("bin"));
    let programs = ["gawk", "mawk", "original-awk", "busybox"].map(|name| Path::new("/usr/bin").join(name));
    let programs: Vec<PathBuf> = programs.into_iter().filter(|path| is_here(path)).collect();
    let (mut rng, policy) = (Rng(20_261_128), super::policy(""));
    let (count, mut ran) = (toolfold_testing::cases_of(120, 1_600), 0);
    for round in 0..count {
        let text = script(&mut rng);
        if !allows(&policy, &text) {
            continue;
        }
        ran += 1;
        for program in &programs {
            let own = round_folder(&folder, round.into(), &originals);
            let names: &[&str] = if program.ends_with("busybox") { &["awk", "sed"] } else { &["awk"] };
            for name in names {
                fs::remove_file(own.join(name)).unwrap();
                std::os::unix::fs::symlink(program, own.join(name)).unwrap();
            }
            run("/bin/sh", &text, &own);
            let left = fs::read_dir(own.join("empty")).unwrap().count();
            assert!(left == 0 && logged(&own).is_empty(), "{text:?} wrote or ran something in {program:?}");
            fs::remove_dir_all(&own).unwrap();
        }
    }
    let _ = fs::remove_dir_all(&folder);
    println!("{count} scripts, {ran} allowed and run with {programs:?}");
    assert!(ran * 50 > count, "{ran} of {count} were allowed");
}
