//! The gateway over HTTP behind proxies, for pages of other sites, and under load.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::gateway::serving::drive::STATELESS;
use crate::gateway::serving::place::{Http, Place, children, eventually, files_of, server};
use crate::gateway::serving::web::{PING, Reply, hello, post, request, request_at, session};

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
    loop {
        let before = all.len();
        assert!(reader.read_line(&mut all).unwrap() > 0, "it ended before `{text}`: {all}");
        if all[before..].contains(text) {
            return all;
        }
    }
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

/// A gateway that may open 1,024 files, the usual limit of a shell.
fn limited(place: &Place, options: &str, behind: &[String]) -> Http {
    let command = place.gateway(options, behind);
    let mut starts = place.command("sh");
    starts.args(["-c", "ulimit -n 1024; exec \"$@\"", "sh", &command[0], "gateway", "--http", "127.0.0.1:0"]);
    Http::of(starts.args(&command[2..]).stderr(std::process::Stdio::piped()).spawn().unwrap())
}

/// The status of `/healthz`, and its body.
fn health(address: &str) -> Reply {
    request_at(address, "/healthz", "GET", &[], "")
}

#[test]
fn half_open_connections_do_not_keep_others_out() {
    let place = Place::new();
    let gateway = limited(&place, FULL, &server("--raw"));
    let address = gateway.address();
    let id = session(address, "{}");
    // A client that has been answered stays connected.
    let kept = sent(
        address,
        &format!("GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {id}\r\n\r\n"),
    );
    let mut kept = BufReader::new(kept);
    until(&mut kept, "text/event-stream");
    let heads = [
        "",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-A: ",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    ];
    let mut half_open = Vec::new();
    // Above the maximum of 256 in a quick run too.
    for (number, head) in (0..toolfold_testing::cases(4_800)).zip(heads.iter().cycle()) {
        let stream =
            TcpStream::connect(address).and_then(|mut stream| stream.write_all(head.as_bytes()).map(|()| stream));
        half_open.extend(stream.ok());
        if number % 300 == 299 {
            assert_eq!(health(address).status, 200);
        }
    }
    assert_eq!(post(address, &[("Mcp-Session-Id", &id)], PING).status, 200);
    assert!(files_of(gateway.child.id()) < 500, "{}", files_of(gateway.child.id()));
    // Silent connections were closed for it, not this one.
    kept.get_ref().set_nonblocking(true).unwrap();
    let read = kept.get_mut().read(&mut [0; 1]);
    // A comment that keeps it alive may have come.
    let is_open = match &read {
        Ok(bytes) => *bytes > 0,
        Err(why) => why.kind() == std::io::ErrorKind::WouldBlock,
    };
    assert!(is_open, "{read:?}");
}

#[test]
fn a_silent_connection_is_closed() {
    let place = Place::new();
    let gateway = started(&place, "--http-times idle=300,request=300");
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
    let half = "Content-Type: application/json\r\nAccept: */*\r\nContent-Length: 9\r\n\r\n{";
    for (sends, status) in [(String::new(), 0), (head.to_owned(), 0), (format!("{head}{half}"), 408)] {
        let reply = raw(gateway.address(), &sends);
        assert_eq!(reply.status, status, "{sends}: {}", reply.head);
    }
    // A call may take longer than that, and a stream may be silent.
    let id = session(gateway.address(), "{}");
    let reply = post(gateway.address(), &[("Mcp-Session-Id", &id)], &call(1, "late", &json!({})));
    assert!(reply.body.contains("after 2000 ms"), "{}", reply.body);
}

#[test]
fn above_the_maximum_of_connections_requests_are_refused_for_a_time() {
    let place = Place::new();
    let gateway = started(&place, "--max-connections 2 --http-times head=20");
    let address = gateway.address();
    let id = session(address, "{}");
    let own = format!("Mcp-Session-Id: {id}\r\n");
    let waits = |number| {
        let mut reader = BufReader::new(posted(address, &own, &call(number, "hang", &json!({}))));
        until(&mut reader, "text/event-stream");
        reader
    };
    let streams = [waits(1), waits(2)];
    let refused = post(address, &[("Mcp-Session-Id", &id)], PING);
    let head = refused.head.to_ascii_lowercase();
    assert!(refused.status == 503 && head.contains("retry-after: "), "{head} {}", refused.body);
    let reported = health(address);
    assert!(reported.status == 200 && reported.body.contains("all 2 connections are in use"), "{}", reported.body);
    drop(streams);
    eventually("there is room again", || post(address, &[("Mcp-Session-Id", &id)], PING).status == 200);
}

#[test]
fn sessions_that_are_never_deleted_make_room_for_new_ones() {
    let place = Place::new();
    let gateway = limited(&place, FULL, &server("--raw"));
    let (address, process) = (gateway.address().to_owned(), gateway.child.id());
    let sessions = toolfold_testing::cases_of(136, 2_000);
    let (first, most) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let address = &address;
                scope.spawn(move || {
                    let (mut first, mut most) = (None, 0);
                    for _ in 0..sessions / 8 {
                        let id = session(address, "{}");
                        first.get_or_insert(id);
                        most = most.max(files_of(process));
                    }
                    (first.unwrap(), most)
                })
            })
            .collect();
        let all: Vec<(String, usize)> = clients.into_iter().map(|client| client.join().unwrap()).collect();
        (all[0].0.clone(), all.iter().map(|(_, most)| *most).max().unwrap())
    });
    assert!(most < 1024 * 8 / 10, "{most} files were open");
    // The first session was suspended, and resumes.
    assert_eq!(post(&address, &[("Mcp-Session-Id", &first)], PING).status, 200);
    assert!(children(process).len() <= 128, "{} processes", children(process).len());
}

#[test]
fn servers_have_the_limit_on_files_that_the_gateway_had() {
    let place = Place::new();
    let command = place.gateway(FULL, &server("--raw"));
    let mut starts = place.command("sh");
    starts.args(["-c", "ulimit -Sn 256; exec \"$@\"", "sh", &command[0], "gateway", "--http", "127.0.0.1:0"]);
    let gateway = Http::of(starts.args(&command[2..]).stderr(std::process::Stdio::piped()).spawn().unwrap());
    session(gateway.address(), "{}");
    let soft = |process: u32| {
        let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
        let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap().to_owned();
        line.split_whitespace().nth(3).unwrap().to_owned()
    };
    assert_ne!(soft(gateway.child.id()), "256");
    assert_eq!(children(gateway.child.id()).into_iter().map(soft).collect::<Vec<_>>(), ["256"]);
}

/// The memory of a process in MiB: now, and at most so far.
fn memory(process: u32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let of = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    };
    (of("VmRSS:"), of("VmHWM:"))
}

/// Waits until a process takes no more memory: its server waits for the client.
fn until_stable(process: u32, before: u64) {
    let mut last = (0, 0);
    eventually("its server waits", || {
        let now = memory(process).0;
        last = if now == last.0 { (now, last.1 + 1) } else { (now, 0) };
        now > before + 4 && last.1 > 10
    });
}

/// Messages of 64 KiB each.
const NOTES: usize = 1_300;

fn flood() -> String {
    let params = json!({"name": "flood", "arguments": {"bytes": 64 * 1024, "count": NOTES}});
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string()
}

#[test]
fn a_server_waits_for_a_client_that_does_not_read() {
    let place = Place::new();
    let gateway = started(&place, "");
    let (address, process) = (gateway.address(), gateway.child.id());
    let id = session(address, "{}");
    let before = memory(process).0;
    let mut reader = BufReader::new(posted(address, &format!("Mcp-Session-Id: {id}\r\n"), &flood()));
    until_stable(process, before);
    // Another session, and this one's other requests, are served meanwhile.
    assert_eq!(post(address, &[("Mcp-Session-Id", &id)], PING).status, 200);
    session(address, "{}");
    let all = until(&mut reader, "after the flood");
    assert_eq!(all.matches("notifications/message").count(), NOTES);
    let grown = memory(process).1.saturating_sub(before);
    assert!(grown < 64, "{grown} MiB for {} MiB of messages", NOTES / 16);
}

#[test]
fn messages_of_a_client_without_a_connection_are_limited() {
    let place = Place::new();
    let gateway = started(&place, "");
    let (address, process) = (gateway.address(), gateway.child.id());
    let id = session(address, "{}");
    let before = memory(process).0;
    let mut reader = BufReader::new(posted(address, &format!("Mcp-Session-Id: {id}\r\n"), &flood()));
    let begun = until(&mut reader, "id: ");
    let event = begun.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    drop(reader);
    // The call runs to its end, and the answer is stored with the last messages before it.
    let own = [("Mcp-Session-Id", id.as_str()), ("Last-Event-ID", event.as_str())];
    let reply = request(address, "GET", &own, "");
    assert!(reply.status == 200 && reply.body.contains("after the flood"), "{}", reply.status);
    let grown = memory(process).1.saturating_sub(before);
    assert!(grown < 64, "{grown} MiB for {} MiB of messages", NOTES / 16);
}
