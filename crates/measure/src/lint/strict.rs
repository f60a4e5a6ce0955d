//! Tools that request `strict`, and its requirements for their schemas.

use serde_json::Value;

use toolfold::catalog::Format;
use toolfold::wire::Wire;

use super::found::Found;
use super::rules::{STRICT_KEYWORD, STRICT_OPEN, STRICT_OPTIONAL};
use super::view::{Node, View, first_names};

/// Keywords that OpenAI's strict mode rejects. Source: "Structured outputs", 2026.
const REFUSED: [&str; 12] = [
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "unevaluatedProperties",
    "propertyNames",
    "contains",
];

/// Only OpenAI requires every parameter and closed objects; Anthropic does not.
pub(super) fn check_strict(found: &mut Found<'_>, view: &View<'_>, wire: Option<Wire>) {
    let openai = match wire {
        Some(wire) => matches!(wire, Wire::OpenAiChat | Wire::OpenAiResponses),
        None => matches!(view.tool.format(), Some(Format::OpenAiChat | Format::OpenAiResponses)),
    };
    if view.tool.strict() != Some(true) || !openai {
        return;
    }
    let is_open = |node: &Node<'_>| {
        (node.is("object") || node.map.contains_key("properties"))
            && node.map.get("additionalProperties") != Some(&Value::Bool(false))
    };
    if let Some(node) = view.nodes.iter().find(|node| is_open(node)) {
        found.add_finding(&STRICT_OPEN, &node.at, "the object has no `\"additionalProperties\": false`");
    }
    let mut optional = Vec::new();
    for node in &view.nodes {
        if !node.required {
            optional.extend(node.property);
        }
    }
    if !optional.is_empty() {
        let are = if optional.len() == 1 { "is" } else { "are" };
        found.add_finding(
            &STRICT_OPTIONAL,
            "/parameters/required",
            format!("{} {are} not required", first_names(&optional)),
        );
    }
    for node in &view.nodes {
        if let Some(key) = REFUSED.iter().find(|key| node.map.contains_key(**key)) {
            found.add_finding(&STRICT_KEYWORD, &node.keyword_place(key), format!("strict mode rejects `{key}`"));
        }
    }
}
