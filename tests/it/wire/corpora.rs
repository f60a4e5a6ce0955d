//! Every real catalogue in every arm on every wire, against the wire's published shape.

use jsonschema::Validator;
use serde_json::Value;
use toolfold::catalog::{Catalog, Format};
use toolfold::engine::Engine;
use toolfold::profile::{ExpandRequest, ToolProfile};
use toolfold::wire::Wire;
use toolfold_testing::with;

use super::arms;
use crate::talk::Talk;
use crate::{corpus, project};

pub(super) fn shape(wire: Wire) -> Validator {
    let schema: Value = serde_json::from_str(&project(&format!("tests/fixtures/wire/{wire}.schema.json"))).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

pub(super) fn catalogues() -> Vec<(String, Catalog, ToolProfile)> {
    let text = project("profiles/excel/tools.json");
    let own = ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml").value;
    let mut found = vec![("profiles/excel".to_owned(), Catalog::from_openai(&text).unwrap(), own)];
    let mut files: Vec<(std::path::PathBuf, Option<Format>)> = Vec::new();
    if let Some(folder) = corpus("mcp") {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| (entry.unwrap().path(), Some(Format::Mcp)));
        files.extend(entries);
    }
    files.extend(corpus("excelmanus/tools.json").map(|file| (file, None)));
    files.sort_by(|one, other| one.0.cmp(&other.0));
    for (file, format) in toolfold_testing::sample(files, 6) {
        let loaded = Catalog::import(&std::fs::read_to_string(&file).unwrap(), "corpus", format);
        assert!(!loaded.has_errors(), "{}: {:?}", file.display(), loaded.diagnostics);
        let profile = ToolProfile::derive(&loaded.value);
        found.push((file.file_stem().unwrap().to_string_lossy().into_owned(), loaded.value, profile));
    }
    found
}

#[test]
fn corpus_every_array_has_its_wires_format() {
    let shapes: Vec<(Wire, Validator)> = Wire::ALL.into_iter().map(|wire| (wire, shape(wire))).collect();
    let (mut sound, mut all, mut faults) = (0, 0, Vec::new());
    let catalogues = catalogues();
    for (name, catalog, profile) in &catalogues {
        let engine = Engine::builder(catalog.clone()).profile(profile.clone()).without_validation().build().unwrap();
        for (wire, shape) in &shapes {
            for arm in arms(*wire) {
                all += 1;
                let mut session = engine.talk_as(*wire, arm);
                let array = session.tools().value();
                let errors: Vec<String> =
                    shape.iter_errors(&array).map(|why| format!("{}: {why:.200}", why.instance_path())).collect();
                if errors.is_empty() {
                    sound += 1;
                } else {
                    faults.push(format!("{name} {wire} {arm}: {}", errors[0]));
                }
                let before = session.digest();
                let categories = session.presentation().deferred.iter().map(|entry| entry.category.to_string());
                let request = with!(ExpandRequest::default(), categories = categories.collect());
                session.expand(&request);
                let changes = arm == toolfold::profile::Arm::Seed && !session.opened().is_empty();
                assert_eq!(session.digest() != before, changes, "{name} {wire} {arm}");
            }
        }
    }
    println!("{sound}/{all} arrays of {} catalogues have their wire's published shape", catalogues.len());
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn format_checks_reject_what_the_apis_reject() {
    let refused = |wire, text: &str| {
        let value: Value = serde_json::from_str(text).unwrap();
        assert!(!shape(wire).is_valid(&value), "{wire} must refuse {text}");
    };
    refused(Wire::Anthropic, r#"[{"name":"a","input_schema":{"type":"object"},"defer_loading":true}]"#);
    refused(
        Wire::Anthropic,
        r#"[{"name":"b","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"},"defer_loading":true,"cache_control":{"type":"ephemeral"}}]"#,
    );
    refused(Wire::OpenAiChat, r#"[{"type":"function","function":{"name":"a.b"}}]"#);
    refused(Wire::OpenAiResponses, r#"[{"type":"function","name":"a","parameters":{"type":"object"}}]"#);
    let gemini = |schema: &str| {
        format!(
            r#"[{{"functionDeclarations":[{{"name":"a","parameters":{{"type":"object","properties":{{"p":{schema}}}}}}}]}}]"#
        )
    };
    for schema in [
        r##"{"$ref":"#"}"##,
        r#"{"type":"object"}"#,
        r#"{"type":"integer","enum":["1"]}"#,
        r#"{"type":["string","null"]}"#,
        r#"{"type":"string","format":"uri"}"#,
        r#"{"type":"array"}"#,
        r#"{"oneOf":[]}"#,
        r#"{"anyOf":[{"type":"string"},{"type":"number"}],"description":"Both."}"#,
    ] {
        refused(Wire::Gemini, &gemini(schema));
    }
    refused(
        Wire::Gemini,
        r#"[{"functionDeclarations":[{"name":"a","parametersJsonSchema":{"type":"object"},"parameters":{"type":"object","properties":{"p":{"type":"string"}}}}]}]"#,
    );
    refused(Wire::Gemini, r#"[{"functionDeclarations":[{"name":"a","parametersJsonSchema":{}}]}]"#);
    refused(Wire::Mcp, r#"[{"name":"a"}]"#);
}
