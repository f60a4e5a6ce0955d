//! The gateway over HTTP behind proxies, for pages of other sites, and under load.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::serving::drive::STATELESS;
use crate::serving::place::{Http, Place, server};
use crate::serving::web::{Reply, hello, post, request, request_at, session};

const FULL: &str = "--arm full --profile off";

fn started(place: &Place, more: &str) -> Http {
    Http::gateway(place, &place.gateway(&format!("{FULL} {more}"), &server("--raw")))
}

/// Sends bytes, and reads the response until the connection ends.
fn raw(address: &str, bytes: &str) -> Reply {
    let mut stream = sent(address, bytes);
    let mut all = String::new();
    drop(stream.read_to_string(&mut all));
    let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Reply { status, head: head.to_owned(), body: body.to_owned() }
}

fn sent(address: &str, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    stream
}

fn posted(address: &str, headers: &str, body: &str) -> TcpStream {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    sent(address, &format!("{head}{body}"))
}

/// Reads lines up to one that contains a text.
fn until(reader: &mut BufReader<TcpStream>, text: &str) -> String {
    let mut all = String::new();
    while !all.contains(text) {
        assert!(reader.read_line(&mut all).unwrap() > 0, "it ended before `{text}`: {all}");
    }
    all
}

fn call(id: u32, tool: &str, meta: &serde_json::Value) -> String {
    let params = json!({"name": tool, "arguments": {"millis": 2000}, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[test]
fn a_late_answer_is_preceded_by_a_head_and_comments() {
    let place = Place::new();
    let gateway = started(&place, "--http-times head=20,alive=20");
    let address = gateway.address();
    let id = session(address, "{}");
    let own = format!("Mcp-Session-Id: {id}\r\n");
    let mut reader = BufReader::new(posted(address, &own, &call(1, "late", &json!({}))));
    // The answer has not come yet, as the call needs 2 s and the comments come before it.
    let before = until(&mut reader, ": alive");
    let lower = before.to_ascii_lowercase();
    assert!(lower.contains("text/event-stream") && lower.contains("x-accel-buffering: no"), "{before}");
    assert!(!before.contains("data:"), "a client of an unknown version gets no empty event: {before}");
    let rest = until(&mut reader, "data:");
    assert!(rest.contains("after 2000 ms"), "{rest}");
    // A request of 2026-07-28, whose stream has no ids.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "open", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let own = format!("MCP-Protocol-Version: {STATELESS}\r\n");
    let mut reader = BufReader::new(posted(address, &own, &call(1, "late", &meta)));
    let before = until(&mut reader, ": alive");
    assert!(before.contains("text/event-stream") && !before.contains("id:"), "{before}");
    assert!(until(&mut reader, "data:").contains("after 2000 ms"));
}

#[test]
fn a_client_that_lost_its_connection_before_the_first_event_gets_the_answer() {
    let place = Place::new();
    let gateway = started(&place, "--http-times head=20,alive=20");
    let address = gateway.address();
    let id = session(address, "{}");
    let own = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let mut reader = BufReader::new(posted(address, &own, &call(1, "late", &json!({}))));
    let before = until(&mut reader, ": alive");
    let event = before.lines().find_map(|line| line.strip_prefix("id: ")).unwrap_or_else(|| panic!("{before}"));
    drop(reader);
    let own = [("Mcp-Session-Id", id.as_str()), ("Last-Event-ID", event)];
    let reply = request(address, "GET", &own, "");
    assert!(reply.status == 200 && reply.body.contains("after 2000 ms"), "{}", reply.body);
}

#[test]
fn an_answer_in_time_is_json() {
    let place = Place::new();
    let gateway = started(&place, "--http-times head=60000");
    let id = session(gateway.address(), "{}");
    let reply = post(gateway.address(), &[("Mcp-Session-Id", &id)], &call(1, "late", &json!({})));
    assert!(reply.head.contains("application/json") && reply.body.starts_with('{'), "{} {}", reply.head, reply.body);
}

#[test]
fn pages_of_an_allowed_origin_may_call() {
    let place = Place::new();
    let options = format!("{FULL} --allow-origin https://app.test --token-env GATEWAY_TOKEN");
    let command = place.gateway(&options, &server("--raw"));
    let mut starts = place.command(&command[0]);
    starts.args(["gateway", "--http", "127.0.0.1:0"]).args(&command[2..]).env("GATEWAY_TOKEN", "s3cret");
    let gateway = Http::of(starts.stderr(std::process::Stdio::piped()).spawn().unwrap());
    let address = gateway.address();
    let preflight = |origin: &str, host: &str| {
        let headers = [
            ("Host", host),
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization,content-type,mcp-session-id"),
        ];
        request(address, "OPTIONS", &headers, "")
    };
    let reply = preflight("https://app.test", address);
    let head = reply.head.to_ascii_lowercase();
    assert_eq!(reply.status, 204, "{head}");
    for line in [
        "access-control-allow-origin: https://app.test",
        "access-control-allow-methods: get, post, delete",
        "access-control-allow-headers: authorization, content-type, accept, last-event-id, mcp-session-id, \
         mcp-protocol-version, mcp-method, mcp-name",
        "vary: origin",
    ] {
        assert!(head.lines().any(|own| own == line), "{line}: {head}");
    }
    // Other pages get no permission, not even those of this machine, nor through another name.
    for (origin, host) in [("https://evil.test", address), ("http://localhost:5173", address), ("null", address)] {
        let head = preflight(origin, host).head.to_ascii_lowercase();
        assert!(!head.contains("access-control"), "{origin}: {head}");
    }
    assert_eq!(preflight("https://app.test", "evil.test").status, 403);
    // The call itself needs the token, and its page may read the session id, or the refusal.
    let page = ("Origin", "https://app.test");
    let reply = post(address, &[page, ("Authorization", "Bearer s3cret")], &hello("{}"));
    let head = reply.head.to_ascii_lowercase();
    assert!(reply.status == 200 && head.contains("access-control-expose-headers: mcp-session-id"), "{head}");
    let refused = post(address, &[page], &hello("{}"));
    let head = refused.head.to_ascii_lowercase();
    assert!(refused.status == 401 && head.contains("access-control-allow-origin: https://app.test"), "{head}");
}

#[test]
fn a_request_has_one_host_and_the_path_may_end_with_a_slash() {
    let place = Place::new();
    let gateway = started(&place, "");
    let address = gateway.address();
    let status =
        |line: &str, headers: &str| raw(address, &format!("{line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
    for (line, headers, expected) in [
        ("GET /healthz", "Host: localhost\r\n", 200),
        ("GET /healthz", "Host: localhost\r\nHost: evil.test\r\n", 400),
        ("GET /mcp", "Host: localhost\r\nHost: localhost\r\n", 400),
        ("GET http://evil.test/healthz", "Host: localhost\r\n", 400),
        ("GET http://localhost/healthz", "Host: localhost\r\n", 200),
    ] {
        let reply = status(line, headers);
        assert_eq!(reply.status, expected, "{line} {headers}: {}", reply.body);
    }
    assert_eq!(request_at(address, "/mcp/", "POST", &[], &hello("{}")).status, 200);
}
