//! Derived profiles: what holds of all of them, of servers of many kinds, and of every real
//! catalogue. The categories of the real ones are kept in `benches/ledger/derive.snap`.

mod generated;
mod kinds;
mod lists;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::profile::{Tier, ToolProfile};

use crate::corpus;
use crate::tool_lists::tool_lists;

/// A server with more tools has to have categories of 3 to 12.
const SMALL: usize = 15;

/// The tools of each category by name, core tools under `core`.
type Categories = BTreeMap<String, BTreeSet<String>>;

fn catalog(tools: &[(&str, &str)]) -> Catalog {
    let words = "w".repeat(300);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "description": words}}});
    let tools: Vec<Value> = tools
        .iter()
        .map(|(name, description)| json!({"name": name, "description": description, "inputSchema": schema}))
        .collect();
    Catalog::import(&json!(tools).to_string(), "tools.json", None).value
}

fn categories(catalog: &Catalog) -> Categories {
    let assignment = ToolProfile::derive(catalog).assign(catalog).value;
    let mut found = Categories::new();
    for (name, own) in catalog.names().zip(assignment.tools.iter()) {
        let category = if own.tier == Tier::Core { "core" } else { own.category.as_str() };
        found.entry(category.to_owned()).or_default().insert(name.to_string());
    }
    found
}

/// The words of a text, cut at what is no letter or digit and at capitals.
fn words(text: &str) -> BTreeSet<String> {
    let mut apart = String::new();
    let mut before = ' ';
    for c in text.chars() {
        if c.is_uppercase() && !before.is_uppercase() {
            apart.push(' ');
        }
        apart.push(if c.is_alphanumeric() { c } else { ' ' });
        before = c;
    }
    apart.to_lowercase().split_whitespace().map(str::to_owned).collect()
}

/// Whether a description means a tool: by its name, or by what stands behind its server's mark.
fn is_named(own: &str, told: &str) -> bool {
    let before = own.strip_suffix(told);
    before.is_some_and(|before| before.is_empty() || before.ends_with(|c: char| !c.is_alphanumeric()))
}

/// What is said of a profile that no profile may be: numbered or reserved names, empty or foreign
/// descriptions, tools in no category.
fn faults(catalog: &Catalog) -> Vec<String> {
    let profile = ToolProfile::derive(catalog);
    let assignment = profile.assign(catalog);
    let mut faults: Vec<String> = assignment.diagnostics.iter().map(|one| format!("{one:?}")).collect();
    let found = categories(catalog);
    let placed: usize = found.values().map(BTreeSet::len).sum();
    if placed != catalog.len() {
        faults.push(format!("{placed} of {} tools are in a category", catalog.len()));
    }
    let listed: usize = profile.categories().count();
    let used = found.keys().filter(|name| *name != "core").count();
    if listed != used {
        faults.push(format!("{listed} categories, {used} with tools"));
    }
    for (name, category) in profile.categories() {
        let (name, description) = (name.as_str(), category.description.as_str());
        let last = name.rsplit('_').next().unwrap_or_default();
        if name.contains('_') && last.chars().all(|c| c.is_ascii_digit()) {
            faults.push(format!("`{name}` is numbered"));
        }
        if ["core", "extended", "hidden"].contains(&name) {
            faults.push(format!("`{name}` is a tier"));
        }
        let members = &found[name];
        let told: Vec<&str> = description.trim_end_matches(", …").split(", ").collect();
        // Long names leave room for fewer.
        let all = description.ends_with('…') || told.len() == members.len();
        if told.len() > 3 || !all || !told.iter().all(|tool| members.iter().any(|own| is_named(own, tool))) {
            faults.push(format!("`{name}` is described as `{description}`"));
        }
    }
    faults
}

/// The names whose words are no words of their tools, cut ones among them. General topics are words
/// of their own.
fn foreign_words(catalog: &Catalog) -> Vec<String> {
    let topics = "accounts agents ai details billing finance home sales staff vehicle calendar charts code compute containers database deployment documents email feedback files formatting \
        formulas governance guidance images interaction inspection location logs math media memory messaging monitoring navigation network people \
        processes search security settings shopping tables tasks time travel web other misc and tools";
    let topics: BTreeSet<String> = words(topics);
    let mut foreign = Vec::new();
    for (name, tools) in categories(catalog).into_iter().filter(|(name, _)| name != "core") {
        let of_tools: BTreeSet<String> = tools.iter().flat_map(|tool| words(tool)).collect();
        let unknown = words(&name).into_iter().find(|word| !of_tools.contains(word) && !topics.contains(word));
        foreign.extend(unknown.map(|word| format!("`{word}` of `{name}`")));
    }
    foreign
}

#[track_caller]
fn check(tools: &[(&str, &str)], expected: &[&str]) {
    let catalog = catalog(tools);
    assert_eq!(faults(&catalog), Vec::<String>::new());
    let found = categories(&catalog).into_iter();
    let lines: Vec<String> =
        found.map(|(name, tools)| format!("{name}: {}", tools.into_iter().collect::<Vec<_>>().join(" "))).collect();
    assert_eq!(lines, expected);
}

#[test]
fn tools_with_a_common_description_prefix_share_a_server() {
    let shop = "Part of the shop, where one buys. ";
    let bank = "Part of the bank, where one pays. ";
    let names = ["add", "get", "put", "run", "set", "sort", "stop", "test"];
    let text = |lead: &str| format!("{lead}Does it.");
    let (one, two) = (text(shop), text(bank));
    let tools: Vec<(&str, &str)> =
        names.iter().enumerate().map(|(at, name)| (*name, if at % 2 == 0 { &*one } else { &*two })).collect();
    check(&tools, &["bank: get run sort test", "shop: add put set stop"]);
}

/// However names and descriptions repeat themselves, deriving stays quick and categories few.
#[test]
fn many_tools_are_derived_in_bounded_categories() {
    let owned: Vec<(String, String)> = (0..5_000)
        .map(|n| (format!("do_{n}_thing{}", n % 70), format!("Sentence {} of many. And then a second one.", n % 1_000)))
        .collect();
    let tools: Vec<(&str, &str)> = owned.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let start = std::time::Instant::now();
    let found = categories(&catalog(&tools));
    println!("{} categories in {:?}", found.len(), start.elapsed());
    assert!((12..=96).contains(&found.len()), "{}", found.len());
}

#[test]
fn corpus_profiles_are_valid() {
    let (mut large, mut fitting) = (0, 0);
    for list in toolfold_testing::sample(tool_lists(), 10) {
        let catalog = Catalog::import(&list.text, &list.name, None).value;
        assert_eq!(faults(&catalog), Vec::<String>::new(), "{}", list.name);
        assert_eq!(foreign_words(&catalog), Vec::<String>::new(), "{}", list.name);
        let found = categories(&catalog);
        if catalog.len() > SMALL {
            let sizes: Vec<usize> =
                found.iter().filter(|(name, _)| *name != "core").map(|(_, tools)| tools.len()).collect();
            let fits = sizes.iter().filter(|tools| (3..=12).contains(*tools)).count();
            println!("{}: {fits} of {} categories have 3 to 12 tools", list.name, sizes.len());
            assert!(fits * 10 >= sizes.len() * 9, "{}: {found:#?}", list.name);
            (large, fitting) = (large + sizes.len(), fitting + fits);
        }
    }
    println!("{fitting} of {large} categories of lists with more than {SMALL} tools have 3 to 12");
}

#[test]
fn ledger_of_derived_categories() {
    if corpus("mcp").is_none() {
        return;
    }
    let mut text = String::new();
    for list in tool_lists() {
        let catalog = Catalog::import(&list.text, &list.name, None).value;
        let found = categories(&catalog);
        writeln!(text, "{}: {} tools, {} categories", list.name, catalog.len(), found.len()).unwrap();
        let lines: Vec<String> = found.iter().map(|(name, tools)| format!("{name} {}", tools.len())).collect();
        writeln!(text, "  {}", lines.join(", ")).unwrap();
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../benches/ledger");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_description("categories of derived profiles over the corpora; review every change");
    settings.bind(|| insta::assert_snapshot!("derive", text));
}
