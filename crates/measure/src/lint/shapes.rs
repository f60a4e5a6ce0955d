//! Checks whether a schema can be intended as written.

use serde_json::Value;

use toolfold::schema::{Types, keyword_names};

use super::found::{Edit, Found, place_below};
use super::rules::{
    BOUNDS, DEEP, DEFAULT_MISMATCH, DUPLICATE_ENUM, DUPLICATE_REQUIRED, EMPTY_MEMBER, ENUM_TYPE, EXAMPLE_MISMATCH,
    LARGE_ENUM, MANY_PARAMETERS, MISSPELT, NEAR_PARAMETERS, OPEN_OBJECT, REQUIRED_UNKNOWN, UNTYPED,
};
use super::view::{Node, View, first_names, short_line};

/// The minimum number of values of a large enum.
const LARGE: usize = 100;
/// The maximum number of parameters of a tool.
const MANY: usize = 20;
/// The maximum depth of properties.
const TOO_DEEP: usize = 5;

pub(super) fn check_shapes(found: &mut Found<'_>, view: &View<'_>) {
    for node in &view.nodes {
        values(found, view, node);
        bounds(found, node);
        required(found, view, node);
        misspelt(found, node);
        untyped(found, node);
    }
    empty(found, view);
    near(found, view);
    let parameters = view.parameters().count();
    if parameters > MANY {
        found.add_finding(&MANY_PARAMETERS, "/parameters", format!("it has {parameters} parameters"));
    }
    if let Some(deepest) = view.nodes.iter().max_by_key(|node| node.depth)
        && deepest.depth > TOO_DEEP
    {
        found.add_finding(&DEEP, &deepest.at, format!("objects are nested {} deep", deepest.depth));
    }
}

fn keyword_list<'n>(node: &Node<'n>, key: &str) -> &'n [Value] {
    match node.map.get(key) {
        Some(Value::Array(list)) => list,
        _ => &[],
    }
}

fn values(found: &mut Found<'_>, view: &View<'_>, node: &Node<'_>) {
    let all = keyword_list(node, "enum");
    if all.len() >= LARGE {
        let at = node.keyword_place("enum");
        if let Some(one) = found.add_finding(&LARGE_ENUM, &at, format!("it lists {} values", all.len())) {
            one.about_part(&at);
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    let once: Vec<Value> = all.iter().filter(|value| seen.insert(value.to_string())).cloned().collect();
    if once.len() < all.len() {
        let at = node.keyword_place("enum");
        if let Some(one) =
            found.add_finding(&DUPLICATE_ENUM, &at, format!("duplicate values: {}", all.len() - once.len()))
        {
            one.fixed_by(vec![Edit::Replace(at, Value::Array(once))]);
        }
    }
    let Some(types) = declared_types(view, node) else {
        fits_enum(found, node, all);
        return;
    };
    let nullable = node.map.get("nullable") == Some(&Value::Bool(true));
    let is_of = |value: &Value| has_type(types, value) || nullable && value.is_null();
    if let Some(wrong) = all.iter().find(|value| !is_of(value)) {
        found.add_finding(&ENUM_TYPE, &node.keyword_place("enum"), not_of_type(wrong, types));
    }
    // Generators write a default of null for no default.
    if let Some(default) = node.map.get("default").filter(|value| !value.is_null() && !is_of(value)) {
        found.add_finding(&DEFAULT_MISMATCH, &node.keyword_place("default"), not_of_type(default, types));
    } else {
        fits_enum(found, node, all);
    }
    for (at, example) in keyword_list(node, "examples").iter().enumerate() {
        if !is_of(example) || !all.is_empty() && !all.contains(example) {
            let reason = format!("`{}` is not valid for this schema", short_line(&example.to_string()));
            found.add_finding(
                &EXAMPLE_MISMATCH,
                &place_below(&node.keyword_place("examples"), &at.to_string()),
                reason,
            );
        }
    }
}

/// The types that `type` allows, whatever the listed values are.
fn declared_types(view: &View<'_>, node: &Node<'_>) -> Option<Types> {
    let kind = node.map.get("type")?;
    Types::of(view.schema, &serde_json::json!({"type": kind}))
}

fn not_of_type(value: &Value, types: Types) -> String {
    let types: Vec<&str> = types.iter().collect();
    format!("`{}` is not of type {}", short_line(&value.to_string()), types.join(" or "))
}

fn fits_enum(found: &mut Found<'_>, node: &Node<'_>, all: &[Value]) {
    if let Some(default) = node.map.get("default")
        && !(default.is_null() || default.is_array() || all.is_empty() || all.contains(default))
    {
        found.add_finding(
            &DEFAULT_MISMATCH,
            &node.keyword_place("default"),
            format!("`{}` is not in `enum`", short_line(&default.to_string())),
        );
    }
}

/// Whether a value has one of these types. 1.0 is an integer (JSON Schema 2020-12, 4.2.3).
fn has_type(types: Types, value: &Value) -> bool {
    match value {
        Value::Null => types.has("null"),
        Value::Bool(_) => types.has("boolean"),
        Value::String(_) => types.has("string"),
        Value::Array(_) => types.has("array"),
        Value::Object(_) => types.has("object"),
        Value::Number(number) => {
            types.has("number") || types.has("integer") && number.as_f64().is_none_or(|own| own.fract() == 0.0)
        }
    }
}

fn bounds(found: &mut Found<'_>, node: &Node<'_>) {
    let pairs = [
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
        ("exclusiveMinimum", "exclusiveMaximum"),
    ];
    for (low, high) in pairs {
        if let [Some(from), Some(to)] = [low, high].map(|key| node.map.get(key).and_then(Value::as_f64))
            && (from > to || from >= to && low == "exclusiveMinimum")
        {
            found.add_finding(&BOUNDS, &node.keyword_place(low), format!("`{low}` is {from} and `{high}` is {to}"));
        }
    }
}

fn required(found: &mut Found<'_>, view: &View<'_>, node: &Node<'_>) {
    let (mut once, mut repeats) = (Vec::new(), false);
    for name in keyword_list(node, "required").iter().filter_map(Value::as_str) {
        if once.contains(&name) {
            repeats = true;
        } else {
            once.push(name);
        }
    }
    if repeats {
        let at = node.keyword_place("required");
        if let Some(one) = found.add_finding(&DUPLICATE_REQUIRED, &at, "it names a parameter twice") {
            one.fixed_by(vec![Edit::Replace(at, once.iter().map(|name| Value::from(*name)).collect())]);
        }
    }
    // Declarations in siblings, alternatives or references are not searched; a part of an
    // alternative may require what its object declares.
    let whole = node.at == "/parameters" || node.property.is_some() || node.definition.is_some();
    let beside = ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if", "then", "$dynamicRef"];
    let Some(properties) = node.map.get("properties").and_then(Value::as_object) else { return };
    if !whole || node.has_any(&beside) || view.nodes.len() > 4_000 {
        return;
    }
    let unknown: Vec<&str> = once.into_iter().filter(|name| !properties.contains_key(*name)).collect();
    if !unknown.is_empty() {
        let closed = node.map.get("additionalProperties") == Some(&Value::Bool(false));
        let never = if closed { ": no call can be valid" } else { "" };
        let severity = if closed { toolfold::diagnostic::Severity::Error } else { REQUIRED_UNKNOWN.severity };
        let reason = format!("it names {}, which `properties` does not contain{never}", first_names(&unknown));
        found.add_as(&REQUIRED_UNKNOWN, severity, &node.keyword_place("required"), reason);
    }
}

/// Unknown keywords that differ by one or two letters from a known one.
fn misspelt(found: &mut Found<'_>, node: &Node<'_>) {
    for key in node.map.keys().filter(|key| key.len() >= 5 && !key.starts_with("x-")) {
        if keyword_names().any(|known| known == key) {
            continue;
        }
        let near = keyword_names().find(|known| {
            known.len() >= 5
                && known.len().abs_diff(key.len()) <= 1
                && strsim::osa_distance(&known.to_lowercase(), &key.to_lowercase()) <= 1
        });
        if let Some(near) = near {
            found.add_finding(
                &MISSPELT,
                &node.keyword_place(key),
                format!("`{}` is not a keyword; did you mean `{}`?", short_line(key), near),
            );
        }
    }
}

fn untyped(found: &mut Found<'_>, node: &Node<'_>) {
    let Some(name) = node.property else { return };
    const SAYS: [&str; 14] = [
        "type",
        "enum",
        "const",
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "properties",
        "items",
        "additionalProperties",
    ];
    if !node.has_any(&SAYS) {
        found.add_finding(&UNTYPED, &node.at, format!("`{name}` accepts any type"));
    } else if node.is("object")
        && !node.has_any(&[
            "properties",
            "patternProperties",
            "anyOf",
            "oneOf",
            "allOf",
            "$ref",
            "enum",
            "const",
            "propertyNames",
        ])
        && accepts_any_property(node)
    {
        found.add_finding(&OPEN_OBJECT, &node.at, format!("`{name}` is an object with any content"));
    }
}

fn accepts_any_property(node: &Node<'_>) -> bool {
    match node.map.get("additionalProperties") {
        None | Some(Value::Bool(true)) => true,
        Some(Value::Object(schema)) => schema.is_empty(),
        _ => false,
    }
}

fn empty(found: &mut Found<'_>, view: &View<'_>) {
    let mut edits = Vec::new();
    for node in &view.nodes {
        for key in ["description", "title"] {
            if node.string_keyword(key).is_some_and(|text| text.trim().is_empty()) {
                edits.push(Edit::Remove(node.keyword_place(key)));
            }
        }
    }
    if let Some(Edit::Remove(first)) = edits.first().cloned() {
        let many = if edits.len() == 1 { "a member is".to_owned() } else { format!("{} members are", edits.len()) };
        if let Some(one) = found.add_finding(&EMPTY_MEMBER, &first, format!("{many} empty")) {
            one.fixed_by(edits);
        }
    }
}

/// Parameters of one tool whose names differ only in case or separators.
fn near(found: &mut Found<'_>, view: &View<'_>) {
    let mut seen: std::collections::BTreeMap<String, &str> = std::collections::BTreeMap::new();
    for node in view.parameters() {
        let Some(name) = node.property else { continue };
        if let Some(other) = seen.insert(folded(name), name) {
            found.add_finding(&NEAR_PARAMETERS, &node.at, format!("`{other}` and `{name}` are almost the same name"));
        }
    }
}

pub(super) fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | '.')).flat_map(char::to_lowercase).collect()
}
