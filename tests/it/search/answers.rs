//! The answers of `expand_tools` to a query.

use serde_json::json;
use toolfold::catalog::{Catalog, Origin};
use toolfold::conversation::Outcome;
use toolfold::engine::Engine;
use toolfold::name::ToolName;
use toolfold::profile::{Arm, ExpandRequest, Expansion};
#[cfg(feature = "tiktoken")]
use toolfold::tokens::{Encoding, Tiktoken, TokenCounter};
use toolfold::wire::Wire;
use toolfold_testing::with;

use super::{Searched, rows};
use crate::talk::{Call, Dispatch, Talk};

fn request(query: &str) -> ExpandRequest {
    with!(ExpandRequest::default(), query = Some(query.to_owned()))
}

fn engine(tools: &str, arm: Arm) -> Option<Engine> {
    let searched = Searched::corpus(tools)?;
    Some(Engine::builder(searched.catalog).arm(arm).without_validation().build().unwrap())
}

/// The parts of an answer: the list, and the definitions after it.
fn parts(expansion: &Expansion) -> (&str, &str) {
    expansion.reply.split_once("\nOpened.").unwrap_or((&expansion.reply, ""))
}

/// Everything a query opens is listed, declared and recorded, within the bounds, under every arm;
/// the array does not change.
#[test]
fn corpus_answers_keep_their_bounds() {
    let (mut answers, mut largest) = (0, (0, 0));
    for (tools, queries) in
        [("livemcpbench_tools.json", "livemcpbench_tasks.jsonl"), ("golden_tools.json", "golden_queries.jsonl")]
    {
        for arm in [Arm::Stable, Arm::Kept, Arm::Index, Arm::Search] {
            let Some(engine) = engine(tools, arm) else { return };
            for row in rows(queries).iter().step_by(3) {
                let query = row["query"].as_str().unwrap();
                let mut talk = engine.talk_on(Wire::OpenAiChat);
                let digest = talk.digest();
                let expansion = talk.expand(&request(query));
                assert_eq!(talk.digest(), digest, "the array is unchanged");
                let (list, definitions) = parts(&expansion);
                assert!(list.starts_with("Found, best first:\n- "), "{list}");
                for name in &expansion.opened {
                    assert!(list.contains(&format!("- {name}")), "{name} is listed: {list}");
                    assert!(definitions.contains(&format!("{{\"name\":\"{name}\",")), "{name} is defined");
                    assert!(talk.opened().iter().any(|open| *open == name.as_str()));
                }
                assert_eq!(expansion.opened, expansion.mentioned);
                #[cfg(feature = "tiktoken")]
                {
                    let count = |text: &str| Tiktoken::new(Encoding::O200kBase).count(text);
                    assert!(count(list) <= 450, "{} tokens: {list}", count(list));
                    assert!(count(definitions) <= 1_200, "{} tokens: {definitions}", count(definitions));
                    largest = (largest.0.max(count(list)), largest.1.max(count(definitions)));
                }
                let again = engine.talk_on(Wire::OpenAiChat).expand(&request(query));
                assert_eq!(again, expansion, "the same query, the same answer");
                let repeated = talk.expand(&request(query));
                assert_eq!(parts(&repeated).1, "", "what is open is not defined again");
                assert_eq!(repeated.mentioned, expansion.mentioned);
                answers += 1;
            }
        }
    }
    println!("{answers}/{answers} exact; the largest list and definitions have {largest:?} tokens");
}

#[test]
fn corpus_an_answer_to_a_query() {
    let Some(engine) = engine("golden_tools.json", Arm::Stable) else { return };
    let mut talk = engine.talk_on(Wire::OpenAiChat);
    insta::assert_snapshot!("query", talk.expand(&request("plan a walk, then write a text file")).reply);
    let mut talk = engine.talk_on(Wire::OpenAiChat);
    let mixed = with!(request("xyzzy"), tools = vec!["no_such_thing".to_owned()]);
    let expansion = talk.expand(&mixed);
    insta::assert_snapshot!("query_without_results", expansion.reply);
    assert_eq!(expansion.unknown, ["no_such_thing"]);
    let call = Call::fresh("expand_tools", json!({"query": ["a", "b"]}));
    let Outcome::Reply(reply) = talk.dispatch(&call) else { panic!("it is answered") };
    assert!(reply.answer.content.starts_with("expand_tools: `query` must be a string"), "{}", reply.answer.content);
    let call = Call::fresh("expand_tools", json!({"query": "commit the staged changes"}));
    let Outcome::Reply(reply) = talk.dispatch(&call) else { panic!("it is answered") };
    assert!(!reply.answer.failed && reply.answer.content.contains("- git__git_commit: "), "{}", reply.answer.content);
}

/// A query opens tools that a replay of the log opens too.
#[test]
fn corpus_a_log_reproduces_what_a_query_opened() {
    let Some(engine) = engine("golden_tools.json", Arm::Index) else { return };
    let mut talk = engine.talk_on(Wire::OpenAiChat);
    talk.dispatch(&Call::fresh("expand_tools", json!({"query": "list the branches"})));
    assert!(talk.opened().contains(&"git__git_branch".to_owned()), "{:?}", talk.opened());
    let log = talk.take_log(0);
    let replayed = engine.replay(&log).unwrap();
    assert_eq!(replayed, talk);
    assert_eq!(replayed.opened(), talk.opened());
    assert_eq!(replayed.redeliver(), talk.redeliver());
}

/// A server's name finds its tools although their names do not contain it.
#[test]
fn tools_are_found_by_their_origin() {
    let words = "Where to put it: a path below the working folder. ".repeat(30);
    let tool = |name: &str| json!({"name": name, "description": format!("Does a thing. {words}")});
    let names = ["create_issue", "list_pages", "close_issue", "draw"];
    let catalog = Catalog::from_anthropic(&json!(names.map(tool)).to_string()).unwrap();
    let origin =
        |name: &str, server: &str| (name.to_owned(), Origin::Server { server: server.into(), tool: name.into() });
    let origins = [origin("create_issue", "github"), origin("close_issue", "github"), origin("list_pages", "wiki")];
    let engine = Engine::builder(catalog.with_origins(&origins.into())).arm(Arm::Stable).build().unwrap();
    let parts = [engine.clone(), engine.restricted(|tool| tool.name().as_str() != "close_issue")];
    for (engine, found) in parts.iter().zip([&["create_issue", "close_issue"][..], &["create_issue"]]) {
        let expansion = engine.talk_on(Wire::OpenAiChat).expand(&request("github"));
        let opened: Vec<&str> = expansion.opened.iter().map(ToolName::as_str).collect();
        assert_eq!(opened, found);
        let named = engine.talk_on(Wire::OpenAiChat).expand(&request("github.create_issue"));
        assert_eq!(named.opened.first().map(ToolName::as_str), Some("create_issue"), "{}", named.reply);
    }
}
