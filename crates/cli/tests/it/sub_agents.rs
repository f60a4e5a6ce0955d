//! Sub-agents of the gateway have the same tools and skills, and get the same refusals, as those of
//! the line protocol.
#![cfg(unix)]

use serde_json::{Value, json};

use crate::gateway::serving::lines::{Lines, text};
use crate::gateway::serving::place::{Place, TOOLFOLD, server};

const POLICY: &str = "allow = [\"echo\", \"Skill(text)\"]\nask = [\"nothing\", \"Skill(other)\"]\n";

fn place(settings: &str) -> Place {
    let place = Place::new();
    let skills =
        format!("[skills]\nusual = false\nroots = [\"../../skills\"]\n{settings}[policy]\nfile = \"policy.toml\"\n");
    place.put("config/toolfold/toolfold.toml", &skills);
    place.put("config/toolfold/policy.toml", POLICY);
    for name in ["text", "other"] {
        let skill = format!("---\nname: {name}\ndescription: About {name}. Use it.\n---\nBody of {name}.\n");
        place.put(&format!("skills/{name}/SKILL.md"), &skill);
    }
    place
}

/// A gateway whose client is a sub-agent, and the answer to `initialize`.
fn sub_agent(place: &Place, store: &str, child: &Value) -> (Lines, Value) {
    let options = format!("--arm full --profile off --store {}", place.file(store));
    let mut lines = Lines::start(place, &place.gateway(&options, &server("--raw")));
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "lines", "version": "1"}, "_meta": {"toolfold/child": child}});
    let hello = lines.asked("1", "initialize", &params);
    lines.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    (lines, hello)
}

fn names(tools: &Value) -> Vec<String> {
    let names = tools.as_array().unwrap().iter().map(|tool| tool.get("function").unwrap_or(tool)["name"].as_str());
    names.map(|name| name.unwrap().replace(':', "_")).collect()
}

/// A session of the line protocol with these tools.
fn session(place: &Place, tools: &Value) -> Lines {
    let file = place.put("tools.json", &json!({"tools": tools}).to_string());
    let command = ["session", "--tools", &file, "--wire", "mcp", "--arm", "full", "--profile", "off"];
    let store = place.file("session.sqlite");
    let command = [TOOLFOLD].into_iter().chain(command).chain(["--store", &store]);
    Lines::start(place, &command.map(str::to_owned).collect::<Vec<_>>())
}

fn said(session: &mut Lines, line: &Value) -> Value {
    session.say(&line.to_string());
    serde_json::from_str(&session.until(&|_| true)).unwrap()
}

/// The sub-agent of the line protocol with these names, or the error.
fn child_of_session(place: &Place, tools: &Value, allowed: &[&str]) -> Result<Lines, String> {
    let child = said(&mut session(place, tools), &json!({"child": {"allowed": allowed}}));
    if let Some(error) = child["error"]["message"].as_str() {
        return Err(error.to_owned());
    }
    let mut own = session(place, tools);
    assert_eq!(said(&mut own, &json!({"restore": child["snapshot"]}))["restored"], true);
    Ok(own)
}

/// The list of the server's own tools.
fn tools_of_server(place: &Place) -> Value {
    let options = format!("--arm full --profile off --store {}", place.file("all.sqlite"));
    let listed = Lines::session(place, &place.gateway(&options, &server("--raw")), &json!({})).asked(
        "1",
        "tools/list",
        &json!({}),
    );
    let all = listed["result"]["tools"].as_array().unwrap().iter();
    all.filter(|tool| !tool["name"].as_str().unwrap().contains("skill")).cloned().collect()
}

#[test]
fn a_sub_agent_of_the_gateway_is_the_one_of_the_line_protocol() {
    let lists: [&[&str]; 4] =
        [&["echo", "nothing", "activate_skill"], &["echo", "skill:text"], &["skill_text", "odd"], &[]];
    for (settings, lists) in [("", &lists[..2]), ("as_tools = true\n", &lists[..])] {
        let place = place(settings);
        let tools = tools_of_server(&place);
        for (at, allowed) in lists.iter().enumerate() {
            let (mut gateway, _) = sub_agent(&place, &format!("{at}.sqlite"), &json!({"allowed": allowed}));
            let mut session = child_of_session(&place, &tools, allowed).unwrap();
            let listed = gateway.asked("2", "tools/list", &json!({}));
            let own = names(&listed["result"]["tools"]);
            assert_eq!(own, names(&said(&mut session, &json!({"tools": true}))["tools"]), "{settings}{allowed:?}");
            let is_tool = |name: &str| own.iter().any(|own| own == name);
            assert_eq!(is_tool("echo"), allowed.contains(&"echo"), "{own:?}");
            assert!(!is_tool("counts"), "{own:?}");
            let calls = [
                ("counts", json!({})),
                ("nothing", json!({})),
                ("activate_skill", json!({"name": "text"})),
                ("activate_skill", json!({"name": "other"})),
                ("skill_text", json!({})),
                ("skill_other", json!({})),
                ("expand_tools", json!({"tools": ["counts"]})),
            ];
            for (number, (name, arguments)) in calls.iter().enumerate() {
                let answer = gateway.call(&format!("1{number}"), name, arguments);
                let outcome = said(
                    &mut session,
                    &json!({"call": {"id": format!("c{number}"), "name": name, "arguments": arguments}}),
                );
                // The number of an approval depends on the store.
                let (of_gateway, of_session) = (text(&answer), outcome["content"].as_str());
                let Some(of_session) = of_session else {
                    panic!("{allowed:?} {name}: {outcome}");
                };
                let plain = |text: &str| text.split("(ap-").next().unwrap().to_owned();
                assert_eq!(plain(of_gateway), plain(of_session), "{settings}{allowed:?} {name} {arguments}");
            }
        }
    }
}

#[test]
fn a_sub_agent_has_only_the_skills_that_it_may_use() {
    let place = place("");
    let listed = |allowed: &[&str], store: &str| {
        let (mut own, hello) = sub_agent(&place, store, &json!({"allowed": allowed}));
        assert!(hello["result"].is_object(), "{hello}");
        let skills = own.asked("2", "skills/list", &json!({}));
        let prompts = own.asked("3", "prompts/list", &json!({}));
        let skills = skills["result"]["skills"].as_array().map_or(0, Vec::len);
        (skills, names(&prompts["result"]["prompts"]))
    };
    assert_eq!(listed(&["echo", "activate_skill"], "1.sqlite"), (2, vec!["other".to_owned(), "text".to_owned()]));
    assert_eq!(listed(&["echo", "skill:text"], "2.sqlite"), (1, vec!["text".to_owned()]));
    let (mut none, _) = sub_agent(&place, "3.sqlite", &json!({"allowed": ["echo"]}));
    let prompts = none.asked("2", "prompts/list", &json!({}));
    assert!(!prompts.to_string().contains("text"), "{prompts}");
    let got = none.asked("3", "prompts/get", &json!({"name": "text"}));
    assert!(got["error"].is_object(), "{got}");
}

#[test]
fn unknown_names_and_invalid_lists_are_errors() {
    let place = place("");
    let (mut own, hello) = sub_agent(&place, "1.sqlite", &json!({"allowed": ["ecko", "skill:nope"]}));
    assert!(hello["result"].is_object(), "the tools are not known yet: {hello}");
    let listed = own.asked("2", "tools/list", &json!({}));
    let message = listed["error"]["message"].as_str().unwrap_or_else(|| panic!("{listed}"));
    assert!(message.contains("unknown tools: `ecko`, `skill:nope`; did you mean `echo`"), "{message}");
    let of_session = child_of_session(&place, &tools_of_server(&place), &["ecko", "skill:nope"]).err().unwrap();
    assert!(message.ends_with(&of_session), "{message}: {of_session}");
    for invalid in
        [json!(true), json!({}), json!({"allowed": "echo"}), json!({"allowed": [1]}), json!({"allowed": [], "x": 1})]
    {
        let (_, hello) = sub_agent(&place, "2.sqlite", &invalid);
        assert!(hello["error"]["message"].as_str().unwrap().contains("toolfold/child"), "{invalid}: {hello}");
    }
    // A list for several stateless clients cannot depend on one of them.
    let options = format!("--arm full --profile off --store {}", place.file("3.sqlite"));
    let mut stateless = Lines::start(&place, &place.gateway(&options, &server("--raw")));
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "toolfold/child": {"allowed": ["echo"]}});
    let listed = stateless.asked("1", "tools/list", &json!({"_meta": meta}));
    assert!(listed["error"]["message"].as_str().unwrap().contains("requires a session"), "{listed}");
}
