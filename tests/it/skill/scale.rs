//! Thousands of skills: the cost of listing them is bounded, and each of them can be found and
//! activated.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::Outcome;
use toolfold::engine::{Engine, EngineBuilder, SkillLayer};
use toolfold::profile::Arm;
use toolfold::skill::{
    ActivateRequest, ActiveSet, Answer, Budget, Caller, CategoryHint, Facts, MemoryFs, Permission, PermissionRule,
    Permissions, Precedence, Scope, SkillLibrary, SkillTool, SkillView, activate, activate_tool, catalog_text,
};
use toolfold_testing::sample;
use toolfold_testing::with;

use super::{discover, root};
use crate::talk::{Call, Dispatch, Talk};

/// The documented cost of the declaration without any skill, in tokens.
const FLOOR_TOKENS: usize = 450;

/// An engine of the Excel domain under an arm.
fn builder(arm: Arm) -> EngineBuilder {
    Engine::builder(Catalog::from_openai(&crate::project("profiles/excel/tools.json")).unwrap()).arm(arm)
}

/// Skills with a name and a description each, under `/s/0000` and so on.
fn files(skills: &[(String, String)]) -> MemoryFs {
    let mut fs = MemoryFs::default();
    for (number, (name, description)) in skills.iter().enumerate() {
        let text = format!("---\nname: {}\ndescription: {}\n---\nBody of {number}.", json!(name), json!(description));
        fs.put(format!("/s/{number:04}/SKILL.md"), text);
    }
    fs
}

fn library(fs: &MemoryFs) -> SkillLibrary {
    discover(fs, vec![root("/s", Scope::User)], Precedence::Scopes).0
}

fn view(library: &SkillLibrary) -> SkillView {
    SkillView::new(library, &Permissions::default(), Caller::Model)
}

fn view_of(skills: &[(String, String)]) -> SkillView {
    view(&library(&files(skills)))
}

/// The answer to a call.
fn call(fs: &MemoryFs, view: &SkillView, arguments: &Value) -> Result<Answer, String> {
    let request = ActivateRequest::from_json(arguments).map_err(|why| why.to_string())?;
    activate(fs, view, &request, &ActiveSet::default(), &Facts::default(), CategoryHint::Silent)
        .map_err(|why| why.to_string())
}

fn found(fs: &MemoryFs, view: &SkillView, search: &str) -> String {
    match call(fs, view, &json!({"search": search})) {
        Ok(Answer::Found(text)) => text,
        other => panic!("{search}: {other:?}"),
    }
}

/// The names in a list of skills, without those that are only counted.
fn names_in(text: &str) -> Vec<String> {
    let list = text.split_once("Skills:\n").map_or(text, |(_, list)| list);
    let lines = list.lines().filter_map(|line| line.strip_prefix("- ")).filter(|line| !line.starts_with("(and "));
    lines.map(|line| line.split_once(": ").map_or(line, |(name, _)| name).to_owned()).collect()
}

fn enum_of(parameters: &Value) -> Vec<String> {
    serde_json::from_value(parameters["properties"]["name"].get("enum").cloned().unwrap_or(json!([]))).unwrap()
}

/// What providers bill for the tool: the more expensive of the two known forms.
#[cfg(feature = "tiktoken")]
fn billed(name: &str, description: &str, parameters: &Value) -> usize {
    use toolfold::tokens::{Encoding, Function, Tiktoken, TokenCounter, render};
    let counter = Tiktoken::new(Encoding::O200kBase);
    let text = render(&[Function::new(name, Some(description), Some(parameters))]);
    let json =
        json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}});
    counter.count(&text).max(counter.count(&json.to_string()))
}

#[cfg(not(feature = "tiktoken"))]
fn billed(name: &str, description: &str, parameters: &Value) -> usize {
    toolfold::skill::most_tokens(&format!("{name}{description}{parameters}"))
}

/// 5,000 skills, in sets with one difficulty each.
fn hostile_sets() -> Vec<(&'static str, Vec<(String, String)>)> {
    let many = |of: &dyn Fn(usize) -> (String, String)| (0..5_000).map(of).collect();
    let prefix = "all-of-these-names-begin-with-the-very-same-sixty-characters";
    assert_eq!(prefix.len(), 60);
    let letters = |mut n: usize, of: &str| {
        let of: Vec<char> = of.chars().collect();
        (0..6).map(|_| (of[n % of.len()], n /= of.len()).0).collect::<String>()
    };
    vec![
        ("ordinary", many(&|n| (format!("skill-{n}"), format!("Does thing {n}. Use when thing {n} is asked for.")))),
        ("one prefix", many(&|n| (format!("{prefix}{n:04}"), format!("Thing {n}.")))),
        ("one description", many(&|n| (letters(n, "qxzjvkw"), "Use when asked.".to_owned()))),
        ("chinese", many(&|n| (letters(n, "格式化表图数据"), "在需要时使用。".repeat(20)))),
        ("rare ideographs", many(&|n| (letters(n, "鿋鿌鱀龘韥"), "鰀".repeat(100)))),
        ("emoji", many(&|n| (letters(n, "🦀🐙🪼🧬🪐"), "🪐".repeat(60)))),
        ("wide", many(&|n| (format!("w{n}"), "\u{ff37}".repeat(1_024)))),
        ("signs", many(&|n| (letters(n, "!#%&()<>~^"), "~!@#$%^&*()_+{}|:\"<>?".repeat(10)))),
        ("combining", many(&|n| (format!("e\u{301}{n}"), "e\u{301}\u{327}".repeat(50)))),
    ]
}

#[test]
fn five_thousand_skills_cost_no_more_than_the_budget() {
    for (what, skills) in sample(hostile_sets(), 1) {
        let fs = files(&skills);
        let view = view(&library(&fs));
        let visible = view.names().len();
        assert_eq!(visible, 5_000, "{what}");
        let bounded = activate_tool(&view, Budget::default()).unwrap();
        let count = |tool: &SkillTool| billed(&tool.name, &tool.description, &tool.parameters);
        let layer = SkillLayer::new(view.clone(), Arc::new(fs.clone())).counted_by(Budget::Tokens(2_000), count);
        let (fitted, _) = layer.declared().unwrap();
        let parameters: Value = serde_json::from_str(fitted.parameters_text()).unwrap();
        let mut exact = bounded.clone();
        (exact.description, exact.parameters) = (fitted.description().to_owned(), parameters);
        for tool in [&bounded, &exact] {
            let tokens = billed(&tool.name, &tool.description, &tool.parameters);
            assert!(tokens <= 2_000, "{what}: {tokens} tokens");
            let listed = enum_of(&tool.parameters);
            assert_eq!(names_in(&tool.description), listed, "{what}: text and enum say the same");
            let missing = visible - listed.len();
            assert!(tool.description.ends_with(&format!("- (and {missing} more skills that are not listed here)")));
            assert!(tool.parameters["properties"]["search"].is_object(), "{what}");
            assert!(tool.parameters["properties"]["other"].is_object(), "{what}");
        }
        // A counter lists more than the bound.
        assert!(enum_of(&exact.parameters).len() >= enum_of(&bounded.parameters).len(), "{what}");
        reach(what, &fs, &view);
    }
}

/// Every skill is on one page of a search for all, and a name finds itself first.
fn reach(what: &str, fs: &MemoryFs, view: &SkillView) {
    let everything: BTreeSet<&str> = view.names().collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let pages = sample((1..=view.names().len()).step_by(10), 20);
    let looked_at = pages.len() * 10;
    for from in pages {
        seen.extend(names_in(&found(fs, view, &format!("* from:{from}"))));
    }
    assert_eq!(seen.len(), looked_at.min(everything.len()), "{what}: no name is on two pages");
    assert!(seen.iter().all(|name| everything.contains(name.as_str())), "{what}");
    for name in everything.iter().step_by(617) {
        let text = found(fs, view, name);
        assert_eq!(names_in(&text).first().map(String::as_str), Some(*name), "{what}: {text}");
        let Ok(Answer::Activated(activation)) = call(fs, view, &json!({"other": name})) else {
            panic!("{what}: {name}")
        };
        assert_eq!(activation.name, *name);
    }
}

#[test]
fn a_list_gets_poorer_step_by_step() {
    let words = "Reads tables of every kind and writes them down again. Use when there is a table. ".repeat(3);
    let skills: Vec<_> = (0..60).map(|n| (format!("skill-{n:02}"), words.clone())).collect();
    let view = view_of(&skills);
    let mut shapes = Vec::new();
    for tokens in [usize::MAX, 30_000, 4_000, 2_400, 1_200, 600, FLOOR_TOKENS, 100, 0] {
        let tool = activate_tool(&view, Budget::Tokens(tokens)).unwrap();
        let listed = enum_of(&tool.parameters);
        let described = tool.description.matches(": Reads").count();
        let named = names_in(&tool.description);
        assert!(named.len() == described && named.iter().all(|name| listed.contains(name)), "{tokens}");
        shapes.push((described, tool.description.matches('…').count(), listed.len()));
    }
    let [whole, roomy, cut, names, best, few, ..] = shapes[..] else { panic!("{shapes:?}") };
    assert_eq!((whole, roomy, cut), ((60, 0, 60), (60, 0, 60), (60, 60, 60)));
    // Every name, and the beginnings of as many descriptions as there is room for.
    assert!((16..60).contains(&names.0) && names == (names.0, names.0, 60), "{shapes:?}");
    // Not every name fits beside enough descriptions.
    for poor in [best, few] {
        assert!((1..60).contains(&poor.0) && poor == (poor.0, poor.0, poor.0), "{shapes:?}");
    }
    assert!(shapes.is_sorted_by(|a, b| a.2 >= b.2), "{shapes:?}");
    assert_eq!(&shapes[7..], [(0, 0, 0), (0, 0, 0)]);
}

/// A name alone says little: some skills are described whatever their number.
#[test]
fn some_of_many_skills_are_described() {
    for (skills, named, described) in [(60, 60, 16), (200, 16, 16), (1_000, 16, 16), (5_000, 16, 16)] {
        let skills: Vec<_> = (0..skills)
            .map(|n| (format!("skill-{n}"), format!("Handles task {n} of a department. Use when asked about {n}.")))
            .collect();
        let tool = activate_tool(&view_of(&skills), Budget::default()).unwrap();
        let (names, lines) = (enum_of(&tool.parameters).len(), names_in(&tool.description).len());
        assert!(names >= named && lines >= described, "{}: {lines} of {names} described", skills.len());
    }
}

#[test]
fn the_tool_works_without_room_for_names() {
    let skills: Vec<_> = (0..200).map(|n| (format!("skill-{n}"), format!("Thing {n}, with $ARGUMENTS."))).collect();
    let fs = files(&skills);
    let view = view(&library(&fs));
    for tokens in [0, 1, 50] {
        let tool = activate_tool(&view, Budget::Tokens(tokens)).unwrap();
        assert!(enum_of(&tool.parameters).is_empty());
        assert!(tool.parameters["properties"]["name"].get("enum").is_none(), "an empty enum would allow no name");
        assert!(tool.parameters["properties"].get("other").is_none(), "`name` takes every name");
        assert!(tool.description.ends_with("Skills:\n- (and 200 more skills that are not listed here)"));
        assert!(billed(&tool.name, &tool.description, &tool.parameters) <= FLOOR_TOKENS);
    }
    assert!(matches!(call(&fs, &view, &json!({"name": "skill-7"})), Ok(Answer::Activated(_))));
}

/// The project's own skills are listed before the thousands of an installation.
#[test]
fn omitted_names_are_of_the_farthest_scopes() {
    let mut fs = MemoryFs::default();
    for n in 0..400 {
        fs.put(format!("/pack/{n}/SKILL.md"), super::skill(&format!("a-{n:03}"), "x", ""));
    }
    fs.put("/p/z/SKILL.md", super::skill("z-own", "y", ""));
    let roots = vec![root("/p", Scope::Project), root("/pack", Scope::System)];
    let library = discover(&fs, roots, Precedence::Scopes).0;
    let tool = activate_tool(&view(&library), Budget::Tokens(700)).unwrap();
    let listed = enum_of(&tool.parameters);
    assert!(listed.len() < 400 && listed.last().unwrap() == "z-own" && listed[0] == "a-000", "{listed:?}");
}

#[test]
fn a_denied_name_is_in_no_answer_and_in_no_count() {
    let mut skills: Vec<_> = (0..300).map(|n| (format!("open-{n}"), "Common words.".to_owned())).collect();
    skills.extend((0..300).map(|n| (format!("salary-{n}"), "Common words.".to_owned())));
    let fs = files(&skills);
    let library = library(&fs);
    let rules = vec![PermissionRule { pattern: "salary-*".to_owned(), permission: Permission::Deny }];
    let denied = SkillView::new(&library, &with!(Permissions::default(), layers = vec![rules]), Caller::Model);
    let absent = view_of(&skills[..300]);
    let same = |of: &dyn Fn(&SkillView) -> String| {
        let (one, other) = (of(&denied), of(&absent));
        assert_eq!(one, other, "a denied skill cannot be told from one that is not there");
        assert!(!one.contains("salary"), "{one}");
    };
    same(&|view| serde_json::to_string(&activate_tool(view, Budget::default())).unwrap());
    same(&|view| catalog_text(view, Budget::Tokens(500)).text);
    for query in ["*", "common words", "salar", "salary", "from:291 common", "open-299"] {
        same(&|view| found(&fs, view, query).replace("salary", ""));
    }
    for name in ["salary-1", "SALARY-1", "salary-1@user", "salary-1@user:2", "salary-1/SKILL.md"] {
        let says = |view: &SkillView| call(&fs, view, &json!({"name": name})).unwrap_err();
        assert_eq!(says(&denied), says(&absent));
    }
}

#[test]
fn the_same_skills_give_the_same_bytes_in_any_order() {
    let skills: Vec<_> = (0..700).map(|n| (format!("skill-{n}"), format!("Does thing {n}."))).collect();
    let mut backwards = MemoryFs::default();
    for (number, (name, description)) in skills.iter().enumerate().rev() {
        backwards.put(format!("/s/{:04}/SKILL.md", 9_000 - number), super::skill(name, description, "other"));
    }
    let bytes = |view: &SkillView| serde_json::to_string(&activate_tool(view, Budget::default())).unwrap();
    let first = view_of(&skills);
    let before = bytes(&first);
    found(&files(&skills), &first, "thing 5");
    assert_eq!(before, bytes(&first));
    assert_eq!(before, bytes(&view_of(&skills)));
    assert_eq!(before, bytes(&view(&library(&backwards))));
}

/// The array of a conversation stays unchanged byte for byte, so that the provider's cache stays
/// valid.
#[test]
fn searching_and_activating_do_not_change_the_array() {
    let skills: Vec<_> = (0..2_000).map(|n| (format!("skill-{n}"), format!("Does thing {n}."))).collect();
    let fs = files(&skills);
    let layer = SkillLayer::new(view(&library(&fs)), Arc::new(fs));
    assert!(layer.declared().unwrap().1.omitted > 0);
    let mut talk = builder(Arm::Stable).skills(layer).build().unwrap().talk();
    let before = talk.tools().json().to_owned();
    let mut ask = |arguments: Value| match talk.dispatch(&Call::fresh("activate_skill", arguments)) {
        Outcome::Reply(reply) => reply.answer.content.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(ask(json!({"search": "thing 1999"})).contains("- skill-1999: Does thing 1999."));
    assert!(ask(json!({"other": "skill-1999"})).contains("Body of 1999."));
    assert!(ask(json!({"name": "skill-1998"})).contains("Body of 1998."), "a name beyond the enum keeps working");
    assert_eq!(talk.tools().json(), before);
}

/// Three copies of one name, and a skill whose name selects one of them.
fn copies() -> (MemoryFs, Vec<toolfold::skill::Root>) {
    let mut fs = MemoryFs::default();
    fs.put("/in/a/SKILL.md", super::skill("commit", "Inner.", "inner"))
        .put("/out/a/SKILL.md", super::skill("commit", "Outer.", "outer"))
        .put("/u/a/SKILL.md", super::skill("commit", "Mine.", "mine"))
        .put("/in/b/SKILL.md", super::skill("commit@user", "Not mine.", "forged"));
    let roots = [("/in", Scope::Project), ("/out", Scope::Project), ("/u", Scope::User)];
    (fs, roots.map(|(path, scope)| root(path, scope)).to_vec())
}

#[test]
fn the_model_can_select_every_copy_of_a_name() {
    let (fs, roots) = copies();
    let (library, notes) = discover(&fs, roots, Precedence::Scopes);
    let view = view(&library);
    for (name, body) in [
        ("commit", "inner"),
        ("commit@project", "inner"),
        ("commit@project:2", "outer"),
        ("commit@user", "mine"),
        ("commit@user@project", "forged"),
    ] {
        let Ok(Answer::Activated(activation)) = call(&fs, &view, &json!({"other": name})) else { panic!("{name}") };
        assert!(activation.text.contains(&format!("\n{body}\n")), "{name}: {}", activation.text);
        assert_eq!(library.get(name).unwrap().body(), body, "the library agrees about {name}");
    }
    for hidden in ["commit@project:2", "commit@user"] {
        assert!(notes.iter().any(|note| note.contains(&format!("name it `{hidden}`"))), "{hidden}: {notes:#?}");
    }
    let text = found(&fs, &view, "commit");
    assert_eq!(names_in(&text), ["commit", "commit@project:2", "commit@user", "commit@user@project"], "{text}");
    let tool = activate_tool(&view, Budget::default()).unwrap();
    assert_eq!(enum_of(&tool.parameters), ["commit", "commit@user@project"]);
    assert!(tool.parameters["properties"]["other"].is_object(), "the enum does not list the copies");
}

#[test]
fn an_approval_of_a_copy_does_not_cover_another() {
    let (fs, roots) = copies();
    let library = discover(&fs, roots, Precedence::Scopes).0;
    let rules = vec![PermissionRule { pattern: "commit".to_owned(), permission: Permission::Ask }];
    let view = SkillView::new(&library, &with!(Permissions::default(), layers = vec![rules.clone()]), Caller::Model);
    for name in ["commit", "commit@user", "commit@project:2"] {
        let answer = call(&fs, &view, &json!({"name": name}));
        assert_eq!(answer, Ok(Answer::NeedsApproval { name: name.to_owned() }));
    }
    let layer = SkillLayer::new(view, Arc::new(fs.clone()));
    let mut talk = builder(Arm::Stable).skills(layer).build().unwrap().talk();
    talk.approve_skill("commit@user");
    let mut is_active = |name: &str| {
        let outcome = talk.dispatch(&Call::fresh("activate_skill", json!({"name": name})));
        matches!(outcome, Outcome::Reply(reply) if reply.activation.is_some())
    };
    assert!(is_active("commit@user"));
    assert!(!is_active("commit") && !is_active("commit@project:2"));
    // A denial applies in every scope.
    let denied = vec![PermissionRule { pattern: "commit".to_owned(), permission: Permission::Deny }];
    let view = SkillView::new(&library, &with!(Permissions::default(), layers = vec![denied]), Caller::Model);
    for name in ["commit", "commit@project", "commit@project:2"] {
        assert!(call(&fs, &view, &json!({"name": name})).is_err(), "{name}");
    }
    assert_eq!(view.copies().len(), 0);
}

/// A model writes a name in its usual Unicode form.
#[test]
fn a_name_in_another_unicode_form_is_accepted() {
    let skills = [("re\u{301}sume\u{301}", "x"), ("Big", "x"), ("twin", "x"), ("Twin", "x")];
    let skills: Vec<_> = skills.iter().map(|(n, d)| ((*n).to_owned(), (*d).to_owned())).collect();
    let view = view_of(&skills);
    assert!(view.get("résumé").is_some() && view.get("big").is_some());
    assert!(view.get("TWIN").is_none(), "two could be meant");
    assert_eq!(view.get("Twin").unwrap().0.name(), "Twin");
}

pub(super) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,40}",
        "[a-z0-9 -]{0,60}",
        "[A-Za-z' .,]{0,60}",
        "\\PC{0,30}",
        "[一-鿿]{0,30}",
        "[qjzxvk]{0,40}"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(96), ..ProptestConfig::default() })]

    #[test]
    fn any_set_within_any_budget(
        skills in proptest::collection::vec((text(), text()), 1..60),
        tokens in FLOOR_TOKENS..4_000,
        asked in 0..60_usize,
    ) {
        let fs = files(&skills);
        let view = view(&library(&fs));
        prop_assume!(view.names().len() > 0);
        let tool = activate_tool(&view, Budget::Tokens(tokens)).unwrap();
        prop_assert!(billed(&tool.name, &tool.description, &tool.parameters) <= tokens);
        let listed = enum_of(&tool.parameters);
        let unique: BTreeSet<&String> = listed.iter().collect();
        prop_assert_eq!(unique.len(), listed.len());
        // Each name has a line with its description, or is counted.
        let has_row = |name: &&String| {
            tool.description.lines().any(|line| line.strip_prefix("- ").is_some_and(|line| line.starts_with(&format!("{name}: "))))
        };
        let named = listed.len() - listed.iter().filter(has_row).count();
        let counts = tool.description.contains(&format!("\n- (and {named} more by name: the other values of `name`)"));
        prop_assert!(named == 0 || counts, "{} of {:?}: {}", named, listed, tool.description);
        // Every skill is reachable by its name in the list or in a search.
        let name = view.names().nth(asked % view.names().len()).unwrap();
        prop_assume!(!name.is_empty());
        let skill = view.get(name).unwrap().0;
        prop_assert_eq!(view.name_of(skill), name);
        let all = (1..=view.names().len() + view.copies().len()).step_by(10);
        let pages: String = all.map(|from| found(&fs, &view, &format!("* from:{from}"))).collect();
        prop_assert!(pages.contains(&format!("\n- {name}: ")), "{} is on no page", name);
        let answer = call(&fs, &view, &json!({"other": name}));
        prop_assert!(answer.is_ok(), "{:?}", answer);
    }
}
