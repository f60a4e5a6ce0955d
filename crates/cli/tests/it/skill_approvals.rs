//! `skills.honour_allowed_tools` in a session and a gateway: a trusted skill approves calls in
//! advance while it is active.

use serde_json::json;

use crate::gateway::serving::lines::text;
use crate::gateway::serving::place::Place;
use crate::skill_tools::{call, gateway, say, session};

/// A user's skill that names the tools of both entry points, and a policy under which they ask.
fn place(honours: &str) -> Place {
    let place = Place::new();
    let settings = format!(
        "[skills]\nusual = false\nroots = [\"../../skills\"]\nhonour_allowed_tools = \"{honours}\"\n[policy]\nfile = \"policy.toml\"\n"
    );
    place.put("config/toolfold/toolfold.toml", &settings);
    place.put("config/toolfold/policy.toml", "[tool.t]\ntier = \"a\"\n[tool.\"mcp:server/echo\"]\ntier = \"a\"\n");
    let front = "---\nname: own\ndescription: d. Use it.\nallowed-tools: t mcp__server__echo Bash\n---\nBody.\n";
    place.put("skills/own/SKILL.md", front);
    place
}

#[test]
fn session_and_gateway_honour_the_requests_of_a_trusted_skill() {
    for (honours, outcome) in [("off", "confirm"), ("trusted", "forward")] {
        let place = place(honours);
        let mut talk = session(&place, "--id one");
        let asked = say(&mut talk, &call("c1", "t", &json!({})));
        assert_eq!(asked["outcome"], "confirm", "{honours}: it is not active: {asked}");
        let mut talk = session(&place, "--id two");
        let active = say(&mut talk, &call("c1", "activate_skill", &json!({"name": "own"})));
        assert_eq!(active["outcome"], "reply", "{active}");
        let called = say(&mut talk, &call("c2", "t", &json!({})));
        assert_eq!(called["outcome"], outcome, "{honours}: {called}");
        if honours == "trusted" {
            let reason = called["context"]["reason"].as_str().unwrap_or_default();
            assert!(reason.contains("skill `own` is active"), "{called}");
        }

        let mut client = gateway(&place, &json!({}));
        client.call("1", "activate_skill", &json!({"name": "own"}));
        let said = client.call("2", "echo", &json!({"text": "hello"}));
        assert_eq!(text(&said) == r#"{"text":"hello"}"#, honours == "trusted", "{honours}: {said}");
    }
}

#[test]
fn what_is_refused_is_reported() {
    let place = place("trusted");
    let (said, _) = place.toolfold(&["skills", "doctor"]);
    assert!(said.contains("`Bash` of `allowed-tools` approves nothing"), "{said}");
    place.put("config/toolfold/toolfold.toml", "[skills]\nhonour_allowed_tools = \"all\"\n");
    let (said, _) = place.toolfold(&["skills", "list"]);
    assert!(said.contains("`all` is neither `off` nor `trusted`"), "{said}");
}
