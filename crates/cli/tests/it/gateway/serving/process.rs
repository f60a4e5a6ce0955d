//! Shutdown: of the gateway, of its servers, of many sessions.

use serde_json::json;
use toolfold_testing::Cases;

use crate::gateway::serving::drive::{At, drive};
use crate::gateway::serving::lines::Lines;
use crate::gateway::serving::place::{
    Http, Place, TOOLFOLD, children, eventually, files_of, fixture, runs, server, signal, terminate,
};
use crate::gateway::serving::web::{Reply, post, session};

const FULL: &str = "--arm full --profile off";

/// A gateway over HTTP in front of a server.
fn http(place: &Place, options: &str, behind: &[String]) -> Http {
    Http::gateway(place, &place.gateway(options, behind))
}

#[test]
fn a_server_has_time_to_exit_on_its_own() {
    let place = Place::new();
    let done = place.file("done");
    // It does some work after its input has ended.
    let script = format!("\"$0\" \"$@\"; sleep 0.5; echo tidy > {done}");
    let behind = [vec!["sh".to_owned(), "-c".to_owned(), script], server("--raw")].concat();
    let mut lines = Lines::session(&place, &place.gateway(FULL, &behind), &json!({}));
    assert_eq!(lines.end(), Some(0));
    assert!(place.has("done"), "it was killed before it was done");
    // Over HTTP the same happens when the gateway is terminated.
    std::fs::remove_file(&done).unwrap();
    let mut gateway = http(&place, FULL, &behind);
    session(gateway.address(), "{}");
    terminate(gateway.child.id());
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0));
    assert!(place.has("done"), "it was killed before it was done");
}

/// A gateway before a server that neither the end of its input nor SIGTERM ends and that starts
/// others, as `npx` does; and the processes of both.
fn before_a_stubborn_server(place: &Place) -> (Lines, Vec<u32>) {
    let script = "trap '' TERM; sleep 300 & \"$0\" \"$@\"; while :; do sleep 1; done".to_owned();
    let behind = [vec!["sh".to_owned(), "-c".to_owned(), script], server("--raw")].concat();
    let lines = Lines::session(place, &place.gateway(FULL, &behind), &json!({}));
    let shell = children(lines.child.id());
    let below: Vec<u32> = shell.iter().flat_map(|own| children(*own)).collect();
    assert!(shell.len() == 1 && below.len() >= 2, "{shell:?} {below:?}");
    (lines, [shell, below].concat())
}

#[test]
fn a_server_that_does_not_end_is_ended_with_all_that_it_started() {
    let place = Place::new();
    let (mut lines, processes) = before_a_stubborn_server(&place);
    assert_eq!(lines.end(), Some(0));
    eventually("they have ended", || !processes.iter().any(|own| runs(*own)));
}

#[test]
fn a_killed_gateway_leaves_no_server() {
    let place = Place::new();
    for behind in ["--raw", "--stdio --faults"] {
        let mut lines = Lines::session(&place, &place.gateway(FULL, &server(behind)), &json!({}));
        lines.ask("1", "tools/call", &json!({"name": "hang", "arguments": {}}));
        let servers = children(lines.child.id());
        assert_eq!(servers.len(), 1);
        signal(lines.child.id(), "KILL");
        lines.ended();
        eventually("the server has ended", || !servers.iter().any(|own| runs(*own)));
    }
}

#[test]
fn a_killed_gateway_leaves_no_stubborn_server_and_nothing_that_it_started() {
    let place = Place::new();
    let (mut lines, processes) = before_a_stubborn_server(&place);
    signal(lines.child.id(), "KILL");
    lines.ended();
    eventually("they have ended", || !processes.iter().any(|own| runs(*own)));
}

#[test]
fn a_dead_server_is_an_error_of_the_call_over_http_too() {
    let place = Place::new();
    // While the file exists, the server cannot be restarted.
    let stop = place.file("stop");
    let script = format!("[ -e {stop} ] && exit 7; exec \"$0\" \"$@\"");
    let behind = [vec!["sh".to_owned(), "-c".to_owned(), script], server("--raw")].concat();
    let gateway = http(&place, FULL, &behind);
    let call = |headers: &[(&str, &str)], name: &str, meta: &serde_json::Value| {
        let params = json!({"name": name, "arguments": {}, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let Reply { status, body, .. } = post(gateway.address(), headers, &body.to_string());
        let body: serde_json::Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{status} {body}"));
        assert_eq!((status, &body["result"]["isError"]), (200, &json!(true)), "{body}");
        body["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let id = session(gateway.address(), "{}");
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"}});
    let (own, none) = ([("Mcp-Session-Id", id.as_str())], json!({}));
    for (headers, meta) in [(&own, &none), (&[("MCP-Protocol-Version", "2026-07-28")], &meta)] {
        drop(std::fs::remove_file(&stop));
        let said = call(headers, "fail", meta);
        assert_eq!(said, "it failed");
        std::fs::write(&stop, "").unwrap();
        let said = call(headers, "crash", meta);
        assert!(said.contains("ended during the call") && said.contains("unknown"), "{said}");
        let said = call(headers, "late", meta);
        assert!(said.contains("was not run") && said.contains("unavailable"), "{said}");
    }
}

#[test]
fn the_last_output_is_logged_of_a_server_that_ended_on_its_own() {
    let place = Place::new();
    let script = "echo its last output >&2; exec \"$0\" \"$@\"".to_owned();
    let behind = [vec!["sh".to_owned(), "-c".to_owned(), script], server("--raw")].concat();
    let mut lines = Lines::session(&place, &place.gateway(FULL, &behind), &json!({}));
    let logged = || std::fs::read_to_string(place.file("log")).unwrap().matches("its last output").count();
    lines.call("1", "crash", &json!({}));
    eventually("the server is there again", || lines.call("2", "fail", &json!({})).to_string().contains("it failed"));
    assert_eq!(logged(), 1);
    assert_eq!(lines.end(), Some(0));
    assert_eq!(logged(), 1, "the second process was stopped by the gateway");
}

#[test]
fn a_call_that_does_not_end_in_time_is_answered_as_unknown() {
    let place = Place::new();
    let gateway = http(&place, FULL, &server("--raw"));
    let address = gateway.address().to_owned();
    let id = session(&address, "{}");
    let call = std::thread::spawn(move || {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "late", "arguments": {"millis": 60_000}}});
        post(&address, &[("Mcp-Session-Id", &id)], &body.to_string())
    });
    eventually("its server runs", || !children(gateway.child.id()).is_empty());
    std::thread::sleep(std::time::Duration::from_millis(500));
    terminate(gateway.child.id());
    let Reply { status, body, .. } = call.join().unwrap();
    assert!(status == 200 && body.contains("whether the call took effect is unknown"), "{status} {body}");
}

#[test]
fn a_shutdown_under_load_answers_running_calls() {
    let place = Place::new();
    let policy = place.put("policy.toml", "[tool.\"mcp:server/late\"]\ntier = \"b\"\nwrites = []\n");
    let store = place.file("store.db");
    let options = format!("{FULL} --policy {policy} --store {store}");
    let mut gateway = http(&place, &options, &server("--raw"));
    let address = gateway.address().to_owned();
    // How long a call runs, and how many run at once. If all have ended before the gateway is
    // terminated, the test passes without a test of the shutdown.
    let (millis, count) = if Cases::of_this_run().is_quick() { (2_000, 8) } else { (5_000, 20) };
    let sessions: Vec<String> = (0..count).map(|_| session(&address, "{}")).collect();
    let calls: Vec<_> = sessions
        .into_iter()
        .enumerate()
        .map(|(number, id)| {
            let address = address.clone();
            std::thread::spawn(move || {
                let body = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                    "params": {"name": "late", "arguments": {"millis": millis}}});
                post(&address, &[("Mcp-Session-Id", &id)], &body.to_string())
            })
        })
        .collect();
    // A record of the audit is written before a call runs.
    let export = || place.toolfold(&["audit", "export", "--store", &store]).0;
    let records = || export().lines().filter(|line| line.contains("late")).count();
    eventually("all are recorded", || records() >= count);
    let servers = children(gateway.child.id());
    terminate(gateway.child.id());
    for call in calls {
        let Reply { status, body, .. } = call.join().unwrap();
        assert!(status == 200 && body.contains(&format!("after {millis} ms")), "{status} {body}");
    }
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0));
    eventually("the servers have ended", || !servers.iter().any(|own| runs(*own)));
    let (said, good) = place.toolfold(&["audit", "verify", "--store", &store]);
    assert!(good, "{said}");
}

#[test]
fn a_thousand_sessions_leave_nothing_behind() {
    let place = Place::new();
    let upstream = Http::fixture("--raw");
    let command = format!("{TOOLFOLD} gateway {FULL} --url {}", upstream.url);
    let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
    let gateway = Http::gateway(&place, &command);
    let address = gateway.address();
    let cycle = || {
        let id = session(address, "{}");
        let own = [("Mcp-Session-Id", id.as_str())];
        let listed = post(address, &own, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        assert!(listed.body.contains("odd_error"), "{}", listed.body);
        let left = crate::gateway::serving::web::request(address, "DELETE", &own, "");
        assert_eq!(left.status, 204, "{}", left.body);
    };
    for _ in 0..8 {
        cycle();
    }
    let before = files_of(gateway.child.id());
    for _ in 0..toolfold_testing::cases_of(20, 1_000) {
        cycle();
    }
    eventually("its files are closed", || files_of(gateway.child.id()) <= before + 5);
}

#[test]
fn sessions_of_processes_leave_no_process_behind() {
    let place = Place::new();
    let gateway = http(&place, FULL, &server("--raw"));
    let before = files_of(gateway.child.id());
    for _ in 0..toolfold_testing::cases(30) {
        let id = session(gateway.address(), "{}");
        let own = [("Mcp-Session-Id", id.as_str())];
        post(gateway.address(), &own, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let left = crate::gateway::serving::web::request(gateway.address(), "DELETE", &own, "");
        assert_eq!(left.status, 204);
        let gone = post(gateway.address(), &own, r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
        assert_eq!(gone.status, 404, "{}", gone.body);
    }
    eventually("its servers have ended", || children(gateway.child.id()).is_empty());
    eventually("its files are closed", || files_of(gateway.child.id()) <= before + 3);
}

#[test]
fn a_http_client_that_leaves_in_a_call_is_noticed() {
    let place = Place::new();
    let gateway = http(&place, FULL, &server("--stdio --bare --faults"));
    // A stateless client's connection is its request.
    let script = [json!({"call": "hang", "arguments": {}, "cancel_after_ms": 300}), json!({"wait_ms": 500})];
    let at = At::Url(&gateway.url);
    let ran = drive(&place, "--protocol 2026-07-28 --direct", &at, &script);
    assert_eq!(ran.step(1)["cancelled"], true, "{}", ran.all());
    let script = [json!({"call": "counts", "arguments": {}})];
    let ran = drive(&place, "--protocol 2026-07-28", &at, &script);
    assert!(ran.text(1).contains(r#""hang cancelled":1"#), "{}", ran.text(1));
}

#[test]
fn the_fixture_is_there() {
    assert!(std::path::Path::new(&fixture()).exists());
}

#[test]
fn the_last_output_of_a_server_goes_to_the_log() {
    let place = Place::new();
    let script = "echo key=hunter2 >&2; exec \"$0\" \"$@\"".to_owned();
    let behind = [vec!["sh".to_owned(), "-c".to_owned(), script], server("--raw")].concat();
    let mut lines = Lines::session(&place, &place.gateway(FULL, &behind), &json!({}));
    lines.ask("1", "tools/call", &json!({"name": "crash", "arguments": {}}));
    let answer = lines.answer("1");
    assert!(answer.contains("exit status: 3") && !answer.contains("hunter2"), "{answer}");
    let log = || std::fs::read_to_string(place.file("log")).unwrap();
    eventually("the log has it", || log().contains("key=hunter2"));
}
