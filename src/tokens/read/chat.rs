//! Chat Completions: `messages`, `tools` or `functions`, `tool_choice` or `function_call`,
//! `response_format`.

use std::borrow::Cow;

use serde_json::Value;

use super::other_member;
use super::tools::{functions_of, read_tools};
use super::value::{arguments_text, content, expected, given, kind_of, list_at, text_at, unmeasurable};
use crate::schema::text_member;
use crate::tokens::meter::shown_name;
use crate::tokens::prompt::{Call, Choice, Format, Prompt, Role, Turn};
use crate::tokens::python::truthy;
use crate::tokens::reason::Reason;
use crate::tokens::request::CountError;

/// `merged`: a Responses request recorded as Chat messages, where consecutive calls are one round.
pub(super) fn read_chat(body: &Value, merged: bool) -> Result<Prompt<'_>, CountError> {
    let mut prompt = Prompt::default();
    match (list_at(body, "functions", "")?, list_at(body, "tools", "")?) {
        ([], tools) => read_tools(tools, "/tools", &mut prompt)?,
        (functions, []) => {
            prompt.bare_functions = true;
            prompt.tools = functions_of(functions, "/functions")?;
        }
        _ => return Err(expected("/functions", "either `functions` or `tools`, not both")),
    }
    let Some(Value::Array(messages)) = body.get("messages") else {
        return Err(expected("/messages", "a list of messages"));
    };
    for (i, message) in messages.iter().enumerate() {
        read_message(message, &format!("/messages/{i}"), merged, &mut prompt)?;
    }
    statuses(body, &mut prompt);
    let choice = [body.get("function_call"), body.get("tool_choice")].into_iter().flatten().find(|c| truthy(c));
    read_choice(choice, &mut prompt);
    read_format(given(body, "response_format"), "/response_format", &mut prompt)?;
    Ok(prompt)
}

fn read_message<'a>(message: &'a Value, path: &str, merged: bool, prompt: &mut Prompt<'a>) -> Result<(), CountError> {
    let Value::Object(members) = message else { return Err(expected(path, "a message")) };
    let role = text_at(message, "role", path, "a role")?;
    let calls = read_calls(message, path)?;
    let said = match message.get("content") {
        None if !calls.is_empty() => Cow::Borrowed(""),
        None => return Err(expected(&format!("{path}/content"), "a text or a list of parts")),
        Some(value) => content(value, &format!("{path}/content"))?,
    };
    let mut name = None;
    for (key, value) in members.iter().filter(|(_, value)| truthy(value)) {
        match key.as_str() {
            "role" | "content" | "tool_calls" | "function_call" | "tool_call_id" => {}
            "name" => name = Some(value.as_str().ok_or_else(|| expected(&format!("{path}/name"), "a name"))?),
            "audio" => return Err(unmeasurable(&format!("{path}/audio"), "audio".to_owned())),
            _ => other_member(value, prompt),
        }
    }
    if !calls.is_empty() {
        prompt.add_calls(said, calls, merged);
        if let Some(Turn::Round(round)) = prompt.turns.last_mut() {
            round.name = round.name.or(name);
        }
        return Ok(());
    }
    let said = match text_member(message, "refusal") {
        Some(refusal) if said.is_empty() => Cow::Borrowed(refusal),
        _ => said,
    };
    let role = match role {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => {
            prompt.result(said);
            return Ok(());
        }
        _ => {
            prompt.reasons.insert(Reason::UnknownRole);
            Role::Other
        }
    };
    prompt.say(role, said);
    if let Some(Turn::Message(message)) = prompt.turns.last_mut() {
        message.name = name;
    }
    Ok(())
}

fn read_calls<'a>(message: &'a Value, path: &str) -> Result<Vec<Call<'a>>, CountError> {
    let mut read = Vec::new();
    if let Some(list) = message.get("tool_calls").filter(|calls| truthy(calls)) {
        let path = format!("{path}/tool_calls");
        let calls = list.as_array().ok_or_else(|| expected(&path, "a list of tool calls"))?;
        for (i, call) in calls.iter().enumerate() {
            read.push(read_call(call, &format!("{path}/{i}"))?);
        }
    } else if let Some(call) = message.get("function_call").filter(|call| truthy(call)) {
        read.push(read_call(call, &format!("{path}/function_call"))?);
    }
    Ok(read)
}

fn read_call<'a>(call: &'a Value, path: &str) -> Result<Call<'a>, CountError> {
    match kind_of(call, path)? {
        None | Some("function") => {}
        Some(kind) => return Err(unmeasurable(path, format!("a call of type `{}`", shown_name(kind)))),
    }
    let call = call.get("function").unwrap_or(call);
    let name = text_at(call, "name", path, "a tool call with a name")?;
    Ok(Call { name, arguments: arguments_text(call.get("arguments")), completed: false })
}

/// `call_status`: the status of the items after calls as recorded, a list of strings per round.
fn statuses(body: &Value, prompt: &mut Prompt<'_>) {
    let Some(Value::Array(recorded)) = body.get("call_status") else { return };
    let mut recorded = recorded.iter();
    for turn in &mut prompt.turns {
        let Turn::Round(round) = turn else { continue };
        let Some(statuses) = recorded.next() else { return };
        let statuses = statuses.as_array().into_iter().flatten();
        for (call, status) in round.calls.iter_mut().zip(statuses) {
            call.completed = *status == "completed";
        }
    }
}

/// `tool_choice` or `function_call`, in the form of either API.
pub(super) fn read_choice<'a>(choice: Option<&'a Value>, prompt: &mut Prompt<'a>) {
    let Some(choice) = choice else { return };
    let name = choice.get("name").or_else(|| choice.get("function")?.get("name")).and_then(Value::as_str);
    prompt.choice = match (choice, name) {
        (Value::String(mode), _) if mode == "none" => Choice::Never,
        (Value::String(mode), _) if mode == "required" => Choice::Required,
        (Value::String(mode), _) if mode == "auto" => Choice::Auto,
        (Value::Object(_), Some(name)) => Choice::Named(name),
        _ => {
            // Includes `allowed_tools`: no recorded request has one.
            prompt.reasons.insert(Reason::ToolChoice);
            Choice::Auto
        }
    };
}

/// `response_format`, or `text.format` of Responses.
pub(super) fn read_format<'a>(
    format: Option<&'a Value>,
    path: &str,
    prompt: &mut Prompt<'a>,
) -> Result<(), CountError> {
    let Some(format) = format else { return Ok(()) };
    match kind_of(format, path)? {
        Some("text" | "json_object") => Ok(()),
        Some("json_schema") => {
            let inner = given(format, "json_schema").unwrap_or(format);
            let name = text_member(inner, "name").unwrap_or_default();
            let description = text_member(inner, "description").filter(|text| !text.is_empty());
            prompt.format = Some(Format { name, description, schema: given(inner, "schema") });
            Ok(())
        }
        Some(kind) => Err(unmeasurable(path, format!("a format of type `{}`", shown_name(kind)))),
        None => Err(expected(&format!("{path}/type"), "`text`, `json_object` or `json_schema`")),
    }
}
