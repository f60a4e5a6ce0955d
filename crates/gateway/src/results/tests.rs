use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::read::Arguments;
use super::*;
use crate::object::{Object, elements};
use crate::rpc::raw;

const QUOTA: Quota = Quota { one: 1 << 20, total: 1 << 22, keep: Duration::from_secs(60) };

/// A store in which a token has four bytes.
fn large() -> LargeResults {
    LargeResults::new(Arc::new(MemoryResults::new(QUOTA)), None, QUOTA)
}

fn owner(tenant: &str, session: &str) -> Owner {
    Owner { seal: Seal::from_key(&[7; 32]), tenant: tenant.into(), session: session.to_owned() }
}

fn one() -> Owner {
    owner("default", "one")
}

fn result(content: &Value) -> Raw {
    raw(&json!({"content": content}))
}

fn texts(result: &Raw) -> Vec<String> {
    let content = Object::from_json(result).map(|own| elements(own.get("content"))).unwrap_or_default();
    content.iter().filter_map(|block| Object::from_json(block)?.read_as("text")).collect()
}

/// The id that a shortened text names.
fn id_in(text: &str) -> String {
    let (_, rest) = text.split_once(r#"{"id":""#).unwrap_or_else(|| panic!("no id: {text}"));
    rest.split('"').next().unwrap().to_owned()
}

fn shortened(large: &LargeResults, limit: usize, result: &Raw) -> shorten::Shortened {
    large.shortened(&one(), limit, false, result).unwrap().unwrap()
}

fn read(large: &LargeResults, owner: &Owner, arguments: &Value) -> Result<String, String> {
    large.read(owner, &Arguments::from_json(&arguments.to_string())?)
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|number| format!("line {number} of many\n")).collect()
}

#[test]
fn a_long_text_is_replaced_by_its_ends_and_its_size() {
    let (large, text) = (large(), numbered(2_000));
    let own = shortened(&large, 500, &result(&json!([{"type": "text", "text": text}])));
    let short = texts(&own.result).remove(0);
    assert!(short.starts_with("line 1 of many\n") && short.ends_with("line 2000 of many\n"), "{short}");
    let size = format!("{} tokens, 2000 lines and {} bytes", text.len().div_ceil(4), text.len());
    assert!(short.contains(&size), "{short}");
    assert!(large.tokens(&short) <= 500 && own.left <= 500, "{} {}", large.tokens(&short), own.left);
    // What is left out begins and ends at the stated lines.
    let (head, rest) = short.split_once("[Lines ").unwrap();
    let (first, rest) = rest.split_once(" to ").unwrap();
    let last: usize = rest.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(head.lines().count() + 1, first.parse::<usize>().unwrap());
    assert!(short.contains(&format!("]\nline {} of many\n", last + 1)), "{short}");
}

#[test]
fn short_results_and_results_without_texts_stay_as_they_are() {
    let large = large();
    for content in [
        json!([{"type": "text", "text": "x".repeat(2_000)}]),
        json!([{"type": "image", "data": "A".repeat(9_000), "mimeType": "image/png"}]),
        json!([]),
        json!("no list"),
        json!([{"type": "text"}, 3]),
    ] {
        assert!(large.shortened(&one(), 500, true, &result(&content)).unwrap().is_none(), "{content}");
    }
    assert!(large.shortened(&one(), 500, true, &raw("text")).unwrap().is_none());
}

#[test]
fn several_texts_become_one_and_other_content_stays() {
    let (large, image) = (large(), json!({"type": "image", "data": "A".repeat(9_000), "mimeType": "image/png"}));
    let content = json!([
        {"type": "text", "text": "first\n".repeat(300), "annotations": {"priority": 1.0}},
        image,
        {"type": "text", "text": "second\n".repeat(300)},
        {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/x", "text": "third\n".repeat(900)}},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "short"}},
    ]);
    let before = raw(&json!({"content": content, "isError": true, "x-vendor": 1.50, "_meta": {"a": 1}}));
    let own = shortened(&large, 500, &before);
    let after: Value = serde_json::from_str(own.result.get()).unwrap();
    assert_eq!(
        (&after["isError"], &after["x-vendor"], &after["_meta"]),
        (&json!(true), &json!(1.50), &json!({"a": 1}))
    );
    let blocks = after["content"].as_array().unwrap();
    assert_eq!(blocks.len(), 4, "{after}");
    assert_eq!((&blocks[0]["annotations"], &blocks[1]), (&json!({"priority": 1.0}), &image));
    assert_eq!(blocks[3], content[4], "a short resource");
    let (text, resource) = (blocks[0]["text"].as_str().unwrap(), &blocks[2]["resource"]);
    assert!(text.starts_with("first\n") && text.ends_with("second\n"), "{text}");
    assert_eq!((&resource["uri"], &resource["mimeType"]), (&json!("file:///a"), &json!("text/x")));
    let third = resource["text"].as_str().unwrap();
    assert!(third.contains("900 lines"), "{third}");
    // Both are read with their own ids.
    let said = read(&large, &one(), &json!({"id": id_in(text), "from": 301, "lines": 1})).unwrap();
    assert_eq!(said, "[Lines 301 to 301 of 600; the next is 302]\nsecond\n");
    let said = read(&large, &one(), &json!({"id": id_in(third), "from": 900})).unwrap();
    assert_eq!(said, "[Lines 900 to 900 of 900]\nthird\n");
}

#[test]
fn structured_content_is_left_alone_and_counted() {
    let (large, rows) = (large(), json!({"rows": vec!["value"; 3_000]}));
    let before = raw(&json!({"content": [], "structuredContent": rows}));
    let own = shortened(&large, 500, &before);
    assert_eq!((own.result.get(), own.tokens), (before.get(), own.left));
    assert!(own.tokens > 500);
    let before = raw(&json!({"content": [{"type": "text", "text": rows.to_string()}], "structuredContent": rows}));
    let own = shortened(&large, 500, &before);
    let after: Value = serde_json::from_str(own.result.get()).unwrap();
    assert_eq!(after["structuredContent"], rows);
    assert!(own.left < own.tokens && texts(&own.result)[0].contains("left out"), "{}", own.left);
}

#[test]
fn a_link_is_added_where_the_protocol_has_links() {
    let (large, own) = (large(), one());
    let before = result(&json!([{"type": "text", "text": numbered(1_000)}]));
    let after = large.shortened(&own, 500, true, &before).unwrap().unwrap().result;
    let after: Value = serde_json::from_str(after.get()).unwrap();
    let id = id_in(after["content"][0]["text"].as_str().unwrap());
    assert_eq!(after["content"][1]["type"], "resource_link", "{after}");
    assert_eq!(after["content"][1]["uri"], json!(format!("{SCHEME}{id}")));
    assert_eq!(large.stored(&own, &id).unwrap().text, numbered(1_000));
}

#[test]
fn ids_are_of_one_tenant_and_session() {
    let large = large();
    let own = shortened(&large, 500, &result(&json!([{"type": "text", "text": numbered(1_000)}])));
    let id = id_in(&texts(&own.result)[0]);
    assert!(read(&large, &one(), &json!({"id": id})).is_ok());
    let unknown = |id: &str, owner: &Owner| read(&large, owner, &json!({"id": id})).unwrap_err().replace(id, "ID");
    let said = unknown("0000000000000000", &one());
    assert!(said.contains("no result `ID`"), "{said}");
    for other in [owner("default", "two"), owner("ada", "one")] {
        assert_eq!(unknown(&id, &other), said);
    }
    let other_key = Owner { seal: Seal::from_key(&[8; 32]), ..one() };
    assert_eq!(unknown(&id, &other_key), said);
}

#[test]
fn lines_are_read_in_parts_that_fit() {
    let large = large();
    let (text, id) = stored(&large, &numbered(3_000));
    let (mut from, mut all) = (1, String::new());
    for _ in 0..100 {
        let said = read(&large, &one(), &json!({"id": id, "from": from})).unwrap();
        let (head, part) = said.split_once("]\n").unwrap();
        assert!(large.tokens(part) <= 500, "{head}");
        all.push_str(part);
        match head.split_once("the next is ") {
            Some((_, next)) => from = next.parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(all, text);
    for (arguments, why) in [
        (json!({"id": id, "from": 3_001}), "has 3000 lines"),
        (json!({"id": id, "from": 0}), "begin at 1"),
        (json!({"id": id, "from": -1}), "invalid"),
        (json!({"from": 1}), "id"),
        (json!({"id": id, "to": 3}), "to"),
        (json!([]), "invalid"),
    ] {
        let said = read(&large, &one(), &arguments).unwrap_err();
        assert!(said.contains(why), "{arguments}: {said}");
    }
}

fn stored(large: &LargeResults, text: &str) -> (String, String) {
    let own = shortened(large, 500, &result(&json!([{"type": "text", "text": text}])));
    (text.to_owned(), id_in(&texts(&own.result)[0]))
}

#[test]
fn matching_lines_are_found_with_their_numbers() {
    let large = large();
    let (_, id) = stored(&large, &numbered(3_000));
    let grep = |arguments: &Value| {
        let mut own = json!({"id": id});
        own.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        read(&large, &one(), &own)
    };
    let said = grep(&json!({"grep": "^line 17?8 "})).unwrap();
    assert_eq!(said, "[2 matching lines in lines 1 to 3000 of 3000]\n18: line 18 of many\n178: line 178 of many\n");
    assert_eq!(
        grep(&json!({"grep": "(?i)MANY$", "from": 2_999, "lines": 1})).unwrap(),
        "[1 matching lines in lines 2999 to 2999 of 3000; to search on, use from 3000]\n2999: line 2999 of many\n"
    );
    assert_eq!(grep(&json!({"grep": "absent"})).unwrap(), "[0 matching lines in lines 1 to 3000 of 3000]\n");
    // All lines match: as many as fit are returned, and the search can go on after them.
    let said = grep(&json!({"grep": "line"})).unwrap();
    let (head, rows) = said.split_once("]\n").unwrap();
    let next: usize = head.split_once("use from ").unwrap().1.parse().unwrap();
    assert!(large.tokens(rows) <= 500 && rows.lines().count() == next - 1, "{head}");
    for (pattern, why) in
        [("(", "not a regular expression"), ("(a)\\1", "not a regular expression"), ("(?=a)", "not a")]
    {
        let said = grep(&json!({"grep": pattern})).unwrap_err();
        assert!(said.contains(why) && !said.contains('\n'), "{pattern}: {said}");
    }
    for (pattern, why) in [("(?:\\pL{50}){50}", "too complex"), (&"a".repeat(201), "more than 200 characters")] {
        let said = grep(&json!({"grep": pattern})).unwrap_err();
        assert!(said.contains(why), "{pattern}: {said}");
    }
}

#[test]
fn a_text_without_line_breaks_is_shown_and_searched_in_parts() {
    let large = large();
    let text = format!("{}needle{}", "é".repeat(10_000), "日本".repeat(4_000));
    let (_, id) = stored(&large, &text);
    let said = read(&large, &one(), &json!({"id": id, "grep": "é+needle日"})).unwrap();
    let row = said.lines().nth(1).unwrap_or_default();
    assert!(said.starts_with("[") && row.contains(": é"), "{said}");
    // A pattern for the beginning of a line does not match at the beginning of each part.
    let said = read(&large, &one(), &json!({"id": id, "grep": "^é"})).unwrap();
    assert!(said.starts_with("[1 matching"), "{said}");
}

#[test]
fn searches_of_evil_patterns_end() {
    let large = large();
    // Pseudo-random letters: few states of a search come twice.
    let (mut state, mut text) = (1_u32, String::new());
    for at in 0..900_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push(if at % 300 == 299 {
            '\n'
        } else if state >> 31 == 0 {
            'a'
        } else {
            'b'
        });
    }
    let (_, id) = stored(&large, &text);
    for pattern in [
        "(a+)+$",
        "(a|a)*c",
        "(?:a?){80}a{80}c",
        "(.*)(.*)(.*)(.*)c",
        "(?:a|b|ab)*c",
        "(?:a?){700}a{700}c",
        "(?:a?){4000}a{4000}c",
        "(?:a?){4000}a{4000}$",
        r"\w{1,4}\W\d+\s(?:\w|\d| )*x",
        r"(?:\w?\s?\d?){8}x",
        "[ab]*a[ab]{250}[^ab]",
        "[ab]*a[ab]{2000}[^ab]",
        "(?:[ab]?){900}[ab]{900}[^ab]",
        r"(?:\w*a\w{9}){9}\W",
    ] {
        let said = read(&large, &one(), &json!({"id": id, "grep": pattern}));
        let said = said.unwrap_or_else(|why| why);
        assert!(said.contains(" matching lines in ") || said.contains("too complex"), "{pattern}: {said}");
    }
}

#[test]
fn only_the_beginning_of_a_huge_text_is_stored() {
    let quota = Quota { one: 1_000, ..QUOTA };
    let large = LargeResults::new(Arc::new(MemoryResults::new(quota)), None, quota);
    let own = shortened(&large, 500, &result(&json!([{"type": "text", "text": "é\n".repeat(5_000)}])));
    let short = texts(&own.result).remove(0);
    assert!(short.contains("Only its first 999 bytes were stored."), "{short}");
    assert_eq!(large.stored(&one(), &id_in(&short)).unwrap().text.len(), 999);
}

#[test]
fn the_oldest_results_make_room() {
    let quota = Quota { total: 100_000, ..QUOTA };
    let large = LargeResults::new(Arc::new(MemoryResults::new(quota)), None, quota);
    let ids: Vec<String> = (0..4).map(|_| stored(&large, &numbered(2_000)).1).collect();
    let is_there = |id: &String| read(&large, &one(), &json!({"id": id})).is_ok();
    assert_eq!(ids.iter().map(is_there).collect::<Vec<_>>(), [false, false, true, true]);
    let said = read(&large, &one(), &json!({"id": ids[0]})).unwrap_err();
    assert!(said.contains("to make room") && said.contains("Call the tool again"), "{said}");
}

#[test]
fn tokens_are_counted_up_to_64_kib_and_estimated_above() {
    let counted = Arc::new(AtomicUsize::new(0));
    let own = counted.clone();
    let meter = Meter::new("words", move |text| {
        own.fetch_add(1, Ordering::Relaxed);
        text.split_whitespace().count()
    });
    let large = LargeResults::new(Arc::new(MemoryResults::new(QUOTA)), Some(meter), QUOTA);
    assert_eq!((large.tokens("a b c"), counted.load(Ordering::Relaxed)), (3, 1));
    let text = "x".repeat(COUNTED + 1);
    assert_eq!((large.tokens(&text), counted.load(Ordering::Relaxed)), (16_385, 1));
}

#[test]
fn the_size_of_large_texts_is_recorded_without_images() {
    let text = |bytes| result(&json!([{"type": "text", "text": "x".repeat(bytes)}]));
    let image = result(&json!([{"type": "image", "data": "x".repeat(LARGE)}, {"type": "text", "text": "abc"}]));
    let sizes = [text_bytes(&text(100)), text_bytes(&text(LARGE)), text_bytes(&image)];
    assert_eq!(sizes, [0, LARGE + 2, 5]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(64), failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the text: the parts are of the text, fit, and leave out what is stated.
    #[test]
    fn the_ends_of_a_text_fit(parts in proptest::collection::vec("[a-zé日\\n\\u{10ffff}]{0,600}", 0..40)) {
        let text = parts.concat();
        let weigh = |text: &str| text.chars().count();
        prop_assert_eq!(cut::lines(&text).collect::<String>(), text.clone());
        prop_assert!(cut::lines(&text).all(|line| line.len() <= cut::MAX_LINE && !line.is_empty()));
        let own = cut::ends(&text, 350, &weigh);
        prop_assert!(text.starts_with(own.head) && text.ends_with(own.tail));
        prop_assert!(weigh(own.head) + weigh(own.tail) <= 350);
        prop_assert!(own.head.len() + own.tail.len() <= text.len());
        prop_assert_eq!(cut::lines(&text).count(), own.lines);
        prop_assert_eq!(cut::lines(own.head).count(), own.head_lines);
        let (part, read) = cut::beginning(&text, 7, 350, &weigh);
        prop_assert!(text.starts_with(part) && read <= 7 && cut::lines(part).count() == read);
        prop_assert!(read == 1 || weigh(part) <= 350);
    }

    /// No arguments cause a panic.
    #[test]
    fn any_arguments_are_answered(text in "\\PC{0,300}", from in 0_usize..9, lines in 0_usize..9, grep in "\\PC{0,12}") {
        let large = large();
        let id = large.keep(&one(), 500, &text).unwrap();
        let said = read(&large, &one(), &json!({"id": id, "from": from, "lines": lines, "grep": grep}));
        prop_assert!(!said.unwrap_or_else(|why| why).is_empty());
        let own: Box<RawValue> = RawValue::from_string(json!(text).to_string()).unwrap();
        prop_assert!(Arguments::from_json(own.get()).is_err());
    }
}
