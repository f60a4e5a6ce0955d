//! `probe`: tests what a model supports, by requests with a control that must fail.
//!
//! Each [`Trial`] is one request: a transcript from the real conversation in which a tool was
//! expanded. The trial checks whether the model then calls the tool according to its schema. The
//! schema requires a name and a value that cannot be guessed and occur nowhere else. The control is
//! the same request without the schema: if a model is right there, it knows them from elsewhere and
//! the probe proves nothing.

mod row;

pub use row::{CaseResult, capability_row};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, CALL_TOOL, EXPAND_TOOLS};
use toolfold::wire::{Capabilities, Wire};

use crate::ab::{Ask, body_of, user_message};
use crate::json::string_member;

const TOOL: &str = "reserve_berth";
const USER: &str =
    "Reserve a berth for the ship Aurora with the tool reserve_berth, by its definition. Do not ask back.";
/// The text that replaces the schema in the control.
const UNSHOWN: &str = "reserve_berth is open: call it directly.";

/// The source of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Case {
    /// A result, for a tool that the array declares as an open stub: required by in-result arms.
    Stub,
    /// A result, for a tool that the array does not declare.
    Undeclared,
    /// A result, for a tool that is called through `call_tool`: required by arm index.
    CallTool,
    /// The provider, which stores the definition until a result refers to it.
    Native,
}

impl Case {
    /// All cases.
    pub const ALL: [Self; 4] = [Self::Stub, Self::Undeclared, Self::CallTool, Self::Native];

    /// The name in output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stub => "declared stub",
            Self::Undeclared => "undeclared tool",
            Self::CallTool => "call_tool",
            Self::Native => "native deferral",
        }
    }

    fn transcript_arm(self) -> Arm {
        match self {
            Self::Stub | Self::Undeclared => Arm::Stable,
            Self::CallTool => Arm::Index,
            Self::Native => Arm::Native,
        }
    }

    /// Whether a wire supports the case.
    #[must_use]
    pub fn is_on(self, wire: Wire) -> bool {
        !matches!(wire, Wire::Mcp | Wire::BedrockConverse) && wire.supports(self.transcript_arm()).is_ok()
    }
}

/// Why a trial cannot be created or judged, or its results make no row. Displays as the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProbeError(String);

impl ProbeError {
    fn new(why: impl std::fmt::Display) -> Self {
        Self(why.to_string())
    }
}

/// A request and its right answer.
#[derive(Debug)]
pub struct Trial {
    case: Case,
    conversation: Conversation,
    body: Value,
    right: Value,
}

impl Trial {
    /// Creates a request with names from `nonce`; `shown` is false for the control.
    ///
    /// # Errors
    /// Returns a [`ProbeError`] if the wire does not support the case.
    pub fn new(
        case: Case,
        wire: Wire,
        model: &str,
        nonce: &str,
        shown: bool,
        more: &Map<String, Value>,
    ) -> Result<Self, ProbeError> {
        let (tools, right) = probe_tools(nonce);
        let catalog = Catalog::from_mcp(&tools.to_string()).map_err(ProbeError::new)?;
        let engine = Engine::builder(catalog).build().map_err(ProbeError::new)?;
        // An empty table rejects nothing: the trial tests what the table would state.
        let unknown = Capabilities::default();
        let start = engine.conversation(wire).model(model).capabilities(&unknown).arm(case.transcript_arm());
        let mut conversation = start.start().map_err(ProbeError::new)?;
        let lookup = lookup(&conversation, case, wire);
        let turn = conversation.turn(&lookup).map_err(ProbeError::new)?;
        let mut answers = turn.into_messages();
        if !shown {
            answers.truncate(1);
            for answer in &mut answers {
                remove_schema(answer);
            }
        }
        let mut messages = vec![user_message(wire, USER), lookup];
        messages.extend(answers);
        let mut array = conversation.tools().value();
        if case == Case::Undeclared {
            undeclare(&mut array);
        }
        let ask = Ask { model, system: None, messages: &messages, tools: &array.to_string(), more };
        let body = body_of(wire, &ask).map_err(ProbeError::new)?;
        let trial = Self { case, conversation, body, right };
        match trial.leaks(shown) {
            Some(why) => Err(ProbeError(why.to_owned())),
            None => Ok(trial),
        }
    }

    /// The body of the request.
    #[must_use]
    pub fn body(&self) -> &Value {
        &self.body
    }

    /// Whether a model's message calls the tool according to its schema, in the way of the case.
    ///
    /// # Errors
    /// Returns a [`ProbeError`] if the message cannot be read.
    pub fn is_right(&mut self, message: &Value) -> Result<bool, ProbeError> {
        let turn = self.conversation.turn(message).map_err(ProbeError::new)?;
        let (case, right) = (self.case, &self.right);
        for outcome in turn.outcomes() {
            if let Outcome::Forward(call) = outcome
                && call.target.as_str() == TOOL
                && call.arguments == *right
                && (call.name == CALL_TOOL) == (case == Case::CallTool)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Why the request would prove nothing: the schema is present or missing by mistake.
    fn leaks(&self, shown: bool) -> Option<&'static str> {
        let secret = string_member(&self.right, "code").unwrap_or_default();
        let has = self.body.to_string().contains(secret);
        match self.case {
            // A provider that defers receives every definition and stores it.
            Case::Native if !has => Some("the request does not contain the definition"),
            Case::Native => None,
            _ if has != shown => Some("the schema is missing or in the wrong place"),
            _ => None,
        }
    }
}

fn probe_tools(nonce: &str) -> (Value, Value) {
    let hex: String = Sha256::digest(nonce.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let (key, value) = (hex.get(..6).unwrap_or_default(), hex.get(6..16).unwrap_or_default());
    let (key, code) = (format!("berth_{key}"), format!("Q-{value}"));
    let about =
        "It works for every port of the coast, in every season, and says nothing of what has been reserved before. ";
    let plain = |name: &str, does: &str| {
        json!({"name": name, "description": format!("{does} {}", about.repeat(3)), "inputSchema": {
            "type": "object", "required": ["ship"],
            "properties": {"ship": {"type": "string", "description": about.repeat(4)}}}})
    };
    let own = json!({"name": TOOL, "description": format!("Reserve a berth for a ship. {}", about.repeat(3)),
        "inputSchema": {"type": "object", "additionalProperties": false, "required": [key, "code"], "properties": {
            key.clone(): {"type": "string", "enum": ["Aurora"], "description": "The ship."},
            "code": {"type": "string", "enum": [code], "description": "The code of the day: always exactly this."}}}});
    let tools = json!([own, plain("list_ports", "List the ports."), plain("cancel_berth", "Cancel a berth.")]);
    (tools, json!({key: "Aurora", "code": code}))
}

fn lookup(conversation: &Conversation, case: Case, wire: Wire) -> Value {
    if case == Case::Native && wire == Wire::OpenAiResponses {
        let at = conversation.engine().catalog().position(TOOL).unwrap_or(usize::MAX);
        let entry = conversation.presentation().deferred.iter().find(|own| own.tools.contains(&at));
        let category = entry.map_or(String::new(), |own| own.category.to_string());
        return json!([{"type": "tool_search_call", "id": "ts_1", "call_id": "c1", "execution": "client",
            "status": "completed", "arguments": {"categories": [category]}}]);
    }
    wire.assistant_message(&[("c1", EXPAND_TOOLS, json!({"tools": [TOOL]}))])
}

/// Replaces the definitions in an answer by a plain sentence.
fn remove_schema(answer: &mut Value) {
    if string_member(answer, "type") == Some("tool_search_output") {
        if let Some(tools) = answer.get_mut("tools") {
            *tools = json!([]);
        }
    } else if let Some(response) = answer.pointer_mut("/parts/0/functionResponse/response") {
        *response = json!({"output": UNSHOWN});
    } else if let Some(content) = answer.pointer_mut("/content/0/content") {
        *content = json!(UNSHOWN);
    } else if let Some(output) = answer.get_mut("output") {
        *output = json!(UNSHOWN);
    } else if let Some(content) = answer.get_mut("content") {
        *content = json!(UNSHOWN);
    }
}

fn undeclare(array: &mut Value) {
    let Some(tools) = array.as_array_mut() else { return };
    for entry in tools.iter_mut() {
        if let Some(Value::Array(functions)) = entry.get_mut("functionDeclarations") {
            functions.retain(|tool| string_member(tool, "name") != Some(TOOL));
        }
    }
    tools.retain(|tool| {
        let function = tool.get("function").unwrap_or(tool);
        string_member(function, "name") != Some(TOOL)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIRES: [Wire; 4] = [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic, Wire::Gemini];

    /// On every wire, only the right call counts, and only a shown schema reveals it.
    #[test]
    fn a_trial_accepts_only_the_right_call() {
        for wire in WIRES {
            for case in Case::ALL.into_iter().filter(|case| case.is_on(wire)) {
                let at = format!("{wire} {}", case.name());
                let new = |shown| Trial::new(case, wire, "m", "n", shown, &Map::new());
                let mut trial = new(true).unwrap_or_else(|why| panic!("{at}: {why}"));
                let control = new(false).unwrap_or_else(|why| panic!("{at}, control: {why}"));
                assert_ne!(trial.body(), control.body(), "{at}");
                let call = |trial: &mut Trial, id: &str, arguments: &Value| {
                    let (name, arguments) = match case {
                        Case::CallTool => (CALL_TOOL, json!({"name": TOOL, "arguments": arguments})),
                        _ => (TOOL, arguments.clone()),
                    };
                    let message = wire.assistant_message(&[(id, name, arguments)]);
                    trial.is_right(&message).unwrap_or_else(|why| panic!("{at}: {why}"))
                };
                assert!(!call(&mut trial, "x1", &json!({"ship": "Aurora"})), "{at}");
                let right = trial.right.clone();
                assert!(call(&mut trial, "x2", &right), "{at}");
                let undeclared = trial.body().get("tools").unwrap().to_string();
                let declared = undeclared.contains(&format!("\"name\":\"{TOOL}\""));
                assert_eq!(declared, matches!(case, Case::Stub | Case::Native), "{at}: {undeclared}");
            }
        }
    }
}
