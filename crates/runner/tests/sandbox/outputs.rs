//! What a script returns: its output and its files.

use std::time::Instant;

use super::run::{Temp, has, isolates, rounds, run_alone};
use toolfold_runner::collect;

/// The peak of this process's resident memory in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_gigabyte_of_output_is_counted_and_not_stored() {
    if isolates() {
        // Alone in a process, whose memory no other test uses.
        run_alone("outputs::helper_writes_a_gigabyte", &[]);
    }
}

#[test]
#[ignore = "the other half of a_gigabyte_of_output_is_counted_and_not_stored"]
fn helper_writes_a_gigabyte() {
    let temp = Temp::new();
    let job = temp.job("execute.sh", "head -c 1073741824 /dev/zero; head -c 100 /dev/zero >&2");
    let before = peak();
    let ended = temp.run(&job);
    println!("measured: the host grew by {} KiB in {} ms", peak() - before, ended.duration_ms);
    assert_eq!((ended.stdout_bytes, ended.stdout.len()), (1 << 30, 64 << 10));
    assert_eq!((ended.stderr_bytes, ended.stderr.len(), ended.exit), (100, 100, Some(0)));
    assert!(peak() - before < 10 << 10, "the host grew by {} KiB", peak() - before);
}

#[test]
fn files_of_the_work_folder_are_returned_and_the_folder_is_removed() {
    if !isolates() || !has("node") {
        return;
    }
    let temp = Temp::new();
    let secret = temp.secret();
    let text = "const fs = require('fs');
        fs.writeFileSync('b.txt', 'abc'); fs.mkdirSync('sub'); fs.writeFileSync('sub/a.txt', '');
        fs.copyFileSync('b.txt', 'c.txt');
        fs.symlinkSync('{TEMP}/secret.txt', 'link'); fs.mkdirSync('hidden', 0);
        console.log(JSON.parse(process.env.INPUT_JSON).a, process.cwd() === process.env.HOME);";
    let mut job = temp.job("execute.js", text);
    job.input = "{\"a\": 7}".to_owned();
    let ended = temp.run(&job);
    assert_eq!(ended.stdout, "7 true\n", "{}", ended.stderr);
    let out = temp.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let files = collect(&ended.folder.work(), |name, _| Ok(out.join(name.replace('/', "-")))).unwrap();
    let names: Vec<&str> = files.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!((names.as_slice(), files.left_out), (["b.txt", "c.txt", "sub/a.txt"].as_slice(), 1));
    let work = ended.folder.work();
    drop(ended);
    assert!(!work.exists());
    assert_eq!(std::fs::read_to_string(&files.files[0].path).unwrap(), "abc", "a result is read after the run");
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret");
}

#[test]
fn concurrent_runs_do_not_see_each_other() {
    if !isolates() {
        return;
    }
    let temp = Temp::new();
    let job = temp.job("execute.sh", "echo mine > file; ls ..; ls");
    let running: Vec<_> = (0..4).map(|_| temp.start(&job).unwrap()).collect();
    for run in running {
        let ended = run.wait().unwrap();
        assert_eq!(ended.stdout, "file\n");
        assert!(ended.stderr.contains("Permission denied"), "{}", ended.stderr);
    }
}

/// Prints what a run costs beside the bare process, the best of all rounds: the design allows 5 ms
/// in a release build.
#[test]
fn the_cost_of_a_start() {
    if !isolates() {
        return;
    }
    let temp = Temp::new();
    let job = temp.job("execute.sh", "exit 0");
    temp.run(&job);
    let rounds = rounds(15);
    let best = |run: &dyn Fn()| {
        let times = (0..rounds).map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        });
        times.min().unwrap()
    };
    let bare =
        best(&|| assert!(std::process::Command::new("/bin/sh").arg(&job.script.entry).status().unwrap().success()));
    let isolated = best(&|| assert_eq!(temp.run(&job).exit, Some(0)));
    println!("measured: best of {rounds}: {bare:?} bare, {isolated:?} in the sandbox");
}
