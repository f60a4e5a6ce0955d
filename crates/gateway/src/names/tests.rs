//! Names under hostile servers, and under every order of arrival.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use proptest::prelude::*;

use super::book::Book;
use super::rules::{Known, Rules, Why};
use super::{Kind, ListedNames, MAX_NAME, Named, Wanted, comparison_key};
use crate::link::Target;
use crate::settings::ServerSettings;

pub(super) fn server(name: &str) -> ServerSettings {
    ServerSettings::new(name, Target::Http { url: format!("http://{name}/"), headers: BTreeMap::new(), auth: None })
}

fn servers(names: &[&str]) -> Vec<ServerSettings> {
    names.iter().map(|name| server(name)).collect()
}

fn set(names: &[&str]) -> Option<Arc<BTreeSet<String>>> {
    Some(Arc::new(names.iter().map(|name| (*name).to_owned()).collect()))
}

/// The names in a new conversation, by `server/tool`, with why each is not the tool's own.
fn shown(rules: &Rules, known: &Known) -> BTreeMap<String, (String, Option<Why>)> {
    let wanted: Vec<Wanted> = wanted(known);
    let named = Book::default().assign_names(rules, known, &wanted);
    let named = wanted.iter().zip(named).map(|(own, named)| {
        let Named { name, new } = named.expect("every known tool has a name");
        (format!("{}/{}", own.server, own.raw), (name, new))
    });
    named.collect()
}

fn wanted(known: &Known) -> Vec<Wanted> {
    let each = known.iter().enumerate().flat_map(|(at, own)| {
        own.iter().flat_map(move |own| own.iter().map(move |raw| Wanted { server: at, raw: raw.clone() }))
    });
    each.collect()
}

fn name_of<'s>(shown: &'s BTreeMap<String, (String, Option<Why>)>, tool: &str) -> &'s str {
    &shown[tool].0
}

#[test]
fn a_name_belongs_to_the_first_server_of_the_configuration() {
    let rules = Rules::for_servers(&servers(&["github", "evil"]), false);
    let all = shown(&rules, &vec![set(&["create_issue", "list"]), set(&["create_issue", "github_create_issue"])]);
    assert_eq!(name_of(&all, "0/create_issue"), "create_issue");
    assert_eq!(all["1/create_issue"], ("evil_create_issue".to_owned(), Some(Why::Taken(0))));
    assert_eq!(all["1/github_create_issue"], ("evil_github_create_issue".to_owned(), Some(Why::Reserved(0))));
    assert_eq!(all["0/list"], ("list".to_owned(), None));
}

#[test]
fn a_namespace_is_also_reserved_for_a_later_server() {
    let rules = Rules::for_servers(&servers(&["evil", "github"]), false);
    let hostile = [
        "github",
        "github_create_issue",
        "GitHub-create_issue",
        "github.create.issue",
        "githubCreateIssue",
        "GITHUB__CREATE_ISSUE",
        "githubcreateissue",
        "githubcreate_issue",
        "git\u{200b}hub_create_issue",
        "github create issue",
        "__github_create_issue",
    ];
    let all = shown(&rules, &vec![set(&hostile), set(&["create_issue"])]);
    for raw in hostile {
        let (name, why) = &all[&format!("0/{raw}")];
        assert!(name.starts_with("evil_"), "{raw}: {name}");
        assert_eq!(*why, Some(Why::Reserved(1)), "{raw}");
    }
    assert_eq!(name_of(&all, "1/create_issue"), "create_issue");
    // A reserved name belongs to its server even if another has listed it first.
    let all = shown(&rules, &vec![set(&["github_list"]), set(&["github_list"])]);
    assert_eq!((name_of(&all, "0/github_list"), name_of(&all, "1/github_list")), ("evil_github_list", "github_list"));
}

#[test]
fn a_namespace_only_matches_whole_words() {
    let rules = Rules::for_servers(&servers(&["git", "time", "other"]), false);
    let all = shown(&rules, &vec![set(&["log"]), set(&["now"]), set(&["github_search", "timeline", "digit_x"])]);
    for raw in ["github_search", "timeline", "digit_x"] {
        assert_eq!(all[&format!("2/{raw}")], (raw.to_owned(), None));
    }
}

#[test]
fn names_that_differ_only_in_case_and_separators_are_one_name() {
    let rules = Rules::for_servers(&servers(&["files", "evil"]), false);
    let all = shown(&rules, &vec![set(&["read_file", "readFile"]), set(&["Read-File", "read.file", "READFILE"])]);
    // One server may list both.
    assert_eq!((name_of(&all, "0/read_file"), name_of(&all, "0/readFile")), ("read_file", "readFile"));
    for raw in ["Read-File", "read.file", "READFILE"] {
        assert_eq!(all[&format!("1/{raw}")], (format!("evil_{raw}"), Some(Why::Taken(0))));
    }
}

#[test]
fn no_tool_gets_the_name_of_the_gateways_own_tool() {
    let rules = Rules::for_servers(&servers(&["files", "read"]), false).with_own("read_result");
    let known = vec![set(&["read_result", "Read.Result", "read"]), set(&["result"])];
    let all = shown(&rules, &known);
    assert_eq!(all["0/read_result"], ("files_read_result".to_owned(), Some(Why::Gateway)));
    assert_eq!(all["0/Read.Result"], ("files_Read.Result".to_owned(), Some(Why::Gateway)));
    // A prefixed name can be the same: it gets a hash.
    let always = Rules::for_servers(&servers(&["read"]), true).with_own("read_result");
    let all = shown(&always, &vec![set(&["result"])]);
    assert!(name_of(&all, "0/result").starts_with("read_result_"), "{all:?}");
    // A conversation that began without the reservation gives the tool another name, which stays.
    let (mut book, known) = (Book::default(), vec![set(&["read_result"])]);
    let plain = Rules::for_servers(&servers(&["files"]), false);
    let name =
        |book: &mut Book, rules: &Rules| book.assign_names(rules, &known, &wanted(&known)).remove(0).unwrap().name;
    assert_eq!(name(&mut book, &plain), "read_result");
    let own = plain.with_own("read_result");
    assert_eq!(name(&mut book, &own), "files_read_result");
    let stored = serde_json::to_string(&book).unwrap();
    assert_eq!(name(&mut serde_json::from_str(&stored).unwrap(), &own), "files_read_result");
}

#[test]
fn later_servers_are_prefixed_until_an_earlier_one_has_listed() {
    let rules = Rules::for_servers(&servers(&["slow", "fast", "last"]), false);
    let before = shown(&rules, &vec![None, set(&["search"]), set(&["fetch"])]);
    assert_eq!(before["1/search"], ("fast_search".to_owned(), Some(Why::NotListed(0))));
    assert_eq!(name_of(&before, "2/fetch"), "last_fetch");
    // Later servers do not matter, and an empty list is a list.
    assert_eq!(name_of(&shown(&rules, &vec![set(&[]), set(&["search"]), None]), "1/search"), "search");
    // The conversation keeps the prefix, a new one does not have it.
    let (mut book, after) = (Book::default(), vec![set(&["search"]), set(&["search"]), set(&["fetch"])]);
    book.assign_names(&rules, &vec![None, set(&["search"]), set(&["fetch"])], &wanted(&vec![None, set(&["search"])]));
    let names: Vec<String> =
        book.assign_names(&rules, &after, &wanted(&after)).into_iter().map(|own| own.unwrap().name).collect();
    assert_eq!(names, ["search", "fast_search", "fetch"]);
}

#[test]
fn a_tool_keeps_its_name_and_no_other_gets_it() {
    let rules = Rules::for_servers(&servers(&["github", "weather"]), false);
    let mut book = Book::default();
    let mut names = |known: &Known| -> BTreeMap<String, String> {
        let wanted = wanted(known);
        let named = book.assign_names(&rules, known, &wanted);
        let pair =
            |(own, named): (&Wanted, Option<Named>)| (format!("{}/{}", own.server, own.raw), named.unwrap().name);
        wanted.iter().zip(named).map(pair).collect()
    };
    let before = names(&vec![set(&["create_issue"]), set(&["turn", "late"])]);
    assert_eq!(before["1/late"], "late");
    // The earlier server lists a name that the later one has in this conversation.
    let after =
        names(&vec![set(&["create_issue", "late", "LATE"]), set(&["turn", "late", "create_issue", "expand_tools"])]);
    assert_eq!((after["1/late"].as_str(), after["0/late"].as_str()), ("late", "github_late"));
    assert!(after["0/LATE"].starts_with("github_"), "{after:?}");
    assert_eq!(
        (after["0/create_issue"].as_str(), after["1/create_issue"].as_str()),
        ("create_issue", "weather_create_issue")
    );
    // A meta-tool may have had this name already.
    assert_eq!(after["1/expand_tools"], "weather_expand_tools");
    // A tool that reappears has its earlier name.
    let known = vec![set(&["create_issue", "late", "LATE"]), set(&["turn", "late", "create_issue", "expand_tools"])];
    let again = book.assign_names(&rules, &known, &[Wanted { server: 1, raw: "late".to_owned() }]);
    assert_eq!(again, [Some(Named { name: "late".to_owned(), new: None })]);
    // And after the conversation is stored and resumed.
    let text = serde_json::to_string(&book).unwrap();
    let mut resumed: Book = serde_json::from_str(&text).unwrap();
    assert_eq!(resumed, book);
    let again = resumed.assign_names(&rules, &known, &[Wanted { server: 0, raw: "late".to_owned() }]);
    assert_eq!(again[0].as_ref().unwrap().name, "github_late");
}

#[test]
fn a_tool_may_have_the_name_of_a_meta_tool_from_the_start() {
    let rules = Rules::for_servers(&servers(&["only"]), false);
    let all = shown(&rules, &vec![set(&["expand_tools", "call_read", "activate_skill_2"])]);
    assert!(all.iter().all(|(tool, (name, why))| tool.ends_with(name.as_str()) && why.is_none()), "{all:?}");
}

#[test]
fn long_and_foreign_names_are_made_short_and_plain() {
    let long = "company-billing-cost-management";
    let rules = Rules::for_servers(&servers(&[long, "other"]), false);
    let a = "a".repeat(45);
    let odd = ["a b", "a/b", "a_b", "名前", "x\u{202e}y", "..", "__proto__", "mcp__a__b"];
    let twins = ["q".repeat(200), format!("{}r", "q".repeat(199)), "q".repeat(48), "q".repeat(49)];
    let own: Vec<&str> = odd.into_iter().chain(twins.iter().map(String::as_str)).chain([a.as_str()]).collect();
    let all = shown(&rules, &vec![set(&own), set(&[&a, "search_documents_by_customer_identifier"])]);
    for (tool, (name, _)) in &all {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        assert!(name.len() <= MAX_NAME && name.chars().all(fits), "{tool}: {name}");
    }
    for raw in ["a_b", "..", "__proto__", "mcp__a__b", a.as_str(), &"q".repeat(48)] {
        assert_eq!(all[&format!("0/{raw}")], (raw.to_owned(), None));
    }
    // Nothing of a name in another script would remain.
    assert!(name_of(&all, "0/名前").starts_with("company-billing-cost-management_"), "{all:?}");
    // Two names that become the same in plain characters get a hash, a single one does not.
    assert!(name_of(&all, "0/a b").starts_with("a_b_") && name_of(&all, "0/a/b").starts_with("a_b_"));
    assert_eq!(name_of(&all, "0/x\u{202e}y"), "x_y");
    assert!(name_of(&all, &format!("1/{a}")).starts_with("other_aaaa"));
    let prefixed = shown(
        &Rules::for_servers(&servers(&[long]), true),
        &vec![set(&["search_documents_by_customer_identifier", "list"])],
    );
    assert_eq!(name_of(&prefixed, "0/list"), format!("{long}_list"));
    let name = name_of(&prefixed, "0/search_documents_by_customer_identifier");
    assert!(name.len() == MAX_NAME && name.starts_with("company-billing-cos_search_documents_by"), "{name}");
}

#[test]
fn a_shortened_name_cannot_be_taken_by_listing_it() {
    let long = "company-billing-cost-management";
    let list = "search_documents_by_customer_identifier";
    let both = servers(&["evil", long, "twin"]);
    let rules = Rules::for_servers(&both, false);
    let known = |stolen: &[&str]| vec![set(&[&[list], stolen].concat()), set(&[list]), set(&[])];
    let made = name_of(&shown(&rules, &known(&[])), &format!("1/{list}")).to_owned();
    let all = shown(&rules, &known(&[made.as_str()]));
    assert_eq!(name_of(&all, &format!("1/{list}")), made);
    assert!(name_of(&all, &format!("0/{made}")).starts_with("evil_"), "{all:?}");
}

#[test]
fn nested_namespaces_share_no_name() {
    let rules = Rules::for_servers(&servers(&["a", "a_b", "c"]), true);
    let all = shown(&rules, &vec![set(&["b_c", "x"]), set(&["c"]), set(&[])]);
    assert_eq!(name_of(&all, "1/c"), "a_b_c");
    let made = name_of(&all, "0/b_c");
    assert!(made.starts_with("a_") && made.ends_with("_b_c") && made != "a_b_c", "{made}");
    assert_eq!(name_of(&all, "0/x"), "a_x");
}

#[test]
fn listed_names_are_remembered_by_server_and_connection() {
    let names = Arc::new(ListedNames::default());
    let own = server("files");
    assert_eq!(names.names_of_kind(Kind::Tools, &own), None);
    names.remember_names(Kind::Tools, &own, &["read".to_owned()]);
    names.remember_names(Kind::Tools, &own, &["write".to_owned()]);
    assert_eq!(names.names_of_kind(Kind::Tools, &own), set(&["read", "write"]));
    assert_eq!(names.names_of_kind(Kind::Prompts, &own), None);
    let mut moved = server("files");
    moved.identity = "elsewhere".to_owned();
    assert_eq!(names.names_of_kind(Kind::Tools, &moved), None);
    let many: Vec<String> = (0..super::listed::MAX_LISTED + 10).map(|number| format!("t{number}")).collect();
    names.remember_names(Kind::Tools, &own, &many);
    assert_eq!(names.names_of_kind(Kind::Tools, &own).unwrap().len(), super::listed::MAX_LISTED);
}

/// An event of a run: a server lists, or a conversation begins or is shown the tools.
#[derive(Debug, Clone)]
enum Event {
    Lists(usize, Vec<String>),
    Begins,
}

const SERVERS: [&str; 6] = ["git", "git_hub", "evil", "a", "company-billing-cost-management", "company-billing-cos"];

fn tool() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "git",
        "Git",
        "hub",
        "evil",
        "a",
        "create",
        "issue",
        "b",
        "名",
        "company-billing-cos",
    ]);
    let joint = prop::sample::select(vec!["_", "-", ".", "", " ", "__"]);
    prop_oneof![
        6 => prop::collection::vec((word, joint), 1..4)
            .prop_map(|parts| parts.into_iter().flat_map(|(word, joint)| [word, joint]).collect::<String>()),
        1 => "[a-c]{46,52}",
        1 => "[qx]{200}",
    ]
    .prop_filter("a name", |name| !name.is_empty())
}

fn events(count: usize) -> impl Strategy<Value = Vec<Event>> {
    let list = (0..count, prop::collection::vec(tool(), 0..6)).prop_map(|(at, tools)| Event::Lists(at, tools));
    prop::collection::vec(prop_oneof![3 => list, 1 => Just(Event::Begins)], 1..14)
}

/// A server's tool: the server's index, and the tool's name there.
type Tool = (usize, String);

/// Runs events and checks the names of every conversation after each. Returns what is known at the
/// end, and the names in the last conversation.
fn run(rules: &Rules, count: usize, events: &[Event]) -> (Known, BTreeMap<Tool, String>) {
    let mut known: Known = vec![None; count];
    let mut current: Vec<Vec<String>> = vec![Vec::new(); count];
    let mut books = vec![(Book::default(), HashMap::<String, Tool>::new(), HashMap::<Tool, String>::new())];
    for event in events {
        match event {
            Event::Lists(at, tools) => {
                let own = known[*at].get_or_insert_default();
                Arc::make_mut(own).extend(tools.iter().cloned());
                current[*at] = tools.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
            }
            Event::Begins => books.push(Default::default()),
        }
        let wanted: Vec<Wanted> = current
            .iter()
            .enumerate()
            .flat_map(|(server, tools)| tools.iter().map(move |raw| Wanted { server, raw: raw.clone() }))
            .collect();
        let fresh: Vec<Option<Named>> = Book::default().assign_names(rules, &known, &wanted);
        for (book, by_name, by_tool) in &mut books {
            for ((own, named), fresh) in wanted.iter().zip(book.assign_names(rules, &known, &wanted)).zip(&fresh) {
                let name = named.expect("every listed tool has a name").name;
                let tool = (own.server, own.raw.clone());
                assert!(name.len() <= MAX_NAME && name.is_ascii(), "{name}");
                let before = by_name.entry(name.clone()).or_insert_with(|| tool.clone());
                assert_eq!(*before, tool, "`{name}` now belongs to another tool");
                let before = by_tool.entry(tool.clone()).or_insert_with(|| name.clone());
                assert_eq!(*before, name, "{tool:?} has lost its name");
                let fresh = &fresh.as_ref().expect("every listed tool has a name").name;
                assert!(rules.owner(fresh).is_none_or(|owner| owner == own.server), "`{fresh}` is reserved");
                assert!(rules.owner(&name).is_none_or(|owner| owner == own.server), "`{name}` is reserved");
            }
            // Names that differ only in case and separators belong to one server.
            let mut keys: HashMap<String, usize> = HashMap::new();
            for (name, (server, _)) in by_name.iter() {
                assert_eq!(*keys.entry(comparison_key(name)).or_insert(*server), *server, "{name}");
            }
        }
    }
    let last = books.pop().map(|(_, _, by_tool)| by_tool.into_iter().collect()).unwrap_or_default();
    (known, last)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(64), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_name_never_moves_to_another_tool(events in events(SERVERS.len()), always in any::<bool>()) {
        run(&Rules::for_servers(&servers(&SERVERS), always), SERVERS.len(), &events);
    }

    #[test]
    fn names_do_not_depend_on_the_order_of_arrival(
        lists in prop::collection::vec(prop::collection::vec(tool(), 0..6), SERVERS.len()),
        order in Just((0..SERVERS.len()).collect::<Vec<usize>>()).prop_shuffle(),
        extra in events(SERVERS.len()),
    ) {
        let rules = Rules::for_servers(&servers(&SERVERS), false);
        let listing = |at: &usize| Event::Lists(*at, lists[*at].clone());
        // Every server lists something, then all list the compared names in some order.
        let all = |order: &[usize], extra: &[Event]| {
            let events: Vec<Event> = extra.iter().cloned().chain([Event::Begins]).chain(order.iter().map(listing)).collect();
            let mut events = events;
            // The conversation that is compared begins last.
            events.push(Event::Begins);
            run(&rules, SERVERS.len(), &events)
        };
        let in_order: Vec<usize> = (0..SERVERS.len()).collect();
        let reversed: Vec<Event> = extra.iter().rev().cloned().collect();
        prop_assert_eq!(all(&in_order, &extra), all(&order, &reversed));
    }

    #[test]
    fn names_are_prefixed_while_an_earlier_server_is_missing(
        lists in prop::collection::vec(prop::collection::vec(tool(), 0..6), SERVERS.len()),
        missing in 0..SERVERS.len(),
    ) {
        let rules = Rules::for_servers(&servers(&SERVERS), false);
        let listed = |(at, own): (usize, &Vec<String>)| {
            (at != missing).then(|| Arc::new(own.iter().cloned().collect::<BTreeSet<_>>()))
        };
        let known: Known = lists.iter().enumerate().map(listed).collect();
        let wanted: Vec<Wanted> = wanted(&known);
        for (own, named) in wanted.iter().zip(Book::default().assign_names(&rules, &known, &wanted)) {
            let name = named.expect("every listed tool has a name").name;
            prop_assert!(own.server < missing || rules.owner(&name) == Some(own.server), "{:?}: {}", own, name);
        }
    }
}
