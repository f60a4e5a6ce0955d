//! The gateway over HTTP, byte by byte: who may connect, and what is rejected.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::gateway::serving::place::{Http, Place, children, eventually, runs, server};

const FULL: &str = "--arm full --profile off";

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// One request on a connection of its own.
pub(crate) fn request(address: &str, method: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    request_at(address, "/mcp", method, headers, body)
}

/// The same at a path with its query.
pub(crate) fn request_at(address: &str, path: &str, method: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    let usual =
        [("Host", address), ("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let is_given = |name: &str| headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    for (name, value) in usual.iter().filter(|(name, _)| !is_given(name)).chain(headers) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    // It may reject the request before it has read all of it.
    drop(stream.write_all(body.as_bytes()));
    let mut all = Vec::new();
    drop(stream.read_to_end(&mut all));
    let all = String::from_utf8_lossy(&all).into_owned();
    let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Reply { status, head: head.to_owned(), body: body.to_owned() }
}

pub(crate) fn post(address: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    request(address, "POST", headers, body)
}

pub(crate) fn hello(capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"web","version":"1"}}}}}}"#
    )
}

pub(crate) fn session_of(reply: &Reply) -> String {
    let mut headers = reply.head.lines().filter_map(|line| line.split_once(": "));
    let own = headers.find(|(name, _)| name.eq_ignore_ascii_case("Mcp-Session-Id"));
    own.unwrap_or_else(|| panic!("no session in {}", reply.head)).1.to_owned()
}

pub(crate) fn session(address: &str, capabilities: &str) -> String {
    let reply = post(address, &[], &hello(capabilities));
    assert_eq!(reply.status, 200, "{}", reply.body);
    let id = session_of(&reply);
    let ready = post(address, &[("Mcp-Session-Id", &id)], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(ready.status, 202, "{}", ready.body);
    id
}

pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn started(place: &Place, more: &str) -> Http {
    Http::gateway(place, &place.gateway(&format!("{FULL}{more}"), &server("--raw")))
}

#[test]
fn only_this_machine_and_its_own_pages_may_ask() {
    let place = Place::new();
    let gateway = started(&place, "");
    let status = |headers: &[(&str, &str)]| post(gateway.address(), headers, &hello("{}")).status;
    assert_eq!(status(&[("Host", "evil.test")]), 403);
    assert_eq!(status(&[("Host", "evil.test:80")]), 403);
    assert_eq!(status(&[("Origin", "http://evil.test")]), 403);
    assert_eq!(status(&[("Origin", "null")]), 403);
    assert_eq!(status(&[("Origin", "http://localhost:5173")]), 200);
    for method in ["GET", "DELETE", "OPTIONS", "PUT"] {
        assert_eq!(request(gateway.address(), method, &[("Origin", "http://evil.test")], "").status, 403, "{method}");
    }
    assert_eq!(request(gateway.address(), "PUT", &[], "").status, 405);
}

#[test]
fn a_body_is_json_and_not_too_large() {
    let place = Place::new();
    let gateway = started(&place, "");
    let id = session(gateway.address(), "{}");
    let own = ("Mcp-Session-Id", id.as_str());
    let large =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{}"}}}}"#, "x".repeat(17 * 1024 * 1024));
    assert_eq!(post(gateway.address(), &[own], &large).status, 413);
    assert_eq!(post(gateway.address(), &[own, ("Content-Type", "text/plain")], PING).status, 415);
    assert_eq!(post(gateway.address(), &[own, ("Accept", "application/json")], PING).status, 406);
    for (body, word) in [("{", "-32700"), ("[]", "batches"), ("\u{1}", "-32700"), (r#"{"id":1}"#, "neither")] {
        let reply = post(gateway.address(), &[own], body);
        assert!(reply.status == 400 && reply.body.contains(word), "{body}: {} {}", reply.status, reply.body);
    }
    assert_eq!(post(gateway.address(), &[own, ("MCP-Protocol-Version", "1999-01-01")], PING).status, 400);
    assert_eq!(post(gateway.address(), &[own], PING).status, 200);
}

#[test]
fn a_session_is_its_own() {
    let place = Place::new();
    let gateway = started(&place, "");
    let address = gateway.address();
    let (one, two) = (session(address, "{}"), session(address, "{}"));
    assert_ne!(one, two);
    assert_eq!(post(address, &[("Mcp-Session-Id", "0123")], PING).status, 404);
    assert_eq!(post(address, &[], PING).status, 400);
    assert_eq!(request(address, "GET", &[("Mcp-Session-Id", "0123")], "").status, 404);
    let servers = children(gateway.child.id());
    assert_eq!(servers.len(), 2);
    assert_eq!(request(address, "DELETE", &[("Mcp-Session-Id", &one)], "").status, 204);
    assert_eq!(post(address, &[("Mcp-Session-Id", &one)], PING).status, 404);
    assert_eq!(request(address, "DELETE", &[("Mcp-Session-Id", &one)], "").status, 404);
    assert_eq!(post(address, &[("Mcp-Session-Id", &two)], PING).status, 200);
    eventually("its server has ended", || servers.iter().filter(|own| runs(**own)).count() == 1);
}

#[test]
fn a_token_is_asked_for() {
    let place = Place::new();
    let command = place.gateway(&format!("{FULL} --token-env GATEWAY_TOKEN"), &server("--raw"));
    let mut starts = place.command(&command[0]);
    starts.args(["gateway", "--http", "127.0.0.1:0"]).args(&command[2..]).env("GATEWAY_TOKEN", "s3cret");
    let child = starts.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let gateway = Http::of(child);
    let status = |headers: &[(&str, &str)]| post(gateway.address(), headers, &hello("{}")).status;
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&[("Authorization", "Bearer s3cre")]), 401);
    assert_eq!(status(&[("Authorization", "Basic s3cret")]), 401);
    assert_eq!(status(&[("Authorization", "Bearer s3cret")]), 200);
}

#[test]
fn an_address_of_the_world_needs_a_token() {
    let place = Place::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let (said, good) = place.toolfold(&["gateway", "--http", address, "--", "true"]);
        assert!(!good && said.contains("token"), "{said}");
    }
}

#[test]
fn an_id_in_use_gets_no_other_answer() {
    let place = Place::new();
    let gateway = started(&place, "");
    let address = gateway.address().to_owned();
    let id = session(&address, "{}");
    let call = |name: &str, millis: u32| {
        let params = json!({"name": name, "arguments": {"millis": millis}});
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string()
    };
    let first = {
        let (address, id, body) = (address.clone(), id.clone(), call("late", 1500));
        std::thread::spawn(move || post(&address, &[("Mcp-Session-Id", &id)], &body))
    };
    std::thread::sleep(Duration::from_millis(500));
    let second = post(&address, &[("Mcp-Session-Id", &id)], &call("late", 1));
    assert!(second.body.contains("in use"), "{}", second.body);
    let first = first.join().unwrap();
    assert!(first.body.contains("after 1500 ms"), "{}", first.body);
}

#[test]
fn a_cancelled_request_ends_its_stream() {
    let place = Place::new();
    let gateway = started(&place, "");
    let address = gateway.address().to_owned();
    let id = session(&address, "{}");
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hang","arguments":{}}}"#;
    let waits = {
        let (address, id) = (address.clone(), id.clone());
        std::thread::spawn(move || post(&address, &[("Mcp-Session-Id", &id)], body))
    };
    std::thread::sleep(Duration::from_millis(500));
    let note = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    assert_eq!(post(&address, &[("Mcp-Session-Id", &id)], note).status, 202);
    let ended = waits.join().unwrap();
    assert!(ended.status == 200 && !ended.body.contains("jsonrpc"), "{} {}", ended.status, ended.body);
    assert!(ended.head.contains("text/event-stream"), "{}", ended.head);
    assert_eq!(post(&address, &[("Mcp-Session-Id", &id)], PING).status, 200);
}

#[test]
fn large_answers_are_not_kept() {
    let place = Place::new();
    let gateway = started(&place, "");
    let address = gateway.address();
    let id = session(address, "{}");
    let held = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    };
    let before = held();
    for number in 0..toolfold_testing::cases(16) {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"big","arguments":{{"bytes":2000000}}}}}}"#
        );
        assert!(post(address, &[("Mcp-Session-Id", &id)], &body).body.len() > 2_000_000);
    }
    let after = held();
    // Some copies of the last ones are free, and stay with the allocator.
    assert!(after < before + 30, "{before} MiB before, {after} MiB after 32 MB of answers or more");
}
