//! Short names, servers and search words in `expand_tools`.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::name::ToolName;
use toolfold::profile::{Arm, ExpandRequest, Expansion, ToolProfile};
use toolfold::wire::Wire;
use toolfold_testing::with;

use crate::talk::Talk;

const WORDS: &str = "Where to put it: a path below the working folder. ";

fn tool(name: &str, schema: &Value) -> Value {
    json!({"name": name, "description": format!("Does a thing. {}", WORDS.repeat(30)), "input_schema": schema})
}

fn engine(names: &[&str], profile: &str, arm: Arm) -> Engine {
    let tools: Vec<Value> = names.iter().map(|name| tool(name, &json!({"type": "object"}))).collect();
    let catalog = Catalog::from_anthropic(&json!(tools).to_string()).unwrap();
    let profile = ToolProfile::parse(profile, "profile.toml").into_result().unwrap();
    Engine::builder(catalog).profile(profile).arm(arm).build().unwrap()
}

fn opened(expansion: &Expansion) -> Vec<&str> {
    expansion.opened.iter().map(ToolName::as_str).collect()
}

const SERVERS: [&str; 5] =
    ["github__create_issue", "github__list_branches", "gitlab__create_issue", "gitlab.merge", "draw"];

#[test]
fn short_names_open_tools() {
    let engine = engine(&SERVERS, "[category.all]\ntools = ['*']", Arm::Index);
    for (short, name) in [
        ("list_branches", "github__list_branches"),
        ("github.create_issue", "github__create_issue"),
        ("gitlab/create-issue", "gitlab__create_issue"),
        ("merge", "gitlab.merge"),
        ("any__draw", "draw"),
        ("branches", "github__list_branches"),
    ] {
        let list = vec![short.to_owned()];
        for request in
            [with!(ExpandRequest::default(), tools = list.clone()), with!(ExpandRequest::default(), categories = list)]
        {
            assert_eq!(opened(&engine.talk_on(Wire::Mcp).expand(&request)), [name], "{short}");
        }
    }
    let ambiguous = with!(ExpandRequest::default(), tools = vec!["create_issue".to_owned()]);
    let expansion = engine.talk_on(Wire::Mcp).expand(&ambiguous);
    let expected = "`create_issue` is ambiguous. Did you mean `github__create_issue` or `gitlab__create_issue`?";
    assert_eq!((expansion.reply.as_str(), &*expansion.unknown), (expected, &["create_issue".to_owned()][..]));
    let query = with!(ExpandRequest::default(), query = Some("list branches".to_owned()));
    assert_eq!(opened(&engine.talk_on(Wire::Mcp).expand(&query))[0], "github__list_branches");
}

/// A hidden tool is not a candidate.
#[test]
fn hidden_tools_do_not_make_a_name_ambiguous() {
    let profile = "unlisted = 'hidden'\n[category.all]\ntools = ['github*', 'draw']";
    let engine = engine(&SERVERS, profile, Arm::Stable);
    let request = with!(ExpandRequest::default(), tools = vec!["create_issue".to_owned(), "merge".to_owned()]);
    let expansion = engine.talk_on(Wire::Mcp).expand(&request);
    assert_eq!((opened(&expansion), &*expansion.unknown), (vec!["github__create_issue"], &["merge".to_owned()][..]));
}

/// A list whose categories do not fit names its servers, and each server names its categories.
#[test]
fn servers_name_their_categories() {
    let (mut names, mut profile) = (Vec::new(), String::new());
    for server in 0..60 {
        for subject in ["invoice", "customer", "order"] {
            profile.push_str(&format!("[category.of_shop{server}_{subject}]\ntools = ['shop{server}__*_{subject}']\n"));
            names.extend(["create", "list"].map(|verb| format!("shop{server}__{verb}_{subject}")));
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let engine = engine(&names, &profile, Arm::Search);
    let mut talk = engine.talk_on(Wire::OpenAiChat);
    let array = talk.tools().json().to_owned();
    assert!(array.contains("shop0 (6), shop1 (6), shop2 (6)") && !array.contains("invoice"), "{array}");
    let request = with!(ExpandRequest::default(), categories = vec!["shop7".to_owned()]);
    let expansion = talk.expand(&request);
    let expected = "Categories of shop7: of_shop7_invoice (2), of_shop7_customer (2), of_shop7_order (2)";
    assert_eq!((expansion.reply.as_str(), opened(&expansion).len()), (expected, 0));
    let request = with!(ExpandRequest::default(), categories = vec!["of_shop7_order".to_owned()]);
    assert_eq!(opened(&talk.expand(&request)).len(), 2);
}

#[test]
fn words_of_a_profile_find_tools() {
    let names = ["post_note", "put_item", "get_item", "drop_item"];
    let profile = "[category.items]\nwords = ['stock keeping']\ntools = ['*_item']\n\
                   [words]\npost_note = ['fax', 'telegram message']";
    let engine = engine(&names, profile, Arm::Stable);
    let found = |query: &str| {
        let expansion =
            engine.talk_on(Wire::Mcp).expand(&with!(ExpandRequest::default(), query = Some(query.to_owned())));
        expansion.mentioned.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found("send a fax"), ["post_note"]);
    assert_eq!(found("stock"), ["put_item", "get_item", "drop_item"]);
    let catalog = engine.catalog();
    let parsed = ToolProfile::parse(profile, "p.toml").into_result().unwrap();
    let written = parsed.to_toml(catalog);
    let read = ToolProfile::parse(&written, "p.toml").into_result().unwrap();
    assert!(parsed.assign(catalog).value.tools.iter().eq(read.assign(catalog).value.tools.iter()), "{written}");
}

#[test]
fn wrong_words_are_reported() {
    let said = |text: &str| {
        let loaded = ToolProfile::parse(text, "p.toml");
        let catalog = Catalog::from_anthropic(&json!([tool("a_tool", &json!({"type": "object"}))]).to_string());
        let assigned = loaded.value.assign(&catalog.unwrap()).diagnostics;
        loaded.diagnostics.iter().chain(&assigned).map(|own| own.message.clone()).collect::<Vec<_>>().join("; ")
    };
    for (text, expected) in [
        ("[words]\na_tool = 'x'", "`words.a_tool` must be a list of words, not a string"),
        ("[words]\na_tool = [1]", "`words.a_tool` must be a list of strings, not a number"),
        ("[words]\na_tool = ['', 'x']", "`words.a_tool` has an empty word"),
        ("[words]\n'' = ['x']", "cannot be a tool's name"),
        ("[words]\nb_tool = ['x']", "unknown tool `b_tool` in `words`"),
        ("words = ['x']", "`words` must be a table, not a list"),
        ("[category.c]\nwords = 'x'\ntools = ['*']", "`words` must be a list of words, not a string"),
    ] {
        let found = said(text);
        assert!(found.contains(expected), "{found}");
    }
    let many = format!("[words]\na_tool = [{}]", "'x',".repeat(101));
    assert!(said(&many).contains("`words.a_tool` has more than 100 words"));
}

/// Parameters are searched behind references and in the branches of a union, at four levels.
#[test]
fn nested_parameters_are_searched() {
    let text = |word: &str| json!({"type": "string", "description": format!("The {word}.")});
    let nested = |word: &str, levels: usize| {
        (0..levels).fold(text(word), |inner, _| json!({"type": "object", "properties": {"in": inner}}))
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "one": {"$ref": "#/$defs/one"},
            "list": {"type": "array", "items": {"anyOf": [{"type": "null"}, nested("walrus", 1)]}},
            "four": nested("ferret", 3),
            "five": nested("badger", 4)
        },
        "allOf": [{"properties": {"marmot": {"enum": ["heron", 1]}}}],
        "$defs": {"one": {"description": "The otter.", "oneOf": [{"properties": {"me": {"$ref": "#/$defs/one"}}}]}}
    });
    let tools = json!([tool("plain", &json!({"type": "object"})), tool("nested", &schema)]);
    let catalog = Catalog::from_anthropic(&tools.to_string()).unwrap();
    let profile = ToolProfile::parse("[category.all]\ntools = ['*']", "p.toml").into_result().unwrap();
    let engine = Engine::builder(catalog).profile(profile).arm(Arm::Stable).build().unwrap();
    for (word, is_found) in
        [("otter", true), ("walrus", true), ("ferret", true), ("badger", false), ("marmot", true), ("heron", true)]
    {
        let expansion =
            engine.talk_on(Wire::Mcp).expand(&with!(ExpandRequest::default(), query = Some(word.to_owned())));
        let found: Vec<&str> = expansion.mentioned.iter().map(ToolName::as_str).collect();
        assert_eq!(found, if is_found { vec!["nested"] } else { vec![] }, "{word}: {}", expansion.reply);
    }
}
