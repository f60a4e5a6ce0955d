//! Observers of a running gateway: its console, its metrics, and others.

use std::time::Duration;

use toolfold::profile::Arm;

use crate::capture::Capture;
use crate::client::Client;
use crate::link::Target;
use crate::object::Object;
use crate::rpc::{Answer, Raw, Request};

/// An event of a conversation. Its texts may be hostile, so displays must escape them.
#[derive(Debug)]
#[non_exhaustive]
pub enum Observed<'o> {
    /// A hub has started.
    Began,
    /// A hub has ended.
    Ended,
    /// A client has introduced itself; for stateless clients (2026-07-28), the first one.
    Client {
        /// Its name; empty if it has none.
        name: &'o str,
        /// Its version.
        version: &'o str,
    },
    /// A server has introduced itself (`None`), or is down (`Some`).
    Server {
        /// Its name.
        name: &'o str,
        /// Why it is down.
        down: Option<&'o str>,
    },
    /// A server has listed its tools.
    Listed {
        /// Its name.
        name: &'o str,
        /// Its description and its tools.
        list: &'o Capture,
    },
    /// A server's tools could not be listed completely.
    NotListed {
        /// Its name.
        name: &'o str,
        /// Why.
        why: &'o str,
    },
    /// A tool or a prompt has a name that differs from its own.
    Renamed {
        /// The server's name.
        server: &'o str,
        /// `tool` or `prompt`.
        kind: &'o str,
        /// The name at the server.
        name: &'o str,
        /// The name that clients are shown.
        shown: &'o str,
        /// Why the two differ.
        why: &'o str,
        /// Whether the configuration requires a prefix for every name.
        asked: bool,
    },
    /// A tool is not shown. Tools that the configuration excludes are not reported.
    LeftOut {
        /// The server's name.
        server: &'o str,
        /// The tool's name at the server; empty if it has none.
        name: &'o str,
        /// Why it is left out.
        why: &'o str,
    },
    /// The tools of a server that differ from their pins, after a change of this list.
    Withheld {
        /// The server's name.
        server: &'o str,
        /// Each tool, by its name at the server, with the reason.
        tools: &'o [(&'o str, &'o str)],
    },
    /// Output of a server's process besides messages, until its connection ended. It may contain
    /// secrets: only for the user's terminal, never for a model.
    Heard {
        /// Its name.
        name: &'o str,
        /// The last lines, oldest first.
        lines: &'o [String],
    },
    /// The list of tools that clients receive from now on.
    Shown {
        /// The arm.
        arm: Arm,
        /// Why this arm was chosen.
        reason: &'o str,
        /// The number of tools behind the list.
        tools: usize,
        /// The list.
        list: &'o str,
        /// The list without folding.
        full: &'o str,
    },
    /// The list after an answer that opened tools in place.
    Reshown {
        /// The list.
        list: &'o str,
    },
    /// The gateway itself answered a call: with an expansion, a skill, an explanation or a refusal.
    Answered {
        /// The name that was called.
        name: &'o str,
        /// The kind: `expanded`, `activated`, `invalid`, `refused` …
        kind: &'o str,
    },
    /// A call waits for approval.
    Waits {
        /// The server; empty for a tool of the gateway.
        server: &'o str,
        /// The tool.
        name: &'o str,
        /// The approval.
        approval: &'o str,
    },
    /// A server has answered a call.
    Called {
        /// The server.
        server: &'o str,
        /// The tool, by its name there.
        tool: &'o str,
        /// The policy's verdict.
        verdict: &'o str,
        /// The duration of the call.
        took: Duration,
        /// Whether it succeeded.
        ok: bool,
        /// The bytes of the texts in its result as JSON; 0 for a result of less than 40,000 bytes.
        bytes: usize,
    },
    /// A result of a server was longer than the setting allows.
    Large {
        /// The server.
        server: &'o str,
        /// The tool, by its name there.
        tool: &'o str,
        /// The tokens of the long texts.
        tokens: usize,
        /// The tokens that were sent in their place; the same number if nothing was shortened.
        left: usize,
    },
}

impl<'o> Observed<'o> {
    /// The lists of the event: the shown one, then the one without folding.
    pub(crate) fn list_texts(&self) -> impl Iterator<Item = &'o str> {
        let (list, full) = match self {
            Self::Shown { list, full, .. } => (Some(*list), Some(*full)),
            Self::Reshown { list } => (Some(*list), None),
            _ => (None, None),
        };
        list.into_iter().chain(full)
    }
}

/// An observer. Its methods are called from the hub and must not block.
pub trait Watch: Send + Sync {
    /// Reports an event.
    fn on_event(&self, conversation: &str, what: &Observed<'_>);

    /// Reports a client's request. The returned values replace it. Default: unchanged.
    fn on_request(&self, conversation: &str, client: Client, request: Request) -> (Client, Request) {
        let _ = conversation;
        (client, request)
    }

    /// Reports a request before it is sent to a server; the parameters may be changed. The returned
    /// value receives the answer, and is dropped if the request is cancelled. Default: none.
    fn sends(&self, conversation: &str, what: &mut Sending<'_>) -> Option<Box<dyn Exchange>> {
        let _ = (conversation, what);
        None
    }
}

/// A request on its way to a server.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sending<'s> {
    /// The server's name.
    pub server: &'s str,
    /// The connection to the server.
    pub target: &'s Target,
    /// Its response to the handshake; empty before that.
    pub hello: &'s Object,
    /// The request's id at the server.
    pub id: u64,
    /// Its method.
    pub method: &'s str,
    /// Its parameters.
    pub params: Option<Raw>,
}

/// An unanswered request to a server.
pub trait Exchange: Send + Sync + std::fmt::Debug {
    /// Receives the answer.
    fn on_answer(self: Box<Self>, answer: &Answer);
}

/// Several observers, called in order.
pub struct Several(pub Vec<std::sync::Arc<dyn Watch>>);

impl Watch for Several {
    fn on_event(&self, conversation: &str, what: &Observed<'_>) {
        for own in &self.0 {
            own.on_event(conversation, what);
        }
    }

    fn on_request(&self, conversation: &str, client: Client, request: Request) -> (Client, Request) {
        let as_asked = (client, request);
        self.0.iter().fold(as_asked, |(client, request), own| own.on_request(conversation, client, request))
    }

    /// Only one observer can receive the answer: the first that returns a value.
    fn sends(&self, conversation: &str, what: &mut Sending<'_>) -> Option<Box<dyn Exchange>> {
        self.0.iter().find_map(|own| own.sends(conversation, what))
    }
}

/// No observer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Watch for Nobody {
    fn on_event(&self, _conversation: &str, _what: &Observed<'_>) {}
}
