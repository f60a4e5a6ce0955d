//! Skills and policy in the gate.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome, PolicyMark, ReplyKind};
use toolfold::engine::{Engine, EngineBuilder, PolicyLayer, SkillLayer};
use toolfold::policy::{Approver, Context, MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::profile::{Arm, ToolProfile};
use toolfold::skill::{
    self, Caller, Discovery, DiscoveryCache, DiskFs, PermissionRule, Permissions, Root, SkillLibrary, SkillView,
};
use toolfold_testing::with;

use crate::project;
use crate::talk::{Call, Dispatch, Talk};

pub(crate) fn builder(arm: Arm) -> EngineBuilder {
    let catalog = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let profile = ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml").value;
    Engine::builder(catalog).profile(profile).arm(arm)
}

/// The Excel policy with more rules, in memory; the clock does not advance.
fn policy(more: &str, interactive: bool) -> (PolicyLayer, Approver) {
    let text = format!("{}\n{more}", project("profiles/excel/policy.toml"));
    let file = PolicyFile::load(&text, "policy.toml", PolicyScope::User);
    assert!(!file.has_errors(), "{:?}", file.diagnostics);
    let (policy, approver) =
        PolicyLayer::open(Policy::new(vec![file.value]), Arc::new(MemoryStore::default()), || 1_000);
    (policy.context(Context::default().with_cwd("/work").with_interactive(interactive)), approver)
}

fn with_policy(more: &str, interactive: bool) -> (Conversation, Approver) {
    let (policy, approver) = policy(more, interactive);
    (builder(Arm::Stable).policy(policy).build().unwrap().talk(), approver)
}

pub(crate) fn skills(rules: Vec<PermissionRule>) -> SkillLayer {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("skillpacks/excel");
    let root = with!(Root::new(folder, skill::Scope::Explicit), trusted = true);
    let discovery = Discovery::new(vec![root]);
    let library = SkillLibrary::discover(&DiskFs, discovery, &mut DiscoveryCache::default()).value;
    let view = SkillView::new(&library, &with!(Permissions::default(), layers = vec![rules]), Caller::Model);
    SkillLayer::new(view, Arc::new(DiskFs))
}

pub(crate) fn delete() -> Call {
    Call::fresh("delete_file", json!({"file_path": "a.xlsx", "confirm": true}))
}

fn activate(name: &str) -> Call {
    Call::fresh("activate_skill", json!({"name": name}))
}

#[test]
fn a_tier_a_call_waits_for_approval_and_runs_once() {
    let (mut session, approver) = with_policy("", true);
    let Outcome::Confirm(confirm) = session.dispatch(&delete()) else { panic!("Tier A is confirmed") };
    assert_eq!(confirm.target.as_str(), "delete_file");
    assert!(confirm.shown.effects.iter().any(|effect| effect.contains("/work/a.xlsx")), "{:?}", confirm.shown);
    let Some(Outcome::Confirm(early)) = session.take_up(confirm.approval.as_str()) else {
        panic!("nobody has said yes")
    };
    assert_eq!(
        (&early.approval, &early.shown, &early.arguments),
        (&confirm.approval, &confirm.shown, &confirm.arguments)
    );
    assert_eq!(early.reason, "no decision yet");
    approver.approve(confirm.approval.as_str(), 1_000).unwrap();
    let Some(Outcome::Forward(forward)) = session.take_up(confirm.approval.as_str()) else { panic!("it runs") };
    assert_eq!((&forward.id, &forward.arguments), (&confirm.id, &json!({"file_path": "a.xlsx", "confirm": true})));
    assert_eq!(forward.context.policy, PolicyMark::Confirm);
    assert!(session.take_up(confirm.approval.as_str()).is_none(), "once");
    assert!(session.take_up("ap-99").is_none());
}

#[test]
fn a_wrapped_call_is_shown_as_its_target() {
    let (mut session, _) = with_policy("", true);
    let wrapped = Call::new("c1", "call_tool", json!({"name": "delete_file", "arguments": {"file_path": "a.xlsx"}}));
    let Outcome::Confirm(confirm) = session.dispatch_seen(&wrapped) else {
        panic!("the target is judged, not the wrapper")
    };
    assert_eq!(confirm.shown.target, "delete_file");
}

/// The policy's tier counts, whatever the tool's author states.
#[test]
fn a_tool_of_the_tier_read_only_runs_with_a_line_before_its_result() {
    let words = "Words enough that folding it saves something, and more than something. ".repeat(9);
    let properties =
        json!({"path": {"type": "string", "description": words}, "mode": {"type": "string", "description": words}});
    let tools = json!([{"name": "look", "description": words,
        "inputSchema": {"type": "object", "required": ["path"], "properties": properties}}]);
    let engine = |tier: &str| {
        let (policy, _) = policy(&format!("[tool.look]\ntier = '{tier}'\n"), true);
        let catalog = Catalog::from_mcp(&tools.to_string()).unwrap();
        Engine::builder(catalog).arm(Arm::Stable).policy(policy).build().unwrap()
    };
    let look = Call::fresh("look", json!({"path": "a"}));
    let Outcome::Forward(forward) = engine("read_only").talk().dispatch(&look) else { panic!("it runs") };
    assert!(forward.notes.note.unwrap().contains("`mode`"));
    let Outcome::Reply(reply) = engine("b").talk().dispatch(&look) else { panic!("shown first") };
    assert_eq!(reply.answer.kind, ReplyKind::Shown);
}

/// The line precedes an immediate result; approval is not requested for a call that may still
/// change.
#[test]
fn a_read_only_tool_that_requires_approval_is_shown_first() {
    let words = "Words enough that folding it saves something, and more than something. ".repeat(9);
    let properties =
        json!({"path": {"type": "string", "description": words}, "mode": {"type": "string", "description": words}});
    let tools = json!([{"name": "look", "description": words, "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "required": ["path"], "properties": properties}}]);
    let (policy, approver) = policy("[tool.look]\ntier = 'a'\nwrites = []\n", true);
    let engine = Engine::builder(Catalog::from_mcp(&tools.to_string()).unwrap()).arm(Arm::Stable).policy(policy);
    let mut session = engine.build().unwrap().talk();
    let look = |id| Call::new(id, "look", json!({"path": "a"}));
    let Outcome::Reply(reply) = session.dispatch(&look("1")) else { panic!("shown first") };
    assert!(
        reply.answer.kind == ReplyKind::Shown && reply.answer.content.contains("\"mode\":{"),
        "{}",
        reply.answer.content
    );
    let Outcome::Confirm(confirm) = session.dispatch(&look("2")) else { panic!("waits") };
    approver.approve(confirm.approval.as_str(), 1_000).unwrap();
    let Some(Outcome::Forward(forward)) = session.take_up(confirm.approval.as_str()) else { panic!("it runs") };
    assert_eq!(forward.notes.note, None, "the model has read it");
}

#[test]
fn the_model_receives_the_reason_of_a_rejection() {
    let (mut session, approver) = with_policy("", true);
    let Outcome::Confirm(confirm) = session.dispatch(&delete()) else { panic!("waits") };
    approver.reject(confirm.approval.as_str(), Some("keep it"), 1_000).unwrap();
    let Some(Outcome::Refuse(refusal)) = session.take_up(confirm.approval.as_str()) else { panic!("refused") };
    assert!(refusal.content.contains("keep it") && refusal.id == confirm.id, "{}", refusal.content);
    assert!(session.take_up(confirm.approval.as_str()).is_none());
}

#[test]
fn an_ask_is_denied_without_an_approver() {
    let (mut session, _) = with_policy("", false);
    let Outcome::Refuse(refusal) = session.dispatch(&delete()) else { panic!("refused") };
    assert_eq!(refusal.context.policy, PolicyMark::Deny);
}

#[test]
fn tiers_decide_in_every_arm() {
    for arm in Arm::EVERYWHERE {
        let (policy, _approver) = policy("", true);
        let mut session = builder(arm).policy(policy).build().unwrap().talk();
        for (name, arguments, mark) in [
            ("read_excel", json!({"file_path": "a.xlsx"}), PolicyMark::Allow),
            ("write_cells", json!({"file_path": "a.xlsx", "cell": "A1", "value": "1"}), PolicyMark::AllowAudited),
        ] {
            let Outcome::Forward(forward) = session.dispatch(&Call::fresh(name, arguments)) else { panic!("{name}") };
            assert_eq!(forward.context.policy, mark, "{arm} {name}");
        }
    }
}

#[test]
fn unconditionally_denied_tools_are_invisible() {
    let deny = "[[rule]]\ndecide = \"deny\"\ntool = \"run_shell\"\nwhy = \"no shell here\"\n";
    for arm in Arm::EVERYWHERE {
        let (policy, _approver) = policy(deny, true);
        let mut session = builder(arm).policy(policy).build().unwrap().talk();
        assert!(!session.tools().json().contains("run_shell"), "{arm}: not shown, not listed");
        for call in [
            Call::fresh("run_shell", json!({"command": "ls"})),
            Call::fresh("expand_tools", json!({"categories": ["code"], "tools": ["run_shel"]})),
            Call::fresh("run_shel", json!({})),
        ] {
            let Outcome::Reply(reply) = session.dispatch(&call) else { panic!("{arm} {}", call.name) };
            let said = reply.answer.content.to_string();
            let own = call.arguments == json!({"command": "ls"});
            assert!(own || !said.contains("run_shell"), "{arm}: {said}");
            assert!(!said.contains("\"name\":\"run_shell\""), "{arm}: its schema is never revealed");
        }
    }
}

#[cfg(feature = "validate")]
#[test]
fn deny_comes_before_the_schema() {
    let deny = "[[rule]]\ndecide = \"deny\"\ntool = \"delete_file\"\npath = \"secret/**\"\nwhy = \"hands off\"\n";
    let (mut session, _) = with_policy(deny, true);
    let call = Call::fresh("delete_file", json!({"file_path": "secret/a.xlsx", "nonsense": 1}));
    let Outcome::Refuse(refusal) = session.dispatch(&call) else { panic!("denied, not repaired") };
    assert!(!refusal.content.contains("parameters"), "{}", refusal.content);
    let other = Call::fresh("delete_file", json!({"nonsense": 1}));
    assert!(matches!(session.dispatch(&other), Outcome::Reply(reply) if reply.answer.kind == ReplyKind::Invalid));
}

#[test]
fn skills_are_declared_and_stay_active() {
    let engine = builder(Arm::Stable).skills(skills(vec![])).build().unwrap();
    let mut session = engine.talk();
    let array: Vec<Value> = session.tools().to().unwrap();
    assert_eq!(array.last().unwrap()["function"]["name"], "activate_skill");
    let Outcome::Reply(reply) = session.dispatch(&activate("format-basic")) else { panic!("answered") };
    assert_eq!((reply.answer.kind, reply.answer.failed), (ReplyKind::Activated, false));
    assert!(reply.answer.content.contains("<skill_content name=\"format-basic\">"));
    assert_eq!(reply.activation.as_ref().unwrap().name, "format-basic");
    let Outcome::Reply(again) = session.dispatch(&activate("format-basic")) else { panic!("answered") };
    assert!(again.answer.content.len() < reply.answer.content.len(), "a second time is brief");
    let Outcome::Reply(unknown) = session.dispatch(&activate("format-basics")) else { panic!("answered") };
    assert!(
        unknown.answer.failed && unknown.answer.content.contains("format-basic"),
        "{}",
        unknown.answer.content.to_string()
    );
    assert_eq!(session.active_skills().iter().count(), 1);
    let replayed = engine.replay(&session.take_log(0)).unwrap();
    assert!(replayed == session, "the active set survives a replay");
    assert!(builder(Arm::Stable).build().unwrap().talk().tools().json().find("activate_skill").is_none());
}

#[test]
fn skills_may_require_approval_or_be_denied() {
    use toolfold::skill::Permission;
    let rules = vec![
        PermissionRule { pattern: "format-*".to_owned(), permission: Permission::Ask },
        PermissionRule { pattern: "chart-basic".to_owned(), permission: Permission::Deny },
    ];
    let mut session = builder(Arm::Full).skills(skills(rules)).build().unwrap().talk();
    assert!(!session.tools().json().contains("chart-basic"));
    assert!(matches!(session.dispatch(&activate("format-basic")), Outcome::Refuse(_)));
    session.approve_skill("format-basic");
    assert!(matches!(session.dispatch(&activate("format-basic")), Outcome::Reply(reply) if !reply.answer.failed));
    let Outcome::Reply(denied) = session.dispatch(&activate("chart-basics")) else { panic!("answered") };
    assert!(!denied.answer.content.contains("chart-basic`"), "{}", denied.answer.content.to_string());
}

/// What the model is shown, without the skill tool.
fn shown(session: &mut Conversation) -> Vec<Value> {
    let mut array: Vec<Value> = session.tools().to().unwrap();
    array.retain(|tool| tool["function"]["name"] != "activate_skill");
    array
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(24)))]

    /// Turning a layer on or off changes nothing in the others: neither what is shown, nor answers,
    /// nor decisions.
    #[test]
    fn layers_do_not_interfere(
        arm in prop::sample::select(Arm::EVERYWHERE.to_vec()),
        with_skills in any::<bool>(),
        with_policy in any::<bool>(),
        opened in prop::sample::select(vec!["format", "chart", "code"]),
    ) {
        let (policy, _approver) = policy("", true);
        let base = builder(arm);
        let base = if with_skills { base.skills(skills(vec![])) } else { base };
        let base = if with_policy { base.policy(policy) } else { base };
        let mut session = base.build().unwrap().talk();
        let mut plain = builder(arm).build().unwrap().talk();
        prop_assert_eq!(shown(&mut session), shown(&mut plain), "what layer 1 shows");
        let expand = Call::fresh("expand_tools", json!({"categories": [opened], "category": opened}));
        let (one, two) = (session.dispatch(&expand), plain.dispatch(&expand));
        prop_assert_eq!(one.content(), two.content(), "what expand_tools answers");
        prop_assert_eq!(shown(&mut session), shown(&mut plain));
        if with_skills {
            let mut other = builder(Arm::Full).skills(skills(vec![])).build().unwrap().talk();
            let (one, two) = (session.dispatch(&activate("chart-basic")), other.dispatch(&activate("chart-basic")));
            prop_assert_eq!(one.content(), two.content(), "what activate_skill answers");
        }
        let decided = session.dispatch(&delete());
        prop_assert_eq!(matches!(decided, Outcome::Confirm(_)), with_policy, "what layer 3 decides");
        let read = session.dispatch(&Call::fresh("read_excel", json!({"file_path": "a"})));
        prop_assert!(matches!(read, Outcome::Forward(_)));
    }
}
