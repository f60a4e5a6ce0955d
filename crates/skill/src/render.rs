//! Placeholders in a skill's text. Pure text substitution: nothing is run, and inserted text is not
//! expanded again.

use serde_json::Value;

/// Facts from the host that a skill can insert.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Facts {
    /// The conversation's id, for `${SESSION_ID}` and `${CLAUDE_SESSION_ID}`.
    pub session: Option<String>,
    /// The working directory, for `{{system.cwd}}`.
    pub cwd: Option<String>,
    /// The time in the host's format, for `{{system.timestamp}}`.
    pub timestamp: Option<String>,
}

impl Facts {
    /// Sets [`Self::session`].
    #[must_use]
    pub fn with_session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Sets [`Self::cwd`].
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets [`Self::timestamp`].
    #[must_use]
    pub fn with_timestamp(mut self, timestamp: impl Into<String>) -> Self {
        self.timestamp = Some(timestamp.into());
        self
    }
}

/// The inputs of a rendering.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inputs<'a> {
    pub(crate) arguments: Option<&'a str>,
    pub(crate) input: Option<&'a Value>,
    pub(crate) folder: &'a str,
    pub(crate) facts: Option<&'a Facts>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    /// Placeholders that were not replaced, in the order of the text.
    pub(crate) unknown: Vec<String>,
    pub(crate) commands: Vec<String>,
}

/// Renders in one pass from left to right.
pub(crate) fn render(body: &str, inputs: Inputs<'_>) -> Rendered {
    let mut out = Rendered { text: String::with_capacity(body.len()), ..Rendered::default() };
    let words = inputs.arguments.map(words).unwrap_or_default();
    let mut used_arguments = false;
    let mut rest = body;
    let mut before = '\n';
    while let Some(at) = rest.find(['$', '{', '!']) {
        let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.text.push_str(head);
        before = head.chars().last().unwrap_or(before);
        let (taken, with) = match placeholder(tail, before) {
            None => {
                let first = tail.chars().next().unwrap_or('$');
                (first.len_utf8(), Some(first.to_string()))
            }
            Some((length, what)) => {
                let raw = tail.get(..length).unwrap_or_default();
                used_arguments |= matches!(what, What::Arguments | What::Argument(_));
                let value = match &what {
                    What::Command(command) => {
                        out.commands.push((*command).to_owned());
                        Some(format!("[not run: {command}]"))
                    }
                    what => value(what, inputs, &words),
                };
                // `$1` can also be shell or awk syntax: without arguments it is not a placeholder.
                if value.is_none() && !(matches!(what, What::Argument(_)) && inputs.arguments.is_none()) {
                    out.unknown.push(raw.to_owned());
                }
                (length, Some(value.unwrap_or_else(|| raw.to_owned())))
            }
        };
        out.text.push_str(&with.unwrap_or_default());
        before = tail.get(..taken).and_then(|t| t.chars().last()).unwrap_or(before);
        rest = tail.get(taken..).unwrap_or_default();
    }
    out.text.push_str(rest);
    if let Some(arguments) = inputs.arguments.filter(|a| !used_arguments && !a.trim().is_empty()) {
        out.text.push_str("\n\nArguments: ");
        out.text.push_str(arguments);
    }
    out
}

enum What<'a> {
    Arguments,
    Argument(usize),
    Variable(&'a str),
    Path(&'a str),
    Command(&'a str),
}

/// The placeholder at the start of a text, and its length in bytes.
fn placeholder(text: &str, before: char) -> Option<(usize, What<'_>)> {
    if let Some(rest) = text.strip_prefix("${") {
        let name = near_end(rest, "}")?;
        let word = !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        return word.then_some((name.len() + 3, What::Variable(name)));
    }
    if let Some(rest) = text.strip_prefix("$ARGUMENTS") {
        let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        return ends.then_some(("$ARGUMENTS".len(), What::Arguments));
    }
    if let Some(rest) = text.strip_prefix('$') {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = rest.get(..digits).filter(|d| d.len() <= 2)?.parse().ok().filter(|n| *n > 0)?;
        return Some((digits + 1, What::Argument(number)));
    }
    if let Some(rest) = text.strip_prefix("{{") {
        let inner = near_end(rest, "}}")?;
        let path = inner.trim();
        let ours = path.starts_with("input.") || path.starts_with("system.");
        let plain = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
        return (ours && plain).then_some((inner.len() + 4, What::Path(path)));
    }
    if let Some(rest) = text.strip_prefix("!`") {
        let command = near_end(rest, "`")?;
        let alone = before.is_whitespace() || matches!(before, '(' | ':' | '>' | '*' | '-');
        let fits = !command.is_empty() && !command.contains('\n');
        return (alone && fits).then_some((command.len() + 3, What::Command(command)));
    }
    None
}

/// The text before an end marker within 400 bytes. A longer search would make rendering quadratic.
fn near_end<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let mut limit = text.len().min(400);
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    text.get(..limit)?.split_once(end).map(|(inner, _)| inner)
}

fn value(what: &What<'_>, inputs: Inputs<'_>, words: &[String]) -> Option<String> {
    let facts = inputs.facts;
    match what {
        What::Arguments => Some(inputs.arguments.unwrap_or_default().to_owned()),
        What::Argument(number) => words.get(number - 1).cloned(),
        What::Variable("SESSION_ID" | "CLAUDE_SESSION_ID") => facts?.session.clone(),
        What::Variable("SKILL_DIR" | "CLAUDE_SKILL_DIR") => Some(inputs.folder.to_owned()),
        What::Path("system.cwd") => facts?.cwd.clone(),
        What::Path("system.timestamp") => facts?.timestamp.clone(),
        What::Path(path) => {
            let mut value = inputs.input?;
            for key in path.strip_prefix("input.")?.split('.') {
                value = match value {
                    Value::Array(items) => items.get(key.parse::<usize>().ok()?)?,
                    value => value.get(key)?,
                };
            }
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        }
        What::Variable(_) | What::Command(_) => None,
    }
}

/// Splits arguments at spaces outside quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut any) = (String::new(), None, false);
    for c in text.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.push(c),
            None if c == '"' || (c == '\'' && word.is_empty()) => (quote, any) = (Some(c), true),
            None if c.is_whitespace() => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            None => word.push(c),
        }
    }
    if any || !word.is_empty() {
        words.push(word);
    }
    words
}
