//! The JSON Schema of policy files, for editors.

use serde_json::Value;

/// The schema (JSON Schema 2020-12). It describes what the loader accepts. Only the loader checks examples and
/// patterns.
#[must_use]
pub fn policy_schema() -> Value {
    // A test reads the same text.
    serde_json::from_str(include_str!("schema.json")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_is_json() {
        assert_eq!(super::policy_schema()["title"], "toolfold policy");
    }
}
