//! Drivers that know the true calls, and the file of rows.

use std::time::{Duration, Instant};

use serde_json::Value;
use toolfold_testing::Cases;

use super::{Scratch, cell, corpus, given, json_of, ran, tasks, toolfold};

const ARMS: [&str; 9] = ["full", "seed", "stable", "signature", "outline", "lean", "kept", "index", "search"];

#[test]
fn oracles_lose_no_call_in_any_arm() {
    let scratch = Scratch::new("oracles");
    let (tasks, tools) = given(&scratch);
    let report = json_of(&["ab", "--tasks", &tasks, "--tools", &tools, "--json"]);
    for driver in ["expands", "by-name", "blind", "needs"] {
        for arm in ARMS.into_iter().chain(["auto"]) {
            let own = cell(&report, driver, arm);
            let counts = ["truths", "right", "silent", "missed", "stray"].map(|key| own[key].as_u64().unwrap());
            assert_eq!(counts, [8, 8, 0, 0, 0], "{driver} {arm}");
            let folds = arm != "full" && (arm != "auto" || own["taken"].get("full").is_none());
            let expects = matches!(driver, "expands" | "by-name") && folds;
            assert!(driver == "needs" || (own["expanded"].as_u64() > Some(0)) == expects, "{driver} {arm}");
            assert!(own["breaks"] == 0 || arm == "seed", "{driver} {arm}: {}", own["breaks"]);
        }
        assert!(cell(&report, driver, "lean")["first"].as_u64() < cell(&report, driver, "full")["first"].as_u64());
    }
    // The presented form of arm full has everything, that of arm stable nothing.
    assert_eq!(cell(&report, "needs", "signature")["expanded"], 0);
    assert!(cell(&report, "needs", "stable")["expanded"].as_u64() > Some(0));
}

#[test]
fn omitted_optional_arguments_are_detected_in_every_arm() {
    let scratch = Scratch::new("omits");
    let (tasks, tools) = given(&scratch);
    let report = json_of(&["ab", "--tasks", &tasks, "--tools", &tools, "--driver", "omits", "--json"]);
    for arm in ARMS {
        let own = cell(&report, "omits", arm);
        // Four calls have an argument that is not its default; the fifth has the default, which may
        // be omitted.
        let counts = ["truths", "right", "silent", "missed"].map(|key| own[key].as_u64().unwrap());
        assert_eq!(counts, [8, 4, 4, 0], "{arm}");
    }
}

#[test]
fn rows_name_every_argument_that_differs() {
    let scratch = Scratch::new("rows");
    let (tasks, tools) = given(&scratch);
    let out = scratch.path("rows.jsonl");
    json_of(&[
        "ab", "--tasks", &tasks, "--tools", &tools, "--driver", "omits", "--arms", "lean", "--out", &out, "--json",
    ]);
    let text = std::fs::read_to_string(&out).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows[0]["schema"], "toolfold.ab-run/1");
    let row = rows.iter().find(|row| row["task"] == "t4").unwrap();
    assert_eq!(row["schema"], "toolfold.ab/1");
    assert_eq!(
        row["wrong"].to_string(),
        concat!(
            r#"[{"turn":0,"tool":"read_mail","arguments":["note","mode"]},"#,
            r#"{"turn":0,"tool":"copy_file","arguments":["mode"]}]"#
        )
    );
}

/// The table of a run does not depend on when it was killed: completed rounds are skipped, and half
/// a row is played again.
#[test]
fn a_killed_run_is_resumed() {
    let scratch = Scratch::new("killed");
    let (tasks, tools) = given(&scratch);
    let (whole, part) = (scratch.path("whole.jsonl"), scratch.path("part.jsonl"));
    let args = |out: &'static str, file: &str| {
        ["ab", "--tasks", &tasks, "--tools", &tools, "--arms", "full,lean,seed", "--repeat", "20", "--out", file, out]
            .map(str::to_owned)
    };
    let run = |args: &[String]| {
        let words: Vec<&str> = args.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        ran(&words)
    };
    let once = run(&args("", &whole));
    let words = args("", &part);
    let mut child = toolfold(&words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect::<Vec<_>>())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let lines = || std::fs::read_to_string(&part).map_or(0, |text| text.lines().count());
    while lines() < 50 && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let all = std::fs::read_to_string(&whole).unwrap().lines().count();
    let before = std::fs::read_to_string(&part).unwrap();
    assert!(before.lines().count() < all, "it was killed in the middle");
    // Half a row, as a kill during a write would leave it.
    let whole_lines = before.rfind('\n').unwrap() + 1;
    let torn = before[..whole_lines].to_owned() + r#"{"schema":"toolfold.ab/1","task":"t0","ar"#;
    std::fs::write(&part, torn).unwrap();
    let refused = run(&args("", &part));
    assert_eq!(refused.status.code(), Some(2), "what exists is not written over");
    let resumed = run(&args("--resume", &part));
    let said = String::from_utf8_lossy(&resumed.stderr).into_owned();
    assert!(said.contains("torn-row"), "{said}");
    assert_eq!(String::from_utf8_lossy(&resumed.stdout), String::from_utf8_lossy(&once.stdout));
    let after = std::fs::read_to_string(&part).unwrap();
    assert!(after.starts_with(&before[..whole_lines]), "what was finished is not played again");
    assert_eq!(after.lines().count(), all);
    // Everything is complete: nothing is played again.
    assert_eq!(run(&args("--resume", &part)).stdout, once.stdout);
    assert_eq!(std::fs::read_to_string(&part).unwrap(), after);
}

#[test]
fn rows_of_another_run_are_not_continued() {
    let scratch = Scratch::new("other");
    let (file, tools) = given(&scratch);
    let out = scratch.path("rows.jsonl");
    json_of(&["ab", "--tasks", &file, "--tools", &tools, "--arms", "full", "--out", &out, "--json"]);
    let other = scratch.write("other.jsonl", &tasks().replace("'z'", "'y'").replace("\"z\"", "\"y\""));
    let refused = ran(&["ab", "--tasks", &other, "--tools", &tools, "--arms", "full", "--out", &out, "--resume"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("belong to another run: `tasks`"), "{said}");
    let model = ran(&["ab", "--tasks", &file, "--tools", &tools, "--model", "gpt-5.4", "--out", &out, "--resume"]);
    assert!(String::from_utf8_lossy(&model.stderr).contains("`model`"));
}

#[test]
fn an_unplayable_task_is_reported_before_any_is_played() {
    let scratch = Scratch::new("refused");
    let (tasks, tools) = given(&scratch);
    let bad = scratch.write("bad.jsonl", "{\"id\":\"a\",\"turns\":[\"x\"],\"ground_truth\":[[\"nope()\"]]}");
    for (args, code, part) in [
        (vec!["ab"], 2, "no tasks to play"),
        (vec!["ab", "--tasks", &bad, "--tools", &tools], 1, "no tool `nope`"),
        (vec!["ab", "--tasks", &tasks, "--tools", &tools, "--arms", "lena"], 2, "did you mean `lean`"),
        (vec!["ab", "--tasks", &tasks, "--tools", &tools, "--driver", "need"], 2, "did you mean `needs`"),
        (vec!["ab", "--tasks", &tasks, "--tools", &tools, "--arms", "native"], 2, "native"),
        (vec!["ab", "--tasks", &tasks, "--tools", &tools, "--wire", "mcp"], 2, "wire mcp does not reach a model"),
    ] {
        let output = ran(&args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

/// On the 100 tasks of BFCL, no call is lost in any arm, and omitted optional arguments are
/// detected in each.
#[test]
fn bfcl_is_played_by_the_oracles_in_every_arm_within_a_minute() {
    let (Some(tasks), Some(tools)) = (corpus("bfcl/multi_turn.jsonl"), corpus("bfcl/tools.json")) else { return };
    let is_sample = Cases::of_this_run().is_quick();
    let (limit, some) = if is_sample { ("6", "20") } else { ("100", "40") };
    let began = Instant::now();
    let report = json_of(&["ab", "--tasks", &tasks, "--tools", &tools, "--limit", limit, "--json"]);
    let took = began.elapsed();
    println!("four oracles, nine arms, {limit} tasks: {:.1} s", took.as_secs_f64());
    for own in report["cells"].as_array().unwrap() {
        assert!(own["truths"] == 583 || is_sample && own["truths"].as_u64() > Some(0), "{own}");
        assert_eq!((&own["right"], &own["silent"]), (&own["truths"], &0.into()), "{own}");
    }
    for arm in ARMS {
        assert_eq!(cell(&report, "needs", arm)["tasks"].to_string(), limit);
    }
    let omits = json_of(&["ab", "--tasks", &tasks, "--tools", &tools, "--driver", "omits", "--limit", some, "--json"]);
    let silent = ARMS.map(|arm| cell(&omits, "omits", arm)["silent"].as_u64().unwrap());
    println!("silent wrong of who omits what is optional, {some} tasks: {silent:?}");
    assert!(silent[0] > if is_sample { 0 } else { 10 }, "{silent:?}");
    assert!(silent.iter().all(|own| *own == silent[0]), "{silent:?}");
}

/// The text fits the smallest usual terminal; what follows below repeats driver and arm.
#[test]
fn the_comparison_fits_80_columns() {
    let scratch = Scratch::new("columns");
    let (tasks, tools) = given(&scratch);
    let output = ran(&["ab", "--tasks", &tasks, "--tools", &tools]);
    let text = String::from_utf8(output.stdout).unwrap();
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("driver ")).collect();
    assert!(headings.len() > 1 && headings.iter().all(|own| own.contains("arm")), "{text}");
    for heading in ["tasks vs full", "input saved", "wrong sibling", "breaks"] {
        assert_eq!(headings.iter().filter(|own| own.contains(heading)).count(), 1, "{heading}: {headings:?}");
    }
}

#[test]
fn rounds_are_played_by_task_or_by_arm() {
    let scratch = Scratch::new("order");
    let (tasks, tools) = given(&scratch);
    for (order, is_by_arm) in [("arm", true), ("task", false)] {
        let out = scratch.path(order);
        json_of(&[
            "ab",
            "--tasks",
            &tasks,
            "--tools",
            &tools,
            "--driver",
            "blind",
            "--arms",
            "lean,full",
            "--order",
            order,
            "--out",
            &out,
            "--json",
        ]);
        let text = std::fs::read_to_string(&out).unwrap();
        let rows: Vec<Value> = text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
        let arms: Vec<&str> = rows.iter().map(|row| row["arm"].as_str().unwrap()).collect();
        let found = arms.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(arms.len() == 12 && (found == 1) == is_by_arm, "{order}: {arms:?}");
    }
}
