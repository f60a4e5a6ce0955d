//! Reads a profile file: TOML with a place for every error.

use std::ops::Range;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Category, Pattern, Tier, ToolProfile};
use crate::diagnostic::{Diagnostic, InvalidValue, Loaded, Place};
use crate::name::{CategoryName, ToolName, nearest};

/// The maximum size of a profile file, in bytes.
pub const MAX_PROFILE_BYTES: usize = 1024 * 1024;

/// The maximum number of globs in a profile; each is matched against every tool.
const MAX_GLOBS: usize = 2_000;

/// The maximum number of search words of a tool or a category.
const MAX_WORDS: usize = 100;

/// The maximum number of errors reported individually.
const MAX_DIAGNOSTICS: usize = 100;

/// A tool profile for toolfold: which tools a model always sees whole, and how the others are
/// grouped.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "toolfold tool profile")]
#[allow(dead_code, reason = "the fields exist to be described by the JSON Schema that editors use")]
pub(super) struct ProfileFile {
    /// The profile's name, shown in reports. Absent: the name of the file.
    name: Option<String>,
    /// Names or globs (`*` any run, `?` one character) of the tools that are always in the richest
    /// detail the arm has.
    #[serde(default)]
    core: Vec<String>,
    /// What becomes of a tool that is neither core nor in a category. Absent: `extended`.
    unlisted: Option<UnlistedFile>,
    /// Named groups of tools that expand together. A tool is in one category; a core tool may be in
    /// one too.
    #[serde(default)]
    category: IndexMap<String, CategoryFile>,
    /// One-liners by tool name, used instead of the first sentence of the description.
    #[serde(default)]
    summary: IndexMap<String, String>,
    /// Words by tool name that a query of `expand_tools` finds the tool by, in addition to its own.
    #[serde(default)]
    words: IndexMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code, reason = "the variants exist to be described by the JSON Schema that editors use")]
enum UnlistedFile {
    Extended,
    Core,
    Hidden,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the fields exist to be described by the JSON Schema that editors use")]
struct CategoryFile {
    /// What the tools have in common, in a few words: the model reads it in `expand_tools`, and
    /// every token counts.
    #[serde(default)]
    description: String,
    /// Words that a query of `expand_tools` finds these tools by, in addition to their own.
    #[serde(default)]
    words: Vec<String>,
    /// Names or globs of the tools. An exact name beats a glob of another category.
    tools: Vec<String>,
}

/// The JSON Schema of a profile file, for editors (`#:schema`).
#[must_use]
pub fn profile_schema() -> Schema {
    schemars::schema_for!(ProfileFile)
}

/// State while reading a profile.
struct Reader<'t> {
    text: &'t str,
    file: &'t str,
    diagnostics: Vec<Diagnostic>,
    globs: usize,
}

type Entry<'e, 't> = (&'e Spanned<std::borrow::Cow<'t, str>>, &'e Spanned<DeValue<'t>>);

pub(super) fn parse_profile(text: &str, file: &str) -> Loaded<ToolProfile> {
    let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let mut profile = ToolProfile {
        name: stem.strip_suffix(".toml").unwrap_or(stem).to_owned(),
        derived: false,
        verbatim: false,
        core: Vec::new(),
        unlisted: Tier::Extended,
        categories: IndexMap::new(),
        summaries: IndexMap::new(),
        words: IndexMap::new(),
        place: Place::file(file),
    };
    let mut reader = Reader { text, file, diagnostics: Vec::new(), globs: 0 };
    if text.len() > MAX_PROFILE_BYTES {
        let message = format!("{} KB are too much for a profile", text.len() / 1_000);
        let diagnostic = Diagnostic::error("too-large", Place::file(file), message).help("at most 1 MiB is read");
        return Loaded { value: profile, diagnostics: vec![diagnostic] };
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors.iter().take(20) {
        let at = error.span().map_or(0, |span| span.start);
        let message = error.message().to_owned();
        reader.push_error("bad-toml", at, message, "the file must be TOML: see https://toml.io");
    }
    for entry in table.get_ref() {
        reader.top(&mut profile, entry);
    }
    Loaded { value: profile, diagnostics: reader.diagnostics }
}

impl Reader<'_> {
    fn place_at(&self, at: usize) -> Place {
        Place::file(self.file).at(self.text, at)
    }

    fn push_error(&mut self, code: &'static str, at: usize, message: String, help: &str) {
        let diagnostic = Diagnostic::error(code, self.place_at(at), message).help(help);
        self.diagnostics.push(diagnostic);
    }

    fn wrong_type(&mut self, key: &str, span: Range<usize>, value: &DeValue<'_>, wanted: &str) {
        let message = format!("`{key}` must be {wanted}, not {}", toml_kind(value));
        self.push_error("wrong-type", span.start, message, "see `toolfold profile schema`");
    }

    fn unknown_key(&mut self, key: &str, span: Range<usize>, known: &[&str], whose: &str) {
        let message = format!("unknown key `{key}` {whose}");
        let help = match nearest(key, known.iter().copied(), 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known keys are {}", known.join(", ")),
        };
        self.push_error("unknown-key", span.start, message, &help);
    }

    fn top(&mut self, profile: &mut ToolProfile, (key, value): Entry<'_, '_>) {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("name", DeValue::String(name)) => {
                if name.trim().is_empty() || name.chars().any(char::is_control) {
                    self.push_error(
                        "bad-name",
                        value.span().start,
                        "`name` must be a visible text".to_owned(),
                        "give it a word",
                    );
                } else {
                    profile.name = name.to_string();
                }
            }
            ("core", _) => profile.core = self.patterns("core", value),
            ("unlisted", DeValue::String(tier)) => match tier.as_ref() {
                "extended" => profile.unlisted = Tier::Extended,
                "core" => profile.unlisted = Tier::Core,
                "hidden" => profile.unlisted = Tier::Hidden,
                other => {
                    let message = format!("`unlisted` cannot be `{other}`");
                    self.push_error("bad-value", value.span().start, message, "use extended, core or hidden");
                }
            },
            ("category", DeValue::Table(table)) => {
                for entry in table {
                    self.category(profile, entry);
                }
            }
            ("summary", DeValue::Table(table)) => {
                for entry in table {
                    self.summary(profile, entry);
                }
            }
            ("words", DeValue::Table(table)) => {
                for entry in table {
                    self.tool_words(profile, entry);
                }
            }
            (key @ ("name" | "unlisted"), other) => self.wrong_type(key, value.span(), other, "a string"),
            (key @ ("category" | "summary" | "words"), other) => self.wrong_type(key, value.span(), other, "a table"),
            (other, _) => {
                let known = ["name", "core", "unlisted", "category", "summary", "words"];
                self.unknown_key(other, key.span(), &known, "in a profile");
            }
        }
    }

    fn category(&mut self, profile: &mut ToolProfile, (key, value): Entry<'_, '_>) {
        let name = match CategoryName::new(key.get_ref()) {
            Ok(name) => name,
            Err(why) => {
                let message = format!("`{}` cannot be a category: {why}", key.get_ref());
                return self.push_error("bad-name", key.span().start, message, "rename it");
            }
        };
        let DeValue::Table(table) = value.get_ref() else {
            return self.wrong_type(&format!("category.{name}"), value.span(), value.get_ref(), "a table");
        };
        let mut category = Category { description: String::new(), words: Vec::new(), tools: Vec::new() };
        let mut has_tools = false;
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("description", DeValue::String(text)) => {
                    category.description = text.split_whitespace().collect::<Vec<_>>().join(" ");
                }
                ("description", other) => self.wrong_type("description", value.span(), other, "a string"),
                ("words", _) => category.words = self.words("words", value),
                ("tools", _) => {
                    has_tools = true;
                    category.tools = self.patterns("tools", value);
                }
                (other, _) => {
                    self.unknown_key(other, key.span(), &["description", "words", "tools"], "in a category");
                }
            }
        }
        if !has_tools {
            let message = format!("category `{name}` has no `tools`");
            self.push_error("no-tools", key.span().start, message, "list names or globs: tools = [\"format_*\"]");
        }
        profile.categories.insert(name, category);
    }

    fn summary(&mut self, profile: &mut ToolProfile, (key, value): Entry<'_, '_>) {
        let place = self.place_at(key.span().start);
        match (ToolName::new(key.get_ref()), value.get_ref()) {
            (Ok(name), DeValue::String(text)) => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                if text.is_empty() {
                    let message = format!("the summary of `{name}` is empty");
                    self.push_error(
                        "bad-value",
                        value.span().start,
                        message,
                        "write one sentence, or take the line out",
                    );
                } else {
                    profile.summaries.insert(name, (text, place));
                }
            }
            (Ok(name), other) => self.wrong_type(&format!("summary.{name}"), value.span(), other, "a string"),
            (Err(why), _) => self.bad_tool_name(key, &why),
        }
    }

    fn tool_words(&mut self, profile: &mut ToolProfile, (key, value): Entry<'_, '_>) {
        let place = self.place_at(key.span().start);
        match ToolName::new(key.get_ref()) {
            Ok(name) => {
                let words = self.words(&format!("words.{name}"), value);
                profile.words.insert(name, (words, place));
            }
            Err(why) => self.bad_tool_name(key, &why),
        }
    }

    fn bad_tool_name(&mut self, key: &Spanned<std::borrow::Cow<'_, str>>, why: &InvalidValue) {
        let message = format!("`{}` cannot be a tool's name: {why}", key.get_ref());
        self.push_error("bad-name", key.span().start, message, "fix the name");
    }

    /// Reads a list of search words.
    fn words(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Vec<String> {
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong_type(key, value.span(), value.get_ref(), "a list of words");
            return Vec::new();
        };
        if list.len() > MAX_WORDS {
            let message = format!("`{key}` has more than {MAX_WORDS} words: the rest is not read");
            self.push_error("too-many", value.span().start, message, "keep the words that users search for");
        }
        let mut words: Vec<String> = Vec::new();
        for item in list.iter().take(MAX_WORDS) {
            match item.get_ref() {
                DeValue::String(text) if text.trim().is_empty() => {
                    let message = format!("`{key}` has an empty word");
                    self.push_error("bad-value", item.span().start, message, "write a word, or take it out");
                }
                DeValue::String(text) => words.push(text.split_whitespace().collect::<Vec<_>>().join(" ")),
                other => self.wrong_type(key, item.span(), other, "a list of strings"),
            }
        }
        words
    }

    fn patterns(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Vec<Pattern> {
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong_type(key, value.span(), value.get_ref(), "a list of names or globs");
            return Vec::new();
        };
        let mut patterns: Vec<Pattern> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for item in list {
            let at = item.span().start;
            self.globs += usize::from(item.get_ref().as_str().is_some_and(|text| text.contains(['*', '?'])));
            if self.globs > MAX_GLOBS || self.diagnostics.len() > MAX_DIAGNOSTICS {
                let message = format!(
                    "more than {MAX_GLOBS} globs, or more than {MAX_DIAGNOSTICS} mistakes: the rest is not read"
                );
                self.push_error("too-many", at, message, "name tools, or split the profile");
                break;
            }
            match item.get_ref() {
                DeValue::String(text) if ToolName::new(&text.replace(['*', '?'], "x")).is_err() => {
                    let message = format!("`{text}` is neither a tool's name nor a glob over names");
                    self.push_error("bad-name", at, message, "use letters, digits, `_ - . : / @`, `*` and `?`");
                }
                DeValue::String(text) if !seen.insert(text.to_string()) => {
                    let message = format!("`{text}` is listed twice in `{key}`");
                    let diagnostic = Diagnostic::warning("repeated", self.place_at(at), message).help("take one out");
                    self.diagnostics.push(diagnostic);
                }
                DeValue::String(text) => patterns.push(Pattern::new(text, self.place_at(at))),
                other => self.wrong_type(key, item.span(), other, "a list of strings"),
            }
        }
        patterns
    }
}

fn toml_kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
