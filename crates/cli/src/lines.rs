//! JSON lines from a file or standard input, read one by one, so that pipes work.

use std::io::{BufRead, BufReader, Read};

use super::output::Failure;
use crate::input::open_file;

/// Maximum length of a line in bytes.
pub(super) const MAX_LINE: usize = 32 * 1024 * 1024;

pub(super) struct Lines {
    source: Box<dyn BufRead>,
    file: String,
    number: usize,
}

/// One line that is not blank.
pub(super) struct Line {
    /// Its number, from 1; blank lines count.
    pub(super) number: usize,
    /// Its text, or why it cannot be read.
    pub(super) text: Result<String, String>,
}

impl Lines {
    /// Opens a file; `-` is standard input.
    pub(super) fn open_lines(file: &str) -> Result<Self, Failure> {
        let source: Box<dyn BufRead> =
            if file == "-" { Box::new(std::io::stdin().lock()) } else { Box::new(BufReader::new(open_file(file)?)) };
        Ok(Self { source, file: file.to_owned(), number: 0 })
    }

    /// The next line; `None` at the end. A line that is too long or not UTF-8 is skipped.
    pub(super) fn next(&mut self) -> Result<Option<Line>, Failure> {
        loop {
            let mut bytes = Vec::new();
            let most = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
            let read = self.source.by_ref().take(most).read_until(b'\n', &mut bytes);
            if read.map_err(|why| self.broken(&why))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let number = self.number;
            let whole = bytes.len() < MAX_LINE || bytes.ends_with(b"\n");
            if !whole {
                self.source.skip_until(b'\n').map_err(|why| self.broken(&why))?;
                let why = format!("the line is longer than the {} MiB limit", MAX_LINE >> 20);
                return Ok(Some(Line { number, text: Err(why) }));
            }
            if bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            while bytes.pop_if(|byte| matches!(*byte, b'\n' | b'\r')).is_some() {}
            let text = String::from_utf8(bytes)
                .map_err(|why| format!("the line is not UTF-8: byte {} is invalid", why.utf8_error().valid_up_to()));
            return Ok(Some(Line { number, text }));
        }
    }

    fn broken(&self, why: &std::io::Error) -> Failure {
        Failure::unmeasured(format!("{}: cannot be read further: {why}", self.file))
    }
}

/// Why a text is not valid JSON, without the wording of the JSON library.
pub(super) fn not_json(why: &serde_json::Error) -> String {
    if why.is_eof() {
        return "the line is not JSON: it ends in the middle of a value".to_owned();
    }
    let text = why.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let what = match what {
        "expected ident" => "expected true, false or null",
        "recursion limit exceeded" => "it is nested too deeply",
        "control character (\\u0000-\\u001F) found while parsing a string" => "a control character in a string",
        other => other,
    };
    format!("the line is not JSON: {what}, at column {}", why.column())
}
