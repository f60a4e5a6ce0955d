//! Real and generated input, damaged at random: nothing panics, and everything that is read can be
//! rendered with every arm.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use toolfold::catalog::{Catalog, Format};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ExpandRequest, ToolProfile};
use toolfold_testing::with;

use super::sound;
use crate::talk::Talk;
use crate::tool_lists::tool_lists;

const TOOLS: &str = include_str!("../../../profiles/excel/tools.json");
const PROFILES: [&str; 2] =
    [include_str!("../../../profiles/excel/profile.toml"), include_str!("../../../profiles/excel/original.toml")];

/// The seeds: our own tools and every collected list, the first 30 KB of each, closed again.
static SEEDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let texts = std::iter::once(TOOLS.to_owned()).chain(tool_lists().into_iter().map(|list| list.text));
    let short = texts.map(|text| match serde_json::from_str::<serde_json::Value>(&text).unwrap() {
        serde_json::Value::Array(mut list) => {
            list.truncate(8);
            serde_json::Value::Array(list).to_string()
        }
        mut other => {
            if let Some(list) = other["tools"].as_array_mut() {
                list.truncate(8);
            }
            other.to_string()
        }
    });
    short.collect()
});

/// Pieces that are difficult for parsers.
const PIECES: &[&str] = &[
    "\0",
    "\u{202e}",
    "\u{feff}",
    "\"",
    "\\",
    "\\ud800",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "1e999",
    "-0",
    "true",
    "\"$ref\":\"#\",",
    "\"$ref\":\"#/$defs/A\",",
    "\"required\":[\"a\"],",
    "\"properties\":[],",
    "\"type\":[],",
    "'",
    "\n",
    "[category.x]\n",
    "tools = ['*']\n",
    "core = ['*?*']\n",
    "é",
    "\u{10ffff}",
];

/// A damage: place, length and replacement.
#[derive(Debug, Clone)]
enum Damage {
    Cut(Index, usize),
    Insert(Index, &'static str),
    Repeat(Index, usize),
    Swap(Index, Index, usize),
    End(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        (at(), 1..40_usize).prop_map(|(at, count)| Damage::Cut(at, count)),
        (at(), prop::sample::select(PIECES)).prop_map(|(at, piece)| Damage::Insert(at, piece)),
        (at(), 1..200_usize).prop_map(|(at, count)| Damage::Repeat(at, count)),
        (at(), at(), 1..60_usize).prop_map(|(from, to, count)| Damage::Swap(from, to, count)),
        at().prop_map(Damage::End),
    ]
}

fn apply(text: &str, damages: &[Damage]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for damage in damages {
        if chars.is_empty() {
            break;
        }
        let count = chars.len();
        match damage {
            Damage::Cut(at, many) => {
                let at = at.index(count);
                chars.drain(at..(at + many).min(count));
            }
            Damage::Insert(at, piece) => {
                let at = at.index(count);
                chars.splice(at..at, piece.chars());
            }
            Damage::Repeat(at, many) => {
                let at = at.index(count);
                let again: Vec<char> = chars[at..(at + many).min(count)].to_vec();
                chars.splice(at..at, again);
            }
            Damage::Swap(from, to, many) => {
                let from = from.index(count);
                let part: Vec<char> = chars.drain(from..(from + many).min(count)).collect();
                let to = to.index(chars.len() + 1);
                chars.splice(to..to, part);
            }
            Damage::End(at) => chars.truncate(at.index(count)),
        }
    }
    chars.into_iter().collect()
}

/// Everything that was read can be shown with every arm, as JSON that contains each tool once, and
/// opened.
fn use_it(catalog: &Catalog, profile: &ToolProfile) {
    for format in Format::ALL {
        serde_json::from_str::<&serde_json::value::RawValue>(&catalog.to_json(format)).unwrap();
    }
    for arm in Arm::EVERYWHERE {
        let builder = Engine::builder(catalog.clone()).profile(profile.clone()).without_validation();
        let Ok(engine) = builder.arm(arm).build() else { continue };
        let mut session = engine.talk();
        for _ in 0..2 {
            let text = session.tools();
            let array: Vec<&serde_json::value::RawValue> = serde_json::from_str(text.json()).unwrap();
            assert!(array.len() <= catalog.len() + 2);
            let names = catalog.names().take(3).map(ToString::to_string).collect();
            session.expand(&with!(ExpandRequest::default(), categories = names, tools = vec!["\u{202e}".to_owned()]));
        }
    }
}

fn try_tools(text: &str) {
    for format in [None, Some(Format::OpenAiChat), Some(Format::Mcp)] {
        let loaded = Catalog::import(text, "tools.json", format);
        assert!(loaded.diagnostics.len() <= 51);
        loaded.diagnostics.iter().for_each(sound);
        let profile = ToolProfile::derive(&loaded.value);
        use_it(&loaded.value, &profile);
        // Compiles its schemas once instead of for each arm.
        drop(Engine::builder(loaded.value).profile(profile).arm(Arm::Full).build());
    }
}

fn try_profile(text: &str) {
    static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::from_openai(TOOLS).unwrap());
    let catalog = CATALOG.clone();
    let loaded = ToolProfile::parse(text, "profile.toml");
    loaded.diagnostics.iter().for_each(sound);
    let assigned = loaded.value.assign(&catalog);
    assigned.diagnostics.iter().for_each(sound);
    assert_eq!(assigned.value.tools.len(), catalog.len(), "every tool has its place, whatever the profile");
    if !assigned.has_errors() {
        use_it(&catalog, &loaded.value);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(128), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_as_tools(bytes in vec(any::<u8>(), 0..200)) {
        try_tools(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_pieces_as_tools(pieces in vec(prop::sample::select(PIECES), 0..60)) {
        try_tools(&pieces.concat());
    }

    #[test]
    fn damaged_real_tools(seed in any::<Index>(), damages in vec(damage(), 1..4)) {
        try_tools(&apply(seed.get::<String>(&SEEDS), &damages));
    }

    #[test]
    fn any_bytes_as_profile(bytes in vec(any::<u8>(), 0..200)) {
        try_profile(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_pieces_as_profile(pieces in vec(prop::sample::select(PIECES), 0..40)) {
        try_profile(&pieces.concat());
    }

    #[test]
    fn damaged_profiles(which in 0..2_usize, damages in vec(damage(), 1..5)) {
        try_profile(&apply(PROFILES[which], &damages));
    }
}
