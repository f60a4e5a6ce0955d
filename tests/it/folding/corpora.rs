//! What folding costs on every real tool list, in billed tokens.

use serde_json::Value;
use toolfold::catalog::{Catalog, Tool};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, Detail, Folded, ToolProfile};
use toolfold::tokens::{Encoding, Meter, Tiktoken};
use toolfold::wire::{Wire, chat_tool};
use toolfold_testing::{Cases, sample};

use crate::talk::Talk;
use crate::tool_lists::tool_lists;

fn billed(tools: &[Value]) -> usize {
    Meter::default().tool_texts(tools).unwrap().total(&Tiktoken::new(Encoding::O200kBase))
}

fn array(engine: &Engine) -> Vec<Value> {
    engine.talk_on(Wire::OpenAiChat).tools().to().unwrap()
}

/// What one tool is billed at a detail.
fn one(tool: &Tool, detail: Detail) -> usize {
    let text = chat_tool(&Folded::new(tool, detail, None));
    billed(&[serde_json::from_str(&text).unwrap()])
}

/// The arms that fold under a wire that defers nothing itself.
fn arms() -> impl Iterator<Item = Arm> {
    Arm::EVERYWHERE.into_iter().filter(|arm| *arm != Arm::Full)
}

/// What a catalogue is billed whole, and under each arm, with whether that arm folds anything.
fn bills(catalog: &Catalog) -> (usize, Vec<(Arm, usize, bool)>) {
    let profile = ToolProfile::derive(catalog);
    let engine = |arm| {
        let builder = Engine::builder(catalog.clone()).profile(profile.clone()).without_validation();
        builder.arm(arm).build().unwrap()
    };
    let folded = |arm| {
        let engine = engine(arm);
        (arm, billed(&array(&engine)), !engine.presentation(arm).meta_tools.is_empty())
    };
    (billed(&array(&engine(Arm::Full))), arms().map(folded).collect())
}

/// The catalogues of the corpora.
fn catalogs() -> impl Iterator<Item = (String, Catalog)> {
    sample(tool_lists(), 8).into_iter().map(|list| {
        let catalog = Catalog::import(&list.text, &list.name, None).into_result().unwrap();
        (list.name, catalog)
    })
}

#[test]
fn corpus_folded_arrays_cost_at_most_the_full_one() {
    for (name, catalog) in catalogs() {
        let (whole, arms) = bills(&catalog);
        let mut line = format!("{name}: {} tools, full {whole}", catalog.len());
        for (arm, folded, _) in arms {
            assert!(folded <= whole, "{name} {arm}: {folded} is more than {whole}");
            line += &format!(", {arm} {folded}");
        }
        println!("{line}");
    }
}

/// One tool alone is where meta-tools are hardest to pay for.
#[test]
fn corpus_folded_tools_cost_at_most_the_full_one() {
    let (mut folds, mut all) = (0, 0);
    for (name, catalog) in catalogs() {
        for at in sample(0..catalog.len(), 8) {
            let kept: Vec<bool> = (0..catalog.len()).map(|other| other == at).collect();
            let alone = catalog.filtered(&kept);
            let (whole, arms) = bills(&alone);
            for (arm, folded, is_folded) in arms {
                let tool = alone.at(0).unwrap().name();
                assert!(folded <= whole, "{name}/{tool} {arm}: {folded} is more than {whole}");
                assert!(is_folded || folded == whole, "{name}/{tool} {arm}: nothing folded is the whole");
                (folds, all) = (folds + usize::from(is_folded), all + 1);
            }
        }
    }
    println!("one tool alone: folded in {folds} of {all} cases, never billed more");
    assert!(
        all == 0 || Cases::of_this_run().is_quick() || folds * 10 > all * 3,
        "folding a single long tool pays in many cases"
    );
}

#[test]
fn corpus_details_cost_at_most_a_richer_one() {
    let mut count = 0;
    for (name, catalog) in catalogs() {
        for tool in catalog.iter() {
            let details = [Detail::Full, Detail::Signature, Detail::Outline, Detail::Required];
            let [full, signature, outline, required] = details.map(|detail| one(tool, detail));
            let costs = format!("required {required}, outline {outline}, signature {signature}, full {full}");
            let ordered = required <= outline && outline <= signature && signature <= full;
            assert!(ordered, "{name}/{}: {costs}", tool.name());
            count += 1;
        }
    }
    println!("{count} tools, none billed more at a poorer detail");
}
