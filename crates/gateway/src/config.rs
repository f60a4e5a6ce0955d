//! Reads servers in the format of MCP clients:
//! `{"mcpServers": {"name": {"command", "args", "env", "cwd"}}}` for a program,
//! `{"url", "headers"}` for a URL.
//!
//! Secrets are not written there: `${NAME}` inserts an environment variable anywhere in a text. An
//! unset variable is an error, since an empty secret fails later and elsewhere. A variable with the
//! name of a secret that one server uses is set to the empty text for all other programs, because
//! the client's list gave it to that server alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use toolfold::diagnostic::{Diagnostic, Loaded, Place};

use crate::capture::digest_of_texts;
use crate::clients::secrets::{is_secret, references};
use crate::link::{Inherit, Target};
use crate::settings::ServerSettings;

/// The keys of the lists of servers: of most clients, of VS Code, of opencode.
const LISTS: [&str; 3] = ["mcpServers", "servers", "mcp"];

/// The supported keys of a server's entry.
const KNOWN: [&str; 12] = [
    "type",
    "transport",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "disabled",
    "enabled",
];

/// Keys of other clients that have no meaning for a gateway.
const OTHERS: [&str; 9] =
    ["timeout", "alwaysAllow", "autoApprove", "trust", "description", "name", "gallery", "tools", "disabledTools"];

/// Reads a list of servers. `env` returns the value of an environment variable. Servers that cannot
/// be used are reported, and missing from the result.
pub fn servers(text: &str, file: &str, env: &dyn Fn(&str) -> Option<String>) -> Loaded<Vec<ServerSettings>> {
    let mut all = all_servers(text, file, env);
    all.value.retain(|own| own.unusable.is_none());
    all
}

/// The same with the servers that cannot be used, whose `unusable` is the reason.
pub fn all_servers(text: &str, file: &str, env: &dyn Fn(&str) -> Option<String>) -> Loaded<Vec<ServerSettings>> {
    let mut reader = Reader { file, env, diagnostics: Vec::new() };
    let value = reader.read_servers(text);
    Loaded { value, diagnostics: reader.diagnostics }
}

struct Reader<'r> {
    file: &'r str,
    env: &'r dyn Fn(&str) -> Option<String>,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn push_error(&mut self, message: String, help: &str) {
        self.diagnostics.push(Diagnostic::error("bad-server", Place::file(self.file), message).help(help));
    }

    fn warning(&mut self, message: String, help: &str) {
        self.diagnostics.push(Diagnostic::warning("bad-server", Place::file(self.file), message).help(help));
    }

    fn read_servers(&mut self, text: &str) -> Vec<ServerSettings> {
        let root: Value = match serde_json::from_str(text) {
            Ok(root) => root,
            Err(why) => {
                self.push_error(format!("is not valid JSON: {why}"), "comments and trailing commas are not supported");
                return Vec::new();
            }
        };
        let Some(list) = LISTS.iter().find_map(|name| root.get(name)?.as_object()) else {
            self.push_error(
                "has no `mcpServers`".to_owned(),
                "write {\"mcpServers\": {\"name\": {\"command\": \"…\"}}}",
            );
            return Vec::new();
        };
        let (mut servers, mut taken) = (Vec::new(), Vec::new());
        for (name, entry) in list {
            let Some(entry) = entry.as_object() else {
                self.push_error(
                    format!("server `{name}` is not an object"),
                    "write {\"command\": \"…\"} or {\"url\": \"…\"}",
                );
                servers.push(self.unusable(name));
                taken.push(BTreeSet::new());
                continue;
            };
            if entry.get("disabled") == Some(&Value::Bool(true)) || entry.get("enabled") == Some(&Value::Bool(false)) {
                continue;
            }
            let mut server = match self.read_target(name, entry) {
                Some(target) => ServerSettings::new(name, target),
                None => self.unusable(name),
            };
            server.identity = identity(entry);
            servers.push(server);
            taken.push(secrets(entry));
        }
        let all: BTreeSet<&String> = taken.iter().flatten().collect();
        for (server, own) in servers.iter_mut().zip(&taken) {
            if let Target::Stdio { env, .. } = &mut server.target {
                for name in &all {
                    if !own.contains(*name) {
                        env.entry((*name).clone()).or_default();
                    }
                }
            }
        }
        servers
    }

    /// A server that cannot be used, with the error that was reported last.
    fn unusable(&self, name: &str) -> ServerSettings {
        let (env, inherit) = (BTreeMap::new(), Inherit::default());
        let target = Target::Stdio { command: String::new(), args: Vec::new(), env, inherit, cwd: None };
        let mut server = ServerSettings::new(name, target);
        server.unusable = Some(self.diagnostics.last().map(|own| own.message.clone()).unwrap_or_default());
        server
    }

    fn read_target(&mut self, name: &str, entry: &Map<String, Value>) -> Option<Target> {
        for key in entry.keys() {
            if !KNOWN.contains(&key.as_str()) && !OTHERS.contains(&key.as_str()) {
                self.warning(format!("server `{name}`: unknown key `{key}`"), "remove it, or check its spelling");
            }
        }
        let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| entry.get(*key));
        match (entry.get("command"), url) {
            (Some(Value::String(command)), None) => {
                let args = self.filled_texts(name, "args", entry.get("args"))?;
                let env = self.map(name, "env", entry.get("env"))?;
                let cwd = match entry.get("cwd") {
                    None => None,
                    Some(cwd) => Some(self.filled_text(name, "cwd", cwd)?),
                };
                let (command, inherit) = (self.filled(name, command)?, Inherit::default());
                Some(Target::Stdio { command, args, env, inherit, cwd })
            }
            // The format of opencode: the program with its arguments.
            (Some(Value::Array(whole)), None) => {
                let mut whole = self.filled_texts(name, "command", Some(&Value::Array(whole.clone())))?;
                if whole.is_empty() {
                    self.push_error(format!("server `{name}`: `command` is empty"), "set a program");
                    return None;
                }
                let env = self.map(name, "env", entry.get("env").or_else(|| entry.get("environment")))?;
                let (command, inherit) = (whole.remove(0), Inherit::default());
                Some(Target::Stdio { command, args: whole, env, inherit, cwd: None })
            }
            (None, Some(url)) => {
                if entry.get("type").and_then(Value::as_str) == Some("sse") {
                    let help = "use the server's streamable HTTP endpoint, often `/mcp` instead of `/sse`";
                    self.push_error(format!("server `{name}`: unsupported transport `sse` (2024-11-05)"), help);
                    return None;
                }
                let headers = self.map(name, "headers", entry.get("headers"))?;
                Some(Target::Http { url: self.filled_text(name, "url", url)?, headers, auth: None })
            }
            (Some(_), Some(_)) => {
                self.push_error(format!("server `{name}` has `command` and `url`"), "remove one of them");
                None
            }
            _ => {
                self.push_error(format!("server `{name}` has neither `command` nor `url`"), "add one of them");
                None
            }
        }
    }

    fn filled_text(&mut self, name: &str, key: &str, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => self.filled(name, text),
            _ => {
                self.push_error(format!("server `{name}`: `{key}` is not a string"), "put it in quotes");
                None
            }
        }
    }

    fn filled_texts(&mut self, name: &str, key: &str, value: Option<&Value>) -> Option<Vec<String>> {
        match value {
            None => Some(Vec::new()),
            Some(Value::Array(list)) => list.iter().map(|one| self.filled_text(name, key, one)).collect(),
            Some(_) => {
                self.push_error(format!("server `{name}`: `{key}` is not a list"), "write [\"one\", \"two\"]");
                None
            }
        }
    }

    fn map(&mut self, name: &str, key: &str, value: Option<&Value>) -> Option<BTreeMap<String, String>> {
        match value {
            None => Some(BTreeMap::new()),
            Some(Value::Object(map)) => {
                let mut texts = BTreeMap::new();
                for (own, value) in map {
                    texts.insert(own.clone(), self.filled_text(name, &format!("{key}.{own}"), value)?);
                }
                Some(texts)
            }
            Some(_) => {
                self.push_error(format!("server `{name}`: `{key}` is not an object"), "write {\"NAME\": \"value\"}");
                None
            }
        }
    }

    fn filled(&mut self, name: &str, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((variable, behind)) = after.split_once('}') else {
                self.push_error(format!("server `{name}`: a `${{` has no `}}`"), "close it, or remove it");
                return None;
            };
            // VS Code writes `${env:NAME}`, Claude Code `${NAME:-default}`.
            let variable = variable.strip_prefix("env:").unwrap_or(variable);
            let (variable, usual) =
                variable.split_once(":-").map_or((variable, None), |(own, usual)| (own, Some(usual)));
            let Some(value) = (self.env)(variable).or_else(|| usual.map(str::to_owned)) else {
                let shown = toolfold::diagnostic::visible(variable).into_owned();
                let help = "set it before the gateway starts, or remove the reference";
                self.push_error(format!("server `{name}`: environment variable `{shown}` is not set"), help);
                return None;
            };
            out.push_str(&value);
            rest = behind;
        }
        out.push_str(rest);
        Some(out)
    }
}

fn secrets(entry: &Map<String, Value>) -> BTreeSet<String> {
    fn collect_strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(list) => {
                for own in list {
                    collect_strings(own, found);
                }
            }
            Value::Object(map) => {
                for own in map.values() {
                    collect_strings(own, found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = Vec::new();
    for own in entry.values() {
        collect_strings(own, &mut found);
    }
    let mut names: BTreeSet<String> = found.into_iter().flat_map(references).collect();
    names.retain(|name| is_secret(name));
    names
}

/// The identity of an entry: computed before variables are replaced, and without the values of
/// `env` and `headers`.
fn identity(entry: &Map<String, Value>) -> String {
    let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| entry.get(*key));
    let [command, args, cwd, url] = [entry.get("command"), entry.get("args"), entry.get("cwd"), url]
        .map(|value| value.map(Value::to_string).unwrap_or_default());
    let [env, environment, headers] = ["env", "environment", "headers"].map(|key| match entry.get(key) {
        Some(Value::Object(map)) => Vec::from_iter(map.keys().map(String::as_str)).join("\n"),
        _ => String::new(),
    });
    digest_of_texts(&["entry", &command, &args, &cwd, &url, &env, &environment, &headers])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Loaded<Vec<ServerSettings>> {
        servers(text, "mcp.json", &|name| (name == "TOKEN").then(|| "s3cret".to_owned()))
    }

    #[test]
    fn programs_and_urls_are_read() {
        let text = r#"{"mcpServers": {
            "files": {"command": "npx", "args": ["-y", "files"], "env": {"KEY": "a-${TOKEN}"}, "cwd": "/tmp"},
            "web": {"type": "http", "url": "https://x.test/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
            "off": {"command": "no", "disabled": true},
            "open": {"command": ["uvx", "open"]}}}"#;
        let Loaded { value, diagnostics } = read(text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let names: Vec<&str> = value.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["files", "web", "open"]);
        let Target::Stdio { env, args, cwd, .. } = &value[0].target else { panic!("a program") };
        assert_eq!((env["KEY"].as_str(), args.len(), cwd.as_deref()), ("a-s3cret", 2, Some("/tmp")));
        let Target::Http { headers, .. } = &value[1].target else { panic!("a URL") };
        assert_eq!(headers["Authorization"], "Bearer s3cret");
        assert_eq!(
            value[2].target,
            Target::Stdio {
                command: "uvx".into(),
                args: vec!["open".into()],
                env: BTreeMap::from([("TOKEN".to_owned(), String::new())]),
                inherit: Inherit::default(),
                cwd: None
            }
        );
    }

    #[test]
    fn a_secret_of_one_server_is_empty_for_the_others() {
        let text = r#"{"mcpServers": {
            "a": {"command": "a", "env": {"A_TOKEN": "${A_TOKEN}", "HOME": "${HOME}"}},
            "b": {"command": "b", "args": ["--key=${env:B_KEY}"]},
            "c": {"url": "http://c/", "headers": {"Authorization": "Bearer ${C_TOKEN:-x}"}},
            "d": {"command": "d", "env": {"B_KEY": "own"}}}}"#;
        let env = |name: &str| Some(format!("value of {name}"));
        let found = servers(text, "f", &env).into_result().unwrap();
        let of = |at: usize| match &found[at].target {
            Target::Stdio { env, .. } => env.clone(),
            Target::Http { .. } => BTreeMap::new(),
        };
        let map = |own: &[(&str, &str)]| own.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let all: [BTreeMap<String, String>; 3] = [
            map(&[("A_TOKEN", "value of A_TOKEN"), ("B_KEY", ""), ("C_TOKEN", ""), ("HOME", "value of HOME")]),
            map(&[("A_TOKEN", ""), ("C_TOKEN", "")]),
            map(&[("A_TOKEN", ""), ("B_KEY", "own"), ("C_TOKEN", "")]),
        ];
        assert_eq!([of(0), of(1), of(3)], all);
    }

    #[test]
    fn errors_do_not_contain_secrets() {
        for (text, word) in [
            ("{", "not valid JSON"),
            ("{}", "mcpServers"),
            (r#"{"mcpServers": {"a": 3}}"#, "not an object"),
            (r#"{"mcpServers": {"a": {}}}"#, "neither"),
            (r#"{"mcpServers": {"a": {"command": "x", "url": "y"}}}"#, "`command` and `url`"),
            (r#"{"mcpServers": {"a": {"command": "x", "args": "y"}}}"#, "not a list"),
            (r#"{"mcpServers": {"a": {"command": "x", "env": {"K": 1}}}}"#, "env.K"),
            (r#"{"mcpServers": {"a": {"command": "${NOPE}"}}}"#, "`NOPE` is not set"),
            (r#"{"mcpServers": {"a": {"command": "${TOKEN"}}}"#, "no `}`"),
            (r#"{"mcpServers": {"a": {"url": "http://x/sse", "type": "sse"}}}"#, "sse"),
            (r#"{"mcpServers": {"a": {"command": "x", "comand": 1}}}"#, "comand"),
        ] {
            let said = format!("{:?}", read(text).diagnostics);
            assert!(said.contains(word) && !said.contains("s3cret"), "{text}: {said}");
        }
    }
}
