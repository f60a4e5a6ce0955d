//! A gateway with a console, a server behind it, and a client and a browser before it: all over
//! HTTP on this machine.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use toolfold::catalog::Catalog;
use toolfold::conversation::Snapshot;
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::{Policy, PolicyFile, PolicyScope, ToolOrigin};
use toolfold::profile::Arm;
use toolfold::store::SqliteStore;
use toolfold::wire::Wire;
use toolfold_gateway::approvals::Approvals;
use toolfold_gateway::dashboard::{Dashboard, Meter};
use toolfold_gateway::error::GatewayError;
use toolfold_gateway::front::http::guard::Guard;
use toolfold_gateway::front::http::{HttpSettings, listen};
use toolfold_gateway::link::Target;
use toolfold_gateway::seal::Seal;
use toolfold_gateway::settings::{Layers, Opened, Origin, ServerSettings, Settings};

/// A name that pages and metrics must treat as a name only.
pub const HOSTILE: &str = "<img src=x onerror=alert(1)>\"\u{202e}}\n1";

const POLICY: &str = "[policy]\ndefault = \"allow\"\n[tool.\"mcp:disk/wipe\"]\ntier = \"a\"\nwrites = []\n";

fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// The console's clock, which runs ten times as fast: the console verifies the audit trail at most
/// every five seconds.
fn console_ms() -> i64 {
    static STARTED: std::sync::OnceLock<i64> = std::sync::OnceLock::new();
    let now = now_ms();
    let started = *STARTED.get_or_init(|| now);
    started + 10 * (now - started)
}

struct Own {
    store: Arc<SqliteStore>,
}

impl Layers for Own {
    fn open_conversation(
        &self,
        catalog: Catalog,
        origins: &BTreeMap<String, Origin>,
        _before: Option<Snapshot>,
        id: &str,
    ) -> Result<Opened, GatewayError> {
        let file = PolicyFile::load(POLICY, "policy.toml", PolicyScope::User);
        assert!(!file.has_errors(), "{:?}", file.diagnostics);
        let (layer, approver) = PolicyLayer::open(Policy::new(vec![file.value]), self.store.clone(), now_ms);
        let whose =
            |(name, own): (&String, &Origin)| (name.clone(), (ToolOrigin::Mcp(own.of.clone()), own.tool.clone()));
        let layer = toolfold_testing::with!(layer, origins = Arc::new(origins.iter().map(whose).collect()));
        let engine = Engine::builder(catalog).arm(Arm::Full).without_profile().policy(layer).build();
        let engine = engine.map_err(|why| why.to_string())?;
        let conversation = engine.conversation(Wire::Mcp).id(id).start().map_err(|why| why.to_string())?;
        let mut opened = Opened::new(conversation);
        opened.approver = Some(Arc::new(approver));
        Ok(opened)
    }

    fn now_ms(&self) -> i64 {
        now_ms()
    }
}

/// A gateway with a console, and its server.
pub struct World {
    address: SocketAddr,
    token: Option<String>,
    folder: PathBuf,
    server: watch::Sender<bool>,
}

impl Drop for World {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.folder));
    }
}

impl World {
    pub async fn start(name: &str, token: Option<&str>) -> Self {
        let folder = std::env::temp_dir().join(format!("toolfold-console-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("approvals.sqlite");
        let store = Arc::new(SqliteStore::open(&path).unwrap());
        let (server, behind) = server().await;
        let target = Target::Http { url: format!("http://{behind}/mcp"), headers: BTreeMap::new(), auth: None };
        let dashboard = Dashboard::new(["disk"], Some(Meter::new("letters", |text| text.chars().count())), now_ms);
        let servers = vec![ServerSettings::new("disk", target)];
        let mut settings = Settings::new(servers, Arc::new(Own { store }), Seal::random().unwrap());
        settings.watch = Arc::new(dashboard.clone());
        let mut http = HttpSettings::new("127.0.0.1:0".parse().unwrap());
        if let Some(token) = token {
            http.guard = Guard::default().token(token);
        }
        http.console = Some(http.guard.clone());
        http.dashboard = Some(dashboard);
        http.approvals = Some(Arc::new(Approvals::open_store(&path, "ada, by the console", console_ms).unwrap()));
        let listening = listen(vec![settings], http, "gateway").await.unwrap();
        let address = listening.address().unwrap();
        tokio::spawn(listening.serve());
        Self { address, token: token.map(str::to_owned), folder, server }
    }

    /// Stops the answers of the gateway's server.
    pub fn stop_server(&self) {
        self.server.send_replace(true);
    }

    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = self.begin(method, path, headers, body).await;
        let mut text = Vec::new();
        // A response without an end is a stream: the part received so far is enough.
        let read = stream.read_to_end(&mut text);
        drop(tokio::time::timeout(std::time::Duration::from_secs(3), read).await);
        Answer::of(&String::from_utf8_lossy(&text))
    }

    async fn begin(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "host") {
            head.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        stream
    }

    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send("GET", path, headers, "").await
    }

    /// A request as the page sends it.
    pub async fn post(&self, path: &str, body: &Value, more: &[(&str, &str)]) -> Answer {
        let token = self.bearer();
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(token.as_deref().map(|token| ("authorization", token)));
        headers.extend(more);
        self.send("POST", path, &headers, &body.to_string()).await
    }

    fn bearer(&self) -> Option<String> {
        self.token.as_ref().map(|token| format!("Bearer {token}"))
    }

    /// The stream of a page.
    pub async fn page(&self) -> Page {
        self.try_page().await.expect("a stream")
    }

    pub async fn try_page(&self) -> Option<Page> {
        let token = self.bearer();
        let headers: Vec<(&str, &str)> = token.as_deref().map(|token| ("authorization", token)).into_iter().collect();
        let stream = self.begin("GET", "/console/events", &headers, "").await;
        let mut page = Page { stream, text: String::new() };
        while !page.text.contains("\r\n\r\n") {
            page.more().await;
        }
        page.text.starts_with("HTTP/1.1 200").then_some(page)
    }

    /// A client after its handshake.
    pub async fn client(&self) -> Client<'_> {
        let mut client = Client { world: self, session: String::new(), next: 0 };
        let info = json!({"name": "tester\u{200b}", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
        client.ask("initialize", params).await;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        client.post(&ready).await;
        client
    }
}

/// A response.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.body))
    }
}

/// A stream of events.
pub struct Page {
    stream: TcpStream,
    text: String,
}

impl Page {
    async fn more(&mut self) {
        let mut bytes = vec![0; 64 * 1024];
        let read = tokio::time::timeout(std::time::Duration::from_secs(20), self.stream.read(&mut bytes)).await;
        let read = read.unwrap_or_else(|_| panic!("nothing more came after: {}", self.text)).unwrap();
        assert!(read > 0, "the stream has ended: {}", self.text);
        self.text.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }

    /// The next event with a name. The chunks of the transfer begin where events do.
    pub async fn next(&mut self, name: &str) -> Value {
        let begin = format!("event: {name}\ndata: ");
        let until = tokio::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            assert!(tokio::time::Instant::now() < until, "no `{name}` came: {}", self.text);
            if let Some(at) = self.text.find(&begin)
                && let Some(end) = self.text[at..].find("\n\n")
            {
                let data = self.text[at + begin.len()..at + end].to_owned();
                self.text.drain(..at + end);
                return serde_json::from_str(&data).unwrap();
            }
            self.more().await;
        }
    }

    pub async fn until(&mut self, name: &str, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let seen = self.next(name).await;
            if holds(&seen) {
                return seen;
            }
        }
    }

    /// Like `until`, for a condition that `seen` may already meet.
    pub async fn after(&mut self, seen: Value, name: &str, holds: impl Fn(&Value) -> bool) -> Value {
        if holds(&seen) { seen } else { self.until(name, holds).await }
    }
}

/// A client of MCP.
pub struct Client<'w> {
    world: &'w World,
    session: String,
    next: u64,
}

impl Client<'_> {
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        let answer = self.post(&message).await;
        if let Some(line) = answer.head.lines().find(|line| line.starts_with("mcp-session-id: ")) {
            self.session = line.trim_start_matches("mcp-session-id: ").to_owned();
        }
        answer.json()["result"].clone()
    }

    async fn post(&self, message: &Value) -> Answer {
        let accept = ("accept", "application/json, text/event-stream");
        let version = ("mcp-protocol-version", "2025-06-18");
        let mut headers = vec![accept];
        if !self.session.is_empty() {
            headers.extend([("mcp-session-id", self.session.as_str()), version]);
        }
        self.world.post("/mcp", message, &headers).await
    }
}

/// An MCP server with a harmless tool, one to approve, and one with a hostile name.
async fn server() -> (watch::Sender<bool>, SocketAddr) {
    let (stops, stopped) = watch::channel(false);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Router::new().route("/mcp", any(answer)).with_state(stopped);
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (stops, address)
}

async fn answer(State(stopped): State<watch::Receiver<bool>>, body: String) -> Response {
    let message: Value = serde_json::from_str(&body).unwrap_or_default();
    if *stopped.borrow() {
        return http::StatusCode::NOT_FOUND.into_response();
    }
    let params = &message["params"];
    let tool = |name: &str| {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        json!({"name": name, "description": "A tool.", "inputSchema": schema})
    };
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "disk", "version": "1"},
        }),
        Some("tools/list") => json!({"tools": [tool("look"), tool("wipe"), tool(HOSTILE)]}),
        Some("tools/call") => {
            json!({"content": [{"type": "text", "text": format!("did {}", params["name"].as_str().unwrap())}]})
        }
        _ => return http::StatusCode::ACCEPTED.into_response(),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    let kind = [(http::header::CONTENT_TYPE, "application/json")];
    (kind, answer.to_string()).into_response()
}
