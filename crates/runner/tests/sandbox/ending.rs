//! How scripts end: at a timeout, at a limit, with their host.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::run::{Temp, has, isolates, processes_with, rounds};
use toolfold_runner::{Isolation, Limits, RunError, Stopped};

/// Waits until a condition holds, at most half a minute.
fn wait_for(mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(30);
    while Instant::now() < until {
        if condition() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

/// A number that no other process has in its command line.
fn unique(salt: u32) -> String {
    format!("{}", 1_000_000_u64 + u64::from(std::process::id()) * 100 + u64::from(salt))
}

#[test]
fn exit_codes_and_signals_are_reported() {
    if !isolates() {
        return;
    }
    let temp = Temp::new();
    let ended = temp.run(&temp.job("execute.sh", "echo out; echo err >&2; exit 3"));
    assert_eq!((ended.exit, ended.signal, ended.stopped), (Some(3), None, None));
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("out\n", "err\n"));
    let ended = temp.run(&temp.job("execute.sh", "kill -TERM $$"));
    assert_eq!((ended.exit, ended.signal), (None, Some(15)));
}

#[test]
fn a_timeout_kills_every_descendant() {
    if !isolates() {
        return;
    }
    let temp = Temp::new();
    let mark = unique(1);
    // The script ignores SIGTERM, and a grandchild outlives its parent.
    let text = format!("trap '' TERM; (sleep {mark} & ) ; echo started; sleep {mark}; echo never");
    let mut job = temp.job("execute.sh", &text);
    job.limits = Limits::default().with_timeout_ms(300);
    let started = Instant::now();
    let ended = temp.run(&job);
    println!("measured: killed {} ms after the timeout", started.elapsed().as_millis().saturating_sub(300));
    assert_eq!((ended.stopped, ended.signal), (Some(Stopped::Timeout), Some(9)));
    assert_eq!(ended.stdout, "started\n", "the output so far is stored");
    assert!(!ended.survived);
    assert_eq!(processes_with(&mark), [""; 0]);
}

#[test]
fn what_a_script_leaves_running_ends_with_it() {
    let temp = Temp::new();
    let mark = unique(2);
    // The script waits until its daemon has left the session, or has failed to.
    let daemon = format!("setsid sh -c 'touch ready; exec sleep {mark}' || touch ready");
    let text = format!("sleep {mark} & ({daemon}) & while [ ! -e ready ]; do sleep 0.01; done; echo done");
    let mut job = temp.job("execute.sh", &text);
    if isolates() {
        let ended = temp.run(&job);
        assert_eq!((ended.exit, ended.stopped), (Some(0), None));
        assert_eq!(processes_with(&mark), [""; 0]);
    }
    // Without isolation a process can leave the group; it is still a descendant.
    job.isolation = Isolation::None;
    let ended = temp.run(&job);
    assert_eq!((ended.exit, ended.survived), (Some(0), false));
    assert_eq!(processes_with(&mark), [""; 0]);
}

#[test]
fn a_fork_bomb_ends() {
    if !isolates() {
        return;
    }
    let temp = Temp::new();
    let mark = unique(3);
    // One that doubles would take the whole machine if this test failed: eight levels of it.
    let doubles = format!(
        "bomb() {{ sleep {mark} & [ $1 = 0 ] || bomb $(($1 - 1)) | bomb $(($1 - 1)) & }}; bomb 8; sleep {mark}"
    );
    for text in [format!("while :; do sleep {mark} & done"), doubles] {
        let ended = temp.run(&temp.job("execute.sh", &text));
        assert_eq!(ended.stopped, Some(Stopped::Processes), "{text}");
        assert!(!ended.survived);
        assert_eq!(processes_with(&mark), [""; 0]);
    }
}

#[test]
fn memory_is_limited_for_one_process_and_for_all() {
    if !isolates() || !has("python3") {
        return;
    }
    let temp = Temp::new();
    let mut job = temp.job("execute.py", "a = bytearray(300 << 20)\nprint('allocated')");
    job.limits.data_bytes = 200 << 20;
    let ended = temp.run(&job);
    assert!(ended.stderr.contains("MemoryError"), "{} {}", ended.stdout, ended.stderr);
    job.limits = Limits::default();
    assert_eq!(temp.run(&job).stdout, "allocated\n");
    let text = "import os, time\nfor _ in range(3): os.fork() or (bytearray(b'x' * (60 << 20)), time.sleep(1000))\ntime.sleep(1000)";
    let mut job =
        temp.job("execute.py", &text.replace("bytearray(b'x' * (60 << 20))", "globals().update(a=b'x' * (60 << 20))"));
    job.limits.resident_bytes = 150 << 20;
    let ended = temp.run(&job);
    assert_eq!(ended.stopped, Some(Stopped::Memory), "{}", ended.stderr);
}

#[test]
fn a_changed_script_is_refused() {
    let temp = Temp::new();
    let mut job = temp.job("execute.sh", "echo approved");
    job.isolation = Isolation::None;
    std::fs::write(&job.script.entry, "echo changed").unwrap();
    assert!(matches!(temp.start(&job), Err(RunError::Changed)));
    temp.script("execute.sh", "echo approved");
    assert_eq!(temp.run(&job).stdout, "approved\n");
    temp.script("helper.sh", "echo new");
    assert!(matches!(temp.start(&job), Err(RunError::Changed)), "another file of the folder");
}

#[test]
fn a_cancelled_run_ends_and_keeps_its_output() {
    if !isolates() {
        return;
    }
    let temp = Temp::new();
    let mark = unique(4);
    let running = temp.start(&temp.job("execute.sh", &format!("echo started; sleep {mark}"))).unwrap();
    assert!(wait_for(|| !processes_with(&format!("sleep {mark}")).is_empty()));
    running.canceller().cancel();
    let ended = running.wait().unwrap();
    assert_eq!((ended.stopped, ended.stdout.as_str()), (Some(Stopped::Cancelled), "started\n"));
    // Dropping a run cancels it as well.
    drop(temp.start(&temp.job("execute.sh", &format!("sleep {mark}"))).unwrap());
    assert_eq!(processes_with(&mark), [""; 0]);
}

/// A host that is killed by the test below.
#[test]
#[ignore = "the other half of a_killed_host_leaves_nothing"]
fn helper_runs_a_script() {
    let temp = Temp::new();
    let (mark, runs) = (std::env::var("MARK").unwrap(), std::env::var_os("RUNS").unwrap());
    println!("skill: {}", temp.path().display());
    let job = temp.job("execute.sh", &format!("echo x >> starts; sleep {mark}"));
    drop(temp.start_in(&job, std::path::Path::new(&runs)).unwrap().wait());
}

/// Each round kills a host while its script runs: the script ends, nothing starts it again, and
/// the next run removes the folder.
#[test]
fn a_killed_host_leaves_nothing() {
    if !isolates() {
        return;
    }
    let (temp, mark) = (Temp::new(), unique(5));
    let sleeps = || processes_with(&format!("sleep {mark}")).len();
    let left = || {
        let entries = std::fs::read_dir(temp.runs()).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let rounds = rounds(5);
    for round in 0..rounds {
        let mut host = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "ending::helper_runs_a_script", "--ignored", "--nocapture"])
            .env("MARK", &mark)
            .env("RUNS", temp.runs())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(host.stdout.take().unwrap()).lines().map_while(Result::ok);
        let skill = lines.find_map(|line| Some(line.split_once("skill: ")?.1.to_owned())).unwrap();
        assert!(wait_for(|| sleeps() == 1), "round {round}");
        host.kill().unwrap();
        host.wait().unwrap();
        assert!(wait_for(|| sleeps() == 0), "round {round}: the script outlives its host");
        // The folders of earlier rounds are gone, since the start of this round removed them.
        let folders = left();
        assert_eq!(folders.len(), 1, "round {round}: {folders:?}");
        assert_eq!(std::fs::read_to_string(folders[0].join("work/starts")).unwrap(), "x\n", "it started once");
        std::fs::remove_dir_all(skill).unwrap();
    }
    toolfold_runner::remove_left_over(&temp.runs());
    assert!(left().is_empty(), "{:?}", left());
    assert_eq!(sleeps(), 0, "nothing runs again");
    println!("measured: {rounds} killed hosts left nothing");
}
