//! Moves literal secrets in a client's list of servers to variables.
//!
//! In doubt a value counts as a secret: a needless variable costs a line, a secret in a second file
//! costs more. No value leaves this module.

use std::collections::{BTreeMap, BTreeSet};

use super::read::{How, Listed};

/// A variable that a list of servers needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Whether its value was a literal in the client's file.
    pub moved: bool,
    /// Where it is used: `server: env.KEY`.
    pub used: Vec<String>,
}

/// Parts of names of secrets; the second list only matches whole words.
const IN_NAMES: [&str; 9] =
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIAL", "PASSPHRASE", "COOKIE", "CONNECTION_STRING"];
const WORDS: [&str; 9] = ["KEY", "PAT", "PASS", "PWD", "AUTH", "AUTHORIZATION", "DSN", "JWT", "BEARER"];

/// Prefixes of issued secrets: OpenAI, Anthropic, Stripe, GitHub, GitLab, Slack, AWS, Google, JWT,
/// Hugging Face, npm and others.
const PREFIXES: [&str; 20] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "hf_",
    "npm_",
    "dop_v1_",
    "lin_api_",
    "ntn_",
];

/// The minimum length of a text without a known prefix that counts as a secret.
const LONG: usize = 24;

/// Moves every literal secret to a variable. Returns the required variables by name.
pub fn moved(servers: &mut [Listed]) -> Vec<Variable> {
    let mut names = Names::default();
    for server in servers.iter() {
        each(&mut server.clone(), &mut |text, _, _| names.taken.extend(references(text)));
    }
    for server in servers.iter_mut() {
        let own = server.name.clone();
        each(server, &mut |text, place, key| {
            if let Some(with) = without_secret(text, place, key, &own, &mut names) {
                *text = with;
            }
        });
    }
    let mut all: BTreeMap<String, Variable> = BTreeMap::new();
    for server in servers.iter() {
        let name = server.name.clone();
        each(&mut server.clone(), &mut |text, place, key| {
            for variable in references(text) {
                let moved = names.given.contains_key(&variable);
                let known = all.entry(variable.clone());
                let known = known.or_insert_with(|| Variable { name: variable, moved, used: Vec::new() });
                known.used.push(format!("{name}: {}", place.key_path(key)));
            }
        });
    }
    all.into_values().collect()
}

/// Converts a text to a variable's name: `github-token` to `GITHUB_TOKEN`.
#[must_use]
pub fn variable(text: &str) -> String {
    let own: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let own = own.trim_matches('_').to_owned();
    if own.is_empty() || own.starts_with(|c: char| c.is_ascii_digit()) { format!("V_{own}") } else { own }
}

/// Whether a variable has the name of a secret.
#[must_use]
pub fn is_secret(variable: &str) -> bool {
    name_says(variable)
}

/// The variables that a text uses.
#[must_use]
pub fn references(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for rest in text.split("${").skip(1) {
        if let Some((name, _)) = rest.split_once('}') {
            names.push(name.split(":-").next().unwrap_or(name).trim_start_matches("env:").to_owned());
        }
    }
    names
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    Command,
    /// An argument; its key is the flag that precedes it.
    Arg,
    Env,
    Cwd,
    Url,
    Header,
}

impl Spot {
    fn key_path(self, key: &str) -> String {
        match self {
            Self::Command => "command".to_owned(),
            Self::Arg => "args".to_owned(),
            Self::Env => format!("env.{key}"),
            Self::Cwd => "cwd".to_owned(),
            Self::Url => "url".to_owned(),
            Self::Header => format!("headers.{key}"),
        }
    }
}

/// Visits every text of a server. The key of an argument is the previous argument.
fn each(server: &mut Listed, see: &mut dyn FnMut(&mut String, Spot, &str)) {
    match &mut server.how {
        How::Stdio { command, args, env, cwd } => {
            see(command, Spot::Command, "");
            let mut before = String::new();
            for arg in args {
                let own = arg.clone();
                see(arg, Spot::Arg, &before);
                before = own;
            }
            for (key, value) in env {
                see(value, Spot::Env, key);
            }
            if let Some(cwd) = cwd {
                see(cwd, Spot::Cwd, "");
            }
        }
        How::Http { url, headers } => {
            see(url, Spot::Url, "");
            for (key, value) in headers {
                see(value, Spot::Header, key);
            }
        }
    }
}

#[derive(Default)]
struct Names {
    taken: BTreeSet<String>,
    given: BTreeMap<String, String>,
}

impl Names {
    fn variable_for(&mut self, wanted: &str, server: &str, value: &str) -> String {
        let wanted = variable(wanted);
        let longer = format!("{}_{wanted}", variable(server));
        let numbered = (2..).map(|n| format!("{longer}_{n}"));
        for name in [wanted, longer.clone()].into_iter().chain(numbered) {
            if self.given.get(&name).is_some_and(|own| own == value) {
                return name;
            }
            if !self.taken.contains(&name) && !self.given.contains_key(&name) {
                self.given.insert(name.clone(), value.to_owned());
                return name;
            }
        }
        longer
    }

    fn put(&mut self, wanted: &str, server: &str, value: &str) -> String {
        format!("${{{}}}", self.variable_for(wanted, server, value))
    }

    /// The same, with the server's name in the variable's.
    fn put_of_server(&mut self, wanted: &str, server: &str, value: &str) -> String {
        self.put(&format!("{server}_{wanted}"), server, value)
    }
}

/// The text with its secret replaced by a variable, if it has one.
fn without_secret(text: &str, spot: Spot, key: &str, server: &str, names: &mut Names) -> Option<String> {
    if text.is_empty() || text.contains("${") || matches!(text, "true" | "false") {
        return None;
    }
    match spot {
        Spot::Command | Spot::Cwd => None,
        Spot::Env => (name_says(key) || looks(text) || long(text)).then(|| names.put(key, server, text)),
        Spot::Header => {
            if !(name_says(key) || looks(text) || long(text)) {
                return None;
            }
            let name = if key.eq_ignore_ascii_case("authorization") { "TOKEN" } else { key };
            match text.split_once(' ') {
                Some((scheme, value))
                    if ["bearer", "basic", "token"].iter().any(|own| scheme.eq_ignore_ascii_case(own)) =>
                {
                    Some(format!("{scheme} {}", names.put_of_server(name, server, value)))
                }
                _ => Some(names.put_of_server(name, server, text)),
            }
        }
        Spot::Arg => match text.split_once('=') {
            Some((flag, value)) if !value.is_empty() && !flag.contains("://") && (name_says(flag) || looks(value)) => {
                Some(format!("{flag}={}", names.put_of_server(flag.trim_start_matches('-'), server, value)))
            }
            _ if key.starts_with('-') && name_says(key) && !text.starts_with('-') => {
                Some(names.put_of_server(key.trim_start_matches('-'), server, text))
            }
            _ => match header_of(text) {
                // The syntax of `mcp-remote`: `--header "Authorization: Bearer …"`.
                Some((name, scheme, value)) => {
                    Some(format!("{name}:{scheme}{}", names.put_of_server(name, server, value)))
                }
                None if text.contains("://") => url_without(text, server, names),
                None => looks(text).then(|| names.put_of_server("SECRET", server, text)),
            },
        },
        Spot::Url => url_without(text, server, names),
    }
}

/// A header in one argument: its name, the text before the secret, and the secret.
fn header_of(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.split_once(':').filter(|(name, rest)| name_says(name) && !rest.starts_with("//"))?;
    let value = rest.trim_start();
    let value = ["Bearer ", "Basic ", "token "].iter().find_map(|scheme| value.strip_prefix(scheme)).unwrap_or(value);
    let before = rest.strip_suffix(value)?;
    (!value.is_empty()).then_some((name, before, value))
}

/// The URL with variables for the password and for secret query values and path segments.
fn url_without(text: &str, server: &str, names: &mut Names) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let (host, path) = place.split_once('/').map_or((place, None), |(host, path)| (host, Some(path)));
    let host = match host.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((user, password)) => format!("{user}:{}@{host}", names.put_of_server("PASSWORD", server, password)),
            None => format!("{}@{host}", names.put_of_server("USER", server, user)),
        },
        None => host.to_owned(),
    };
    let mut out = format!("{scheme}://{host}");
    if let Some(path) = path {
        for part in path.split('/') {
            out.push('/');
            let secret = looks(part) || long(part);
            out.push_str(&if secret { names.put_of_server("URL", server, part) } else { part.to_owned() });
        }
    }
    if let Some(query) = query {
        let mut mark = '?';
        for pair in query.split('&') {
            out.push(mark);
            mark = '&';
            match pair.split_once('=') {
                Some((key, value)) if !value.is_empty() && (name_says(key) || looks(value) || long(value)) => {
                    out.push_str(&format!("{key}={}", names.put_of_server(key, server, value)));
                }
                _ => out.push_str(pair),
            }
        }
    }
    (out != text).then_some(out)
}

fn name_says(name: &str) -> bool {
    let mut own = String::new();
    let mut lower = false;
    for c in name.chars() {
        // `apiKey` consists of the words `API` and `KEY`.
        if lower && c.is_ascii_uppercase() {
            own.push('_');
        }
        lower = c.is_ascii_lowercase();
        own.push(if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    }
    IN_NAMES.iter().any(|part| own.contains(part)) || own.split('_').any(|word| WORDS.contains(&word))
}

fn looks(value: &str) -> bool {
    let value = value.split_once(' ').map_or(value, |(_, rest)| rest);
    let issued = PREFIXES.iter().any(|prefix| value.starts_with(prefix)) && value.len() >= 16;
    if issued || value.contains("-----BEGIN") {
        return true;
    }
    let Some((_, rest)) = value.split_once("://") else { return false };
    let host = rest.split('/').next().unwrap_or_default();
    matches!(host.rsplit_once('@'), Some((user, _)) if user.contains(':'))
}

/// Whether a value is long and mixed enough to be a secret.
fn long(value: &str) -> bool {
    value.len() >= LONG
        && value.bytes().all(|own| own.is_ascii_alphanumeric() || b"_-+=.".contains(&own))
        && value.bytes().any(|own| own.is_ascii_digit())
        && value.bytes().any(|own| own.is_ascii_alphabetic())
}
