//! Layer 1: descriptions that begin alike, and the sentence that tells their tools apart.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::profile::{
    Arm, CatalogNames, ExpandRequest, Expanded, Presentation, ToolProfile, expand, first_sentence,
};

use crate::tool_lists::tool_lists;

fn catalog(tools: &[(&str, &str)]) -> Catalog {
    let words = "A parameter with words enough to be worth folding away, meta-tools counted. ".repeat(8);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "description": words}}});
    let tools: Vec<Value> = tools
        .iter()
        .map(|(name, description)| json!({"name": name, "description": description, "inputSchema": schema}))
        .collect();
    Catalog::from_mcp(&json!(tools).to_string()).unwrap()
}

/// The sentence each tool is folded to.
fn sentences(catalog: &Catalog) -> Vec<String> {
    let assignment = ToolProfile::derive(catalog).assign(catalog).value;
    let presentation = Presentation::new(catalog, &assignment, Arm::Stable);
    let plan = presentation.plan(catalog, &assignment, &Expanded::default());
    let own = presentation.array(catalog, &plan).filter(|sent| sent.index.is_some());
    own.map(|sent| sent.tool.description().to_owned()).collect()
}

#[track_caller]
fn check(tools: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(sentences(&catalog(tools)), expected);
}

#[test]
fn a_sentence_that_three_tools_share_is_passed_over() {
    check(
        &[
            ("a", "Part of the shop. Adds an item. Slowly."),
            ("b", "Part of the shop.\nTool description: Buys what is there. Or not."),
            ("c", "Part of the shop. It sells fruit, nuts, etc. Tool description: Counts the items. Twice."),
            ("d", "Part of the shop. It sells fruit, nuts, etc. Tool description: Drops an item. For ever."),
            ("e", "Part of the shop. It sells fruit, nuts, etc. Tool description: Empties the cart. At once."),
            ("f", "Finds a shop. Near you, if there is one, or else far away."),
        ],
        &[
            "Adds an item.",
            "Buys what is there.",
            "Counts the items.",
            "Drops an item.",
            "Empties the cart.",
            "Finds a shop.",
        ],
    );
    let long =
        "Belongs to a system whose own description is longer than the hundred characters that are kept of any sentence";
    let texts = ["One", "Two", "Three"].map(|name| format!("{long}. {name} of them. And more of it."));
    check(&[("a", &texts[0]), ("b", &texts[1]), ("c", &texts[2])], &["One of them.", "Two of them.", "Three of them."]);
}

#[test]
fn two_tools_that_begin_alike_are_left_alone() {
    let chart = "Makes a chart. As a picture, with a title and a legend below it.";
    let other = "Makes a chart. In the sheet, with a title and a legend below it.";
    let third = "Prints it. On paper, with a title and a legend below it.";
    check(&[("a", chart), ("b", other), ("c", third)], &["Makes a chart.", "Makes a chart.", "Prints it."]);
    check(&[("x__a", chart), ("x__b", other)], &["Makes a chart.", "Makes a chart."]);
}

#[test]
fn where_nothing_of_its_own_follows_the_shared_sentence_stays() {
    for tail in
        ["", " Well.", "\n\n- a list of points", "\n\nArgs:\n  a: The first.", "\n\nInput parameters: a, the first."]
    {
        let text = format!("Does what its name says, and it says so of every single tool there is.{tail}");
        let expected = "Does what its name says, and it says so of every single tool there is.";
        check(&[("a", &text), ("b", &text), ("c", &text)], &[expected; 3]);
    }
    let endless = "word ".repeat(5_000);
    let cut = first_sentence(&endless);
    check(&[("a", &endless), ("b", &endless), ("c", &endless)], &[&cut, &cut, &cut]);
}

#[test]
fn headings_are_no_sentence() {
    check(
        &[
            ("a", "Description: Reads a file. Any file, of whatever kind it may be."),
            ("b", "Tool description:"),
            ("c", "Warning: deletes the file. For ever, and without asking anyone at all."),
        ],
        &["Reads a file.", "Tool description:", "Warning: deletes the file."],
    );
}

#[test]
fn what_is_open_or_denied_changes_no_sentence() {
    let catalog = catalog(&[
        ("a", "Part of the shop. Adds an item. Slowly."),
        ("b", "Part of the shop. Buys what is there. Or not."),
        ("c", "Part of the shop. Counts the items. Twice."),
    ]);
    let profile = ToolProfile::parse("[summary]\nb = 'Pays.'\n[category.all]\ntools = ['*']", "p.toml").value;
    let assignment = profile.assign(&catalog).value;
    let said = |catalog: &Catalog, assignment: &_, expanded: &Expanded| -> Vec<String> {
        let presentation = Presentation::new(catalog, assignment, Arm::Stable);
        let plan = presentation.plan(catalog, assignment, expanded);
        let sent = presentation.array(catalog, &plan).filter(|sent| sent.index.is_some());
        sent.map(|sent| sent.tool.description().to_owned()).collect()
    };
    let closed = said(&catalog, &assignment, &Expanded::default());
    assert_eq!(closed, ["Adds an item.", "Pays.", "Counts the items."], "the profile's own words win");
    let presentation = Presentation::new(&catalog, &assignment, Arm::Stable);
    let request = ExpandRequest { categories: vec!["all".to_owned()], tools: vec![] };
    let mut open = Expanded::default();
    expand(&catalog, &assignment, &presentation, &open.clone(), &request, &CatalogNames).apply(&mut open);
    assert_eq!(said(&catalog, &assignment, &open), closed);
    let kept = [true, false, true];
    let fewer = said(&catalog.filtered(&kept), &assignment.filtered(&kept), &open);
    assert_eq!(fewer, ["Adds an item.", "Counts the items."], "though only two are left that begin alike");
}

/// In every real catalogue: a sentence that is a tool's own is what it was, and no sentence stands for three tools.
#[test]
fn corpus_sentences_tell_tools_apart() {
    for list in tool_lists() {
        let catalog = Catalog::import(&list.text, &list.name, None).value;
        let first: Vec<String> = catalog.iter().map(|tool| first_sentence(tool.description())).collect();
        let assignment = ToolProfile::derive(&catalog).assign(&catalog).value;
        let mut changed = 0;
        let mut said: Vec<&str> = Vec::new();
        for (assigned, sentence) in assignment.iter().zip(&first) {
            said.push(assigned.summary.as_deref().unwrap_or(sentence));
            if assigned.summary.is_some() {
                changed += 1;
                let alike = first.iter().filter(|other| *other == sentence).count();
                assert!(alike >= 2, "{}: `{sentence}` is one tool's own", list.name);
            }
        }
        for sentence in said.iter().filter(|sentence| !sentence.is_empty()) {
            let alike = said.iter().filter(|other| other == &sentence).count();
            assert!(alike < 3, "{}: `{sentence}` stands for {alike} tools", list.name);
        }
        println!("{}: {changed} of {} tools begin with another's words", list.name, catalog.len());
    }
}
