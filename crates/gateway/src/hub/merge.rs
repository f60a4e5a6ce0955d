//! Requests that several servers answer together: lists of resources and prompts, and settings.

use std::collections::{HashMap, HashSet};

use super::names::Naming;
use super::names::renamed;
use super::pending::{For, Pages};
use super::reply;
use super::route::offers;
use super::server::Server;
use super::upstream::Upstream;
use crate::client::Client;
use crate::names::{Kind, Wanted};
use crate::object::{Object, elements};
use crate::rpc::{Answer, Id, Raw, Request, message_of, raw};

/// Maximum number of pages read of one server's list.
const MAX_PAGES: usize = 100;

#[derive(Debug)]
pub(super) struct FanOut {
    client: Client,
    id: Id,
    method: String,
    params: Option<Raw>,
    /// The elements of each server, in the order of the servers; `None` until it has answered.
    parts: Vec<(usize, Option<Vec<Raw>>)>,
    why: Option<Raw>,
    /// The servers that returned an error: their lists may be incomplete.
    failed: HashSet<usize>,
    /// The request that required the list and continues once the names are known.
    then: Option<Request>,
}

impl FanOut {
    /// Whether this is a client's request with the given key.
    pub(super) fn is_of(&self, (key, id): &(u64, Id)) -> bool {
        self.client.key == *key && self.id == *id
    }
}

fn list_of(method: &str) -> Option<&'static str> {
    match method {
        "resources/list" => Some("resources"),
        "resources/templates/list" => Some("resourceTemplates"),
        "prompts/list" => Some("prompts"),
        "skills/list" => Some("skills"),
        _ => None,
    }
}

fn key_of(method: &str) -> &'static str {
    match method {
        "resources/list" | "skills/list" => "uri",
        "resources/templates/list" => "uriTemplate",
        _ => "name",
    }
}

impl Server {
    /// Whether the server has listed a prompt with this name, or another element with this URI.
    pub(super) fn has_listed(&self, is_prompt: bool, name: &str) -> bool {
        if is_prompt { self.prompts.contains(name) } else { self.listed.contains(name) }
    }
}

/// Routes all requests except tool calls to the servers that answer them.
#[derive(Default)]
pub(super) struct Router {
    pub(super) fans: HashMap<u64, FanOut>,
}

impl Router {
    pub(super) fn fan_out(&mut self, upstream: &mut Upstream, names: &mut Naming, client: &Client, request: &Request) {
        self.ask_all(upstream, names, client, request, None);
    }

    /// Lists the prompts of all servers, then continues a request that uses a displayed name.
    pub(super) fn list_prompts_for(
        &mut self,
        upstream: &mut Upstream,
        names: &mut Naming,
        client: &Client,
        request: Request,
    ) {
        let mut params = Object::default();
        if let Some(mut meta) = Object::from_params(request.params.as_deref()).object("_meta") {
            // Progress belongs to the request itself.
            meta.remove_member("progressToken");
            params.set("_meta", meta.to_raw());
        }
        let params = (!params.is_empty()).then(|| params.to_raw());
        let list = Request { method: "prompts/list".to_owned(), params, ..request.clone() };
        self.ask_all(upstream, names, client, &list, Some(request));
    }

    fn ask_all(
        &mut self,
        upstream: &mut Upstream,
        names: &mut Naming,
        client: &Client,
        request: &Request,
        then: Option<Request>,
    ) {
        let mut asked = Vec::new();
        for (at, server) in upstream.servers.iter().enumerate() {
            if server.is_ready() && offers(server, &request.method) {
                asked.push(at);
            }
        }
        let fan = upstream.requests.next_id();
        let mut params = Object::from_params(request.params.as_deref());
        // The merged list is not paginated.
        params.remove_member("cursor");
        let params = (!params.is_empty()).then(|| params.to_raw());
        // The gateway's own elements belong to no server. Except for prompts, they come first.
        let own = upstream.context.own_part(&request.method).map(|own| (usize::MAX, Some(own)));
        let mut parts: Vec<(usize, Option<Vec<Raw>>)> = asked.iter().map(|at| (*at, None)).collect();
        // A server's prompt takes precedence over a skill of the same name.
        let at = if request.method == "prompts/list" { parts.len() } else { 0 };
        if let Some(own) = own {
            parts.insert(at, own);
        }
        let (client, id, method) = (client.clone(), request.id.clone(), request.method.clone());
        self.fans.insert(
            fan,
            FanOut {
                client: client.clone(),
                id: id.clone(),
                method: method.clone(),
                params: params.clone(),
                parts,
                why: None,
                failed: HashSet::new(),
                then,
            },
        );
        for at in asked {
            let params = upstream.fitted(at, params.clone());
            upstream.ask_server(
                at,
                &method,
                params,
                Some((client.clone(), id.clone())),
                For::Part { fan, pages: Pages::default() },
            );
        }
        self.complete(upstream, names, fan);
    }

    pub(super) fn part(
        &mut self,
        upstream: &mut Upstream,
        names: &mut Naming,
        at: usize,
        fan: u64,
        mut pages: Pages,
        answer: Answer,
    ) {
        let Some(own) = self.fans.get(&fan) else { return };
        let (method, mut params) = (own.method.clone(), Object::from_params(own.params.as_deref()));
        let of = Some((own.client.clone(), own.id.clone()));
        match (answer, list_of(&method)) {
            (Ok(result), Some(list)) => {
                let page = Object::from_json(&result).unwrap_or_default();
                let cursor = page.read_as::<String>("nextCursor");
                let goes_on = pages.add(elements(page.get(list)), cursor.as_ref());
                if goes_on && pages.before.len() < MAX_PAGES * 100 {
                    params.put_value("cursor", &cursor);
                    let params = upstream.fitted(at, Some(params.to_raw()));
                    upstream.ask_server(at, &method, params, of, For::Part { fan, pages });
                    return;
                }
                self.add_part(fan, at, pages.before);
            }
            (Ok(_), None) => self.add_part(fan, at, pages.before),
            (Err(why), _) => {
                tracing::warn!(
                    server = upstream.context.server_name(at),
                    method,
                    "omitted from the response: {}",
                    message_of(&why)
                );
                if let Some(own) = self.fans.get_mut(&fan) {
                    own.why.get_or_insert(why);
                    own.failed.insert(at);
                }
                self.add_part(fan, at, pages.before);
            }
        }
        self.complete(upstream, names, fan);
    }

    fn add_part(&mut self, fan: u64, at: usize, list: Vec<Raw>) {
        if let Some(own) = self.fans.get_mut(&fan)
            && let Some((_, part)) = own.parts.iter_mut().find(|(server, _)| *server == at)
        {
            *part = Some(list);
        }
    }

    fn complete(&mut self, upstream: &mut Upstream, names: &mut Naming, fan: u64) {
        if self.fans.get(&fan).is_none_or(|own| own.parts.iter().any(|(_, part)| part.is_none())) {
            return;
        }
        let Some(FanOut { client, id, method, parts, why, failed, then, .. }) = self.fans.remove(&fan) else { return };
        let mut result = Object::default();
        let Some(list) = list_of(&method) else {
            let answer = match why {
                Some(why) => Err(why),
                None => upstream.in_lifecycle(usize::MAX, Ok(raw(&serde_json::json!({})))),
            };
            return reply(&client, &id, answer);
        };
        let (key, mut seen, mut all) = (key_of(&method), HashSet::new(), Vec::new());
        let mut parts: Vec<(usize, Vec<(String, Raw)>)> =
            parts.into_iter().map(|(at, own)| (at, keyed(own.unwrap_or_default(), key))).collect();
        let is_prompt = method == "prompts/list";
        if is_prompt {
            let of_servers = parts.partition_point(|(at, _)| *at < upstream.servers.len());
            if let Some(of_servers) = parts.get_mut(..of_servers) {
                names.rename_prompts(upstream, of_servers, &failed);
            }
        }
        for (at, own) in parts {
            for (name, element) in own {
                // An element belongs to the server that listed it first in this conversation, even
                // if the server no longer lists it.
                let mut servers = upstream.servers.iter().enumerate();
                let is_of_other = servers.any(|(own, server)| own != at && server.has_listed(is_prompt, &name));
                if is_of_other || !seen.insert(name.clone()) {
                    tracing::warn!(
                        server = upstream.context.server_name(at),
                        name,
                        "omitted: another server listed it first"
                    );
                    continue;
                }
                if let Some(server) = upstream.servers.get_mut(at) {
                    if is_prompt {
                        server.prompts.insert(name)
                    } else {
                        server.listed.insert(name)
                    };
                }
                all.push(element);
            }
        }
        if let Some(request) = then {
            return upstream.route_to_one(&client, request);
        }
        result.put_value(list, &all);
        reply(&client, &id, upstream.in_lifecycle(usize::MAX, Ok(result.to_raw())));
    }
}

impl Naming {
    pub(super) fn rename_prompts(
        &mut self,
        upstream: &mut Upstream,
        parts: &mut [(usize, Vec<(String, Raw)>)],
        failed: &HashSet<usize>,
    ) {
        for (settings, server) in upstream.context.settings.servers.iter().zip(upstream.servers.iter()) {
            // A server without prompts has an empty list.
            if server.is_ready() && !offers(server, "prompts/list") {
                upstream.context.settings.names.remember_names(Kind::Prompts, settings, &[]);
            }
        }
        for (at, own) in &*parts {
            let names: Vec<String> = own.iter().map(|(name, _)| name.clone()).collect();
            let has_listed = !failed.contains(at) || !names.is_empty();
            if let Some(settings) = upstream.context.settings.servers.get(*at)
                && has_listed
            {
                upstream.context.settings.names.remember_names(Kind::Prompts, settings, &names);
            }
        }
        let mut wanted = Vec::new();
        for (at, own) in &*parts {
            wanted.extend(own.iter().map(|(raw, _)| Wanted { server: *at, raw: raw.clone() }));
        }
        let mut named = self.names_of_wanted(&upstream.context, Kind::Prompts, &wanted).into_iter();
        for (at, own) in parts {
            own.retain_mut(|(name, element)| {
                // A prompt beyond the limit of stored names is omitted.
                let Some(shown) = named.next().flatten() else { return false };
                if shown != *name {
                    *element = renamed(element, name, &shown);
                    if let Some(server) = upstream.servers.get_mut(*at) {
                        server.renamed.insert(shown.clone(), std::mem::take(name));
                    }
                    *name = shown;
                }
                true
            });
        }
    }
}

/// Pairs elements with their identifiers; elements without one are omitted.
fn keyed(elements: Vec<Raw>, key: &str) -> Vec<(String, Raw)> {
    let named = |element: Raw| Some((Object::from_json(&element)?.read_as::<String>(key)?, element));
    elements.into_iter().filter_map(named).collect()
}
