//! Skills under the one gate: policy decides before a text is read, a person may start a skill, and
//! changed files are read between turns.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{CallError, Conversation, Event, Outcome, PolicyMark};
use toolfold::engine::{Engine, PolicyLayer, SkillLayer};
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::{
    Approver, Bound, Context, Grant, GrantScope, MemoryStore, Policy, PolicyFile, PolicyScope, ToolOrigin,
};
use toolfold::profile::Arm;
use toolfold::skill::{Caller, FsEntry, FsError, Kind as FileKind, Look, MemoryFs, SkillFs, Stamp, Surroundings};
use toolfold_testing::with;

use super::skill;
use crate::talk::{Call, Dispatch, Talk};

/// Files that a test changes while a conversation uses them.
#[derive(Clone, Default)]
pub(super) struct Files(Arc<RwLock<MemoryFs>>, Arc<Accesses>);

/// How often the files were listed, looked at and read.
#[derive(Default)]
struct Accesses {
    lists: AtomicUsize,
    looks: AtomicUsize,
    reads: AtomicUsize,
}

impl Files {
    pub(super) fn put(&self, path: &str, text: &str) -> &Self {
        self.0.write().unwrap().put(path, text);
        self
    }
}

impl SkillFs for Files {
    fn list(&self, folder: &Path, most: usize) -> Result<Vec<FsEntry>, FsError> {
        self.1.lists.fetch_add(1, Ordering::Relaxed);
        self.0.read().unwrap().list(folder, most)
    }
    fn look(&self, path: &Path) -> Result<Look, FsError> {
        self.1.looks.fetch_add(1, Ordering::Relaxed);
        let files = self.0.read().unwrap();
        let mut look = files.look(path)?;
        if look.kind == FileKind::Folder {
            // As on a disk, a folder changes with its entries and not with their contents.
            (look.stamp.modified, look.stamp.length) = (0, files.list(path, usize::MAX)?.len() as u64);
        }
        Ok(look)
    }
    fn canonical(&self, path: &Path) -> Result<PathBuf, FsError> {
        self.0.read().unwrap().canonical(path)
    }
    fn read(&self, path: &Path, most: usize) -> Result<(Vec<u8>, Stamp), FsError> {
        self.1.reads.fetch_add(1, Ordering::Relaxed);
        self.0.read().unwrap().read(path, most)
    }
}

/// A project with two skills, and a user with another of the same name and one of a plugin.
fn files() -> Files {
    let files = Files::default();
    let keys =
        |name: &str, keys: &str| format!("---\nname: {name}\ndescription: d. Use.\n{keys}\n---\nBody of {name}.");
    files
        .put("/p/.git/HEAD", "")
        .put("/p/.claude/skills/deploy/SKILL.md", &skill("deploy", "Deploys. Use.", "Deploy $ARGUMENTS now."))
        .put("/p/.claude/skills/deploy/ref.md", "Reference.")
        .put("/p/.claude/skills/notes/SKILL.md", &skill("notes", "Writes notes. Use.", "Body of notes."))
        .put("/home/u/.claude/skills/deploy/SKILL.md", &skill("deploy", "Other. Use.", "Body of the user."))
        .put("/home/u/.claude/skills/wipe/SKILL.md", &keys("wipe", "dangerous: true"))
        .put("/home/u/.claude/skills/own/SKILL.md", &keys("own", "disable-model-invocation: true"))
        .put("/home/u/.claude/skills/a/SKILL.md", &skill("acme:ship", "Ships. Use.", "Body of acme:ship."));
    files
}

struct Host {
    files: Files,
    talk: Conversation,
    approver: Option<Approver>,
    store: Arc<MemoryStore>,
}

impl Host {
    /// A conversation; `policy` is the text of its policy, if it has one.
    fn new(policy: Option<&str>) -> Self {
        let (files, store) = (files(), Arc::new(MemoryStore::default()));
        let around = with!(Surroundings::default(), cwd = "/p".into(), home = Some(PathBuf::from("/home/u")));
        let skills = SkillLayer::discovered(Arc::new(files.clone()), around).layer().value;
        let tools = r#"[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{}}}}]"#;
        let mut builder = Engine::builder(Catalog::from_openai(tools).unwrap()).arm(Arm::Full).skills(skills);
        let mut approver = None;
        if let Some(text) = policy {
            let file = PolicyFile::load(text, "policy.toml", PolicyScope::User).into_result().unwrap();
            let (layer, own) = PolicyLayer::open(Policy::new(vec![file]), store.clone(), || 1_000);
            builder = builder.policy(layer.context(Context::default().with_cwd("/p").with_interactive(true)));
            approver = Some(own);
        }
        Self { files, talk: builder.build().unwrap().talk(), approver, store }
    }

    fn names(&mut self) -> Vec<String> {
        let tools: Vec<Value> = self.talk.tools().to().unwrap();
        let own = tools.iter().find(|tool| tool["function"]["name"] == "activate_skill");
        let names = own.map(|own| own["function"]["parameters"]["properties"]["name"]["enum"].clone());
        serde_json::from_value(names.unwrap_or_else(|| json!([]))).unwrap()
    }

    fn activate(&mut self, arguments: Value) -> Outcome {
        self.talk.dispatch(&Call::fresh("activate_skill", arguments))
    }

    fn deploy(&mut self, arguments: &str) -> Outcome {
        self.activate(json!({"name": "deploy", "arguments": arguments}))
    }

    fn records(&self, kind: Kind) -> Vec<Entry> {
        let chain = self.store.chain().unwrap();
        let entries = chain.iter().map(|(_, body, _, _)| serde_json::from_str::<Entry>(body).unwrap());
        entries.filter(|entry| entry.kind == kind).collect()
    }

    fn hash(&self) -> String {
        let layer = self.talk.engine().skills().unwrap();
        layer.library().unwrap().get("deploy").unwrap().hash.as_str().to_owned()
    }
}

fn text(outcome: &Outcome) -> String {
    outcome.content().unwrap().into_owned()
}

/// What policy makes of an activation.
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Reply(reply) if !reply.answer.failed => "runs",
        Outcome::Reply(reply) if reply.answer.content.contains("unknown skill `") => "unknown",
        Outcome::Reply(reply) if reply.answer.content.starts_with("Unknown tool") => "no tool",
        Outcome::Confirm(_) => "waits",
        Outcome::Refuse(_) => "refused",
        other => panic!("{other:?}"),
    }
}

#[test]
fn rules_decide_before_a_text_is_read() {
    const ALL: &[&str] = &["acme:ship", "deploy", "notes", "wipe"];
    let table = |rule: &str| format!("[[rule]]\n{rule}\n");
    for (rules, names, deploy, notes) in [
        ("[policy]\nmode = \"enforce\"".to_owned(), ALL, "runs", "runs"),
        ("deny = [\"Skill(deploy)\"]".to_owned(), &["acme:ship", "notes", "wipe"], "unknown", "runs"),
        ("deny = [\"Skill(acme:*)\"]".to_owned(), &["deploy", "notes", "wipe"], "runs", "runs"),
        ("deny = [\"activate_skill\"]".to_owned(), &[], "no tool", "no tool"),
        ("deny = [\"Skill\"]".to_owned(), &[], "no tool", "no tool"),
        ("ask = [\"Skill(deploy)\"]".to_owned(), ALL, "waits", "runs"),
        ("ask = [\"activate_skill\"]".to_owned(), ALL, "waits", "waits"),
        ("[policy]\ndefault = \"ask\"".to_owned(), ALL, "runs", "runs"),
        ("allow = [\"Skill(deploy)\"]\n[policy]\ndefault = \"deny\"".to_owned(), &["deploy"], "runs", "unknown"),
        (table("decide = \"deny\"\ntool = \"*\""), &[], "no tool", "no tool"),
        (
            table("decide = \"deny\"\ntool = \"activate_skill\"\nargs = { name = \"deploy\" }"),
            &["acme:ship", "notes", "wipe"],
            "unknown",
            "runs",
        ),
        (table("decide = \"ask\"\ntool = \"Skill\"\ntarget = \"dep*\""), ALL, "waits", "runs"),
    ] {
        let mut host = Host::new(Some(&rules));
        assert_eq!(host.names(), names, "{rules}");
        assert_eq!(word(&host.deploy("x")), deploy, "{rules}");
        assert_eq!(word(&host.activate(json!({"name": "notes"}))), notes, "{rules}");
        if deploy != "runs" {
            // A copy is no way around a rule about its name.
            assert_ne!(word(&host.activate(json!({"name": "deploy@user"}))), "runs", "{rules}");
            assert_ne!(word(&host.activate(json!({"name": "deploy/ref.md"}))), "runs", "{rules}");
        }
    }
}

#[test]
fn an_activation_is_audited_with_its_hash() {
    let mut host = Host::new(Some("[policy]\nmode = \"enforce\""));
    let Outcome::Reply(reply) = host.deploy("it") else { panic!("it runs") };
    assert!(reply.answer.content.contains("Deploy it now."));
    assert_eq!(reply.context.policy, PolicyMark::AllowAudited);
    let [record] = &host.records(Kind::Decision)[..] else { panic!("one record") };
    assert_eq!((record.tool.as_str(), record.decision.as_deref()), ("Skill", Some("allow_audited")));
    assert_eq!(record.arguments, json!({"name": "deploy", "arguments": "it"}));
    assert!(record.effects.to_string().contains(&host.hash()), "{}", record.effects);
    assert!(word(&host.activate(json!({"name": "wipe"}))) == "waits", "its author marked it as dangerous");
    let without = word(&Host::new(None).activate(json!({"name": "wipe"})));
    assert_eq!(without, "refused", "without a policy, the host approves it");
}

#[test]
fn a_person_approves_once_always_or_never() {
    let mut host = Host::new(Some("ask = [\"Skill(deploy)\"]"));
    let approver = host.approver.take().unwrap();
    let Outcome::Confirm(first) = host.deploy("one") else { panic!("it waits") };
    assert_eq!(first.target.as_str(), "activate_skill");
    assert!(first.shown.target.contains("deploy") && first.shown.effects.concat().contains(&host.hash()));
    assert_eq!(host.talk.active_skills().iter().count(), 0, "nothing was read");
    approver.reject(first.approval.as_str(), Some("not today"), 1_000).unwrap();
    let Some(Outcome::Refuse(no)) = host.talk.take_up(first.approval.as_str()) else { panic!("rejected") };
    assert!(no.reason.contains("not today"), "{}", no.reason);
    assert_eq!(word(&host.deploy("one")), "refused", "the same call was rejected");

    let call = Call::fresh("activate_skill", json!({"name": "deploy", "arguments": "two"}));
    let Outcome::Confirm(second) = host.talk.dispatch(&call) else { panic!("it waits") };
    assert!(matches!(host.talk.take_up(second.approval.as_str()), Some(Outcome::Confirm(_))), "no decision yet");
    approver.approve(second.approval.as_str(), 1_000).unwrap();
    let Some(Outcome::Reply(reply)) = host.talk.take_up(second.approval.as_str()) else { panic!("it runs") };
    assert!(reply.answer.content.contains("Deploy two now.") && reply.activation.is_some());
    assert_eq!(text(&host.talk.dispatch(&call)), reply.answer.content.to_string(), "the same call, the same answer");
    assert!(host.talk.active_skills().get("deploy").is_some());
    assert_eq!(word(&host.activate(json!({"name": "deploy", "path": "ref.md"}))), "runs", "a part of what is active");
    let Outcome::Confirm(third) = host.deploy("three") else { panic!("once is once") };
    let [consumed] = &host.records(Kind::Consumed)[..] else { panic!("one was used") };
    assert!(consumed.effects.to_string().contains(&host.hash()), "{}", consumed.effects);

    let target = third.shown.remember.first().unwrap().clone();
    let bound = with!(Bound::default(), schema_hash = Some(host.hash()));
    let grant = with!(Grant::new(ToolOrigin::Native, "Skill", target, GrantScope::Always), bound = bound);
    approver.remember(grant, 1_000).unwrap();
    assert_eq!(word(&host.deploy("four")), "runs", "whatever its arguments are");
    host.files.put("/p/.claude/skills/deploy/SKILL.md", &skill("deploy", "Deploys. Use.", "Deploy twice."));
    assert!(host.talk.reload_skills().is_some());
    assert_eq!(word(&host.deploy("five")), "waits", "another text was not approved");
}

#[test]
fn an_approval_is_void_for_a_changed_text() {
    let mut host = Host::new(Some("ask = [\"Skill(deploy)\"]"));
    let approver = host.approver.take().unwrap();
    let Outcome::Confirm(asked) = host.deploy("x") else { panic!("it waits") };
    approver.approve(asked.approval.as_str(), 1_000).unwrap();
    host.files.put("/p/.claude/skills/deploy/SKILL.md", &skill("deploy", "Deploys. Use.", "Wipe everything."));
    assert!(host.talk.reload_skills().is_some());
    let Some(Outcome::Refuse(refused)) = host.talk.take_up(asked.approval.as_str()) else { panic!("it was changed") };
    assert!(refused.reason.contains("has changed"), "{}", refused.reason);
    assert_eq!(host.talk.active_skills().iter().count(), 0);
}

#[test]
fn a_person_starts_a_skill() {
    for policy in [None, Some("ask = [\"Skill(own)\"]")] {
        let mut host = Host::new(policy);
        assert_eq!(word(&host.activate(json!({"name": "own"}))), "unknown", "the model may not");
        let activation = host.talk.activate_by_person("own", Some("fast")).unwrap();
        assert!(activation.text.contains("Body of own.") && activation.text.contains("ARGUMENTS: fast"));
        assert!(host.talk.active_skills().get("own").is_some());
        let log = host.talk.take_log(0);
        let by_person = log.iter().find_map(|record| match &record.event {
            Event::Activated { by, caller, name, .. } => Some((by.clone(), *caller, name.clone())),
            _ => None,
        });
        assert_eq!(by_person, Some((None, Caller::User, "own".to_owned())));
        assert!(host.talk.engine().replay(&log).unwrap() == host.talk, "the active set survives a replay");
        if policy.is_some() {
            let records = host.records(Kind::Decision);
            let started = records.iter().find(|record| record.arguments["name"] == "own").unwrap();
            assert_eq!(started.decision.as_deref(), Some("allow_audited"));
            assert!(started.rule.as_ref().is_some_and(|rule| rule.contains("a person started it")), "{started:?}");
        }
        let unknown = host.talk.activate_by_person("none", None);
        assert!(matches!(unknown, Err(CallError::NotActivated(_))), "{unknown:?}");
        assert!(host.talk.activate_by_person("deploy/ref.md", None).is_err(), "a file is no skill");
    }
    let mut host = Host::new(Some("deny = [\"Skill(own)\"]"));
    let denied = host.talk.activate_by_person("own", None);
    assert!(matches!(denied, Err(CallError::NotActivated(_))), "{denied:?}");
    assert_eq!(host.records(Kind::Decision).len(), 1, "the attempt is recorded");
    assert_eq!(host.talk.active_skills().iter().count(), 0);
}

#[test]
fn a_model_gets_the_text_of_a_skill_that_a_person_started() {
    let mut host = Host::new(None);
    host.talk.activate_by_person("notes", None).unwrap();
    // Whether the host's message is still in the conversation is unknown.
    assert!(text(&host.activate(json!({"name": "notes"}))).contains("Body of notes."));
    assert!(text(&host.activate(json!({"name": "notes"}))).contains("already active"));
}

#[test]
fn changed_skills_are_read_between_turns() {
    let mut host = Host::new(None);
    assert!(host.talk.reload_skills().is_none(), "nothing has changed");
    let call = Call::fresh("activate_skill", json!({"name": "deploy", "arguments": "it"}));
    let old = text(&host.talk.dispatch(&call));
    let before = host.talk.digest();
    host.files
        .put("/p/.claude/skills/deploy/SKILL.md", &skill("deploy", "Deploys. Use.", "NEW $ARGUMENTS."))
        .put("/p/.claude/skills/deploy/ref.md", "NEW REF.")
        .put("/p/.claude/skills/late/SKILL.md", &skill("late", "Late. Use.", "Late body."));
    assert_eq!(host.talk.digest(), before, "not before the host says so");
    assert!(host.talk.reload_skills().is_some());
    assert_ne!(host.talk.digest(), before);
    assert_eq!(text(&host.talk.dispatch(&call)), old, "a repeated call keeps its answer");
    assert!(host.names().contains(&"late".to_owned()));
    let file = text(&host.activate(json!({"name": "deploy", "path": "ref.md"})));
    assert!(file.contains("NEW REF.") && file.contains("has changed since it was activated"), "{file}");
    assert!(text(&host.deploy("it")).contains("NEW it."), "activated again");
    assert!(!text(&host.activate(json!({"name": "deploy", "path": "ref.md"}))).contains("has changed"));
    assert!(text(&host.activate(json!({"name": "late"}))).contains("Late body."));
    assert!(host.talk.reload_skills().is_none());
    // Two conversations of one engine see the same files, each when its host says so.
    let mut other = host.talk.fork();
    host.files.put("/p/.claude/skills/late/SKILL.md", &skill("late", "Later. Use.", "Later body."));
    assert!(host.talk.reload_skills().is_some() && other.reload_skills().is_some());
    assert!(other.reload_skills().is_none());
}

#[test]
fn a_check_of_unchanged_skills_only_looks_at_them() {
    const SKILLS: usize = 500;
    let files = Files::default();
    for n in 0..SKILLS {
        files.put(&format!("/s/s{n}/SKILL.md"), &skill(&format!("s{n}"), "d. Use.", "Body."));
    }
    let layer = SkillLayer::from_folders(Arc::new(files.clone()), [PathBuf::from("/s")]).value;
    let count = || {
        let Accesses { lists, looks, reads } = &*files.1;
        [lists, looks, reads].map(|count| count.load(Ordering::Relaxed))
    };
    let before = count();
    assert!(layer.reloaded().is_none());
    let [lists, looks, reads] = std::array::from_fn(|at| count()[at] - before[at]);
    // One look a skill, and one for the folder that was listed.
    assert_eq!((lists, looks, reads), (0, SKILLS + 1, 0));
    files.put("/s/s7/SKILL.md", &skill("s7", "d. Use.", "Changed."));
    let before = count();
    assert!(layer.reloaded().is_some());
    assert_eq!(count()[2] - before[2], 1, "only the changed file is read");
}

#[test]
fn a_change_among_thousands_is_found_in_a_few_checks_and_at_once_when_activated() {
    let files = Files::default();
    let put = |n: usize, body: &str| {
        files.put(&format!("/s/s{n:04}/SKILL.md"), &skill(&format!("s{n:04}"), "d. Use.", body));
    };
    for n in 0..2_500 {
        put(n, "Old.");
    }
    let layer = SkillLayer::from_folders(Arc::new(files.clone()), [PathBuf::from("/s")]).value;
    let tools = r#"[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{}}}}]"#;
    let builder = Engine::builder(Catalog::from_openai(tools).unwrap()).arm(Arm::Full).skills(layer);
    let mut talk = builder.build().unwrap().talk();
    let looks = || files.1.looks.load(Ordering::Relaxed);
    let before = looks();
    assert!(talk.reload_skills().is_none());
    assert!(looks() - before <= 1_001, "{}", looks() - before);
    put(2_400, "New.");
    let mut activate =
        |n: usize| text(&talk.dispatch(&Call::fresh("activate_skill", json!({"name": format!("s{n:04}")}))));
    assert!(activate(2_400).contains("New."), "at once");
    assert!(activate(7).contains("Old."));
    put(7, "Newer.");
    let checks = (1..=3).find(|_| talk.reload_skills().is_some());
    assert!(checks.is_some(), "by the third check");
}
