//! Calls of tools: judged by the conversation, run by the server that has the tool.

use serde_json::json;
use tokio::time::Instant;
use toolfold::conversation::{Forward, Outcome, ReplyKind};

use super::pending::{For, Running};
use super::server::{Server, State};
use super::{Era, Hub, reply};
use crate::client::Client;
use crate::object::{Object, elements};
use crate::rpc::{Answer, Id, Raw, Request, code, error, message_of, raw};
use crate::watch::Observed;

impl Hub {
    /// `tools/call`.
    pub(super) fn call(&mut self, client: &Client, request: Request) {
        let params = Object::of(request.params.as_deref());
        let Some(name) = params.read_as::<String>("name") else {
            let why = "tools/call needs `name`, a string";
            return reply(client, &request.id, Err(error(code::INVALID_PARAMS, why)));
        };
        if self.takes_up(client, &request, &params) {
            return;
        }
        let Some(view) = &mut self.view else {
            return reply(client, &request.id, Err(self.no_view()));
        };
        let nothing = raw(&json!({}));
        let arguments = params.get("arguments").filter(|own| own.get() != "null").unwrap_or(&nothing);
        let before = view.conversation.openings();
        let read = self.openings.read(before);
        // The id is the conversation's own: those of two clients may be the same.
        match view.conversation.call_unread(read, "", &name, arguments) {
            Ok(outcome) => {
                // Conversations are kept as snapshots.
                view.conversation.forget_log();
                self.decided(client, request.id, params, outcome, before);
            }
            Err(why) => reply(client, &request.id, Err(error(code::INTERNAL, &why.to_string()))),
        }
    }

    /// What the conversation decides on a call, before which it had `before` openings.
    fn decided(&mut self, client: &Client, id: Id, params: Object, outcome: Outcome, before: usize) {
        match outcome {
            Outcome::Forward(forward) => self.forward(client, id, params, forward),
            Outcome::Reply(reply) => {
                let kind = serde_json::to_value(reply.answer.kind).ok();
                let kind = kind.as_ref().and_then(serde_json::Value::as_str).unwrap_or("answered");
                self.tell(&Observed::Answered { name: &reply.name, kind });
                let mut content = reply.answer.content.to_string();
                if reply.answer.kind == ReplyKind::UnknownTool {
                    content.push_str(&self.unlisted());
                }
                let result = Ok(self.text_result(&content, reply.answer.failed));
                self.answer_in_order(client, &id, reply.id, result, before);
            }
            Outcome::Refuse(refuse) => {
                self.tell(&Observed::Answered { name: &refuse.name, kind: "refused" });
                self.reply_kept(client, &id, Ok(self.text_result(&refuse.content, true)));
            }
            Outcome::Confirm(confirm) => self.confirm(client, id, params, &confirm),
        }
    }

    /// Gives a call to the server that has the tool.
    pub(super) fn forward(&mut self, client: &Client, id: Id, mut params: Object, forward: Forward) {
        let origin = self.view.as_ref().and_then(|view| view.origins.get(forward.target.as_str())).cloned();
        let running =
            origin.as_ref().and_then(|origin| self.servers.get(origin.server)).filter(|server| server.is_ready());
        let (Some(origin), true) = (origin.clone(), running.is_some()) else {
            let why = match origin {
                Some(origin) => self.is_down(origin.server),
                None => "its server is gone".to_owned(),
            };
            if let Some(view) = &mut self.view {
                view.conversation.report_result(&forward.id, false);
            }
            return reply(client, &id, Ok(self.text_result(&format!("{} was not run: {why}", forward.name), true)));
        };
        params.put("name", &origin.tool);
        if params.has("arguments") || forward.arguments_json != "{}" {
            let arguments = serde_json::value::RawValue::from_string(forward.arguments_json);
            params.set("arguments", arguments.unwrap_or_else(|_| raw(&forward.arguments)));
        }
        let params = self.fitted(origin.server, Some(params.to_raw()));
        let what = For::Call(Box::new(Running {
            call: forward.id,
            note: forward.notes.note,
            tool: origin.tool,
            verdict: forward.context.policy,
            since: Instant::now(),
        }));
        self.ask_server(origin.server, "tools/call", params, Some((client.clone(), id)), what);
    }

    /// Servers that are down and have never listed: a tool that nobody has may be one of theirs.
    fn unlisted(&self) -> String {
        let silent = |own: &&Server| own.state == State::Down && own.tools.tools.is_empty();
        let of = self.servers.iter().zip(&self.settings.servers).filter(|(server, _)| silent(server));
        of.map(|(server, own)| format!("\nThe tools of server `{}` are not known: {}.", own.name, server.why)).collect()
    }

    /// Why a server takes no calls now.
    pub(super) fn is_down(&self, at: usize) -> String {
        let why = self.servers.get(at).map_or("", |server| server.why.as_str());
        format!("server `{}` is not there ({why}); it is being started again, try again in some seconds", self.name(at))
    }

    /// The result of a call.
    pub(super) fn called(&mut self, at: usize, client: &Client, id: &Id, running: &Running, answer: Answer) {
        let Running { call, note, tool, verdict, since } = running;
        let asks_back = answer.as_ref().is_ok_and(is_input_required);
        let failed = match &answer {
            Ok(result) => result.get().contains("\"isError\"") && is_error(result),
            Err(_) => true,
        };
        if let Some(view) = self.view.as_mut().filter(|_| !asks_back) {
            view.conversation.report_result(call, !failed);
            view.conversation.forget_log();
        }
        let verdict = serde_json::to_value(verdict).ok();
        let verdict = verdict.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
        let (server, took) = (self.name(at), since.elapsed());
        self.tell(&Observed::Called { server, tool, verdict, took, ok: !failed });
        let answer = match answer {
            // The server asks the client for something before it goes on with the call (SEP-2322).
            Ok(result) if asks_back => return reply(client, id, Ok(result)),
            Ok(result) => Ok(match note {
                Some(note) => noted(&result, note),
                None => result,
            }),
            // That the server has ended is for the model to know; what the server itself says stays what it is.
            Err(_) if self.servers.get(at).is_some_and(|server| !server.is_ready()) => {
                let why = self.servers.get(at).map_or("", |server| server.why.as_str());
                let name = self.name(at);
                let text =
                    format!("server `{name}` ended during the call ({why}): whether it was carried out is not known");
                Ok(self.text_result(&text, true))
            }
            Err(why) => Err(why),
        };
        reply(client, id, self.in_era(at, answer));
    }

    /// A result of text, in the shape of the client's version.
    pub(super) fn text_result(&self, text: &str, is_error: bool) -> Raw {
        let mut result = Object::default();
        result.put("content", &json!([{"type": "text", "text": text}]));
        if is_error {
            result.put("isError", &true);
        }
        if matches!(self.era, Era::Stateless { .. }) {
            result.put("resultType", "complete");
        }
        result.to_raw()
    }
}

/// The result with a line before it.
fn noted(result: &Raw, note: &str) -> Raw {
    let Some(mut own) = Object::read(result) else { return result.clone() };
    let mut content = elements(own.get("content"));
    content.insert(0, raw(&json!({"type": "text", "text": note})));
    own.put("content", &content);
    own.to_raw()
}

fn is_error(result: &Raw) -> bool {
    Object::read(result).and_then(|own| own.read_as("isError")).unwrap_or(false)
}

/// Whether a result says that the server needs something of the client first (SEP-2322).
pub(super) fn is_input_required(result: &Raw) -> bool {
    result.get().contains("input_required")
        && Object::read(result).and_then(|own| own.read_as::<String>("resultType")).as_deref() == Some("input_required")
}

/// The text of an error, for a line of text.
pub(super) fn why_of(error: &Raw) -> String {
    message_of(error)
}
