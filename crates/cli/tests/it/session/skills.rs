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
