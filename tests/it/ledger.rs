//! The token ledger: the cost of every arm in the Excel domain, compared exactly. Changes are
//! reviewed as diffs.

use std::fmt::Write;

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ExpandRequest, Tier, ToolProfile};
use toolfold::tokens::{Encoding, Meter, Tiktoken, TokenCounter};
use toolfold::wire::Wire;
use toolfold_testing::with;

use crate::talk::Talk;
use crate::{corpus, project};

/// An engine that only shows tools needs no compiled schemas.
fn unchecked(catalog: &Catalog, profile: &ToolProfile, arm: Arm) -> Engine {
    toolfold_testing::timed();
    let builder = Engine::builder(catalog.clone()).profile(profile.clone()).arm(arm);
    builder.without_validation().build().unwrap()
}

fn first_turn(catalog: &Catalog, profile: &ToolProfile, arm: Arm) -> usize {
    let engine = unchecked(catalog, profile, arm);
    let tools: Vec<Value> = engine.talk_on(Wire::OpenAiChat).tools().to().unwrap();
    Meter::default().tool_texts(&tools).unwrap().total(&Tiktoken::new(Encoding::O200kBase))
}

fn profile(file: &str) -> ToolProfile {
    ToolProfile::parse(&project(file), file).into_result().unwrap()
}

#[test]
fn ledger_of_the_excel_domain() {
    let catalog = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let mut text = format!("meter: {}\n", Meter::default());
    for file in ["profiles/excel/profile.toml", "profiles/excel/original.toml"] {
        let profile = profile(file);
        writeln!(text, "\n{file}\n  first turn").unwrap();
        for arm in Arm::EVERYWHERE {
            writeln!(text, "    {:<10} {:>6}", arm.name(), first_turn(&catalog, &profile, arm)).unwrap();
        }
        writeln!(text, "  reply to expand_tools, arm stable, plain text").unwrap();
        let engine = Engine::builder(catalog.clone()).profile(profile).arm(Arm::Stable).build().unwrap();
        for entry in &engine.presentation(Arm::Stable).deferred {
            let request = with!(ExpandRequest::default(), categories = vec![entry.category.to_string()]);
            let reply = engine.talk().expand(&request).reply;
            let tokens = Tiktoken::new(Encoding::O200kBase).count(&reply);
            writeln!(text, "    {:<20} {tokens:>6}", entry.category.as_str()).unwrap();
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../benches/ledger");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_description("tokens per arm on the built-in Excel domain; review every change");
    settings.bind(|| insta::assert_snapshot!("excel", text));
}

/// The budgets of our own domain: shorter descriptions, no omissions.
#[test]
fn budgets_of_the_excel_domain() {
    let catalog = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let profile = profile("profiles/excel/profile.toml");
    for (arm, most) in [
        (Arm::Full, 8_500),
        (Arm::Stable, 2_700),
        (Arm::Lean, 2_450),
        (Arm::Outline, 3_250),
        (Arm::Kept, 4_050),
        (Arm::Search, 1_700),
    ] {
        let tokens = first_turn(&catalog, &profile, arm);
        assert!(tokens <= most, "{arm}: {tokens} > {most}");
    }
}

/// The first-turn budgets of the original domain.
#[test]
fn corpus_budgets_of_the_original_domain() {
    let Some(file) = corpus("excelmanus/tools.json") else { return };
    let catalog = Catalog::from_openai(&std::fs::read_to_string(file).unwrap()).unwrap();
    let split = profile("profiles/excel/original.toml");
    assert_eq!(first_turn(&catalog, &split, Arm::Full), 9_620);
    for (arm, most) in [(Arm::Stable, 5_000), (Arm::Lean, 3_100), (Arm::Index, 4_400)] {
        let tokens = first_turn(&catalog, &split, arm);
        println!("original split, arm {arm}: {tokens} (at most {most})");
        assert!(tokens <= most, "{arm}: {tokens} > {most}");
    }
    let without_core = project("profiles/excel/original.toml");
    let start = without_core.find("core = [").unwrap();
    let end = start + without_core[start..].find(']').unwrap() + 1;
    let without_core = format!("{}core = []{}", &without_core[..start], &without_core[end..]);
    for profile in [ToolProfile::parse(&without_core, "p").into_result().unwrap(), ToolProfile::derive(&catalog)] {
        let tokens = first_turn(&catalog, &profile, Arm::Signature);
        println!("no core, arm signature under {}: {tokens} (at most 4200)", profile.name);
        assert!(tokens <= 4_200, "{tokens}");
    }
}

/// The savings over the 20 servers with derived profiles, which may only rise.
#[test]
fn corpus_savings_over_the_servers() {
    let Some(folder) = corpus("mcp") else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let arms = [Arm::Full, Arm::Lean, Arm::Outline, Arm::Signature, Arm::Stable];
    let mut sums = [0_usize; 5];
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let catalog = Catalog::import(&text, "tools.json", None).into_result().unwrap();
        let profile = ToolProfile::derive(&catalog);
        for (sum, arm) in sums.iter_mut().zip(arms) {
            *sum += first_turn(&catalog, &profile, arm);
        }
    }
    let [full, folded @ ..] = sums;
    for ((arm, tokens), floor) in arms.into_iter().skip(1).zip(folded).zip([812, 719, 678, 883]) {
        let saved = 1_000 - (tokens * 1_000).div_ceil(full);
        println!("{arm}: {tokens} of {full} over {} servers, {}.{} % saved", files.len(), saved / 10, saved % 10);
        assert!(saved >= floor, "{arm}: {saved} < {floor} thousandths");
    }
}

/// Tools of all servers, with the names that hosts join from the server and the tool.
fn joined_servers() -> Option<Vec<Value>> {
    let mut files: Vec<_> = std::fs::read_dir(corpus("mcp")?).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut tools = Vec::new();
    for file in &files {
        let list: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let server = file.file_stem().unwrap().to_str().unwrap();
        for tool in list.as_array().unwrap_or_else(|| list["tools"].as_array().unwrap()) {
            let mut tool = tool.clone();
            tool["name"] = format!("{server}__{}", tool["name"].as_str().unwrap()).into();
            tools.push(tool);
        }
    }
    Some(tools)
}

fn derived_first_turn(tools: &Value, arm: Arm) -> usize {
    let catalog = Catalog::import(&tools.to_string(), "tools.json", None).into_result().unwrap();
    first_turn(&catalog, &ToolProfile::derive(&catalog), arm)
}

/// Arm `index` names each tool once. With a category's description of tool names, an `enum` of the
/// categories and a prefix in each name, the servers had 9,293 tokens, and joined 9,335.
#[test]
fn corpus_index_names_each_tool_once() {
    let Some(folder) = corpus("mcp") else { return };
    let mut sum = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        sum += derived_first_turn(&serde_json::from_str(&text).unwrap(), Arm::Index);
    }
    let joined = derived_first_turn(&Value::Array(joined_servers().unwrap()), Arm::Index);
    println!("arm index: {sum} tokens over 20 servers, {joined} joined");
    assert_eq!((sum, joined), (6_546, 4_635));
}

/// Arm `search` has a limited size for any number of tools.
#[test]
fn corpus_arm_search_is_bounded() {
    let Some(file) = corpus("retrieval/livemcpbench_tools.json") else { return };
    let list: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut tools: Vec<Value> = Vec::new();
    for region in ["", "-eu", "-us", "-asia", "-test", "-old"] {
        for tool in list["tools"].as_array().unwrap() {
            let mut tool = tool.clone();
            tool["name"] = tool["name"].as_str().unwrap().replacen("__", &format!("{region}__"), 1).into();
            tools.push(tool);
        }
    }
    for (count, exact) in toolfold_testing::sample([(1_000, 857), (527, 692), (2_792, 798)], 1) {
        let tokens = derived_first_turn(&json!(tools[..count]), Arm::Search);
        println!("arm search, {count} tools: {tokens}");
        assert!(tokens <= 1_300, "{tokens}");
        assert_eq!(tokens, exact, "{count} tools");
    }
}

/// What coding agents send with 118 MCP tools: their own tools stay unchanged byte for byte, and
/// the rest is folded.
#[test]
fn corpus_budgets_of_clients() {
    // Codex itself cuts long schemas, so there is less to fold.
    for (client, kept_most) in [("codex-0.169.0", 58), ("gemini-cli-0.61.0", 46), ("opencode-1.18.33", 54)] {
        let Some(file) = corpus(&format!("clients/{client}-mcp118.json")) else { return };
        let catalog = Catalog::import(&std::fs::read_to_string(file).unwrap(), "tools.json", None);
        let catalog = catalog.into_result().unwrap();
        let profile = ToolProfile::derive(&catalog);
        let assignment = profile.assign(&catalog).value;
        let full = first_turn(&catalog, &profile, Arm::Full);
        for (arm, most) in [(Arm::Kept, kept_most), (Arm::Auto, 45)] {
            let tokens = first_turn(&catalog, &profile, arm);
            println!("{client} {arm}: {tokens} of {full} ({} %, at most {most} %)", tokens * 100 / full);
            assert!(tokens * 100 <= full * most, "{client} {arm}: {tokens} of {full}");
        }
        let sent = |arm| -> Vec<Value> {
            let engine = unchecked(&catalog, &profile, arm);
            engine.talk_on(Wire::OpenAiChat).tools().to().unwrap()
        };
        let whole = sent(Arm::Full);
        let own: Vec<&str> = catalog
            .iter()
            .zip(assignment.tools.iter())
            .filter(|(_, own)| own.tier == Tier::Core)
            .map(|(tool, _)| tool.name().as_str())
            .collect();
        assert!(own.len() >= 10, "{client}: {own:?}");
        for arm in [Arm::Kept, Arm::Auto] {
            let folded = sent(arm);
            for name in &own {
                let of =
                    |array: &[Value]| array.iter().find(|tool| tool["function"]["name"] == *name).map(Value::to_string);
                assert_eq!(of(&folded), of(&whole), "{client} {arm} {name}");
            }
        }
    }
}
