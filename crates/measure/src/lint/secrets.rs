//! Keys, passwords and paths that no description should contain. Findings show them masked.

use super::found::Found;
use super::rules::{HOME_PATH, PRIVATE_KEY, SECRET, URL_PASSWORD};
use super::view::View;

/// The prefixes of issued secrets, and the minimum number of following characters. Sources: the
/// issuers' documentation of their formats (GitHub, GitLab, Slack, AWS, Google, OpenAI, Anthropic,
/// Stripe, Hugging Face, npm, PyPI).
const SHAPES: [(&str, usize); 20] = [
    ("github_pat_", 40),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("ghu_", 30),
    ("glpat-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxa-", 20),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("sk-", 20),
    ("hf_", 30),
    ("npm_", 30),
    ("pypi-", 40),
    ("ya29.", 30),
    ("eyJ", 60),
];

const PLACEHOLDERS: [&str; 7] = ["example", "xxxx", "your", "placeholder", "...", "1234567890", "abcdef"];

/// User names in example paths.
const ANYBODY: &str = "user username you yourname your_name your-name your-username your_username me name myuser myname \
    someone john jane johndoe alice bob example home \
    project projects workspace data app ubuntu";

/// Users and passwords in example URLs.
const ANY_PASSWORD: &str = "pass password passwd pwd secret token key mypassword my-password user username p@ss";

pub(super) fn check_secrets(found: &mut Found<'_>, view: &View<'_>) {
    for (at, text) in view.model_texts() {
        if text.len() < 8 {
            continue;
        }
        if let Some(secret) = token(text) {
            let reason =
                format!("`{}…` of {} characters looks like a key", start_of(secret, 4), secret.chars().count());
            found.add_finding(&SECRET, &at, reason);
        }
        if has_private_key(text) {
            found.add_finding(&PRIVATE_KEY, &at, "it contains a private key (PEM)");
        }
        if let Some(user) = url_user(text) {
            let first = start_of(user, 2);
            found.add_finding(&URL_PASSWORD, &at, format!("a URL contains the user `{first}…` and a password"));
        }
        if let Some((before, user)) = home(text) {
            let first = start_of(user, 2);
            found.add_finding(&HOME_PATH, &at, format!("it contains a path below `{before}{first}…`"));
        }
    }
}

/// The first word with the format of an issued secret that is not a placeholder.
fn token(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')));
    words.find(|word| word.len() >= 20 && is_issued(word) && !is_placeholder(word))
}

fn is_issued(word: &str) -> bool {
    for (prefix, least) in SHAPES {
        if let Some(rest) = word.strip_prefix(prefix)
            && is_random(rest, least)
        {
            return true;
        }
    }
    false
}

fn is_placeholder(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|own| lower.contains(own))
}

fn start_of(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// Whether a text looks random: long, with digits and letters, no frequent character.
fn is_random(text: &str, least: usize) -> bool {
    let mut seen: Vec<char> = text.chars().collect();
    let length = seen.len();
    seen.sort_unstable();
    seen.dedup();
    length >= least
        && seen.len() * 3 >= length.min(36)
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Whether a key follows its header line (RFC 7468).
fn has_private_key(text: &str) -> bool {
    let Some((before, after)) = text.split_once("PRIVATE KEY-----") else { return false };
    let body = after.split("-----").next().unwrap_or_default();
    let solid = body.bytes().filter(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')).count();
    before.contains("-----BEGIN") && solid >= 40 && !body.contains("...")
}

/// The user of a URL with a password that is not a placeholder (RFC 3986, section 3.2.1).
fn url_user(text: &str) -> Option<&str> {
    for rest in text.split("://").skip(1) {
        let end = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`');
        let authority = rest.split(end).next().unwrap_or_default();
        let Some((user, password)) = authority.rsplit_once('@').and_then(|(login, _)| login.split_once(':')) else {
            continue;
        };
        let open = |text: &str| text.contains(['<', '{', '[', '$', '*', '%']) || text.is_empty();
        let lower = password.to_ascii_lowercase();
        let any = ANY_PASSWORD.split_whitespace().any(|own| own == lower) || lower.contains("pass") || lower == user;
        if !open(user) && !open(password) && !any && !lower.contains("xxx") {
            return Some(user);
        }
    }
    None
}

/// The beginning of a path in a home folder, and its owner.
fn home(text: &str) -> Option<(&'static str, &str)> {
    for before in ["/home/", "/Users/", "C:\\Users\\"] {
        for (at, _) in text.match_indices(before) {
            let (ahead, rest) = text.split_at(at);
            let rest = rest.strip_prefix(before).unwrap_or_default();
            let Some((user, _)) = rest.split_once(['/', '\\']) else { continue };
            let is_name = user.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
            let lower = user.to_ascii_lowercase();
            let anybody = ANYBODY.split_whitespace().any(|own| own == lower) || lower.contains("user");
            let whole = !ahead.ends_with(|c: char| c.is_ascii_alphanumeric());
            if user.len() > 1 && is_name && whole && !anybody {
                return Some((before, user));
            }
        }
    }
    None
}
