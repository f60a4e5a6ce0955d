//! A session in a folder with files from elsewhere: from an agent, or from a cloned repository.

use serde_json::{Value, json};

use super::{Place, Session, call};

const TOOLS: &str = r#"[{"type":"function","function":{"name":"Bash","description":"Runs a command.","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}}]"#;

fn outcomes(place: &Place, folder: &str, args: &[&str], commands: &[&str]) -> Vec<Value> {
    let (store, tools) = (place.file("store.sqlite"), place.file("tools.json"));
    let own = [&["--store", &store, "--tools", &tools], args].concat();
    let config = place.file("config");
    let mut session = Session::start_with(&place.0.join(folder), &own, &[("XDG_CONFIG_HOME", &config)]);
    let said = commands.iter().enumerate();
    said.map(|(at, command)| {
        session.say(call(&at.to_string(), "Bash", json!({ "command": command })))["outcome"].clone()
    })
    .collect()
}

#[test]
fn a_project_weakens_no_policy() {
    let place = Place::new("project");
    std::fs::create_dir_all(place.0.join("project/deep/er")).unwrap();
    std::fs::create_dir_all(place.0.join("config/toolfold")).unwrap();
    place.put("tools.json", TOOLS);
    let policy = place.put("own.toml", "allow = [\"Bash(ls:*)\"]\ndeny = [\"Bash(rm:*)\"]\n");
    let commands = ["ls", "rm x", "cat x", "echo > toolfold.toml"];
    // Off, another policy, trust in itself: none of it applies besides a policy that a flag names.
    place.put("project/toolfold.toml", "[policy]\nmode = 'off'\nfile = 'policy.toml'\n[trust]\nworkspaces = ['.']\n");
    place.put("project/policy.toml", "allow = [\"Bash\"]\n[policy]\ndefault = 'allow'\n");
    let expected = [json!("forward"), json!("refuse"), json!("confirm"), json!("refuse")];
    assert_eq!(outcomes(&place, "project", &["--policy", &policy], &commands), expected);
    // Without one, the project's policy applies and only requires approval; also in a subfolder.
    let expected = [json!("confirm"), json!("confirm"), json!("confirm"), json!("refuse")];
    assert_eq!(outcomes(&place, "project", &[], &commands), expected);
    let deep = ["ls", "echo > ../../toolfold.toml", "echo > ../../policy.toml"];
    let expected = [json!("confirm"), json!("refuse"), json!("refuse")];
    assert_eq!(outcomes(&place, "project/deep/er", &[], &deep), expected);
    // It may deny more.
    place.put("project/policy.toml", "deny = [\"Bash(ls:*)\"]\n");
    assert_eq!(outcomes(&place, "project", &["--policy", &policy], &["ls"]), [json!("refuse")]);
    // Unless the user trusts it. Then the user's own file is protected, too.
    place.put("project/policy.toml", "allow = [\"Bash\"]\n");
    let trusts = format!("[trust]\nworkspaces = [{:?}]\n", place.file("project"));
    let own = place.put("config/toolfold/toolfold.toml", trusts);
    let writes = format!("echo > {own}");
    let expected = [json!("forward"), json!("forward"), json!("refuse"), json!("refuse")];
    place.put("project/toolfold.toml", "[policy]\nfile = 'policy.toml'\n");
    assert_eq!(outcomes(&place, "project", &[], &["ls", "rm x", "echo > toolfold.toml", &writes]), expected);
}
