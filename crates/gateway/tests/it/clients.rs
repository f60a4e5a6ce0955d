//! Lists of servers in clients' configurations, imported and written.

use std::collections::BTreeMap;

use toolfold_gateway::clients::read::{How, Listed, read_client_file};
use toolfold_gateway::clients::secrets::{Variable, moved};
use toolfold_gateway::clients::{McpClient, paste};
use toolfold_gateway::config::servers;
use toolfold_gateway::link::Target;

const FIXTURES: [(&str, &str); 9] = [
    ("claude-code", "claude-code.json"),
    ("claude-desktop", "claude-desktop.json"),
    ("cursor", "cursor.json"),
    ("vscode", "vscode.json"),
    ("codex", "codex.toml"),
    ("gemini-cli", "gemini-cli.json"),
    ("qwen", "qwen.json"),
    ("opencode", "opencode.json"),
    ("opencode", "opencode2.json"),
];

const SECRETS: [&str; 9] = [
    "github_pat_11ABCDEFG0abcdefgh",
    "abc123def",
    "s3cretvalue",
    "hunter22",
    "sk-proj-0123456789abcdef",
    "abcd",
    "k3y",
    "\"abc\"",
    "hunter",
];

fn client(name: &str) -> &'static McpClient {
    McpClient::by_name(name).unwrap()
}

fn taken(name: &str, file: &str) -> (Vec<Listed>, Vec<Variable>, String) {
    let text = std::fs::read_to_string(format!("{}/tests/clients/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let loaded = read_client_file(client(name), &text, file, Some("/work/p"));
    assert!(!loaded.has_errors(), "{file}: {:?}", loaded.diagnostics);
    let mut list = loaded.value;
    let variables = moved(&mut list);
    let said = loaded.diagnostics.iter().map(|own| own.message.clone()).collect::<Vec<_>>().join("\n");
    (list, variables, said)
}

fn names(variables: &[Variable]) -> Vec<String> {
    variables.iter().map(|own| own.name.clone()).collect()
}

#[test]
fn every_clients_list_is_imported_and_read_by_the_gateway() {
    for (name, file) in FIXTURES {
        let (list, variables, said) = taken(name, file);
        let ours = paste::servers(&list);
        let known: BTreeMap<&str, String> =
            variables.iter().map(|own| (own.name.as_str(), format!("value of {}", own.name))).collect();
        let loaded = servers(&ours, "toolfold-servers.json", &|name| known.get(name).cloned());
        assert!(loaded.diagnostics.is_empty(), "{file}: {:?}", loaded.diagnostics);
        let enabled: Vec<&str> = list.iter().filter(|own| own.enabled).map(|own| own.name.as_str()).collect();
        let read: Vec<&str> = loaded.value.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(read, enabled, "{file}");
        let config = paste::configuration(client(name), "toolfold-servers.json", &list);
        let variables = format!("{variables:?}");
        for secret in SECRETS {
            for text in [&ours, &config, &variables, &said] {
                assert!(!text.contains(secret), "{file}: {secret} in {text}");
            }
        }
    }
}

#[test]
fn the_pasted_block_has_the_clients_format_and_passes_variables() {
    let args: Vec<String> = ["gateway", "--config", "/etc/toolfold.toml"].map(str::to_owned).to_vec();
    let variables = ["A_TOKEN".to_owned()];
    for client in McpClient::known_clients() {
        let block = paste::block(client, "/bin/tf", &args, &variables);
        let loaded = read_client_file(client, &block, "pasted", None);
        assert!(loaded.diagnostics.is_empty(), "{}: {:?}", client.name, loaded.diagnostics);
        let [Listed { name, how: How::Stdio { command, args: read, env, .. }, enabled: true, .. }] = &loaded.value[..]
        else {
            panic!("{}: {:?}", client.name, loaded.value)
        };
        assert_eq!((name.as_str(), command.as_str(), read), (paste::NAME, "/bin/tf", &args), "{}", client.name);
        let passes = !client.config.variable.is_empty();
        assert_eq!(env.get("A_TOKEN").map(String::as_str), passes.then_some("${A_TOKEN}"), "{}", client.name);
        // Only Codex has the option, and does not wait for the tools without it.
        assert_eq!(block.contains("required = true"), client.name == "codex", "{block}");
    }
}

#[test]
fn variables_have_the_expected_names() {
    for (name, file, expected) in [
        ("claude-code", "claude-code.json", &["GITHUB_PERSONAL_ACCESS_TOKEN", "SENTRY_TOKEN"][..]),
        ("claude-desktop", "claude-desktop.json", &["REMOTE_API_KEY", "REMOTE_AUTHORIZATION"]),
        ("cursor", "cursor.json", &["DB_DB_PASSWORD", "DB_PASSWORD", "X_TOKEN"]),
        ("vscode", "vscode.json", &["API_KEY", "HOME", "PWD"]),
        ("codex", "codex.toml", &["API_KEY", "DOCS_TOKEN", "FIGMA_TEAM", "FIGMA_TOKEN", "OTHER"]),
        ("gemini-cli", "gemini-cli.json", &["API_KEY", "DB_URL", "H_X_API_KEY", "PY_TOKEN"]),
        ("qwen", "qwen.json", &["API_KEY"]),
        ("opencode", "opencode.json", &["MY_KEY", "MY_TOKEN"]),
    ] {
        let (_, variables, _) = taken(name, file);
        let expected: Vec<&str> = expected.iter().filter(|own| **own != "DB_DB_PASSWORD").copied().collect();
        assert_eq!(names(&variables), expected, "{file}");
    }
}

#[test]
fn limits_filters_and_disabled_servers_are_imported() {
    let (list, _, _) = taken("codex", "codex.toml");
    let docs = &list[0];
    assert_eq!((docs.include.len(), docs.start_ms, docs.call_ms), (2, Some(20_500), Some(60_000)));
    assert!(!list[1].enabled);
    let How::Http { headers, .. } = &list[1].how else { panic!("a URL") };
    assert_eq!(headers["Authorization"], "Bearer ${FIGMA_TOKEN}");
    assert_eq!((headers["X-Region"].as_str(), headers["X-Team"].as_str()), ("eu", "${FIGMA_TEAM}"));
    let config = paste::configuration(client("codex"), "s.json", &list);
    let expected = "[gateway.server.\"docs\"]\ninclude = [\"search\", \"read_*\"]\nstart_timeout = \"21s\"\ncall_timeout = \"60s\"\n";
    assert!(config.contains(expected), "{config}");
    let (list, _, said) = taken("gemini-cli", "gemini-cli.json");
    assert_eq!((list[0].exclude.as_slice(), list[0].call_ms), (&["drop".to_owned()][..], Some(15_000)));
    assert!(said.contains("`s`") && said.contains("sse"), "{said}");
    let (list, _, said) = taken("claude-code", "claude-code.json");
    let names: Vec<&str> = list.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["github", "sentry", "local"], "only the servers of the current project");
    assert!(said.contains("`old`"), "{said}");
}

#[test]
fn secrets_are_moved_and_harmless_values_stay() {
    let (list, _, _) = taken("claude-desktop", "claude-desktop.json");
    let How::Stdio { args, .. } = &list[1].how else { panic!("a program") };
    let expected = [
        "mcp-remote",
        "https://x.test/mcp?api_key=${REMOTE_API_KEY}",
        "--header",
        "Authorization: Bearer ${REMOTE_AUTHORIZATION}",
    ];
    assert_eq!(args, &expected);
    let (list, _, _) = taken("cursor", "cursor.json");
    let How::Stdio { args, env, .. } = &list[1].how else { panic!("a program") };
    assert_eq!((args[1].as_str(), env["LOG_LEVEL"].as_str()), ("postgres://me:${DB_PASSWORD}@db.test/x", "debug"));
    let How::Http { headers, .. } = &list[0].how else { panic!("a URL") };
    assert_eq!(headers["X-Version"], "2");
}

#[test]
fn a_default_replaces_an_unset_variable_and_values_do_not_change_the_identity() {
    let text = r#"{"mcpServers": {"a": {"command": "x", "args": ["${V:-usual}"], "env": {"K": "${T}"}}}}"#;
    let with = |token: &'static str| servers(text, "mcp.json", &move |name| (name == "T").then(|| token.to_owned()));
    let (one, other) = (with("1").value.remove(0), with("2").value.remove(0));
    let Target::Stdio { args, .. } = &one.target else { panic!("a program") };
    assert_eq!(args, &["usual"]);
    assert_eq!(one.identity, other.identity);
    assert_ne!(one.target, other.target);
}

#[test]
fn invalid_lists_are_reported_without_their_text() {
    for (name, text, word) in [
        ("cursor", "{\"token\": \"s3cret\"", "not valid JSON"),
        ("cursor", "{\"servers\": {}}", "mcpServers"),
        ("codex", "token = s3cret", "not valid TOML"),
        ("codex", "[mcp]\n", "mcp_servers"),
    ] {
        let said = format!("{:?}", read_client_file(client(name), text, "file", None).diagnostics);
        assert!(said.contains(word) && !said.contains("s3cret"), "{said}");
    }
}
