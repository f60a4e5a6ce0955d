//! Calls that require approval, calls that never run, and their records in the audit trail.

use serde_json::{Value, json};

use crate::gateway::serving::drive::{At, Driven, SESSIONS, STATELESS, clients, drive, servers};
use crate::gateway::serving::lines::{Lines, text};
use crate::gateway::serving::place::{Http, Place, TOOLFOLD, eventually, server, signal};

const POLICY: &str = r#"
deny = ["fail"]

[tool."mcp:server/echo"]
tier = "a"
writes = []

[tool."mcp:server/mutable"]
tier = "a"
writes = []

[tool."mcp:server/counts"]
tier = "read_only"

[tool."mcp:server/change"]
tier = "b"
writes = []

[tool."mcp:server/late"]
tier = "a"
writes = []
"#;

const CAN: &str = r#"{"elicitation":{"form":{}}}"#;

struct Judged {
    place: Place,
    options: String,
    store: String,
}

impl Judged {
    fn new() -> Self {
        let place = Place::new();
        let policy = place.put("policy.toml", POLICY);
        let store = place.file("store.db");
        let options = format!("--arm full --profile off --policy {policy} --store {store}");
        Self { place, options, store }
    }

    fn command(&self, behind: &str) -> Vec<String> {
        self.place.gateway(&self.options, &server(behind))
    }

    fn drive(&self, client: &str, behind: &str, script: &[Value]) -> Driven {
        drive(&self.place, client, &At::Command(&self.command(behind)), script)
    }

    fn verified(&self) {
        let (said, good) = self.place.toolfold(&["audit", "verify", "--store", &self.store]);
        assert!(good, "{said}");
    }

    fn approve(&self, id: &str) {
        let (said, good) = self.place.approve(id, &self.store);
        assert!(good, "{said}");
    }
}

fn approval_in(text: &str) -> String {
    let word = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
        .find(|word| word.starts_with("ap-") || word.starts_with("ap_"));
    word.unwrap_or_else(|| panic!("no approval in {text}")).to_owned()
}

fn echo(value: u32) -> Value {
    json!({"call": "echo", "arguments": {"n": value}})
}

fn counts() -> Value {
    json!({"call": "counts", "arguments": {}})
}

fn yes() -> Value {
    json!({"elicit": "accept", "content": {"approve": true}})
}

#[test]
fn an_approved_call_runs_once_and_any_other_never() {
    let script = [
        yes(),
        echo(1),
        counts(),
        json!({"elicit": "accept", "content": {}}),
        echo(2),
        json!({"elicit": "accept", "content": {"approve": "true"}}),
        echo(3),
        json!({"elicit": "decline"}),
        echo(4),
        json!({"elicit": "cancel"}),
        echo(5),
        counts(),
        yes(),
        echo(1),
        counts(),
    ];
    for client in clients(STATELESS) {
        for (behind, _) in servers(client) {
            let judged = Judged::new();
            let options = format!("--protocol {client}");
            let ran = judged.drive(&options, &format!("--stdio --bare --faults --only {behind}"), &script);
            assert_eq!(ran.step(2)["result"]["structuredContent"]["n"], 1, "{client}: {}", ran.all());
            assert!(ran.text(3).contains(r#""echo":1"#), "{}", ran.text(3));
            for step in [5, 7, 9, 11] {
                assert_eq!(ran.step(step)["result"]["isError"], true, "{client} {step}: {}", ran.all());
            }
            assert!(ran.text(12).contains(r#""echo":1"#), "{}", ran.text(12));
            // The same call repeated is another call.
            assert_eq!(ran.step(14)["result"]["structuredContent"]["n"], 1, "{}", ran.all());
            assert!(ran.text(15).contains(r#""echo":2"#), "{}", ran.text(15));
            judged.verified();
        }
    }
}

#[test]
fn a_client_without_forms_is_approved_from_outside() {
    let judged = Judged::new();
    let mut lines = Lines::session(&judged.place, &judged.command("--stdio --bare --faults"), &json!({}));
    let first = lines.call("1", "echo", &json!({"n": 1}));
    assert_eq!(first["result"]["isError"], true, "{first}");
    let id = approval_in(text(&first));
    judged.approve(&id);
    let second = lines.call("2", "echo", &json!({"n": 1}));
    assert_eq!(second["result"]["structuredContent"]["n"], 1, "{second}");
    let third = lines.call("3", "echo", &json!({"n": 1}));
    assert_eq!(third["result"]["isError"], true, "{third}");
    assert_ne!(approval_in(text(&third)), id);
    let other = lines.call("4", "echo", &json!({"n": 2}));
    assert_eq!(other["result"]["isError"], true, "{other}");
    assert!(text(&lines.call("5", "counts", &json!({}))).contains(r#""echo":1"#));
    assert_eq!(lines.end(), Some(0));
    judged.verified();
}

#[test]
fn what_is_denied_is_neither_listed_nor_run() {
    for client in clients(SESSIONS) {
        let judged = Judged::new();
        let script = [json!({"list": true}), json!({"call": "fail", "arguments": {}}), counts()];
        let ran = judged.drive(&format!("--protocol {client}"), "--stdio --bare --faults", &script);
        let list = ran.step(1);
        assert!(list["result"]["tools"].as_array().unwrap().iter().all(|tool| tool["name"] != "fail"), "{list}");
        assert_eq!(ran.step(2)["result"]["isError"], true, "{}", ran.all());
        assert!(!ran.text(3).contains("fail"), "{}", ran.text(3));
        judged.verified();
    }
}

fn stateless(id: u32, name: &str, arguments: &Value, more: &Value) -> Value {
    let mut params = json!({"name": name, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": serde_json::from_str::<Value>(CAN).unwrap(),
    }});
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

fn asked(lines: &mut Lines, id: u32, name: &str, arguments: &Value, more: &Value) -> Value {
    lines.say(&stateless(id, name, arguments, more).to_string());
    serde_json::from_str(&lines.answer(&id.to_string())).unwrap()
}

fn given(state: &str) -> Value {
    json!({"requestState": state, "inputResponses": {"toolfold-approval": {"action": "accept", "content": {"approve": true}}}})
}

#[test]
fn a_state_is_valid_once_for_its_own_call_and_process() {
    let judged = Judged::new();
    let mut lines = Lines::start(&judged.place, &judged.command("--stdio --bare --faults"));
    let (one, two) = (json!({"n": 1}), json!({"n": 2}));
    let first = asked(&mut lines, 1, "echo", &one, &json!({}));
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let state = first["result"]["requestState"].as_str().unwrap().to_owned();
    let refused = |answer: &Value| {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    };
    // An altered state.
    let mut altered = state.clone();
    let last = altered.pop().unwrap();
    altered.push(if last == 'A' { 'B' } else { 'A' });
    let middle = state.len() / 2;
    let mut other = state.clone().into_bytes();
    other[middle] = if other[middle] == b'x' { b'y' } else { b'x' };
    refused(&asked(&mut lines, 3, "echo", &one, &given(&String::from_utf8(other).unwrap())));
    // For other arguments, and for another tool.
    refused(&asked(&mut lines, 4, "echo", &two, &given(&state)));
    refused(&asked(&mut lines, 5, "mutable", &one, &given(&state)));
    let counted = asked(&mut lines, 6, "counts", &json!({}), &json!({}));
    assert!(!text(&counted).contains("echo"), "{counted}");
    // For its own call.
    let good = asked(&mut lines, 7, "echo", &one, &given(&state));
    assert_eq!(good["result"]["structuredContent"]["n"], 1, "{good}");
    // Again.
    refused(&asked(&mut lines, 8, "echo", &one, &given(&state)));
    let waits = asked(&mut lines, 9, "echo", &two, &json!({}));
    let later = waits["result"]["requestState"].as_str().unwrap().to_owned();
    assert!(text(&asked(&mut lines, 10, "counts", &json!({}), &json!({}))).contains(r#""echo":1"#));
    assert_eq!(lines.end(), Some(0));
    // In the next process.
    let mut lines = Lines::start(&judged.place, &judged.command("--stdio --bare --faults"));
    refused(&asked(&mut lines, 1, "echo", &two, &given(&later)));
    assert!(!text(&asked(&mut lines, 2, "counts", &json!({}), &json!({}))).contains("echo"));
    assert_eq!(lines.end(), Some(0));
    judged.verified();
}

#[test]
fn a_tool_that_has_changed_is_not_run_on_an_old_approval() {
    let mut judged = Judged::new();
    judged.options += " --on-change accept";
    let can: Value = serde_json::from_str(CAN).unwrap();
    let mut lines = Lines::session(&judged.place, &judged.command("--stdio --bare --faults"), &can);
    lines.ask("1", "tools/call", &json!({"name": "mutable", "arguments": {"field_0": "x"}}));
    let question: Value = serde_json::from_str(&lines.until(&|line| line.contains("elicitation/create"))).unwrap();
    lines.call("2", "change", &json!({}));
    lines.until(&|line| line.contains("list_changed"));
    let id = &question["id"];
    lines.say(
        &json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"approve": true}}}).to_string(),
    );
    let answer = lines.answer("1");
    assert!(answer.contains(r#""isError":true"#), "{answer}");
    assert!(!text(&lines.call("3", "counts", &json!({}))).contains("mutable"));
    assert_eq!(lines.end(), Some(0));
    judged.verified();
}

#[test]
fn an_approval_outlives_a_gateway_that_is_killed_and_runs_once() {
    let judged = Judged::new();
    let command = judged.command("--stdio --bare --faults");
    let mut lines = Lines::session(&judged.place, &command, &json!({}));
    let first = lines.call("1", "echo", &json!({"n": 1}));
    let id = approval_in(text(&first));
    judged.approve(&id);
    signal(lines.child.id(), "KILL");
    lines.ended();
    drop(lines);
    let mut lines = Lines::session(&judged.place, &command, &json!({}));
    let second = lines.call("1", "echo", &json!({"n": 1}));
    let third = lines.call("2", "echo", &json!({"n": 1}));
    assert_eq!(third["result"]["isError"], true, "{third}");
    let counted = lines.call("3", "counts", &json!({}));
    let ran = second["result"]["structuredContent"]["n"] == 1;
    assert_eq!(text(&counted).contains(r#""echo":1"#), ran, "{second} {counted}");
    assert_eq!(lines.end(), Some(0));
    judged.verified();
}

#[test]
fn a_gateway_killed_during_a_call_leaves_an_intact_audit() {
    let judged = Judged::new();
    let command = judged.command("--stdio --bare --faults");
    let can: Value = serde_json::from_str(CAN).unwrap();
    let mut lines = Lines::session(&judged.place, &command, &can);
    lines.ask("1", "tools/call", &json!({"name": "late", "arguments": {"millis": 20_000}}));
    let question: Value = serde_json::from_str(&lines.until(&|line| line.contains("elicitation/create"))).unwrap();
    let id = &question["id"];
    lines.say(
        &json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"approve": true}}}).to_string(),
    );
    lines.asked("2", "ping", &json!({}));
    signal(lines.child.id(), "KILL");
    lines.ended();
    judged.verified();
    // An approved call has started: it does not run again without another approval.
    let mut lines = Lines::session(&judged.place, &command, &json!({}));
    let again = lines.call("1", "late", &json!({"millis": 20_000}));
    assert_eq!(again["result"]["isError"], true, "{again}");
    judged.verified();
}

#[test]
fn sessions_over_http_do_not_share_approvals_and_leave_no_files_open() {
    let judged = Judged::new();
    let mut command: Vec<String> = vec![TOOLFOLD.to_owned(), "gateway".to_owned()];
    command.extend(judged.options.split_whitespace().map(str::to_owned));
    let upstream = Http::fixture("--bare --faults");
    command.extend(["--url".to_owned(), upstream.url.clone()]);
    let gateway = Http::gateway(&judged.place, &command);
    let run = |script: &[Value]| drive(&judged.place, "", &At::Url(&gateway.url), script);
    let one = run(&[yes(), echo(1), counts()]);
    assert_eq!(one.step(2)["result"]["structuredContent"]["n"], 1, "{}", one.all());
    let before = crate::gateway::serving::place::files_of(gateway.child.id());
    for _ in 0..toolfold_testing::cases_of(5, 15) {
        let other = run(&[json!({"elicit": "decline"}), echo(1)]);
        assert_eq!(other.step(2)["result"]["isError"], true, "{}", other.all());
    }
    eventually("its files are closed", || crate::gateway::serving::place::files_of(gateway.child.id()) <= before + 3);
    judged.verified();
}

#[test]
fn a_server_has_its_own_policy() {
    let place = Place::new();
    place.put("one.toml", "[[rule]]\ntool = \"*\"\ndecide = \"allow\"\n[[rule]]\ntool = \"add\"\ndecide = \"deny\"\n");
    let config = place.put("own.toml", "[gateway.server.one]\npolicy = \"one.toml\"\n");
    let servers = place.servers(&[("one", server("--raw")), ("two", server("--stdio --bare --faults"))]);
    let store = place.file("own.db");
    let flags = ["--servers", &servers, "--config", &config, "--arm", "full", "--profile", "off", "--store", &store];
    let command: Vec<String> = [TOOLFOLD, "gateway"].iter().chain(&flags).map(|own| (*own).to_owned()).collect();
    let mut lines = Lines::session(&place, &command, &json!({}));
    let called = |lines: &mut Lines, id: &str, name: &str| {
        let answer = lines.asked(id, "tools/call", &json!({"name": name, "arguments": {}}));
        (answer["result"]["isError"] == true, answer.to_string())
    };
    let (refused, said) = called(&mut lines, "1", "odd");
    assert!(!refused, "its own rules allow: {said}");
    let (refused, said) = called(&mut lines, "2", "two_counts");
    assert!(refused && said.contains("approv"), "no rule names the other server's tools: {said}");
    // What does not belong to one server alone is reported, and then nothing runs without
    // approval.
    place.put("one.toml", "[policy]\ndefault = \"allow\"\n[tool.odd]\ntier = \"read_only\"\n");
    let (said, _) = place.toolfold(&["gateway", "doctor", "--servers", &servers, "--config", &config]);
    assert!(said.contains("`default` is set") && said.contains("server `one` alone"), "{said}");
    let mut lines = Lines::session(&place, &command, &json!({}));
    let (refused, said) = called(&mut lines, "3", "odd");
    assert!(refused && said.contains("approv"), "{said}");
}

#[test]
fn a_client_with_forms_is_not_asked_where_that_is_off() {
    for client in clients(STATELESS) {
        let judged = Judged::new();
        let options = format!("--protocol {client}");
        let command: Vec<String> = judged.command("--stdio --bare --faults");
        let at = command.iter().position(|word| word == "--").unwrap();
        let mut without = command.clone();
        without.insert(at, "--no-elicitation".to_owned());
        let ran = drive(&judged.place, &options, &At::Command(&without), &[yes(), echo(1)]);
        assert!(ran.text(2).contains("requires approval"), "{client}: {}", ran.all());
        judged.approve(&approval_in(&ran.text(2)));
    }
}

#[test]
fn paths_of_a_configuration_are_relative_to_it() {
    let place = Place::new();
    let servers = place.servers(&[("one", server("--raw"))]);
    place.put(
        "own/policy.toml",
        "[[rule]]\ntool = \"mcp:one/add\"\ndecide = \"deny\"\n[tool.\"mcp:one/od\"]\ntier = \"read_only\"\n",
    );
    let text = format!(
        "[gateway]\nservers = {servers:?}\n[gateway.server.one]\nexclude = [\"wirte_*\"]\n[policy]\nfile = \"policy.toml\"\n"
    );
    place.put("own/toolfold.toml", &text);
    // A process that can write to the working directory changes nothing.
    place.put("policy.toml", "[policy]\nmode = \"off\"\n");
    for config in ["own/toolfold.toml", &place.file("own/toolfold.toml")] {
        let (said, good) = place.toolfold(&["gateway", "doctor", "--config", config]);
        assert!(good && said.contains("every call requires approval"), "{said}");
        // A record without a match is reported.
        assert!(said.contains("[tool.\"mcp:one/od\"]") && said.contains("did you mean `odd`"), "{said}");
        assert!(said.contains("`wirte_*`"), "{said}");
    }
    place.put("own/policy.toml", "[tool.\"mcp:one/odd\"]\nteir = \"b\"\n");
    let (said, good) = place.toolfold(&["gateway", "doctor", "--config", "own/toolfold.toml"]);
    assert!(!good && said.contains("every call requires approval") && said.contains("1 problem with"), "{said}");
}
