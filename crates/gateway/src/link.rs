//! A connection to one server: messages go in, messages come out, and its end is told.

mod child;
mod http;
mod stdio;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use self::http::auth;
use crate::error::GatewayError;
use crate::rpc::Message;

/// The largest message that is read, in bytes.
pub const MAX_MESSAGE: usize = 256 * 1024 * 1024;

/// How long a process may take to end after its standard input was closed, and again after SIGTERM, before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// How many last lines of a process are kept, for people.
const KEPT_LINES: usize = 8;

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A process that speaks on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What is added to the environment that it inherits.
        env: BTreeMap<String, String>,
        /// Where it runs. Default: where the gateway does.
        cwd: Option<String>,
    },
    /// A URL that speaks streamable HTTP.
    Http {
        /// The endpoint.
        url: String,
        /// What is added to every request.
        headers: BTreeMap<String, String>,
        /// The login, where one is kept for it.
        auth: Option<Arc<auth::Auth>>,
    },
}

/// What comes from a server.
#[derive(Debug)]
#[non_exhaustive]
pub struct Incoming {
    /// Which server: its place in the configuration.
    pub server: usize,
    /// Which of its runs: what an ended run still had to say is not taken for the next one's.
    pub run: u64,
    /// What.
    pub event: Event,
}

/// What can come from a server.
#[derive(Debug)]
pub enum Event {
    /// A message. `of` is the gateway's request on whose answer it came, where the transport tells.
    Message {
        /// The message.
        message: Message,
        /// The request.
        of: Option<u64>,
    },
    /// The session that the server gave, by its id.
    Session(String),
    /// The connection has ended, and why.
    Closed(String),
}

/// What is sent to a server.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A message.
    Message(Message),
    /// Nobody waits for this request of ours any more: where that is said by closing a stream, it is closed.
    Abandon(u64),
    /// The protocol version that was agreed on, for the headers of HTTP.
    Version(String),
}

/// The sending half. Dropping it ends the connection, and the process behind it.
#[derive(Debug)]
pub struct Link {
    to: mpsc::UnboundedSender<Outgoing>,
    ends: tokio_util::sync::DropGuard,
    /// Whether a session at the server outlives the connection.
    stays: Arc<AtomicBool>,
    /// Ends with the connection, and the process behind it.
    done: tokio::task::JoinHandle<()>,
    /// What the process said beside its messages.
    heard: Heard,
}

/// What a process says beside its messages, for people: it may hold secrets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    /// The last lines, oldest first: what it wrote to standard error, and what on standard output was no message.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().map(|lines| lines.clone()).unwrap_or_default()
    }

    fn push(&self, line: String) {
        if let Ok(mut lines) = self.0.lock() {
            // The same again says nothing.
            if lines.last() == Some(&line) {
                return;
            }
            if lines.len() == KEPT_LINES {
                lines.remove(0);
            }
            lines.push(line);
        }
    }
}

/// A session at a server that goes on in a new connection.
#[derive(Debug, Clone)]
pub(crate) struct Resumed {
    /// Its `Mcp-Session-Id`.
    pub(crate) session: String,
    /// The protocol version that was agreed on.
    pub(crate) version: String,
}

impl Link {
    /// Connects to a server. Messages and the end come through `inbox`.
    ///
    /// # Errors
    /// [`GatewayError`] if the program cannot be started, or the URL not be used.
    pub fn open(
        target: &Target,
        server: usize,
        run: u64,
        inbox: &mpsc::Sender<Incoming>,
    ) -> Result<Self, GatewayError> {
        Self::resume(target, server, run, inbox, None)
    }

    /// The same for a session that goes on, where the transport has sessions.
    ///
    /// # Errors
    /// As for [`Link::open`].
    pub(crate) fn resume(
        target: &Target,
        server: usize,
        run: u64,
        inbox: &mpsc::Sender<Incoming>,
        resumed: Option<Resumed>,
    ) -> Result<Self, GatewayError> {
        let stays = Arc::new(AtomicBool::new(false));
        let (to, outgoing) = mpsc::unbounded_channel();
        let ends = CancellationToken::new();
        let source = Source { server, run, inbox: inbox.clone() };
        let heard = Heard::default();
        let done = match target {
            Target::Stdio { command, args, env, cwd } => {
                let child = child::spawn(command, args, env, cwd.as_deref())?;
                stdio::run(child, source, outgoing, ends.clone(), heard.clone())?
            }
            Target::Http { url, headers, auth } => {
                let of = http::Of { url, headers, auth: auth.clone(), resumed, stays: stays.clone() };
                http::run(of, source, outgoing, ends.clone())?
            }
        };
        Ok(Self { to, ends: ends.drop_guard(), stays, done, heard })
    }

    /// Ends the connection, and waits until it has: what was sent goes out, and the process has time to end by itself. A session
    /// at the server is ended too, unless it `stays` for another connection.
    pub async fn closed(self, stays: bool) {
        let Self { to, ends, stays: told, done, heard: _ } = self;
        told.store(stays, Ordering::Release);
        drop((to, ends));
        drop(done.await);
    }

    /// What its process said beside its messages, the last lines of it.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lines()
    }

    /// Sends a message. What is sent after the connection has ended goes nowhere: its end was told.
    pub fn send(&self, message: Message) {
        drop(self.to.send(Outgoing::Message(message)));
    }

    /// Says that nobody waits for a request any more.
    pub fn abandon(&self, id: u64) {
        drop(self.to.send(Outgoing::Abandon(id)));
    }

    /// Says which protocol version was agreed on.
    pub fn agreed(&self, version: &str) {
        drop(self.to.send(Outgoing::Version(version.to_owned())));
    }
}

/// Where a connection's messages come from, and go to.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    server: usize,
    run: u64,
    inbox: mpsc::Sender<Incoming>,
}

impl Source {
    /// Hands an event over; waits while the gateway has too much to do. `false` if the gateway has ended.
    async fn tell(&self, event: Event) -> bool {
        self.inbox.send(Incoming { server: self.server, run: self.run, event }).await.is_ok()
    }

    async fn message(&self, message: Message, of: Option<u64>) -> bool {
        self.tell(Event::Message { message, of }).await
    }
}

/// The beginning of a text, for a line of the log: no line break, nothing invisible.
fn beginning(text: &str) -> String {
    const SHOWN: usize = 160;
    let short: String = text.chars().take(SHOWN).collect();
    toolfold::diagnostic::visible(&short).into_owned()
}
