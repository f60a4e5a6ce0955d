//! The protocol's published schema.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::answer::Answer;
use super::many::{CONVERSATION, ManyRequest};
use super::request::{KEY, KEYED, Request};

const CONTRACT: &str = "toolfold.session/2";

/// The JSON Schema of a line: `#/$defs/Request` of requests, `#/$defs/Answer` of answers.
pub(in super::super) fn session_schema() -> Value {
    // Requests may omit keys with a default; answers state which keys are always present.
    let mut requests = SchemaSettings::draft2020_12().into_generator();
    let mut answers = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let request = requests.subschema_for::<Request<'static>>();
    requests.subschema_for::<ManyRequest>();
    let answer = answers.subschema_for::<Answer>();
    let mut definitions = requests.take_definitions(true);
    definitions.extend(answers.take_definitions(true));
    let many = definitions.remove("ManyRequest");
    if let Some(request) = definitions.get_mut("Request") {
        add_key(request);
        add_many(request, many);
    }
    if let Some(answer) = definitions.get_mut("Answer").and_then(Value::as_object_mut) {
        let named = "The conversation of the line. Only with `--many`; absent if the line names none.";
        answer.insert("properties".to_owned(), json!({ CONVERSATION: { "description": named, "type": "string" } }));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": CONTRACT,
        "description": "One line of `toolfold session`: a request, or the answer to one.",
        "anyOf": [request, answer],
        "$defs": definitions,
    })
}

/// Adds the requests and the key of a process with many conversations.
fn add_many(request: &mut Value, mut many: Option<Value>) {
    let Some(variants) = request.get_mut("oneOf").and_then(Value::as_array_mut) else { return };
    let many = many.as_mut().and_then(|many| many.get_mut("oneOf")?.as_array_mut());
    variants.extend(many.map(std::mem::take).unwrap_or_default());
    for properties in variants.iter_mut().filter_map(|variant| variant.get_mut("properties")?.as_object_mut()) {
        let description = "The name of the line's conversation. Required with `--many`, else not supported.";
        properties.insert(CONVERSATION.to_owned(), json!({ "description": description, "type": "string" }));
    }
}

/// Adds the key of an assistant message to the requests that may have it.
fn add_key(request: &mut Value) {
    let variants = request.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten();
    for properties in variants.filter_map(|variant| variant.get_mut("properties")?.as_object_mut()) {
        if KEYED.iter().any(|name| properties.contains_key(*name)) {
            let description = "The key of the calls' message: an id that is unique for each assistant message. The same key always identifies the same message.";
            properties.insert(KEY.to_owned(), json!({ "description": description, "type": "string" }));
        }
    }
}
