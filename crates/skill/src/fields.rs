//! The front matter besides name and description, as typed data. None of it grants anything.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::document::quoted;
use super::keys::{self, KeyKind};
use super::render::Declared;
use super::tool_list;
use super::yaml::{Entry, Node};
use crate::diagnostic::{Diagnostic, Place};

/// Where a skill requests to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Context {
    /// In the conversation that activated it.
    #[default]
    Inline,
    /// In a separate conversation.
    Fork,
}

/// How a skill's tool (`skill:{name}`) requests to answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Mode {
    /// By running a script. Running it is up to the host; this crate runs nothing.
    #[default]
    Sandbox,
    /// With its rendered text.
    Direct,
}

/// The front matter keys with a meaning here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Fields {
    /// License name or file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The environment that the skill requires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// The standard's free map. Values other than strings are stored as JSON.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub metadata: IndexMap<String, String>,
    /// Tools that the skill asks to pre-approve. The host may grant this for trusted skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// Whether only the user, not the model, may activate the skill. An unreadable value counts as
    /// `true`.
    pub disable_model_invocation: bool,
    /// Whether the user may not activate the skill by name.
    pub hidden_from_user: bool,
    /// The model to use while the skill is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Inline or in a separate conversation.
    pub context: Context,
    /// The agent for a separate conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A hint for the user about the arguments after the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
    /// The names of the arguments, in the order of their words (`$name` in the text).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Whether the author marked the skill as dangerous. The model's activation then requires
    /// approval. An unreadable value counts as `true`.
    pub dangerous: bool,
    /// What the author wants a user to confirm. The model's activation then requires approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// How the skill's own tool answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Search keywords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Every other key, as JSON.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub other: Map<String, Value>,
}

impl Fields {
    /// Whether the model's activation requires approval.
    pub(crate) fn requires_approval(&self) -> bool {
        self.dangerous || self.confirm.is_some()
    }

    /// The declaration of arguments; `None` if the skill declares none.
    pub(crate) fn declared(&self) -> Option<Declared<'_>> {
        let declares = self.argument_hint.is_some() || !self.arguments.is_empty();
        declares.then_some(Declared { names: &self.arguments })
    }

    /// The tool categories that the skill uses: `metadata.toolfold-categories`, split at spaces and
    /// commas.
    #[must_use]
    pub(crate) fn categories(&self) -> Vec<&str> {
        let text = self.metadata.get("toolfold-categories").map_or("", String::as_str);
        text.split([' ', ',']).filter(|c| !c.is_empty()).collect()
    }
}

/// Name and description as written, and the other fields.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) name: Option<Node>,
    pub(crate) description: Option<Node>,
    pub(crate) fields: Fields,
}

/// Reads the entries of the outermost map. `at` returns the place of an entry.
pub(crate) fn read(entries: Vec<Entry>, at: &dyn Fn(&Entry) -> Place, notes: &mut Vec<Diagnostic>) -> Known {
    let mut known = Known::default();
    let mut taken: Vec<&'static str> = Vec::new();
    // Keys in their standard spelling come first: another spelling of the same key never overrides
    // them.
    let (standard, rest): (Vec<Entry>, Vec<Entry>) =
        entries.into_iter().partition(|e| matches!(keys::kind(&e.key), KeyKind::Typed(_)));
    for entry in standard.into_iter().chain(rest) {
        let place = at(&entry);
        match keys::kind(&entry.key) {
            KeyKind::Typed(key) => {
                taken.push(key);
                known.put(key, entry.value, place, notes);
            }
            KeyKind::Spelled(key) if taken.contains(&key) => notes.push(
                Diagnostic::warning("key-twice", place, format!("`{}` and `{key}` are both there", entry.key))
                    .help(format!("keep `{key}`: the other one is not read")),
            ),
            KeyKind::Spelled(key) => {
                taken.push(key);
                notes.push(
                    Diagnostic::warning("key-spelling", place.clone(), format!("`{}` is read as `{key}`", entry.key))
                        .help(format!("write `{key}`: other readers do not know the key as it is")),
                );
                known.put(key, entry.value, place, notes);
            }
            KeyKind::Near(key) => {
                notes.push(
                    Diagnostic::warning("unknown-key", place, format!("`{}` is not a key of a skill", entry.key))
                        .help(format!("did you mean `{key}`? This key has no effect")),
                );
                known.fields.other.insert(entry.key, json(&entry.value));
            }
            KeyKind::Other => {
                let folded = keys::fold(&entry.key);
                if keys::WITHOUT_EFFECT.contains(&folded.as_str()) {
                    let note = if folded == "timeout" { only_run } else { without_effect };
                    notes.push(note(&entry.key, place));
                }
                known.fields.other.insert(entry.key, json(&entry.value));
            }
        }
    }
    known.fields_in_metadata();
    known
}

impl Known {
    fn put(&mut self, key: &'static str, value: Node, place: Place, notes: &mut Vec<Diagnostic>) {
        let fields = &mut self.fields;
        match key {
            "name" => self.name = Some(value),
            "description" => self.description = Some(value),
            "license" => fields.license = text(&value),
            "compatibility" => {
                fields.compatibility = text(&value).or_else(|| Some(json(&value).to_string()));
                if fields.compatibility.as_ref().is_some_and(|c| c.chars().count() > super::strict::MAX_COMPATIBILITY) {
                    notes.push(
                        Diagnostic::warning("compatibility-length", place, "`compatibility` has over 500 characters")
                            .help("shorten it: the standard allows 500"),
                    );
                }
            }
            "metadata" => fields.metadata = metadata(&value, place, notes),
            "allowed-tools" => {
                let (tools, sound) = tool_list::read(&value);
                fields.allowed_tools = tools;
                if !sound {
                    notes.push(
                        Diagnostic::warning("allowed-tools", place, "`allowed-tools` could not be read whole")
                            .help("write names divided by spaces, each `(` with its `)`: `Read Bash(git add:*)`"),
                    );
                }
            }
            // An unreadable guard counts as set.
            "disable-model-invocation" => {
                fields.disable_model_invocation = boolean(&value, key, place, notes).unwrap_or(true);
            }
            "user-invocable" => fields.hidden_from_user = !boolean(&value, key, place, notes).unwrap_or(false),
            "model" => fields.model = text(&value).filter(|m| m != "inherit"),
            "context" => {
                fields.context = match choice(&value, key, &["inline", "fork"], place, notes) {
                    Some("fork") => Context::Fork,
                    _ => Context::Inline,
                }
            }
            "mode" => {
                fields.mode = match choice(&value, key, &["direct", "sandbox"], place.clone(), notes) {
                    Some("direct") => Some(Mode::Direct),
                    Some(_) => {
                        notes.push(only_run("mode: sandbox", place));
                        Some(Mode::Sandbox)
                    }
                    None => None,
                }
            }
            "agent" => fields.agent = text(&value),
            "argument-hint" => fields.argument_hint = text(&value).or_else(|| flow_text(&value)),
            "dangerous" => fields.dangerous = boolean(&value, key, place, notes).unwrap_or(true),
            "confirm" => fields.confirm = text(&value).filter(|text| !is_off(text)),
            "arguments" => fields.arguments = argument_names(&value),
            "version" => fields.version = text(&value),
            "author" => fields.author = text(&value).or_else(|| member(&value, "name")),
            "tags" => fields.tags = texts(&value),
            // `triggers` and `priority` selected the skill in older systems; here the model selects
            // by description.
            _ => {
                let note = Diagnostic::warning("legacy-key", place, format!("`{key}` is stored without effect"));
                notes.push(
                    note.help("state in the description when to use the skill; `toolfold skills migrate` rewrites it"),
                );
                fields.other.insert(key.to_owned(), json(&value));
            }
        }
    }

    /// Reads the guards and the arguments from `metadata`, for files that follow the standard's
    /// list of keys, such as those that `skills migrate` writes.
    fn fields_in_metadata(&mut self) {
        let Fields { metadata, disable_model_invocation, hidden_from_user, dangerous, .. } = &mut self.fields;
        *dangerous |= metadata.get("dangerous").is_some_and(|text| !is_off(text));
        *disable_model_invocation |= metadata.get("disable-model-invocation").is_some_and(|v| v.trim() == "true");
        *hidden_from_user |= metadata.get("user-invocable").is_some_and(|v| v.trim() == "false");
        let Fields { metadata, confirm, argument_hint, arguments, .. } = &mut self.fields;
        if confirm.is_none() {
            *confirm = metadata.get("confirm").filter(|text| !is_off(text)).cloned();
        }
        if argument_hint.is_none() {
            *argument_hint = metadata.get("argument-hint").filter(|hint| !hint.is_empty()).cloned();
        }
        if arguments.is_empty()
            && let Some(names) = metadata.get("arguments")
        {
            *arguments = names.split_whitespace().map(str::to_owned).collect();
        }
    }
}

/// Reports a key that restricts a skill elsewhere and not here.
fn without_effect(key: &str, place: Place) -> Diagnostic {
    let note = Diagnostic::warning("no-effect", place, format!("`{key}` has no effect here"));
    note.help("write a policy rule for what the skill must not do, or `dangerous: true` to require approval")
}

/// Reports a key that has an effect when the script of the skill is run, and none when the skill is
/// activated.
fn only_run(key: &str, place: Place) -> Diagnostic {
    let note = Diagnostic::warning("no-effect", place, format!("`{key}` has no effect when the skill is activated"));
    note.help("`toolfold skills run` runs the script of the skill; see docs/scripts.md")
}

/// Whether a guard's text turns the guard off.
fn is_off(text: &str) -> bool {
    matches!(text.trim().to_lowercase().as_str(), "" | "false" | "no" | "off" | "null" | "~")
}

/// The trimmed text of a scalar; `None` if there is none.
pub(crate) fn text(node: &Node) -> Option<String> {
    match node {
        Node::Text { text, .. } => Some(text.trim().to_owned()).filter(|t| !t.is_empty()),
        Node::List(_) | Node::Map(_) | Node::Alias => None,
    }
}

/// The names in `arguments: [a, b]`, `arguments: a b` or a list of maps with `name`.
fn argument_names(node: &Node) -> Vec<String> {
    match node {
        Node::List(items) => items.iter().filter_map(|item| text(item).or_else(|| member(item, "name"))).collect(),
        Node::Map(entries) => entries.iter().map(|entry| entry.key.clone()).collect(),
        Node::Text { text, .. } => filled(text.split([' ', ',', '[', ']'])),
        Node::Alias => Vec::new(),
    }
}

/// The trimmed parts that are not empty.
fn filled<'t>(parts: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut filled = Vec::new();
    for part in parts {
        if !part.trim().is_empty() {
            filled.push(part.trim().to_owned());
        }
    }
    filled
}

fn texts(node: &Node) -> Vec<String> {
    match node {
        Node::Text { text, .. } => filled(text.trim().trim_start_matches('[').trim_end_matches(']').split(',')),
        Node::List(items) => items.iter().filter_map(text).collect(),
        Node::Map(_) | Node::Alias => Vec::new(),
    }
}

/// `argument-hint: [file] [mode]` is a YAML list but is intended as text.
fn flow_text(node: &Node) -> Option<String> {
    match node {
        Node::List(_) => Some(format!("[{}]", texts(node).join(", "))),
        Node::Text { .. } | Node::Map(_) | Node::Alias => None,
    }
}

fn member(node: &Node, key: &str) -> Option<String> {
    match node {
        Node::Map(entries) => text(&entries.iter().find(|e| e.key == key)?.value),
        Node::Text { .. } | Node::List(_) | Node::Alias => None,
    }
}

fn boolean(node: &Node, key: &str, place: Place, notes: &mut Vec<Diagnostic>) -> Option<bool> {
    let said = text(node).unwrap_or_default().to_lowercase();
    match said.as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => {
            notes.push(
                Diagnostic::warning("not-a-boolean", place, format!("`{key}` is neither `true` nor `false`"))
                    .help(format!("write `{key}: true` or `{key}: false`; until then the stricter value applies")),
            );
            None
        }
    }
}

fn choice<'a>(
    node: &Node,
    key: &str,
    allowed: &[&'a str],
    place: Place,
    notes: &mut Vec<Diagnostic>,
) -> Option<&'a str> {
    let said = text(node).unwrap_or_default();
    let found = allowed.iter().copied().find(|a| a.eq_ignore_ascii_case(&said));
    if found.is_none() {
        let options = quoted(allowed, " or ");
        let near = keys::closest_value(&said, allowed).map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
        notes.push(
            Diagnostic::warning("bad-value", place, format!("`{said}` is not a valid value of `{key}`"))
                .help(format!("write {options}{near}")),
        );
    }
    found
}

fn metadata(node: &Node, place: Place, notes: &mut Vec<Diagnostic>) -> IndexMap<String, String> {
    match node {
        Node::Map(entries) => {
            let mut metadata = IndexMap::with_capacity(entries.len());
            for Entry { key, value, .. } in entries {
                let text = match value {
                    Node::Text { text, .. } => text.trim().to_owned(),
                    Node::List(_) | Node::Map(_) | Node::Alias => json(value).to_string(),
                };
                metadata.insert(key.clone(), text);
            }
            metadata
        }
        Node::Text { text, .. } if text.trim().is_empty() => IndexMap::new(),
        Node::Text { .. } | Node::List(_) | Node::Alias => {
            notes.push(
                Diagnostic::warning("metadata", place, "`metadata` is not a map of keys and texts")
                    .help("write one `key: text` a line under it, indented by two spaces"),
            );
            IndexMap::new()
        }
    }
}

/// A value as JSON: plain `true`, `false`, `null` and integers by YAML 1.2's core schema, all else
/// strings.
pub(crate) fn json(node: &Node) -> Value {
    match node {
        Node::Text { text, plain: true } => match text.as_str() {
            "" | "~" | "null" | "Null" | "NULL" => Value::Null,
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            number => match number.parse::<i64>() {
                Ok(n) if n.to_string() == number => Value::Number(Number::from(n)),
                _ => Value::String(text.clone()),
            },
        },
        Node::Text { text, plain: false } => Value::String(text.clone()),
        Node::List(items) => Value::Array(items.iter().map(json).collect()),
        Node::Map(entries) => Value::Object(entries.iter().map(|e| (e.key.clone(), json(&e.value))).collect()),
        Node::Alias => Value::Null,
    }
}
