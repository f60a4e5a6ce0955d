//! Skills by the Skills extension of MCP (SEP-2640).

use serde_json::{Value, json};

use crate::gateway::serving::lines::Lines;
use crate::gateway::serving::place::{Place, server};

const EXTENSION: &str = "io.modelcontextprotocol/skills";
const MAIN: &str = "---\nname: pdf\ndescription: Reads PDFs.\n---\nSee references/forms.md.\n";

fn skilled(place: &Place) -> String {
    place.put("skills/pdf/SKILL.md", MAIN);
    place.put("skills/pdf/references/forms.md", "Forms.");
    format!("--arm full --profile off --skills {}", place.file("skills"))
}

fn begun(place: &Place, command: &[String], capabilities: &Value) -> (Lines, Value) {
    let mut lines = Lines::start(place, command);
    let client = json!({"name": "lines", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});
    let hello = lines.asked("\"hello\"", "initialize", &params);
    lines.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    (lines, hello["result"]["capabilities"].clone())
}

fn names(list: &Value) -> Vec<&str> {
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn the_gateways_skills_are_listed_and_read() {
    let place = Place::new();
    for behind in ["--raw", "--stdio --faults"] {
        let command = place.gateway(&skilled(&place), &server(behind));
        let (mut lines, can) = begun(&place, &command, &json!({}));
        assert_eq!(can["extensions"][EXTENSION], json!({"directoryRead": true}), "{can}");
        assert!(can["resources"].is_object(), "{can}");
        let listed = lines.asked("1", "skills/list", &json!({}));
        let skill = &listed["result"]["skills"][0];
        assert_eq!(skill["uri"], "skill://toolfold/pdf/SKILL.md", "{listed}");
        assert_eq!(skill["frontmatter"], json!({"name": "pdf", "description": "Reads PDFs."}));
        assert_eq!(skill["resources"][0]["size"], MAIN.len());
        assert_eq!(skill["resources"].as_array().unwrap().len(), 2);
        let got = lines.asked("2", "skills/get", &json!({"uri": skill["uri"]}));
        assert_eq!(got["result"]["skill"], *skill);
        for resource in skill["resources"].as_array().unwrap() {
            let read = lines.asked("3", "resources/read", &json!({"uri": resource["uri"]}));
            let text = read["result"]["contents"][0]["text"].as_str().unwrap();
            let digest = toolfold::skill::ContentHash::of(text.as_bytes());
            assert_eq!(resource["digest"], format!("sha256:{}", digest.as_str()));
        }
        let folder = lines.asked("4", "resources/directory/read", &json!({"uri": "skill://toolfold/pdf/references"}));
        assert_eq!(folder["result"]["resources"][0]["name"], "forms.md", "{folder}");
        let resources = lines.asked("5", "resources/list", &json!({}));
        let own = resources["result"]["resources"].as_array().unwrap().iter().find(|own| own["name"] == "pdf");
        assert_eq!(own.unwrap()["uri"], "skill://toolfold/pdf/SKILL.md");
        for (method, uri) in [
            ("skills/get", "skill://toolfold/none/SKILL.md"),
            ("skills/get", "skill://other/SKILL.md"),
            ("resources/read", "skill://toolfold/pdf/../../place"),
            ("resources/directory/read", "skill://toolfold/pdf/SKILL.md"),
        ] {
            assert_eq!(lines.asked("6", method, &json!({"uri": uri}))["error"]["code"], -32602, "{method} {uri}");
        }
        // A changed file is listed in its current form.
        place.put("skills/pdf/references/forms.md", "Other forms.");
        let again = lines.asked("7", "skills/list", &json!({}));
        assert_ne!(again["result"]["skills"][0]["resources"], skill["resources"]);
        assert_eq!(lines.end(), Some(0));
    }
}

#[test]
fn a_client_that_lists_skills_itself_gets_them_once() {
    let place = Place::new();
    let command = place.gateway(&skilled(&place), &server("--raw"));
    let (mut without, _) = begun(&place, &command, &json!({}));
    let (mut with, _) = begun(&place, &command, &json!({"extensions": {EXTENSION: {}}}));
    let (without, with) = (without.asked("1", "tools/list", &json!({})), with.asked("1", "tools/list", &json!({})));
    assert!(names(&without).contains(&"activate_skill"), "{without}");
    // Every tool of the server is still listed.
    let rest: Vec<&str> = names(&without).into_iter().filter(|name| *name != "activate_skill").collect();
    assert_eq!(names(&with), rest);
}

#[test]
fn skills_of_servers_pass_as_they_are() {
    let place = Place::new();
    let behind = place.gateway(&skilled(&place), &server("--raw"));
    let asked = [
        ("skills/list", json!({})),
        ("skills/get", json!({"uri": "skill://toolfold/pdf/SKILL.md"})),
        ("resources/read", json!({"uri": "skill://toolfold/pdf/references/forms.md"})),
        ("resources/directory/read", json!({"uri": "skill://toolfold/pdf"})),
    ];
    let (mut direct, can) = begun(&place, &behind, &json!({}));
    let said: Vec<Value> = asked.iter().map(|(method, params)| direct.asked("1", method, params)).collect();
    assert!(said.iter().all(|own| own["result"].is_object()), "{said:#?}");
    let one = place.gateway("--arm full --profile off", &behind);
    let file = place.servers(&[("plain", server("--stdio --faults")), ("skilled", behind)]);
    let several = format!("--arm full --profile off --servers {file}");
    let mut several = place.gateway(&several, &[]);
    several.pop();
    // What servers can do is stored with their lists, and declared at the next start.
    let (mut first, _) = begun(&place, &several, &json!({}));
    first.asked("1", "tools/list", &json!({}));
    assert_eq!(first.end(), Some(0));
    for command in [one, several] {
        let (mut lines, through) = begun(&place, &command, &json!({}));
        assert_eq!(through["extensions"], can["extensions"], "{command:?}");
        for ((method, params), said) in asked.iter().zip(&said) {
            assert_eq!(lines.asked("1", method, params), *said, "{command:?} {method}");
        }
    }
}

#[test]
fn a_prompt_starts_a_skill_that_the_model_may_not() {
    let place = Place::new();
    place.put(
        "skills/ship/SKILL.md",
        "---\nname: ship\ndescription: Ships.\ndisable-model-invocation: true\nargument-hint: '[what]'\n---\nShip $0.\n",
    );
    let command = place.gateway(&skilled(&place), &server("--raw"));
    let (mut lines, can) = begun(&place, &command, &json!({}));
    assert!(can["prompts"].is_object(), "{can}");
    let tools = lines.asked("1", "tools/list", &json!({}));
    let own = tools["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "activate_skill");
    assert!(!own.unwrap().to_string().contains("ship"), "it is not reported to the model");
    let listed = lines.asked("2", "prompts/list", &json!({}));
    let prompts = listed["result"]["prompts"].as_array().unwrap();
    let ship = prompts.iter().find(|prompt| prompt["name"] == "ship").unwrap();
    assert_eq!(ship["description"], "Ships.");
    assert_eq!(ship["arguments"], json!([{"name": "arguments", "description": "[what]", "required": false}]));
    assert!(prompts.iter().any(|prompt| prompt["name"] == "pdf"), "{listed}");
    let got = lines.asked("3", "prompts/get", &json!({"name": "ship", "arguments": {"arguments": "v2"}}));
    let message = &got["result"]["messages"][0];
    assert_eq!((&message["role"], &message["content"]["type"]), (&json!("user"), &json!("text")), "{got}");
    assert!(message["content"]["text"].as_str().unwrap().contains("Ship v2."), "{got}");
    let unknown = lines.asked("4", "prompts/get", &json!({"name": "nope"}));
    assert!(unknown["error"].is_object(), "{unknown}");
    // A skill that is added later is offered from the next request on.
    place.put("skills/late/SKILL.md", "---\nname: late\ndescription: Late.\n---\nLate.\n");
    let tools = lines.asked("5", "tools/list", &json!({}));
    assert!(tools.to_string().contains("- late: Late."), "{tools}");
    assert!(lines.asked("6", "prompts/list", &json!({})).to_string().contains("\"late\""));
    // The model may know of a skill from elsewhere.
    place.put("skills/later/SKILL.md", "---\nname: later\ndescription: Later.\n---\nMuch later.\n");
    let activated = lines.asked("7", "tools/call", &json!({"name": "activate_skill", "arguments": {"name": "later"}}));
    assert!(activated.to_string().contains("Much later."), "{activated}");
    assert_eq!(lines.end(), Some(0));
}
