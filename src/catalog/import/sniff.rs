//! Detects the format of a list and the kind of an entry.

use super::fields::Fields;
use super::framework::Shape;
use crate::catalog::Format;

/// The keys under which a Gemini entry lists its functions.
pub(super) const DECLARATIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];

/// Keys of Gemini entries that are not functions. Source: the Gemini API's `Tool`, in both
/// spellings of a key.
const GEMINI_TOOLS: [&str; 16] = [
    "googleSearch",
    "google_search",
    "googleSearchRetrieval",
    "google_search_retrieval",
    "codeExecution",
    "code_execution",
    "urlContext",
    "url_context",
    "googleMaps",
    "google_maps",
    "computerUse",
    "computer_use",
    "fileSearch",
    "file_search",
    "enterpriseWebSearch",
    "enterprise_web_search",
];

/// The kind of a list entry.
pub(super) enum Kind {
    /// A tool.
    Tool,
    /// An entry that holds tools under this key.
    Group(&'static str),
    /// Anything else, with a short label.
    Foreign(String),
}

/// The format of a list: determined by the first tool, or else by the first entry that only one
/// format has.
pub(super) fn format_of(entries: &[Result<Fields<'_>, String>]) -> Option<Format> {
    let valid: Vec<&Fields<'_>> = entries.iter().flatten().collect();
    valid.iter().find_map(|fields| of_tool(fields)).or_else(|| valid.iter().find_map(|fields| of_other(fields)))
}

/// The format of one tool, if it is unambiguous.
pub(super) fn of_tool(fields: &Fields<'_>) -> Option<Format> {
    let has = |key: &str| fields.raw_field(key).is_some();
    if fields.raw_field("function").is_some_and(|f| f.get().starts_with('{')) {
        Some(Format::OpenAiChat)
    } else if has("toolSpec") {
        Some(Format::BedrockConverse)
    } else if DECLARATIONS.iter().any(|key| is_list(fields, key)) {
        Some(Format::Gemini)
    } else if has("inputSchema") {
        Some(Format::Mcp)
    } else if has("input_schema") {
        Some(Format::Anthropic)
    } else if has("parametersJsonSchema") || has("parameters_json_schema") {
        Some(Format::Gemini)
    } else if has("parameters") || is_namespace(fields) {
        Some(Format::OpenAiResponses)
    } else {
        Shape::of_entry(fields).map(|_| Format::Mcp)
    }
}

fn of_other(fields: &Fields<'_>) -> Option<Format> {
    let kind = match fields.string("type") {
        Ok(Some(kind)) => kind,
        Ok(None) if GEMINI_TOOLS.iter().any(|key| fields.raw_field(key).is_some()) => return Some(Format::Gemini),
        _ => return None,
    };
    // Anthropic's own tools end with the date of their version: `web_search_20250305`.
    let (_, date) = kind.rsplit_once('_')?;
    (date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit())).then_some(Format::Anthropic)
}

/// Classifies an entry of a list of the given format.
///
/// # Errors
/// Fails if the entry's `type` is not a string.
pub(super) fn entry_kind(fields: &Fields<'_>, format: Format) -> Result<Kind, String> {
    if format == Format::Gemini {
        if let Some(key) = DECLARATIONS.into_iter().find(|key| is_list(fields, key)) {
            return Ok(Kind::Group(key));
        }
        return Ok(tool_with(fields, "name"));
    }
    if format == Format::BedrockConverse {
        // An entry is an object with one key: `toolSpec`, `cachePoint`, `systemTool`.
        return Ok(tool_with(fields, "toolSpec"));
    }
    if format == Format::Mcp {
        // An MCP server lists only its own tools; `type` has no meaning there.
        return Ok(Kind::Tool);
    }
    Ok(match fields.string("type")? {
        None => Kind::Tool,
        Some(kind) if kind == "function" => Kind::Tool,
        Some(kind) if kind == "custom" && format == Format::Anthropic => Kind::Tool,
        Some(_) if is_namespace(fields) && format == Format::OpenAiResponses => Kind::Group("tools"),
        Some(kind) => Kind::Foreign(kind),
    })
}

/// A tool if an entry has a key, or else a foreign entry with its first key as the label. An empty
/// object is neither; it is rejected as a tool without a name.
fn tool_with(fields: &Fields<'_>, key: &str) -> Kind {
    match fields.iter().next() {
        Some((first, _)) if fields.raw_field(key).is_none() => Kind::Foreign(first.to_owned()),
        _ => Kind::Tool,
    }
}

fn is_namespace(fields: &Fields<'_>) -> bool {
    matches!(fields.string("type"), Ok(Some(kind)) if kind == "namespace") && is_list(fields, "tools")
}

fn is_list(fields: &Fields<'_>, key: &str) -> bool {
    fields.raw_field(key).is_some_and(|list| list.get().starts_with('['))
}
