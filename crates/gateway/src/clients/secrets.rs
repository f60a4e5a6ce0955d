//! Literal secrets in a client's list of servers: found by their names and their looks, and moved to variables.
//!
//! In doubt a value counts as a secret: one variable too many costs a line, a secret in a second file costs more. No value
//! leaves this module.

use std::collections::{BTreeMap, BTreeSet};

use super::read::{How, Listed};

/// A variable that a list of servers needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Whether its value stood in the client's file until now.
    pub moved: bool,
    /// Where it is used: `server: env.KEY`.
    pub used: Vec<String>,
}

/// Parts of names that say secret; the second list only as whole words.
const IN_NAMES: [&str; 9] =
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIAL", "PASSPHRASE", "COOKIE", "CONNECTION_STRING"];
const WORDS: [&str; 9] = ["KEY", "PAT", "PASS", "PWD", "AUTH", "AUTHORIZATION", "DSN", "JWT", "BEARER"];

/// How issued secrets begin: OpenAI, Anthropic, Stripe, GitHub, GitLab, Slack, AWS, Google, JWT, Hugging Face, npm and others.
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

/// The shortest text without a known beginning that looks like a secret by itself.
const LONG: usize = 24;

/// Moves every literal secret to a variable. What is needed afterwards, by name.
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

/// A variable's name made of a text: `GITHUB_TOKEN` of `github-token`.
#[must_use]
pub fn variable(text: &str) -> String {
    let own: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let own = own.trim_matches('_').to_owned();
    if own.is_empty() || own.starts_with(|c: char| c.is_ascii_digit()) { format!("V_{own}") } else { own }
}

/// Whether a variable's name says that it holds a secret.
#[must_use]
pub fn is_secret(variable: &str) -> bool {
    name_says(variable)
}

/// The variables that a text uses.
#[must_use]
pub fn references(text: &str) -> Vec<String> {
    let inside = text.split("${").skip(1).filter_map(|rest| rest.split_once('}'));
    inside.map(|(name, _)| name.split(":-").next().unwrap_or(name).trim_start_matches("env:").to_owned()).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    Command,
    /// An argument; what stands before it, if that is a flag.
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

/// Every text of a server with what it is: a key, or for an argument the one before it.
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
    /// Those that the file uses itself.
    taken: BTreeSet<String>,
    /// Those that were given, with the values that they stand for.
    given: BTreeMap<String, String>,
}

impl Names {
    /// The variable for a value.
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
}

/// The text with its secret as a variable, if it has one.
fn without_secret(text: &str, spot: Spot, key: &str, server: &str, names: &mut Names) -> Option<String> {
    if text.is_empty() || text.contains("${") || matches!(text, "true" | "false") {
        return None;
    }
    let mut put = |wanted: &str, value: &str| format!("${{{}}}", names.variable_for(wanted, server, value));
    let of_server = |rest: &str| format!("{server}_{rest}");
    match spot {
        Spot::Command | Spot::Cwd => None,
        Spot::Env => (name_says(key) || looks(text) || long(text)).then(|| put(key, text)),
        Spot::Header => {
            if !(name_says(key) || looks(text) || long(text)) {
                return None;
            }
            let is_scheme = |own: &str| ["bearer", "basic", "token"].contains(&own.to_ascii_lowercase().as_str());
            let rest = if key.eq_ignore_ascii_case("authorization") { "TOKEN" } else { key };
            match text.split_once(' ').filter(|(scheme, _)| is_scheme(scheme)) {
                Some((scheme, value)) => Some(format!("{scheme} {}", put(&of_server(rest), value))),
                None => Some(put(&of_server(rest), text)),
            }
        }
        Spot::Arg => match text.split_once('=') {
            Some((flag, value)) if !value.is_empty() && !flag.contains("://") && (name_says(flag) || looks(value)) => {
                Some(format!("{flag}={}", put(&of_server(flag.trim_start_matches('-')), value)))
            }
            _ if key.starts_with('-') && name_says(key) && !text.starts_with('-') => {
                Some(put(&of_server(key.trim_start_matches('-')), text))
            }
            _ => match header_of(text) {
                // As `mcp-remote` takes them: `--header "Authorization: Bearer …"`.
                Some((name, scheme, value)) => Some(format!("{name}:{scheme}{}", put(&of_server(name), value))),
                None if text.contains("://") => url_without(text, &mut put, server),
                None => looks(text).then(|| put(&of_server("SECRET"), text)),
            },
        },
        Spot::Url => url_without(text, &mut put, server),
    }
}

/// A header in one argument: its name, what stands before the secret, the secret.
fn header_of(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.split_once(':').filter(|(name, rest)| name_says(name) && !rest.starts_with("//"))?;
    let value = rest.trim_start();
    let value = ["Bearer ", "Basic ", "token "].iter().find_map(|scheme| value.strip_prefix(scheme)).unwrap_or(value);
    let before = rest.strip_suffix(value)?;
    (!value.is_empty()).then_some((name, before, value))
}

/// A URL without the password, the values of its query and the parts of its path that are secrets.
fn url_without(text: &str, put: &mut dyn FnMut(&str, &str) -> String, server: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let (host, path) = place.split_once('/').map_or((place, None), |(host, path)| (host, Some(path)));
    let host = match host.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((user, password)) => format!("{user}:{}@{host}", put(&format!("{server}_PASSWORD"), password)),
            None => format!("{}@{host}", put(&format!("{server}_USER"), user)),
        },
        None => host.to_owned(),
    };
    let mut out = format!("{scheme}://{host}");
    if let Some(path) = path {
        for part in path.split('/') {
            out.push('/');
            let secret = looks(part) || long(part);
            out.push_str(&if secret { put(&format!("{server}_URL"), part) } else { part.to_owned() });
        }
    }
    if let Some(query) = query {
        let parts = query.split('&').map(|pair| match pair.split_once('=') {
            Some((key, value)) if !value.is_empty() && (name_says(key) || looks(value) || long(value)) => {
                format!("{key}={}", put(&format!("{server}_{key}"), value))
            }
            _ => pair.to_owned(),
        });
        out.push('?');
        out.push_str(&parts.collect::<Vec<_>>().join("&"));
    }
    (out != text).then_some(out)
}

/// Whether a name says that its value is a secret.
fn name_says(name: &str) -> bool {
    let mut own = String::new();
    let mut lower = false;
    for c in name.chars() {
        // Words of `apiKey` are `API` and `KEY`.
        if lower && c.is_ascii_uppercase() {
            own.push('_');
        }
        lower = c.is_ascii_lowercase();
        own.push(if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    }
    IN_NAMES.iter().any(|part| own.contains(part)) || own.split('_').any(|word| WORDS.contains(&word))
}

/// Whether a value looks like a secret that somebody issued.
fn looks(value: &str) -> bool {
    let value = value.split_once(' ').map_or(value, |(_, rest)| rest);
    let issued = PREFIXES.iter().any(|prefix| value.starts_with(prefix)) && value.len() >= 16;
    let with_password = || {
        let rest = value.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
        rest.and_then(|host| host.rsplit_once('@')).is_some_and(|(user, _)| user.contains(':'))
    };
    issued || value.contains("-----BEGIN") || with_password()
}

/// Whether a value is so long and mixed that it may be a secret.
fn long(value: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '=' | '.');
    let has = |what: fn(&char) -> bool| value.chars().any(|c| what(&c));
    value.len() >= LONG && value.chars().all(fits) && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)
}
