//! Several servers whose names collide: all of each can be reached.

use serde_json::{Value, json};

use crate::gateway::serving::drive::{At, Driven, SESSIONS, STATELESS, clients, drive};
use crate::gateway::serving::fold::first_line;
use crate::gateway::serving::place::{Place, TOOLFOLD, server};

fn both(place: &Place, client: &str, options: &str, script: &[Value]) -> Driven {
    let servers = place.servers(&[("one", server("--stdio --faults")), ("two", server("--stdio --faults"))]);
    let command = format!("{TOOLFOLD} gateway --servers {servers} --arm full --profile off{options}");
    let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
    drive(place, &format!("--protocol {client}"), &At::Command(&command), script)
}

#[test]
fn tools_of_one_name_are_namespaced_and_both_run() {
    for client in clients(SESSIONS) {
        let place = Place::new();
        let script = [
            json!({"call": "echo", "arguments": {"n": 1}}),
            json!({"call": "two_echo", "arguments": {"n": 2}}),
            json!({"call": "two_echo", "arguments": {"n": 3}}),
            json!({"call": "counts", "arguments": {}}),
            json!({"call": "two_counts", "arguments": {}}),
        ];
        let ran = both(&place, client, "", &script);
        assert!(ran.text(4).contains(r#""echo":1"#), "{}", ran.all());
        assert!(ran.text(5).contains(r#""echo":2"#), "{}", ran.all());
    }
}

#[test]
fn prompts_of_one_name_are_namespaced_and_both_work() {
    for client in clients(STATELESS) {
        let place = Place::new();
        let get = |name: &str| json!({"request": "prompts/get", "params": {"name": name, "arguments": {"arg1": "one", "arg2": "two"}}});
        let script = [
            json!({"request": "prompts/list"}),
            get("test_prompt_with_arguments"),
            get("two_test_prompt_with_arguments"),
            json!({"request": "completion/complete", "params": {
                "ref": {"type": "ref/prompt", "name": "two_test_prompt_with_arguments"},
                "argument": {"name": "arg1", "value": "par"}}}),
        ];
        let ran = both(&place, client, "", &script);
        let list = ran.step(1);
        let names: Vec<&str> =
            list["result"]["prompts"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        for name in ["test_prompt_with_arguments", "two_test_prompt_with_arguments"] {
            assert!(names.contains(&name), "{names:?}");
        }
        for step in [2, 3] {
            assert!(ran.bytes(step).contains("messages"), "{}", ran.bytes(step));
        }
        assert!(ran.bytes(4).contains("paris"), "{}", ran.bytes(4));
    }
}

#[test]
fn a_prompt_works_by_its_shown_name_before_any_list() {
    for client in clients(SESSIONS) {
        let place = Place::new();
        let script = [json!({"request": "prompts/get", "params": {"name": "two_test_prompt_with_arguments",
            "arguments": {"arg1": "one", "arg2": "two"}}})];
        let ran = both(&place, client, "", &script);
        assert!(ran.bytes(1).contains("messages"), "{}", ran.all());
    }
}

#[test]
fn resources_are_listed_once_and_read() {
    for client in clients(STATELESS) {
        let place = Place::new();
        let script = [
            json!({"request": "resources/list"}),
            json!({"request": "resources/read", "params": {"uri": "test://static-text"}}),
            json!({"request": "resources/templates/list"}),
        ];
        let ran = both(&place, client, "", &script);
        assert_eq!(ran.step(1)["result"]["resources"].as_array().unwrap().len(), 3, "{}", ran.all());
        assert!(ran.bytes(2).contains("contents"), "{}", ran.bytes(2));
        assert_eq!(ran.step(3)["result"]["resourceTemplates"].as_array().unwrap().len(), 1);
    }
}

/// `--mcp-config` presents the array that the gateway in front of the same servers shows, and
/// `doctor` and `report` count it.
#[test]
fn a_command_lists_several_servers_as_the_gateway_does() {
    let place = Place::new();
    let config =
        place.servers(&[("one", server("--stdio --bare --tools 30")), ("other", server("--stdio --bare --tools 40"))]);
    let json = |args: &[&str]| -> Value {
        let output = place.command(TOOLFOLD).args(args).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    };
    let report = json(&["report", "--mcp-config", &config, "--json"]);
    let first_turn = |arm: &str| report["arms"][arm]["first_turn_tokens"].as_u64().unwrap();
    for arm in toolfold_testing::sample(["stable", "full", "index"], 2) {
        let command: Vec<String> =
            format!("{TOOLFOLD} gateway --servers {config} --arm {arm}").split(' ').map(str::to_owned).collect();
        let list = json!({"list": true});
        let served = drive(&place, &format!("--protocol {SESSIONS}"), &At::Command(&command), &[list]);
        let served = served.step(1)["result"]["tools"].clone();
        let printed = first_line(&place, &["tools", "--mcp-config", &config, "--arm", arm, "--wire", "mcp"], b"");
        let printed: Value = serde_json::from_str(&printed).unwrap();
        assert!(printed == served, "{arm}:\n{printed}\n{served}");
        let shown = &json(&["gateway", "doctor", "--servers", &config, "--arm", arm, "--json"])["shown"];
        assert_eq!(shown["entries"].as_u64(), served.as_array().map(|tools| tools.len() as u64), "{arm}");
        // The report counts without the constants of a request, so differences are compared; and
        // for a model's API, where `index` has one `call_tool` instead of one for each kind of
        // effect.
        if arm == "index" {
            continue;
        }
        let saved = shown["full_tokens"].as_u64().unwrap() - shown["tokens"].as_u64().unwrap();
        assert_eq!(saved, first_turn("full") - first_turn(arm), "{arm}");
    }
}
