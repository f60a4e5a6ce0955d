//! A `SKILL.md` with its strict and lenient verdicts.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::fields::{self, Fields};
use super::keys::DESCRIPTION_LIKE;
use super::rescue::{self, Method};
use super::split::split;
use super::strict::{self, MAX_DESCRIPTION};
use super::yaml::{self, Entry, Mark, Node};
use crate::diagnostic::{Diagnostic, Place, is_invisible};
use crate::name::MAX_NAME_CHARS;

/// The maximum size of a file, in bytes.
pub const MAX_FILE: usize = 1 << 20;
/// The maximum size of front matter, in bytes.
pub(crate) const MAX_FRONT_MATTER: usize = 64 << 10;

/// The SHA-256 of a file's bytes, in lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ContentHash(String);

impl ContentHash {
    /// Hashes bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut hex = String::with_capacity(64);
        for byte in Sha256::digest(bytes) {
            let _ = write!(hex, "{byte:02x}");
        }
        Self(hex)
    }

    /// The hash as 64 hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The content of a loaded skill file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Content {
    /// The name: as written, on one line, without invisible characters; the folder's name if there
    /// is none.
    pub name: String,
    /// The description, trimmed.
    pub description: String,
    /// The other fields of the front matter.
    pub fields: Fields,
    /// The Markdown body, trimmed.
    pub body: String,
}

impl Content {
    /// A skill without further fields in its front matter.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, body: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), fields: Fields::default(), body: body.into() }
    }
}

/// A file and the result of reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// The strict verdict: the reference validator's errors; empty if the file is valid.
    pub strict: Vec<String>,
    /// The lenient verdict: the content that could be loaded. `None` always comes with an error in
    /// `diagnostics`.
    pub content: Option<Arc<Content>>,
    /// Whether loading required a guess.
    pub rescued: bool,
    /// All diagnostics, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The hash of the bytes.
    pub hash: ContentHash,
}

impl Document {
    /// Reads the bytes of a `SKILL.md`. `file` names it in diagnostics; `folder` is the last
    /// component of its folder, which the standard requires to equal its name. Never fails: errors
    /// are part of the result.
    #[must_use]
    pub fn read(bytes: &[u8], file: &str, folder: &str) -> Self {
        let place = Place::file(file);
        if bytes.len() > MAX_FILE {
            return Self::refused(bytes, too_large(place, bytes.len()));
        }
        if let Some(encoding) = other_encoding(bytes) {
            let note = Diagnostic::error("encoding", place, format!("the file is {encoding}, not UTF-8"));
            return Self::refused(bytes, note.help("save it as UTF-8 without BOM"));
        }
        let decoded = strict::decode(bytes);
        let strict = match &decoded {
            Ok(text) => strict::validate(text, folder),
            Err(error) => vec![error.to_string()],
        };
        let mut loader = Loader { place, folder, notes: Vec::new(), rescued: false };
        let text = decoded.unwrap_or_else(|_| loader.lossy(bytes));
        let content = loader.load(&text).map(Arc::new);
        let Loader { mut notes, rescued, .. } = loader;
        notes.sort_by_cached_key(|n| (n.place.line, n.place.column));
        Self { strict, content, rescued, diagnostics: notes, hash: ContentHash::of(bytes) }
    }

    pub(crate) fn refused(bytes: &[u8], why: Diagnostic) -> Self {
        let strict = vec![format!("SKILL.md cannot be read: {}", why.message)];
        Self { strict, content: None, rescued: false, diagnostics: vec![why], hash: ContentHash::of(bytes) }
    }
}

pub(crate) fn too_large(place: Place, bytes: usize) -> Diagnostic {
    let message = format!("the file has {bytes} bytes, more than the {MAX_FILE} that are read");
    Diagnostic::error("file-too-large", place, message).help("move details into separate files beside it")
}

/// Detects UTF-16 and UTF-32 by their byte order marks.
fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, ..] => Some("UTF-16 (little-endian)"),
        [0xfe, 0xff, ..] => Some("UTF-16 (big-endian)"),
        _ => None,
    }
}

struct Loader<'a> {
    place: Place,
    folder: &'a str,
    notes: Vec<Diagnostic>,
    rescued: bool,
}

impl Loader<'_> {
    fn at(&self, offset: usize, mark: Mark) -> Place {
        self.place.clone().line_column(mark.line + offset, mark.column)
    }

    fn lossy<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, str> {
        let valid = std::str::from_utf8(bytes).map_or_else(|e| e.valid_up_to(), str::len);
        let text = String::from_utf8_lossy(bytes);
        let place = self.place.clone().at(&text, valid);
        let message = format!("the byte at offset {valid} is not UTF-8; it is shown as U+FFFD");
        self.notes.push(Diagnostic::warning("encoding", place, message).help("save the file as UTF-8"));
        self.rescued = true;
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    }

    fn load(&mut self, text: &str) -> Option<Content> {
        let (split, rescued) = split(text, &self.place, &mut self.notes);
        self.rescued |= rescued;
        let Some(front) = split.front else {
            let place = self.place.clone().line_column(1, 1);
            let note =
                Diagnostic::error("no-front-matter", place, "front matter is missing, so there is no description");
            self.notes.push(note.help(self.write_this(split.body)));
            return None;
        };
        if front.len() > MAX_FRONT_MATTER {
            let message =
                format!("the front matter has {} bytes, more than the {MAX_FRONT_MATTER} allowed", front.len());
            let place = self.place.clone().line_column(1, 1);
            let note = Diagnostic::error("front-matter-too-large", place, message);
            self.notes.push(note.help("keep name and description there and move the rest into the body"));
            return None;
        }
        let (entries, repeated) = self.entries(front, split.offset)?;
        self.traps(front, split.offset, &entries);
        for entry in &repeated {
            let place = self.at(split.offset, entry.at);
            let message = format!("the key `{}` is duplicated, so its value is ambiguous", entry.key);
            self.notes.push(Diagnostic::error("duplicate-key", place, message).help("delete one of the two"));
        }
        if !repeated.is_empty() {
            return None;
        }
        let first = self.place.clone().line_column(1, 1);
        let (mut name_at, mut description_at) = (first.clone(), first);
        let mut description_like: Vec<(String, Node)> = Vec::new();
        for entry in entries.iter().rev() {
            match super::keys::fold(&entry.key).as_str() {
                "name" => name_at = self.at(split.offset, entry.at),
                "description" => description_at = self.at(split.offset, entry.at),
                key if DESCRIPTION_LIKE.contains(&key) => {
                    description_like.insert(0, (entry.key.clone(), entry.value.clone()));
                }
                _ => {}
            }
        }
        let mut notes = Vec::new();
        let known = fields::read(entries, &|e: &Entry| self.at(split.offset, e.at), &mut notes);
        self.notes.extend(notes);
        let name = self.name(known.name.as_ref(), name_at);
        let description = self.description(known.description.as_ref(), description_like, description_at, split.body)?;
        Some(Content { name, description, fields: known.fields, body: split.body.to_owned() })
    }

    /// The outermost map, rescued if the YAML is broken.
    fn entries(&mut self, front: &str, offset: usize) -> Option<(Vec<Entry>, Vec<Entry>)> {
        let reading = yaml::read(front);
        match (reading.broken, reading.root) {
            (None, Some(Node::Map(entries))) => Some((entries, reading.repeated)),
            (None, None) => Some((Vec::new(), Vec::new())),
            (None, Some(_)) if !front.contains(':') => {
                let place = self.place.clone().line_column(offset + 1, 1);
                let note = Diagnostic::error("not-a-map", place, "the front matter has no `key: value` lines");
                self.notes.push(note.help("write `name: …` and `description: …`, one a line"));
                None
            }
            (broken, _) => {
                self.rescued = true;
                let (entries, repeated, method) = rescue::rescue(front);
                let (message, at) = match broken {
                    Some(complaint) => (complaint.message, self.at(offset, complaint.at)),
                    None => ("not a map".to_owned(), self.place.clone().line_column(offset + 1, 1)),
                };
                let (how, help) = match method {
                    Method::Quoted(keys) => {
                        let keys = quoted(&keys, ", ");
                        (
                            "the invalid values were read as plain text",
                            format!("put the value of {keys} in double quotes: \"…\""),
                        )
                    }
                    Method::Lines => (
                        "the keys were read line by line",
                        "fix the YAML there: one `key: value` per line, long text indented after `>-`".to_owned(),
                    ),
                };
                self.notes.push(Diagnostic::warning("broken-yaml", at, format!("{message}; {how}")).help(help));
                Some((entries, repeated))
            }
        }
    }

    /// Reports values that are valid here but truncated by other readers or by YAML itself.
    fn traps(&mut self, front: &str, offset: usize, entries: &[Entry]) {
        for (number, line) in front.lines().enumerate() {
            if let Some(at) = line.find("---") {
                let place = self
                    .at(offset, Mark { line: number + 1, column: line.get(..at).map_or(1, |l| l.chars().count() + 1) });
                let note = Diagnostic::warning(
                    "dashes",
                    place,
                    "the standard's own reader ends the front matter at the `---` in this line",
                );
                self.notes.push(note.help("write an em dash or two hyphens instead"));
            }
        }
        let description = entries.iter().find(|e| e.key == "description");
        if let Some(Entry { at, value: Node::Text { text, plain: true }, .. }) = description {
            let line = front.lines().nth(at.line - 1).unwrap_or_default();
            let cut = line.split_once(" #").is_some_and(|(before, _)| before.ends_with(text.trim()));
            if cut && !text.trim().is_empty() {
                let message = "the description ends before ` #`: YAML takes the rest for a comment";
                let note = Diagnostic::warning("comment-cut", self.at(offset, *at), message);
                self.notes.push(note.help("put the description in double quotes if the rest belongs to it"));
            }
        }
    }

    fn name(&mut self, node: Option<&Node>, place: Place) -> String {
        let folder = one_line(self.folder);
        let written = node.and_then(fields::text).map(|t| one_line(&t)).filter(|t| !t.is_empty());
        let Some(name) = written else {
            let message = match node {
                None => format!("`name` is missing; using the folder's name `{folder}`"),
                Some(_) => format!("`name` is empty or not a string; the folder's, `{folder}`, is used"),
            };
            let note = Diagnostic::warning("no-name", place, message);
            self.notes.push(note.help(format!("write `name: {}`", slug(&folder))));
            self.rescued = true;
            return folder;
        };
        if name.chars().count() > MAX_NAME_CHARS {
            let message = format!("`name` has over {MAX_NAME_CHARS} characters; the folder's, `{folder}`, is used");
            let note = Diagnostic::warning("name-too-long", place, message);
            self.notes.push(note.help(format!("write `name: {}`", slug(&folder))));
            self.rescued = true;
            return folder;
        }
        let complaints = strict::check_name(&name, self.folder);
        if !complaints.is_empty() {
            let better = slug(&name);
            let only_folder = complaints.len() == 1 && complaints.iter().all(|c| c.starts_with("Directory"));
            let note = if only_folder {
                Diagnostic::warning("name-folder", place, format!("`{name}` is in a folder named `{folder}`"))
                    .help("give folder and skill one name: other readers want that")
            } else {
                Diagnostic::warning("name-form", place, format!("`{name}` is not a name the standard allows")).help(
                    format!("rename skill and folder to `{better}`: lower-case letters, digits and single hyphens"),
                )
            };
            self.notes.push(note);
        }
        name
    }

    fn description(
        &mut self,
        node: Option<&Node>,
        like: Vec<(String, Node)>,
        place: Place,
        body: &str,
    ) -> Option<String> {
        if let Some(text) = node.and_then(fields::text).filter(|t| !one_line(t).is_empty()) {
            let chars = text.chars().count();
            if chars > MAX_DESCRIPTION {
                let message = format!("`description` has {chars} characters, the standard allows {MAX_DESCRIPTION}");
                let note = Diagnostic::warning("description-length", place, message);
                self.notes.push(note.help("say when to use the skill in two sentences; move the rest into the body"));
            }
            return Some(text);
        }
        for (key, node) in like {
            if let Some(text) = fields::text(&node).filter(|t| !one_line(t).is_empty()) {
                let message = format!("there is no `description`; `{key}` is used");
                self.notes.push(
                    Diagnostic::warning("no-description", place, message)
                        .help(format!("rename `{key}` to `description`, and let it say when to use the skill")),
                );
                self.rescued = true;
                return Some(text);
            }
        }
        let message = match node {
            None => "`description` is missing, so a model cannot choose the skill: not loaded",
            Some(_) => "`description` is empty or not a string, so no model could know when to use it: not loaded",
        };
        let guess = first_sentence(body);
        self.notes.push(Diagnostic::error("no-description", place, message).help(match guess {
            Some(text) => format!("write `description: \"{text}\"`"),
            None => "write `description:` with what the skill does and when to use it".to_owned(),
        }));
        None
    }

    /// Front matter to add to the top of a file that has none.
    fn write_this(&self, body: &str) -> String {
        let name = slug(self.folder);
        let text = first_sentence(body).unwrap_or_else(|| "What it does. Use when …".to_owned());
        format!("put four lines at the top: `---`, `name: {name}`, `description: \"{text}\"`, `---`")
    }
}

/// Returns a text on one line, without invisible characters, trimmed.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !is_invisible(c) {
            line.push(c);
        }
    }
    line.truncate(line.trim_end_matches(' ').len());
    line
}

/// Names in backticks, separated by `between`.
pub(crate) fn quoted<N: AsRef<str>>(names: &[N], between: &str) -> String {
    let mut text = String::new();
    for name in names {
        let before = if text.is_empty() { "" } else { between };
        text.extend([before, "`", name.as_ref(), "`"]);
    }
    text
}

/// A suggestion of similar names, to append to an error; empty if there are none.
pub(crate) fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", quoted(near, ", ")) }
}

/// Returns the closest name that the standard allows.
#[must_use]
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.to_lowercase().chars() {
        if strict::is_alphanumeric(c) {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let cut: String = out.trim_end_matches('-').chars().take(strict::MAX_NAME).collect();
    let cut = cut.trim_end_matches('-').to_owned();
    if cut.is_empty() { "my-skill".to_owned() } else { cut }
}

/// The first sentence of the first prose paragraph, at most 160 characters, suitable for double
/// quotes.
pub(crate) fn first_sentence(body: &str) -> Option<String> {
    let line = body.lines().find(|line| is_prose(line.trim()))?;
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    let sentence: String = one_line(line.get(..end)?).chars().take(160).collect();
    Some(sentence.replace(['"', '\\'], "'"))
}

/// Whether a line is prose: long enough, and without mark-up at its start.
fn is_prose(line: &str) -> bool {
    line.len() > 12 && !line.starts_with(['#', '|', '<', '`', '!', '-', '*', '>', '[', '='])
}
