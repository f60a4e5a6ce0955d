//! Gemini: `[{"functionDeclarations":[{"name","description","parameters"}]}]`.
//!
//! A function without parameters, and a stub, is sent without `parameters`: Gemini refuses an object without properties
//! ("should be non-empty for OBJECT type"). What else its schema subset cannot say, [`schema`] says.

pub(super) mod schema;

use super::render::{OutTool, RenderInput, RenderOptions, comma, write_head};
use crate::diagnostic::{Diagnostic, Place};
use crate::profile::Detail;

pub(super) fn render(input: &RenderInput<'_>, tools: &[OutTool<'_>], notes: &mut Vec<Diagnostic>) -> String {
    if tools.is_empty() {
        return "[]".to_owned();
    }
    let mut out = String::from("[{\"functionDeclarations\":[");
    for tool in tools {
        comma(&mut out);
        write_tool(&mut out, tool, input.options, notes);
    }
    out.push_str("]}]");
    out
}

/// One function declaration.
fn write_tool(out: &mut String, tool: &OutTool<'_>, _: &RenderOptions, notes: &mut Vec<Diagnostic>) {
    out.push('{');
    write_head(out, tool.name, tool.description());
    let subset = schema::parameters(&tool.folded.parameters());
    if let Some(parameters) = subset.schema {
        out.push_str(",\"parameters\":");
        out.push_str(&parameters.to_string());
    }
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
