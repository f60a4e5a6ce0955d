//! The front matter reader of both verdicts.
//!
//! The text becomes a small tree of strings, lists and maps. Constructs that the strict verdict
//! forbids although YAML allows them (flow style, anchors, aliases, tags, uneven siblings,
//! duplicate keys) are recorded beside the tree rather than rejected, so the lenient verdict can
//! use the same tree. Aliases are never expanded and the parser bounds nesting, so neither an alias
//! bomb nor deeply nested brackets cost more than their length.

use std::collections::HashSet;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle};

/// A position in the text: line and column from 1, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// A string. `plain`: it was written without quotes, so YAML would read `true` as a boolean.
    Text {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    /// A map in the written order; keys may repeat.
    Map(Vec<Entry>),
    /// An alias (`*name`), which is never followed.
    Alias,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Whether the key is unquoted: only then is `<<` a merge key.
    pub(crate) plain: bool,
    pub(crate) at: Mark,
    pub(crate) value: Node,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) at: Mark,
    pub(crate) message: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// The first document, if the YAML is valid. `None` for an empty text too.
    pub(crate) root: Option<Node>,
    /// The first construct that the strict verdict forbids.
    pub(crate) forbidden: Option<Complaint>,
    pub(crate) repeated: Vec<Entry>,
    pub(crate) repeats: bool,
    /// The byte ranges of quoted and block texts, in order; `true` marks a block text.
    pub(crate) quoted: Vec<(Range<usize>, bool)>,
    /// The text that was read instead of the given one, if its quoted lines had to be indented.
    pub(crate) indented: Option<String>,
    /// Why the YAML could not be read.
    pub(crate) broken: Option<Complaint>,
}

impl Reading {
    /// Whether the strict verdict's YAML reader rejects this text.
    pub(crate) fn refused(&self) -> Option<&Complaint> {
        self.broken.as_ref().or(self.forbidden.as_ref())
    }
}

/// Reads one YAML document.
pub(crate) fn read(text: &str) -> Reading {
    let first = read_once(text);
    if first.broken.is_none() {
        return first;
    }
    // A quoted text may continue at column 0 in the reference's reader, but not in this one: indent
    // its lines and retry.
    let Some(indented) = indent_quoted(text) else { return first };
    let second = read_once(&indented);
    if second.broken.is_none() { Reading { indented: Some(indented), ..second } } else { first }
}

fn read_once(text: &str) -> Reading {
    let options = granit_parser::options! { strict_indentation: false };
    let events = Parser::new_from_str_with_options(text, options);
    let cut = !text.ends_with('\n');
    let mut reader = Reader { events, length: text.len(), cut, out: Reading::default() };
    match reader.document() {
        Ok(root) => reader.out.root = root,
        Err(complaint) => reader.out.broken = Some(complaint),
    }
    reader.out
}

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
    /// The length of the text in bytes, and whether its last line has no line break.
    length: usize,
    cut: bool,
    out: Reading,
}

fn mark(span: &Span) -> Mark {
    Mark { line: span.start.line(), column: span.start.col() + 1 }
}

impl From<ScanError> for Complaint {
    fn from(error: ScanError) -> Self {
        let marker = error.marker();
        Self { at: Mark { line: marker.line(), column: marker.col() + 1 }, message: error.info() }
    }
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Complaint> {
        match self.events.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(error.into()),
            None => Err(Complaint { at: Mark { line: 1, column: 1 }, message: "unexpected end".to_owned() }),
        }
    }

    fn forbid(&mut self, at: Mark, message: &str) {
        if self.out.forbidden.is_none() {
            self.out.forbidden = Some(Complaint { at, message: message.to_owned() });
        }
    }

    /// The first document; a second one is an error, as in the reference.
    fn document(&mut self) -> Result<Option<Node>, Complaint> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                Event::StreamEnd => return Ok(root.map(|(node, _)| node)),
                _ if root.is_some() => {
                    return Err(Complaint { at: mark(&span), message: "a second YAML document".to_owned() });
                }
                _ => root = Some(self.node(event, &span, 0)?),
            }
        }
    }

    /// A node; for a map also the column where it starts.
    fn node(&mut self, event: Event<'a>, span: &Span, depth: usize) -> Result<(Node, Option<usize>), Complaint> {
        let at = mark(span);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.properties(at, anchor, tag.is_some());
                let plain = matches!(style, ScalarStyle::Plain);
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                if !plain && let Some(range) = span.byte_range() {
                    self.out.quoted.push((range, block));
                }
                // An absent value is reported as `~` with no length in the text.
                let mut text = if plain && text == "~" && span.is_empty() { String::new() } else { text.into_owned() };
                // A block text at the end of the file may lack the final line break.
                if block && self.cut && span.byte_range().is_some_and(|r| r.end >= self.length) && text.ends_with('\n')
                {
                    text.pop();
                }
                Ok((Node::Text { text, plain }, None))
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                self.forbid(at, "an alias (`*name`)");
                Ok((Node::Alias, None))
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.collection(at, style, anchor, tag.is_some());
                let mut items = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::SequenceEnd) {
                        return Ok((Node::List(items), None));
                    }
                    items.push(self.node(event, &span, depth + 1)?.0);
                }
            }
            Event::MappingStart(style, anchor, tag) => {
                self.collection(at, style, anchor, tag.is_some());
                Ok((Node::Map(self.map(depth)?), Some(at.column)))
            }
            _ => Err(Complaint { at, message: "unexpected YAML structure".to_owned() }),
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<Entry>, Complaint> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen = HashSet::new();
        let mut child_column = None;
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(entries);
            }
            let at = mark(&span);
            let (key, plain) = match self.node(event, &span, depth + 1)?.0 {
                Node::Text { text, plain } => (text, plain),
                Node::List(_) | Node::Map(_) | Node::Alias => {
                    self.forbid(at, "a key that is not a text");
                    (String::new(), false)
                }
            };
            let (event, span) = self.next()?;
            let value_at = mark(&span);
            let (value, column) = self.node(event, &span, depth + 1)?;
            if let Some(column) = column {
                if child_column.is_some_and(|c| c != column) {
                    self.forbid(value_at, "maps beside each other that are indented differently");
                }
                child_column = child_column.or(Some(column));
            }
            let entry = Entry { key, plain, at, value };
            if seen.insert(entry.key.clone()) {
                entries.push(entry);
            } else {
                self.forbid(at, "a key that is there twice");
                self.out.repeats = true;
                if depth == 0 {
                    self.out.repeated.push(entry);
                }
            }
        }
    }

    fn collection(&mut self, at: Mark, style: StructureStyle, anchor: usize, tagged: bool) {
        if style == StructureStyle::Flow {
            self.forbid(at, "flow style (`[…]` or `{…}`)");
        }
        self.properties(at, anchor, tagged);
    }

    fn properties(&mut self, at: Mark, anchor: usize, tagged: bool) {
        if anchor != 0 {
            self.forbid(at, "an anchor (`&name`)");
        }
        if tagged {
            self.forbid(at, "a tag (`!name`)");
        }
    }
}

/// The text with additional spaces before every line that continues a quoted value and before a
/// block header at column 0, and with a space before a comment directly after a quote. `None` if
/// there is nothing to change.
fn indent_quoted(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 64);
    let (mut open, mut block, mut changed) = (None, None, false);
    let mut wants_value = false;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if block.is_some_and(|b| indent > b || line.trim().is_empty()) {
            out.push_str(line);
            continue;
        }
        block = block_header(line).then_some(indent);
        let bare_header = indent == 0 && open.is_none() && wants_value && is_header(line.trim());
        if !line.trim().is_empty() {
            wants_value = line.split(" #").next().is_some_and(|l| l.trim_end().ends_with(':'));
        }
        if bare_header {
            changed = true;
            block = Some(0);
            out.push(' ');
        }
        let mut rest = line;
        if let Some((_, spaces)) = open {
            changed = true;
            out.extend(std::iter::repeat_n(' ', spaces));
        } else if let Some((quote, start)) = opening_quote(line) {
            open = Some((quote, indent + 4));
            out.push_str(line.get(..start).unwrap_or_default());
            rest = line.get(start..).unwrap_or_default();
        }
        if let Some(end) = open.and_then(|(quote, _)| closing_quote(rest, quote)) {
            open = None;
            // The reference allows a comment directly after a closing quote.
            if rest.get(end..).is_some_and(|after| after.starts_with('#')) {
                changed = true;
                out.push_str(rest.get(..end).unwrap_or_default());
                out.push(' ');
                rest = rest.get(end..).unwrap_or_default();
            }
        }
        out.push_str(rest);
    }
    changed.then_some(out)
}

/// Whether the value of this line is a block text (`|` or `>`) that starts on the next line.
fn block_header(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(_, value)| is_header(value.trim()))
}

fn is_header(value: &str) -> bool {
    value.starts_with(['|', '>']) && value.chars().all(|c| matches!(c, '|' | '>' | '+' | '-' | '0'..='9'))
}

/// The quote that opens the value of a `key: "…` or `- "…` line, and the position after it.
fn opening_quote(line: &str) -> Option<(char, usize)> {
    line.char_indices().filter(|(_, c)| matches!(c, '"' | '\'')).find_map(|(at, quote)| {
        let before = line.get(..at)?;
        let key = before.trim();
        let opens = key.ends_with(':') || !key.is_empty() && key.split_whitespace().all(|dash| dash == "-");
        (opens && before.ends_with([' ', '\t']) && !key.contains('#')).then_some((quote, at + 1))
    })
}

/// The position after the closing quote, if it is in this part of the text.
fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && quote == '"' {
            chars.next();
        } else if c == quote {
            if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') {
                chars.next();
            } else {
                return Some(at + 1);
            }
        }
    }
    None
}
