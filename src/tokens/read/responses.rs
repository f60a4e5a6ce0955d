//! Responses: `instructions`, `input` items, `tools`, `tool_choice`, `text.format`.

use std::borrow::Cow;

use serde_json::Value;

use super::chat::{read_choice, read_format};
use super::tools::read_tools;
use super::value::{arguments_text, content, expected, given, kind_of, list_at, text_at, unmeasurable};
use crate::tokens::meter::shown_name;
use crate::tokens::prompt::{Call, Prompt, Role};
use crate::tokens::python::truthy;
use crate::tokens::reason::Reason;
use crate::tokens::request::CountError;

pub(super) fn read_responses(body: &Value) -> Result<Prompt<'_>, CountError> {
    let mut prompt = Prompt::default();
    for (key, what) in [
        ("previous_response_id", "what the provider keeps of an earlier response"),
        ("conversation", "what the provider keeps of a conversation"),
        ("prompt", "a prompt template that the provider keeps"),
    ] {
        if given(body, key).is_some() {
            return Err(unmeasurable(&format!("/{key}"), what.to_owned()));
        }
    }
    match given(body, "instructions") {
        None => {}
        Some(Value::String(text)) => prompt.say(Role::System, text),
        Some(_) => return Err(expected("/instructions", "a text")),
    }
    read_tools(list_at(body, "tools", "")?, "/tools", &mut prompt)?;
    match body.get("input") {
        Some(Value::String(text)) => prompt.say(Role::User, text),
        Some(Value::Array(items)) => {
            let last_user = items.iter().rposition(|item| item.get("role").is_some_and(|role| role == "user"));
            for (i, item) in items.iter().enumerate() {
                let in_loop = last_user.is_none_or(|last| i > last);
                read_item(item, &format!("/input/{i}"), in_loop, &mut prompt)?;
            }
        }
        _ => return Err(expected("/input", "a text or a list of items")),
    }
    read_choice(body.get("tool_choice").filter(|choice| truthy(choice)), &mut prompt);
    if body.pointer("/reasoning/mode").is_some_and(truthy) {
        prompt.reasons.insert(Reason::ReasoningMode);
    }
    read_format(body.get("text").and_then(|text| given(text, "format")), "/text/format", &mut prompt)?;
    Ok(prompt)
}

/// `in_loop`: no user message follows, so the model still reads the reasoning.
fn read_item<'a>(item: &'a Value, path: &str, in_loop: bool, prompt: &mut Prompt<'a>) -> Result<(), CountError> {
    if !item.is_object() {
        return Err(expected(path, "an item"));
    }
    match kind_of(item, path)? {
        None | Some("message") => {
            let role = match text_at(item, "role", path, "a role")? {
                "system" | "developer" => Role::System,
                "user" => Role::User,
                "assistant" => Role::Assistant,
                _ => {
                    prompt.reasons.insert(Reason::UnknownRole);
                    Role::Other
                }
            };
            let Some(parts) = item.get("content") else {
                return Err(expected(&format!("{path}/content"), "a text or a list of parts"));
            };
            prompt.say(role, content(parts, &format!("{path}/content"))?);
        }
        Some("function_call") => {
            let call = Call {
                name: text_at(item, "name", path, "a function's name")?,
                arguments: arguments_text(item.get("arguments")),
                completed: item.get("status").is_some_and(|status| status == "completed"),
            };
            prompt.add_calls(Cow::Borrowed(""), vec![call], true);
        }
        Some("function_call_output") => {
            let Some(output) = item.get("output") else {
                return Err(expected(&format!("{path}/output"), "a text or a list of parts"));
            };
            let text = content(output, &format!("{path}/output"))?;
            prompt.result(text);
        }
        // Its cost is in the usage of the reply that created it, not in the item; dropped ones are
        // free.
        Some("reasoning") if in_loop => {
            prompt.reasons.insert(Reason::ReasoningItem);
        }
        Some("reasoning") => {
            prompt.reasons.insert(Reason::DroppedReasoning);
        }
        Some(kind) => return Err(unmeasurable(path, format!("an item of type `{}`", shown_name(kind)))),
    }
    Ok(())
}
