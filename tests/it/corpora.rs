//! Every real catalogue in every arm.

use serde_json::Value;
use toolfold::catalog::{Catalog, Format};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

use crate::corpus;
use crate::listed::written_out;
use crate::talk::Talk;

fn mcp_catalogues() -> Vec<(String, Catalog)> {
    let Some(folder) = corpus("mcp") else { return Vec::new() };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: std::path::PathBuf| {
        let loaded = Catalog::import(&std::fs::read_to_string(&file).unwrap(), "mcp", Some(Format::Mcp));
        assert!(!loaded.has_errors(), "{}: {:?}", file.display(), loaded.diagnostics);
        (file.file_stem().unwrap().to_string_lossy().into_owned(), loaded.value)
    };
    toolfold_testing::sample(files, 6).into_iter().map(read).collect()
}

#[test]
fn corpus_mcp_goes_through_every_arm() {
    let (mut servers, mut tools) = (0, 0);
    for (name, catalog) in mcp_catalogues() {
        servers += 1;
        tools += catalog.len();
        let profile = ToolProfile::derive(&catalog);
        let names: Vec<&str> = catalog.names().map(AsRef::as_ref).collect();
        for arm in Arm::EVERYWHERE {
            let builder = Engine::builder(catalog.clone()).profile(profile.clone()).without_validation();
            let engine = builder.arm(arm).build().unwrap();
            let array = engine.talk_on(Wire::OpenAiChat).tools();
            let sent: Vec<Value> = array.to().unwrap_or_else(|why| panic!("{name} {arm}: {why}"));
            let said = sent.iter().map(Value::to_string).collect::<String>();
            let said = written_out(&said);
            // Arm `search` names only the categories.
            for tool in names.iter().filter(|_| arm != Arm::Search) {
                assert!(said.contains(tool), "{name} {arm}: {tool} is named in what the model sees");
            }
        }
        assert_eq!(ToolProfile::derive(&catalog), profile, "deriving twice gives the same");
    }
    println!("{servers}/20 servers, {tools} tools through {} arms", Arm::EVERYWHERE.len());
}
