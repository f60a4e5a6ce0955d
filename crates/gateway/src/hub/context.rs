//! The context of a hub: the settings, the conversation's id and the lifecycle of its clients.

use tokio::sync::mpsc;

use crate::client::{Client, ToHub};
use crate::object::Object;
use crate::rpc::Id;
use crate::settings::Settings;
use crate::watch::Observed;

#[derive(Debug)]
pub(super) enum Lifecycle {
    /// No client has sent a message yet.
    Unknown,
    /// `initialize`: one client, whose parameters are sent to every server.
    Session {
        client: Client,
        params: Object,
        /// The `initialize` request to answer once the servers are initialized; `None` after that.
        asks: Option<Id>,
        /// Whether the client has sent `notifications/initialized`.
        ready: bool,
    },
    /// Stateless protocol (2026-07-28), with the first request's `_meta` for own requests.
    Stateless { meta: Object },
}

pub(super) struct Context {
    pub(super) settings: Settings,
    /// Names the conversation in log and audit.
    pub(super) id: String,
    /// What stored results are bound to: the conversation, or this process if it is not stored.
    pub(super) session: String,
    pub(super) lifecycle: Lifecycle,
    /// Where clients send their messages, and threads what they have made.
    pub(super) hub: mpsc::WeakSender<ToHub>,
}

impl Context {
    /// The context of a conversation that no client has joined. `is_kept`: whether another process
    /// may continue it.
    pub(super) fn new(settings: Settings, id: String, is_kept: bool, hub: &mpsc::Sender<ToHub>) -> Self {
        let mut session = id.clone();
        if !is_kept {
            let mut bits = [0; 16];
            // Without random bits, results are still bound to the id and the key.
            let _ = getrandom::fill(&mut bits);
            session.extend(bits.iter().map(|byte| format!("{byte:02x}")));
        }
        Self { settings, id, session, lifecycle: Lifecycle::Unknown, hub: hub.downgrade() }
    }

    pub(super) fn knows_the_clients(&self) -> bool {
        !matches!(self.lifecycle, Lifecycle::Unknown)
    }

    pub(super) fn has_session(&self) -> bool {
        matches!(self.lifecycle, Lifecycle::Session { .. })
    }

    pub(super) fn tell(&self, what: &Observed<'_>) {
        self.settings.watch.on_event(&self.id, what);
    }

    pub(super) fn server_name(&self, server: usize) -> &str {
        self.settings.servers.get(server).map_or("?", |own| own.name.as_str())
    }
}
