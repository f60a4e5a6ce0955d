//! Writes tools in a given format, from their parts or from their original text.

use super::{Catalog, Entry, Format, Member, Tool};

/// Writes the catalog as a compact JSON array.
pub(super) fn export(catalog: &Catalog, format: Format) -> String {
    let mut out = String::from("[");
    match catalog.layout().filter(|layout| layout.format == format) {
        Some(layout) => layout.entries.iter().for_each(|entry| write_entry(&mut out, catalog, entry, format)),
        None if format == Format::Gemini && !catalog.is_empty() => {
            out.push_str("{\"functionDeclarations\":[");
            catalog.iter().for_each(|tool| write_tool(&mut out, tool, tool.name().as_str(), format));
            out.push_str("]}");
        }
        None => catalog.iter().for_each(|tool| write_tool(&mut out, tool, tool.name().as_str(), format)),
    }
    out.push(']');
    out
}

fn write_entry(out: &mut String, catalog: &Catalog, entry: &Entry, format: Format) {
    let tool = |out: &mut String, at: usize| {
        if let Some(tool) = catalog.at(at) {
            write_tool(out, tool, tool.name().as_str(), format);
        }
    };
    let inner = |out: &mut String, at: usize| {
        if let Some(tool) = catalog.at(at) {
            write_tool(out, tool, tool.namespaced().map_or(tool.name().as_str(), |(_, name)| name), format);
        }
    };
    match entry {
        Entry::Tool(at) if format == Format::Gemini => {
            comma(out);
            out.push_str("{\"functionDeclarations\":[");
            tool(out, *at);
            out.push_str("]}");
        }
        Entry::Tool(at) => tool(out, *at),
        Entry::Foreign(foreign) => {
            comma(out);
            out.push_str(&foreign.text);
        }
        Entry::Group(group, members) => {
            comma(out);
            out.push_str(&group.before);
            for member in members {
                match member {
                    Member::Tool(at) => inner(out, *at),
                    Member::Foreign(foreign) => {
                        comma(out);
                        out.push_str(&foreign.text);
                    }
                }
            }
            out.push_str(&group.after);
        }
        Entry::Breakpoint(_) => {}
    }
}

/// Appends a comma unless the list has just begun.
fn comma(out: &mut String) {
    if !out.ends_with('[') {
        out.push(',');
    }
}

fn write_tool(out: &mut String, tool: &Tool, name: &str, format: Format) {
    comma(out);
    if let Some(text) = tool.source_as(name, format) {
        return out.push_str(text);
    }
    out.push_str(match format {
        Format::OpenAiChat => r#"{"type":"function","function":{"name":"#,
        Format::OpenAiResponses => r#"{"type":"function","name":"#,
        Format::Anthropic | Format::Mcp | Format::Gemini => r#"{"name":"#,
        Format::BedrockConverse => r#"{"toolSpec":{"name":"#,
    });
    write_string(out, name);
    if let Some(title) = tool.title().filter(|_| format == Format::Mcp) {
        out.push_str(r#","title":"#);
        write_string(out, title);
    }
    if !tool.description().is_empty() {
        out.push_str(r#","description":"#);
        write_string(out, tool.description());
    }
    out.push_str(match format {
        Format::OpenAiChat | Format::OpenAiResponses => r#","parameters":"#,
        Format::Anthropic => r#","input_schema":"#,
        Format::Mcp => r#","inputSchema":"#,
        Format::Gemini => r#","parametersJsonSchema":"#,
        Format::BedrockConverse => r#","inputSchema":{"json":"#,
    });
    out.push_str(tool.parameters_text());
    if format == Format::BedrockConverse {
        out.push('}');
    }
    match (format, tool.strict()) {
        // Responses treats an absent `strict` as true, so false is written explicitly.
        (Format::OpenAiResponses, strict) => {
            out.push_str(if strict == Some(true) { r#","strict":true"# } else { r#","strict":false"# });
        }
        (Format::OpenAiChat | Format::Anthropic | Format::BedrockConverse, Some(true)) => {
            out.push_str(r#","strict":true"#);
        }
        _ => {}
    }
    if let Some(annotations) = tool.annotations().filter(|_| format == Format::Mcp) {
        out.push_str(r#","annotations":"#);
        out.push_str(&serde_json::to_string(annotations).unwrap_or_else(|_| "{}".to_owned()));
    }
    out.push_str(if matches!(format, Format::OpenAiChat | Format::BedrockConverse) { "}}" } else { "}" });
}

fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The offset of the first byte that a JSON string must escape.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    // Checks sixteen bytes at once without branches: descriptions are long, and few contain
    // anything to escape.
    let clean = |chunk: &&[u8]| !chunk.iter().fold(false, |found, byte| found | is_escaped(*byte));
    let skipped = bytes.chunks_exact(16).take_while(clean).count() * 16;
    let at = bytes.get(skipped..)?.iter().copied().position(is_escaped)?;
    Some(skipped + at)
}

/// Appends a JSON string with the escapes of `serde_json`: only `"`, `\\` and control characters.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_escaped(rest.as_bytes()) {
        // Escaped characters are ASCII, so both cuts are character boundaries.
        out.push_str(rest.get(..at).unwrap_or_default());
        match rest.as_bytes().get(at).copied().unwrap_or_default() {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            control => out.push_str(&format!("\\u{control:04x}")),
        }
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
}
