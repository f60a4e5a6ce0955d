//! Tools that differ from their pins: hidden, or asked about before they run.

use std::fmt::Write;

use serde_json::{Value, json};
use toolfold::conversation::Forward;
use toolfold::diagnostic::visible;

use super::client_requests::Question;
use super::context::{Context, Lifecycle};
use super::names::name_in;
use super::upstream::Upstream;
use super::view::View;
use super::{Hub, reply};
use crate::client::Client;
use crate::object::Object;
use crate::pins::{Definition, FIELDS, Withheld};
use crate::rpc::{Answer, Id, Request, raw};
use crate::settings::Origin;
use crate::watch::Observed;

/// Maximum number of withheld tools that an answer names.
const MAX_NAMED: usize = 8;

/// Maximum length of one side of a difference in a form, in characters.
const MAX_SHOWN: usize = 800;

/// The number of equal characters that a form shows before the first different one.
const SHARED: usize = 60;

/// A changed tool, and the call that needs it.
#[derive(Debug)]
pub(super) struct Change {
    server: usize,
    tool: String,
    /// The definition that the form shows.
    stated: Definition,
    params: Object,
}

impl Context {
    /// Whether the person is asked about changed tools. Stateless clients share one list, which
    /// cannot depend on what each of them can do.
    pub(super) fn asks_about_changes(&self) -> bool {
        let asks = self.settings.pins.as_ref().is_some_and(crate::pins::Pins::asks);
        asks && self.settings.elicits && matches!(self.lifecycle, Lifecycle::Session { .. }) && self.has_forms(None)
    }
}

impl Upstream {
    /// Compares a server's list with its pins. Returns whether other tools are withheld now.
    pub(super) fn check_pins(&mut self, at: usize) -> bool {
        let (Some(pins), Some(settings)) = (&self.context.settings.pins, self.context.settings.servers.get(at)) else {
            return false;
        };
        let Some(server) = self.servers.list.get_mut(at).filter(|server| server.has_list()) else { return false };
        let mut tools = Vec::new();
        for tool in &server.tools.tools {
            tools.extend(name_in(tool).map(|name| (name, tool.clone())));
        }
        let before = std::mem::replace(&mut server.withheld, pins.check_list(settings, &tools));
        let changed = !before.keys().eq(server.withheld.keys());
        if changed {
            let withheld = server.withheld.iter().map(|(tool, own)| (tool.as_str(), own.why.as_str()));
            let tools: Vec<(&str, &str)> = withheld.collect();
            let server = &settings.name;
            self.context.settings.watch.on_event(&self.context.id, &Observed::Withheld { server, tools: &tools });
        }
        changed
    }

    /// Names the withheld tools.
    pub(super) fn withheld(&self) -> String {
        let (mut text, mut count) = (String::new(), 0_usize);
        for (server, own) in self.servers.iter().zip(&self.context.settings.servers) {
            for (tool, withheld) in &server.withheld {
                count += 1;
                if count <= MAX_NAMED {
                    let (tool, server) = (visible(tool), visible(&own.name));
                    let _ = write!(text, "\nTool `{tool}` of server `{server}` is not available: {}.", withheld.why);
                }
            }
        }
        if count > MAX_NAMED {
            let _ = write!(text, "\n{} more tools are not available.", count - MAX_NAMED);
        }
        text
    }
}

impl View {
    /// Asks the person about a changed tool that a call needs, or answers that it was not run.
    pub(super) fn ask_about_change(
        &mut self,
        upstream: &mut Upstream,
        client: &Client,
        id: Id,
        params: Object,
        (forward, origin): (&Forward, &Origin),
        withheld: Withheld,
    ) {
        if let Some(view) = &mut self.shown {
            // Once the change is accepted, the call is decided again, under the new definition.
            // Until then, repeating it is of no use.
            view.conversation.report_result(&forward.id, false);
        }
        let Some((accepted, stated)) = withheld.change.filter(|_| upstream.context.asks_about_changes()) else {
            return self.not_run(upstream, client, &id, forward, &withheld.why);
        };
        let form = form(&origin.of, &origin.tool, &accepted, &stated);
        upstream.requests.running.insert((client.key, id.clone()), Vec::new());
        let change = Change { server: origin.server, tool: origin.tool.clone(), stated, params };
        let what = Question::Change(Box::new(change));
        upstream.ask_client(client.clone(), Some(id), None, "elicitation/create", Some(raw(&form)), what);
    }
}

impl Hub {
    /// Compares withheld tools again: a person may have accepted them meanwhile.
    pub(super) fn recheck_pins(&mut self) {
        let mut changed = false;
        for at in 0..self.upstream.servers.len() {
            if self.upstream.servers.get(at).is_some_and(|server| !server.withheld.is_empty()) {
                changed |= self.upstream.check_pins(at);
            }
        }
        if changed {
            self.relist(true);
        }
    }

    pub(super) fn decided_on_change(&mut self, client: &Client, of: Option<Id>, change: Change, answer: Answer) {
        let Some(id) = of else { return };
        self.upstream.requests.running.remove(&(client.key, id.clone()));
        let Change { server, tool, stated, params } = change;
        let said = answer.ok().and_then(|result| serde_json::from_str(result.get()).ok()).unwrap_or(Value::Null);
        let context = &self.upstream.context;
        let accepted = match (&context.settings.pins, context.settings.servers.get(server)) {
            (Some(pins), Some(own)) if said["action"] == "accept" && said["content"]["accept"] == true => {
                pins.accept(own, &tool, &stated).map_err(|why| format!("the change could not be stored: {why}"))
            }
            _ => Err("its changed definition was not accepted".to_owned()),
        };
        if let Err(why) = accepted {
            let text = format!("{} was not run: {why}", visible(&tool));
            return reply(client, &id, Ok(self.upstream.context.text_result(&text, true)));
        }
        self.upstream.check_pins(server);
        self.relist(true);
        self.dispatch(client, Request::new(id, "tools/call", Some(params.to_raw())));
    }
}

/// The form that shows what has changed, from the first difference on, with a checkbox, since some
/// clients accept forms automatically.
fn form(server: &str, tool: &str, accepted: &Definition, stated: &Definition) -> Value {
    let mut lines =
        vec![format!("Server `{}` has changed its tool `{}` since it was accepted.", visible(server), visible(tool))];
    for field in FIELDS.into_iter().filter(|field| accepted.get(*field) != stated.get(*field)) {
        let (before, after) = (text_of(accepted.get(field)), text_of(stated.get(field)));
        let same = before.chars().zip(after.chars()).take_while(|(one, other)| one == other).count();
        for (when, text) in [("accepted", before), ("now", after)] {
            lines.push(format!("{field}, {when}: {}", shown_from(&text, same.saturating_sub(SHARED))));
        }
    }
    json!({
        "mode": "form",
        "message": lines.join("\n"),
        "requestedSchema": {
            "type": "object",
            "properties": {"accept": {
                "type": "boolean", "title": "Accept the change and run the call",
                "description": "Leave it unchecked to reject", "default": false,
            }},
            "required": ["accept"],
        },
    })
}

fn text_of(value: Option<&Value>) -> String {
    match value {
        None => "(none)".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// A part of a text in visible characters, with the number of those that follow: what is not shown
/// must not look like nothing.
fn shown_from(text: &str, start: usize) -> String {
    let part: String = text.chars().skip(start).take(MAX_SHOWN).collect();
    let left = text.chars().count().saturating_sub(start + MAX_SHOWN);
    let before = if start > 0 { "… " } else { "" };
    let after = if left > 0 { format!(" … ({left} more characters: `toolfold pins diff`)") } else { String::new() };
    format!("{before}{}{after}", visible(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_shows_the_first_difference_and_counts_what_it_leaves_out() {
        let one = |text: String| Definition::from_iter([("description".to_owned(), Value::from(text))]);
        let (before, after) = (one("a".repeat(5_000)), one("a".repeat(4_000) + "\u{202e}evil" + &"b".repeat(2_000)));
        let message = form("s", "t", &before, &after)["message"].as_str().unwrap().to_owned();
        assert!(message.contains("evil") && !message.contains('\u{202e}'), "{message}");
        assert!(message.contains("(1265 more characters"), "{message}");
        assert!(message.len() < 4_000);
    }
}
