//! A connection to one server: [`Link`] sends messages; incoming ones are events.

mod child;
mod environment;
mod http;
mod stdio;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

#[cfg(target_os = "linux")]
pub(crate) use self::child::raise_open_files;
pub use self::child::{Groups, report_groups};
pub use self::environment::Inherit;
pub use self::http::auth;
use crate::error::GatewayError;
use crate::rpc::{Message, Request};

/// Maximum size of an incoming message, in bytes.
pub const MAX_MESSAGE: usize = 256 * 1024 * 1024;

/// Time for a process to end after its input was closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// The maximum number of the last output lines that are stored for diagnosis.
const KEPT_LINES: usize = 8;

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A process that communicates on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that are added to the inherited environment.
        env: BTreeMap<String, String>,
        /// The inherited environment.
        inherit: Inherit,
        /// The working directory. Default: the gateway's.
        cwd: Option<String>,
    },
    /// A URL of a server that supports streamable HTTP.
    Http {
        /// The endpoint.
        url: String,
        /// Headers that are added to every request.
        headers: BTreeMap<String, String>,
        /// The login, if one is stored for the server.
        auth: Option<Arc<auth::Auth>>,
    },
}

/// An event of a server.
#[derive(Debug)]
#[non_exhaustive]
pub struct Incoming {
    /// The index of the server in the configuration.
    pub server: usize,
    /// The number of the server's run: events of an earlier run are ignored.
    pub run: u64,
    /// The event.
    pub event: Event,
}

/// The kinds of events.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A message. `of` is the gateway's request whose response stream delivered it, if the
    /// transport has such streams.
    Message {
        /// The message.
        message: Message,
        /// The request.
        of: Option<u64>,
    },
    /// The id of the session that the server assigned.
    Session(String),
    /// The connection has ended, with the reason.
    Closed(String),
}

#[derive(Debug)]
pub(crate) enum Outgoing {
    Message(Message),
    /// Abandons a request: transports with a stream for each request close the stream.
    Abandon(u64),
    /// The negotiated protocol version, for the HTTP headers.
    Version(String),
}

/// The sending half. Dropping it ends the connection and its process.
#[derive(Debug)]
pub struct Link {
    to: mpsc::UnboundedSender<Outgoing>,
    ends: tokio_util::sync::DropGuard,
    /// Whether the session at the server stays open after the connection ends.
    stays: Arc<AtomicBool>,
    /// Completes when the connection and its process have ended.
    done: tokio::task::JoinHandle<()>,
    heard: Heard,
}

/// The output of a process that was not a message, for diagnosis: it may contain secrets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    /// The last lines, oldest first: standard error, and output that is not a message.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().map(|lines| lines.clone()).unwrap_or_default()
    }

    fn push(&self, line: String) {
        if let Ok(mut lines) = self.0.lock() {
            // Repeated lines are stored once.
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

/// A session at a server that a new connection resumes.
#[derive(Debug, Clone)]
pub(crate) struct Resumed {
    pub(crate) session: String,
    pub(crate) version: String,
    /// The handshake of a new session, if the server no longer knows this one.
    pub(crate) hello: Request,
}

impl Link {
    /// Connects to a server. Messages and the end are sent to `inbox`.
    ///
    /// # Errors
    /// [`GatewayError`] if the program cannot be started or the URL is invalid.
    pub fn connect(
        target: &Target,
        server: usize,
        run: u64,
        inbox: &mpsc::Sender<Incoming>,
    ) -> Result<Self, GatewayError> {
        Self::resume(target, server, run, inbox, None)
    }

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
            Target::Stdio { command, args, env, inherit, cwd } => {
                let child = child::spawn(command, args, (inherit, env), cwd.as_deref())?;
                stdio::serve_process(child, source, outgoing, ends.clone(), heard.clone())?
            }
            Target::Http { url, headers, auth } => {
                let of = http::Of { url, headers, auth: auth.clone(), resumed, stays: stays.clone() };
                http::serve_endpoint(of, source, outgoing, ends.clone())?
            }
        };
        Ok(Self { to, ends: ends.drop_guard(), stays, done, heard })
    }

    /// Ends the connection and waits until it has ended: pending messages are sent, and the process
    /// has time to exit. Also ends the session at the server, unless it `stays` open for another
    /// connection.
    pub async fn closed(self, stays: bool) {
        let Self { to, ends, stays: flag, done, heard: _ } = self;
        flag.store(stays, Ordering::Release);
        drop((to, ends));
        drop(done.await);
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lines()
    }

    /// Sends a message. Messages sent after the end of the connection are dropped.
    pub fn send(&self, message: Message) {
        drop(self.to.send(Outgoing::Message(message)));
    }

    /// Abandons a request.
    pub fn abandon(&self, id: u64) {
        drop(self.to.send(Outgoing::Abandon(id)));
    }

    /// Sets the negotiated protocol version.
    pub fn agreed(&self, version: &str) {
        drop(self.to.send(Outgoing::Version(version.to_owned())));
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Source {
    server: usize,
    run: u64,
    inbox: mpsc::Sender<Incoming>,
}

impl Source {
    /// Sends an event; waits while the queue is full. Returns `false` if the gateway has ended.
    async fn tell(&self, event: Event) -> bool {
        self.inbox.send(Incoming { server: self.server, run: self.run, event }).await.is_ok()
    }

    async fn message(&self, message: Message, of: Option<u64>) -> bool {
        self.tell(Event::Message { message, of }).await
    }
}

/// The beginning of a text for a line of the log, without line breaks and invisible characters.
fn beginning(text: &str) -> String {
    const SHOWN: usize = 160;
    let short: String = text.chars().take(SHOWN).collect();
    toolfold::diagnostic::visible(&short).into_owned()
}
