//! The three layers are independent: over generated catalogs, profiles, skills, policies and calls,
//! with each layer on and off.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use toolfold::catalog::{Catalog, Format};
use toolfold::conversation::{Conversation, Outcome, PolicyMark, ReplyKind};
use toolfold::engine::{Blind, Engine, PolicyLayer, SkillLayer};
use toolfold::policy::{Context, MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::profile::{Arm, ExpandRequest, ToolProfile};
use toolfold::skill::MemoryFs;
use toolfold::wire::Wire;
use toolfold_testing::with;

use crate::talk::{Call, Dispatch, Talk};

/// Texts and values that determine everything.
#[derive(Debug, Clone)]
struct World {
    /// Each tool with the number of repetitions of its description, and its category.
    tools: BTreeMap<String, (usize, usize)>,
    arm: Arm,
    /// Names of skills.
    skills: Vec<String>,
    /// The policy for each tool, by its index.
    said: Vec<Said>,
    steps: Vec<Step>,
}

/// The policy for a tool.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Said {
    Nothing,
    ReadOnly,
    Audited,
    Confirmed,
    /// Denied for all arguments.
    Denied,
    /// Denied for one path only.
    DeniedInPart,
}

#[derive(Debug, Clone)]
enum Step {
    Expand(Index),
    ExpandTool(Index),
    Activate(Index),
    Fitting(Index),
    Unfit(Index),
    Wrapped(Index),
    Unknown(String),
}

/// The layers that are on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct On {
    profile: bool,
    skills: bool,
    policy: bool,
}

impl On {
    fn every() -> impl Iterator<Item = Self> {
        (0..8).map(|bits| Self { profile: bits & 1 > 0, skills: bits & 2 > 0, policy: bits & 4 > 0 })
    }
}

fn world() -> impl Strategy<Value = World> {
    let step = prop_oneof![
        any::<Index>().prop_map(Step::Expand),
        any::<Index>().prop_map(Step::ExpandTool),
        any::<Index>().prop_map(Step::Activate),
        any::<Index>().prop_map(Step::Fitting),
        any::<Index>().prop_map(Step::Unfit),
        any::<Index>().prop_map(Step::Wrapped),
        "[a-z]{3,8}".prop_map(Step::Unknown),
    ];
    let said =
        select(vec![Said::Nothing, Said::ReadOnly, Said::Audited, Said::Confirmed, Said::Denied, Said::DeniedInPart]);
    let tools = btree_map("[a-z]{4,7}_[a-z]{4,7}", (0..40_usize, 0..3_usize), 1..9);
    let skills = vec("[a-z]{4,9}-[a-z]{3,6}", 1..4);
    (
        tools,
        select(Arm::EVERYWHERE.into_iter().chain([Arm::Append]).collect::<Vec<_>>()),
        skills,
        vec(said, 9),
        vec(step, 0..7),
    )
        .prop_map(|(tools, arm, mut skills, said, steps)| {
            skills.sort();
            skills.dedup();
            World { tools, arm, skills, said, steps }
        })
}

impl World {
    /// The first wire that can carry the arm.
    fn wire(&self) -> Wire {
        Wire::ALL.into_iter().find(|wire| wire.supports(self.arm).is_ok()).unwrap()
    }

    fn names(&self) -> Vec<&str> {
        self.tools.keys().map(String::as_str).collect()
    }

    fn said(&self, tool: &str) -> Said {
        let at = self.names().iter().position(|name| *name == tool);
        at.map_or(Said::Nothing, |at| self.said[at])
    }

    fn catalog(&self) -> Catalog {
        let tool = |(name, (times, _)): (&String, &(usize, usize))| {
            let about = format!("Does {name}. {}", "And says at length what it does. ".repeat(*times));
            json!({"name": name, "description": about, "inputSchema": {"type": "object", "required": ["path"],
                "properties": {"path": {"type": "string", "description": about}, "n": {"type": "integer"}}}})
        };
        let text = Value::Array(self.tools.iter().map(tool).collect()).to_string();
        Catalog::import(&text, "tools.json", Some(Format::Mcp)).into_result().unwrap()
    }

    fn profile(&self) -> ToolProfile {
        let mut text = "core = []\n".to_owned();
        for group in 0..3 {
            let own: Vec<&String> =
                self.tools.iter().filter(|(_, (_, at))| *at == group).map(|(name, _)| name).collect();
            if !own.is_empty() {
                text += &format!("[category.group{group}]\ndescription = 'number {group}'\ntools = {own:?}\n");
            }
        }
        ToolProfile::parse(&text, "profile.toml").into_result().unwrap()
    }

    fn skills(&self) -> SkillLayer {
        let mut files = MemoryFs::default();
        for name in &self.skills {
            let text = format!("---\nname: {name}\ndescription: Knows {name}.\n---\nDo {name} with care.\n");
            files.put(format!("/skills/{name}/SKILL.md"), text);
        }
        SkillLayer::from_folders(Arc::new(files), [PathBuf::from("/skills")]).into_result().unwrap()
    }

    fn policy(&self) -> PolicyLayer {
        let mut text = String::new();
        for name in self.names() {
            let tier = match self.said(name) {
                Said::Nothing => continue,
                Said::ReadOnly => "read_only",
                Said::Confirmed => "a",
                Said::Audited | Said::Denied | Said::DeniedInPart => "b",
            };
            text += &format!("[tool.{name}]\ntier = '{tier}'\nwrites = ['path']\n");
        }
        for name in self.names() {
            match self.said(name) {
                Said::Denied => text += &format!("[[rule]]\ndecide = 'deny'\ntool = '{name}'\nwhy = 'no'\n"),
                Said::DeniedInPart => {
                    text += &format!("[[rule]]\ndecide = 'deny'\ntool = '{name}'\npath = '/secret/**'\nwhy = 'no'\n");
                }
                _ => {}
            }
        }
        let file = PolicyFile::load(&text, "policy.toml", PolicyScope::User).into_result().unwrap();
        let context = Context::default().with_cwd("/work").with_interactive(true);
        PolicyLayer::open(Policy::new(vec![file]), Arc::new(MemoryStore::default()), || 1_000).0.context(context)
    }

    fn engine(&self, on: On) -> Engine {
        // A layer that shows hidden parameters answers calls itself: see `hidden.rs`. Here calls
        // are forwarded.
        let builder = Engine::builder(self.catalog()).blind(Blind::Forward);
        let builder = if on.profile {
            builder.profile(self.profile()).arm(self.arm)
        } else {
            builder.without_profile().arm(Arm::Full)
        };
        let builder = if on.skills { builder.skills(self.skills()) } else { builder };
        let builder = if on.policy { builder.policy(self.policy()) } else { builder };
        builder.build().unwrap()
    }

    fn call(&self, step: &Step) -> Call {
        let names = self.names();
        match step {
            Step::Expand(at) => Call::fresh("expand_tools", json!({"categories": [format!("group{}", at.index(3))]})),
            Step::ExpandTool(at) => Call::fresh("expand_tools", json!({"tools": [at.get::<&str>(&names)]})),
            Step::Activate(at) => Call::fresh("activate_skill", json!({"name": at.get(&self.skills)})),
            Step::Fitting(at) => Call::fresh(at.get::<&str>(&names), json!({"path": "/work/a"})),
            Step::Unfit(at) => Call::fresh(at.get::<&str>(&names), json!({"n": "x"})),
            Step::Wrapped(at) => {
                Call::fresh("call_tool", json!({"name": at.get::<&str>(&names), "arguments": {"path": "/work/b"}}))
            }
            Step::Unknown(name) => Call::fresh(name, json!({})),
        }
    }
}

/// The name of a tool in an array of either OpenAI API.
fn name(tool: &Value) -> &Value {
    &tool.get("function").unwrap_or(tool)["name"]
}

/// The array without the skill tool, which it contains if there are skills.
fn shown(conversation: &mut Conversation) -> Vec<Value> {
    let mut array: Vec<Value> = conversation.tools().to().unwrap();
    array.retain(|tool| *name(tool) != "activate_skill");
    array
}

/// The skill tool in the array.
fn skill_tool(conversation: &mut Conversation) -> Option<Value> {
    let array: Vec<Value> = conversation.tools().to().unwrap();
    array.into_iter().find(|tool| *name(tool) == "activate_skill")
}

/// The outcome of a call, without texts.
fn became(outcome: &Outcome) -> (&'static str, PolicyMark) {
    let kind = match outcome {
        Outcome::Forward(_) => "run",
        Outcome::Confirm(_) => "confirm",
        Outcome::Refuse(_) => "refuse",
        Outcome::Reply(_) => "reply",
    };
    (kind, outcome.context().policy)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(48)))]

    #[test]
    fn layers_are_independent(world in world()) {
        let mut decided: BTreeMap<String, (&'static str, PolicyMark)> = BTreeMap::new();
        let mut taught: BTreeMap<usize, String> = BTreeMap::new();
        let offered = skill_tool(&mut world.engine(On { profile: false, skills: true, policy: false }).talk_on(world.wire()));
        prop_assert!(offered.is_some());
        let mut learnt: BTreeMap<&str, String> = BTreeMap::new();
        for on in On::every() {
            let engine = world.engine(on);
            // What layer 1 alone shows, without the tools that the policy denies for all arguments.
            let alone = world.engine(On { skills: false, policy: false, ..on });
            let alone = alone.restricted(|tool| !on.policy || world.said(tool.name().as_str()) != Said::Denied);
            let mut talk = engine.talk_on(world.wire());
            prop_assert_eq!(shown(&mut talk), shown(&mut alone.talk_on(world.wire())), "{:?}: at first", on);
            // What layer 2 offers and answers, whatever the other layers do.
            prop_assert_eq!(skill_tool(&mut talk), offered.clone().filter(|_| on.skills), "{:?}", on);
            for name in &world.skills {
                let outcome = talk.fork().dispatch(&Call::fresh("activate_skill", json!({"name": name})));
                match &outcome {
                    Outcome::Reply(reply) if on.skills && reply.answer.kind == ReplyKind::Activated => {
                        let said = reply.answer.content.to_string();
                        prop_assert_eq!(&*learnt.entry(name).or_insert_with(|| said.clone()), &said, "{:?}", on);
                    }
                    Outcome::Reply(reply) => prop_assert!(!on.skills && reply.answer.failed, "{:?}: {:?}", on, outcome),
                    _ => return Err(TestCaseError::fail(format!("{on:?} {name}: {outcome:?}"))),
                }
            }
            for (at, step) in world.steps.iter().enumerate() {
                let call = world.call(step);
                let outcome = talk.dispatch(&call);
                if let (Step::Activate(_), true, Outcome::Reply(reply)) = (step, on.skills, &outcome)
                    && reply.answer.kind == ReplyKind::Activated
                {
                    let said = reply.answer.content.to_string();
                    prop_assert_eq!(&*taught.entry(at).or_insert_with(|| said.clone()), &said, "{:?}", on);
                }
                let mut same = alone.talk_on(world.wire());
                same.expand(&with!(ExpandRequest::default(), tools = talk.opened()));
                prop_assert_eq!(shown(&mut talk), shown(&mut same), "{:?}: with {:?} open", on, talk.opened());
            }
            for name in world.names() {
                for path in ["/work/fresh", "/secret/x"] {
                    let outcome = talk.fork().dispatch(&Call::fresh(name, json!({"path": path})));
                    let is = became(&outcome);
                    if !on.policy {
                        let Outcome::Forward(forward) = &outcome else {
                            return Err(TestCaseError::fail(format!("{on:?} {name}: {outcome:?}")));
                        };
                        prop_assert_eq!(forward.target.as_str(), name);
                    } else {
                        let key = format!("{name} {path}");
                        prop_assert_eq!(*decided.entry(key).or_insert(is), is, "{:?}: {} {}", on, name, path);
                        let expected = match (world.said(name), path) {
                            // For the model it does not exist.
                            (Said::Denied, _) => "reply",
                            (Said::DeniedInPart, "/secret/x") => "refuse",
                            (Said::Nothing | Said::Confirmed, _) => "confirm",
                            _ => "run",
                        };
                        prop_assert_eq!(is.0, expected, "{:?}: {} {}", on, name, path);
                    }
                }
            }
            let replayed = engine.replay(&talk.take_log(1)).unwrap();
            prop_assert!(replayed == talk, "{:?}: a conversation is its log", on);
        }
    }

    /// With every layer off, the output equals the input.
    #[test]
    fn without_layers_nothing_changes(world in world()) {
        let engine = world.engine(On { profile: false, skills: false, policy: false });
        let array = engine.talk_on(Wire::Mcp).tools().json().to_owned();
        prop_assert_eq!(array, world.catalog().to_json(Format::Mcp));
    }
}
