//! Layer 1: the sentence that represents a tool.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::profile::{
    Arm, CatalogNames, ExpandRequest, Expanded, Presentation, ToolProfile, expand, first_sentence,
};
use toolfold_testing::with;

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
    own.map(|sent| sent.description.into_owned()).collect()
}

#[track_caller]
fn check(tools: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(sentences(&catalog(tools)), expected);
}

#[test]
fn a_sentence_of_three_tools_is_skipped() {
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
fn sentences_of_two_similar_tools_are_unchanged() {
    let chart = "Makes a chart. As a picture, with a title and a legend below it.";
    let other = "Makes a chart. In the sheet, with a title and a legend below it.";
    let third = "Prints it. On paper, with a title and a legend below it.";
    check(&[("a", chart), ("b", other), ("c", third)], &["Makes a chart.", "Makes a chart.", "Prints it."]);
    check(&[("x__a", chart), ("x__b", other)], &["Makes a chart.", "Makes a chart."]);
}

#[test]
fn a_common_subject_of_two_tools_is_skipped() {
    check(
        &[
            (
                "a",
                "This tool belongs to the shop, as a part. Tool description: Adds an item, or two of them, or three.",
            ),
            (
                "b",
                "This tool belongs to the shop, as a part. Tool description: Buys what is there, all of it, at once.",
            ),
        ],
        &["Adds an item, or two of them, or three.", "Buys what is there, all of it, at once."],
    );
}

#[test]
fn the_name_replaces_a_missing_sentence() {
    for tail in
        ["", " Well.", "\n\n- a list of points", "\n\nArgs:\n  a: The first.", "\n\nInput parameters: a, the first."]
    {
        let text = format!("Does what its name says, and it says so of every single tool there is.{tail}");
        check(&[("copy_row", &text), ("moveRow", &text), ("drop-row", &text)], &["Copy row", "Move row", "Drop row"]);
    }
    let endless = "word ".repeat(5_000);
    check(&[("a", &endless), ("b", &endless), ("c", &endless)], &["A", "B", "C"]);
}

#[test]
fn headings_and_warnings_are_not_sentences() {
    let long = "Any file, of whatever kind it may be, wherever it is to be found.";
    for (text, expected) in [
        ("Description: Reads a file. {}", "Reads a file."),
        ("Tool description:", "Do it"),
        ("Warning: deletes the file. {}", "Do it"),
        ("# Reader\n\nReads a file. {}", "Reads a file."),
        ("⚠️ MANDATORY: ask before. Reads a file. {}", "Reads a file."),
        ("[IMPORTANT] Ask before. Reads a file. {}", "Reads a file."),
        ("[Beta] Reads a file. {}", "Reads a file."),
        ("Only use when the user has asked for it. Reads a file. {}", "Reads a file."),
        ("Only use when the user has asked for it. {}", "Do it"),
        ("Always use this tool if a file is asked for.\nReads a file. {}", "Reads a file."),
        ("Use this tool to read a file. {}", "Read a file."),
        ("READS FILES\n\nReads a file. {}", "Reads a file."),
        ("📄 Reads a file. {}", "Reads a file."),
        ("📄 Files at hand. {}\n\nReads a file.", "Reads a file."),
        (
            "🛡️ Guardrails:\n  1. Data Warning: This tool writes. Only use when asked.\n\n🎯 Purpose:\n  1. Reads a file.\n\n{}",
            "Reads a file.",
        ),
        ("<use_case>\n  Reads a file.\n</use_case>\n{}", "Reads a file."),
        ("- Reads files, fast\n- {}", "Reads files, fast"),
        ("**Reads** a file. {}", "Reads a file."),
        ("Nur verwenden, wenn der Benutzer es verlangt. Löscht einen Kunden. {}", "Löscht einen Kunden."),
        ("À utiliser uniquement sur demande. Crée une facture. {}", "Crée une facture."),
        ("仅在用户要求时使用。查询天气。{}", "查询天气。"),
        ("【重要】先确认。查询天气。{}", "查询天气。"),
        ("Используйте только по запросу. Удаляет файл. {}", "Удаляет файл."),
    ] {
        let text = text.replace("{}", long);
        let other = "Prints on paper whatever there is to be printed, with a title and a legend below it.";
        let found = sentences(&catalog(&[("do_it", &text), ("print", other)]));
        // In a language whose verbs are unknown, any sentence may represent the tool except the
        // warning.
        assert_eq!(found.first().map(String::as_str), Some(expected), "{text}");
    }
}

/// Descriptions in other forms than plain sentences; `do_it` is expected if nothing describes the
/// tool.
#[test]
fn mark_up_and_phrases_are_not_sentences() {
    for (text, expected) in [
        ("<p>Fetches a URL as <b>Markdown</b>.</p><ul><li>fast</li></ul>", "Fetches a URL as Markdown."),
        ("<b>Important:</b> be careful.<br/>Uploads a file.", "Uploads a file."),
        (
            "<description>Runs a query.</description>\n<important_notes>never run DROP</important_notes>",
            "Runs a query.",
        ),
        ("<important_notes>\nThis drops it.\n</important_notes>\n\nResets a branch.", "Resets a branch."),
        ("<usecase>Use this tool to compare two schemas.</usecase>", "Compare two schemas."),
        ("Reads /users/<id> of a user.", "Reads /users/<id> of a user."),
        ("&lt;b&gt;Gets&lt;/b&gt; a thing &amp; more.", "Gets a thing & more."),
        ("Creates a [node](https://x.y/z) in the graph.", "Creates a node in the graph."),
        ("[Docs](https://x.y/z) Creates a node.", "Creates a node."),
        ("Use this tool when you need to list branches.", "List branches."),
        ("Use this tool when you need to list branches. Returns names and dates.", "Returns names and dates."),
        ("You can use this tool to schedule a meeting.", "Schedule a meeting."),
        ("Use this when you have to look it up. It searches the web.", "Searches the web."),
        ("[REQUIRED FIRST STEP] Gets the current token.", "Gets the current token."),
        ("NOTE: requires an admin. Bans a user.", "Bans a user."),
        ("!!! READ CAREFULLY !!! Sends an invoice.", "Sends an invoice."),
        ("Ask the user before calling this. Transfers money.", "Transfers money."),
        ("✅ **RECOMMENDED** - Searches code.", "Searches code."),
        ("`get_thing`: Gets a thing.", "Gets a thing."),
        ("get_thing(id) - Gets a thing.", "Gets a thing."),
        ("\"Gets a quote.\"", "Gets a quote."),
        ("LISTS ALL USERS OF THE TEAM", "Lists all users of the team"),
        ("DELETE A USER. THIS CANNOT BE UNDONE.", "Delete a user."),
        ("See https://example.com/docs. Creates a pod.", "Creates a pod."),
        ("https://example.com/docs", "Do it"),
        ("Title: Foo Getter\nDescription: Gets a foo.", "Gets a foo."),
        ("---\nTitle\n---\nReads mail.", "Reads mail."),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nSums a column.", "Sums a column."),
        ("@deprecated\nGets a bar.", "Gets a bar."),
        ("Steps:\n1) Gather data\n2) Build the report", "Do it"),
        ("No description", "Do it"),
        ("N/A", "Do it"),
        ("功能：导出报表\n参数：日期", "导出报表"),
        ("当用户询问天气时使用此工具。返回城市天气。", "返回城市天气。"),
        ("按列分组并聚合（如 COUNT、SUM）。", "按列分组并聚合（如 COUNT、SUM）。"),
        ("仅适用于汇总，不适用于排序。", "Do it"),
        ("Sends mail to Dr. Jones et al. about St. Louis. Next.", "Sends mail to Dr. Jones et al. about St. Louis."),
        // Nothing is written for a tool without a description.
        ("", ""),
    ] {
        let other = "Prints on paper whatever there is to be printed, with a title and a legend below it.";
        let found = sentences(&catalog(&[("do_it", text), ("print", other)]));
        assert_eq!(found.first().map(String::as_str), Some(expected), "{text}");
    }
}

#[test]
fn a_common_beginning_is_removed() {
    check(
        &[
            ("a", "Notion | Retrieve a page, or a part of it, or all that there is of it."),
            ("b", "Notion | Delete a block, or a part of it, or all that there is of it."),
            ("c", "Notion | Query a database, or a part of it, or all that there is of it."),
        ],
        &[
            "Retrieve a page, or a part of it, or all that there is of it.",
            "Delete a block, or a part of it, or all that there is of it.",
            "Query a database, or a part of it, or all that there is of it.",
        ],
    );
}

#[test]
fn open_and_denied_tools_do_not_change_sentences() {
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
        sent.map(|sent| sent.description.into_owned()).collect()
    };
    let closed = said(&catalog, &assignment, &Expanded::default());
    assert_eq!(closed, ["Adds an item.", "Pays.", "Counts the items."], "the profile's own words win");
    let presentation = Presentation::new(&catalog, &assignment, Arm::Stable);
    let request = with!(ExpandRequest::default(), categories = vec!["all".to_owned()]);
    let mut open = Expanded::default();
    expand(&catalog, &assignment, &presentation, &open.clone(), &request, &CatalogNames).apply(&mut open);
    assert_eq!(said(&catalog, &assignment, &open), closed);
    let kept = [true, false, true];
    let fewer = said(&catalog.filtered(&kept), &assignment.filtered(&kept), &open);
    assert_eq!(fewer, ["Adds an item.", "Counts the items."], "though only two are left that begin alike");
}

/// What no sentence that represents a tool may begin with, independent of the lists in the code.
fn is_aside(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let starts = [
        "only ",
        "when ",
        "if ",
        "use this",
        "use when",
        "always ",
        "never ",
        "do not",
        "don't",
        "important",
        "warning",
        "caution",
        "note:",
        "must ",
        "you must",
        "please",
        "[important",
        "[warning",
        "deprecated",
        "before ",
        "after ",
        "注意",
        "仅",
        "如果",
    ];
    starts.iter().any(|start| lower.starts_with(start))
}

/// In every real catalogue: one sentence for each tool, none that represents three tools, none
/// about something else.
#[test]
fn corpus_sentences_describe_tools() {
    for list in tool_lists() {
        let catalog = Catalog::import(&list.text, &list.name, None).value;
        let assignment = ToolProfile::derive(&catalog).assign(&catalog).value;
        let mut changed = 0;
        let mut said: Vec<String> = Vec::new();
        for (tool, assigned) in catalog.iter().zip(assignment.tools.iter()) {
            let sentence = assigned.summary.clone().unwrap_or_else(|| first_sentence(tool.description()));
            let what = format!("{} {}: `{sentence}`", list.name, tool.name());
            assert!(!sentence.is_empty() && sentence.chars().count() <= 100 && !sentence.contains('\n'), "{what}");
            assert!(!is_aside(&sentence), "{what} is a condition or a warning");
            assert!(!sentence.ends_with(':') && !sentence.starts_with(['#', '*', '<', '-']), "{what} is a heading");
            let emoji = |c: char| matches!(u32::from(c), 0x2600..=0x27bf | 0x1f000..=0x1faff);
            assert!(!sentence.contains(emoji), "{what} has an emoji");
            changed += usize::from(assigned.summary.is_some());
            said.push(sentence);
        }
        for sentence in &said {
            let alike = said.iter().filter(|other| *other == sentence).count();
            assert!(alike < 3, "{}: `{sentence}` stands for {alike} tools", list.name);
        }
        println!("{}: {changed} of {} tools are told by another sentence than the first", list.name, catalog.len());
    }
}
