//! The line protocol: one JSON value in, one out.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::input::Input;
use super::super::layers::{Layers, Person};
use super::super::ledger::{now_ms, time};
use super::super::lines;
use super::super::output::Failure;
use toolfold::engine::{Arguments, Call, Engine, Event, Outcome, Session, Snapshot};
use toolfold::policy::{Approval, ApprovalError, ApprovalState, ApprovalStore};
use toolfold::tokens::{Encoding, Meter, Tiktoken, TokenCounter};
use toolfold::wire::Wire;

/// A conversation and what its answers need.
pub(super) struct Conversation {
    engine: Engine,
    session: Session,
    wire: Wire,
    model: Option<String>,
    /// The person's side.
    person: Option<Person>,
    /// How many events of the session's log have been handed out.
    logged: usize,
    /// The number of the line that is being answered.
    line: usize,
}

/// A call as a line gives it. Arguments may be an object, or text as Chat Completions has them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    id: String,
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl From<CallLine> for Call {
    fn from(line: CallLine) -> Self {
        let arguments = match line.arguments {
            Value::String(text) => Arguments::from_text(&text),
            Value::Null => Arguments::Json(Value::Object(Map::new())),
            value => Arguments::Json(value),
        };
        Self { id: line.id, name: line.name, arguments }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FinishedLine {
    id: String,
    ok: bool,
}

/// `true`, where a key alone says everything.
#[derive(Deserialize)]
#[serde(try_from = "bool")]
struct Yes;

impl TryFrom<bool> for Yes {
    type Error = &'static str;
    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("the value must be true") }
    }
}

/// A person's no, with or without a reason.
#[derive(Deserialize)]
#[serde(untagged)]
enum RejectLine {
    Id(String),
    WithReason { id: String, reason: Option<String> },
}

/// What a line can ask for.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Tools(Yes),
    Call(CallLine),
    Calls(Vec<CallLine>),
    Message(Value),
    Finished(FinishedLine),
    Accept(String),
    Reject(RejectLine),
    Answered(String),
    Redeliver(Yes),
    Snapshot(Yes),
    Restore(Box<Snapshot>),
    Explain(Yes),
    Log(Yes),
}

impl Conversation {
    pub(super) fn start(input: &Input, id: &str, layers: Layers) -> Result<Self, Failure> {
        let engine = input.full_engine(&layers)?;
        let wire = input.config.read("presentation.wire").unwrap_or(Wire::OpenAiChat);
        let model = input.config.get("presentation.model").map(str::to_owned);
        let session = engine.session_on(wire, model.as_deref(), id, &input.capabilities()?).map_err(Failure::usage)?;
        Ok(Self { engine, session, wire, model, person: layers.person, logged: 0, line: 0 })
    }

    /// Answers one line. Whatever is wrong with it, the conversation goes on.
    pub(super) fn answer(&mut self, line: lines::Line) -> Value {
        self.line = line.number;
        let read = line.text.and_then(|text| serde_json::from_str::<Line>(&text).map_err(|why| why.to_string()));
        read.and_then(|line| self.act(line)).unwrap_or_else(|why| self.error(&why))
    }

    /// The events since the last time, one JSON line each.
    pub(super) fn new_events(&mut self) -> String {
        let events: &[Event] = self.session.log().get(self.logged..).unwrap_or_default();
        let lines = events.iter().filter_map(|event| serde_json::to_string(event).ok());
        let text = lines.map(|line| line + "\n").collect();
        self.logged = self.session.log().len();
        text
    }

    fn error(&self, why: &str) -> Value {
        let help = "one of tools, call, calls, message, accept, reject, answered, finished, redeliver, snapshot, restore, explain, log";
        json!({"error": {"line": self.line, "message": why, "help": help}})
    }

    fn act(&mut self, line: Line) -> Result<Value, String> {
        Ok(match line {
            Line::Tools(_) => self.tools()?,
            Line::Call(call) => self.call(call),
            Line::Calls(calls) => {
                let outcomes: Vec<Value> = calls.into_iter().map(|call| self.call(call)).collect();
                json!({"outcomes": outcomes, "digest": self.session.digest(self.wire)})
            }
            Line::Message(message) => self.message(&message)?,
            Line::Accept(approval) => self.settle(&approval, |person| person.approver.approve(&approval, now_ms()))?,
            Line::Reject(line) => {
                let (approval, reason) = match line {
                    RejectLine::Id(id) => (id, None),
                    RejectLine::WithReason { id, reason } => (id, reason),
                };
                self.settle(&approval, |person| person.approver.reject(&approval, reason.as_deref(), now_ms()))?
            }
            Line::Answered(approval) => self.settle(&approval, |person| person.store.get(&approval))?,
            Line::Finished(finished) => {
                self.session.finished(&finished.id, finished.ok);
                json!({"id": finished.id, "finished": finished.ok})
            }
            Line::Redeliver(_) => {
                json!({"redeliver": self.session.redeliver(), "expanded": self.session.opened()})
            }
            Line::Snapshot(_) => json!({"snapshot": self.session.snapshot()}),
            Line::Restore(snapshot) => {
                self.session = self.engine.restore(*snapshot).map_err(|why| why.to_string())?;
                self.logged = 0;
                json!({"restored": true, "arm": self.session.arm(), "digest": self.session.digest(self.wire)})
            }
            Line::Explain(_) => self.explain(),
            Line::Log(_) => json!({"log": self.session.log()}),
        })
    }

    fn tools(&mut self) -> Result<Value, String> {
        let array = self.session.present(self.wire);
        let tools: Value = serde_json::from_str(array.text()).map_err(|why| why.to_string())?;
        let (tokens, meter) = self.count(array.text(), &tools);
        Ok(json!({"tools": tools, "digest": array.digest(), "tokens": tokens, "meter": meter}))
    }

    /// The tokens of an array: billed on OpenAI's wires, else of its compact JSON.
    fn count(&self, text: &str, tools: &Value) -> (Option<usize>, String) {
        let model = self.model.as_deref().unwrap_or("gpt-4.1");
        let meter = format!("billed:{}/{model}", self.wire).parse::<Meter>();
        match meter {
            Ok(meter) => {
                let texts = tools.as_array().and_then(|tools| meter.tool_texts(tools).ok());
                let tokens = texts.map(|texts| texts.total(&Tiktoken::new(meter.encoding())));
                (tokens, meter.to_string())
            }
            Err(_) => {
                let encoding = Encoding::O200kBase;
                (Some(Tiktoken::new(encoding).count(text)), Meter::Json(encoding).to_string())
            }
        }
    }

    /// Judges the calls of a message in the wire's own shape; `messages` are the answers in that shape.
    fn message(&mut self, message: &Value) -> Result<Value, String> {
        let calls = self.wire.parse_calls(&self.engine, message).map_err(|why| why.to_string())?;
        let (mut outcomes, mut messages) = (Vec::new(), Vec::new());
        for call in &calls {
            let outcome = self.session.dispatch(call);
            match &outcome {
                Outcome::Reply(reply) => messages.push(self.wire.format_reply(&self.engine, call, reply)),
                Outcome::Refuse(refusal) => messages.push(self.wire.format_refusal(&self.engine, call, refusal)),
                Outcome::Forward(_) | Outcome::Confirm(_) => {}
            }
            outcomes.push(self.answer_of(&outcome));
        }
        Ok(json!({"outcomes": outcomes, "messages": messages, "digest": self.session.digest(self.wire)}))
    }

    /// What becomes of a call that waited. `say` answers it, or asks what the answer is. Who answers second, here or
    /// through `toolfold approvals`, gets what the first answer brought.
    fn settle(
        &mut self,
        id: &str,
        say: impl FnOnce(&Person) -> Result<Approval, ApprovalError>,
    ) -> Result<Value, String> {
        let person = self.person.as_ref().ok_or("no policy is on: nothing waits")?;
        if !self.session.pending().any(|(waiting, _)| waiting == id) {
            return Err(format!("nothing waits as `{id}` in this session"));
        }
        let answered = match say(person) {
            Err(ApprovalError::Not { .. }) => person.store.get(id),
            other => other,
        };
        let approval = answered.map_err(|why| why.to_string())?;
        let outcome = match approval.state_at(now_ms()) {
            ApprovalState::Pending => {
                return Ok(json!({"approval": id, "state": "pending", "until": time(approval.expires_ms)}));
            }
            ApprovalState::Rejected => self.session.reject(id, approval.reason.as_deref()),
            ApprovalState::Approved | ApprovalState::Expired | ApprovalState::Consumed => self.session.accept(id),
        };
        outcome
            .map(|outcome| self.answer_of(&outcome))
            .ok_or_else(|| format!("nothing waits as `{id}` in this session"))
    }

    fn call(&mut self, line: CallLine) -> Value {
        let outcome = self.session.dispatch(&Call::from(line));
        self.answer_of(&outcome)
    }

    fn answer_of(&mut self, outcome: &Outcome) -> Value {
        let mut answer = json!({"id": outcome.id()});
        let mut set = |key: &str, value: Value| {
            if let Some(map) = answer.as_object_mut() {
                map.insert(key.to_owned(), value);
            }
        };
        match outcome {
            Outcome::Reply(reply) => {
                set("outcome", json!("reply"));
                set("target", json!(reply.target));
                set("content", json!(reply.content));
                set("reason", json!(reply.kind));
                set("expanded", json!(reply.expanded));
                set("is_error", json!(reply.is_error));
                if let Some(activation) = &reply.activation {
                    set("activation", json!(activation));
                }
            }
            Outcome::Forward(forward) => {
                set("outcome", json!("forward"));
                set("target", json!(forward.target));
                set("arguments", forward.arguments.clone());
                set("reason", json!(forward.unchecked.unwrap_or("the arguments fit")));
                set("expanded", json!([]));
            }
            Outcome::Confirm(confirm) => {
                set("outcome", json!("confirm"));
                set("approval", json!(confirm.approval));
                set("target", json!(confirm.target));
                set("arguments", confirm.arguments.clone());
                set("shown", json!(confirm.shown));
                set("reason", json!(confirm.reason));
                set("expanded", json!([]));
            }
            Outcome::Refuse(refusal) => {
                set("outcome", json!("refuse"));
                set("target", json!(refusal.target));
                set("content", json!(refusal.content));
                set("reason", json!(refusal.reason));
                set("expanded", json!([]));
            }
        }
        set("context", json!(outcome.context()));
        set("digest", json!(self.session.digest(self.wire)));
        answer
    }

    fn explain(&mut self) -> Value {
        json!({
            "arm": self.session.arm(),
            "explain": self.session.explain(),
            "variant": self.session.variant(),
            "wire": self.wire.name(),
            "model": self.model,
            "session": self.session.id(),
            "opened": self.session.opened(),
            "digest": self.session.digest(self.wire),
            "diagnostics": self.engine.diagnostics(),
        })
    }
}
