//! Session, gateway and library offer the same skills as tools and answer their calls alike. What
//! they do is in `bindings/python/tests/skill_tools/expected.json`, which the test of the Python
//! package compares too. Without Landlock the tests print `skipped:` and pass.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::gateway::serving::lines::text;
use crate::gateway::serving::place::Place;
use crate::skill_tools::{call, gateway, say, scripts, session};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Outcome, Resumed};
use toolfold::engine::{Engine, PolicyLayer, SkillLayer};
use toolfold::policy::{MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::profile::Arm;
use toolfold::skill::DiskFs;
use toolfold::wire::Wire;
use toolfold_cli::edge::SkillTools;

/// How an entry point answers a call.
struct Said {
    /// What a person was shown who then approved it; empty if no one was asked.
    shown: String,
    /// The text for the model; `None` if the host must run the script itself.
    text: Option<String>,
}

fn folder() -> PathBuf {
    crate::root().join("bindings/python/tests/skill_tools")
}

fn expected() -> Value {
    serde_json::from_str(&crate::project("bindings/python/tests/skill_tools/expected.json")).unwrap()
}

/// A place with these skills; `None` if this machine does not isolate scripts.
fn place() -> Option<Place> {
    if !toolfold_runner::level().isolates() {
        println!("skipped: {}", toolfold_runner::level());
        return None;
    }
    let place = Place::new();
    let settings = format!(
        "[skills]\nas_tools = true\nusual = false\nroots = [{}]\n[skill_scripts]\nenabled = true\n[policy]\nfile = \"policy.toml\"\n",
        json!(folder().join("skills"))
    );
    place.put("config/toolfold/toolfold.toml", &settings);
    place.put("config/toolfold/policy.toml", &std::fs::read_to_string(folder().join("policy.toml")).unwrap());
    Some(place)
}

/// Compares what an entry point offers and answers.
fn compare(entry: &str, tools: &[Value], mut asks: impl FnMut(&str, &Value) -> Said) {
    let expected = expected();
    assert_eq!(json!(tools), expected["tools"], "{entry}");
    let mut runs = 0;
    for step in expected["steps"].as_array().unwrap() {
        let Said { shown, text } = asks(step["call"].as_str().unwrap(), &step["arguments"]);
        let asked = step["asks"].as_str().unwrap_or("");
        assert!(shown.contains(asked) && asked.is_empty() == shown.is_empty(), "{entry}: {step}: {shown}");
        let Some(text) = text else {
            assert!(step["result"].is_object(), "{entry}: it has no script: {step}");
            continue;
        };
        runs += 1;
        if let Some(answer) = step["answer"].as_str() {
            assert!(text.contains(answer), "{entry}: {step}: {text}");
            continue;
        }
        let result: Value = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{entry}: {why}: {text}"));
        for (key, value) in step["result"].as_object().unwrap() {
            // `true`: the text depends on the shell.
            let same = if *value == json!(true) { result[key].is_string() } else { result[key] == *value };
            assert!(same, "{entry}: {key} of {step}: {result}");
        }
        let more: Vec<&String> =
            result.as_object().unwrap().keys().filter(|key| step["result"].get(key.as_str()).is_none()).collect();
        assert!(more.iter().all(|key| ["duration_ms", "exit", "signal"].contains(&key.as_str())), "{entry}: {result}");
    }
    assert!(runs >= 3, "{entry} answered {runs} calls");
}

#[test]
fn a_session_does_what_is_expected() {
    let Some(place) = place() else { return };
    let mut talk = session(&place, "");
    let tools = scripts(&say(&mut talk, &json!({"tools": true}))["tools"]);
    let mut number = 0;
    compare("session", &tools, |name, arguments| {
        number += 1;
        let mut said = say(&mut talk, &call(&format!("c{number}"), name, arguments));
        let mut shown = String::new();
        if said["outcome"] == "confirm" {
            shown = said["shown"].to_string();
            said = say(&mut talk, &json!({"accept": said["approval"]}));
        }
        Said { shown, text: Some(said["content"].as_str().unwrap_or_else(|| panic!("{said}")).to_owned()) }
    });
}

#[test]
fn a_gateway_does_what_is_expected() {
    let Some(place) = place() else { return };
    let mut client = gateway(&place, &json!({"elicitation": {}}));
    let tools = scripts(&client.asked("1", "tools/list", &json!({}))["result"]["tools"]);
    let mut number = 1;
    compare("gateway", &tools, |name, arguments| {
        number += 1;
        client.ask(&number.to_string(), "tools/call", &json!({"name": name, "arguments": arguments}));
        let mut shown = String::new();
        let own = format!("\"id\":{number},");
        let is_answer = |line: &str| line.contains(&own) && !line.contains("\"method\"");
        let mut line = client.until(&|line| is_answer(line) || line.contains("elicitation/create"));
        if line.contains("elicitation/create") {
            let question: Value = serde_json::from_str(&line).unwrap();
            shown = question["params"]["message"].as_str().unwrap().to_owned();
            let yes = json!({"action": "accept", "content": {"approve": true}});
            client.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": yes}).to_string());
            line = client.until(&is_answer);
        }
        Said { shown, text: Some(text(&serde_json::from_str(&line).unwrap()).to_owned()) }
    });
}

/// The library decides, and its host runs the scripts.
#[test]
fn the_library_does_what_is_expected() {
    let Some(place) = place() else { return };
    let layer = SkillLayer::from_folders(Arc::new(DiskFs), [folder().join("skills")]).value;
    let tools = r#"[{"name":"t","description":"d","inputSchema":{"type":"object"}}]"#;
    let mut catalog = Catalog::from_mcp(tools).unwrap();
    assert_eq!(SkillTools::of_host(&layer, place.file("runs").into()).add_tools(&mut catalog), []);
    let text = std::fs::read_to_string(folder().join("policy.toml")).unwrap();
    let policy = Policy::new(vec![PolicyFile::load(&text, "policy.toml", PolicyScope::User).value]);
    let (policy, approver) = PolicyLayer::open(policy, Arc::new(MemoryStore::default()), || 1_000);
    let engine = Engine::builder(catalog).policy(policy).skills(layer).build().unwrap();
    let mut talk = engine.conversation(Wire::OpenAiChat).arm(Arm::Full).id("c").start().unwrap();
    let tools = scripts(&talk.tools().value());
    let mut number = 0;
    compare("library", &tools, |name, arguments| {
        number += 1;
        let mut outcome = talk.call(format!("c{number}"), name, arguments).unwrap();
        let mut shown = String::new();
        if let Outcome::Confirm(confirm) = &outcome {
            shown = format!("{:?}", confirm.shown);
            approver.approve(confirm.approval.as_str(), 1_000).unwrap();
            let Resumed::Run(forward) = talk.resume(&confirm.approval.clone()).unwrap() else { panic!("{outcome:?}") };
            outcome = Outcome::Forward(forward);
        }
        let text = match &outcome {
            Outcome::Forward(forward) => {
                assert_eq!((forward.target.as_str(), &forward.arguments), (&*name.replacen('_', ":", 1), arguments));
                None
            }
            other => other.content().map(std::borrow::Cow::into_owned),
        };
        Said { shown, text }
    });
}
