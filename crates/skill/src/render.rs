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
    /// The project's folder, for `${PROJECT_DIR}`, `${CLAUDE_PROJECT_DIR}` and
    /// `{{system.project}}`.
    pub project: Option<String>,
    /// The time in the host's format, for `{{system.timestamp}}`.
    pub timestamp: Option<String>,
}

/// The inputs of a rendering.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inputs<'a> {
    pub(crate) arguments: Option<&'a str>,
    /// What the skill declares. Without a declaration, `$1` and `$name` are ordinary text.
    pub(crate) declared: Option<Declared<'a>>,
    pub(crate) input: Option<&'a Value>,
    pub(crate) folder: &'a str,
    /// The folder of the skill's plugin.
    pub(crate) plugin: Option<&'a str>,
    pub(crate) facts: Option<&'a Facts>,
}

/// The arguments that a skill declares with `arguments` or `argument-hint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Declared<'a> {
    /// The names, in the order of the words.
    pub(crate) names: &'a [String],
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
    let mut inserted = false;
    let mut rest = body;
    let mut before = '\n';
    while let Some(at) = rest.find(['$', '{', '!', '\\']) {
        let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.text.push_str(head);
        before = head.chars().last().unwrap_or(before);
        let (taken, with) = match placeholder(tail, before, inputs.declared) {
            None => {
                let first = tail.chars().next().unwrap_or('$');
                (first.len_utf8(), Some(first.to_string()))
            }
            Some((length, what)) => {
                let raw = tail.get(..length).unwrap_or_default();
                let value = match &what {
                    What::Command(command) => {
                        out.commands.push((*command).to_owned());
                        Some(format!("[not run: {command}]"))
                    }
                    what => value(what, inputs, &words),
                };
                inserted |= value.is_some() && matches!(what, What::Arguments | What::Argument(_));
                if value.is_none() {
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
    if let Some(arguments) = inputs.arguments.filter(|a| !inserted && !a.trim().is_empty()) {
        out.text.push_str("\n\nARGUMENTS: ");
        out.text.push_str(arguments);
    }
    out
}

enum What<'a> {
    Arguments,
    /// The position of a word, from 0.
    Argument(usize),
    /// `\$1`: the placeholder without its backslash.
    Escaped(&'a str),
    Variable(&'a str),
    Path(&'a str),
    Command(&'a str),
}

/// The placeholder at the start of a text, and its length in bytes.
fn placeholder<'a>(text: &'a str, before: char, declared: Option<Declared<'_>>) -> Option<(usize, What<'a>)> {
    if let Some(rest) = text.strip_prefix('\\') {
        // Only an argument is escaped: `\$HOME` and `\${X}` in code stay as they are.
        let (length, _) = argument(rest, declared)?;
        return Some((length + 1, What::Escaped(rest.get(..length)?)));
    }
    if let Some(found) = argument(text, declared) {
        return Some(found);
    }
    if let Some(rest) = text.strip_prefix("${") {
        let name = near_end(rest, "}")?;
        let word = !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        return word.then_some((name.len() + 3, What::Variable(name)));
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

/// The argument at the start of a text. `$ARGUMENTS` and `$ARGUMENTS[N]` are arguments in every
/// skill; `$N` and `$name` only in a skill that declares arguments.
fn argument<'a>(text: &'a str, declared: Option<Declared<'_>>) -> Option<(usize, What<'a>)> {
    if let Some(rest) = text.strip_prefix("$ARGUMENTS") {
        let index = rest.strip_prefix('[').and_then(|rest| near_end(rest, "]"));
        let number = index.filter(|n| is_number(n)).and_then(|n| Some((n, n.parse().ok()?)));
        if let Some((digits, number)) = number {
            return Some(("$ARGUMENTS[]".len() + digits.len(), What::Argument(number)));
        }
        return (!continues(rest)).then_some(("$ARGUMENTS".len(), What::Arguments));
    }
    let (rest, declared) = (text.strip_prefix('$')?, declared?);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if let Some(number) = rest.get(..digits).filter(|digits| is_number(digits)) {
        // `$1.42` and `$1,000` are amounts.
        let after = rest.get(digits..).unwrap_or_default();
        let is_amount = after.strip_prefix(['.', ',']).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()));
        let position = number.parse().ok().filter(|_| !is_amount && !continues(after))?;
        return Some((digits + 1, What::Argument(position)));
    }
    let mut longest: Option<(usize, usize)> = None;
    for (position, name) in declared.names.iter().enumerate() {
        let is_named = rest.strip_prefix(name.as_str()).is_some_and(|after| !continues(after));
        if is_named && longest.is_none_or(|(length, _)| name.len() > length) {
            longest = Some((name.len(), position));
        }
    }
    longest.map(|(length, position)| (length + 1, What::Argument(position)))
}

/// Whether a word continues at the start of a text.
fn continues(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Whether a text is a position of at most two digits.
fn is_number(text: &str) -> bool {
    matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_digit())
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
        What::Argument(position) => words.get(*position).cloned(),
        What::Escaped(text) => Some((*text).to_owned()),
        What::Variable("SESSION_ID" | "CLAUDE_SESSION_ID") => facts?.session.clone(),
        What::Variable("SKILL_DIR" | "CLAUDE_SKILL_DIR") => Some(inputs.folder.to_owned()),
        What::Variable("PLUGIN_ROOT" | "CLAUDE_PLUGIN_ROOT") => inputs.plugin.map(str::to_owned),
        What::Variable("PROJECT_DIR" | "CLAUDE_PROJECT_DIR") | What::Path("system.project") => facts?.project.clone(),
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

/// Splits arguments by the rules of a shell, but `#` starts no comment (`fix #12`). Arguments with
/// an open quote (`it's late`) are split at spaces.
fn words(text: &str) -> Vec<String> {
    // U+FFFF is not a character, so no argument contains it.
    match shlex::split(&text.replace('#', "\u{ffff}")) {
        Some(words) => words.iter().map(|word| word.replace('\u{ffff}', "#")).collect(),
        None => text.split_whitespace().map(str::to_owned).collect(),
    }
}
