//! Loading of policy files. `docs/policy.md` and `schema.json` say what they contain.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::de::{DeTable, DeValue};

use super::capability::ToolCapability;
use super::check::never::never;
use super::decision::Effect;
use super::rule::{PolicyScope, Rule};
use crate::diagnostic::{Diagnostic, Loaded, Place};
use toolfold_diagnostic::sha256_hex;

mod capabilities;
mod memory;
mod rules;
mod toml_reader;

use toml_reader::Reader;

/// The maximum size of a policy file in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// The JSON Schema of policy files (2020-12), for editors. It describes what the loader accepts.
/// Only the loader checks examples and patterns.
#[must_use]
pub fn policy_schema() -> serde_json::Value {
    // A test reads the same text.
    serde_json::from_str(include_str!("schema.json")).unwrap_or_default()
}

/// Whether a policy is enforced or only audited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PolicyMode {
    /// Verdicts are enforced.
    #[default]
    Enforce,
    /// Every call runs and is audited, except those that the floor denies. The verdict tells what
    /// enforcement would decide.
    Audit,
    /// No call is evaluated: every call runs.
    Off,
}

/// Which of several rules of a file counts.
#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    Strictest,
    LastMatch,
}

/// A policy file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyFile {
    /// Its scope: who wrote it.
    pub scope: PolicyScope,
    /// Its mode, if it sets one.
    pub mode: Option<PolicyMode>,
    /// The effect for calls that no rule or tier covers.
    pub default: Option<Effect>,
    /// Whether only the last of this file's rules that fit a part of a call counts, so that a later
    /// allow overrides an earlier ask or deny. If not, deny overrides ask and ask overrides allow,
    /// in any order.
    pub last_match: bool,
    /// Whether the built-in table of read-only shell commands allows.
    pub read_only_shell: bool,
    /// Capability records by identity: `name` or `mcp:server/tool`.
    pub capabilities: IndexMap<String, ToolCapability>,
    /// Rules in the order of the file.
    pub rules: Vec<Rule>,
    /// The absolute paths that a program's name covers in an allow.
    pub programs: BTreeMap<String, Vec<String>>,
    /// Globs over the names of arguments whose values are redacted in the audit trail.
    pub redact: Vec<String>,
    /// The file as the user named it, and its digest.
    pub source: (String, String),
    /// The file, an ask or deny, or a capability record could not be read: every call asks until
    /// that is fixed.
    pub broken: bool,
}

impl PolicyFile {
    /// Loads a policy file. Every part that cannot be read is reported. A malformed ask, deny or
    /// capability record makes the whole file [`broken`](Self::broken).
    pub fn load(text: &str, file: &str, scope: PolicyScope) -> Loaded<Self> {
        let digest = sha256_hex(text.as_bytes());
        let mut loaded = Self { scope, source: (file.to_owned(), digest), ..Self::default() };
        let mut diagnostics = Vec::new();
        if text.len() > MAX_BYTES {
            let message = format!("the file has {} bytes; a policy file may have at most {MAX_BYTES}", text.len());
            diagnostics.push(Diagnostic::error("policy-too-large", Place::file(file), message));
            loaded.broken = true;
            return Loaded { value: loaded, diagnostics };
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut reader = Reader { text, file, diagnostics: Vec::new() };
        loaded.broken = !errors.is_empty();
        for (key, value) in table.get_ref() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("policy", DeValue::Table(head)) => loaded.head(&mut reader, head),
                ("tool", DeValue::Table(tools)) => {
                    loaded.broken |= !capabilities::read(&mut reader, tools, &mut loaded.capabilities);
                }
                ("programs", DeValue::Table(programs)) => loaded.programs(&mut reader, programs),
                ("rule" | "allow" | "ask" | "deny", _) => {}
                // A list that cannot be read may have named any argument.
                ("redact", _) => loaded.redact = reader.texts(value, "redact").unwrap_or_else(|| vec!["*".to_owned()]),
                (other, _) => {
                    let known = "policy tool rule programs redact allow ask deny";
                    reader.unknown_key(key.span().start, other, known);
                    loaded.broken = true;
                }
            }
        }
        rules::read(&mut reader, table.get_ref(), &mut loaded);
        if errors.is_empty() {
            loaded.never_matching(&mut reader);
        } else {
            reader.diagnostics.clear();
            reader.syntax(&errors);
        }
        diagnostics.append(&mut reader.diagnostics);
        for rule in &mut loaded.rules {
            rule.scope = scope;
        }
        Loaded { value: loaded, diagnostics }
    }

    /// Reports each ask and deny that can never match. Its author believes that something is
    /// forbidden, so every call asks.
    fn never_matching(&mut self, reader: &mut Reader<'_>) {
        for rule in self.rules.iter().filter(|rule| rule.effect != Effect::Allow) {
            let Some(never) = never(rule, self) else { continue };
            reader.diagnostics.push(never.diagnostic(rule));
            self.broken = true;
        }
    }

    fn head(&mut self, reader: &mut Reader<'_>, head: &DeTable<'_>) {
        const KEYS: &str = "mode default order read_only_shell description";
        for (key, value) in head {
            match key.get_ref().as_ref() {
                "mode" => {
                    self.mode = reader.value(value, ("policy-mode", "unknown mode", "write enforce, audit or off"));
                }
                "default" => {
                    self.default =
                        reader.value(value, ("policy-default", "unknown default", "write allow, ask or deny"));
                    self.broken |= self.default.is_none();
                }
                "order" => {
                    let order = reader.value(value, ("policy-order", "unknown order", "write strictest or last-match"));
                    self.last_match = order == Some(Order::LastMatch);
                }
                "read_only_shell" => {
                    let wrong = ("policy-type", "`read_only_shell` must be true or false", "");
                    self.read_only_shell = reader.value(value, wrong).unwrap_or_default();
                }
                "description" => drop(reader.text(value, "description")),
                other => reader.unknown_key(key.span().start, other, KEYS),
            }
        }
    }

    fn programs(&mut self, reader: &mut Reader<'_>, programs: &DeTable<'_>) {
        for (key, value) in programs {
            if let Some(paths) = reader.texts(value, key.get_ref()) {
                self.programs.insert(key.get_ref().to_string(), paths);
            }
        }
    }
}
