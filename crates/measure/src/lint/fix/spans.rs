//! Finds the byte ranges of values in a JSON text.

/// The maximum nesting depth, that of `serde_json`.
const MAX_DEPTH: usize = 128;

const BYTE_ORDER_MARK: char = '\u{feff}';

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    /// The position after its last byte.
    pub(super) end: usize,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Object(Vec<Member>),
    Array(Vec<Span>),
    Leaf,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_start: usize,
    pub(super) value: Span,
}

impl Span {
    pub(super) fn members(&self) -> Option<&[Member]> {
        if let Kind::Object(members) = &self.kind { Some(members) } else { None }
    }

    pub(super) fn items(&self) -> Option<&[Span]> {
        if let Kind::Array(items) = &self.kind { Some(items) } else { None }
    }

    /// The value of a key. The last of duplicate keys counts, as for every reader.
    pub(super) fn member(&self, key: &str) -> Option<&Span> {
        self.members()?.iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    pub(super) fn at_path(&self, path: &[String]) -> Option<&Span> {
        path.iter().try_fold(self, |span, token| match &span.kind {
            Kind::Object(_) => span.member(token),
            Kind::Array(items) => items.get(token.parse::<usize>().ok()?),
            Kind::Leaf => None,
        })
    }

    pub(super) fn string(&self, text: &str) -> Option<String> {
        serde_json::from_str(text.get(self.start..self.end)?).ok()
    }
}

/// The values of a text, one after the other. `None` if it is not valid JSON. A byte order mark at
/// its start is skipped, as for every reader of lists.
pub(super) fn parse_spans(text: &str) -> Option<Vec<Span>> {
    let at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    let mut reader = Reader { text, bytes: text.as_bytes(), at };
    let mut roots = Vec::new();
    reader.blank();
    while reader.at < text.len() {
        roots.push(reader.value_span(0)?);
        reader.blank();
    }
    Some(roots)
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blank(&mut self) {
        while self.peek().is_some_and(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn value_span(&mut self, depth: usize) -> Option<Span> {
        if depth > MAX_DEPTH {
            return None;
        }
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => self.object(depth)?,
            b'[' => self.array_items(depth)?,
            b'"' => {
                self.string()?;
                Kind::Leaf
            }
            _ => {
                while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.')) {
                    self.at += 1;
                }
                Kind::Leaf
            }
        };
        (self.at > start).then_some(Span { start, end: self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Option<Kind> {
        self.eat(b'{')?;
        let mut members = Vec::new();
        self.blank();
        while self.peek()? != b'}' {
            if !members.is_empty() {
                self.eat(b',')?;
                self.blank();
            }
            let key_start = self.at;
            self.string()?;
            let key = serde_json::from_str(self.text.get(key_start..self.at)?).ok()?;
            self.blank();
            self.eat(b':')?;
            self.blank();
            members.push(Member { key, key_start, value: self.value_span(depth + 1)? });
            self.blank();
        }
        self.eat(b'}')?;
        Some(Kind::Object(members))
    }

    fn array_items(&mut self, depth: usize) -> Option<Kind> {
        self.eat(b'[')?;
        let mut items = Vec::new();
        self.blank();
        while self.peek()? != b']' {
            if !items.is_empty() {
                self.eat(b',')?;
                self.blank();
            }
            items.push(self.value_span(depth + 1)?);
            self.blank();
        }
        self.eat(b']')?;
        Some(Kind::Array(items))
    }

    fn string(&mut self) -> Option<()> {
        self.eat(b'"')?;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.eat(b'"')
    }
}
