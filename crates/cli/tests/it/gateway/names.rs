//! Names of tools and prompts in front of servers with colliding names.

use serde_json::{Value, json};

use super::{Newcomer, Talk, texts};

/// The two servers in this order, the folder prepared for the gateway.
fn two(test: &str, github: &str, docs: &str) -> Newcomer {
    let own = Newcomer::new(test);
    own.tools("github", github);
    own.tools("docs", docs);
    assert!(own.run(&["gateway", "init", "--client", "cursor"]).status.success());
    own
}

fn start(own: &Newcomer, more: &[&str]) -> Talk {
    let args = ["gateway", "--config", "toolfold.toml", "--arm", "full", "--profile", "off"];
    Talk::new(own.command(&[&args, more].concat()))
}

fn runs(talk: &mut Talk, name: &str) -> String {
    let answer = talk.ask("tools/call", &json!({"name": name, "arguments": {}}));
    answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).replace('\u{202e}', "")
}

fn doctor(own: &Newcomer, more: &[&str]) -> Value {
    let args = ["gateway", "doctor", "--config", "toolfold.toml", "--json"];
    let output = own.run(&[&args, more].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", texts(&output).1))
}

#[test]
fn a_server_cannot_take_anothers_name_in_any_spelling() {
    let hostile = "create_issue Create-Issue github_create_issue GitHub.create_issue github githubCreateIssue";
    let own = two("names-hostile", "search create_issue", hostile);
    let mut talk = start(&own, &[]);
    let names = talk.names();
    assert_eq!(names[..2], ["search", "create_issue"]);
    for name in &names[2..] {
        assert!(name.starts_with("docs_"), "{names:?}");
        assert_eq!(runs(&mut talk, name), "docs ran it");
    }
    assert_eq!(names.len(), 8);
    assert_eq!(runs(&mut talk, "create_issue"), "github ran it");
    for name in ["github_create_issue", "GitHub.create_issue", "github"] {
        let text = runs(&mut talk, name);
        assert!(!text.contains("ran it"), "{name}: {text}");
    }
    // Each rename is a finding.
    let report = doctor(&own, &[]);
    let renamed = report["renamed"].as_array().unwrap();
    assert_eq!(renamed.len(), 6, "{report}");
    assert!(renamed.iter().all(|one| one["server"] == "docs" && one["why"].as_str().unwrap().contains("`github`")));
    let page = texts(&own.run(&["gateway", "doctor", "--config", "toolfold.toml"])).0;
    assert!(page.contains("renamed   github_create_issue of docs: shown as docs_github_create_issue"), "{page}");
}

#[test]
fn a_tool_keeps_its_name_when_lists_change() {
    let own = two("names-turn", "search turn", "read_page late turn");
    let mut talk = start(&own, &[]);
    assert_eq!(talk.names(), ["search", "turn", "read_page", "late", "docs_turn"]);
    // Each server adds the names of the other, and the gateway's own.
    own.tools("github", "late search turn read_page");
    own.tools("docs", "search turn read_page late expand_tools github_search");
    runs(&mut talk, "turn");
    runs(&mut talk, "docs_turn");
    let mut names = Vec::new();
    for _ in 0..100 {
        names = talk.names();
        if names.len() == 10 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let docs = ["docs_search", "docs_turn", "read_page", "late", "docs_expand_tools", "docs_github_search"];
    assert_eq!(names, [&["github_late", "search", "turn", "github_read_page"][..], &docs].concat());
    for (name, server) in [("late", "docs"), ("github_late", "github"), ("read_page", "docs"), ("search", "github")] {
        assert_eq!(runs(&mut talk, name), format!("{server} ran it"));
    }
    // A new conversation assigns names from the configuration again.
    drop(talk);
    let names = start(&own, &[]).names();
    let docs = ["docs_search", "docs_turn", "docs_read_page", "docs_late", "expand_tools", "docs_github_search"];
    assert_eq!(names, [&["late", "search", "turn", "read_page"][..], &docs].concat());
}

#[test]
fn names_do_not_depend_on_which_servers_are_up() {
    let own = two("names-down", "search", "search read_page");
    let list = own.path("project/toolfold-servers.json");
    let text = std::fs::read_to_string(&list).unwrap();
    let mut servers: Value = serde_json::from_str(&text).unwrap();
    servers["mcpServers"]["github"]["command"] = json!("/no/such/program");
    std::fs::write(&list, servers.to_string()).unwrap();
    let mut talk = start(&own, &[]);
    assert_eq!(talk.names(), ["docs_search", "docs_read_page"]);
    assert_eq!(runs(&mut talk, "docs_search"), "docs ran it");
    let report = doctor(&own, &[]);
    assert!(report["renamed"][1]["why"].as_str().unwrap().contains("`github`, which precedes it, has not listed"));
    // With a stored list of the earlier server, its names are known while it is down.
    std::fs::write(&list, &text).unwrap();
    assert_eq!(start(&own, &[]).names(), ["search", "docs_search", "read_page"]);
    std::fs::remove_file(own.path("github.tools")).unwrap();
    assert_eq!(start(&own, &[]).names(), ["search", "docs_search", "read_page"]);
}

#[test]
fn long_and_odd_names_are_short_and_reported() {
    let long = "q".repeat(200);
    let own = two("names-long", &format!("{long} {}r a%20b", &long[..199]), "a");
    let mut talk = start(&own, &[]);
    let names = talk.names();
    assert!(names.iter().all(|name| name.len() <= 48) && names[0] != names[1], "{names:?}");
    assert_eq!(names[2..], ["a_b", "a"]);
    for name in &names[..3] {
        assert_eq!(runs(&mut talk, name), "github ran it");
    }
    let report = doctor(&own, &[]);
    assert_eq!(report["renamed"].as_array().unwrap().len(), 3, "{report}");
    assert!(report["renamed"][0]["why"].as_str().unwrap().contains("200 characters"), "{report}");
    own.tools("docs", "a a");
    let report = doctor(&own, &["--namespace"]);
    assert_eq!(report["renamed"].as_array().unwrap().len(), 4, "{report}");
    assert_eq!((&report["left_out"][0]["server"], &report["left_out"][0]["tool"]), (&json!("docs"), &json!("a")));
    let page = texts(&own.run(&["gateway", "doctor", "--config", "toolfold.toml", "--namespace"])).0;
    assert!(page.contains("--namespace prefixes every name") && page.contains("left out  a of docs: "), "{page}");
    // It does not request that names are cut.
    let cut = report["renamed"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|own| own["why"].as_str().unwrap().contains("clients accept"));
    assert_eq!(cut.count(), 3, "{report}");
    assert!(page.contains("since every name is prefixed, and clients accept 48 plain characters"), "{page}");
}

#[test]
fn prompts_have_names_by_the_same_rules() {
    let github = "search | review github_review";
    let own = two("names-prompts", github, "read_page | review github_plan Review plan");
    let mut talk = start(&own, &[]);
    let names = |talk: &mut Talk| {
        let prompts = talk.ask("prompts/list", &json!({}))["prompts"].clone();
        prompts.as_array().unwrap().iter().map(|own| own["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = ["review", "github_review", "docs_review", "docs_github_plan", "docs_Review", "plan"];
    assert_eq!(names(&mut talk), all);
    let got = |talk: &mut Talk, name: &str| {
        let got = talk.ask("prompts/get", &json!({"name": name}));
        got["messages"][0]["content"]["text"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(got(&mut talk, "review"), "github has review");
    assert_eq!(got(&mut talk, "docs_github_plan"), "docs has github_plan");
    // The name stays with its prompt.
    own.tools("github", "search | plan review");
    assert_eq!(names(&mut talk), ["github_plan", "review", "docs_review", "docs_github_plan", "docs_Review", "plan"]);
    assert_eq!(
        (got(&mut talk, "plan"), got(&mut talk, "github_plan")),
        ("docs has plan".into(), "github has plan".into())
    );
}

#[test]
fn a_resource_is_read_from_the_server_that_listed_it() {
    let own = two("names-resources", "quit | | mem://a mem://b", "read_page | mem://a | mem://b mem://c");
    let mut talk = start(&own, &[]);
    let uris = |talk: &mut Talk| {
        let listed = talk.ask("resources/list", &json!({}))["resources"].clone();
        listed.as_array().unwrap().iter().map(|own| own["uri"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // A prompt with the name of a resource is not a resource.
    assert_eq!(talk.ask("prompts/list", &json!({}))["prompts"][0]["name"], "mem___a");
    assert_eq!(uris(&mut talk), ["mem://a", "mem://b", "mem://c"]);
    let read = |talk: &mut Talk, uri: &str| talk.ask("resources/read", &json!({"uri": uri})).to_string();
    for (uri, server) in [("mem://a", "github"), ("mem://b", "github"), ("mem://c", "docs")] {
        assert!(read(&mut talk, uri).contains(&format!("{server} has {uri}")), "{uri}");
    }
    // While its server is away, no other server answers.
    std::fs::remove_file(own.path("github.tools")).unwrap();
    talk.ask("tools/call", &json!({"name": "quit", "arguments": {}}));
    assert!(!read(&mut talk, "mem://b").contains("docs has"));
    assert!(!uris(&mut talk).contains(&"mem://b".to_owned()));
    assert!(read(&mut talk, "mem://c").contains("docs has"));
}
