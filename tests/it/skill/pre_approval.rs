//! `allowed-tools` of trusted skills, which approve calls in advance if the host honours them.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome};
use toolfold::engine::{Engine, PolicyLayer, SkillLayer};
use toolfold::policy::{Context, MemoryStore, NOT_APPROVED, Policy, PolicyFile, PolicyScope};
use toolfold::profile::Arm;
use toolfold::skill::Surroundings;
use toolfold_testing::with;

use super::gate::Files;
use crate::talk::{Call, Dispatch, Talk};

/// A skill with these `allowed-tools`.
fn put(files: &Files, path: &str, name: &str, allowed: &str, body: &str) {
    files.put(path, &format!("---\nname: {name}\ndescription: d. Use.\nallowed-tools: {allowed}\n---\n{body}"));
}

const OWN: &str = "/home/u/.claude/skills/commit/SKILL.md";
const POLICY: &str = r#"
ask = ["Bash(git push:*)"]
deny = ["Bash(git reset:*)"]
[tool.shell]
like = "Bash"
command = "command"
"#;

/// Two skills with the same request: of the user, which is trusted, and of the project, which is
/// not.
struct Host {
    files: Files,
    talk: Conversation,
    refused: Vec<String>,
}

impl Host {
    fn new(honours: bool, allowed: &str) -> Self {
        let files = Files::default();
        put(&files, OWN, "commit", allowed, "Commit.");
        put(&files, "/p/.claude/skills/foreign/SKILL.md", "foreign", allowed, "Foreign.");
        let around = with!(Surroundings::default(), cwd = "/p".into(), home = Some(PathBuf::from("/home/u")));
        let discovery = with!(SkillLayer::discovered(Arc::new(files.clone()), around), honour_allowed_tools = honours);
        let skills = discovery.layer();
        let refused = skills.diagnostics.iter().filter(|d| d.code == NOT_APPROVED).map(ToString::to_string).collect();
        let tools = r#"[{"type":"function","function":{"name":"shell","parameters":
            {"type":"object","properties":{"command":{"type":"string"}}}}}]"#;
        let file = PolicyFile::load(POLICY, "policy.toml", PolicyScope::User).into_result().unwrap();
        let store = Arc::new(MemoryStore::default());
        let (layer, _) = PolicyLayer::open(Policy::new(vec![file]), store, || 1_000);
        let context = Context::default().with_cwd("/p").with_home("/home/u").with_interactive(true);
        let builder = Engine::builder(Catalog::from_openai(tools).unwrap()).arm(Arm::Full).skills(skills.value);
        Self { files, talk: builder.policy(layer.context(context)).build().unwrap().talk(), refused }
    }

    fn activate(&mut self, name: &str) {
        let outcome = self.talk.dispatch(&Call::fresh("activate_skill", json!({ "name": name })));
        assert!(matches!(&outcome, Outcome::Reply(reply) if !reply.answer.failed), "{outcome:?}");
    }

    fn runs(&mut self, command: &str) -> &'static str {
        match self.talk.dispatch(&Call::fresh("shell", json!({ "command": command }))) {
            Outcome::Forward(forward) => {
                assert!(forward.notes.reason.is_some_and(|why| why.contains("skill `commit` is active")));
                "runs"
            }
            Outcome::Confirm(_) => "waits",
            Outcome::Refuse(_) => "refused",
            other @ Outcome::Reply(_) => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_trusted_skill_approves_what_it_names_while_it_is_active() {
    let mut host = Host::new(true, "Bash(git add:*) Bash(git push:*) Bash(git reset:*) Bash");
    assert_eq!(host.refused.len(), 1, "{:?}", host.refused);
    assert!(host.refused[0].contains("`Bash` of `allowed-tools` approves nothing"), "{:?}", host.refused);
    assert_eq!(host.runs("git add ."), "waits", "it is not active");
    host.activate("foreign");
    assert_eq!(host.runs("git add a"), "waits", "it is not trusted");
    host.activate("commit");
    assert_eq!(host.runs("git add b"), "runs");
    assert_eq!(host.runs("git add b && git commit -m x"), "waits", "only a part is named");
    assert_eq!(host.runs("git push"), "waits", "a rule asks");
    assert_eq!(host.runs("git reset --hard"), "refused");
    let log = host.talk.take_log(0);
    assert!(host.talk.engine().replay(&log).unwrap() == host.talk, "a replay decides alike");
    // The approval is bound to the text.
    put(&host.files, OWN, "commit", "Bash(git add:*)", "Changed.");
    assert!(host.talk.reload_skills().is_some());
    assert_eq!(host.runs("git add c"), "waits", "the file has changed");
    host.activate("commit");
    assert_eq!(host.runs("git add d"), "runs");
    // A text that the model no longer sees approves nothing.
    host.talk.seen(&json!([])).unwrap();
    assert_eq!(host.runs("git add f"), "waits");
    let mut started = Host::new(true, "Bash(git add:*)");
    started.talk.activate_by_person("commit", None).unwrap();
    assert_eq!(started.runs("git add e"), "runs", "a person started it");
}

#[test]
fn nothing_is_approved_unless_the_host_honours_it() {
    let mut host = Host::new(false, "Bash(git add:*) Bash");
    assert!(host.refused.is_empty());
    host.activate("commit");
    assert_eq!(host.runs("git add ."), "waits");
}

#[test]
fn the_folder_of_a_skill_is_resolved() {
    let mut host = Host::new(true, "Bash(${CLAUDE_SKILL_DIR}/scripts/check.sh:*)");
    host.activate("commit");
    assert_eq!(host.runs("/home/u/.claude/skills/commit/scripts/check.sh --fast"), "runs");
    assert_eq!(host.runs("/home/u/.claude/skills/other/scripts/check.sh --fast"), "waits");
    assert_eq!(host.runs("/home/u/.claude/skills/commit/scripts/check.sh; rm x"), "waits");
}
