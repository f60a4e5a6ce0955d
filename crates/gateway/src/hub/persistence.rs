//! State that outlives the hub: a conversation with a session is stored after each change, and
//! resumed from where another process left it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use toolfold::conversation::Snapshot;

use super::context::Lifecycle;
use super::server::State;
use super::servers::Servers;
use super::upstream::Upstream;
use super::view::View;
use super::{Hub, Receipt};
use crate::backlog::Backlog;
use crate::client::Client;
use crate::link::{Link, Resumed};
use crate::object::Object;
use crate::rpc::{Answer, Id, Message, Request};
use crate::state::{OnConflict, Record, StateKey, StateWriter, Upstream as StoredUpstream};
use crate::watch::Observed;

#[derive(Default)]
pub(crate) struct Begin {
    /// The key of the conversation and the version of its state, which the hub keeps up to date.
    pub(crate) kept: Option<(StateKey, Arc<AtomicU64>)>,
    pub(crate) record: Option<Record>,
    /// The client of the resumed session.
    pub(crate) client: Option<Client>,
    /// What the hub's only client has not read; always empty for a hub of several clients.
    pub(crate) backlog: Backlog,
}

pub(super) struct Persistence {
    key: StateKey,
    saver: StateWriter,
    /// Sessions at servers to resume, by server name.
    upstreams: BTreeMap<String, StoredUpstream>,
    /// The stored conversation, until the view is built from it.
    conversation: Option<Snapshot>,
    forgotten: bool,
}

impl Persistence {
    /// Whether other processes may serve the conversation.
    pub(super) fn is_shared(&self, upstream: &Upstream) -> bool {
        upstream.context.settings.state.as_ref().is_some_and(|state| state.store.is_shared())
    }

    pub(super) async fn until_written(self) {
        self.saver.until_written().await;
    }
}

impl View {
    pub(super) fn keep(&mut self, upstream: &mut Upstream, begin: Begin) {
        let Begin { kept, record, client, backlog: _ } = begin;
        let Some((key, version)) = kept else { return };
        let Some(state) = &upstream.context.settings.state else { return };
        let saver = StateWriter::start_writer(state.store.clone(), key.clone(), version);
        let mut keeps = Persistence { key, saver, upstreams: BTreeMap::new(), conversation: None, forgotten: false };
        if let Some(Record { params, upstreams, conversation, names }) = record {
            (keeps.upstreams, keeps.conversation) = (upstreams, conversation);
            self.names.given = names;
            if let Some(client) = client {
                let params = super::initialize::spoken(Object::from_params(Some(&params)));
                // A client that has the session's id has read the response to `initialize`.
                upstream.context.lifecycle = Lifecycle::Session { client, params, asks: None, ready: true };
            }
            // A late response to an earlier hub's request must not match one of this hub.
            upstream.requests.next = somewhere();
        }
        self.persistence = Some(keeps);
    }

    /// Stores what a client's request has changed.
    pub(super) fn save(&mut self, upstream: &Upstream) {
        self.store(upstream, OnConflict::Replace);
    }

    pub(super) fn store(&mut self, upstream: &Upstream, conflict: OnConflict) {
        let Some(keeps) = self.persistence.as_ref().filter(|own| !own.forgotten) else { return };
        let params = match &upstream.context.lifecycle {
            Lifecycle::Session { params, asks: None, .. } => params,
            Lifecycle::Stateless { meta } => meta,
            Lifecycle::Session { .. } | Lifecycle::Unknown => return,
        };
        let mut upstreams = keeps.upstreams.clone();
        for (server, settings) in upstream.servers.iter().zip(&upstream.context.settings.servers) {
            let version = server.hello.read_as::<String>("protocolVersion");
            if let (Some(session), Some(version), true) = (&server.session, version, server.is_ready()) {
                let hello = server.hello.to_raw();
                upstreams.insert(settings.name.clone(), StoredUpstream { session: session.clone(), version, hello });
            }
        }
        let conversation = self.shown.as_ref().map(|view| view.conversation.snapshot());
        let conversation = conversation.or_else(|| keeps.conversation.clone());
        let record = Record { params: params.to_raw(), upstreams, conversation, names: self.names.given.clone() };
        if let Some(value) = record.hidden(&upstream.context.settings.seal, &keeps.key) {
            keeps.saver.write_later(value, conflict);
        }
    }

    /// Whether sessions at servers stay open for the next process that resumes the conversation.
    pub(super) fn stays(&self, upstream: &Upstream) -> bool {
        self.persistence.as_ref().is_some_and(|own| !own.forgotten && own.is_shared(upstream))
    }

    pub(super) fn forget(&mut self) {
        if let Some(keeps) = &mut self.persistence {
            keeps.forgotten = true;
        }
    }

    /// Answers a request that has changed the conversation.
    pub(super) fn reply_kept(&mut self, upstream: &Upstream, client: &Client, id: &Id, answer: Answer) {
        self.reply_noted(upstream, client, id, answer, None);
    }

    /// Answers such a request; `receipt` is dropped once the answer is written.
    pub(super) fn reply_noted(
        &mut self,
        upstream: &Upstream,
        client: &Client,
        id: &Id,
        answer: Answer,
        receipt: Option<Receipt>,
    ) {
        // The state of stateless clients is not stored after each answer.
        if upstream.context.has_session() {
            self.save(upstream);
        }
        let message = Message::Response(id.clone(), answer);
        match &self.persistence {
            Some(keeps) => keeps.saver.reply(client, id, message, receipt),
            None => client.sink.deliver(message, Some(id), receipt),
        }
    }

    /// The conversation to continue: one that another process has stored, else the current one.
    pub(super) fn known_before(&mut self) -> Option<Snapshot> {
        let kept = self.persistence.as_mut().and_then(|own| own.conversation.take());
        kept.or_else(|| self.shown.as_ref().map(|view| view.conversation.snapshot()))
    }

    /// Adopts the state that another process has stored.
    pub(super) fn changed_elsewhere(&mut self, upstream: &Upstream, record: Record) {
        let Some(keeps) = &mut self.persistence else { return };
        keeps.conversation = record.conversation;
        self.names.given.tools.join(record.names.tools);
        self.names.given.prompts.join(record.names.prompts);
        if self.shown.is_some() {
            self.build_view(upstream);
        }
    }
}

impl Servers {
    pub(super) fn has_session_at(&mut self, at: usize, session: String) {
        if let Some(server) = self.list.get_mut(at) {
            server.session = Some(session);
        }
    }
}

impl Hub {
    /// Resumes the stored session at a server. Returns `false` if there is none.
    pub(super) fn resume_server(&mut self, at: usize) -> bool {
        let Some(settings) = self.upstream.context.settings.servers.get(at) else { return false };
        let Some(stored) = self.view.persistence.as_mut().and_then(|own| own.upstreams.remove(&settings.name)) else {
            return false;
        };
        let (Some(server), Some(hello)) = (self.upstream.servers.list.get_mut(at), Object::from_json(&stored.hello))
        else {
            return false;
        };
        let (number, introduction) = (self.upstream.requests.next_id(), self.upstream.context.introduction());
        let greeting = Request::new(Id::number(number), "initialize", Some(introduction));
        let resumed = Resumed { session: stored.session.clone(), version: stored.version, hello: greeting };
        let Ok(link) = Link::resume(&settings.target, at, server.run, &self.upstream.servers.inbox, Some(resumed))
        else {
            return false;
        };
        tracing::debug!(server = settings.name, "resumed its session");
        server.link = Some(link);
        server.session = Some(stored.session);
        (server.hello, server.is_stateless) = (hello, false);
        (server.state, server.since, server.due) = (State::Ready, Some(tokio::time::Instant::now()), None);
        self.upstream.context.tell(&Observed::Server { name: self.upstream.context.server_name(at), down: None });
        self.goes_on_with(at);
        true
    }
}

/// A random first id that no other process uses, small enough for JSON readers with doubles.
fn somewhere() -> u64 {
    let mut bytes = [0; 8];
    // Without random bits, ids start at zero, and a late response could match.
    let _ = getrandom::fill(&mut bytes);
    u64::from_be_bytes(bytes) >> 24 << 12
}
