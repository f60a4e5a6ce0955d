//! The gateway's introduction to its client: what is known of the servers, joined.

use serde_json::{Value, json};

use super::context::Lifecycle;
use super::server::State;
use super::upstream::Upstream;
use crate::object::Object;

impl Upstream {
    /// Notifies the client that its lists of prompts and resources may have been read without this
    /// server: too late for it, or because it did not have them at its `earlier` start.
    pub(super) fn tell_late_lists(&self, at: usize, earlier: &Object) {
        let Some(server) = self.servers.get(at) else { return };
        for list in ["prompts", "resources"].into_iter().filter(|list| server.capabilities().has_member(list)) {
            if self.servers.is_late() || server.is_stale && !earlier.has_member(list) {
                self.context.tell_list_changed(list);
            }
        }
    }

    /// The servers' description for the client: the only server's, or their union.
    pub(super) fn introduced(&self) -> Object {
        let ready: Vec<&super::server::Server> = self.servers.iter().filter(|server| server.is_known()).collect();
        let mut hello = match (ready.as_slice(), self.servers.len()) {
            ([only], 1) => only.hello.clone(),
            _ => {
                let mut hello = Object::default();
                hello.put_value("serverInfo", &own_info());
                let mut instructions = Vec::new();
                for (server, settings) in self.servers.iter().zip(&self.context.settings.servers) {
                    if let Some(text) = server.hello.read_as::<String>("instructions")
                        && server.is_known()
                    {
                        instructions.push(format!("## {}\n{text}", settings.name));
                    }
                }
                if !instructions.is_empty() {
                    hello.put_value("instructions", &instructions.join("\n\n"));
                }
                hello
            }
        };
        let tells = matches!(self.context.lifecycle, Lifecycle::Session { .. });
        let mut can = if self.servers.len() > 1 { own_capabilities(tells) } else { json!({}) };
        for server in ready {
            let own: Value = server.hello.read_as("capabilities").unwrap_or_default();
            unite(&mut can, own);
        }
        // The list changes when a server restarts, and when an arm opens tools in place.
        if let Some(tools) = can.as_object_mut().map(|can| can.entry("tools").or_insert_with(|| json!({})))
            && tells
        {
            unite(tools, json!({"listChanged": true}));
        }
        if let Some(can) = can.as_object_mut().filter(|_| !tells && self.context.settings.shortens()) {
            // The links to stored results are read as resources.
            can.entry("resources").or_insert_with(|| json!({}));
        }
        self.declare_skills(&mut can);
        hello.put_value("capabilities", &can);
        hello
    }

    pub(super) fn none_is_there(&self) -> Option<String> {
        let is_there = |own: &super::server::Server| own.is_known() || own.state != State::Down;
        if self.servers.iter().any(is_there) || self.servers.list.is_empty() {
            return None;
        }
        let mut whys = Vec::new();
        for (server, own) in self.servers.iter().zip(&self.context.settings.servers) {
            whys.push(format!("`{}`: {}", own.name, server.why));
        }
        Some(format!("no server could be started: {}", whys.join("; ")))
    }
}

/// What a gateway with several servers can do, whatever they can: clients read this once, and a
/// server may introduce itself later. `tells`: whether clients are notified of changed lists.
fn own_capabilities(tells: bool) -> Value {
    let list = if tells { json!({"listChanged": true}) } else { json!({}) };
    json!({
        "tools": list,
        "prompts": list,
        "resources": list,
        "completions": {},
        "logging": {},
    })
}

pub(super) fn own_info() -> Value {
    json!({"name": "toolfold", "title": "toolfold gateway", "version": env!("CARGO_PKG_VERSION")})
}

fn unite(all: &mut Value, own: Value) {
    match (all, own) {
        (Value::Object(all), Value::Object(own)) => {
            for (name, value) in own {
                match all.get_mut(&name) {
                    Some(known) => unite(known, value),
                    None => drop(all.insert(name, value)),
                }
            }
        }
        (Value::Bool(all), Value::Bool(own)) => *all |= own,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_united() {
        let mut all = json!({"tools": {"listChanged": false}, "logging": {}});
        unite(&mut all, json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}}));
        let expected = json!({"tools": {"listChanged": true}, "logging": {}, "resources": {"subscribe": true}});
        assert_eq!(all, expected);
    }
}
