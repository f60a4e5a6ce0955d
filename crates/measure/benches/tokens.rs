//! The tokens of every arm by tiktoken, on the first turn and for each expanded category: of the
//! built-in tools and, where they are present, of the lists of the corpora.
//! `cargo bench --bench tokens` prints them. The first-turn figures of README are among them, and
//! `crates/measure/tests/it` compares those of the built-in tools exactly.
#![allow(missing_docs, reason = "benches document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the corpora")]

use std::fmt::Write;
use std::path::Path;

use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, CacheRules, ToolProfile};
use toolfold::tokens::Meter;
use toolfold::wire::{Capabilities, Wire};
use toolfold_measure::prices::PriceTable;
use toolfold_measure::report::{Priced, ProfileInfo, Setup, measure};
use toolfold_measure::sim::Backend;

/// The model of `toolfold report` without flags.
const MODEL: &str = "gpt-5.4";

fn main() {
    println!("{}", builtin());
    let lists = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/mcp");
    let Ok(entries) = std::fs::read_dir(&lists) else {
        println!("the corpora are not here: {}", lists.display());
        return;
    };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|own| own == "json")) {
        let text = std::fs::read_to_string(file).expect("a list can be read");
        let catalog = Catalog::import(&text, "a list", None).value;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        println!("{}", figures(&name, catalog, None));
    }
}

/// The figures of the built-in tools under their profile.
pub(crate) fn builtin() -> String {
    let catalog = Catalog::from_openai(include_str!("../../../profiles/excel/tools.json")).expect("our own list");
    let profile = include_str!("../../../profiles/excel/profile.toml");
    let profile = ToolProfile::parse(profile, "profile.toml").into_result().expect("our own profile");
    figures("built-in", catalog, Some(profile))
}

/// The figures of a list; without a profile under the one that is derived from it.
fn figures(name: &str, catalog: Catalog, profile: Option<ToolProfile>) -> String {
    let (tools, derived) = (catalog.len(), profile.is_none());
    let profile = profile.unwrap_or_else(|| ToolProfile::derive(&catalog));
    let info = ProfileInfo::new(&profile.name, derived);
    let builder = Engine::builder(catalog).profile(profile).arm(Arm::Full).without_validation();
    let engine = builder.build().expect("a list and its profile");
    let meter = Meter::for_wire(Wire::OpenAiChat.name(), MODEL).expect("a model of OpenAI");
    let backend = Backend::new(Wire::OpenAiChat, Some(MODEL), Capabilities::builtin());
    let row = PriceTable::builtin().row_for_model(MODEL);
    let mut setup =
        Setup::new(&engine, backend, &meter, Priced::new(MODEL, MODEL, row, (CacheRules::default(), "")), info);
    setup.arms = &Arm::EVERYWHERE;
    let report = measure(&setup).expect("tokens of OpenAI can be counted");
    let mut text = format!("{name}: {tools} tools, {}\n  first turn\n", report.meter);
    for (arm, cost) in &report.arms {
        let (tokens, saved) = (cost.first_turn_tokens, cost.saved * 100.0);
        writeln!(text, "    {arm:<10} {tokens:>7}  {saved:>5.1} % less").expect("text can be written");
    }
    for (arm, cost) in report.arms.iter().filter(|(_, cost)| !cost.expansions.is_empty()) {
        writeln!(text, "  expansions in arm {arm}: tokens in messages, in the array").expect("text can be written");
        for (category, own) in &cost.expansions {
            writeln!(text, "    {category:<24} {:>6} {:>6}", own.messages, own.array).expect("text can be written");
        }
    }
    text
}
