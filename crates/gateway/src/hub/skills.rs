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
use super::view::View;
use crate::client::Client;
use crate::object::Object;
use crate::rpc::{Answer, Raw, Request, code, error_member, raw};
use crate::skills::{ARGUMENTS, EXTENSION, ServedSkills};

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
        self.served_skills().filter(|own| !own.is_empty())
    }

    /// Whether the client declares that it lists and loads skills itself. The extension defines no
    /// client setting, but either side may declare any extension (SEP-2133). A list for several
    /// stateless clients cannot depend on one of them.
    pub(super) fn client_hosts_skills(&self) -> bool {
        matches!(self.lifecycle, Lifecycle::Session { .. })
            && self.client_can(None, &["extensions", EXTENSION]).is_some()
    }

    /// The skills that a person may start, unless the client offers skills itself.
    pub(super) fn own_prompts(&self) -> Option<Arc<ServedSkills>> {
        let own = self.served_skills().filter(|_| !self.client_hosts_skills());
        own.filter(|own| !own.prompts().is_empty())
    }

    pub(super) fn own_part(&self, method: &str) -> Option<Vec<Raw>> {
        if method == "prompts/list" {
            return Some(self.own_prompts()?.prompts().iter().map(raw).collect());
        }
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
        if let (Some(_), Some(can)) = (self.context.own_prompts(), can.as_object_mut()) {
            can.entry("prompts").or_insert_with(|| json!({}));
        }
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
        if method == "prompts/list" && upstream.context.own_prompts().is_some() {
            self.fan_out(upstream, names, client, request);
            return true;
        }
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

impl View {
    /// Starts the skill that a prompt names, in the client's conversation. Returns `false` for the
    /// prompts of servers, which take precedence.
    pub(super) fn started_skill(&mut self, upstream: &mut Upstream, client: &Client, request: &Request) -> bool {
        let params = Object::from_params(request.params.as_deref());
        let Some(name) = params.read_as::<String>("name") else { return false };
        let is_own = upstream.context.own_prompts().is_some_and(|own| own.has_prompt(&name));
        if !is_own || upstream.servers.iter().any(|server| server.has_listed(true, &name)) {
            return false;
        }
        let Some(shown) = &mut self.shown else { return false };
        let given: Option<String> = params.object("arguments").and_then(|given| given.read_as(ARGUMENTS));
        let answer: Answer = match shown.conversation.activate_by_person(&name, given.as_deref()) {
            Ok(activation) => {
                let content = json!({"type": "text", "text": activation.text});
                let result = json!({"messages": [{"role": "user", "content": content}]});
                upstream.in_lifecycle(usize::MAX, Ok(raw(&result)))
            }
            Err(why) => Err(error_member(code::INVALID_PARAMS, &why.to_string())),
        };
        self.save(upstream);
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
