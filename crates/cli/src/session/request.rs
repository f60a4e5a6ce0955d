//! The requests of the protocol.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use serde_json::value::RawValue;
use toolfold::conversation::{ApprovalId, CallId, LOG_VERSION, OLDEST_LOG_VERSION, Snapshot};

use super::part::{Members, Part, Problem, line_members, member, unknown_key};

/// A request: an object with one key, which names its kind.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub(super) enum Request<'l> {
    /// The array to send next. It is recorded as shown to the model.
    Tools(#[schemars(schema_with = "tools_schema")] ToolsAsked),
    /// One call that the model made.
    Call(#[schemars(with = "CallAsked<'l>")] Keyed<CallAsked<'l>>),
    /// The calls of one assistant message, in the model's order.
    Calls(#[schemars(with = "Vec<CallAsked<'l>>")] Keyed<Vec<CallAsked<'l>>>),
    /// One assistant message in the wire's format.
    Message(#[schemars(with = "Value")] Keyed<&'l RawValue>),
    /// The result of a forwarded call, to be wrapped for the wire.
    Result(ResultGiven),
    /// The host ran a forwarded call and wraps the result itself.
    Finished(Finished),
    /// The host paused a forwarded call and will rebuild its message: the call is forwarded again.
    Pause(#[schemars(with = "String")] CallId),
    /// Kills the script that the session runs for this call. The line of the call is answered when
    /// the script has ended.
    Cancel(#[schemars(with = "String")] CallId),
    /// Approves the call that waits under this approval.
    Accept(#[schemars(with = "String")] ApprovalId),
    /// Rejects it.
    Reject(#[schemars(schema_with = "reject_schema")] Rejection),
    /// Resume with the decision that was made elsewhere.
    Resume(#[schemars(with = "String")] ApprovalId),
    /// The same as `resume`.
    Answered(#[schemars(with = "String")] ApprovalId),
    /// Activates a skill that a person named, also one that the model may not activate.
    Activate(ActivateAsked),
    /// Approves a skill that requires approval, for the rest of the conversation.
    ApproveSkill(String),
    /// The messages of the next request, or that request: tools whose schemas they no longer
    /// contain count as closed.
    Seen(#[schemars(with = "Value")] &'l RawValue),
    /// The same for a host with another message format: the calls whose answers the model still
    /// sees in full.
    SeenCalls(#[schemars(with = "Vec<String>")] Vec<CallId>),
    /// The schemas of all expanded tools, as text for the model.
    Redeliver(Yes),
    /// A conversation of a sub-agent with only some of the tools, to restore in another session.
    Child(ChildAsked),
    /// The state of the conversation, to store.
    Snapshot(Yes),
    /// Restore a stored state.
    Restore(#[schemars(with = "serde_json::Map<String, Value>")] Box<Snapshot>),
    /// The arm and its reason, the expanded tools, waiting calls, notes.
    Explain(Yes),
    /// All events.
    Log(Yes),
}

/// All kinds of requests, each with an example.
pub(super) const REQUESTS: [(&str, &str); 22] = [
    ("tools", r#"{"tools":true}"#),
    ("call", r#"{"call":{"id":"c1","name":"read_excel","arguments":{"file_path":"a.xlsx"}}}"#),
    ("calls", r#"{"calls":[{"id":"c1","name":"read_excel","arguments":{"file_path":"a.xlsx"}}]}"#),
    ("message", r#"{"message":{"role":"assistant","content":"Done."},"key":"msg_1"}"#),
    ("result", r#"{"result":{"id":"c1","content":"3 sheets","is_error":false}}"#),
    ("finished", r#"{"finished":{"id":"c1","ok":true}}"#),
    ("pause", r#"{"pause":"c1"}"#),
    ("cancel", r#"{"cancel":"c1"}"#),
    ("accept", r#"{"accept":"ap-1"}"#),
    ("reject", r#"{"reject":{"id":"ap-1","reason":"keep the file"}}"#),
    ("resume", r#"{"resume":"ap-1"}"#),
    ("answered", r#"{"answered":"ap-1"}"#),
    ("activate", r#"{"activate":{"name":"format-basic","arguments":"the header"}}"#),
    ("approve_skill", r#"{"approve_skill":"format-basic"}"#),
    ("seen", r#"{"seen":[{"role":"user","content":"Go on."}]}"#),
    ("seen_calls", r#"{"seen_calls":["c1"]}"#),
    ("redeliver", r#"{"redeliver":true}"#),
    ("child", r#"{"child":{"allowed":["read_excel"]}}"#),
    ("snapshot", r#"{"snapshot":true}"#),
    ("restore", r#"{"restore":{"version":3,"state":{}}}"#),
    ("explain", r#"{"explain":true}"#),
    ("log", r#"{"log":true}"#),
];

/// The additional key of a line: an id that is unique for each assistant message.
pub(super) const KEY: &str = "key";

pub(super) const KEYED: [&str; 3] = ["call", "calls", "message"];

/// Calls with the key of their message.
#[derive(Debug)]
pub(super) struct Keyed<T> {
    pub(super) asked: T,
    pub(super) key: Option<String>,
}

/// What `tools` returns besides the array.
#[derive(Debug, Default)]
pub(super) struct ToolsAsked {
    /// Its tokens.
    pub(super) count: bool,
    /// The tools in neutral form.
    pub(super) entries: bool,
}

/// A call of a line.
#[derive(Debug, JsonSchema)]
#[schemars(rename = "Call", deny_unknown_fields)]
pub(super) struct CallAsked<'l> {
    /// The provider's id of the call. Calls of other messages may have the same id. If it is empty,
    /// the conversation chooses one.
    #[schemars(with = "String")]
    pub(super) id: CallId,
    /// The name that the model wrote.
    pub(super) name: String,
    /// The arguments: an object, or its JSON text as in Chat Completions. Absent and null mean an
    /// empty object.
    #[schemars(with = "Option<Value>", extend("default" = null))]
    pub(super) arguments: Option<&'l RawValue>,
}

/// A skill that a person named.
#[derive(Debug, JsonSchema)]
#[schemars(rename = "Activate", deny_unknown_fields)]
pub(super) struct ActivateAsked {
    /// The skill, or `name@scope` for a copy.
    pub(super) name: String,
    /// The arguments, as the person wrote them after the name.
    #[schemars(extend("default" = null))]
    pub(super) arguments: Option<String>,
}

/// A sub-agent's tools.
#[derive(Debug, JsonSchema)]
#[schemars(rename = "Child", deny_unknown_fields)]
pub(super) struct ChildAsked {
    /// The tools that it may use, by the names that the model sees or the host's. Without
    /// `expand_tools` all are shown in full. With `activate_skill` it has all skills, with
    /// `skill:NAME` one.
    pub(super) allowed: Vec<String>,
}

/// A tool's result.
#[derive(Debug, JsonSchema)]
#[schemars(rename = "Result", deny_unknown_fields)]
pub(super) struct ResultGiven {
    /// The call.
    #[schemars(with = "String")]
    pub(super) id: CallId,
    /// The text for the model; any other value is passed as JSON text.
    #[schemars(with = "Value")]
    pub(super) content: String,
    /// Whether the tool failed.
    #[schemars(default)]
    pub(super) is_error: bool,
}

/// The result of a forwarded call that the host wraps itself.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Finished {
    /// The call.
    #[schemars(with = "String")]
    pub(super) id: CallId,
    /// Whether it succeeded.
    pub(super) ok: bool,
    /// Whether the tool never received it, because its server was unavailable. Only with
    /// `"ok": false`.
    #[schemars(default)]
    pub(super) not_run: bool,
}

#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) id: ApprovalId,
    /// The reason, which the model reads.
    pub(super) reason: Option<String>,
}

/// `true`, for a key that needs no value.
#[derive(Debug)]
pub(super) struct Yes;

impl JsonSchema for Yes {
    fn schema_name() -> Cow<'static, str> {
        "Yes".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"const": true})
    }
}

fn tools_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"const": true}, {"type": "object", "additionalProperties": false, "properties": {
        "count": {"type": "boolean", "description": "Count the array's tokens.", "default": false},
        "entries": {"type": "boolean", "description": "Give the tools in neutral form, too.", "default": false},
    }}]})
}

fn reject_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": false, "required": ["id"],
    "properties": {
        "id": {"type": "string", "description": "The approval."},
        "reason": {"type": ["string", "null"], "description": "Why; the model reads it."},
    }}]})
}

impl<'l> Request<'l> {
    pub(super) fn read_request(text: &'l str) -> Result<Self, Problem> {
        let mut members = line_members(text)?;
        let mut known = REQUESTS.map(|(name, _)| name).to_vec();
        known.push(KEY);
        if let Some((key, _)) = members.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            return Err(unknown_key("", key, &known));
        }
        let key = members.iter().position(|(name, _)| name == KEY).map(|at| members.remove(at).1);
        let Some((name, part)) = members.pop() else {
            return Err(Problem::new("expected an object with one key, found an empty one"));
        };
        if let Some((other, _)) = members.first() {
            return Err(Problem::new(format!("a line is one request, found `{other}` and `{name}`")));
        }
        if key.is_some() && !KEYED.contains(&name.as_str()) {
            let why = format!("`{KEY}` is not supported for `{name}`");
            return Err(Problem::new(why).help(format!("use `{KEY}` with {}", KEYED.join(", "))));
        }
        let key = key.map(|part| part.as_text()).transpose()?;
        Self::from_member(&name, &part, key).map_err(|why| match REQUESTS.iter().find(|(own, _)| *own == name) {
            Some((_, example)) if why.help.is_none() => why.help(format!("such as {example}")),
            _ => why,
        })
    }

    fn from_member(name: &str, part: &Part<'l>, key: Option<String>) -> Result<Self, Problem> {
        Ok(match name {
            "tools" => Self::Tools(tools_request(part)?),
            "call" => Self::Call(Keyed { asked: call_request(part)?, key }),
            "calls" => {
                let asked = part.as_list("calls")?.iter().map(call_request).collect::<Result<_, _>>()?;
                Self::Calls(Keyed { asked, key })
            }
            "message" => Self::Message(Keyed { asked: part.raw, key }),
            "pause" => Self::Pause(part.as_text()?.into()),
            "cancel" => Self::Cancel(part.as_text()?.into()),
            "result" => Self::Result(result(part)?),
            "finished" => Self::Finished(finished(part)?),
            "accept" => Self::Accept(approval(part)?),
            "reject" => Self::Reject(rejection(part)?),
            "resume" => Self::Resume(approval(part)?),
            "answered" => Self::Answered(approval(part)?),
            "activate" => Self::Activate(activate_request(part)?),
            "approve_skill" => Self::ApproveSkill(part.as_text()?),
            "seen" => Self::Seen(part.raw),
            "seen_calls" => {
                let ids = part.as_list("call ids")?;
                Self::SeenCalls(ids.iter().map(|id| Ok(id.as_text()?.into())).collect::<Result<_, Problem>>()?)
            }
            "redeliver" => Self::Redeliver(yes(part)?),
            "child" => Self::Child(child_request(part)?),
            "snapshot" => Self::Snapshot(yes(part)?),
            "restore" => Self::Restore(snapshot(part)?),
            "explain" => Self::Explain(yes(part)?),
            "log" => Self::Log(yes(part)?),
            other => return Err(unknown_key("", other, &REQUESTS.map(|(name, _)| name))),
        })
    }
}

fn yes(part: &Part<'_>) -> Result<Yes, Problem> {
    if part.raw.get() == "true" { Ok(Yes) } else { Err(part.expected("true")) }
}

fn tools_request(part: &Part<'_>) -> Result<ToolsAsked, Problem> {
    if part.raw.get() == "true" {
        return Ok(ToolsAsked::default());
    }
    if !part.raw.get().starts_with('{') {
        return Err(part.expected("true, or an object with `count` or `entries`"));
    }
    let members = part.object(&[], &["count", "entries"])?;
    Ok(ToolsAsked { count: flag(&members, "count")?, entries: flag(&members, "entries")? })
}

fn call_request<'l>(part: &Part<'l>) -> Result<CallAsked<'l>, Problem> {
    let members = part.object(&["id", "name"], &["arguments"])?;
    let name = member(&members, "name").map_or_else(|| Err(part.expected("an object")), Part::as_text)?;
    let arguments = member(&members, "arguments").map(|part| part.raw).filter(|raw| raw.get() != "null");
    Ok(CallAsked { id: call_id(&members)?.into(), name, arguments })
}

fn activate_request(part: &Part<'_>) -> Result<ActivateAsked, Problem> {
    let members = part.object(&["name"], &["arguments"])?;
    let name = member(&members, "name").map_or_else(|| Err(part.expected("an object")), Part::as_text)?;
    let given = member(&members, "arguments").filter(|given| given.raw.get() != "null");
    Ok(ActivateAsked { name, arguments: given.map(Part::as_text).transpose()? })
}

fn child_request(part: &Part<'_>) -> Result<ChildAsked, Problem> {
    let members = part.object(&["allowed"], &[])?;
    let names =
        member(&members, "allowed").map_or_else(|| Err(part.expected("an object")), |all| all.as_list("names"))?;
    Ok(ChildAsked { allowed: names.iter().map(Part::as_text).collect::<Result<_, _>>()? })
}

fn result(part: &Part<'_>) -> Result<ResultGiven, Problem> {
    let members = part.object(&["id", "content"], &["is_error"])?;
    let content = match member(&members, "content") {
        Some(content) if content.raw.get().starts_with('"') => content.as_text()?,
        Some(content) => content.raw.get().to_owned(),
        None => return Err(part.expected("an object")),
    };
    Ok(ResultGiven { id: call_id(&members)?.into(), content, is_error: flag(&members, "is_error")? })
}

fn finished(part: &Part<'_>) -> Result<Finished, Problem> {
    let members = part.object(&["id", "ok"], &["not_run"])?;
    let (id, ok, not_run) = (call_id(&members)?.into(), flag(&members, "ok")?, flag(&members, "not_run")?);
    if ok && not_run {
        return Err(Problem::new("a call that was not run has not succeeded: write `\"ok\": false`"));
    }
    Ok(Finished { id, ok, not_run })
}

fn rejection(part: &Part<'_>) -> Result<Rejection, Problem> {
    if part.raw.get().starts_with('"') {
        return Ok(Rejection { id: part.as_text()?.into(), reason: None });
    }
    let members = part.object(&["id"], &["reason"])?;
    let reason =
        member(&members, "reason").filter(|reason| reason.raw.get() != "null").map(Part::as_text).transpose()?;
    Ok(Rejection { id: call_id(&members)?.into(), reason })
}

fn approval(part: &Part<'_>) -> Result<ApprovalId, Problem> {
    part.as_text().map(ApprovalId::from)
}

fn call_id(members: &Members<'_>) -> Result<String, Problem> {
    member(members, "id").map_or_else(|| Err(Problem::new("`id` is missing")), Part::as_text)
}

/// A boolean that may be absent.
fn flag(members: &Members<'_>, key: &str) -> Result<bool, Problem> {
    member(members, key).map_or(Ok(false), Part::flag)
}

fn snapshot(part: &Part<'_>) -> Result<Box<Snapshot>, Problem> {
    let members = part.object(&["version", "state"], &["results"])?;
    let read = OLDEST_LOG_VERSION..=LOG_VERSION;
    match member(&members, "version") {
        Some(version) if !version.raw.get().parse().is_ok_and(|version: u32| read.contains(&version)) => {
            let found = version.raw.get();
            let why = format!(
                "the snapshot has version {found}; this toolfold supports versions {OLDEST_LOG_VERSION} to {LOG_VERSION}"
            );
            Err(Problem::new(why).help("start the conversation again, or use the version that wrote it"))
        }
        _ => serde_json::from_str(part.raw.get()).map(Box::new).map_err(|_| {
            Problem::new("`restore`: expected a snapshot")
                .help("send the value of `snapshot` unchanged, as {\"snapshot\":true} returned it")
        }),
    }
}
