//! Gemini: `[{"functionDeclarations":[{"name","description","parameters"}]}]`.
//!
//! A function without parameters, and a stub, is sent without `parameters`: Gemini refuses an object without properties
//! ("should be non-empty for OBJECT type"). What else its schema subset cannot say, [`schema`] says.

pub(super) mod schema;

use super::render::{Sending, write_head};
use crate::diagnostic::{Diagnostic, Place};
use crate::profile::Detail;

pub(super) fn render(sending: &mut Sending<'_>) -> String {
    let mut out = String::from("[{\"functionDeclarations\":[");
    let (mut notes, mut first) = (Vec::new(), true);
    for sent in sending.tools() {
        if !std::mem::take(&mut first) {
            out.push(',');
        }
        let name = sending.name(&sent.tool);
        out.push('{');
        write_head(&mut out, name, sent.tool.description());
        let subset = schema::parameters(&sent.tool.parameters());
        if let Some(parameters) = subset.schema {
            out.push_str(",\"parameters\":");
            out.push_str(&parameters.to_string());
        }
        out.push('}');
        // What folding opened is no loss of the tool's own.
        let own = subset.changes.into_iter().filter(|_| sent.tool.detail() != Detail::Summary && sent.index.is_some());
        notes.extend(own.map(|change| change.diagnostic(name)));
    }
    out.push_str("]}]");
    sending.notes.extend(notes);
    if first { "[]".to_owned() } else { out }
}

impl schema::Change {
    fn diagnostic(&self, name: &str) -> Diagnostic {
        let places = if self.count == 1 { String::new() } else { format!(", at {} places", self.count) };
        let message = format!("tool `{name}`: `{}` {}{places}", self.keyword, self.what);
        Diagnostic::note("gemini-subset", Place::default().path(&self.path), message)
            .help("Gemini's parameters are a subset of OpenAPI 3.0; calls are checked against the whole schema here")
    }
}
