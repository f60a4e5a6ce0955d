//! Telemetry by OpenTelemetry, to a receiver in the test. The messages are protobuf, which contains
//! texts unencoded.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::gateway::serving::lines::Lines;
use crate::gateway::serving::place::{Place, server};

const FULL: &str = "--arm full --profile off";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

type Came = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

fn receiver(status: u16) -> (String, Came) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let came = Came::default();
    let all = came.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let all = all.clone();
            std::thread::spawn(move || while take(&stream, status, &all).is_some() {});
        }
    });
    (url, came)
}

fn take(mut stream: &TcpStream, status: u16, came: &Came) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length?];
    reader.read_exact(&mut body).ok()?;
    came.lock().unwrap().push((head.split(' ').nth(1)?.to_owned(), body));
    stream.write_all(format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n").as_bytes()).ok()
}

/// Runs one call through a gateway with these variables; returns the input of its server.
fn called(place: &Place, variables: &[String]) -> String {
    let read = place.file("read");
    let tee = format!("tee {read} | \"$0\" \"$@\"");
    let behind = [vec!["sh".to_owned(), "-c".to_owned(), tee], server("--raw")].concat();
    let mut command = vec!["env".to_owned()];
    command.extend_from_slice(variables);
    command.extend(place.gateway(FULL, &behind));
    let mut lines = Lines::session(place, &command, &json!({}));
    let meta = json!({"traceparent": format!("00-{TRACE}-00f067aa0ba902b7-01"), "tracestate": "rojo=1"});
    let params = json!({"name": "echo", "arguments": {"word": "topsecret"}, "_meta": meta});
    let answer = lines.asked("1", "tools/call", &params);
    assert_eq!(answer["result"]["structuredContent"]["word"], "topsecret", "{answer}");
    assert_eq!(lines.end(), Some(0));
    std::fs::read_to_string(read).unwrap()
}

fn has(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|own| own == text)
}

fn at(came: &Came, path: &str) -> Vec<u8> {
    came.lock().unwrap().iter().filter(|(own, _)| own == path).flat_map(|(_, body)| body.clone()).collect()
}

#[test]
fn spans_and_metrics_are_exported_without_content() {
    let place = Place::new();
    let (url, came) = receiver(200);
    let read = called(&place, &[format!("OTEL_EXPORTER_OTLP_ENDPOINT={url}")]);
    let (traces, metrics) = (at(&came, "/v1/traces"), at(&came, "/v1/metrics"));
    for text in [
        "tools/call echo",
        "mcp.method.name",
        "gen_ai.tool.name",
        "execute_tool",
        "network.transport",
        "mcp.protocol.version",
        "mcp.session.id",
        "toolfold-gateway",
    ] {
        assert!(has(&traces, text.as_bytes()), "no {text}");
    }
    for text in ["mcp.server.operation.duration", "mcp.client.operation.duration", "execute_tool"] {
        assert!(has(&metrics, text.as_bytes()), "no {text}");
    }
    assert!(!has(&traces, b"topsecret") && !has(&metrics, b"topsecret"));
    // The client's trace continues through the gateway's own spans.
    let trace: Vec<u8> = (0..16).map(|at| u8::from_str_radix(&TRACE[2 * at..2 * at + 2], 16).unwrap()).collect();
    assert!(has(&traces, &trace));
    let call = read.lines().find(|line| line.contains("tools/call")).unwrap();
    assert!(call.contains(&format!("00-{TRACE}-")) && call.contains("rojo=1"), "{call}");
    assert!(!call.contains("00f067aa0ba902b7"), "its parent is the gateway's span: {call}");
}

#[test]
fn content_is_exported_on_request() {
    let place = Place::new();
    let (url, came) = receiver(200);
    let capture = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true".to_owned();
    called(&place, &[format!("OTEL_EXPORTER_OTLP_ENDPOINT={url}"), capture]);
    let traces = at(&came, "/v1/traces");
    assert!(has(&traces, b"gen_ai.tool.call.arguments") && has(&traces, b"topsecret"));
    assert!(!has(&at(&came, "/v1/metrics"), b"topsecret"));
}

#[test]
fn a_failing_or_absent_receiver_has_no_effect() {
    let place = Place::new();
    let (refuses, came) = receiver(400);
    called(&place, &[format!("OTEL_EXPORTER_OTLP_ENDPOINT={refuses}")]);
    assert!(!at(&came, "/v1/traces").is_empty());
    assert!(std::fs::read_to_string(place.file("log")).unwrap().contains("cannot deliver telemetry: HTTP 400"));
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    called(&place, &[format!("OTEL_EXPORTER_OTLP_ENDPOINT=http://{gone}")]);
}

#[test]
fn nothing_is_exported_without_a_receiver() {
    let place = Place::new();
    let (url, came) = receiver(200);
    let off = "OTEL_SDK_DISABLED=true".to_owned();
    let read = called(&place, &[format!("OTEL_EXPORTER_OTLP_ENDPOINT={url}"), off]);
    assert!(came.lock().unwrap().is_empty());
    // The client's context is passed unchanged.
    assert!(read.contains(&format!("00-{TRACE}-00f067aa0ba902b7-01")), "{read}");
}
