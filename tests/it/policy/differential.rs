//! The shell reader against a real bash and a real dash: random programs are judged, and what is
//! allowed is run in each with a PATH that holds nothing but stubs that log their argv. Nothing but
//! allowed programs may have run, with the very words that the reader saw, and nothing may have
//! been written.
//!
//! `TOOLFOLD_PROGRAMS` and `TOOLFOLD_SEED` set how many and from where.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use toolfold::policy::shell::{Role, SideEffects, effects};
use toolfold::policy::{Context, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

mod documents;
mod grammar;
mod interactive;
mod state;

use grammar::{ALLOWED, FORBIDDEN, Rng, program};

/// The first programs of the generator.
pub(super) fn generated(count: usize) -> Vec<String> {
    let mut rng = Rng(20_261_121);
    (0..count).map(|_| program(&mut rng, 2)).collect()
}

/// Ends a record of the log.
const END: &str = "\u{1}end of a record\u{1}";

/// The real programs and the stubs, to link to: a stub logs beside the name under which it was
/// found.
fn originals(folder: &Path) -> Vec<(String, PathBuf)> {
    fs::create_dir_all(folder).unwrap();
    let stub = |name: &&str| {
        // A record: the words, each ended by NUL, then a mark that no program writes; written at
        // once, since commands may run side by side.
        let text = format!("#!/bin/sh\nprintf '%s\\0' '{name}' \"$@\" '{END}' >> \"${{0%/*}}/log\"\n");
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        ((*name).to_owned(), path)
    };
    let real = |name: &&str| {
        let path = ["/usr/bin", "/bin"].iter().map(|d| Path::new(d).join(name)).find(|p| p.exists()).unwrap();
        ((*name).to_owned(), path)
    };
    let mut all: Vec<(String, PathBuf)> = ALLOWED.iter().chain(FORBIDDEN).map(stub).collect();
    all.extend(
        ["timeout", "nice", "env", "nohup", "xargs", "bash", "sed", "awk", "cat", "stdbuf", "setsid"].iter().map(real),
    );
    all
}

/// A folder for one program alone: what an earlier one left running cannot write here.
fn round_folder(folder: &Path, round: u64, originals: &[(String, PathBuf)]) -> PathBuf {
    let own = folder.join(format!("r{round}"));
    fs::create_dir_all(own.join("empty")).unwrap();
    fs::write(own.join("in"), "a b\n\"c/d\n1 2\n").unwrap();
    for (name, path) in originals {
        symlink(path, own.join(name)).unwrap();
    }
    own
}

fn logged(own: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(own.join("log")).unwrap_or_default();
    text.split(&format!("{END}\0"))
        .filter(|r| !r.is_empty())
        .map(|r| r.split_terminator('\0').map(str::to_owned).collect())
        .collect()
}

/// Waits for a program to end. Not for ever: `until <x; do y; done` never does. What it did until
/// then is looked at.
fn ends(child: &mut Child) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return Some(status),
            None if start.elapsed() > Duration::from_secs(2) => return None,
            None => std::thread::sleep(Duration::from_micros(300)),
        }
    }
}

/// Runs a program in its folder, and says how it ended.
fn run(shell: &str, text: &str, own: &Path) -> String {
    let mut child = Command::new(shell)
        .args(["-c", text])
        .env_clear()
        .env("PATH", own)
        .current_dir(own.join("empty"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let ended = ends(&mut child);
    // `&` leaves a command behind; its stub may still be writing, or run for ever.
    if ended.is_some() && text.contains('&') {
        std::thread::sleep(Duration::from_millis(15));
    }
    if ended.is_none() || text.contains('&') {
        let all = format!("kill -KILL -{} 2>/dev/null", child.id());
        Command::new("/bin/sh").args(["-c", &all]).status().unwrap();
        let _ = child.kill();
        child.wait().unwrap();
    }
    ended.map_or_else(|| "stopped".to_owned(), |status| status.to_string())
}

/// Whether a command that ran is one that the reader saw.
fn was_seen(seen: &SideEffects, argv: &[String]) -> bool {
    seen.commands.iter().filter(|command| command.role == Role::Runs).any(|command| {
        let words: Vec<Option<&str>> = command.words.iter().map(|w| w.value.as_deref()).collect();
        let same = |words: &[Option<&str>]| words.iter().zip(argv).all(|(w, a)| *w == Some(a.as_str()));
        // `xargs` adds words at the end.
        let open = words.last() == Some(&None) && same(&words[..words.len() - 1]);
        words.len() == argv.len() && same(&words) || open
    })
}

/// A policy that allows the stubs and commands that only print, compare, or enter a folder.
/// `record` are lines of the record of `Bash`.
fn policy(record: &str) -> Policy {
    let names = ["ok", "fine", "echo", "printf", "true", ":", "test", "cd", "false", "command", "sed", "awk", "cat"];
    let rules = names.map(|name| format!("Bash({name}:*)"));
    let text = format!("allow = {}\n[tool.Bash]\n{record}\n", json!(rules));
    Policy::new(vec![PolicyFile::load(&text, "policy.toml", PolicyScope::User).into_result().unwrap()])
}

/// Whether a line runs without an approval.
fn allows(policy: &Policy, text: &str) -> bool {
    let context = Context::default().with_interactive(true).with_cwd("/workspace");
    let arguments = json!({ "command": text });
    policy.decide(&PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments), &context, &[]).decision.runs()
}

#[test]
fn allowed_programs_behave_as_inspected() {
    let shells: Vec<&str> = ["/bin/bash", "/bin/dash"].into_iter().filter(|shell| Path::new(shell).exists()).collect();
    if shells.is_empty() {
        println!("skipped: there is neither /bin/bash nor /bin/dash");
        return;
    }
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    let (count, seed) =
        (number("TOOLFOLD_PROGRAMS", toolfold_testing::cases(2_000).into()), number("TOOLFOLD_SEED", 20_261_121));
    let folder = std::env::temp_dir().join(format!("toolfold-diff-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let originals = originals(&folder.join("bin"));
    let policy = policy("");
    let mut rng = Rng(seed);
    let (mut ran, mut calls) = (0, 0);
    for round in 0..count {
        let text = program(&mut rng, 2);
        if !allows(&policy, &text) {
            continue;
        }
        ran += 1;
        let seen = effects(&text);
        for shell in &shells {
            let own = round_folder(&folder, round, &originals);
            let status = run(shell, &text, &own);
            for argv in logged(&own) {
                calls += 1;
                let said = format!("round {round}: {argv:?} ran in {text:?} ({shell}, {status})");
                assert!(ALLOWED.contains(&argv[0].as_str()), "{said}");
                assert!(was_seen(&seen, &argv), "{said}, but was read as {:?}", seen.commands);
            }
            let left: Vec<_> = fs::read_dir(own.join("empty")).unwrap().collect();
            assert!(left.is_empty(), "round {round}: {text:?} wrote {left:?} ({shell})");
            fs::remove_dir_all(&own).unwrap();
        }
    }
    let _ = fs::remove_dir_all(&folder);
    println!("{count} programs from seed {seed}, {ran} allowed and run in {shells:?}, {calls} commands logged");
    assert!(ran * 20 > count, "enough were allowed for the test to mean something: {ran} of {count}");
}
