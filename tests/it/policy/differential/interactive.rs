//! Lines with `!` in an interactive bash, which replaces it by earlier commands.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::grammar::{ALLOWED, Rng};
use super::state::scratch;
use super::{allows, logged, originals, round_folder};

/// Words with `!`, of which some are replaced by the earlier command `evil q`.
const HISTORY: &[&str] = &[
    "!!",
    "!e",
    "!evil",
    "!-1",
    "!?vil?",
    "\"!e\"",
    "\"a!!\"",
    "'!e'",
    "a!e",
    "!",
    "!=",
    "\"a!\"",
    "!#",
    "$!",
    "\\!e",
    "\"\\!e\"",
    "!(a)",
    "a!",
    "!$",
    "!*",
    "!:0",
    "^evil^ok",
    "${x!}",
    "$'!e'",
    "`!e`",
    "$(!e)",
    "a'b'!e",
    "'a'\"!!\"",
];

/// Words with a `!` that no shell replaces.
const QUOTED: &[&str] = &["'!e'", "'!!'", "!", "!=", "\"a!\"", "'a !e b'", "a'!'", "'^evil^ok'"];

/// Types a line into an interactive bash in a terminal, after the command `evil q`.
fn typed(text: &str, own: &Path) {
    let mut child = Command::new("/usr/bin/script")
        .args(["-qec", "/bin/bash --norc --noprofile -i", "/dev/null"])
        .env_clear()
        .env("PATH", own)
        .env("HOME", own)
        .env("HISTFILE", "/dev/null")
        .env("TERM", "dumb")
        .current_dir(own.join("empty"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("evil q\n{text}\n: >../typed\n").as_bytes()).unwrap();
    // A line may leave the shell waiting, so that it never reads the last one.
    let started = Instant::now();
    while !own.join("typed").exists() && started.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(input);
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
fn an_interactive_bash_runs_what_was_read() {
    if !Path::new("/usr/bin/script").exists() || !Path::new("/bin/bash").exists() {
        println!("skipped: `script`, which opens a terminal, or bash is missing");
        return;
    }
    let folder = scratch("typed");
    let originals = originals(&folder.join("bin"));
    let (mut rng, policy) = (Rng(20_261_129), super::policy("interactive = true"));
    let (count, mut lines) = (toolfold_testing::cases(160), Vec::new());
    for round in 0..count {
        let mut text = rng.of(&["ok", "fine a;", "echo", "true &&", "", "printf %s"]).to_owned();
        for _ in 0..1 + rng.below(2) {
            let words = if rng.once_in(3) { HISTORY } else { QUOTED };
            text = format!("{text} {}", rng.of(words));
        }
        if allows(&policy, &text) {
            lines.push((round, text));
        }
    }
    // A shell in a terminal mostly waits: several run at the same time.
    let (ran, typed_first) = (lines.len(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for part in lines.chunks(ran.div_ceil(8).max(1)) {
            let (folder, originals, typed_first) = (&folder, &originals, &typed_first);
            scope.spawn(move || {
                for (round, text) in part {
                    let own = round_folder(folder, (*round).into(), originals);
                    typed(text, &own);
                    let log = logged(&own);
                    let is_ours = |argv: &&Vec<String>| ALLOWED.contains(&argv[0].as_str());
                    let evil = log.iter().filter(|argv| !is_ours(argv)).count();
                    typed_first.fetch_add(usize::from(evil == 1), Ordering::Relaxed);
                    assert!(evil <= 1, "{text:?} ran an earlier command: {log:?}");
                    let from_before = |word: &String| word.contains("evil") && !text.contains(word.as_str());
                    let with_it = log.iter().filter(is_ours).any(|argv| argv.iter().any(from_before));
                    assert!(!with_it, "{text:?} got words of an earlier command: {log:?}");
                    fs::remove_dir_all(&own).unwrap();
                }
            });
        }
    });
    let typed_first = typed_first.into_inner();
    let _ = fs::remove_dir_all(&folder);
    println!("{count} lines, {ran} allowed and typed, {typed_first} after the earlier command");
    assert!(typed_first * 2 > ran && ran > 0, "{typed_first} of {ran} were typed into a shell that works");
}
