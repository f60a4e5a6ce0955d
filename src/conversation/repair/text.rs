//! The repairs of argument texts, each without effect on valid JSON objects.

/// Tokens and tags of chat templates before and after arguments that have no common delimiters.
const TAGS: [&str; 8] =
    ["<tool_call>", "<function_call>", "<s>", "<eos>", "<end_of_turn>", "[TOOL_CALLS]", "[/TOOL_CALLS]", "[/INST]"];

/// Delimiters of special tokens: `<|im_end|>`, the form with full-width bars, and closing tags.
const TOKENS: [(&str, &str); 3] = [("<|", "|>"), ("<｜", "｜>"), ("</", ">")];

/// Marks of code before and after it, longest first.
const FENCES: [&str; 3] = ["```", "~~~", "`"];

/// The maximum length of a special token in bytes.
const MAX_TOKEN: usize = 64;

/// Without characters around it that are neither JSON nor visible.
pub(super) fn without_mark(text: &str) -> Option<String> {
    let is_blank = |c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\0');
    let own = text.trim_matches(is_blank);
    // Blanks of JSON are valid, so removing them is not a repair.
    (own.len() < text.trim_matches([' ', '\t', '\n', '\r']).len()).then(|| own.to_owned())
}

/// Without a code fence and its language.
pub(super) fn unfenced(text: &str) -> Option<String> {
    let text = text.trim();
    let fence = FENCES.into_iter().find(|fence| text.starts_with(fence) || text.ends_with(fence))?;
    let inner = match text.strip_prefix(fence) {
        Some(inner) => inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'),
        None => text,
    };
    Some(inner.strip_suffix(fence).unwrap_or(inner).trim().to_owned())
}

/// Without template tokens before and after it.
pub(super) fn without_tokens(text: &str) -> Option<String> {
    let mut own = text.trim();
    while let Some(rest) = without_one_token(own) {
        own = rest.trim();
    }
    (own.len() < text.trim().len()).then(|| own.to_owned())
}

fn without_one_token(text: &str) -> Option<&str> {
    if let Some(rest) = TAGS.iter().find_map(|tag| text.strip_suffix(tag).or_else(|| text.strip_prefix(tag))) {
        return Some(rest);
    }
    for (begins, ends) in TOKENS {
        if let Some(token) = text.strip_suffix(ends)
            && let Some((rest, name)) = token.rsplit_once(begins)
            && is_token_name(name)
        {
            return Some(rest);
        }
        if let Some(token) = text.strip_prefix(begins)
            && let Some((name, rest)) = token.split_once(ends)
            && is_token_name(name)
        {
            return Some(rest);
        }
    }
    None
}

fn is_token_name(name: &str) -> bool {
    name.len() <= MAX_TOKEN && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '▁'))
}

/// Without commas after the last element of an object or array, and after the whole.
pub(super) fn without_last_comma(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    // The last comma outside strings, if only blanks follow it so far.
    let mut comma = None;
    let mut before = '{';
    for (c, in_string) in with_strings(text) {
        if in_string || !c.is_whitespace() {
            match comma.take() {
                Some(at) if !in_string && matches!(c, '}' | ']') => drop(out.remove(at)),
                _ => {}
            }
            if !in_string && c == ',' && !matches!(before, '{' | '[' | ',' | ':') {
                comma = Some(out.len());
            }
            before = c;
        }
        out.push(c);
    }
    if let Some(at) = comma {
        out.remove(at);
    }
    (out.len() < text.len()).then_some(out)
}

/// With control characters in strings as escapes.
pub(super) fn escaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for (c, in_string) in with_strings(text) {
        match c {
            '\n' if in_string => out.push_str("\\n"),
            '\r' if in_string => out.push_str("\\r"),
            '\t' if in_string => out.push_str("\\t"),
            c if in_string && c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    (out.len() > text.len()).then_some(out)
}

/// The content of a text that is one JSON string.
pub(super) fn decoded(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

/// The characters of a JSON text, each with whether it is in a string. The opening quote counts as
/// outside, the closing one as inside.
fn with_strings(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut in_string, mut is_escaped) = (false, false);
    text.chars().map(move |c| {
        let was_in_string = in_string;
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = in_string,
            '"' => in_string = !in_string,
            _ => {}
        }
        (c, was_in_string)
    })
}
