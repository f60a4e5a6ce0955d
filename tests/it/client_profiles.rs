//! Layer 1: which tools of an array are the agent's own, and whether it defers the others already.

use serde_json::{Value, json};
use toolfold::catalog::{Catalog, Format, Origin};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ClientProfile, Detail, Expanded, Presentation, Tier, ToolProfile, own_tools};
use toolfold::wire::Wire;

use crate::corpus;

const SERVERS: &str =
    "github_create_issue github_list_issues github_get_file slack_post_message slack_list_channels slack_get_thread";

fn catalog(names: &str) -> Catalog {
    let words = "A parameter with words enough to be worth folding away, meta-tools counted. ".repeat(8);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "description": words}}});
    let tools: Vec<Value> = names
        .split_whitespace()
        .map(|name| json!({"name": name, "description": format!("Does {name}. And more."), "input_schema": schema}))
        .collect();
    Catalog::from_anthropic(&json!(tools).to_string()).unwrap()
}

#[track_caller]
fn check(names: &str, own: &str) {
    let catalog = catalog(names);
    let found: Vec<&str> =
        catalog.names().zip(own_tools(&catalog)).filter(|(_, own)| *own).map(|(name, _)| name.as_str()).collect();
    assert_eq!(found.join(" "), own);
}

#[test]
fn unprefixed_tools_among_prefixed_ones_are_the_agents_own() {
    let mcp = "mcp__github__create_issue mcp__github__list_issues mcp__slack__post";
    check(&format!("Bash Read Edit ToolSearch Custom {mcp}"), "Bash Read Edit ToolSearch Custom");
    check(&format!("think plan {mcp}"), "think plan");
    check("run_cmd mcp_github_create_issue mcp_github_list_issues", "run_cmd");
    check(&format!("think run_python {SERVERS}"), "think run_python");
    check(
        "bash edit read write grep github_create_issue github_list_issues github_get_file",
        "bash edit read write grep",
    );
}

#[test]
fn a_servers_own_list_has_no_own_tools() {
    check(SERVERS, "");
    check("mcp__github__create_issue mcp__github__list_issues", "");
    check("read_file write_file list_directory move_file search_files", "");
    check("kubectl_get kubectl_apply kubectl_logs ping cleanup exec_in_pod", "");
    check("issues.list issues.get pulls.list users.get ping", "");
    check("kunde_anlegen kunde_suchen kunde_loeschen rechnung_senden rechnung_zahlen rechnung_drucken lager", "");
    check("createUser deleteUser listUsers ping", "");
}

#[test]
fn own_tools_are_full_in_every_arm() {
    let mcp: Vec<String> =
        (0..12).map(|n| format!("mcp__shop__get_{}", ["cart", "item", "order"][n % 3].repeat(n / 3 + 1))).collect();
    let catalog = catalog(&format!("Bash Read Edit Skill {}", mcp.join(" ")));
    let assignment = ToolProfile::derive(&catalog).assign(&catalog).value;
    for arm in Arm::EVERYWHERE.into_iter().filter(|arm| *arm != Arm::Full) {
        let presentation = Presentation::new(&catalog, &assignment, arm);
        let plan = presentation.plan(&catalog, &assignment, &Expanded::default());
        for (at, assigned) in assignment.tools.iter().enumerate() {
            let own = at < 4;
            assert_eq!(assigned.tier == Tier::Core, own);
            assert_eq!(plan.tools[at].detail == Detail::Full, own, "{arm}: {:?}", catalog.names().nth(at));
        }
    }
    let written =
        ToolProfile::parse("core = ['Bash']\n[category.rest]\ntools = ['*_*', 'Read', 'Edit', 'Skill']", "p").value;
    let assignment = written.assign(&catalog).value;
    let presentation = Presentation::new(&catalog, &assignment, Arm::Signature);
    let plan = presentation.plan(&catalog, &assignment, &Expanded::default());
    assert_eq!(plan.tools[0].detail, Detail::Signature, "a profile that someone wrote says what is folded");
}

/// The note of an engine that leaves an array unchanged because it already defers tools.
fn already_defers(catalog: &Catalog) -> Option<String> {
    let engine = Engine::builder(catalog.clone()).without_validation().build().unwrap();
    engine.diagnostics().iter().find(|note| note.code == "already-defers").map(|note| note.message.clone())
}

#[test]
fn an_array_that_defers_is_recognised() {
    let defers = |text: &str| already_defers(&Catalog::import(text, "t.json", None).value);
    let with = |by: &str| Some(format!("the array already defers its tools with {by}: it is unchanged"));
    let claude = catalog("Bash Read Edit Grep ToolSearch mcp__x__y");
    let found = already_defers(&claude).unwrap();
    assert_eq!(found, "the array of claude-code already defers its tools with ToolSearch: it is unchanged");
    assert_eq!(already_defers(&catalog("Bash Read Edit Grep mcp__x__y")), None);
    let marked = r#"[{"name":"a","input_schema":{"type":"object"},"defer_loading":true},{"name":"b","input_schema":{"type":"object"}}]"#;
    assert_eq!(defers(marked), with("defer_loading"));
    assert_eq!(defers(&marked.replace("true", "false")), None);
    let search = r#"[{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"},{"name":"b","input_schema":{"type":"object"}}]"#;
    assert_eq!(defers(search), with("tool_search_tool_bm25_20251119"));
    let bridged = catalog("think tool_search tool_call mcp__x__y");
    assert_eq!(already_defers(&bridged), with("tool_search"));
    assert_eq!(already_defers(&catalog("think tool_search mcp__x__y")), None, "any server may have such a tool");
    let responses = r#"[{"type":"tool_search","execution":"client"},{"type":"function","name":"b","parameters":{"type":"object"}}]"#;
    assert_eq!(defers(responses), with("tool_search"));
}

/// The names that other agents sent when they were recorded or read, each with an MCP server.
#[test]
fn arrays_of_further_clients_are_recognised() {
    let shop = |mark: &str| ["get_cart", "add_item", "list_orders"].map(|tool| format!("{mark}{tool}")).join(" ");
    for (name, own, servers) in [
        ("cline", "read_files search_codebase run_commands fetch_web_content apply_patch ask_question", shop("shop__")),
        ("cursor", "codebase_search run_terminal_cmd grep read_lints edit_notebook read_file", shop("mcp_shop_")),
        ("cursor", "Shell Glob Grep Read StrReplace ReadLints SemanticSearch CallMcpTool", String::new()),
        ("vscode", "apply_patch semantic_search grep_search run_in_terminal get_errors read_file", shop("mcp_shop_")),
        ("qwen-code", "agent edit get_goal grep_search list_agents run_shell_command todo_write", shop("mcp__shop__")),
    ] {
        let names = format!("{own} {servers}");
        assert_eq!(ClientProfile::detect(&catalog(&names)).map(|client| client.name.as_str()), Some(name));
        check(&names, own);
    }
}

/// The array of Qwen Code 0.24.4 with its search: no arm folds a tool of it, and it says why.
#[test]
fn an_array_that_defers_is_unchanged_in_every_arm() {
    let names = "agent edit get_goal glob grep_search list_agents notebook_edit read_file run_shell_command skill \
        tool_call tool_search update_goal write_file";
    for names in [names.to_owned(), format!("tool_search tool_call {SERVERS}")] {
        let catalog = catalog(&names);
        for arm in Arm::EVERYWHERE {
            let engine = Engine::builder(catalog.clone()).arm(arm).build().unwrap();
            let mut conversation = engine.conversation(Wire::Anthropic).start().unwrap();
            let sent: Value = serde_json::from_str(conversation.tools().json()).unwrap();
            let given: Value = serde_json::from_str(&catalog.to_json(Format::Anthropic)).unwrap();
            assert_eq!(sent, given, "{arm}");
        }
        let notes = Engine::builder(catalog).arm(Arm::Stable).build().unwrap();
        let note = notes.diagnostics().iter().find(|note| note.code == "already-defers");
        assert!(note.is_some_and(|note| note.message.contains("tool_search")), "{:?}", notes.diagnostics());
    }
}

/// One tool named like an MCP client's tool makes no agent of a server's list.
#[test]
fn a_tool_with_a_mark_does_not_make_the_others_own() {
    check(&format!("mcp_status {SERVERS}"), "");
    check(
        "mcp_server_status mcp_server_list kunde_anlegen rechnung_senden lager_zaehlen preis_setzen \
        artikel_suchen artikel_loeschen",
        "",
    );
}

/// Where the origin of a tool is known, its name decides nothing.
#[test]
fn a_tool_of_a_server_is_never_the_agents_own() {
    let names = "Bash Read Edit Grep ToolSearch mcp__x__y run_query";
    let origin = |server: &str, tool: &str| Origin::Server { server: server.into(), tool: tool.into() };
    let origins = names.split(' ').map(|name| (name.to_owned(), origin("shell", name))).collect();
    let served = catalog(names).with_origins(&origins);
    assert!(!own_tools(&served).contains(&true));
    assert_eq!(already_defers(&served), None);
    let mixed = catalog(names).with_origins(&[("run_query".to_owned(), Origin::Host)].into());
    assert_eq!(own_tools(&mixed), [true, true, true, true, true, false, true]);
}

/// A list is derived server by server, whatever its tools are called.
#[test]
fn servers_are_derived_by_origin() {
    let names = "get_cart add_item list_orders send_mail read_mail list_folders mcp_status";
    let server = |at: usize| if at < 3 { "shop" } else { "mail" };
    let origins = names
        .split(' ')
        .enumerate()
        .map(|(at, name)| (name.to_owned(), Origin::Server { server: server(at).into(), tool: name.into() }));
    let catalog = catalog(names).with_origins(&origins.collect());
    let assignment = ToolProfile::derive(&catalog).assign(&catalog).value;
    let categories: Vec<String> = assignment.tools.iter().map(|own| own.category.to_string()).collect();
    assert_eq!(categories, ["shop", "shop", "shop", "mail", "mail", "mail", "mail"]);
}

/// The arrays of real agents: each is recognised, its own tools are core, and no MCP tool is.
#[test]
fn corpus_clients_are_recognised() {
    for (name, own) in [("codex-0.169.0", 12), ("gemini-cli-0.61.0", 16), ("opencode-1.18.33", 10)] {
        for (file, servers) in [(format!("clients/{name}.json"), 0), (format!("clients/{name}-mcp118.json"), 118)] {
            let Some(path) = corpus(&file) else { continue };
            let catalog = Catalog::import(&std::fs::read_to_string(path).unwrap(), &file, None).value;
            let client = ClientProfile::detect(&catalog).map(|client| client.name.as_str());
            assert!(client.is_some_and(|client| name.starts_with(client)), "{file}: {client:?}");
            let assignment = ToolProfile::derive(&catalog).assign(&catalog).value;
            let folded = |(name, tier): &(&str, Tier)| {
                *tier != Tier::Core && (name.contains("excel") || name.contains("playwright"))
            };
            let tiers: Vec<(&str, Tier)> =
                catalog.names().zip(assignment.tools.iter()).map(|(name, own)| (name.as_str(), own.tier)).collect();
            let extended = tiers.iter().filter(|(_, tier)| *tier == Tier::Extended).count();
            assert_eq!(tiers.into_iter().filter(folded).count(), extended, "{file}: only what servers bring is folded");
            assert_eq!(extended, servers, "{file}");
            assert!(catalog.len() - extended >= own, "{file}: {} own", catalog.len() - extended);
            assert_eq!(already_defers(&catalog), None, "{file}");
        }
    }
}
