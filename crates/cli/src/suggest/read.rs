//! Reads usage from files: JSON lines, or one JSON document over many lines.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::lines::{Line, Lines, not_json};
use super::super::output::{Failure, progress, say_all, warn};
use toolfold::catalog::Catalog;
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold_measure::usage::{MAX_CALLS, MAX_SESSIONS, Usage, UsageReader};

/// Maximum number of invalid lines that are described; the rest are counted.
const MAX_DESCRIBED: usize = 20;

/// Maximum number of unknown names that are reported.
const MAX_NAMES: usize = 8;

/// Maximum size of a document over several lines in bytes.
const MAX_DOCUMENT: usize = 64 << 20;

/// Number of lines after which a terminal gets a progress line.
const SLOW_LINES: usize = 100_000;

/// Reads files, one after another.
pub(super) struct Read<'c> {
    reader: UsageReader<'c>,
    catalog: &'c Catalog,
    bad_lines: usize,
    described: usize,
    slow: bool,
}

#[derive(Default)]
struct Document {
    lines: Vec<(usize, String)>,
    bytes: usize,
}

impl<'c> Read<'c> {
    pub(super) fn new(catalog: &'c Catalog) -> Self {
        Self { reader: UsageReader::new(catalog), catalog, bad_lines: 0, described: 0, slow: false }
    }

    /// Reads a file; `-` is standard input. An unreadable line is reported and counted.
    pub(super) fn read_usage_file(&mut self, file: &str) -> Result<(), Failure> {
        let mut lines = Lines::open_lines(file)?;
        self.reader.begin_file();
        let mut held: Option<Document> = None;
        let mut first = true;
        // An invalid line is reported when the next one shows that it was not the last.
        let mut torn: Option<(usize, String)> = None;
        while let Some(Line { number, text }) = lines.next()? {
            if let Some((number, why)) = torn.take() {
                self.bad(file, number, why);
            }
            if number >= SLOW_LINES && !self.slow {
                self.slow = true;
                progress(&format!("reading {file} …"));
            }
            let text = match text {
                Ok(text) => text,
                Err(why) => {
                    self.bad(file, number, why);
                    continue;
                }
            };
            if let Some(document) = &mut held {
                document.bytes += text.len();
                document.lines.push((number, text));
                if document.bytes > MAX_DOCUMENT {
                    self.one_by_one(file, std::mem::take(document));
                    held = None;
                }
                continue;
            }
            match serde_json::from_str::<Value>(&text) {
                Ok(value) => self.take_line(file, number, &value),
                // A value that ends early may continue in the next line.
                Err(why) if first && why.is_eof() => {
                    held = Some(Document { bytes: text.len(), lines: vec![(number, text)] });
                }
                Err(why) if why.is_eof() => torn = Some((number, not_json(&why))),
                Err(why) => self.bad(file, number, not_json(&why)),
            }
            first = false;
        }
        if let Some((number, _)) = torn {
            self.bad_lines += 1;
            let why = "the last line is cut off";
            say_all(&[Diagnostic::warning("torn-log", Place::file(file).line_column(number, 1), why)]);
        }
        if let Some(document) = held {
            let text: String = document.lines.iter().map(|(_, text)| format!("{text}\n")).collect();
            match serde_json::from_str::<Value>(&text) {
                Ok(value) => self.take_line(file, 1, &value),
                Err(_) => self.one_by_one(file, document),
            }
        }
        Ok(())
    }

    /// Reads the lines of a file that is not a single document.
    fn one_by_one(&mut self, file: &str, document: Document) {
        for (number, text) in document.lines {
            match serde_json::from_str::<Value>(&text) {
                Ok(value) => self.take_line(file, number, &value),
                Err(why) => self.bad(file, number, not_json(&why)),
            }
        }
    }

    fn take_line(&mut self, file: &str, number: usize, value: &Value) {
        let place = Place::file(file).line_column(number, 1);
        let diagnostics = self.reader.read_value(value, &place);
        self.bad_lines += usize::from(!diagnostics.is_empty());
        self.describe(&diagnostics);
    }

    fn bad(&mut self, file: &str, number: usize, why: String) {
        self.bad_lines += 1;
        self.describe(&[Diagnostic::error("bad-line", Place::file(file).line_column(number, 1), why)]);
    }

    fn describe(&mut self, diagnostics: &[Diagnostic]) {
        let left = MAX_DESCRIBED.saturating_sub(self.described);
        self.described += diagnostics.len();
        say_all(diagnostics.get(..left.min(diagnostics.len())).unwrap_or_default());
    }

    /// The usage and the number of unreadable lines, after reporting the notes.
    pub(super) fn done(self) -> (Usage, usize) {
        if self.described > MAX_DESCRIBED {
            warn(&format!("{} more lines cannot be read", self.described - MAX_DESCRIBED));
        }
        let usage = self.reader.into_usage();
        say_all(&noticed(&usage, self.catalog.len()));
        (usage, self.bad_lines)
    }
}

fn noticed(usage: &Usage, tools: usize) -> Vec<Diagnostic> {
    let mut said = Vec::new();
    for (name, unknown) in usage.unknown.iter().take(MAX_NAMES) {
        let times = if unknown.calls == 1 { "once".to_owned() } else { format!("{} times", unknown.calls) };
        let message = format!("`{name}` was called {times} and is not one of the {tools} tools");
        let own = Diagnostic::warning("unknown-tool", Place::default(), message);
        said.push(match &unknown.near {
            Some(near) => own.help(format!("did you mean `{near}`? Its calls are not counted")),
            None => own.help("its calls are not counted; pass the --tools of this log"),
        });
    }
    let more = usage.unknown.len().saturating_sub(MAX_NAMES);
    if more > 0 || usage.more_unknown > 0 {
        let told: usize = usage.unknown.values().take(MAX_NAMES).map(|own| own.calls).sum();
        let calls = usage.unknown_calls() - told;
        let message = format!(
            "{calls} more calls of {more}{} unknown names",
            if usage.more_unknown > 0 { " and more" } else { "" }
        );
        said.push(Diagnostic::warning("unknown-tool", Place::default(), message).help("--json lists them"));
    }
    if !usage.loose.is_empty() {
        // Grouped by tool, so that ten spellings of one tool are one note.
        let mut by: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
        for ((written, own), calls) in &usage.loose {
            by.entry(own).or_insert((written, 0)).1 += calls;
        }
        let shown: Vec<String> =
            by.iter().take(3).map(|(own, (written, _))| format!("`{written}` as `{own}`")).collect();
        let more = if by.len() > shown.len() { ", …" } else { "" };
        let message = format!("names were matched approximately: {}{more}", shown.join(", "));
        said.push(Diagnostic::note("loose-name", Place::default(), message));
    }
    if usage.silent > 0 {
        let message = format!("{} values contain no calls", usage.silent);
        said.push(Diagnostic::note("no-call", Place::default(), message));
    }
    if usage.cut {
        let message = format!("only the first {MAX_CALLS} calls and {MAX_SESSIONS} sessions are counted");
        said.push(Diagnostic::warning("too-much", Place::default(), message).help("pass fewer files"));
    }
    said
}
