//! Servers as a client's own configuration lists them, in one neutral form with our variables: `${NAME}`.

use indexmap::IndexMap;
use serde_json::{Map, Value};
use toolfold::diagnostic::{Diagnostic, Loaded, Place, visible};

use super::{FileForm, McpClient, jsonc};

/// One server of a client's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub how: How,
    /// Whether the client uses it.
    pub enabled: bool,
    /// Which of its tools the client shows. Empty: all.
    pub include: Vec<String>,
    /// Which it does not.
    pub exclude: Vec<String>,
    /// How long it may take to start, in milliseconds.
    pub start_ms: Option<u64>,
    /// How long a call may take, in milliseconds.
    pub call_ms: Option<u64>,
}

/// How a server is reached. Texts may have variables: `${NAME}`, `${NAME:-what it is without}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// A program.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What is added to its environment.
        env: IndexMap<String, String>,
        /// Where it runs.
        cwd: Option<String>,
    },
    /// A URL.
    Http {
        /// The endpoint.
        url: String,
        /// What is added to every request.
        headers: IndexMap<String, String>,
    },
}

/// Reads a client's configuration. `project` is the folder whose own servers count where a file has those of many projects.
pub fn read_client_file(client: &McpClient, text: &str, file: &str, project: Option<&str>) -> Loaded<Vec<Listed>> {
    let mut reader = Reader { client, file, diagnostics: Vec::new() };
    let value = reader.root(text).map(|root| reader.servers(&root, project)).unwrap_or_default();
    Loaded { value, diagnostics: reader.diagnostics }
}

struct Reader<'r> {
    client: &'r McpClient,
    file: &'r str,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn push_error(&mut self, message: String, help: &str) {
        self.diagnostics.push(Diagnostic::error("bad-client-file", Place::file(self.file), message).help(help));
    }

    fn warning(&mut self, message: String, help: &str) {
        self.diagnostics.push(Diagnostic::warning("not-converted", Place::file(self.file), message).help(help));
    }

    fn root(&mut self, text: &str) -> Option<Value> {
        // Causes are told without the text: it may hold secrets.
        let read = match self.client.config.format {
            FileForm::Toml => toml::from_str(text).map_err(|why: toml::de::Error| why.message().to_owned()),
            FileForm::Json | FileForm::Jsonc => {
                serde_json::from_str(&jsonc::strip_comments(text)).map_err(|why| why.to_string())
            }
        };
        read.map_err(|why| {
            let form = if self.client.config.format == FileForm::Toml { "TOML" } else { "JSON" };
            self.push_error(format!("is no {form}: {why}"), "check that it is the client's own file: --client, --from");
        })
        .ok()
    }

    fn servers(&mut self, root: &Value, project: Option<&str>) -> Vec<Listed> {
        let list = self.client.config.list.as_str();
        let mut all: IndexMap<&str, &Value> = IndexMap::new();
        // Claude Code keeps those of one project below `projects`.
        let of_project = project.and_then(|folder| root.get("projects")?.get(folder)?.get(list));
        let found = root.get(list);
        for own in found.into_iter().chain(of_project) {
            // opencode 2 has them one level further down.
            let deeper = own.get("servers").filter(|own| own.get("command").is_none() && own.get("url").is_none());
            let own = deeper.filter(|_| list == "mcp").unwrap_or(own);
            all.extend(own.as_object().into_iter().flatten().map(|(name, entry)| (name.as_str(), entry)));
        }
        if found.is_none() && of_project.is_none() {
            let message = format!("has no `{list}`, where {} lists its servers", self.client.title);
            self.push_error(message, "name the file with --from, or the client that it is of with --client");
        }
        all.into_iter().filter_map(|(name, entry)| self.server(name, entry)).collect()
    }

    fn server(&mut self, name: &str, entry: &Value) -> Option<Listed> {
        let shown = visible(name).into_owned();
        let Some(entry) = entry.as_object() else {
            self.warning(format!("server `{shown}` is no object, and is left out"), "add it by hand");
            return None;
        };
        let how = self.how(&shown, entry)?;
        if let How::Stdio { command, args, .. } = &how
            && command.rsplit(['/', '\\']).next().is_some_and(|own| own.trim_end_matches(".exe") == "toolfold")
            && args.first().is_some_and(|first| first == "gateway")
        {
            self.warning(format!("server `{shown}` is this gateway, and is left out"), "nothing is to be done");
            return None;
        }
        let texts = |keys: [&str; 2]| {
            let list = keys.iter().find_map(|key| entry.get(*key)?.as_array());
            list.into_iter().flatten().filter_map(|own| own.as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let seconds = |key: &str| entry.get(key).and_then(Value::as_f64).map(|own| (own * 1000.0).max(0.0) as u64);
        let ms = |key: &str| entry.get(key).and_then(Value::as_u64);
        // Of Gemini CLI and Qwen Code it is the limit of a call, of opencode that of listing.
        let (start, call) = match self.client.name.as_str() {
            "opencode" => (ms("timeout"), None),
            "codex" => {
                (seconds("startup_timeout_sec").or_else(|| ms("startup_timeout_ms")), seconds("tool_timeout_sec"))
            }
            _ => (None, ms("timeout")),
        };
        let off =
            entry.get("disabled") == Some(&Value::Bool(true)) || entry.get("enabled") == Some(&Value::Bool(false));
        Some(Listed {
            name: name.to_owned(),
            how,
            enabled: !off,
            include: texts(["includeTools", "enabled_tools"]),
            exclude: texts(["excludeTools", "disabled_tools"]),
            start_ms: start,
            call_ms: call,
        })
    }

    fn how(&mut self, name: &str, entry: &Map<String, Value>) -> Option<How> {
        let text = |value: &Value| value.as_str().map(|own| self.ours(own));
        let list = |value: Option<&Value>| -> Vec<String> {
            value.and_then(Value::as_array).into_iter().flatten().filter_map(text).collect()
        };
        let map = |keys: &[&str]| -> IndexMap<String, String> {
            let own = keys.iter().find_map(|key| entry.get(*key)?.as_object());
            let plain = |value: &Value| match value {
                Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
                other => text(other),
            };
            own.into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), plain(value)?))).collect()
        };
        let cwd = entry.get("cwd").and_then(text);
        let mut env = map(&["env", "environment"]);
        for variable in entry.get("env_vars").and_then(Value::as_array).into_iter().flatten() {
            let named = variable.as_str().or_else(|| variable.get("name")?.as_str());
            env.extend(named.map(|own| (own.to_owned(), format!("${{{own}}}"))));
        }
        match entry.get("command") {
            Some(Value::String(command)) => {
                return Some(How::Stdio { command: self.ours(command), args: list(entry.get("args")), env, cwd });
            }
            Some(whole @ Value::Array(_)) => {
                let mut whole = list(Some(whole));
                if !whole.is_empty() {
                    return Some(How::Stdio { command: whole.remove(0), args: whole, env, cwd });
                }
            }
            _ => {}
        }
        let Some(url) = ["httpUrl", "url", "serverUrl"].iter().find_map(|key| entry.get(*key)?.as_str()) else {
            self.warning(format!("server `{name}` has neither a command nor a URL, and is left out"), "add it by hand");
            return None;
        };
        let mut headers = map(&["headers", "http_headers"]);
        if let Some(named) = entry.get("env_http_headers").and_then(Value::as_object) {
            let named = named.iter().filter_map(|(key, own)| Some((key.clone(), format!("${{{}}}", own.as_str()?))));
            headers.extend(named);
        }
        if let Some(variable) = entry.get("bearer_token_env_var").and_then(Value::as_str) {
            headers.insert("Authorization".to_owned(), format!("Bearer ${{{variable}}}"));
        }
        let url = self.ours(url);
        let kind = entry.get("type").or_else(|| entry.get("transport")).and_then(Value::as_str);
        let gemini = matches!(self.client.name.as_str(), "gemini-cli" | "qwen");
        if kind == Some("sse") {
            let help = "use the server's streamable HTTP endpoint, often `/mcp` instead of `/sse`";
            self.warning(format!("server `{name}` speaks the old transport `sse`, and is left out"), help);
            return None;
        }
        if gemini && kind.is_none() && !entry.contains_key("httpUrl") {
            let help = "if `toolfold gateway doctor` says that it is down, name its streamable HTTP endpoint instead";
            self.warning(
                format!("server `{name}`: `url` may be of the old transport `sse`; taken as streamable HTTP"),
                help,
            );
        }
        if entry.contains_key("oauth") {
            let help = "give it a token in `headers`, as \"Bearer ${NAME}\"";
            self.warning(format!("server `{name}`: signing in with OAuth is not taken over"), help);
        }
        Some(How::Http { url, headers })
    }

    /// A text with our variables in place of the client's.
    fn ours(&self, text: &str) -> String {
        match self.client.config.variable.as_str() {
            "$NAME" => dollar(text),
            "{env:NAME}" => replaced(text, "{env:", |name| Some(format!("${{{name}}}"))),
            "${env:NAME}" => replaced(text, "${", |name| {
                let name = match name.split_once(':') {
                    Some(("env", name)) => name.to_owned(),
                    Some(("input", id)) => super::secrets::variable(id),
                    None if name == "workspaceFolder" => "PWD".to_owned(),
                    None if name == "userHome" => "HOME".to_owned(),
                    None if matches!(name, "/" | "pathSeparator") => return Some("/".to_owned()),
                    _ => return None,
                };
                Some(format!("${{{name}}}"))
            }),
            _ => text.to_owned(),
        }
    }
}

/// A text with every `openNAME}` replaced that `with` knows.
fn replaced(text: &str, open: &str, with: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        out.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            out.push_str(open);
            rest = after;
            continue;
        };
        out.push_str(&with(name).unwrap_or_else(|| format!("{open}{name}}}")));
        rest = behind;
    }
    out + rest
}

/// `$NAME` as `${NAME}`; what is in braces already stays.
fn dollar(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let begins = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
        match after.split_at_checked(end).filter(|_| begins) {
            Some((name, behind)) => {
                out.push_str(&format!("${{{name}}}"));
                rest = behind;
            }
            None => {
                out.push('$');
                rest = after;
            }
        }
    }
    out + rest
}
