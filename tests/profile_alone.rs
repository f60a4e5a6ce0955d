//! Proof 2 of orthogonality: layer 1 compiles with nothing of ours but the modules that it may
//! name.
#![allow(missing_docs, dead_code, unreachable_pub, unused_imports, reason = "a part of the library, seen from a test")]
#![deny(unsafe_code)]

#[path = "../src"]
mod layer {
    pub mod catalog;
    pub mod error;
    pub mod profile;
    pub mod schema;
}
/// It names nothing of ours but the catalogue, so that its unit tests are compiled with it.
#[path = "../src/wire/arguments.rs"]
mod arguments;
/// They name nothing of ours but this layer, so that their unit tests are compiled with it.
#[path = "../src/engine/declared.rs"]
mod declared;
/// It names nothing of ours but this layer, so that its unit tests are compiled with it.
#[path = "../src/engine/memo.rs"]
mod memo;
#[path = "../src/wire/outside.rs"]
mod outside;
#[path = "../src/conversation"]
mod conversation {
    pub(crate) mod repair;
}
use layer::{catalog, error, profile, schema};
use toolfold_diagnostic::{diagnostic, name, search};

#[test]
fn a_plan_needs_no_engine() {
    let words = "The workbook: a path below the working folder. ".repeat(20);
    let text = r#"[{"name":"list_sheets","input_schema":{"type":"object","properties":{"file":{"type":"string"}}}},
        {"name":"format_cells","description":"Set fonts. Fills, borders and number formats as well; see the list of them.",
         "input_schema":{"type":"object","properties":{"file":{"type":"string","description":"WORDS"}}}}]"#;
    let catalog = catalog::Catalog::from_anthropic(&text.replace("WORDS", &words)).unwrap();
    let profile = profile::ToolProfile::parse("core = ['list_*']\n[category.format]\ntools = ['format_*']", "p.toml");
    assert_eq!(profile.diagnostics, []);
    let assignment = profile.value.assign(&catalog).into_result().unwrap();
    let presentation = profile::Presentation::new(&catalog, &assignment, profile::Arm::Stable);
    let plan = presentation.plan(&catalog, &assignment, &profile::Expanded::default());
    let details: Vec<_> = plan.tools.iter().copied().map(|planned| planned.detail).collect();
    assert_eq!(details, [profile::Detail::Full, profile::Detail::Summary]);
}
