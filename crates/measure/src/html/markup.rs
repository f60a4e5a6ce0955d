//! Text in markup.

use toolfold::diagnostic::visible;

/// The longest text of a stranger that is shown, in characters.
const MOST_CHARS: usize = 600;

/// A text as HTML, in an element or in a quoted attribute: nothing in it is markup, and what cannot be seen is shown.
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

/// A template with each `{{name}}` in the place of which `value` gives a text. What is put in is not looked at again.
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

/// A number with its thousands set apart.
pub(super) fn grouped(n: usize) -> String {
    crate::check::grouped(n)
}

/// A share as a percentage: without places, or with one where it is small.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 && percent.abs() > 0.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// US dollars, with as many places as tell something.
pub(super) fn dollars(usd: f64) -> String {
    if usd.abs() >= 1.0 { format!("${usd:.2}") } else { format!("${usd:.4}") }
}
