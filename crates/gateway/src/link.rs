//! A connection to one server: `Link` sends messages; incoming ones are events.

mod child;
mod environment;
mod http;
mod inbox;
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
pub(crate) use self::inbox::{Inbox, Incoming};
use crate::error::GatewayError;
use crate::lines::Outline;
use crate::rpc::{Answer, Message, Request, code, error_member};

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

/// The kinds of events.
#[derive(Debug)]
pub(crate) enum Event {
    /// A message. `of` is the gateway's request whose response stream delivered it, if the
    /// transport has such streams.
    Message {
        /// The message.
        message: Message,
        /// The request.
        of: Option<u64>,
    },
    /// The gateway's request with this id has failed, and the server will not answer it.
    Failed(u64, Failure),
    /// A message that exceeds [`MAX_MESSAGE`].
    TooLong(Outline),
    /// The id of the session that the server assigned.
    Session(String),
    /// The connection has ended, with the reason.
    Closed(String),
}

/// Why a request has no answer from its server. Not an error of the server: a server may use any
/// code in its errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The server has not received the request.
    NotSent,
    /// The server may have carried out the request.
    NoAnswer,
    /// The server has ended.
    Ended,
    /// The server's answer exceeds [`MAX_MESSAGE`].
    TooLarge,
    /// The server requires a login.
    LoginNeeded,
    /// The server rejected the HTTP request.
    Rejected,
}

/// A failed request.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) cause: Cause,
    /// The reason, for the client.
    pub(crate) why: String,
}

impl Failure {
    pub(crate) fn too_large() -> Self {
        Self { cause: Cause::TooLarge, why: format!("its answer exceeds {MAX_MESSAGE} bytes") }
    }

    /// The error for the client that sent the request, with the cause.
    pub(crate) fn answer(&self) -> (Answer, Option<Cause>) {
        let code = if self.cause == Cause::LoginNeeded { code::LOGIN_NEEDED } else { code::INTERNAL };
        (Err(error_member(code, &self.why)), Some(self.cause))
    }
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
pub(crate) struct Link {
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
    pub(crate) fn connect(target: &Target, server: usize, run: u64, inbox: &Inbox) -> Result<Self, GatewayError> {
        Self::resume(target, server, run, inbox, None)
    }

    pub(crate) fn resume(
        target: &Target,
        server: usize,
        run: u64,
        inbox: &Inbox,
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
    pub(crate) async fn closed(self, stays: bool) {
        let Self { to, ends, stays: flag, done, heard: _ } = self;
        flag.store(stays, Ordering::Release);
        drop((to, ends));
        drop(done.await);
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lines()
    }

    /// Sends a message. Messages sent after the end of the connection are dropped.
    pub(crate) fn send(&self, message: Message) {
        drop(self.to.send(Outgoing::Message(message)));
    }

    /// Abandons a request.
    pub(crate) fn abandon(&self, id: u64) {
        drop(self.to.send(Outgoing::Abandon(id)));
    }

    /// Sets the negotiated protocol version.
    pub(crate) fn agreed(&self, version: &str) {
        drop(self.to.send(Outgoing::Version(version.to_owned())));
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Source {
    server: usize,
    run: u64,
    inbox: Inbox,
}

impl Source {
    /// Sends an event; waits while the queue is full. Returns `false` if the gateway has ended.
    async fn tell(&self, event: Event) -> bool {
        self.inbox.send(self.server, self.run, event).await
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
