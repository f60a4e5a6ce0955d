//! Anthropic Messages: `system`, `messages` with content blocks, `tools`, `tool_choice`,
//! `thinking`.

use std::borrow::Cow;

use serde_json::Value;

use super::tools::read_tools;
use super::value::{content, expected, given, kind_of, list_at, text_at, unmeasurable};
use crate::schema::text_member;
use crate::tokens::json::Style;
use crate::tokens::meter::shown_name;
use crate::tokens::prompt::{Call, Choice, Format, Prompt, Role, Thinking};
use crate::tokens::reason::Reason;
use crate::tokens::request::CountError;

pub(super) fn read_messages(body: &Value) -> Result<Prompt<'_>, CountError> {
    let mut prompt = Prompt::default();
    if let Some(system) = given(body, "system") {
        let text = content(system, "/system")?;
        if !text.is_empty() {
            prompt.say(Role::System, text);
        }
    }
    read_tools(list_at(body, "tools", "")?, "/tools", &mut prompt)?;
    let Some(Value::Array(messages)) = body.get("messages") else {
        return Err(expected("/messages", "a list of messages"));
    };
    let last_user = messages.iter().rposition(is_from_user);
    for (i, message) in messages.iter().enumerate() {
        let in_loop = last_user.is_none_or(|last| i > last);
        read_message(message, &format!("/messages/{i}"), in_loop, &mut prompt)?;
    }
    prompt.show_referred();
    read_choice(given(body, "tool_choice"), &mut prompt);
    prompt.thinking = match given(body, "thinking").and_then(|thinking| thinking.get("type")).and_then(Value::as_str) {
        Some("enabled") => Thinking::Budget,
        Some("adaptive") => Thinking::Adaptive,
        _ => Thinking::Off,
    };
    let format = body.get("output_config").and_then(|config| given(config, "format"));
    if let Some(format) = format.or_else(|| given(body, "output_format")) {
        prompt.format = Some(Format { name: "", description: None, schema: given(format, "schema") });
    }
    Ok(prompt)
}

/// Whether a message is the user's, rather than only results of tools.
fn is_from_user(message: &Value) -> bool {
    let is_user = message.get("role").is_some_and(|role| role == "user");
    let Some(blocks) = message.get("content").and_then(Value::as_array) else { return is_user };
    is_user && blocks.iter().any(|block| block.get("type").is_none_or(|kind| kind != "tool_result"))
}

fn read_message<'a>(message: &'a Value, path: &str, in_loop: bool, prompt: &mut Prompt<'a>) -> Result<(), CountError> {
    let role = match text_at(message, "role", path, "a role")? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => {
            prompt.reasons.insert(Reason::UnknownRole);
            Role::Other
        }
    };
    let blocks = match message.get("content") {
        Some(Value::Array(blocks)) => blocks.as_slice(),
        Some(Value::String(text)) => {
            prompt.say(role, text);
            return Ok(());
        }
        _ => return Err(expected(&format!("{path}/content"), "a text or a list of blocks")),
    };
    let mut said: Vec<&'a str> = Vec::new();
    let mut calls: Vec<Call<'a>> = Vec::new();
    for (i, block) in blocks.iter().enumerate() {
        let path = format!("{path}/content/{i}");
        match kind_of(block, &path)? {
            None | Some("text") => said.push(text_at(block, "text", &path, "a text block")?),
            Some("tool_use") => calls.push(Call {
                name: text_at(block, "name", &path, "a tool's name")?,
                arguments: block.get("input").map(|input| Style::COMPACT.print(input)).unwrap_or_default().into(),
                completed: false,
            }),
            Some("tool_result") => {
                let text = result(block.get("content"), &path, prompt)?;
                prompt.result(text);
            }
            Some("thinking") if in_loop => {
                prompt.reasons.insert(Reason::ThinkingBlock);
                said.push(text_at(block, "thinking", &path, "a thought")?);
            }
            Some("thinking" | "redacted_thinking") => {
                prompt.reasons.insert(Reason::ThinkingBlock);
            }
            Some(kind) => return Err(unmeasurable(&path, format!("a block of type `{}`", shown_name(kind)))),
        }
    }
    let said: Cow<'a, str> = match said.as_slice() {
        [only] => Cow::Borrowed(only),
        said => Cow::Owned(said.join("\n")),
    };
    if !calls.is_empty() {
        prompt.add_calls(said, calls, false);
    } else if !said.is_empty() || role == Role::Assistant {
        prompt.say(role, said);
    }
    Ok(())
}

/// The result of a tool: text, or references to deferred tools, which add their definitions.
fn result<'a>(value: Option<&'a Value>, path: &str, prompt: &mut Prompt<'a>) -> Result<Cow<'a, str>, CountError> {
    let path = format!("{path}/content");
    let Some(value) = value else { return Ok(Cow::Borrowed("")) };
    let Value::Array(blocks) = value else { return content(value, &path) };
    let mut texts = Vec::new();
    for (i, block) in blocks.iter().enumerate() {
        let path = format!("{path}/{i}");
        match kind_of(block, &path)? {
            Some("tool_reference") => {
                let name = text_at(block, "tool_name", &path, "a tool's name")?;
                prompt.reasons.insert(Reason::Deferred);
                prompt.referred.insert(name);
            }
            None | Some("text") => texts.push(text_at(block, "text", &path, "a text block")?),
            Some(kind) => return Err(unmeasurable(&path, format!("a block of type `{}`", shown_name(kind)))),
        }
    }
    Ok(match texts.as_slice() {
        [only] => Cow::Borrowed(only),
        texts => Cow::Owned(texts.join("\n")),
    })
}

fn read_choice<'a>(choice: Option<&'a Value>, prompt: &mut Prompt<'a>) {
    let Some(choice) = choice else { return };
    let kind = choice.as_str().or_else(|| text_member(choice, "type"));
    prompt.choice = match kind {
        Some("auto") => Choice::Auto,
        Some("none") => Choice::Never,
        Some("any") => Choice::Required,
        Some("tool") => Choice::Named(text_member(choice, "name").unwrap_or_default()),
        _ => {
            prompt.reasons.insert(Reason::ToolChoice);
            Choice::Auto
        }
    };
}
