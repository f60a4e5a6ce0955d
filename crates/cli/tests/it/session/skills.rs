//! Skills: started by a person, and decided on by policy.

use serde_json::{Value, json};

use super::{Place, answers};

#[test]
fn a_person_starts_a_skill_and_policy_decides_on_the_models() {
    let place = Place::new("person");
    for (name, keys) in [("own", "disable-model-invocation: true\n"), ("deploy", "")] {
        std::fs::create_dir_all(place.0.join(format!("skills/{name}"))).unwrap();
        let text = format!("---\nname: {name}\ndescription: Does it. Use it.\n{keys}---\nBody of {name}: $ARGUMENTS\n");
        place.put(&format!("skills/{name}/SKILL.md"), &text);
    }
    let policy = place.put("policy.toml", "ask = [\"Skill(deploy)\"]\n");
    let (skills, store) = (place.file("skills"), place.file("store.sqlite"));
    let args = ["--skills", &skills, "--policy", &policy, "--store", &store, "--arm", "full"];
    let call = |id: &str| json!({"call": {"id": id, "name": "activate_skill", "arguments": {"name": "deploy", "arguments": "x"}}});
    let answered = answers(
        &args,
        &[
            json!({"activate": {"name": "own", "arguments": "fast"}}),
            json!({"activate": {"name": "nope"}}),
            call("c1"),
            json!({"accept": "ap-1"}),
            call("c2"),
            json!({"reject": "ap-2"}),
            json!({"log": true}),
        ],
    );
    assert_eq!(answered[0]["activated"], "own");
    assert!(answered[0]["text"].as_str().unwrap().contains("Body of own: fast"), "{}", answered[0]);
    assert!(answered[1]["error"]["message"].as_str().unwrap().contains("unknown skill `nope`"), "{}", answered[1]);
    assert_eq!(
        (&answered[2]["outcome"], &answered[2]["approval"]),
        (&json!("confirm"), &json!("ap-1")),
        "{}",
        answered[2]
    );
    assert_eq!(answered[3]["outcome"], "reply", "{}", answered[3]);
    assert!(answered[3]["content"].as_str().unwrap().contains("Body of deploy: x"), "{}", answered[3]);
    assert_eq!(
        (&answered[4]["outcome"], &answered[5]["outcome"]),
        (&json!("confirm"), &json!("refuse")),
        "{}",
        answered[5]
    );
    let activated: Vec<&Value> =
        answered[6]["log"].as_array().unwrap().iter().filter(|event| event["event"] == "activated").collect();
    assert_eq!(activated.len(), 2, "{}", answered[6]);
    assert_eq!((&activated[0]["name"], &activated[0]["caller"]), (&json!("own"), &json!("user")));
}

/// A sub-agent's conversation is restored in a session of its own, and has only its tools.
#[test]
fn a_sub_agent_gets_a_session_with_only_its_tools() {
    let place = Place::new("child");
    for name in ["own", "deploy"] {
        std::fs::create_dir_all(place.0.join(format!("skills/{name}"))).unwrap();
        let text = format!("---\nname: {name}\ndescription: Does it. Use it.\n---\nBody of {name}.\n");
        place.put(&format!("skills/{name}/SKILL.md"), &text);
    }
    let skills = place.file("skills");
    let args = ["--skills", &skills, "--arm", "full", "--id", "c"];
    let names = |tools: &Value| -> Vec<String> {
        let all = tools["tools"].as_array().unwrap().iter();
        all.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let asked = |allowed: &[&str]| json!({"child": {"allowed": allowed}});
    let parent = answers(&args, &[asked(&["read_excel"]), asked(&["activate_skill", "list_sheets"]), asked(&["nope"])]);
    assert_eq!((&parent[0]["child"], &parent[1]["child"]), (&json!("c/1"), &json!("c/2")));
    assert!(parent[2]["error"]["message"].as_str().unwrap().contains("nope"), "{}", parent[2]);
    let call = |name: &str| json!({"call": {"id": name, "name": name, "arguments": {"file_path": "a.xlsx"}}});
    let restore = |answer: &Value| json!({"restore": answer["snapshot"]});
    let first = answers(&args, &[restore(&parent[0]), json!({"tools": true}), call("read_excel"), call("list_sheets")]);
    assert_eq!(first[0]["restored"], true, "{}", first[0]);
    assert_eq!(names(&first[1]), ["read_excel"]);
    assert_eq!(
        (&first[2]["outcome"], &first[3]["reason"]),
        (&json!("forward"), &json!("unknown_tool")),
        "{}",
        first[3]
    );
    let second = answers(&args, &[restore(&parent[1]), json!({"tools": true})]);
    assert_eq!(names(&second[1]), ["list_sheets", "activate_skill"]);
}

/// Activations are counted in the audit trail. The tools of a running session do not change.
#[test]
fn a_used_skill_keeps_its_description() {
    let place = Place::new("used");
    let describe = |n: usize| format!("Answers every question of department {n}, also those of its many partners.");
    for n in 0..120 {
        let text = format!("---\nname: skill-{n:03}\ndescription: {}\n---\nBody.\n", describe(n));
        std::fs::create_dir_all(place.0.join(format!("skills/{n}"))).unwrap();
        place.put(&format!("skills/{n}/SKILL.md"), &text);
    }
    let policy = place.put("policy.toml", "[policy]\nmode = \"enforce\"\n");
    let (skills, store) = (place.file("skills"), place.file("store.sqlite"));
    let args = ["--skills", &skills, "--policy", &policy, "--store", &store, "--arm", "full"];
    let call = json!({"call": {"id": "c", "name": "activate_skill", "arguments": {"name": "skill-100"}}});
    let asked = json!({"tools": true});
    let whole = format!("- skill-100: {}\n", describe(100));
    let has = |answer: &Value| answer["tools"].to_string().contains(&whole.replace('\n', "\\n"));
    let first = answers(&args, &[asked.clone(), call, asked.clone()]);
    assert_eq!(first[1]["outcome"], "reply", "{}", first[1]);
    assert_eq!(first[0]["tools"], first[2]["tools"], "the same array");
    assert!(first[0].to_string().contains("\"skill-100\"") && !has(&first[0]), "{}", first[0]);
    let second = answers(&args, std::slice::from_ref(&asked));
    assert!(has(&second[0]), "{}", second[0]);
    assert_eq!(answers(&args, &[asked])[0]["tools"], second[0]["tools"], "the same trail gives the same bytes");
}
