//! The JSON Schema of policy files, for editors.

use serde_json::{Value, json};

/// The schema (JSON Schema 2020-12). It describes what the loader accepts. Only the loader checks examples and
/// patterns.
#[must_use]
pub fn policy_schema() -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let effect = json!({ "enum": ["allow", "ask", "deny"] });
    let hint = json!({ "type": "boolean" });
    let capability = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "tier": { "enum": ["read_only", "b", "a"], "description": "read_only runs; b runs and is audited; a must be approved first" },
            "reads": texts.clone(), "hosts": texts.clone(),
            "writes": { "type": "array", "items": { "type": "string" }, "description": "the arguments that name what the tool writes; of `a|b` every one that is present is judged; [] if it writes no file" },
            "command": { "type": "string", "description": "the argument that contains a shell command" },
            "workdir": { "type": "string" }, "target": { "type": "string" }, "why": { "type": "string" },
            "like": { "enum": ["Bash", "Read", "Edit", "WebFetch"] },
            "undo": { "enum": ["snapshot", "inverse", "compensate", "irreversible"] },
            "actions": {
                "type": "object", "additionalProperties": false, "required": ["arg"],
                "properties": { "arg": { "type": "string" }, "read_only": texts.clone(), "b": texts.clone(), "a": texts.clone() }
            }
        }
    });
    let rule = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["decide"],
        "properties": {
            "decide": effect.clone(),
            "rule": { "type": "string", "description": "the compact form: Bash(git log:*), Edit(src/**), mcp__server__tool" },
            "tool": { "type": "string", "description": "a name, a glob, mcp:server/tool, or *" },
            "command": { "type": "string" }, "options": texts.clone(), "path": { "type": "string" }, "access": { "enum": ["read", "write", "any"] },
            "host": { "type": "string" }, "target": { "type": "string" }, "args": { "type": "object" },
            "annotations": {
                "type": "object", "additionalProperties": false,
                "properties": { "readOnlyHint": hint.clone(), "destructiveHint": hint.clone(), "idempotentHint": hint.clone(), "openWorldHint": hint }
            },
            "why": { "type": "string" }, "match": { "type": "array" }, "not_match": { "type": "array" }
        }
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "toolfold policy",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "policy": {
                "type": "object", "additionalProperties": false,
                "properties": {
                    "description": { "type": "string" }, "mode": { "enum": ["enforce", "audit", "off"] }, "default": effect,
                    "order": { "enum": ["strictest", "last-match"] }, "read_only_shell": { "type": "boolean" }
                }
            },
            "tool": { "type": "object", "additionalProperties": capability },
            "rule": { "type": "array", "items": rule },
            "allow": texts.clone(), "ask": texts.clone(), "deny": texts.clone(), "redact": texts.clone(),
            "programs": { "type": "object", "additionalProperties": texts }
        }
    })
}
