//! Lists of tools: read from every server, and returned to clients.

use tokio::time::Instant;

use super::context::Context;
use super::context::Lifecycle;
use super::pending::{For, Pages};
use super::server::backoff;
use super::upstream::Upstream;
use super::view::View;
use super::{Hub, reply};
use crate::client::Client;
use crate::link::Cause;
use crate::object::{Object, elements};
use crate::rpc::{Answer, Message, Notification, Raw, Request, code, code_of, error_member, message_of, raw};
use crate::watch::Observed;

/// Maximum number of pages read of one list: 10,000 tools in pages of ten.
const MAX_PAGES: usize = 1_000;

impl Hub {
    pub(super) fn read_tools(&mut self, at: usize) {
        let Some(server) = self.upstream.servers.get_mut(at).filter(|server| server.is_ready()) else { return };
        if !server.capabilities().has_member("tools") {
            return self.has_listed(at, super::server::ToolList { is_read: true, ..Default::default() });
        }
        self.upstream.ask_for_tools(at, Pages::default());
    }

    pub(super) fn handle_tools_page(&mut self, at: usize, mut pages: Pages, answer: Answer, cause: Option<Cause>) {
        // The server returns after the login; its earlier tools stay listed.
        if let Some(why) = answer.as_ref().err().filter(|_| cause == Some(Cause::LoginNeeded)) {
            let why = message_of(why);
            return self.closed(at, &why);
        }
        let never = answer.as_ref().is_err_and(|why| code_of(why) == Some(code::METHOD_NOT_FOUND));
        let page = answer.map_err(|why| message_of(&why));
        let page = page.and_then(|result| Object::from_json(&result).ok_or_else(|| "it is not an object".to_owned()));
        let name = self.upstream.context.server_name(at).to_owned();
        let mut beside = match page {
            Ok(page) => page,
            Err(why) => {
                let is_first = self.upstream.list_failed(at, &why, never);
                return if is_first { self.relist(true) } else { self.advance() };
            }
        };
        let cursor: Option<String> = beside.read_as("nextCursor");
        let goes_on = pages.add(elements(beside.get("tools")), cursor.as_ref());
        if cursor.is_some() {
            if goes_on && pages.before.len() < MAX_PAGES * 10 {
                return self.upstream.ask_for_tools(at, pages);
            }
            tracing::error!(server = name, "its list of tools does not end; using the tools read so far");
            let why = format!("its list of tools does not end: {} were read", pages.before.len());
            self.upstream.context.tell(&Observed::NotListed { name: &name, why: &why });
        }
        beside.remove_member("tools");
        beside.remove_member("nextCursor");
        self.has_listed(at, super::server::ToolList { tools: pages.before, beside, is_read: true });
    }

    fn has_listed(&mut self, at: usize, list: super::server::ToolList) {
        let Some(server) = self.upstream.servers.get_mut(at) else { return };
        // The list that is shown already contains an unchanged one.
        let mut changed = !server.has_list() || server.tools.differs_from(&list);
        server.tools = list;
        server.is_stale = false;
        (server.list_failures, server.due) = (0, None);
        changed |= self.upstream.check_pins(at);
        let Some(server) = self.upstream.servers.get(at) else { return };
        let capture = server.capture();
        self.upstream.remember_tools(at);
        self.upstream.context.tell(&Observed::Listed { name: self.upstream.context.server_name(at), list: &capture });
        self.relist(changed);
    }

    pub(super) fn relist(&mut self, changed: bool) {
        let sent = self.view.shown.as_ref().map(|view| view.digest.clone());
        if sent.is_some() && changed {
            self.view.build_view(&self.upstream);
            if self.view.shown.as_ref().map(|view| &view.digest) != sent.as_ref() {
                self.upstream.context.tell_list_changed("tools");
            }
        }
        self.advance();
    }
}

impl Upstream {
    /// Records that a server's tools could not be listed. Its earlier tools stay listed, and the
    /// list is requested again later, unless the server never has one. Returns whether the failure
    /// is the first in a row, which is reported.
    fn list_failed(&mut self, at: usize, why: &str, never: bool) -> bool {
        let name = self.context.server_name(at);
        let mut failures = 0;
        if let Some(server) = self.servers.get_mut(at).filter(|server| server.is_ready()) {
            server.tools.is_read = true;
            server.is_stale = false;
            server.list_failures = server.list_failures.saturating_add(1);
            failures = server.list_failures;
            server.due = (!never).then(|| Instant::now() + backoff(failures));
        }
        if failures > 1 {
            tracing::debug!(server = name, failures, "its tools cannot be listed: {why}");
            return false;
        }
        tracing::error!(server = name, "its tools cannot be listed: {why}");
        self.context.tell(&Observed::NotListed { name, why });
        true
    }

    fn ask_for_tools(&mut self, at: usize, pages: Pages) {
        let mut params = Object::default();
        if let Some(cursor) = &pages.cursor {
            params.put_value("cursor", cursor);
        }
        if self.servers.get(at).is_some_and(|server| server.is_stateless) {
            params.put_value("_meta", &self.context.own_meta());
        }
        let params = (!params.is_empty()).then(|| params.to_raw());
        self.ask_server(at, "tools/list", params, None, For::Tools(pages));
    }

    /// The result of `tools/list`, with the other members of the servers' results.
    pub(super) fn list_result(&self, array: &str) -> Raw {
        let listing: Vec<&super::server::Server> = self.servers.iter().filter(|own| own.has_list()).collect();
        let mut result = match listing.as_slice() {
            [only] => only.tools.beside.clone(),
            _ => Object::default(),
        };
        let tools = serde_json::value::RawValue::from_string(array.to_owned()).unwrap_or_else(|_| raw(&[(); 0]));
        result.set("tools", tools);
        if matches!(self.context.lifecycle, Lifecycle::Stateless { .. }) {
            let ttl = listing.iter().map(|own| own.tools.beside.read_as::<u64>("ttlMs").unwrap_or(0)).min();
            let missing = self.servers.iter().any(|own| !own.has_list());
            let public = !missing
                && listing
                    .iter()
                    .all(|own| own.tools.beside.read_as::<String>("cacheScope").as_deref() == Some("public"));
            result.put_value("resultType", "complete");
            result.put_value("ttlMs", &ttl.filter(|_| !missing).unwrap_or(0));
            result.put_value("cacheScope", if public && !listing.is_empty() { "public" } else { "private" });
        } else {
            for name in ["resultType", "ttlMs", "cacheScope"] {
                result.remove_member(name);
            }
        }
        result.to_raw()
    }
}

impl Context {
    /// Notifies the client; stateless clients through their subscriptions.
    pub(super) fn tell_list_changed(&self, list: &str) {
        if let Lifecycle::Session { client, ready: true, .. } = &self.lifecycle {
            let note = Notification::new(&format!("notifications/{list}/list_changed"), None);
            client.sink.send(Message::Notification(note), None);
        }
    }
}

impl View {
    /// Handles `tools/list`. The list is not paginated, so no cursor is valid.
    pub(super) fn list_tools_for(&mut self, client: &Client, request: &Request) {
        let params = Object::from_params(request.params.as_deref());
        if params.get("cursor").is_some_and(|cursor| cursor.get() != "null") {
            let why = "unknown cursor: the list is not paginated";
            return reply(client, &request.id, Err(error_member(code::INVALID_PARAMS, why)));
        }
        let answer = match &self.shown {
            Some(view) => Ok(view.list.clone()),
            None => Err(self.no_view()),
        };
        reply(client, &request.id, answer);
    }
}
