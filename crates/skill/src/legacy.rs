//! Skills of older systems: a JSON document with a prompt, and front matter in other spellings.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::document::{Content, ContentHash, Document, one_line, slug};
use super::fields::{Context, Fields, Mode};
use super::tool_list;
use crate::diagnostic::{Diagnostic, Place};
use crate::name::MAX_NAME_CHARS;

/// Reads an old cloud skill: a JSON object with `name`, `description`, `prompt` (or
/// `promptContent`, `content`) and optional `allowedTools`, `model`, `context`, `agent`,
/// `argumentHint` and guards. Always adds a warning that explains how to migrate it.
#[must_use]
pub fn read_cloud(bytes: &[u8], file: &str) -> Document {
    let place = Place::file(file);
    let refuse = |code, message: String, help: &str| {
        Document::refused(bytes, Diagnostic::error(code, place.clone(), message).help(help))
    };
    let object = match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(object)) => object,
        Ok(_) => {
            return refuse(
                "cloud-json",
                "not a JSON object".to_owned(),
                "write one object with `name`, `description`, `prompt`",
            );
        }
        Err(error) => {
            return refuse("cloud-json", format!("not JSON: {error}"), "fix it, or write a `SKILL.md` instead");
        }
    };
    let Some(name) = line(&object, &["name", "id"]) else {
        return refuse("no-name", "`name` is missing".to_owned(), "write `\"name\": \"…\"`");
    };
    let Some(description) = line(&object, &["description"]) else {
        return refuse(
            "no-description",
            "`description` is missing".to_owned(),
            "write `\"description\"`: what it does and when to use it",
        );
    };
    let Some(body) = line(&object, &["prompt", "promptContent", "content", "systemPrompt"]) else {
        return refuse("no-body", "`prompt` is missing".to_owned(), "write `\"prompt\"` with the instructions");
    };
    let content = Content {
        name: one_line(name).chars().take(MAX_NAME_CHARS).collect(),
        description: description.to_owned(),
        fields: fields(&object),
        body: body.to_owned(),
    };
    let note = Diagnostic::warning("legacy", place, "this is a skill in the old cloud format")
        .help("`toolfold skills migrate` writes it as a `SKILL.md`");
    Document {
        strict: vec!["Missing required file: SKILL.md".to_owned()],
        content: Some(Arc::new(content)),
        rescued: false,
        diagnostics: vec![note],
        hash: ContentHash::of(bytes),
    }
}

fn fields(object: &Map<String, Value>) -> Fields {
    let text = |keys: &[&str]| Some(first(object, keys)?.as_str()?.to_owned());
    let texts = |keys: &[&str]| match first(object, keys) {
        Some(Value::Array(items)) => items.iter().filter_map(|item| Some(item.as_str()?.to_owned())).collect(),
        Some(Value::String(list)) => tool_list::divide(list).0,
        _ => Vec::new(),
    };
    let known = [
        "name",
        "id",
        "description",
        "prompt",
        "promptContent",
        "content",
        "systemPrompt",
        "allowedTools",
        "allowed_tools",
        "tools",
        "disableModelInvocation",
        "userInvocable",
        "model",
        "context",
        "executionContext",
        "agent",
        "argumentHint",
        "arguments",
        "dangerous",
        "confirm",
        "mode",
        "version",
        "author",
        "tags",
        "license",
        "compatibility",
        "metadata",
    ];
    let mut other = object.clone();
    other.retain(|key, _| !known.contains(&key.as_str()));
    Fields {
        license: text(&["license"]),
        compatibility: text(&["compatibility"]),
        metadata: match object.get("metadata") {
            Some(Value::Object(map)) => map.iter().map(|(key, value)| (key.clone(), as_text(value))).collect(),
            _ => IndexMap::new(),
        },
        allowed_tools: texts(&["allowedTools", "allowed_tools", "tools"]),
        // A guard that is present and not clearly off counts as set.
        disable_model_invocation: !matches!(
            object.get("disableModelInvocation"),
            None | Some(Value::Bool(false) | Value::Null)
        ),
        hidden_from_user: object.get("userInvocable") == Some(&Value::Bool(false)),
        model: text(&["model"]),
        context: if text(&["context", "executionContext"]).as_deref() == Some("fork") {
            Context::Fork
        } else {
            Context::Inline
        },
        agent: text(&["agent"]),
        argument_hint: text(&["argumentHint"]),
        arguments: texts(&["arguments"]),
        dangerous: !matches!(object.get("dangerous"), None | Some(Value::Bool(false) | Value::Null)),
        confirm: text(&["confirm"]),
        mode: match text(&["mode"]).as_deref() {
            Some("direct") => Some(Mode::Direct),
            Some("sandbox") => Some(Mode::Sandbox),
            _ => None,
        },
        version: text(&["version"]),
        author: text(&["author"]),
        tags: texts(&["tags"]),
        other,
    }
}

fn first<'o>(object: &'o Map<String, Value>, keys: &[&str]) -> Option<&'o Value> {
    keys.iter().find_map(|key| object.get(*key))
}

/// The first of several members, if it is a visible text.
fn line<'o>(object: &'o Map<String, Value>, keys: &[&str]) -> Option<&'o str> {
    let text = first(object, keys)?.as_str()?.trim();
    (!one_line(text).is_empty()).then_some(text)
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Converts a skill to the standard's form: `(name, text of its SKILL.md)`. Fields without a
/// standard key go into `metadata`, so the result is strictly valid and complete.
#[must_use]
pub fn to_standard(content: &Content) -> (String, String) {
    let name = slug(&content.name);
    let fields = &content.fields;
    let description: String = content.description.chars().take(super::strict::MAX_DESCRIPTION).collect();
    let mut out = format!("---\nname: {}\ndescription: {}\n", quote(&name), quote(&one_line(&description)));
    let mut key = |key: &str, value: &str| out.push_str(&format!("{key}: {}\n", quote(&one_line(value))));
    if let Some(license) = &fields.license {
        key("license", license);
    }
    if let Some(compatibility) = &fields.compatibility {
        key("compatibility", &compatibility.chars().take(super::strict::MAX_COMPATIBILITY).collect::<String>());
    }
    if !fields.allowed_tools.is_empty() {
        key("allowed-tools", &fields.allowed_tools.join(" "));
    }
    let extra = extra(content, &name);
    if !extra.is_empty() {
        out.push_str("metadata:\n");
        for (key, value) in extra {
            out.push_str(&format!("  {}: {}\n", quote(&key), quote(&one_line(&value))));
        }
    }
    let body = content.body.trim();
    out.push_str(&format!("---\n\n{body}\n"));
    (name, out)
}

/// The entries of `metadata`: its own first, then every other non-empty field.
fn extra(content: &Content, name: &str) -> IndexMap<String, String> {
    let fields = &content.fields;
    let mut extra = fields.metadata.clone();
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            extra.entry(key.to_owned()).or_insert(value);
        }
    };
    if content.name != name {
        put("former-name", Some(content.name.clone()));
    }
    if content.description.chars().count() > 1024 {
        put("full-description", Some(content.description.clone()));
    }
    if fields.disable_model_invocation {
        put("disable-model-invocation", Some("true".to_owned()));
    }
    if fields.hidden_from_user {
        put("user-invocable", Some("false".to_owned()));
    }
    put("model", fields.model.clone());
    if fields.context == Context::Fork {
        put("context", Some("fork".to_owned()));
    }
    put("agent", fields.agent.clone());
    put("argument-hint", fields.argument_hint.clone());
    if fields.dangerous {
        put("dangerous", Some("true".to_owned()));
    }
    put("confirm", fields.confirm.clone());
    if !fields.arguments.is_empty() {
        put("arguments", Some(fields.arguments.join(" ")));
    }
    put("mode", fields.mode.map(|m| if m == Mode::Direct { "direct" } else { "sandbox" }.to_owned()));
    put("version", fields.version.clone());
    put("author", fields.author.clone());
    let tags = fields.tags.join(", ");
    if !tags.is_empty() {
        put("tags", Some(tags));
    }
    for (key, value) in &fields.other {
        put(key, Some(as_text(value)));
    }
    extra
}

/// A YAML string on one line: plain if that is safe, otherwise in double quotes. `---` is escaped,
/// because the reference ends the front matter there.
fn quote(text: &str) -> String {
    let text = text.replace("---", "- - -");
    let plain = text.starts_with(char::is_alphanumeric) && text.chars().all(is_plain) && !text.ends_with(' ');
    if plain { text } else { format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")) }
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/' | '(' | ')' | '*' | ',' | '。' | '，' | '、')
}
