//! The view: all servers' tools as one catalogue, under the gateway's layers.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolfold::catalog::{Catalog, Format};
use toolfold::conversation::{Conversation, Snapshot};
use toolfold::diagnostic::Severity;
use toolfold::policy::Approver;
use toolfold::profile::Delivery;

use super::context::Context;
use super::context::Lifecycle;
use super::names::Naming;
use super::persistence::Persistence;
use super::unread::Openings;
use super::upstream::Upstream;
use crate::clients;
use crate::error::GatewayError;
use crate::rpc::{Raw, code, error_member};
use crate::settings::{Opened, Origin};
use crate::version::STATELESS;
use crate::watch::Observed;

/// The least time between two checks for changed skills during calls of servers' tools: a check
/// takes about 100 system calls, which is more time than the rest of a call.
const SKILLS_AGE: Duration = Duration::from_secs(1);

pub(super) struct View {
    /// The shown list; `None` until every server has listed its tools.
    pub(super) shown: Option<Shown>,
    unavailable: Option<String>,
    pub(super) names: Naming,
    pub(super) openings: Openings,
    /// Stores the conversation; `None` if it is not stored.
    pub(super) persistence: Option<Persistence>,
    /// When changed skills were last looked for.
    skills_read: Instant,
}

/// The conversation over the tools of all servers, and the list that clients read.
pub(super) struct Shown {
    pub(super) conversation: Conversation,
    pub(super) approver: Option<Arc<Approver>>,
    /// Tools to mark for clients that defer the others; `None` if no tool is marked.
    always_load: Option<BTreeSet<String>>,
    /// The origin of each tool, by its name in the catalogue.
    pub(super) origins: BTreeMap<String, Origin>,
    pub(super) list: Raw,
    pub(super) digest: String,
}

impl View {
    pub(super) fn new(names: Naming, openings: Openings) -> Self {
        Self { shown: None, unavailable: None, names, openings, persistence: None, skills_read: Instant::now() }
    }

    /// Whether no list has been built, and none has failed.
    pub(super) fn is_untried(&self) -> bool {
        self.shown.is_none() && self.unavailable.is_none()
    }

    /// Builds the view from the servers' lists. The conversation continues in the new view.
    pub(super) fn build_view(&mut self, upstream: &Upstream) {
        if upstream.context.settings.layers.only_lists() {
            self.unavailable = Some("tools are not shown here".to_owned());
            return;
        }
        if upstream.context.client_hosts_skills() {
            upstream.context.settings.layers.hosts_skills(&upstream.context.id);
        }
        let (catalog, origins) = self.names.merged(upstream);
        let before = self.known_before();
        let opened = self.open_layers(upstream, catalog, &origins, before);
        match opened.and_then(|opened| upstream.context.restricted(opened)) {
            // Opening tools in place requires a notification, which stateless clients do not
            // receive: the next request may be another client's.
            Ok(Opened { conversation, .. }) if upstream.context.is_untellable(&conversation) => {
                let why = format!(
                    "arm {} opens tools in the list itself, which requires a session, and this client uses {STATELESS}; \
                     use another arm, such as stable",
                    conversation.arm()
                );
                tracing::error!("the tools cannot be shown: {why}");
                (self.shown, self.unavailable) = (None, Some(why));
            }
            Ok(Opened { mut conversation, approver, diagnostics, always_load }) => {
                if matches!(upstream.context.lifecycle, Lifecycle::Stateless { .. }) {
                    conversation.shared_by_models();
                }
                if self.persistence.as_ref().is_some_and(|own| own.is_shared(upstream)) {
                    conversation.shared_by_processes();
                }
                for noticed in diagnostics.iter().filter(|own| own.severity >= Severity::Warning) {
                    match &noticed.help {
                        Some(help) => tracing::warn!("{}; {help}", noticed.message),
                        None => tracing::warn!("{}", noticed.message),
                    }
                }
                tracing::info!(arm = %conversation.arm(), tools = origins.len(), "{}", conversation.reason());
                let tools = conversation.tools();
                let array = upstream.context.with_read_tool(tools.json());
                let marked = clients::marked(&array, always_load.as_ref(), |name| origins.contains_key(name));
                let (list, digest) = (upstream.list_result(&marked), tools.digest().to_owned());
                let full = conversation.engine().catalog().to_json(Format::Mcp);
                upstream.context.tell(&Observed::Shown {
                    arm: conversation.arm(),
                    reason: conversation.reason(),
                    tools: origins.len(),
                    list: &array,
                    full: &full,
                });
                self.shown = Some(Shown { conversation, approver, always_load, origins, list, digest });
            }
            // The previous view, and the policy that decides on its calls, stay in use.
            Err(why) => {
                tracing::error!("the tools cannot be shown: {why}");
                self.unavailable = Some(why.to_string());
            }
        }
    }

    /// Opens the conversation over these tools. It starts anew if stored state does not fit the
    /// configuration: the client's session is worth more than the opened tools.
    fn open_layers(
        &self,
        upstream: &Upstream,
        catalog: Catalog,
        origins: &BTreeMap<String, Origin>,
        before: Option<Snapshot>,
    ) -> Result<Opened, GatewayError> {
        let layers = &upstream.context.settings.layers;
        if before.is_none() || self.shown.is_some() {
            return layers.open_conversation(catalog, origins, before, &upstream.context.id);
        }
        layers.open_conversation(catalog.clone(), origins, before, &upstream.context.id).or_else(|why| {
            tracing::warn!("starting the conversation anew: {why}");
            layers.open_conversation(catalog, origins, None, &upstream.context.id)
        })
    }

    /// The error that is returned while there is no list.
    pub(super) fn no_view(&self) -> Raw {
        let why = self.unavailable.as_deref().unwrap_or("see the gateway's log");
        error_member(code::INTERNAL, &format!("the tools cannot be shown: {why}"))
    }

    /// Reads changed skills before a call of a tool: always if the tool is the gateway's own, else
    /// if they were last looked for a second ago.
    pub(super) fn reload_skills_before(&mut self, upstream: &Upstream, tool: &str) {
        let is_a_servers = self.shown.as_ref().is_some_and(|view| view.origins.contains_key(tool));
        if !is_a_servers || self.skills_read.elapsed() >= SKILLS_AGE {
            self.reload_skills(upstream);
        }
    }

    /// Reads changed skills, and updates the list if it contains other skills then.
    pub(super) fn reload_skills(&mut self, upstream: &Upstream) {
        self.skills_read = Instant::now();
        if self.shown.as_mut().is_some_and(|view| view.conversation.reload_skills().is_some()) {
            self.show_changed(upstream);
        }
    }

    /// Updates the list after an answer that may have opened tools in place.
    pub(super) fn reshow(&mut self, upstream: &Upstream) {
        if self.shown.as_ref().is_some_and(|view| view.conversation.arm().delivery() == Delivery::InPlace) {
            self.show_changed(upstream);
        }
    }

    fn show_changed(&mut self, upstream: &Upstream) {
        let Some(view) = &mut self.shown else { return };
        let tools = view.conversation.tools();
        if tools.digest() == view.digest {
            return;
        }
        let (array, digest) = (upstream.context.with_read_tool(tools.json()), tools.digest().to_owned());
        upstream.context.tell(&Observed::Reshown { list: &array });
        let marked = self.shown.as_ref().map_or(Cow::Borrowed(array.as_str()), |view| {
            clients::marked(&array, view.always_load.as_ref(), |name| view.origins.contains_key(name))
        });
        let list = upstream.list_result(&marked);
        if let Some(view) = &mut self.shown {
            (view.list, view.digest) = (list, digest);
        }
        upstream.context.tell_list_changed("tools");
    }
}

impl Context {
    pub(super) fn is_untellable(&self, conversation: &Conversation) -> bool {
        matches!(self.lifecycle, Lifecycle::Stateless { .. }) && conversation.arm().delivery() == Delivery::InPlace
    }
}
