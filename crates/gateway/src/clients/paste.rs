//! The texts that `toolfold gateway init` writes: the list of servers, the gateway's configuration,
//! and the block for the client's file.

use serde_json::{Map, Value, json};

use super::read::{How, Listed};
use super::{EntryForm, McpClient};

/// The gateway's name in the client's list.
pub const NAME: &str = "toolfold";

/// The gateway's list of servers, as [`crate::config::servers`] reads it.
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

/// The gateway's configuration for that list.
#[must_use]
pub fn configuration(client: &McpClient, servers_file: &str, servers: &[Listed]) -> String {
    let mut out =
        format!("[gateway]\nservers = {}\nclient = {}\n", toml_string(servers_file), toml_string(&client.name));
    for Listed { name, include, exclude, inherit, start_ms, call_ms, .. } in servers {
        let mut lines = String::new();
        for (key, texts) in [("include", include), ("exclude", exclude), ("inherit", inherit)] {
            if !texts.is_empty() {
                lines.push_str(&format!("{key} = {}\n", quoted_list(texts)));
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
    out + "\n# To check calls, write a policy with `toolfold policy new`, then\n# [policy]\n# file = \"policy.toml\"\n"
}

/// The block for the client's file: the gateway as the only server, with these variables.
#[must_use]
pub fn block(client: &McpClient, program: &str, args: &[String], variables: &[String]) -> String {
    let mut env = Map::new();
    for name in variables.iter().filter(|_| !client.config.variable.is_empty()) {
        env.insert(name.clone(), json!(client.config.variable.replace("NAME", name)));
    }
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

/// Codex only passes the variables that are listed here. Without `required`, its first turn has
/// only the tools of servers that list them within a second.
fn toml_block(program: &str, args: &[String], variables: &[String]) -> String {
    let mut out = format!(
        "[mcp_servers.{NAME}]\ncommand = {}\nargs = {}\nrequired = true\n",
        toml_string(program),
        quoted_list(args)
    );
    if !variables.is_empty() {
        out.push_str(&format!("env_vars = {}\n", quoted_list(variables)));
    }
    out
}

fn quoted_list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| toml_string(text)).collect::<Vec<_>>().join(", "))
}

fn insert_some(entry: &mut Value, key: &str, value: Option<Value>) {
    if let (Some(entry), Some(value)) = (entry.as_object_mut(), value) {
        entry.insert(key.to_owned(), value);
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// A TOML string: like a JSON string, with U+007F escaped too.
fn toml_string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
