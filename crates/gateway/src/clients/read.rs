//! Reads the servers in a client's configuration, in a neutral form with variables written as
//! `${NAME}`.

use indexmap::IndexMap;
use serde_json::{Map, Value};
use toolfold::diagnostic::{Diagnostic, Loaded, Place, visible};

use super::{FileForm, McpClient, jsonc};

/// One server of a client's list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// The connection to the server.
    pub how: How,
    /// Whether the client has enabled it.
    pub enabled: bool,
    /// The tools that the client shows. Empty: all.
    pub include: Vec<String>,
    /// The tools that the client hides.
    pub exclude: Vec<String>,
    /// The variables of the gateway that its process gets besides the usual ones.
    pub inherit: Vec<String>,
    /// The time limit for starting, in milliseconds.
    pub start_ms: Option<u64>,
    /// The time limit of a call, in milliseconds.
    pub call_ms: Option<u64>,
}

impl Listed {
    /// An enabled server with all its tools and the default time limits.
    #[must_use]
    pub fn new(name: impl Into<String>, how: How) -> Self {
        let (include, exclude, inherit) = (Vec::new(), Vec::new(), Vec::new());
        Self { name: name.into(), how, enabled: true, include, exclude, inherit, start_ms: None, call_ms: None }
    }
}

/// The connection to a server. Texts may contain variables: `${NAME}`, `${NAME:-default}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// A program.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that are added to its environment.
        env: IndexMap<String, String>,
        /// The working directory.
        cwd: Option<String>,
    },
    /// A URL.
    Http {
        /// The endpoint.
        url: String,
        /// Headers of every request.
        headers: IndexMap<String, String>,
    },
}

/// Reads a client's configuration. `project` is the directory of the project whose servers are read
/// from a file with the servers of several projects.
pub fn read_client_file(client: &McpClient, text: &str, file: &str, project: Option<&str>) -> Loaded<Vec<Listed>> {
    let mut reader = Reader { client, file, diagnostics: Vec::new() };
    let value = match reader.root(text) {
        Some(root) => reader.servers(&root, project),
        None => Vec::new(),
    };
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
        // Errors do not quote the text, which may contain secrets.
        let read = match self.client.config.format {
            FileForm::Toml => toml::from_str(text).map_err(|why: toml::de::Error| why.message().to_owned()),
            FileForm::Json | FileForm::Jsonc => {
                serde_json::from_str(&jsonc::strip_comments(text)).map_err(|why| why.to_string())
            }
        };
        read.map_err(|why| {
            let form = if self.client.config.format == FileForm::Toml { "TOML" } else { "JSON" };
            self.push_error(
                format!("is not valid {form}: {why}"),
                "check that --client and --from name the client and its file",
            );
        })
        .ok()
    }

    fn servers(&mut self, root: &Value, project: Option<&str>) -> Vec<Listed> {
        let list = self.client.config.list.as_str();
        let mut all: IndexMap<&str, &Value> = IndexMap::new();
        // Claude Code stores a project's servers below `projects`.
        let of_project = project.and_then(|folder| root.get("projects")?.get(folder)?.get(list));
        let found = root.get(list);
        for own in found.into_iter().chain(of_project) {
            // opencode 2 nests them one level deeper.
            let own = match own.get("servers") {
                Some(deeper) if list == "mcp" && deeper.get("command").is_none() && deeper.get("url").is_none() => {
                    deeper
                }
                _ => own,
            };
            for (name, entry) in own.as_object().into_iter().flatten() {
                all.insert(name, entry);
            }
        }
        if found.is_none() && of_project.is_none() {
            let message = format!("has no `{list}`, the key of {}'s servers", self.client.title);
            self.push_error(message, "set the file with --from, or its client with --client");
        }
        all.into_iter().filter_map(|(name, entry)| self.server(name, entry)).collect()
    }

    fn server(&mut self, name: &str, entry: &Value) -> Option<Listed> {
        let shown = visible(name).into_owned();
        let Some(entry) = entry.as_object() else {
            self.warning(format!("ignored server `{shown}`: not an object"), "add it by hand");
            return None;
        };
        let how = self.how(&shown, entry)?;
        if let How::Stdio { command, args, .. } = &how
            && command.rsplit(['/', '\\']).next().is_some_and(|own| own.trim_end_matches(".exe") == "toolfold")
            && args.first().is_some_and(|first| first == "gateway")
        {
            self.warning(format!("ignored server `{shown}`: it is this gateway"), "no action is needed");
            return None;
        }
        let timeout = entry.get("timeout").and_then(Value::as_u64);
        // In Gemini CLI and Qwen Code it limits a call, in opencode the listing of tools.
        let (start, call) = match self.client.name.as_str() {
            "opencode" => (timeout, None),
            "codex" => {
                let start = entry.get("startup_timeout_ms").and_then(Value::as_u64);
                (milliseconds(entry.get("startup_timeout_sec")).or(start), milliseconds(entry.get("tool_timeout_sec")))
            }
            _ => (None, timeout),
        };
        let off =
            entry.get("disabled") == Some(&Value::Bool(true)) || entry.get("enabled") == Some(&Value::Bool(false));
        Some(Listed {
            name: name.to_owned(),
            how,
            enabled: !off,
            include: texts(entry.get("includeTools").or_else(|| entry.get("enabled_tools"))),
            exclude: texts(entry.get("excludeTools").or_else(|| entry.get("disabled_tools"))),
            inherit: Vec::new(),
            start_ms: start,
            call_ms: call,
        })
    }

    fn how(&mut self, name: &str, entry: &Map<String, Value>) -> Option<How> {
        let cwd = entry.get("cwd").and_then(Value::as_str).map(|cwd| self.ours(cwd));
        let mut env = self.map(entry.get("env").or_else(|| entry.get("environment")));
        for variable in entry.get("env_vars").and_then(Value::as_array).into_iter().flatten() {
            let named = variable.as_str().or_else(|| variable.get("name")?.as_str());
            env.extend(named.map(|own| (own.to_owned(), format!("${{{own}}}"))));
        }
        match entry.get("command") {
            Some(Value::String(command)) => {
                let args = self.list(entry.get("args"));
                return Some(How::Stdio { command: self.ours(command), args, env, cwd });
            }
            whole @ Some(Value::Array(_)) => {
                let mut whole = self.list(whole);
                if !whole.is_empty() {
                    return Some(How::Stdio { command: whole.remove(0), args: whole, env, cwd });
                }
            }
            _ => {}
        }
        let Some(url) = ["httpUrl", "url", "serverUrl"].iter().find_map(|key| entry.get(*key)?.as_str()) else {
            self.warning(format!("ignored server `{name}`: no command and no URL"), "add it by hand");
            return None;
        };
        let mut headers = self.map(entry.get("headers").or_else(|| entry.get("http_headers")));
        for (key, variable) in entry.get("env_http_headers").and_then(Value::as_object).into_iter().flatten() {
            if let Some(variable) = variable.as_str() {
                headers.insert(key.clone(), format!("${{{variable}}}"));
            }
        }
        if let Some(variable) = entry.get("bearer_token_env_var").and_then(Value::as_str) {
            headers.insert("Authorization".to_owned(), format!("Bearer ${{{variable}}}"));
        }
        let url = self.ours(url);
        let kind = entry.get("type").or_else(|| entry.get("transport")).and_then(Value::as_str);
        let gemini = matches!(self.client.name.as_str(), "gemini-cli" | "qwen");
        if kind == Some("sse") {
            let help = "use the server's streamable HTTP endpoint, often `/mcp` instead of `/sse`";
            self.warning(format!("ignored server `{name}`: unsupported transport `sse`"), help);
            return None;
        }
        if gemini && kind.is_none() && !entry.contains_key("httpUrl") {
            let help = "if `toolfold gateway doctor` reports it as down, use its streamable HTTP endpoint";
            self.warning(
                format!("server `{name}`: `url` may belong to the old transport `sse`; treated as streamable HTTP"),
                help,
            );
        }
        if entry.contains_key("oauth") {
            let help = "add a token to `headers`, as \"Bearer ${NAME}\"";
            self.warning(format!("server `{name}`: its OAuth settings are not copied"), help);
        }
        Some(How::Http { url, headers })
    }

    fn list(&self, value: Option<&Value>) -> Vec<String> {
        texts(value).iter().map(|text| self.ours(text)).collect()
    }

    /// The texts of an object, with numbers and booleans as text.
    fn map(&self, value: Option<&Value>) -> IndexMap<String, String> {
        let mut texts = IndexMap::new();
        for (key, value) in value.and_then(Value::as_object).into_iter().flatten() {
            let text = match value {
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                Value::String(text) => self.ours(text),
                _ => continue,
            };
            texts.insert(key.clone(), text);
        }
        texts
    }

    /// Converts the client's variables to the gateway's syntax.
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

fn texts(list: Option<&Value>) -> Vec<String> {
    match list {
        Some(Value::Array(list)) => list.iter().filter_map(|own| Some(own.as_str()?.to_owned())).collect(),
        _ => Vec::new(),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of f64 to u64 saturates")]
fn milliseconds(seconds: Option<&Value>) -> Option<u64> {
    Some((seconds?.as_f64()? * 1000.0).max(0.0) as u64)
}

/// Replaces every `openNAME}` for which `with` returns a value.
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

fn dollar(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let begins = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
        match after.split_at_checked(end) {
            Some((name, behind)) if begins => {
                out.push_str(&format!("${{{name}}}"));
                rest = behind;
            }
            _ => {
                out.push('$');
                rest = after;
            }
        }
    }
    out + rest
}
