//! `ab report` over rows and over the event logs of an experiment.

use std::io::Write;
use std::process::Stdio;

use super::{Scratch, given, json_of, ran, toolfold, tools};

/// Runs a conversation through `toolfold session --log` as a host would; the experiment chooses its
/// arm.
fn converse(scratch: &Scratch, log: &str, id: usize) {
    let id = format!("c-{id}");
    let config = scratch.path("toolfold.toml");
    let args = ["session", "--tools", &scratch.path("tools.json"), "--config", &config, "--log", log, "--id", &id];
    let mut child = toolfold(&args).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let lines = [
        r#"{"tools":{"count":true}}"#,
        // One call is invalid, one is valid.
        r#"{"call":{"id":"a","name":"copy_file","arguments":{"mode":"fast"}}}"#,
        r#"{"call":{"id":"b","name":"copy_file","arguments":{"path":"x"}}}"#,
        r#"{"finished":{"id":"b","ok":true}}"#,
    ];
    child.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_logs_of_a_two_arm_experiment_give_a_result_with_an_error_bar() {
    let scratch = Scratch::new("live");
    scratch.write("tools.json", &tools().to_string());
    scratch.write("toolfold.toml", "[experiment]\narms = \"control=full,treatment=signature\"\nratio = 0.5\n");
    let (one, two) = (scratch.path("one.jsonl"), scratch.path("two.jsonl"));
    for id in 0..12 {
        converse(&scratch, if id % 2 == 0 { &one } else { &two }, id);
    }
    let found = json_of(&["ab", "report", &one, &two, "--json"]);
    assert_eq!(found["schema"], "toolfold.ab-live/1");
    let variants = found["variants"].as_array().unwrap();
    assert_eq!((&variants[0]["variant"], &variants[1]["variant"]), (&"control".into(), &"treatment".into()));
    let sum: u64 = variants.iter().map(|own| own["conversations"].as_u64().unwrap()).sum();
    assert_eq!(sum, 12);
    assert_eq!(variants[0]["shares"]["repaired"]["value"], 0.5);
    let saved = found["saved"]["value"].as_f64().unwrap();
    assert!(saved > 0.5 && found["saved"]["bar"].is_number(), "{}", found["saved"]);
    // A record that two logs contain counts once.
    assert_eq!(json_of(&["ab", "report", &one, &two, &one, "--json"]), found);
    let text = String::from_utf8(ran(&["ab", "report", &one, &two]).stdout).unwrap();
    assert!(text.contains("treatment saves "), "{text}");
    assert!(text.contains("no measurable difference in repaired calls with 12 conversations"), "{text}");
    let unknown = ran(&["ab", "report", &one, "--control", "nope"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no variant `nope`"));
}

#[test]
fn a_report_of_rows_is_what_ab_prints() {
    let scratch = Scratch::new("report");
    let (tasks, tools) = given(&scratch);
    let out = scratch.path("rows.jsonl");
    let own = json_of(&["ab", "--tasks", &tasks, "--tools", &tools, "--driver", "needs", "--out", &out, "--json"]);
    let read = json_of(&["ab", "report", &out, "--json"]);
    for cell in own["cells"].as_array().unwrap() {
        assert!(read["cells"].as_array().unwrap().contains(cell), "{cell}");
    }
    let log = scratch.write("bad.jsonl", "not a record\n");
    assert_eq!(ran(&["ab", "report", &log]).status.code(), Some(3));
    assert_eq!(ran(&["ab", "report", &scratch.path("none")]).status.code(), Some(1));
}
