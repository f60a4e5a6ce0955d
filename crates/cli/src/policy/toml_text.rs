//! Keys and strings as policy files write them.

/// A key of TOML, quoted if needed.
pub(super) fn toml_key(name: &str) -> String {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if is_bare && !name.is_empty() { name.to_owned() } else { toml_string(name) }
}

/// A basic string of TOML: a JSON string with DEL escaped, which JSON leaves unescaped.
pub(super) fn toml_string(value: &str) -> String {
    serde_json::Value::from(value).to_string().replace('\u{7f}', "\\u007f")
}

/// A value on one line: a string, an inline table of such values; anything else as JSON, which
/// TOML shares for numbers, booleans and lists.
pub(super) fn toml_value(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => toml_string(text),
        toml::Value::Table(members) => {
            let mut parts = Vec::new();
            for (key, value) in members {
                parts.push(format!("{} = {}", toml_key(key), toml_value(value)));
            }
            format!("{{ {} }}", parts.join(", "))
        }
        other => serde_json::json!(other).to_string(),
    }
}
