//! Derived profiles over every real catalogue: how large categories get. Kept in `benches/ledger/derive.snap`.

use std::fmt::Write;

use indexmap::IndexMap;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::profile::{OTHER, ToolProfile};

use crate::corpus;
use crate::tool_lists::tool_lists;

/// What a derived profile makes of a catalogue.
struct Shape {
    tools: usize,
    categories: usize,
    /// Tools in `other`, `other_2` and so on.
    other: usize,
    /// The largest category's name, and its part of all tool text in hundredths.
    largest: (String, usize),
    names: Vec<String>,
}

fn is_other(name: &str) -> bool {
    name.strip_prefix(OTHER).is_some_and(|end| end.is_empty() || end.starts_with('_'))
}

fn shape(catalog: &Catalog) -> Shape {
    let profile = ToolProfile::derive(catalog);
    assert_eq!(ToolProfile::derive(catalog), profile, "deriving twice gives the same");
    let assignment = profile.assign(catalog).value;
    let mut sizes: IndexMap<&str, (usize, usize)> = IndexMap::new();
    let mut all = 0;
    for (tool, own) in catalog.iter().zip(assignment.iter()) {
        let bytes = tool.description().len() + tool.parameters_text().len();
        let size = sizes.entry(own.category.as_str()).or_default();
        (size.0, size.1, all) = (size.0 + 1, size.1 + bytes, all + bytes);
    }
    let (name, (_, bytes)) = sizes.iter().rev().max_by_key(|(_, (_, bytes))| *bytes).unwrap();
    Shape {
        tools: catalog.len(),
        categories: sizes.len(),
        other: sizes.iter().filter(|(name, _)| is_other(name)).map(|(_, (tools, _))| tools).sum(),
        largest: ((*name).to_owned(), (bytes * 100 + all / 2) / all.max(1)),
        names: sizes.iter().map(|(name, (tools, _))| format!("{name} {tools}")).collect(),
    }
}

/// The categories of tools with these names and descriptions, each with its tools; every tool has about 800 bytes of schema.
fn derived(tools: &[(&str, &str)]) -> Vec<String> {
    let words = "w".repeat(700);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "description": words}}});
    let tools: Vec<Value> = tools
        .iter()
        .map(|(name, description)| json!({"name": name, "description": description, "inputSchema": schema}))
        .collect();
    let catalog = Catalog::from_mcp(&json!(tools).to_string()).unwrap();
    let assignment = ToolProfile::derive(&catalog).assign(&catalog).value;
    let mut categories: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for (name, own) in catalog.names().zip(assignment.iter()) {
        categories.entry(own.category.as_str()).or_default().push(name.as_str());
    }
    categories.iter().map(|(name, tools)| format!("{name}: {}", tools.join(" "))).collect()
}

#[test]
fn a_large_category_is_cut_by_a_second_word() {
    let names: Vec<String> = ["page", "tab", "cookie", "mouse"]
        .iter()
        .flat_map(|noun| ["get", "set", "open", "close"].map(|verb| format!("browser_{verb}_{noun}")))
        .chain([String::from("sleep_now"), String::from("say_hello")])
        .collect();
    let tools: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let found = derived(&tools);
    let largest = found.iter().map(|line| line.split(": ").nth(1).unwrap().split(' ').count()).max();
    assert!(largest <= Some(4), "each has at most two ninths of 18 tools: {found:#?}");
    assert_eq!(found.iter().filter(|line| line.starts_with("browser")).count(), found.len() - 1, "{found:#?}");
}

#[test]
fn without_shared_names_tools_go_by_what_their_first_sentences_are_about() {
    let found = derived(&[
        ("cat", "Shows the text of a file."),
        ("grep", "Finds a line of text."),
        ("wc", "Counts the words of a text."),
        ("cd", "Goes to another directory."),
        ("ls", "Lists a directory."),
        ("pwd", "Tells the directory one is in."),
        ("du", "Tells how much space is taken."),
        ("df", "Tells how much space is free."),
    ]);
    assert_eq!(found, ["text: cat grep wc", "directory: cd ls pwd", "other: du df"]);
}

#[test]
fn tools_whose_descriptions_begin_alike_are_of_one_server() {
    let shop = "Part of the shop, where one buys. ";
    let bank = "Part of the bank, where one pays. ";
    let names = ["add", "get", "put", "run", "set", "sort", "stop", "test"];
    let text = |lead: &str| format!("{lead}Does it.");
    let (one, two) = (text(shop), text(bank));
    let tools: Vec<(&str, &str)> =
        names.iter().enumerate().map(|(at, name)| (*name, if at % 2 == 0 { &*one } else { &*two })).collect();
    let found = derived(&tools);
    let of = |server: &str| found.iter().filter(|line| line.starts_with(server)).count();
    assert_eq!(of("shop") + of("bank"), found.len(), "{found:#?}");
    for line in &found {
        let places: Vec<usize> =
            line.split(' ').skip(1).map(|name| names.iter().position(|n| *n == name).unwrap()).collect();
        assert!(places.iter().all(|at| at % 2 == places[0] % 2), "no category has tools of both: {line}");
    }
}

/// However names and descriptions repeat themselves, deriving stays quick and categories few.
#[test]
fn five_thousand_tools_are_derived_in_bounded_categories() {
    let owned: Vec<(String, String)> = (0..5_000)
        .map(|n| (format!("do_{n}_thing{}", n % 7), format!("Sentence {} of many. And then a second one.", n % 1_000)))
        .collect();
    let tools: Vec<(&str, &str)> = owned.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let found = derived(&tools);
    assert!((24..=96).contains(&found.len()), "{}", found.len());
}

#[test]
fn ledger_of_derived_categories() {
    if corpus("mcp").is_none() {
        return;
    }
    let mut text = format!("{:<26} {:>5} {:>10} {:>5}  {}\n", "catalogue", "tools", "categories", "other", "largest");
    let mut names = String::new();
    for list in tool_lists() {
        let catalog = Catalog::import(&list.text, &list.name, None).value;
        let shape = shape(&catalog);
        let (name, share) = &shape.largest;
        let (tools, categories, other) = (shape.tools, shape.categories, shape.other);
        writeln!(text, "{:<26} {tools:>5} {categories:>10} {other:>5}  {share:>3} % {name}", list.name).unwrap();
        writeln!(names, "{}: {}", list.name, shape.names.join(", ")).unwrap();
    }
    println!("{text}\n{names}");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../benches/ledger");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_description("categories of derived profiles over the corpora; review every change");
    settings.bind(|| insta::assert_snapshot!("derive", text));
}
