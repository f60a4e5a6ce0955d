//! The lines of `corpora/cases/conversation` that showed a fault of identity, as a host would send
//! them.

use super::{Place, answers};

/// The value of `key` in the outcome of each line of a file. `None` if the corpora are absent.
fn outcomes(args: &[&str], file: &str, key: &str) -> Option<Vec<String>> {
    let place = crate::corpus("cases/conversation")?;
    let tools = place.join("blind_parallel_tools.json");
    let mut all = args.to_vec();
    if !args.contains(&"--policy") {
        all.extend(["--tools", tools.to_str().unwrap()]);
    }
    let text = std::fs::read_to_string(place.join(file)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(!lines.is_empty(), "{file} has no lines");
    let answers = answers(&all, &lines);
    let each = answers.iter().flat_map(|answer| answer["outcomes"].as_array().map_or(vec![answer.clone()], Vec::clone));
    Some(each.filter_map(|own| own[key].as_str().map(str::to_owned)).collect())
}

#[test]
fn a_call_with_a_repeated_id_requires_approval_again() {
    // With its own store: numbers of approvals in the user's store depend on earlier runs.
    let place = Place::new("repeated-id");
    let args = ["--arm", "stable", "--policy", "excel", "--store", &place.file("store.sqlite")];
    let Some(asked) = outcomes(&args, "approval_by_repeated_id.jsonl", "approval") else { return };
    assert_eq!(asked.first().zip(asked.last()), Some((&"ap-1".to_owned(), &"ap-2".to_owned())), "{asked:?}");
}

#[test]
fn of_three_blind_calls_none_runs() {
    for arm in ["lean", "stable"] {
        let Some(reasons) = outcomes(&["--arm", arm], "blind_calls_line.jsonl", "reason") else { return };
        assert_eq!(reasons, ["shown"; 3], "arm {arm}");
    }
}

/// The model repeats the call with the same id, then makes another call with it.
#[test]
fn a_call_that_was_shown_its_definition_runs_when_it_is_made_again() {
    for arm in ["lean", "stable"] {
        let Some(outcomes) = outcomes(&["--arm", arm], "kimi_ids.jsonl", "outcome") else { return };
        assert_eq!(outcomes, ["reply", "forward", "forward"], "arm {arm}");
    }
}
