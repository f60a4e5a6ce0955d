//! The protocol's published schema.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::answer::Answer;
use super::request::Request;

/// The name of the contract.
const CONTRACT: &str = "toolfold.session/2";

/// The JSON Schema of a line: `#/$defs/Request` of those that are written, `#/$defs/Answer` of those that come back.
#[must_use]
pub fn session_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let request = generator.subschema_for::<Request<'static>>();
    let answer = generator.subschema_for::<Answer>();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": CONTRACT,
        "description": "One line of `toolfold session`: a request, or the answer to one.",
        "anyOf": [request, answer],
        "$defs": generator.take_definitions(true),
    })
}
