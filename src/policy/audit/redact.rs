//! Redaction of secrets from audit records, by the name of the argument or by their form.

use serde_json::Value;

use crate::diagnostic::visible;
use crate::policy::glob::glob_fold;

/// The replacement for a secret.
const REDACTED: &str = "[redacted]";
/// The longest string that is kept, in characters.
const MAX_TEXT: usize = 2_000;

/// Names of arguments whose values are redacted.
const NAMES: &[&str] = &[
    "*password*",
    "*passwd*",
    "*passphrase*",
    "*secret*",
    "*token",
    "*_token*",
    "*apikey*",
    "*api_key*",
    "*api-key*",
    "*authorization*",
    "*credential*",
    "*private_key*",
    "*cookie*",
    "pwd",
    "pin",
    "otp",
];

/// The prefixes of well-known kinds of secrets.
const SHAPES: &[&str] = &[
    "sk-",
    "sk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "hf_",
    "npm_",
    "pypi-",
    "-----BEGIN",
];

/// The arguments without secrets, with long strings truncated. `more` contains further globs over argument names.
#[must_use]
pub fn redact(arguments: &Value, more: &[&str]) -> Value {
    let secret = |name: &str| NAMES.iter().chain(more).any(|glob| glob_fold(glob, name));
    match arguments {
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(name, value)| {
                    let kept = if secret(name) { Value::String(REDACTED.to_owned()) } else { redact(value, more) };
                    (name.clone(), kept)
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(|item| redact(item, more)).collect()),
        Value::String(text) => Value::String(words(text, &secret)),
        other => other.clone(),
    }
}

/// Lines about a call without the secrets among its arguments. A line that repeats a value which [`redact`] removes, or
/// the last segment of such a value where it is a path, is replaced as a whole. `more` as there.
#[must_use]
pub fn redact_lines(lines: &[String], arguments: &Value, more: &[&str]) -> Vec<String> {
    let mut hidden = Vec::new();
    collect_hidden(arguments, more, false, &mut hidden);
    let secret = |name: &str| NAMES.iter().chain(more).any(|glob| glob_fold(glob, name));
    let scrub = |line: &String| match hidden.iter().any(|value| line.contains(value.as_str())) {
        true => REDACTED.to_owned(),
        false => words(line, &secret),
    };
    lines.iter().map(scrub).collect()
}

/// The strings below a redacted name, in the form in which a line may repeat them.
fn collect_hidden(value: &Value, more: &[&str], under: bool, hidden: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let secret = NAMES.iter().chain(more).any(|glob| glob_fold(glob, name));
                collect_hidden(value, more, under || secret, hidden);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_hidden(item, more, under, hidden)),
        Value::String(text) if under => {
            let last = text.rsplit(['/', '\\']).find(|part| !matches!(*part, "" | "." | ".."));
            hidden.extend(last.map(|last| visible(last).into_owned()));
        }
        // A shorter number occurs in too many lines by chance.
        Value::Number(number) if under && number.to_string().len() > 3 => hidden.push(number.to_string()),
        _ => {}
    }
}

/// A string without the secrets in it: `--password=x`, `TOKEN=x`, `Bearer x`, known prefixes.
fn words(text: &str, secret: &dyn Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_TEXT * 4));
    let mut hide_next = false;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(char::is_whitespace);
        let blank = piece.get(word.len()..).unwrap_or_default();
        let bare = word.trim_matches(|c| matches!(c, '"' | '\'' | ',' | ';' | '(' | ')'));
        let pair = word.split_once(['=', ':']);
        if hide_next && !word.is_empty() || SHAPES.iter().any(|s| bare.starts_with(s)) {
            out.push_str(REDACTED);
        } else if let Some((name, _)) = pair
            .filter(|(n, v)| !v.is_empty() && !v.starts_with("//") && secret(n.trim_start_matches(['-', '"', '\''])))
        {
            out.push_str(name);
            out.push('=');
            out.push_str(REDACTED);
        } else {
            out.push_str(word);
        }
        let name = bare.trim_start_matches('-').trim_end_matches([':', '=']);
        hide_next = !word.is_empty()
            && (name.eq_ignore_ascii_case("bearer")
                || (bare.starts_with("--") && !bare.contains('=') && secret(name))
                || (bare.ends_with(':') && secret(name)));
        out.push_str(blank);
    }
    let count = out.chars().count();
    if count <= MAX_TEXT {
        return out;
    }
    let kept: String = out.chars().take(MAX_TEXT).collect();
    format!("{kept}… ({count} characters)")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::redact;

    #[test]
    fn secrets_are_left_out() {
        let arguments = json!({
            "password": "hunter2",
            "headers": { "Authorization": "Bearer abc" },
            "command": "curl -H 'Authorization: Bearer abcdef' --password hunter2 --token=t0ps https://x.org API_KEY=zzz ghp_123",
            "n": 3,
            "mine": "keep",
        });
        let text = redact(&arguments, &["mine"]).to_string();
        for secret in ["hunter2", "abcdef", "t0ps", "zzz", "ghp_123", "keep"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(text.contains("https://x.org"), "{text}");
    }
}
