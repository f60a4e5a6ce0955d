//! A server over HTTP in the test itself: it creates sessions, requires them, and records its
//! requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

pub(crate) struct Upstream {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
    ways: Arc<Mutex<Ways>>,
}

/// How it differs from a usual server.
#[derive(Clone)]
struct Ways {
    /// The first session that it has not forgotten.
    first: usize,
    /// The status and the body for a session that it does not know.
    unknown: (&'static str, &'static str),
    /// The form of ids in its responses, with `N` for the number.
    id: &'static str,
}

impl Upstream {
    /// A server with the tool `echo`, and `more` generated ones.
    pub(crate) fn start(more: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let writes = asked.clone();
        let ways = Arc::new(Mutex::new(Ways { first: 0, unknown: ("404 Not Found", ""), id: "N" }));
        let own = ways.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (writes, ways) = (writes.clone(), own.clone());
                std::thread::spawn(move || drop(serve(stream, &writes, &ways, more)));
            }
        });
        Self { url, asked, ways }
    }

    /// Forgets its sessions, as after a restart, and rejects them with this status and body.
    pub(crate) fn forget(&self, status: &'static str, body: &'static str) {
        let mut ways = self.ways.lock().unwrap();
        ways.first = self.times("initialize") + 1;
        ways.unknown = (status, body);
    }

    /// Rejects new sessions too.
    pub(crate) fn reject_all(&self) {
        self.ways.lock().unwrap().first = usize::MAX;
    }

    /// Writes the ids of its responses in another form, with `N` for the number.
    pub(crate) fn write_ids(&self, form: &'static str) {
        self.ways.lock().unwrap().id = form;
    }

    pub(crate) fn times(&self, method: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|own| *own == method).count()
    }
}

fn serve(mut stream: TcpStream, asked: &Mutex<Vec<String>>, ways: &Mutex<Ways>, more: usize) -> std::io::Result<()> {
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
        let redirected = first.split(' ').nth(1).and_then(|path| path.strip_prefix("/to/"));
        let number = {
            let mut all = asked.lock().unwrap();
            if redirected.is_none() {
                all.push(method.to_owned());
            }
            all.iter().filter(|own| *own == "initialize").count()
        };
        let ways = ways.lock().unwrap().clone();
        let own = session.as_deref().and_then(|own| own.strip_prefix("up-")?.parse::<usize>().ok());
        let known = own.is_some_and(|own| own >= ways.first);
        let (status, head, answer) = match method {
            _ if redirected.is_some() => {
                let to = format!("Location: {}\r\n", redirected.unwrap_or_default().replace('|', "/"));
                ("307 Temporary Redirect", to, String::new())
            }
            "server/discover" => ("404 Not Found", String::new(), String::new()),
            "initialize" => {
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "upstream", "version": "1"}});
                ("200 OK", format!("Mcp-Session-Id: up-{number}\r\n"), answer(&request, &result))
            }
            _ if !known => (ways.unknown.0, String::new(), ways.unknown.1.to_owned()),
            "ping" => ("200 OK", String::new(), answer(&request, &json!({}))),
            // An error of the call itself.
            "tools/call" if request["params"]["arguments"]["text"] == "refuse" => {
                let error = json!({"code": -32602, "message": "it refuses this text"});
                let body = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
                ("400 Bad Request", String::new(), body.to_string())
            }
            "tools/call" if request["params"]["arguments"]["text"] == "null" => {
                let error = json!({"code": -32700, "message": "it could not read the id"});
                ("200 OK", String::new(), json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string())
            }
            "GET" => ("405 Method Not Allowed", String::new(), String::new()),
            // Read, and never answered.
            "notifications/hang" => loop {
                std::thread::park();
            },
            "DELETE" => ("204 No Content", String::new(), String::new()),
            // The first page is empty.
            "tools/list" if request["params"]["cursor"].is_null() => {
                ("200 OK", String::new(), answer(&request, &json!({"tools": [], "nextCursor": "2"})))
            }
            "tools/list" => ("200 OK", String::new(), answer(&request, &json!({"tools": tools(more)}))),
            "tools/call" => {
                let text = format!("{} in {}", request["params"]["arguments"]["text"], session.unwrap_or_default());
                let result = json!({"content": [{"type": "text", "text": text}]});
                ("200 OK", String::new(), answer(&request, &result))
            }
            _ => ("202 Accepted", String::new(), String::new()),
        };
        let answer = match request["id"].as_u64().filter(|_| ways.id != "N") {
            Some(id) => {
                answer.replace(&format!("\"id\":{id}"), &format!("\"id\":{}", ways.id.replace('N', &id.to_string())))
            }
            None => answer,
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
