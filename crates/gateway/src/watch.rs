//! What can be seen of a gateway while it works: for its console, its metrics, and whoever else looks on.

use std::time::Duration;

use toolfold::profile::Arm;

use crate::capture::Capture;
use crate::client::Client;
use crate::link::Target;
use crate::object::Object;
use crate::rpc::{Answer, Raw, Request};

/// Something that happened in a conversation. Texts may come from servers and models: who shows them escapes them.
#[derive(Debug)]
#[non_exhaustive]
pub enum Observed<'o> {
    /// A hub has begun.
    Began,
    /// A hub has ended.
    Ended,
    /// A client has introduced itself. Where each request does so (2026-07-28), the first one.
    Client {
        /// What it calls itself. Empty where it does not say.
        name: &'o str,
        /// Its version.
        version: &'o str,
    },
    /// A server has introduced itself (`None`), or is down (why).
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
        /// What it said of itself and its tools.
        list: &'o Capture,
    },
    /// A server's tools could not be listed whole.
    NotListed {
        /// Its name.
        name: &'o str,
        /// Why.
        why: &'o str,
    },
    /// A tool or a prompt has got a name that is not its own.
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
        /// Whether the configuration asks for a prefix before every name.
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
    /// What a server's process said beside its messages until its connection ended. It may hold secrets: it is for the person
    /// at the terminal, never for a model.
    Heard {
        /// Its name.
        name: &'o str,
        /// The last lines of it, oldest first.
        lines: &'o [String],
    },
    /// The list of tools as clients get it from now on.
    Shown {
        /// The arm.
        arm: Arm,
        /// Why it is this one.
        reason: &'o str,
        /// How many tools there are behind the list.
        tools: usize,
        /// The list.
        list: &'o str,
        /// What the list would be without folding.
        full: &'o str,
    },
    /// The list as it is after an answer that opened tools in place.
    Reshown {
        /// The list.
        list: &'o str,
    },
    /// A call was answered here: an expansion, a skill, a repair, a refusal.
    Answered {
        /// The name that was called.
        name: &'o str,
        /// Why: `expanded`, `activated`, `invalid`, `refused` …
        kind: &'o str,
    },
    /// A call waits for a person.
    Waits {
        /// The tool.
        name: &'o str,
        /// The approval.
        approval: &'o str,
    },
    /// A call has come back from its server.
    Called {
        /// The server.
        server: &'o str,
        /// The tool, by its name there.
        tool: &'o str,
        /// What policy said.
        verdict: &'o str,
        /// How long the server took.
        took: Duration,
        /// Whether it succeeded.
        ok: bool,
    },
}

impl<'o> Observed<'o> {
    /// The lists in it: the one that is shown, then the one without folding.
    pub(crate) fn list_texts(&self) -> impl Iterator<Item = &'o str> {
        let (list, full) = match self {
            Self::Shown { list, full, .. } => (Some(*list), Some(*full)),
            Self::Reshown { list } => (Some(*list), None),
            _ => (None, None),
        };
        list.into_iter().chain(full)
    }
}

/// Somebody who looks on. Called from the hub, so that it must not wait.
pub trait Watch: Send + Sync {
    /// Something has happened in a conversation.
    fn on_event(&self, conversation: &str, what: &Observed<'_>);

    /// A client has asked something. What is given back is asked in its place, and answered to the client in it. Default: both
    /// as they are.
    fn on_request(&self, conversation: &str, client: Client, request: Request) -> (Client, Request) {
        let _ = conversation;
        (client, request)
    }

    /// A server is about to be asked something. What is given back hears the answer; it is dropped where none is waited for any
    /// more. The parameters may be changed. Default: nobody hears it.
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
    /// How it is reached.
    pub target: &'s Target,
    /// Its introduction; empty until it has said so.
    pub hello: &'s Object,
    /// The request's id at the server.
    pub id: u64,
    /// Its method.
    pub method: &'s str,
    /// Its parameters.
    pub params: Option<Raw>,
}

/// A request to a server that has not been answered.
pub trait Exchange: Send + Sync + std::fmt::Debug {
    /// It has been answered.
    fn on_answer(self: Box<Self>, answer: &Answer);
}

/// Several who look on, in their order.
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

    /// One of them can hear the answer: the first that wants to.
    fn sends(&self, conversation: &str, what: &mut Sending<'_>) -> Option<Box<dyn Exchange>> {
        self.0.iter().find_map(|own| own.sends(conversation, what))
    }
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Watch for Nobody {
    fn on_event(&self, _conversation: &str, _what: &Observed<'_>) {}
}
