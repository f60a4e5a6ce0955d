//! A server over HTTP in the test itself: it creates sessions, requires them, and records its
//! requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

pub(crate) struct Upstream {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Upstream {
    /// A server with the tool `echo`, and `more` generated ones.
    pub(crate) fn start(more: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let writes = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let writes = writes.clone();
                std::thread::spawn(move || drop(serve(stream, &writes, more)));
            }
        });
        Self { url, asked }
    }

    pub(crate) fn times(&self, method: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|own| *own == method).count()
    }
}

fn serve(mut stream: TcpStream, asked: &Mutex<Vec<String>>, more: usize) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let (mut first, mut length, mut session) = (String::new(), 0, None);
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            match line.split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap_or(0),
                Some(("mcp-session-id", value)) => session = Some(value.to_owned()),
                None if line.is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        let verb = first.split(' ').next().unwrap_or_default();
        let method = if verb == "POST" { request["method"].as_str().unwrap_or("?") } else { verb };
        let number = {
            let mut all = asked.lock().unwrap();
            all.push(method.to_owned());
            all.iter().filter(|own| *own == "initialize").count()
        };
        let known = session.as_deref().is_some_and(|own| own.starts_with("up-"));
        let (status, head, answer) = match method {
            "server/discover" => ("404 Not Found", String::new(), String::new()),
            "initialize" => {
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "upstream", "version": "1"}});
                ("200 OK", format!("Mcp-Session-Id: up-{number}\r\n"), answer(&request, &result))
            }
            _ if !known => ("404 Not Found", String::new(), String::new()),
            "GET" => ("405 Method Not Allowed", String::new(), String::new()),
            // Read, and never answered.
            "notifications/hang" => loop {
                std::thread::park();
            },
            "DELETE" => ("204 No Content", String::new(), String::new()),
            "tools/list" => ("200 OK", String::new(), answer(&request, &json!({"tools": tools(more)}))),
            "tools/call" => {
                let text = format!("{} in {}", request["params"]["arguments"]["text"], session.unwrap_or_default());
                let result = json!({"content": [{"type": "text", "text": text}]});
                ("200 OK", String::new(), answer(&request, &result))
            }
            _ => ("202 Accepted", String::new(), String::new()),
        };
        let length = answer.len();
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{head}Content-Length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{answer}").as_bytes())?;
    }
}

fn answer(request: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string()
}

fn tools(more: usize) -> Vec<Value> {
    let tool = |name: &str| {
        json!({"name": name, "description": format!("Gives back its text, as {name} does. It changes nothing."),
            "annotations": {"readOnlyHint": true},
            "inputSchema": {"type": "object", "required": ["text"],
                "properties": {"text": {"type": "string", "description": "What is given back"}}}})
    };
    let generated = (0..more).map(|number| tool(&format!("letters_{number}")));
    std::iter::once(tool("echo")).chain(generated).collect()
}
