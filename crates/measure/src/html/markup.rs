//! Escapes text for markup.

use toolfold::diagnostic::visible;

/// The maximum length of an untrusted text, in characters.
const MOST_CHARS: usize = 600;

/// Escapes a text for an element or a quoted attribute; invisible characters are made visible.
pub(super) fn escaped(text: &str) -> String {
    let short: String = text.chars().take(MOST_CHARS).collect();
    let mut out = String::with_capacity(short.len());
    for c in visible(&short).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    if text.chars().nth(MOST_CHARS).is_some() {
        out.push('…');
    }
    out
}

/// Replaces each `{{name}}` in a template, without expanding inserted text.
pub(super) fn filled(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(template.len() * 4);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, after)) = after.split_once("}}") else { break };
        out.push_str(&value(name).unwrap_or_default());
        rest = after;
    }
    out + rest
}

/// A share as a percentage, without decimals or, if small, with one.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 && percent.abs() > 0.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// US dollars, with as many decimals as are significant.
pub(super) fn dollars(usd: f64) -> String {
    if usd.abs() >= 1.0 { format!("${usd:.2}") } else { format!("${usd:.4}") }
}
