//! Scripts of skills as tools of a session and a gateway: both offer the same tools, ask before
//! they run one, and run it confined. Without Landlock the tests print `skipped:` and pass.
#![cfg(target_os = "linux")]

use std::process::Command;

use serde_json::{Value, json};

use crate::gateway::serving::lines::Lines;
use crate::gateway::serving::place::{Place, TOOLFOLD, eventually, server};

const SETTINGS: &str = "[skills]\nas_tools = true\nusual = false\nroots = [\"../../skills\"]\n\
    [skill_scripts]\nenabled = true\n[policy]\nfile = \"policy.toml\"\n";

/// A place whose skills have scripts; `None` if this machine does not isolate them.
pub(crate) fn place(policy: &str) -> Option<Place> {
    if !toolfold_runner::level().isolates() {
        println!("skipped: {}", toolfold_runner::level());
        return None;
    }
    let place = Place::new();
    place.put("config/toolfold/toolfold.toml", SETTINGS);
    place.put("config/toolfold/policy.toml", policy);
    let schema = "input:\n  type: object\n  required: [month]\n  properties:\n    month: {type: string}\n";
    skill(&place, "report", schema, "echo \"got $INPUT_JSON\"; echo ran >> \"$SKILL_PATH/../../never\"; exit 0");
    skill(&place, "danger", "dangerous: true\n", "echo danger");
    skill(&place, "slow", "", "sleep 100");
    place.put("skills/text/SKILL.md", "---\nname: text\ndescription: Only a text. Use it.\n---\nBody.\n");
    Some(place)
}

pub(crate) fn skill(place: &Place, name: &str, front: &str, script: &str) {
    let front = format!("---\nname: {name}\ndescription: Writes a {name}. Use it.\nentry: run.sh\n{front}---\nBody.\n");
    place.put(&format!("skills/{name}/SKILL.md"), &front);
    place.put(&format!("skills/{name}/run.sh"), script);
}

pub(crate) fn session(place: &Place, more: &str) -> Lines {
    let tools = place.put(
        "tools.json",
        r#"[{"type":"function","function":{"name":"t","description":"d","parameters":{"type":"object","properties":{}}}}]"#,
    );
    let mut command: Vec<String> = vec![TOOLFOLD.to_owned(), "session".to_owned(), "--tools".to_owned(), tools];
    command.extend(
        format!("--arm full --store {} {more}", place.file("store.sqlite")).split_whitespace().map(str::to_owned),
    );
    Lines::start(place, &command)
}

pub(crate) fn say(session: &mut Lines, line: &Value) -> Value {
    session.say(&line.to_string());
    serde_json::from_str(&session.until(&|_| true)).unwrap()
}

pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"call": {"id": id, "name": name, "arguments": arguments}})
}

pub(crate) fn gateway(place: &Place, can: &Value) -> Lines {
    let options = format!("--arm full --profile off --store {}", place.file("store.sqlite"));
    Lines::session(place, &place.gateway(&options, &server("--raw")), can)
}

/// The script tools of a list: name, description and schema.
pub(crate) fn scripts(tools: &Value) -> Vec<Value> {
    let all = tools.as_array().unwrap().iter().map(|tool| tool.get("function").unwrap_or(tool));
    let own = all.filter(|tool| tool["name"].as_str().unwrap().starts_with("skill"));
    own.map(|tool| {
        let schema = tool.get("parameters").or_else(|| tool.get("inputSchema"));
        json!([tool["name"].as_str().unwrap().replace(':', "_"), tool["description"], schema])
    })
    .collect()
}

pub(crate) const ALLOW: &str = "allow = [\"SkillRun\"]\n";

#[test]
fn session_and_gateway_offer_the_same_script_tools() {
    let Some(place) = place("") else { return };
    let of_session = scripts(&say(&mut session(&place, ""), &json!({"tools": true}))["tools"]);
    let names: Vec<&Value> = of_session.iter().map(|tool| &tool[0]).collect();
    assert_eq!(names, ["skill_danger", "skill_report", "skill_slow", "skill_text"]);
    assert_eq!(of_session[1][2]["required"], json!(["month"]), "the declared schema: {of_session:?}");
    let mut gateway = gateway(&place, &json!({}));
    let listed = gateway.asked("1", "tools/list", &json!({}));
    assert_eq!(scripts(&listed["result"]["tools"]), of_session);
    // Off by default.
    place.put("config/toolfold/toolfold.toml", &SETTINGS.replace("as_tools = true\n", ""));
    let tools = say(&mut session(&place, ""), &json!({"tools": true}));
    assert!(tools["tools"].is_array() && scripts(&tools["tools"]).is_empty(), "{tools}");
    // Where scripts do not run, the tools of their skills activate them.
    for left_out in ["[skill_scripts]\nenabled = true\n", "[policy]\nfile = \"policy.toml\"\n"] {
        let settings = SETTINGS.replace(left_out, "");
        place.put("config/toolfold/toolfold.toml", &settings);
        let mut talk = session(&place, "");
        let tools = scripts(&say(&mut talk, &json!({"tools": true}))["tools"]);
        assert_eq!(tools.len(), 4, "{settings}: {tools:?}");
        assert_eq!(tools[1][2]["properties"]["input"]["required"], json!(["month"]), "{settings}: {tools:?}");
        let read = say(&mut talk, &call("c1", "skill_report", &json!({"input": {"month": "May"}})));
        let content = read["content"].as_str().unwrap_or_else(|| panic!("{settings}: {read}"));
        assert!(content.contains("Body.") || read["outcome"] == "confirm", "{settings}: {read}");
        assert_eq!(read["target"], "activate_skill", "{settings}: {read}");
    }
}

/// With `as_tools`, a skill without a script is a tool that activates it, through the same gate as
/// `activate_skill`.
#[test]
fn a_skill_without_a_script_is_a_tool_that_activates_it() {
    let place = Place::new();
    place.put("config/toolfold/toolfold.toml", SETTINGS);
    let policy = "allow = [\"Skill(greet)\"]\nask = [\"Skill(text)\"]\ndeny = [\"Skill(secret)\"]\n";
    place.put("config/toolfold/policy.toml", policy);
    let put = |name: &str, front: &str, body: &str| {
        let text = format!("---\nname: {name}\ndescription: About {name}. Use it.\n{front}---\n{body}\n");
        place.put(&format!("skills/{name}/SKILL.md"), &text);
    };
    put("text", "", "Only a text.");
    put("secret", "", "Secret.");
    let front = "input: {type: object, required: [who], properties: {who: {type: string}}}\n";
    put("greet", front, "Greet {{input.who}} with $ARGUMENTS.");
    let mut talk = session(&place, "");
    let tools = scripts(&say(&mut talk, &json!({"tools": true}))["tools"]);
    let names: Vec<&Value> = tools.iter().map(|tool| &tool[0]).collect();
    assert_eq!(names, ["skill_greet", "skill_text"], "a denied skill is not offered");
    let properties = &tools[0][2]["properties"];
    assert_eq!(properties["input"]["required"], json!(["who"]), "{tools:?}");
    assert_eq!((&properties["arguments"]["type"], &tools[0][2]["required"]), (&json!("string"), &json!(["input"])));
    assert_eq!(tools[1][2]["properties"], json!({}), "it takes nothing: {tools:?}");
    let given = json!({"arguments": "a smile", "input": {"who": "Ann"}});
    let read = say(&mut talk, &call("c1", "skill_greet", &given));
    assert_eq!((&read["reason"], &read["target"]), (&json!("activated"), &json!("activate_skill")), "{read}");
    assert!(read["content"].as_str().unwrap().contains("Greet Ann with a smile."), "{read}");
    assert_eq!(read["activation"]["name"], "greet", "{read}");
    // The declared schema decides, and a name cannot select another skill.
    talk = session(&place, "");
    for invalid in [json!({}), json!({"input": {}}), json!({"input": {"who": "Ann"}, "name": "secret"})] {
        let refused = say(&mut talk, &call("c2", "skill_greet", &invalid));
        assert_eq!(
            (&refused["reason"], &refused["is_error"]),
            (&json!("invalid"), &json!(true)),
            "{invalid}: {refused}"
        );
    }
    let asks = say(&mut talk, &call("c3", "skill_text", &json!({})));
    assert_eq!(asks["outcome"], "confirm", "{asks}");
    let by_name = say(&mut talk, &call("c4", "activate_skill", &json!({"name": "text"})));
    assert_eq!(by_name["approval"], asks["approval"], "it is the same call: {by_name}");
    let accepted = say(&mut talk, &json!({"accept": asks["approval"]}));
    assert!(accepted["content"].as_str().unwrap().contains("Only a text."), "{accepted}");
    let denied = say(&mut talk, &call("c5", "skill_secret", &json!({})));
    assert!(!denied.to_string().contains("Secret."), "{denied}");
    assert_eq!(denied["reason"], "unknown_tool", "{denied}");
}

/// A colon belongs to the name of a plugin's skill, in rules and in the names of tools.
#[test]
fn the_script_of_a_plugins_skill_is_a_tool() {
    let Some(place) = place("allow = [\"SkillRun(acme:*)\"]\ndeny = [\"Skill(acme:secret)\"]\n") else { return };
    place.put("skills/acme/.claude-plugin/plugin.json", "{\"name\": \"acme\"}");
    for name in ["deploy", "secret"] {
        let text = format!("---\nname: {name}\ndescription: Does it. Use it.\nentry: run.sh\n---\nBody.\n");
        place.put(&format!("skills/acme/skills/{name}/SKILL.md"), &text);
        place.put(&format!("skills/acme/skills/{name}/run.sh"), "echo deployed");
    }
    let mut talk = session(&place, "");
    let names: Vec<Value> =
        scripts(&say(&mut talk, &json!({"tools": true}))["tools"]).iter().map(|tool| tool[0].clone()).collect();
    assert_eq!(names, ["skill_acme_deploy", "skill_danger", "skill_report", "skill_slow", "skill_text"]);
    let ran = say(&mut talk, &call("c1", "skill_acme_deploy", &json!({})));
    assert_eq!((&ran["outcome"], &ran["is_error"]), (&json!("reply"), &json!(false)), "{ran}");
    assert!(ran["content"].as_str().unwrap().contains("deployed"), "{ran}");
    let other = say(&mut talk, &call("c2", "skill_report", &json!({"month": "May"})));
    assert_eq!(other["outcome"], "confirm", "{other}");
}

#[test]
fn a_session_runs_a_permitted_script_confined_and_answers_the_call() {
    let Some(place) = place(ALLOW) else { return };
    let mut talk = session(&place, "");
    let ran = say(&mut talk, &call("c1", "skill_report", &json!({"month": "May"})));
    assert_eq!(
        (&ran["outcome"], &ran["is_error"], &ran["reason"]),
        (&json!("reply"), &json!(false), &json!("ran")),
        "{ran}"
    );
    let result: Value = serde_json::from_str(ran["content"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&result["status"], &result["output"]),
        (&json!("success"), &json!("got {\"month\":\"May\"}\n")),
        "{result}"
    );
    assert!(!place.has("never"), "the script must not write outside its work folder");
    let invalid = say(&mut talk, &call("c2", "skill_report", &json!({"month": 5, "x": []})));
    assert_eq!(invalid["reason"], "invalid", "{invalid}");
    let message = json!({"role": "assistant", "tool_calls": [
        {"id": "m1", "type": "function", "function": {"name": "skill_report", "arguments": "{\"month\":\"June\"}"}},
        {"id": "m2", "type": "function", "function": {"name": "t", "arguments": "{}"}},
        {"id": "m3", "type": "function", "function": {"name": "skill_danger", "arguments": "{}"}},
    ]});
    let said = say(&mut talk, &json!({"message": message, "key": "k"}));
    let outcomes: Vec<&Value> = said["outcomes"].as_array().unwrap().iter().map(|own| &own["outcome"]).collect();
    assert_eq!(outcomes, ["reply", "confirm", "confirm"], "{said}");
    assert!(said["append"][0]["content"].as_str().unwrap().contains("June"), "{said}");
    // The same message again returns the stored result and runs nothing.
    let again = say(&mut talk, &json!({"message": message, "key": "k"}));
    assert_eq!(again["append"], said["append"]);
    let approval = said["outcomes"][2]["approval"].as_str().unwrap();
    let shown = said["outcomes"][2]["shown"].to_string();
    for part in ["runs run.sh of `danger`", "isolation: Landlock", "folder_sha256"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let accepted = say(&mut talk, &json!({"accept": approval}));
    assert!(accepted["content"].as_str().unwrap().contains("danger\\n"), "{accepted}");
}

#[test]
fn a_script_that_changed_since_the_conversation_began_does_not_run() {
    let Some(place) = place(ALLOW) else { return };
    let mut talk = session(&place, "");
    assert!(say(&mut talk, &json!({"tools": true}))["tools"].is_array());
    place.put("skills/report/run.sh", "echo other");
    let ran = say(&mut talk, &call("c1", "skill_report", &json!({"month": "May"})));
    assert_eq!(ran["is_error"], true, "{ran}");
    assert!(ran["content"].as_str().unwrap().contains("have changed since the conversation began"), "{ran}");
    // The next conversation offers the script as it is now.
    let ran = say(&mut session(&place, ""), &call("c1", "skill_report", &json!({"month": "May"})));
    assert!(ran["content"].as_str().unwrap().contains("other\\n"), "{ran}");
}

#[test]
fn a_session_that_was_killed_during_a_run_does_not_repeat_it() {
    let Some(place) = place(ALLOW) else { return };
    let more = format!("--log {} --id c", place.file("log.jsonl"));
    let mut talk = session(&place, &more);
    let asked = json!({"call": {"id": "c1", "name": "skill_slow", "arguments": {}}, "key": "m"});
    talk.say(&asked.to_string());
    let runs = || std::fs::read_dir(place.file("skill-runs")).into_iter().flatten().flatten().count();
    eventually("it runs", || runs() > 0);
    crate::gateway::serving::place::signal(talk.child.id(), "KILL");
    talk.ended();
    let again = say(&mut session(&place, &more), &asked);
    assert_eq!(again["outcome"], "refuse", "{again}");
    assert!(again["content"].as_str().unwrap().contains("its outcome is unknown"), "{again}");
}

#[test]
fn a_gateway_asks_and_runs_a_script_and_a_cancelled_one_is_killed() {
    let Some(place) = place("allow = [\"SkillRun(slow)\"]\n") else { return };
    let mut client = gateway(&place, &json!({"elicitation": {}}));
    let tools = client.asked("1", "tools/list", &json!({}));
    let named = |part: &str| {
        let all = tools["result"]["tools"].as_array().unwrap().iter();
        all.map(|tool| tool["name"].as_str().unwrap()).find(|name| name.contains(part)).unwrap().to_owned()
    };
    client.ask("2", "tools/call", &json!({"name": named("report"), "arguments": {"month": "May"}}));
    let question: Value = serde_json::from_str(&client.until(&|line| line.contains("elicitation/create"))).unwrap();
    let shown = question["params"]["message"].as_str().unwrap();
    assert!(shown.contains("Run `report (through SkillRun)`?") && shown.contains("isolation: Landlock"), "{shown}");
    let yes =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"approve": true}}});
    client.say(&yes.to_string());
    let answer = client.answer("2");
    assert!(answer.contains("got {") && answer.contains("success"), "{answer}");
    // The gateway answers others while a script runs.
    client.ask("3", "tools/call", &json!({"name": named("slow"), "arguments": {}}));
    let runs = || {
        let folder = std::path::Path::new(&place.file("skill-runs")).read_dir();
        folder.into_iter().flatten().flatten().filter(|entry| entry.path().is_dir()).count()
    };
    eventually("it runs", || runs() > 0);
    assert!(client.asked("4", "tools/list", &json!({}))["result"]["tools"].is_array());
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}).to_string());
    eventually("its folder is gone", || runs() == 0);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_form_about_a_skill_says_that_it_is_read() {
    let Some(place) = place("ask = [\"Skill(text)\"]\n") else { return };
    let mut client = gateway(&place, &json!({"elicitation": {}}));
    client.asked("1", "tools/list", &json!({}));
    client.ask("2", "tools/call", &json!({"name": "activate_skill", "arguments": {"name": "text"}}));
    let question: Value = serde_json::from_str(&client.until(&|line| line.contains("elicitation/create"))).unwrap();
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("Let the model read the skill `text`?"), "{message}");
    assert!(!message.contains("Undo:"), "{message}");
    assert_eq!(question["params"]["requestedSchema"]["properties"]["approve"]["title"], "Let it read the skill");
    client.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}).to_string());
    assert!(client.answer("2").contains("rejected"));
}

/// The agent of the example starts `/commit` as a person, runs a script confined, and asks before a
/// dangerous skill.
#[test]
fn the_agent_of_the_example_starts_asks_and_runs() {
    if !toolfold_runner::level().isolates() {
        return println!("skipped: {}", toolfold_runner::level());
    }
    let place = Place::new();
    let agent = crate::root().join("examples/skills/agent.mjs");
    for (person, last) in
        [("--yes", "reply: activate_skill: activated"), ("--no", "refuse: activate_skill: a person rejected it")]
    {
        let mut command = Command::new("node");
        command.arg(&agent).arg(person).env("TOOLFOLD", TOOLFOLD).env("HOME", place.file(""));
        let Ok(output) = command.env("XDG_STATE_HOME", place.file("state")).output() else {
            return println!("skipped: there is no `node`");
        };
        let said = String::from_utf8(output.stdout).unwrap();
        let expected = format!(
            "person: /commit: true\nreply: skill_count-words: ran\n\
             {{\"words\":6,\"writesItsFolder\":false,\"readsUsers\":false,\"listsTheRoot\":false}}\n\
             forward: git_commit: the arguments are valid\n\
             asks: release (through Skill): its author wants it confirmed: This publishes to everyone.\n{last}\n"
        );
        assert!(said.starts_with(&expected), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// If scripts are configured as tools and none is offered, each command that shows tools prints the
/// reason.
#[test]
fn scripts_that_are_not_offered_are_reported_with_the_reason() {
    let enabled = "[skill_scripts]\nenabled = true\n";
    let off = "the scripts of skills do not run, and the tools of these skills activate them";
    let cases = [
        (String::new(), format!("{off}: skill_scripts.enabled is off")),
        (format!("mode = \"off\"\n{enabled}"), "skills.as_tools has no effect: skills are off".to_owned()),
        (enabled.to_owned(), format!("{off}: there is no policy")),
    ];
    for (rest, why) in cases {
        let place = Place::new();
        let settings = format!("[skills]\nas_tools = true\nusual = false\nroots = [\"../../skills\"]\n{rest}");
        let file = place.put("config/toolfold/toolfold.toml", &settings);
        skill(&place, "report", "", "echo done");
        let tools = place.put("tools.json", r#"[{"name":"t","inputSchema":{"type":"object"}}]"#);
        let server = server("--raw");
        let all: [&[&str]; 4] = [
            &["tools", "--tools", &tools],
            &["expand", "--tools", &tools, "t"],
            &["session", "--tools", &tools, "--store", &place.file("store.sqlite")],
            &["gateway", "doctor", "--", &server[0], &server[1]],
        ];
        for args in all {
            let ran = place.command(TOOLFOLD).args(args).output().unwrap();
            let err = String::from_utf8(ran.stderr).unwrap();
            let warning = format!("{file}:2:12: warning[script-tools-off]: {why}");
            assert_eq!(err.matches(&warning).count(), 1, "{args:?}: {err}");
        }
    }
}

/// Two conversations of one process: their scripts run side by side, and cancelling one does not
/// end the other.
#[test]
fn scripts_of_many_conversations_run_in_one_process() {
    let Some(place) = place(ALLOW) else { return };
    let mut talk = session(&place, "--many --log logs");
    let named = |name: &str, mut line: Value| {
        line["conversation"] = json!(name);
        line.to_string()
    };
    // Four scripts run, and the fifth waits.
    for (at, name) in ["a", "b", "a", "b", "c"].iter().enumerate() {
        talk.say(&named(name, call(&format!("s{at}"), "skill_slow", &json!({}))));
    }
    let refused = say(&mut talk, &serde_json::from_str(&named("a", json!({"end": true}))).unwrap());
    assert!(refused["error"]["message"].as_str().unwrap().contains("scripts run"), "{refused}");
    let other = say(&mut talk, &serde_json::from_str(&named("b", json!({"cancel": "s0"}))).unwrap());
    assert!(other["error"]["message"].as_str().unwrap().contains("no script runs for call `s0`"), "{other}");
    let mut ended = Vec::new();
    for (name, id) in [("a", "s0"), ("c", "s4"), ("b", "s1"), ("a", "s2"), ("b", "s3")] {
        talk.say(&named(name, json!({"cancel": id})));
        for _ in 0..2 {
            let answer: Value = serde_json::from_str(&talk.until(&|_| true)).unwrap();
            assert_eq!(answer["conversation"], name, "{answer}");
            ended.extend(answer.get("line").cloned());
        }
    }
    assert_eq!(ended, [1, 5, 2, 3, 4], "each line has its answer");
    // The end of the input ends what runs, and logs it.
    talk.say(&named("a", call("last", "skill_slow", &json!({}))));
    let done = say(&mut talk, &serde_json::from_str(&named("b", json!({"end": true}))).unwrap());
    assert_eq!(done["ended"], true, "{done}");
}
