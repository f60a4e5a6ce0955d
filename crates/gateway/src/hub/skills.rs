//! The Skills extension of MCP (SEP-2640; its status is described in [`crate::skills`]): the
//! gateway's own skills and the servers'.
//!
//! Only servers declare the extension. The gateway declares it to every client if it has skills of
//! its own or a server has declared it. Entries and files of servers pass unchanged. No tool
//! depends on the extension.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::context::Context;
use super::context::Lifecycle;
use super::merge::Router;
use super::names::Naming;
use super::reply;
use super::server::Server;
use super::servers::Servers;
use super::upstream::Upstream;
use crate::client::Client;
use crate::object::Object;
use crate::rpc::{Answer, Raw, Request, code, error_member, raw};
use crate::skills::{EXTENSION, ServedSkills};

/// The optional method of the extension, and the setting that declares it.
const READ_FOLDER: &str = "resources/directory/read";
const READS_FOLDERS: &str = "directoryRead";

pub(super) fn is_of_extension(method: &str) -> bool {
    matches!(method, "skills/list" | "skills/get" | READ_FOLDER)
}

/// The settings of the extension that a server has declared.
fn declared(server: &Server) -> Option<Object> {
    server.capabilities().object("extensions")?.object(EXTENSION)
}

/// Whether a server supports a method of the extension; others must not receive it.
pub(super) fn offers(server: &Server, method: &str) -> bool {
    declared(server).is_some_and(|own| method != READ_FOLDER || own.read_as(READS_FOLDERS) == Some(true))
}

impl Context {
    fn own_skills(&self) -> Option<Arc<ServedSkills>> {
        self.settings.layers.skills().filter(|own| !own.is_empty())
    }

    /// Whether the client declares that it lists and loads skills itself. The extension defines no
    /// client setting, but either side may declare any extension (SEP-2133). A list for several
    /// stateless clients cannot depend on one of them.
    pub(super) fn client_hosts_skills(&self) -> bool {
        matches!(self.lifecycle, Lifecycle::Session { .. })
            && self.client_can(None, &["extensions", EXTENSION]).is_some()
    }

    pub(super) fn own_part(&self, method: &str) -> Option<Vec<Raw>> {
        let own = self.own_skills()?;
        let part = match method {
            "skills/list" => own.resource_entries(),
            "resources/list" => own.resources(),
            _ => return None,
        };
        Some(part.iter().map(raw).collect())
    }
}

impl Upstream {
    /// Declares the extension, with folders only if every part with skills reads them.
    pub(super) fn declare_skills(&self, can: &mut Value) {
        let own = self.context.own_skills();
        let mut all = self.servers.iter().filter(|server| server.is_known()).filter_map(declared).peekable();
        if own.is_none() && (self.servers.len() == 1 || all.peek().is_none()) {
            return;
        }
        let reads = all.all(|server| server.read_as(READS_FOLDERS) == Some(true));
        let Some(can) = can.as_object_mut() else { return };
        // Skills are resources, so the capability is required.
        can.entry("resources").or_insert_with(|| json!({}));
        let extensions = can.entry("extensions").or_insert_with(|| json!({}));
        if let Some(extensions) = extensions.as_object_mut() {
            let mut settings = Map::new();
            if reads {
                settings.insert(READS_FOLDERS.to_owned(), json!(true));
            }
            extensions.insert(EXTENSION.to_owned(), Value::Object(settings));
        }
    }
}

impl Router {
    /// Answers a request for the gateway's own skills. Returns `false` for others.
    pub(super) fn answered_of_skills(
        &mut self,
        upstream: &mut Upstream,
        names: &mut Naming,
        client: &Client,
        request: &Request,
    ) -> bool {
        let own = upstream.context.own_skills();
        let method = request.method.as_str();
        if matches!(method, "skills/list" | "resources/list" | "resources/templates/list") && own.is_some() {
            self.fan_out(upstream, names, client, request);
            return true;
        }
        let uri: Option<String> = Object::from_params(request.params.as_deref()).read_as("uri");
        let given = match (&own, uri.as_deref()) {
            (Some(own), Some(uri)) if ServedSkills::owns(uri) => match method {
                "skills/get" => own.entry_at(uri).map(|entry| json!({"skill": entry})),
                "resources/read" => own.read_resource(uri),
                READ_FOLDER => own.folder(uri),
                _ => return false,
            },
            // Servers with skills may know the URI; without such a server it is unknown.
            (Some(_), _)
                if is_of_extension(method) && !upstream.servers.iter().any(|server| offers(server, method)) =>
            {
                Err(format!("unknown resource {}", uri.as_deref().unwrap_or("no URI")).into())
            }
            _ => return false,
        };
        let answer: Answer = match given {
            Ok(result) => upstream.in_lifecycle(usize::MAX, Ok(raw(&result))),
            Err(why) => Err(error_member(code::INVALID_PARAMS, &why.to_string())),
        };
        reply(client, &request.id, answer);
        true
    }
}

impl Servers {
    /// The server that has listed the skill whose folder contains a URI. References within a skill
    /// never lead to another server's files.
    pub(super) fn whose_skill(&self, uri: &str) -> Option<usize> {
        let is_in = |main: &String| {
            let root = main.strip_suffix("/SKILL.md");
            root.and_then(|root| uri.strip_prefix(root)).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.list.iter().position(|server| server.listed.iter().any(is_in))
    }
}
