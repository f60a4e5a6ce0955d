//! Gemini's `generateContent`: `systemInstruction`, `contents` with parts, `tools` with
//! declarations. Accepts camel case and snake case.

use std::borrow::Cow;

use serde_json::Value;

use super::tools::{functions_of, read_tools};
use super::value::{either, expected, given, list_at, text_at, unmeasurable};
use crate::tokens::json::Style;
use crate::tokens::meter::shown_name;
use crate::tokens::prompt::{Call, Choice, Format, Prompt, Role};
use crate::tokens::reason::Reason;
use crate::tokens::request::CountError;

pub(super) fn read_contents(body: &Value) -> Result<Prompt<'_>, CountError> {
    let mut prompt = Prompt::default();
    if let Some((key, _)) = either(body, ["cachedContent", "cached_content"]) {
        return Err(unmeasurable(&format!("/{key}"), "what the provider keeps in a cache".to_owned()));
    }
    let system = either(body, ["systemInstruction", "system_instruction"]);
    if let Some((key, system)) = system.or_else(|| Some(("system", given(body, "system")?))) {
        let text = system_text(system, &format!("/{key}"))?;
        if !text.is_empty() {
            prompt.say(Role::System, text);
        }
    }
    // A single tool may also be given without a list.
    match given(body, "tools") {
        Some(tool @ Value::Object(_)) => read_tools(std::slice::from_ref(tool), "/tools", &mut prompt)?,
        _ => read_tools(list_at(body, "tools", "")?, "/tools", &mut prompt)?,
    }
    let declared = functions_of(list_at(body, "function_declarations", "")?, "/function_declarations")?;
    prompt.tools.extend(declared);
    let contents = match body.get("contents") {
        Some(Value::Array(contents)) => contents.as_slice(),
        Some(content @ Value::Object(_)) => std::slice::from_ref(content),
        Some(Value::String(text)) => {
            prompt.say(Role::User, text);
            &[]
        }
        _ => return Err(expected("/contents", "a list of contents")),
    };
    for (i, content) in contents.iter().enumerate() {
        read_content(content, &format!("/contents/{i}"), &mut prompt)?;
    }
    read_choice(either(body, ["toolConfig", "tool_config"]).map(|(_, config)| config), &mut prompt);
    read_format(body, &mut prompt);
    Ok(prompt)
}

fn system_text<'a>(system: &'a Value, path: &str) -> Result<Cow<'a, str>, CountError> {
    if let Value::String(text) = system {
        return Ok(Cow::Borrowed(text));
    }
    let parts = list_at(system, "parts", path)?;
    let mut texts = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        texts.push(text_at(part, "text", &format!("{path}/parts/{i}"), "a text")?);
    }
    Ok(Cow::Owned(texts.join("\n")))
}

fn read_content<'a>(content: &'a Value, path: &str, prompt: &mut Prompt<'a>) -> Result<(), CountError> {
    if !content.is_object() {
        return Err(expected(path, "a content with `parts`"));
    }
    let role = match given(content, "role").and_then(Value::as_str) {
        Some("model") => Role::Assistant,
        Some("system") => Role::System,
        Some("user" | "function") | None => Role::User,
        Some(_) => {
            prompt.reasons.insert(Reason::UnknownRole);
            Role::Other
        }
    };
    let parts = match content.get("parts") {
        Some(part @ Value::Object(_)) => std::slice::from_ref(part),
        _ => list_at(content, "parts", path)?,
    };
    let mut calls: Vec<Call<'a>> = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let path = format!("{path}/parts/{i}");
        if !part.is_object() {
            return Err(expected(&path, "a part"));
        }
        if either(part, ["thoughtSignature", "thought_signature"]).is_some() {
            prompt.reasons.insert(Reason::ThoughtSignature);
        }
        if part.get("thought").is_some_and(|thought| *thought == true) {
            prompt.reasons.insert(Reason::ThinkingBlock);
        } else if let Some((key, call)) = either(part, ["functionCall", "function_call"]) {
            calls.push(Call {
                name: text_at(call, "name", &format!("{path}/{key}"), "a function's name")?,
                arguments: printed_member(call, "args").into(),
                completed: false,
            });
        } else if let Some((key, result)) = either(part, ["functionResponse", "function_response"]) {
            text_at(result, "name", &format!("{path}/{key}"), "a function's name")?;
            prompt.result(printed_member(result, "response").into());
        } else if let Some(text) = given(part, "text") {
            let text = text.as_str().ok_or_else(|| expected(&format!("{path}/text"), "a text"))?;
            prompt.say(role, text);
        } else if let Some((key, _)) = part.as_object().into_iter().flatten().find(|(_, value)| value.is_object()) {
            return Err(unmeasurable(&path, format!("a part with `{}`", shown_name(key))));
        }
    }
    if !calls.is_empty() {
        prompt.add_calls(Cow::Borrowed(""), calls, false);
    }
    Ok(())
}

/// A member as compact JSON; empty if there is none.
fn printed_member(holder: &Value, key: &str) -> String {
    match given(holder, key) {
        Some(value) => Style::COMPACT.print(value),
        None => String::new(),
    }
}

fn read_choice(config: Option<&Value>, prompt: &mut Prompt<'_>) {
    let calling = config.and_then(|config| either(config, ["functionCallingConfig", "function_calling_config"]));
    let mode = calling.and_then(|(_, calling)| calling.get("mode")).and_then(Value::as_str).unwrap_or("AUTO");
    prompt.choice = match mode.to_ascii_uppercase().as_str() {
        "NONE" => Choice::Never,
        "ANY" => Choice::Required,
        _ => Choice::Auto,
    };
}

fn read_format<'a>(body: &'a Value, prompt: &mut Prompt<'a>) {
    let Some((_, config)) = either(body, ["generationConfig", "generation_config"]) else { return };
    let schemas = [["responseSchema", "response_schema"], ["responseJsonSchema", "response_json_schema"]];
    let schema = schemas.into_iter().find_map(|keys| either(config, keys));
    prompt.format = schema.map(|(_, schema)| Format { name: "", description: None, schema: Some(schema) });
}
