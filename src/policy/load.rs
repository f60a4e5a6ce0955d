//! Loading of policy files:
//!
//! ```toml
//! [policy]
//! mode = "enforce"             # enforce | audit | off
//! default = "ask"              # the effect for calls that no rule or tier covers: allow | ask | deny
//! order = "strictest"          # or "last-match": a later allow overrides an earlier ask or deny
//! read_only_shell = true       # allow the built-in table of read-only shell commands
//!
//! [tool.write_cells]           # one record for each tool; "mcp:server/tool" for the tool of a server
//! tier = "b"                   # read_only | b | a
//! writes = ["file_path"]       # path arguments; of "a|b" every one that is present is judged
//! undo = "snapshot"
//!
//! [[rule]]
//! decide = "deny"
//! tool = "run_shell"
//! command = "rm:*"
//! match = ["rm -rf /"]         # examples, checked when the file loads
//! not_match = ["ls"]
//! ```

use std::collections::BTreeMap;

use indexmap::IndexMap;
use sha2::{Digest, Sha256};
use toml::de::{DeTable, DeValue};

use super::capability::ToolCapability;
use super::decision::Effect;
use super::rule::{PolicyScope, Rule};
use crate::diagnostic::{Diagnostic, Loaded, Place};

mod capabilities;
mod rules;
mod toml_reader;

use toml_reader::Reader;

/// The maximum size of a policy file in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// Whether a policy is enforced or only audited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyMode {
    /// Verdicts are enforced.
    #[default]
    Enforce,
    /// Every call runs and is audited, except those that the floor denies. The verdict tells what enforcement would
    /// decide.
    Audit,
    /// No call is evaluated: every call runs.
    Off,
}

/// A policy file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyFile {
    /// Its scope: who wrote it.
    pub scope: PolicyScope,
    /// Its mode, if it sets one.
    pub mode: Option<PolicyMode>,
    /// The effect for calls that no rule or tier covers.
    pub default: Option<Effect>,
    /// Whether only the last of this file's rules that fit a part of a call counts, so that a later allow overrides an
    /// earlier ask or deny. If not, deny overrides ask and ask overrides allow, in any order.
    pub last_match: bool,
    /// Whether the built-in table of read-only shell commands allows.
    pub read_only_shell: bool,
    /// Capability records by identity: `name` or `mcp:server/tool`.
    pub capabilities: IndexMap<String, ToolCapability>,
    /// Rules in the order of the file.
    pub rules: Vec<Rule>,
    /// The absolute paths that a program's name stands for in an allow.
    pub programs: BTreeMap<String, Vec<String>>,
    /// Globs over the names of arguments whose values are redacted in the audit trail.
    pub redact: Vec<String>,
    /// The file as the user named it, and its digest.
    pub source: (String, String),
    /// The file, an ask or deny, or a capability record could not be read: every call asks until that is fixed.
    pub broken: bool,
}

impl PolicyFile {
    /// Loads a policy file. Every part that cannot be read is reported. A malformed ask, deny or capability record
    /// makes the whole file [`broken`](Self::broken).
    pub fn load(text: &str, file: &str, scope: PolicyScope) -> Loaded<Self> {
        let digest = hex(&Sha256::digest(text.as_bytes()));
        let mut loaded = Self { scope, source: (file.to_owned(), digest), ..Self::default() };
        let mut diagnostics = Vec::new();
        if text.len() > MAX_BYTES {
            let message = format!("the file has {} bytes, but a policy file may have at most {MAX_BYTES}", text.len());
            diagnostics.push(Diagnostic::error("policy-too-large", Place::file(file), message));
            loaded.broken = true;
            return Loaded { value: loaded, diagnostics };
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut reader = Reader { text, file, diagnostics: Vec::new() };
        for error in &errors {
            let at = error.span().map_or(0, |s| s.start);
            reader.error("policy-syntax", at, error.message().to_owned(), "fix the TOML; every call asks until then");
            loaded.broken = true;
        }
        for (key, value) in table.get_ref() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("policy", DeValue::Table(head)) => loaded.head(&mut reader, head),
                ("tool", DeValue::Table(tools)) => {
                    loaded.broken |= !capabilities::read(&mut reader, tools, &mut loaded.capabilities);
                }
                ("programs", DeValue::Table(programs)) => loaded.programs(&mut reader, programs),
                ("rule" | "allow" | "ask" | "deny", _) => {}
                // A list that cannot be read may have named any argument.
                ("redact", _) => {
                    loaded.redact = reader.texts(value, "redact").unwrap_or_else(|| vec!["*".to_owned()]);
                }
                (other, _) => {
                    let known = ["policy", "tool", "rule", "programs", "redact", "allow", "ask", "deny"];
                    reader.unknown_key(key.span().start, other, &known);
                    loaded.broken = true;
                }
            }
        }
        rules::read(&mut reader, table.get_ref(), &mut loaded);
        diagnostics.append(&mut reader.diagnostics);
        for rule in &mut loaded.rules {
            rule.scope = scope;
        }
        Loaded { value: loaded, diagnostics }
    }

    fn head(&mut self, reader: &mut Reader<'_>, head: &DeTable<'_>) {
        for (key, value) in head {
            let at = value.span().start;
            match (key.get_ref().as_ref(), reader.text_of(value)) {
                ("mode", Some("enforce")) => self.mode = Some(PolicyMode::Enforce),
                ("mode", Some("audit")) => self.mode = Some(PolicyMode::Audit),
                ("mode", Some("off")) => self.mode = Some(PolicyMode::Off),
                ("mode", _) => reader.error("policy-mode", at, "unknown mode", "write enforce, audit or off"),
                ("default", Some(effect)) if Effect::parse(effect).is_some() => self.default = Effect::parse(effect),
                ("default", _) => {
                    reader.error("policy-default", at, "unknown default", "write allow, ask or deny");
                    self.broken = true;
                }
                ("order", Some("last-match")) => self.last_match = true,
                ("order", Some("strictest")) => self.last_match = false,
                ("order", _) => {
                    reader.error("policy-order", at, "unknown order", "write strictest or last-match");
                }
                ("read_only_shell", _) => match value.get_ref() {
                    DeValue::Boolean(on) => self.read_only_shell = *on,
                    _ => reader.error("policy-type", at, "`read_only_shell` must be true or false", ""),
                },
                ("description", Some(_)) => {}
                (other, _) => reader.unknown_key(
                    key.span().start,
                    other,
                    &["mode", "default", "order", "read_only_shell", "description"],
                ),
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

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, b| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{b:02x}");
        out
    })
}
