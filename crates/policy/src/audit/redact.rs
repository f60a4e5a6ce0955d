//! Redaction of secrets from audit records, by the name of the argument or by their form.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::diagnostic::visible;
use crate::glob::glob_fold;

/// How a key or a certificate begins (RFC 7468).
const PEM: &str = "-----BEGIN";
const REDACTED: &str = "[redacted]";
/// The longest string that is kept, in characters.
const MAX_TEXT: usize = 2_000;

const NAMES: &str = "*password* *passwd* *passphrase* *secret* *token *_token* *apikey* *api_key* *api-key* \
    *authorization* *credential* *private_key* *cookie* pwd pin otp";

/// The prefixes of well-known kinds of secrets.
const SHAPES: &str = "sk- sk_live_ rk_live_ ghp_ gho_ ghs_ ghu_ github_pat_ glpat- xoxb- xoxp- xoxa- AKIA ASIA AIza ya29. \
    eyJ hf_ npm_ pypi- tfk_";

/// Whether the value of an argument of this name is a secret. `more` contains further globs over
/// names.
fn is_secret(name: &str, more: &[&str]) -> bool {
    NAMES.split_whitespace().chain(more.iter().copied()).any(|glob| glob_fold(glob, name))
}

/// The arguments without secrets, with long strings truncated. `more` contains further globs over
/// argument names.
#[must_use]
pub fn redact(arguments: &Value, more: &[&str]) -> Value {
    redact_values(arguments, more, &words)
}

/// A text without secrets, at its full length. JSON text of an object or a list is redacted by the
/// names in it, too.
pub fn redact_text(text: &str, more: &[&str]) -> String {
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        let redacted = redact_values(&value, more, &whole_words);
        if redacted != value {
            return redacted.to_string();
        }
    }
    whole_words(text, more)
}

fn redact_values(arguments: &Value, more: &[&str], words: &dyn Fn(&str, &[&str]) -> String) -> Value {
    match arguments {
        Value::Object(map) => {
            let mut kept = Map::new();
            for (name, value) in map {
                let hide = is_secret(name, more);
                kept.insert(name.clone(), if hide { REDACTED.into() } else { redact_values(value, more, words) });
            }
            Value::Object(kept)
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| redact_values(item, more, words)).collect()),
        Value::String(text) => Value::String(words(text, more)),
        other => other.clone(),
    }
}

/// Lines about a call without the secrets among its arguments. A line that repeats a value which
/// [`redact`] removes, or the last segment of such a value where it is a path, is replaced as a
/// whole. `more` as there.
pub(crate) fn redact_lines(lines: &[String], arguments: &Value, more: &[&str]) -> Vec<String> {
    let mut hidden = Vec::new();
    collect_hidden(arguments, more, false, &mut hidden);
    let mut kept = Vec::with_capacity(lines.len());
    for line in lines {
        let repeats = hidden.iter().any(|value| line.contains(value.as_str()));
        kept.push(if repeats { REDACTED.to_owned() } else { words(line, more) });
    }
    kept
}

/// The strings below a redacted name, in the form in which a line may repeat them.
fn collect_hidden(value: &Value, more: &[&str], under: bool, hidden: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                collect_hidden(value, more, under || is_secret(name, more), hidden);
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

/// A text without its PEM blocks, each from its first line to its last, or to the end where that is
/// missing.
fn without_pem(text: &str) -> Cow<'_, str> {
    if !text.contains(PEM) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, block)) = rest.split_once(PEM) {
        out.push_str(before);
        out.push_str(REDACTED);
        let (_, end) = block.split_once("-----END").unwrap_or_default();
        (_, rest) = end.split_once("-----").unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// `https://user:pass@host` without the user and the password.
fn without_userinfo(word: &str) -> Option<String> {
    let (scheme, rest) = word.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@')?;
    if user.contains(':') { Some(format!("{scheme}://{REDACTED}@{host}{path}")) } else { None }
}

/// Whether a word contains a known kind of secret, delimited by characters that no secret has.
fn has_shape(word: &str) -> bool {
    for shape in SHAPES.split_whitespace() {
        for (at, _) in word.match_indices(shape) {
            if !word.split_at(at).0.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                return true;
            }
        }
    }
    false
}

/// A string without the secrets in it: `--password=x`, `TOKEN=x`, `Bearer x`, `user:pass@`, known
/// prefixes, PEM blocks.
fn whole_words(text: &str, more: &[&str]) -> String {
    let text: &str = &without_pem(text);
    let mut out = String::with_capacity(text.len().min(MAX_TEXT * 4));
    let (mut hide_user, mut hide_next) = (false, false);
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(char::is_whitespace);
        if word.is_empty() {
            out.push_str(piece);
            continue;
        }
        let bare = word.trim_matches(|c| matches!(c, '"' | '\'' | ',' | ';' | '(' | ')'));
        let glued = matches!(bare.strip_prefix("-u"), Some(user) if user.contains(':') && !user.contains("//"));
        let named = word.split_once(['=', ':']).filter(|(name, value)| {
            !value.is_empty() && !value.starts_with("//") && is_secret(name.trim_start_matches(['-', '"', '\'']), more)
        });
        if hide_next || hide_user && bare.contains(':') || glued || has_shape(bare) {
            out.push_str(REDACTED);
        } else if let Some(plain) = without_userinfo(word) {
            out.push_str(&plain);
        } else if let Some((name, _)) = named {
            out.push_str(&format!("{name}={REDACTED}"));
        } else {
            out.push_str(word);
        }
        out.push_str(piece.get(word.len()..).unwrap_or_default());
        // Options whose value is `user:password`, as of curl and wget.
        hide_user = matches!(bare, "-u" | "-U" | "--user" | "--proxy-user");
        let name = bare.trim_start_matches('-').trim_end_matches([':', '=']);
        // Most words name nothing: the globs come last.
        let names_next = bare.ends_with(':') || (bare.starts_with("--") && !bare.contains('='));
        hide_next = name.eq_ignore_ascii_case("bearer") || (names_next && is_secret(name, more));
    }
    out
}

/// The same, truncated.
fn words(text: &str, more: &[&str]) -> String {
    let out = whole_words(text, more);
    let count = out.chars().count();
    if count <= MAX_TEXT {
        return out;
    }
    let kept: String = out.chars().take(MAX_TEXT).collect();
    format!("{kept}… ({count} characters)")
}
