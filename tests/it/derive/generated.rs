//! What holds of every derived profile, whatever the names and descriptions.

use proptest::prelude::*;

use super::{catalog, categories, faults};

/// Names of the conventions that are about, some of them meeting: the same nouns under several
/// verbs, prefixes, numbers.
fn name() -> impl Strategy<Value = String> {
    let verb = prop::sample::select(vec!["get", "list", "create", "delete", "update", "set", "search", "run", "core"]);
    let noun = prop::sample::select(vec![
        "issue",
        "issues",
        "page",
        "user",
        "core",
        "other",
        "hidden",
        "status",
        "atlas",
        "note",
        "sheet",
        "pull_request",
        "file",
        "v2",
        "7",
        "数据",
    ]);
    let more = prop::option::of(prop::sample::select(vec!["comment", "label", "2", "history", "core", "extended"]));
    let prefix = prop::sample::select(vec!["", "", "", "mcp__x__", "mcp__y__", "z_", "q.", "core__"]);
    (prefix, verb, noun, more, 0..4_u8).prop_map(|(prefix, verb, noun, more, form)| {
        let more = more.map_or_else(String::new, |more| format!("_{more}"));
        let name = match form {
            0 => format!("{noun}{more}_{verb}"),
            1 => format!("{verb}-{noun}{more}").replace('_', "-"),
            2 => noun.to_owned() + &more,
            _ => format!("{verb}_{noun}{more}"),
        };
        format!("{prefix}{name}")
    })
}

fn tools() -> impl Strategy<Value = Vec<(String, String)>> {
    let text = prop::sample::select(vec![
        "",
        "Reads a file.",
        "Only use when asked. Deletes the issue.",
        "Lists the pages of a space.",
        "⚠️ WARNING",
        "Part of the shop. Sells.",
    ]);
    prop::collection::btree_map(name(), text.prop_map(str::to_owned), 0..90)
        .prop_map(|tools| tools.into_iter().collect())
}

fn borrowed(tools: &[(String, String)]) -> Vec<(&str, &str)> {
    tools.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(192), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_derived_profile_is_valid(tools in tools()) {
        prop_assert_eq!(faults(&catalog(&borrowed(&tools))), Vec::<String>::new());
    }

    #[test]
    fn the_order_of_tools_does_not_matter((tools, other) in tools().prop_flat_map(|tools| (Just(tools.clone()), Just(tools).prop_shuffle()))) {
        prop_assert_eq!(categories(&catalog(&borrowed(&tools))), categories(&catalog(&borrowed(&other))));
    }

    /// What is done to one thing stays together: a noun's tools are in one category.
    #[test]
    fn pairs_stay_together(nouns in prop::collection::btree_set("[b-df-hj-np-tv-xz]{3}o[b-df-hj-np-tv-xz]{3}", 4..40)) {
        let names: Vec<String> = nouns.iter().flat_map(|noun| [format!("set_{noun}"), format!("delete_{noun}")]).collect();
        let tools: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        let found = categories(&catalog(&tools));
        for noun in &nouns {
            let having = found.values().filter(|tools| tools.iter().any(|tool| tool.ends_with(noun.as_str()))).count();
            prop_assert_eq!(having, 1, "{} in {:#?}", noun, found);
        }
    }
}
