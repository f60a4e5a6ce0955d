//! Function definitions in the form of any API.

use serde_json::Value;

use super::value::{expected, given, kind_of, list_at, text_at, unmeasurable};
use crate::schema::text_member;
use crate::tokens::meter::shown_name;
use crate::tokens::prompt::Prompt;
use crate::tokens::reason::Reason;
use crate::tokens::render::Function;
use crate::tokens::request::CountError;

/// Returns the function definitions in a list of tools: Chat form, Responses form (flat),
/// Anthropic's (`input_schema`), MCP's (`inputSchema`), or bare `functions`.
///
/// `path` is the JSON Pointer of the list, for messages.
///
/// # Errors
/// Returns a [`CountError`] if an entry is not a function, has no name, or has a description that
/// is not a string.
pub fn functions_of<'a>(tools: &'a [Value], path: &str) -> Result<Vec<Function<'a>>, CountError> {
    tools.iter().enumerate().map(|(i, tool)| function_of(tool, &format!("{path}/{i}"))).collect()
}

fn function_of<'a>(tool: &'a Value, path: &str) -> Result<Function<'a>, CountError> {
    if !tool.is_object() {
        return Err(expected(path, "a tool"));
    }
    match kind_of(tool, path)? {
        None | Some("function") => {}
        Some("custom") if tool.get("input_schema").is_some() => {}
        Some(kind) => return Err(unmeasurable(path, format!("a tool of type `{}`", shown_name(kind)))),
    }
    let inner = ["function", "toolSpec"].into_iter().find_map(|key| Some((key, tool.get(key)?)));
    let (definition, path) = match inner {
        Some((key, inner)) => (inner, format!("{path}/{key}")),
        None => (tool, path.to_owned()),
    };
    let name = text_at(definition, "name", &path, "a function's name")?;
    let description = match given(definition, "description") {
        None => None,
        Some(Value::String(text)) => Some(text.as_str()),
        Some(_) => return Err(expected(&format!("{path}/description"), "a text")),
    };
    let parameters = SCHEMAS.iter().find_map(|key| given(definition, key));
    // Bedrock has the schema below the key.
    let parameters =
        parameters.map(|own| if tool.get("toolSpec").is_some() { own.get("json").unwrap_or(own) } else { own });
    Ok(Function { name, description, parameters })
}

/// The paths of the argument schema in the APIs.
const SCHEMAS: [&str; 5] =
    ["parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"];

/// Reads a list of tools of any API into a prompt: functions, deferred functions, namespaces with
/// functions, Gemini's declarations, and search tools.
pub(super) fn read_tools<'a>(tools: &'a [Value], path: &str, prompt: &mut Prompt<'a>) -> Result<(), CountError> {
    for (i, tool) in tools.iter().enumerate() {
        let path = format!("{path}/{i}");
        let kind = kind_of(tool, &path)?;
        if kind == Some("namespace") {
            read_namespace(tool, &path, prompt)?;
        } else if kind.is_some_and(|kind| kind.starts_with("tool_search")) {
            prompt.reasons.insert(Reason::Deferred);
            prompt.beside.push(tool.to_string().into());
        } else if let Some((key, list)) = super::value::either(tool, ["functionDeclarations", "function_declarations"])
        {
            let Value::Array(list) = list else { return Err(expected(&format!("{path}/{key}"), "a list")) };
            refuse_hosted(tool, key, &path)?;
            prompt.tools.extend(functions_of(list, &format!("{path}/{key}"))?);
        } else {
            if kind.is_none() && tool.get("name").is_none() && tool.get("function").or(tool.get("toolSpec")).is_none() {
                refuse_hosted(tool, "", &path)?;
            }
            add_function(tool, function_of(tool, &path)?, prompt);
        }
    }
    Ok(())
}

fn add_function<'a>(tool: &'a Value, function: Function<'a>, prompt: &mut Prompt<'a>) {
    if tool.get("defer_loading").is_some_and(|deferred| *deferred == true) {
        prompt.reasons.insert(Reason::Deferred);
        prompt.deferred.push(function);
    } else {
        prompt.tools.push(function);
    }
}

/// A namespace: its name, its description and its functions that are not deferred are shown.
fn read_namespace<'a>(tool: &'a Value, path: &str, prompt: &mut Prompt<'a>) -> Result<(), CountError> {
    prompt.reasons.insert(Reason::Deferred);
    let name = text_at(tool, "name", path, "a namespace's name")?;
    let description = text_member(tool, "description").unwrap_or_default();
    prompt.beside.push(format!("// {description}\nnamespace {name}").into());
    let list = list_at(tool, "tools", path)?;
    for (entry, function) in list.iter().zip(functions_of(list, &format!("{path}/tools"))?) {
        add_function(entry, function, prompt);
    }
    Ok(())
}

/// Rejects Gemini's tools that are not functions: `{"googleSearch":{}}`, alone or beside
/// declarations.
fn refuse_hosted(tool: &Value, but: &str, path: &str) -> Result<(), CountError> {
    let hosted = tool.as_object().into_iter().flatten().find(|(key, value)| *key != but && value.is_object());
    match hosted {
        Some((key, _)) => Err(unmeasurable(path, format!("the tool `{}`", shown_name(key)))),
        None => Ok(()),
    }
}
