//! Counting a whole request: messages, tools, tool choice and the constants between them.
//!
//! A request is a row of `corpora/tokens/openai.jsonl`: `model`, `api` (`chat` if absent), `messages`, `tools` or
//! `functions`, `tool_choice` or `function_call`, `response_format`. Other members are not looked at.

use std::collections::BTreeSet;

use serde_json::Value;

use super::billing::{
    Api, Family, NAMED_FUNCTION, NAMED_TOOL, NO_TOOL, PER_MESSAGE, PER_MESSAGE_NAME, PER_TOOL_CALL, unverified_block,
    unverified_model,
};
use super::encoding::{Encoding, TokenCounter};
use super::marginal::Frame;
use super::meter::{Meter, quoted};
use super::python::truthy;
use super::reason::Reason;
use super::render::{Block, Function};

/// What a request costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// Prompt tokens.
    pub tokens: usize,
    /// What they measure.
    pub meter: Meter,
    /// Whether recorded rows cover everything in the request: whether `reasons` is empty.
    pub verified: bool,
    /// What they do not cover, sorted.
    pub reasons: Vec<Reason>,
}

/// Why a request cannot be counted. Unknown is never 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// Something is not what a request has there.
    #[error("expected {expected} at `{}`", place(.path))]
    Expected {
        /// JSON Pointer into the request.
        path: String,
        /// What should be there.
        expected: &'static str,
    },
    /// Something costs tokens that cannot be known from the request.
    #[error("{what} at `{}` cannot be counted offline: only text and function tools can", place(.path))]
    Unmeasurable {
        /// JSON Pointer into the request.
        path: String,
        /// What it is.
        what: String,
    },
}

fn place(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

/// Counts a request with OpenAI's own vocabularies.
///
/// # Errors
/// [`CountError`] if the request is malformed or holds what cannot be counted offline.
#[cfg(feature = "tiktoken")]
pub fn count_request(row: &Value) -> Result<Counted, CountError> {
    count_request_with(row, super::encoding::Tiktoken::new)
}

/// Counts a request with the counter that `counter_for` gives for its model's encoding.
///
/// # Errors
/// [`CountError`] if the request is malformed or holds what cannot be counted offline.
pub fn count_request_with<C: TokenCounter>(
    row: &Value,
    counter_for: impl FnOnce(Encoding) -> C,
) -> Result<Counted, CountError> {
    let model = text_at(row, "model", "", "a model's name")?;
    let api = match row.get("api").filter(|a| !a.is_null()) {
        None => Api::Chat,
        Some(api) if api == "chat" => Api::Chat,
        Some(api) if api == "responses" => Api::Responses,
        Some(_) => return Err(expected("/api", "`chat` or `responses`")),
    };
    let (key, tools) = match (list_at(row, "functions")?, list_at(row, "tools")?) {
        ([], tools) => ("/tools", tools),
        (functions, []) => ("/functions", functions),
        _ => return Err(expected("/functions", "either `functions` or `tools`, not both")),
    };
    let functions = functions_of(tools, key)?;
    let Some(Value::Array(messages)) = row.get("messages") else {
        return Err(expected("/messages", "a list of messages"));
    };

    let family = Family::of(model);
    let mut tally = Tally { counter: counter_for(Encoding::for_model(model).0), reasons: BTreeSet::new() };
    tally.reasons.extend(unverified_model(model, !functions.is_empty()));
    let mut tokens = family.per_request(!functions.is_empty());
    let mut has_system = false;
    for (i, message) in messages.iter().enumerate() {
        let is_system = message.get("role").is_some_and(|r| r == "system" || r == "developer");
        let first_system = is_system && !has_system;
        has_system |= is_system;
        let ended = first_system && !functions.is_empty() && family.ends_system_text(api);
        tokens += tally.message(message, &format!("/messages/{i}"), ended)?;
    }
    if let Some(first) = functions.first() {
        let block = Block::of(&functions);
        tally.reasons.extend(unverified_block(&functions, &block));
        tokens += tally.counter.count(&Frame::OPENAI.join(&block.texts));
        tokens += family.around_tools(api, has_system, first.is_described());
        tokens += tally.choice(row, family, key == "/functions");
    }
    if let Some(format) = row.get("response_format").filter(|f| !f.is_null()) {
        tokens += tally.response_format(format);
    }
    Ok(Counted {
        tokens,
        meter: Meter::Billed { api, model: model.to_owned() },
        verified: tally.reasons.is_empty(),
        reasons: tally.reasons.into_iter().collect(),
    })
}

/// The function definitions in a list of tools: Chat form, Responses form (flat), or bare `functions`.
///
/// `path` is the JSON Pointer of the list, for messages.
///
/// # Errors
/// [`CountError`] if one is not a function or has no name, or a description that is not text.
pub fn functions_of<'a>(tools: &'a [Value], path: &str) -> Result<Vec<Function<'a>>, CountError> {
    tools.iter().enumerate().map(|(i, tool)| function_of(tool, &format!("{path}/{i}"))).collect()
}

fn function_of<'a>(tool: &'a Value, path: &str) -> Result<Function<'a>, CountError> {
    if !tool.is_object() {
        return Err(expected(path, "a tool"));
    }
    if let Some(kind) = tool.get("type").filter(|k| !k.is_null() && *k != "function") {
        let kind = kind.as_str().ok_or_else(|| expected(&format!("{path}/type"), "the type of a tool"))?;
        return Err(unmeasurable(path, format!("a tool of type `{}`", quoted(kind))));
    }
    let (definition, path) = match tool.get("function") {
        Some(inner) => (inner, format!("{path}/function")),
        None => (tool, path.to_owned()),
    };
    let name = text_at(definition, "name", &path, "a function's name")?;
    let description = match definition.get("description") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.as_str()),
        Some(_) => return Err(expected(&format!("{path}/description"), "a text")),
    };
    let parameters = definition.get("parameters").filter(|p| !p.is_null());
    Ok(Function { name, description, parameters })
}

/// Counts parts of a request and collects what is not covered.
struct Tally<C> {
    counter: C,
    reasons: BTreeSet<Reason>,
}

impl<C: TokenCounter> Tally<C> {
    fn message(&mut self, message: &Value, path: &str, end_line: bool) -> Result<usize, CountError> {
        let Value::Object(members) = message else { return Err(expected(path, "a message")) };
        let role = text_at(message, "role", path, "a role")?;
        match role {
            "system" | "developer" | "user" | "assistant" => {}
            "tool" | "function" => self.note(Reason::ToolResult),
            _ => self.note(Reason::UnknownRole),
        }
        let mut text = content(message.get("content"), &format!("{path}/content"), members.contains_key("tool_calls"))?;
        if end_line {
            text.push('\n');
        }
        let mut tokens = PER_MESSAGE + self.counter.count(&text);
        for (key, value) in members.iter().filter(|(_, v)| truthy(v)) {
            let path = format!("{path}/{key}");
            match key.as_str() {
                "role" | "content" | "tool_call_id" => {}
                "name" => {
                    let name = value.as_str().ok_or_else(|| expected(&path, "a name"))?;
                    self.note(Reason::MessageName);
                    tokens += PER_MESSAGE_NAME + self.counter.count(name);
                }
                "tool_calls" => {
                    let calls = value.as_array().ok_or_else(|| expected(&path, "a list of tool calls"))?;
                    for (i, call) in calls.iter().enumerate() {
                        tokens += self.call(call, &format!("{path}/{i}"))?;
                    }
                }
                "function_call" => tokens += self.call(value, &path)?,
                "audio" => return Err(unmeasurable(&path, "audio".to_owned())),
                "refusal" => {
                    self.note(Reason::UnknownMember);
                    tokens += self.counter.count(value.as_str().ok_or_else(|| expected(&path, "a text"))?);
                }
                _ => self.note(Reason::UnknownMember),
            }
        }
        Ok(tokens)
    }

    /// A call in a message: its name and its arguments.
    fn call(&mut self, call: &Value, path: &str) -> Result<usize, CountError> {
        self.note(Reason::ToolCalls);
        let call = call.get("function").unwrap_or(call);
        let name = text_at(call, "name", path, "a tool call with a name")?;
        let arguments = match call.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        Ok(PER_TOOL_CALL + self.counter.count(name) + self.counter.count(&arguments))
    }

    fn choice(&mut self, row: &Value, family: Family, functions: bool) -> usize {
        let choice = [row.get("function_call"), row.get("tool_choice")].into_iter().flatten().find(|c| truthy(c));
        let Some(choice) = choice else { return 0 };
        let name = choice.get("name").or_else(|| choice.get("function")?.get("name")).and_then(Value::as_str);
        let cost = match (choice, name) {
            (Value::String(mode), _) if mode == "none" => NO_TOOL,
            (Value::String(mode), _) if mode == "auto" || mode == "required" => 0,
            (Value::Object(_), Some(name)) => {
                (if functions { NAMED_FUNCTION } else { NAMED_TOOL }) + self.counter.count(name)
            }
            (Value::Object(_), None) if choice.get("type").is_some_and(|t| t == "allowed_tools") => 0,
            _ => {
                self.note(Reason::ToolChoice);
                0
            }
        };
        if family.bills_tool_choice() { cost } else { 0 }
    }

    /// `{"type":"text"}` is the default and costs nothing; anything else is counted as its compact JSON.
    fn response_format(&mut self, format: &Value) -> usize {
        if format.get("type").is_some_and(|t| t == "text") {
            return 0;
        }
        self.note(Reason::ResponseFormat);
        let schema = format.pointer("/json_schema/schema").or_else(|| format.get("schema"));
        schema.map_or(0, |schema| self.counter.count(&schema.to_string()))
    }

    fn note(&mut self, reason: Reason) {
        self.reasons.insert(reason);
    }
}

/// The text of a message: as it is, or its text parts, a line each.
fn content(content: Option<&Value>, path: &str, may_be_absent: bool) -> Result<String, CountError> {
    match content {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Null) => Ok(String::new()),
        None if may_be_absent => Ok(String::new()),
        Some(Value::Array(parts)) => {
            let parts = parts.iter().enumerate().map(|(i, part)| part_text(part, &format!("{path}/{i}")));
            Ok(parts.collect::<Result<Vec<_>, _>>()?.join("\n"))
        }
        _ => Err(expected(path, "a text or a list of parts")),
    }
}

fn part_text<'a>(part: &'a Value, path: &str) -> Result<&'a str, CountError> {
    match part.get("type").map(|t| t.as_str().unwrap_or("?")) {
        None | Some("text" | "input_text" | "output_text") => text_at(part, "text", path, "a text part"),
        Some("refusal") => text_at(part, "refusal", path, "a refusal"),
        Some(kind) => Err(unmeasurable(path, format!("a part of type `{}`", quoted(kind)))),
    }
}

fn text_at<'a>(holder: &'a Value, key: &str, path: &str, what: &'static str) -> Result<&'a str, CountError> {
    let text = holder.get(key).and_then(Value::as_str);
    text.ok_or_else(|| expected(&format!("{path}/{key}"), what))
}

fn list_at<'a>(row: &'a Value, key: &str) -> Result<&'a [Value], CountError> {
    match row.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(expected(&format!("/{key}"), "a list")),
    }
}

fn expected(path: &str, expected: &'static str) -> CountError {
    CountError::Expected { path: path.to_owned(), expected }
}

fn unmeasurable(path: &str, what: String) -> CountError {
    CountError::Unmeasurable { path: path.to_owned(), what }
}
