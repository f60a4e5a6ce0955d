//! The request that an approval answers, and what a person sees of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::audit::{Entry, Kind, redact, redact_lines};
use crate::canonical::digest;
use crate::context::{PolicyCall, ToolOrigin};
use crate::grant::GrantTarget;
use crate::links::Links;

/// What a person is shown before approving. Part of the digest: a call that is displayed otherwise
/// needs a new approval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Displayed {
    /// The real target: the tool, or what a dispatching tool passes the call on to.
    pub target: String,
    /// The arguments in canonical form, with invisible characters escaped.
    pub arguments: String,
    /// The effects of the call, one line each.
    pub effects: Vec<String>,
    /// How the call can be undone: `snapshot`, `inverse`, `compensate`, `irreversible`.
    pub undo: String,
    /// Why it is `irreversible`, where the tool's record says `snapshot`. Empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub undo_why: String,
    /// Why the call needs approval.
    pub why: Vec<String>,
    /// What may be remembered with the approval. Empty: the call can only be approved once.
    pub remember: Vec<GrantTarget>,
    /// The paths of the call that symbolic links lead elsewhere. If one of them changes, the
    /// approval is void.
    #[serde(default, skip_serializing_if = "Links::is_empty")]
    pub links: Links,
}

/// A call that needs approval, with everything that the approval is bound to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Request {
    /// Who provides the tool.
    pub origin: ToolOrigin,
    /// The tool's name at its origin.
    pub tool: String,
    /// The digest of the tool's definition.
    pub schema_hash: String,
    /// The arguments.
    pub arguments: Value,
    /// The arguments as the model wrote them, where [`arguments`](Self::arguments) does not give
    /// that text back: integers beyond 64 bits keep their digits here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_json: Option<String>,
    /// The working folder.
    pub cwd: Option<String>,
    /// The session.
    pub session: String,
    /// The call's id, as the provider gave it. Calls of several messages may have the same.
    pub call_id: String,
    /// What distinguishes the call from others of the session with this id: the key of its message,
    /// or how many calls had the id. `None` for the first one without a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The policy's version.
    pub policy_version: String,
    /// What the person is shown.
    #[serde(rename = "shown")]
    pub displayed: Displayed,
    /// Globs over the names of arguments that the policy keeps out of the audit trail. Not part of
    /// the digest, which includes the version of the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<String>,
    /// What identifies the channel that the host gave the conversation for a person's answers, if
    /// it has one: an answer through another conversation's channel does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
}

impl Request {
    /// A request for a call of a tool, with every other field empty.
    #[must_use]
    pub fn new(origin: ToolOrigin, tool: impl Into<String>, arguments: Value) -> Self {
        Self {
            origin,
            tool: tool.into(),
            schema_hash: String::new(),
            arguments,
            arguments_json: None,
            cwd: None,
            session: String::new(),
            call_id: String::new(),
            message: None,
            policy_version: String::new(),
            displayed: Displayed::default(),
            redact: Vec::new(),
            channel: None,
        }
    }

    /// The call that it is about, as the policy sees it.
    #[must_use]
    pub fn call(&self) -> PolicyCall<'_> {
        PolicyCall { tool: &self.tool, origin: &self.origin, arguments: &self.arguments }
    }

    /// Returns the approval digest: SHA-256 over the canonical form of the request.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut parts = json!({
            "origin": self.origin, "tool": self.tool, "schema_hash": self.schema_hash, "arguments": self.arguments,
            "cwd": self.cwd, "session": self.session, "call_id": self.call_id, "policy_version": self.policy_version,
            "shown": self.displayed,
        });
        for (name, text) in
            [("arguments_json", &self.arguments_json), ("channel", &self.channel), ("message", &self.message)]
        {
            if let (Some(parts), Some(text)) = (parts.as_object_mut(), text) {
                parts.insert(name.to_owned(), json!(text));
            }
        }
        digest(&parts)
    }

    /// Whether both have one call id and the same arguments, whatever their messages.
    #[must_use]
    pub fn is_repeat_of(&self, other: &Self) -> bool {
        self.has_same_id(other) && self.has_same_arguments(other)
    }

    pub(super) fn has_same_id(&self, other: &Self) -> bool {
        self.call_id == other.call_id
            && self.session == other.session
            && self.channel == other.channel
            && self.origin == other.origin
            && self.tool == other.tool
    }

    pub(super) fn has_same_arguments(&self, other: &Self) -> bool {
        self.arguments == other.arguments && self.arguments_json == other.arguments_json
    }

    pub(super) fn redacted_arguments(&self) -> Value {
        redact(&self.arguments, &self.hidden())
    }

    fn redacted(&self, lines: &[String]) -> Vec<String> {
        redact_lines(lines, &self.arguments, &self.hidden())
    }

    /// Globs over the names of arguments that hold secrets.
    fn hidden(&self) -> Vec<&str> {
        self.redact.iter().map(String::as_str).collect()
    }

    /// The audit record of an event of the call, without secrets. `digest` is [`Request::digest`],
    /// `rule` the reasons of the decision.
    #[must_use]
    pub fn entry(&self, kind: Kind, now_ms: i64, digest: &str, rule: Option<String>) -> Entry {
        // Where symbolic links led the paths of the call, leaving out pairs that contain a secret.
        let mut links = Map::new();
        for (path, real) in self.displayed.links.iter() {
            let pair = [path.to_owned(), real.unwrap_or_default().to_owned()];
            if self.redacted(&pair) == pair {
                links.insert(path.to_owned(), json!(real));
            }
        }
        let mut entry = Entry {
            session: self.session.clone(),
            origin: Some(self.origin.clone()),
            tool: self.tool.clone(),
            call_id: self.call_id.clone(),
            digest: Some(digest.to_owned()),
            arguments: self.redacted_arguments(),
            effects: json!(self.redacted(&self.displayed.effects)),
            rule: rule.and_then(|rule| self.redacted(&[rule]).pop()),
            detail: if links.is_empty() { Value::Null } else { json!({ "links": links }) },
            undo: Some(self.displayed.undo.clone()).filter(|undo| !undo.is_empty()),
            ..Entry::new(kind, now_ms)
        };
        if let Some(message) = &self.message {
            entry.add_detail("message", json!(message));
        }
        entry
    }

    /// The request without secrets: what is kept once its call is over.
    pub(super) fn cut(self) -> Self {
        let arguments = self.redacted_arguments();
        let displayed = Displayed {
            arguments: self.redacted(std::slice::from_ref(&self.displayed.arguments)).concat(),
            effects: self.redacted(&self.displayed.effects),
            why: self.redacted(&self.displayed.why),
            remember: Vec::new(),
            links: Links::default(),
            ..self.displayed.clone()
        };
        Self { arguments, arguments_json: None, displayed, ..self }
    }
}
