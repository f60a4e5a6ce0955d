//! Reading tool lists as OpenAI, Anthropic and MCP write them.

mod fields;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use self::fields::{Fields, list, owned};
use super::compact::compact;
use super::{Catalog, Tool};
use crate::diagnostic::{Diagnostic, Loaded, Place, hidden_in};
use crate::name::ToolName;
use crate::schema::{self, Target};

/// The largest tool list that is read, in bytes. The largest real one known is under 1 MB.
pub const MAX_BYTES: usize = 32 * 1024 * 1024;

/// How many diagnostics are given one by one; the rest are counted. Keeps a hostile list from costing quadratic time.
const MAX_DIAGNOSTICS: usize = 50;

/// The shape of a tool list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// OpenAI Chat Completions: `{"type":"function","function":{"name",…,"parameters"}}`.
    OpenAiChat,
    /// OpenAI Responses, and the older `functions` array: `{"type":"function","name",…,"parameters"}`.
    OpenAiResponses,
    /// Anthropic Messages: `{"name",…,"input_schema"}`.
    Anthropic,
    /// MCP `tools/list`: `{"name",…,"inputSchema"}`.
    Mcp,
}

impl Format {
    /// Every format, in the order they are documented.
    pub const ALL: [Self; 4] = [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Mcp];

    /// The name used in flags and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Mcp => "mcp",
        }
    }

    /// The key under which a tool of this format keeps its schema.
    fn schema_key(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => "parameters",
            Self::Anthropic => "input_schema",
            Self::Mcp => "inputSchema",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no [`Format`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{}`: use openai-chat, openai-responses, anthropic or mcp", crate::diagnostic::visible(.0))]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;
    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|f| f.name() == text).ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

const SCHEMA_HELP: &str = "a schema is a JSON object, nested at most 120 levels deep";

/// Collects diagnostics up to a limit and counts the rest.
struct Notes<'t> {
    text: &'t str,
    file: &'t str,
    list: Vec<Diagnostic>,
    more: usize,
    more_errors: bool,
}

impl<'t> Notes<'t> {
    fn full(&self) -> bool {
        self.list.len() >= MAX_DIAGNOSTICS
    }

    /// Takes a diagnostic about a part of the text and gives it its place.
    fn push_at(&mut self, mut diagnostic: Diagnostic, part: &str, path: &str) {
        if !self.full() {
            // Parts are slices of the text, so the difference of their addresses is the offset.
            let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
            diagnostic.place = Place::file(self.file).path(path).at(self.text, offset);
        }
        self.push(diagnostic);
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        if self.full() {
            self.more += 1;
            self.more_errors |= diagnostic.is_error();
        } else {
            self.list.push(diagnostic);
        }
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        if self.more > 0 {
            let message = format!("{} more like these are not shown", self.more);
            let place = Place::file(self.file);
            self.list.push(if self.more_errors {
                Diagnostic::error("more", place, message)
            } else {
                Diagnostic::note("more", place, message)
            });
        }
        self.list
    }
}

pub(super) fn import(text: &str, file: &str, format: Option<Format>) -> Loaded<Catalog> {
    let mut notes = Notes { text, file, list: Vec::new(), more: 0, more_errors: false };
    let mut catalog = Catalog::new();
    if text.len() > MAX_BYTES {
        let message = format!("{} MB are too much for a tool list", text.len() / 1_000_000);
        let limit = format!("at most {} MiB are read: split the list", MAX_BYTES / 1024 / 1024);
        notes.push(Diagnostic::error("too-large", Place::file(file), message).help(limit));
        return Loaded { value: catalog, diagnostics: notes.finish() };
    }
    match list(text.strip_prefix('\u{feff}').unwrap_or(text), file) {
        Err(diagnostic) => notes.push(diagnostic),
        Ok((base, elements)) => import_elements(&elements, &base, format, &mut catalog, &mut notes),
    }
    Loaded { value: catalog, diagnostics: notes.finish() }
}

fn import_elements(
    elements: &[&RawValue],
    base: &str,
    format: Option<Format>,
    catalog: &mut Catalog,
    notes: &mut Notes<'_>,
) {
    let format = format.or_else(|| elements.iter().find_map(|raw| sniff(raw))).unwrap_or(Format::OpenAiResponses);
    for (index, raw) in elements.iter().enumerate() {
        let mut noticed = Vec::new();
        match read_tool(raw, format, &mut noticed) {
            Err(fault) => noticed.push(fault),
            Ok(tool) => noticed.extend(catalog.add(tool).err()),
        }
        for diagnostic in noticed {
            notes.push_at(diagnostic, raw.get(), &format!("{base}/{index}"));
        }
    }
}

/// The format of one tool, if it decides it.
fn sniff(raw: &RawValue) -> Option<Format> {
    let fields = Fields::read(raw).ok()?;
    if fields.get("function").is_some_and(|f| f.get().starts_with('{')) {
        Some(Format::OpenAiChat)
    } else if fields.get("inputSchema").is_some() {
        Some(Format::Mcp)
    } else if fields.get("input_schema").is_some() {
        Some(Format::Anthropic)
    } else if fields.get("parameters").is_some() {
        Some(Format::OpenAiResponses)
    } else {
        None
    }
}

/// A diagnostic whose place is filled in by the caller.
fn fault(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, Place::default(), message)
}

fn caution(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::warning(code, Place::default(), message)
}

fn bad_tool(why: String) -> Diagnostic {
    fault("bad-tool", why).help("mend the tool's definition; nothing of it was taken")
}

fn read_tool(raw: &RawValue, format: Format, noticed: &mut Vec<Diagnostic>) -> Result<Tool, Diagnostic> {
    let outer = Fields::read(raw).map_err(|why| bad_tool(why).help(example(format)))?;
    let kind = outer.string("type").map_err(bad_tool)?;
    refuse_hosted(kind.as_deref(), format)?;
    if let Some(own) = sniff(raw).filter(|own| *own != format) {
        return Err(fault("mixed-formats", format!("this tool has the shape of {own} in a list of {format}"))
            .help("one list has one format: import them apart"));
    }
    let nested = match outer.get("function").filter(|_| format == Format::OpenAiChat) {
        Some(function) => Some(Fields::read(function).map_err(bad_tool)?),
        None => None,
    };
    let fields = nested.as_ref().unwrap_or(&outer);

    let Some(name) = fields.string("name").map_err(bad_tool)? else {
        return Err(fault("no-name", "a tool must have a `name`").help(example(format)));
    };
    let name = Tool::check_name(&name).map_err(|why| fault("bad-name", why.to_string()).help("rename the tool"))?;
    let strict = fields.boolean("strict").map_err(bad_tool)?;
    let annotations = match fields.get("annotations").filter(|_| format == Format::Mcp) {
        None => None,
        Some(raw) => serde_json::from_str(raw.get()).map_err(|why| {
            fault("bad-annotations", format!("tool `{name}`: annotations: {}", fields::without_place(&why)))
                .help("hints are true or false, such as {\"readOnlyHint\": true}")
        })?,
    };
    let declared = fields.get(format.schema_key()).is_some_and(|raw| raw.get() != "null");
    let (parameters, parameters_text) = match fields.get(format.schema_key()).filter(|raw| raw.get() != "null") {
        Some(schema) => read_schema(&name, schema)?,
        None => {
            if format == Format::Mcp {
                let message = format!("tool `{name}` has no `inputSchema`; it is taken to have no parameters");
                noticed.push(caution("no-schema", message).help("MCP requires one"));
            }
            (serde_json::json!({"type":"object","properties":{}}), Arc::from(r#"{"type":"object","properties":{}}"#))
        }
    };
    let no_parameters = schema::takes_no_parameters(&parameters);
    check_schema(&name, &parameters, noticed);
    let description = fields.string("description").map_err(bad_tool)?;
    noticed.extend(hidden_text(&name, description.as_deref().unwrap_or_default(), &parameters));
    noticed.extend(portable(&name));

    let known = ["type", "function", "name", "title", "description", "strict", "annotations", format.schema_key()];
    let every = fields.iter().chain(outer.iter().filter(|_| nested.is_some()));
    // A flat function without `type` is the older `functions` array: its text is no tool of today's Responses API.
    let whole = !matches!(format, Format::OpenAiChat | Format::OpenAiResponses) || kind.is_some();
    Ok(Tool {
        title: fields.string("title").map_err(bad_tool)?,
        description,
        extra: every.filter(|(key, _)| !known.contains(key)).map(|(key, raw)| (key.to_owned(), owned(raw))).collect(),
        source: whole.then(|| (format, Arc::from(compact(raw.get())))),
        name,
        parameters,
        parameters_text,
        declared,
        no_parameters,
        annotations,
        strict,
    })
}

fn read_schema(name: &ToolName, raw: &RawValue) -> Result<(Value, Arc<str>), Diagnostic> {
    let value: Value = serde_json::from_str(raw.get()).map_err(|why| {
        fault("bad-schema", format!("tool `{name}`: the schema cannot be read: {}", fields::without_place(&why)))
            .help(SCHEMA_HELP)
    })?;
    Tool::check_parameters(&value)
        .map_err(|why| fault("bad-schema", format!("tool `{name}`: {why}")).help(SCHEMA_HELP))?;
    Ok((value, Arc::from(compact(raw.get()))))
}

fn example(format: Format) -> &'static str {
    match format {
        Format::OpenAiChat => r#"a tool looks like {"type":"function","function":{"name":"…","parameters":{…}}}"#,
        Format::OpenAiResponses => r#"a tool looks like {"type":"function","name":"…","parameters":{…}}"#,
        Format::Anthropic => r#"a tool looks like {"name":"…","input_schema":{…}}"#,
        Format::Mcp => r#"a tool looks like {"name":"…","inputSchema":{…}}"#,
    }
}

/// Tools that a provider runs have no schema to fold. They are refused by name rather than dropped.
fn refuse_hosted(kind: Option<&str>, format: Format) -> Result<(), Diagnostic> {
    match (kind, format) {
        (None | Some("function"), _) | (_, Format::Mcp) | (Some("custom"), Format::Anthropic) => Ok(()),
        (Some(kind), _) => {
            let message = format!("`{kind}` is a tool that the provider runs or defines, without a schema to fold");
            Err(fault("hosted-tool", message).help("leave it out here and put it behind the array that toolfold gives"))
        }
    }
}

/// A name that some provider would refuse is worth a warning before the request fails.
/// Source: OpenAI `^[a-zA-Z0-9_-]{1,64}$`.
fn portable(name: &ToolName) -> Option<Diagnostic> {
    let text = name.as_str();
    let fits = text.len() <= 64 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    (!fits).then(|| {
        caution("unportable-name", format!("OpenAI refuses the tool name `{name}`"))
            .help("its names have at most 64 ASCII letters, digits, `_` and `-`")
    })
}

/// Characters that nobody sees but a model reads are worth a warning: they are how instructions are hidden.
fn hidden_text(name: &ToolName, description: &str, root: &Value) -> Option<Diagnostic> {
    let mut found = hidden_in(description);
    schema::walk(root, &mut |node| {
        let texts = node.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
        found = found.or_else(|| texts.filter_map(hidden_in).next());
    });
    found.map(|c| {
        let message = format!("tool `{name}`: its words hide the invisible character U+{:04X}", u32::from(c));
        caution("hidden-text", message)
            .help("a model reads it and people do not: take it out, or do not trust the tool")
    })
}

/// What a reader of the schema should know: it is not an object's, or it refers to what is not there.
fn check_schema(name: &ToolName, root: &Value, noticed: &mut Vec<Diagnostic>) {
    if let Some(other) = schema::top(root).get("type").filter(|t| t.as_str() != Some("object")) {
        let message = format!("tool `{name}`: the arguments' type is {other}, not \"object\"");
        noticed.push(caution("not-an-object", message).help("providers refuse such a schema"));
    }
    let mut seen: Vec<&str> = Vec::new();
    schema::walk(root, &mut |node| {
        let Some(reference) = schema::reference(node) else { return };
        if seen.contains(&reference) || seen.len() >= MAX_DIAGNOSTICS {
            return;
        }
        seen.push(reference);
        let (code, what, help) = match schema::resolve(root, reference) {
            Target::Found(_) => return,
            Target::Remote => ("remote-ref", "points outside its document and is never fetched", "inline it"),
            Target::Missing => ("missing-ref", "points at nothing", "mend the pointer, or add the definition"),
        };
        noticed.push(caution(code, format!("tool `{name}`: `$ref` `{reference}` {what}")).help(help));
    });
}
