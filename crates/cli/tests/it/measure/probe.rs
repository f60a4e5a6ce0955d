//! Tests of `probe`: scripted models on this machine, honest ones and one that knows the answers.

use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::measure::ab::server::{Request, Server};

/// What a scripted model can do.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Model {
    /// Calls everything it was shown.
    Able,
    /// Calls only declared tools, and never through `call_tool`.
    DeclaredOnly,
    /// Knows the answers in advance.
    Cheats,
    /// Never calls.
    Talks,
}

fn probe(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")))
        .args(args)
        .current_dir(std::env::temp_dir())
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("PROBE_TEST_KEY", "sk-secret-9")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn secret(nonce: &str) -> (String, String) {
    let hex: String = Sha256::digest(nonce.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    (format!("berth_{}", &hex[..6]), format!("Q-{}", &hex[6..16]))
}

fn answer(model: Model, request: &Request) -> String {
    let tools = request.body["tools"].to_string();
    let declared = tools.contains("\"name\":\"reserve_berth\"");
    let bridged = tools.contains("\"name\":\"call_tool\"");
    let seen = request.body["messages"].to_string();
    let cases = [("declared stub", declared), ("undeclared tool", !declared && !bridged), ("call_tool", bridged)];
    let case = cases.into_iter().find(|(_, is_it)| *is_it).unwrap().0;
    let nonces = (0..5).flat_map(|at| [true, false].map(|shown| format!("0 {case} {at} {shown}")));
    let known = nonces.map(|nonce| secret(&nonce)).find(|(key, _)| seen.contains(key.as_str()));
    let cheat = || secret(&format!("0 {case} 0 false"));
    let known = if model == Model::Cheats { known.or_else(|| Some(cheat())) } else { known };
    let may = match model {
        Model::Able | Model::Cheats => true,
        Model::DeclaredOnly => declared,
        Model::Talks => false,
    };
    let message = match known.filter(|_| may) {
        None => json!({"role": "assistant", "content": "Which berth?"}),
        Some((key, code)) => {
            let arguments = json!({key: "Aurora", "code": code});
            let (name, arguments) = if bridged {
                ("call_tool", json!({"name": "reserve_berth", "arguments": arguments}))
            } else {
                ("reserve_berth", arguments)
            };
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": "m1", "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()}}]})
        }
    };
    json!({"choices": [{"message": message}]}).to_string()
}

fn asked(model: Model, more: &[&str]) -> (Option<i32>, String, String) {
    let server = Server::start(move |request| (200, "", answer(model, request)));
    probe(&[&["probe", "--base-url", &server.url, "--model", "tiny-1", "--key-env", "PROBE_TEST_KEY"], more].concat())
}

#[test]
fn models_differ_by_what_they_support() {
    for (model, in_result, bridge, note) in [
        (Model::Able, "yes", "yes", "undeclared tools: yes"),
        (Model::DeclaredOnly, "yes", "no", "undeclared tools: no"),
        (Model::Talks, "no", "no", "undeclared tools: no"),
    ] {
        let (code, row, said) = asked(model, &[]);
        assert_eq!(code, Some(0), "{model:?}: {said}");
        for part in [format!("in_result = \"{in_result}\""), format!("bridge = \"{bridge}\""), note.to_owned()] {
            assert!(row.contains(&part), "{model:?} has no `{part}`: {row}");
        }
        assert!(!row.contains("native ="), "Chat Completions defers nothing: {row}");
        assert!(!row.contains("sk-secret-9") && !said.contains("sk-secret-9"));
    }
}

#[test]
fn a_control_that_succeeds_is_reported_as_no_proof() {
    let (code, row, said) = asked(Model::Cheats, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(row.contains("in_result = \"unprobed\"") && row.contains("bridge = \"unprobed\""), "{row}");
    assert!(row.contains("the model was right without the schema"), "{row}");
    assert!(said.contains("the control succeeded for declared stub"), "{said}");
}

#[test]
fn the_row_is_read_back_as_presentation_capabilities() {
    let folder = std::env::temp_dir().join(format!("toolfold-probe-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (row, config) = (folder.join("row.toml"), folder.join("toolfold.toml"));
    std::fs::remove_file(&row).ok();
    let row_name = row.to_str().unwrap();
    let (code, printed, said) = asked(Model::DeclaredOnly, &["--out", row_name, "--json"]);
    assert_eq!(code, Some(0), "{said}");
    crate::schemas::check_output(&["probe", "--json"], &printed);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["schema"], "toolfold.probe/1");
    assert_eq!(printed["row"], std::fs::read_to_string(&row).unwrap());
    assert_eq!(printed["cases"][0]["counts"]["right"], 5);
    let (again, _, said) = asked(Model::Talks, &["--out", row_name]);
    assert_eq!(again, Some(1), "a row is not written over: {said}");
    std::fs::write(&config, format!("[presentation]\ncapabilities = {row_name:?}\n")).unwrap();
    let tools = |arm| probe(&["tools", "--config", config.to_str().unwrap(), "--model", "tiny-1", "--arm", arm]);
    let (code, _, said) = tools("index");
    assert!(code != Some(0) && said.contains("toolfold probe: declared stub 5 of 5"), "{said}");
    assert_eq!(tools("stable").0, Some(0));
    std::fs::remove_dir_all(&folder).ok();
}

#[test]
fn an_unreachable_model_gives_no_row() {
    let server = Server::start(|_| (400, "", "{\"error\":{\"message\":\"no tools here\"}}".to_owned()));
    let (code, row, said) = probe(&["probe", "--base-url", &server.url, "--model", "m"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(row.contains("in_result = \"unprobed\"") && row.contains("no tools here"), "{row}");
    let (code, _, said) = probe(&["probe", "--model", "m"]);
    assert!(code == Some(2) && said.contains("--base-url"), "{said}");
}
