//! Lost and hanging connections: resumed streams, subscriptions at the end, a server's last output.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::serving::lines::{Lines, text};
use crate::gateway::serving::place::{Http, Place, TOOLFOLD, server, terminate};
use crate::gateway::serving::web::{request, session};

const FULL: &str = "--arm full --profile off";

/// The data and the ids of a stream's events.
fn events(body: &str) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let mut id = String::new();
    for line in body.lines() {
        if let Some(own) = line.strip_prefix("id: ") {
            own.clone_into(&mut id);
        } else if let Some(data) = line.strip_prefix("data: ") {
            all.push((id.clone(), serde_json::from_str(data).unwrap()));
        }
    }
    all
}

#[test]
fn a_lost_stream_is_resumed_where_it_was_lost() {
    let place = Place::new();
    let gateway = Http::gateway(&place, &place.gateway(FULL, &server("--stdio --bare --faults")));
    let address = gateway.address();
    let id = session(address, "{}");
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "progress",
        "arguments": {"steps": 8, "millis": 50}, "_meta": {"progressToken": "t"}}});
    let body = body.to_string();
    // The connection is lost after the first event.
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nMcp-Session-Id: {id}\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream);
    let (mut line, mut said) = (String::new(), String::new());
    while !line.starts_with("data: ") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended: {said}");
        said.push_str(&line);
    }
    drop(lines);
    let first = events(&said);
    assert_eq!(first[0].1["params"]["progressToken"], "t", "{said}");
    let taken_up = |after: &str| {
        let headers = [("Mcp-Session-Id", id.as_str()), ("Last-Event-ID", after), ("Accept", "text/event-stream")];
        let reply = request(address, "GET", &headers, "");
        assert_eq!(reply.status, 200, "{}", reply.body);
        events(&reply.body)
    };
    let rest = taken_up(&first[0].0);
    let steps: Vec<&Value> = first.iter().chain(&rest).map(|(_, own)| &own["params"]["progress"]).collect();
    let all: Vec<f64> = steps.iter().filter_map(|own| own.as_f64()).collect();
    assert_eq!(all.len(), 8, "{rest:#?}");
    assert!(all.windows(2).all(|two| two[0] < two[1]), "each once, in order: {all:?}");
    let answers: Vec<&Value> = rest.iter().map(|(_, own)| own).filter(|own| own["id"] == 7).collect();
    assert!(answers.len() == 1 && answers[0]["result"].is_object(), "{rest:#?}");
    assert_eq!(rest.last().unwrap().1["id"], 7, "the answer is the end");
    // Nothing is repeated: there is nothing after the last event.
    assert_eq!(taken_up(&rest.last().unwrap().0), []);
    let headers = [("Mcp-Session-Id", id.as_str()), ("Last-Event-ID", "99-1"), ("Accept", "text/event-stream")];
    assert_eq!(request(address, "GET", &headers, "").status, 404);
}

#[test]
fn an_open_subscription_ends_with_the_gateway_and_not_after_it() {
    let place = Place::new();
    let mut gateway = Http::gateway(&place, &place.gateway(FULL, &server("--stdio --bare --faults --only discover")));
    let address = gateway.address().to_owned();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "gaps", "version": "1"}});
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": "sub", "method": "subscriptions/listen", "params": params}).to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream);
    let mut said = String::new();
    // It is open when it is acknowledged.
    while !said.contains("notifications/subscriptions/acknowledged") {
        assert!(lines.read_line(&mut said).unwrap() > 0, "it ended: {said}");
    }
    terminate(gateway.child.id());
    drop(lines.read_to_string(&mut said));
    let all = events(&said[said.find("\r\n\r\n").unwrap()..]);
    let last = &all.last().unwrap_or_else(|| panic!("{said}")).1;
    assert_eq!(last["id"], "sub", "{said}");
    assert_eq!(last["result"]["resultType"], "complete", "{said}");
    assert_eq!(last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub", "{said}");
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0));
}

/// A request as a server over HTTP reads it: its head, and its body as JSON.
fn heard(stream: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some((head, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

/// A server over HTTP that never acknowledges `notifications/cancelled`, and never answers calls of
/// `hang`.
fn hanging() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut answers = stream.try_clone().unwrap();
                let mut stream = BufReader::new(stream);
                while let Some((head, body)) = heard(&mut stream) {
                    let name = body["params"]["name"].as_str().unwrap_or_default();
                    let result = match body["method"].as_str().unwrap_or_default() {
                        _ if !head.starts_with("POST") => json!(405),
                        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "hanging", "version": "1"}}),
                        "tools/list" => json!({"tools": [{"name": "hang", "inputSchema": {"type": "object"}},
                            {"name": "swift", "inputSchema": {"type": "object"}}]}),
                        "tools/call" if name == "swift" => json!({"content": [{"type": "text", "text": "swift"}]}),
                        "tools/call" | "notifications/cancelled" => continue,
                        _ => Value::Null,
                    };
                    let said = match result {
                        Value::Number(_) => "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n".to_owned(),
                        Value::Null => "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_owned(),
                        result => {
                            let text = json!({"jsonrpc": "2.0", "id": body["id"], "result": result}).to_string();
                            format!(
                                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}",
                                text.len()
                            )
                        }
                    };
                    answers.write_all(said.as_bytes()).unwrap();
                }
            });
        }
    });
    url
}

#[test]
fn a_hanging_notification_blocks_no_other() {
    let place = Place::new();
    let command = format!("{TOOLFOLD} gateway {FULL} --url {}", hanging());
    let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
    let mut lines = Lines::session(&place, &command, &json!({}));
    lines.ask("1", "tools/call", &json!({"name": "hang", "arguments": {}}));
    lines.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    // Three in a row: none may wait for the acknowledgement of the notification, which never comes.
    for id in ["2", "3", "4"] {
        assert_eq!(text(&lines.call(id, "swift", &json!({}))), "swift");
    }
    let log = std::fs::read_to_string(place.file("log")).unwrap();
    assert!(!log.contains("did not take a message"), "they waited until it was given up: {log}");
    assert_eq!(lines.end(), Some(0));
}

#[test]
fn the_last_output_goes_only_to_the_log() {
    let place = Place::new();
    // It exits during each call, with a secret in its output. After its restart it is not asked
    // for its tools again.
    let ends = r#"while read -r line; do
        id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
        case "$line" in
        *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"ends","version":"1"}}' ;;
        *'"tools/list"'*) result='{"tools":[{"name":"end","inputSchema":{"type":"object"}}]}' ;;
        *'"tools/call"'*) echo password=hunter2 >&2; exit 3 ;;
        *) continue ;;
        esac
        echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
    done"#;
    let behind = ["sh".to_owned(), "-c".to_owned(), ends.to_owned()];
    let mut lines = Lines::session(&place, &place.gateway(FULL, &behind), &json!({}));
    let ended = lines.call("1", "end", &json!({}));
    assert!(text(&ended).contains("exit status: 3"), "{ended}");
    let later = lines.call("2", "end", &json!({}));
    assert!(text(&later).contains("exit status: 3"), "{later}");
    assert!(!format!("{ended}{later}{:?}", lines.seen).contains("hunter2"), "{ended} {later}");
    let log = std::fs::read_to_string(place.file("log")).unwrap();
    assert!(log.contains("hunter2"), "{log}");
}
