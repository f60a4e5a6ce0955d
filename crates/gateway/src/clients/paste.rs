//! What `toolfold gateway init` writes: our list of servers, our configuration, and the block for the client's own file.

use serde_json::{Map, Value, json};

use super::read::{How, Listed};
use super::{EntryForm, McpClient};

/// The name under which the client knows the gateway.
pub const NAME: &str = "toolfold";

/// Our list of servers, as [`crate::config::servers`] reads it.
#[must_use]
pub fn servers(servers: &[Listed]) -> String {
    let mut list = Map::new();
    for Listed { name, how, enabled, .. } in servers {
        let mut entry = match how {
            How::Stdio { command, args, env, cwd } => {
                let mut entry = json!({"command": command});
                insert_some(&mut entry, "args", (!args.is_empty()).then(|| json!(args)));
                insert_some(&mut entry, "env", (!env.is_empty()).then(|| json!(env)));
                insert_some(&mut entry, "cwd", cwd.as_ref().map(|cwd| json!(cwd)));
                entry
            }
            How::Http { url, headers } => {
                let mut entry = json!({"type": "http", "url": url});
                insert_some(&mut entry, "headers", (!headers.is_empty()).then(|| json!(headers)));
                entry
            }
        };
        insert_some(&mut entry, "disabled", (!enabled).then_some(Value::Bool(true)));
        list.insert(name.clone(), entry);
    }
    pretty(&json!({"mcpServers": list}))
}

/// Our configuration for that list.
#[must_use]
pub fn configuration(client: &McpClient, servers_file: &str, servers: &[Listed]) -> String {
    let mut out =
        format!("[gateway]\nservers = {}\nclient = {}\n", toml_string(servers_file), toml_string(&client.name));
    for Listed { name, include, exclude, start_ms, call_ms, .. } in servers {
        let list = |own: &[String]| own.iter().map(|one| toml_string(one)).collect::<Vec<_>>().join(", ");
        let mut lines = String::new();
        for (key, globs) in [("include", include), ("exclude", exclude)] {
            if !globs.is_empty() {
                lines.push_str(&format!("{key} = [{}]\n", list(globs)));
            }
        }
        for (key, ms) in [("start_timeout", start_ms), ("call_timeout", call_ms)] {
            if let Some(ms) = ms {
                lines.push_str(&format!("{key} = \"{}s\"\n", ms.div_ceil(1000).max(1)));
            }
        }
        if !lines.is_empty() {
            out.push_str(&format!("\n[gateway.server.{}]\n{lines}", toml_string(name)));
        }
    }
    out + "\n# Judge calls: write a policy with `toolfold policy new`, then\n# [policy]\n# file = \"policy.toml\"\n"
}

/// The block for the client's own file: the gateway as its one server, which is passed these variables.
#[must_use]
pub fn block(client: &McpClient, program: &str, args: &[String], variables: &[String]) -> String {
    let written = |name: &String| (name.clone(), json!(client.config.variable.replace("NAME", name)));
    let known = !client.config.variable.is_empty();
    let env: Map<String, Value> = variables.iter().filter(|_| known).map(written).collect();
    let mut entry = match client.config.entry {
        EntryForm::Codex => return toml_block(program, args, variables),
        EntryForm::Opencode => {
            let whole: Vec<&str> = std::iter::once(program).chain(args.iter().map(String::as_str)).collect();
            json!({"type": "local", "command": whole, "enabled": true})
        }
        EntryForm::Typed => json!({"type": "stdio", "command": program, "args": args}),
        EntryForm::Plain => json!({"command": program, "args": args}),
    };
    let key = if client.config.entry == EntryForm::Opencode { "environment" } else { "env" };
    insert_some(&mut entry, key, (!env.is_empty()).then_some(Value::Object(env)));
    let mut list = Map::new();
    list.insert(client.config.list.clone(), json!({NAME: entry}));
    pretty(&Value::Object(list))
}

/// Codex gives a server no variable that is not named here.
fn toml_block(program: &str, args: &[String], variables: &[String]) -> String {
    let list = |own: &[String]| own.iter().map(|one| toml_string(one)).collect::<Vec<_>>().join(", ");
    let mut out = format!("[mcp_servers.{NAME}]\ncommand = {}\nargs = [{}]\n", toml_string(program), list(args));
    if !variables.is_empty() {
        out.push_str(&format!("env_vars = [{}]\n", list(variables)));
    }
    out
}

fn insert_some(entry: &mut Value, key: &str, value: Option<Value>) {
    if let (Some(entry), Some(value)) = (entry.as_object_mut(), value) {
        entry.insert(key.to_owned(), value);
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// A text of TOML: what JSON escapes is escaped alike there, and U+007F besides.
fn toml_string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
