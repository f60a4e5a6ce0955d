//! Gemini: `[{"functionDeclarations":[{"name","description","parameters"}]}]`.
//!
//! A function without parameters, and a stub, is sent without `parameters`: Gemini refuses an object without properties
//! ("should be non-empty for OBJECT type"). What else its schema subset cannot say, [`schema`] says.

pub(super) mod schema;

use super::out::OutTool;
use super::render::{RenderOptions, write_head};
use crate::catalog::Format;
use crate::diagnostic::{Diagnostic, Place};
use crate::profile::Detail;

/// One function declaration. A full tool that came in this shape goes out as it came.
pub(super) fn write_tool(out: &mut String, tool: &OutTool<'_>, _: &RenderOptions, notes: &mut Vec<Diagnostic>) {
    if let Some(text) = tool.as_it_came(Format::Gemini) {
        return out.push_str(text);
    }
    out.push('{');
    write_head(out, tool.name, tool.description());
    let subset = schema::parameters(&tool.folded.parameters());
    if let Some(parameters) = subset.schema {
        out.push_str(",\"parameters\":");
        out.push_str(&parameters.to_string());
    }
    tool.write_keys(out, Format::Gemini, false);
    out.push('}');
    // What folding opened is no loss of the tool's own.
    if tool.folded.detail() != Detail::Summary && tool.index.is_some() {
        notes.extend(subset.changes.into_iter().map(|change| change.diagnostic(tool.name)));
    }
}

impl schema::Change {
    fn diagnostic(&self, name: &str) -> Diagnostic {
        let places = if self.count == 1 { String::new() } else { format!(", at {} places", self.count) };
        let message = format!("tool `{name}`: `{}` {}{places}", self.keyword, self.what);
        Diagnostic::note("gemini-subset", Place::default().path(&self.path), message)
            .help("Gemini's parameters are a subset of OpenAPI 3.0; calls are checked against the whole schema here")
    }
}
