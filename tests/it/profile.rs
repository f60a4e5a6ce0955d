//! Layer 1: sentences, folding, profiles, expansion.

use serde_json::{Value, json};
use toolfold::catalog::{Catalog, Format, Tool};
use toolfold::profile::{
    Arm, CatalogNames, Detail, ExpandRequest, Expanded, Folded, Presentation, ProfilePart, ProfileSource, Tier,
    ToolProfile, expand, first_sentence, profile_schema,
};
use toolfold_testing::with;

use crate::project;

#[test]
fn first_sentences() {
    for (description, expected) in [
        ("Set fonts. Fills too.", "Set fonts."),
        ("Set fonts", "Set fonts"),
        ("", ""),
        ("  Set\n  fonts\tnow.  More.", "Set fonts now."),
        ("List files\n\nReturns names.", "List files"),
        ("读取文件。然后返回", "读取文件。"),
        ("真的吗？是的！", "真的吗？"),
        ("Needs v1.2 or later. Else fails.", "Needs v1.2 or later."),
        (
            "Reads data.csv or a URL like https://a.b/c.d?e=f. Then stops.",
            "Reads data.csv or a URL like https://a.b/c.d?e=f.",
        ),
        ("Takes units, e.g. metres (i.e. SI). Else fails.", "Takes units, e.g. metres (i.e. SI)."),
        ("Really? Yes.", "Really?"),
        ("Stop! Now.", "Stop!"),
        ("Ends with an ellipsis... and goes on. Then ends.", "Ends with an ellipsis... and goes on."),
        ("Copies etc. to a place. Done.", "Copies etc. to a place."),
    ] {
        assert_eq!(first_sentence(description), expected, "{description:?}");
    }
}

#[test]
fn long_sentences_are_cut_at_a_word() {
    let words = "word ".repeat(40);
    let cut = first_sentence(&words);
    assert!(cut.ends_with("word…") && cut.chars().count() <= 100 && cut.chars().count() > 90, "{cut}");
    let exact = "x".repeat(100);
    assert_eq!(first_sentence(&exact), exact, "a hundred characters fit");
    assert_eq!(first_sentence(&"字".repeat(101)).chars().count(), 100, "without blanks it is cut at a character");
    assert_eq!(first_sentence(&"y".repeat(5_000_000)).chars().count(), 100, "and in bounded time");
}

fn rich() -> Tool {
    let parameters = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "title": "Args",
        "properties": {
            "path": {"type": "string", "description": "Where to.", "minLength": 1},
            "description": {"type": "string", "description": "A property of that name."},
            "mode": {"type": "string", "enum": ["a", "b"], "default": "a", "examples": ["b"]},
            "items": {"type": "array", "description": "Rows.", "items": {"$ref": "#/$defs/Row"}},
            "other": {"$ref": "#/$defs/Unused"}
        },
        "required": ["path", "items"],
        "additionalProperties": false,
        "$defs": {
            "Row": {"type": "object", "title": "Row", "properties": {"k": {"type": ["string", "null"], "title": "K"}},
                    "required": ["k"]},
            "Unused": {"type": "object", "properties": {"z": {"description": "Z.", "type": "number"}}}
        }
    });
    Tool::new("write_rows", "Write rows to a file. Creates it if needed.", parameters).unwrap().with_strict(true)
}

#[test]
fn details_of_a_rich_tool() {
    let tool = rich();
    let folded = |detail| {
        let folded = Folded::new(&tool, detail, None);
        assert_eq!(folded.detail, detail);
        assert_eq!(folded.description, "Write rows to a file.");
        folded.parameters().into_owned()
    };
    assert_eq!(
        folded(Detail::Signature),
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1},
                "description": {"type": "string"},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "items": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
                "other": {"$ref": "#/$defs/Unused"}
            },
            "required": ["path", "items"],
            "additionalProperties": false,
            "$defs": {
                "Row": {"type": "object", "properties": {"k": {"type": ["string", "null"]}}, "required": ["k"]},
                "Unused": {"type": "object", "properties": {"z": {"type": "number"}}}
            }
        })
    );
    assert_eq!(
        folded(Detail::Required),
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1},
                "items": {"type": "array", "items": {"$ref": "#/$defs/Row"}}
            },
            "required": ["path", "items"],
            "additionalProperties": true,
            "$defs": {"Row": {"type": "object", "properties": {"k": {"type": ["string", "null"]}}, "required": ["k"]}}
        })
    );
    assert_eq!(folded(Detail::Summary), json!({"type": "object", "properties": {}, "additionalProperties": true}));
}

#[test]
fn folding_only_takes_away() {
    let tiny = Tool::new("ping", "Ping.", json!({"type": "object", "properties": {}})).unwrap();
    assert_eq!(Folded::new(&tiny, Detail::Summary, None).detail, Detail::Full, "nothing to save");
    let wordy = "Ping a host. ".repeat(20);
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = Tool::new("ping", &wordy, closed.clone()).unwrap();
    let folded = Folded::new(&tool, Detail::Summary, None);
    assert_eq!(folded.detail, Detail::Summary);
    assert_eq!(*folded.parameters(), closed, "a tool without parameters says so truthfully");
    let own = Folded::new(&tool, Detail::Summary, Some("Say hello to a host."));
    assert_eq!(own.description, "Say hello to a host.", "the profile's own words win");
}

#[test]
fn required_parameters_follow_a_reference_at_the_top() {
    let tool = Tool::new(
        "f",
        "Do it.",
        json!({"$ref": "#/$defs/Args", "$defs": {"Args": {"type": "object", "title": "Arguments of f",
            "properties": {"a": {"type": "string", "description": "First of two."}, "b": {"type": "string", "description": "Second."}},
            "required": ["a"]}}}),
    )
    .unwrap();
    let folded = Folded::new(&tool, Detail::Required, None);
    assert_eq!(
        *folded.parameters(),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": true})
    );
}

#[test]
fn a_reference_into_an_optional_parameter_keeps_the_whole_shape() {
    let parameters = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"$ref": "#/properties/b", "description": "The same as b, which is explained there."},
        "b": {"type": "integer", "description": "A whole number between one and ten."}}});
    let tool = Tool::new("f", "Do it.", parameters).unwrap();
    let folded = Folded::new(&tool, Detail::Required, None);
    assert_eq!(folded.parameters()["properties"]["b"], json!({"type": "integer"}));
}

/// What checking a profile against three tools says: `severity[code] line:column`, one a
/// diagnostic.
#[track_caller]
fn check_profile(toml: &str, expected: &[&str]) {
    let tools = r#"[{"name":"read_a","inputSchema":{}},{"name":"write_a","inputSchema":{}},{"name":"write_b","inputSchema":{}}]"#;
    let catalog = Catalog::from_mcp(tools).unwrap();
    let loaded = ToolProfile::parse(toml, "p.toml");
    let mut diagnostics = loaded.diagnostics;
    diagnostics.extend(loaded.value.assign(&catalog).diagnostics);
    let found: Vec<String> = diagnostics
        .iter()
        .map(|d| format!("{}[{}] {}", d.severity, d.code, d.place.to_string().trim_start_matches("p.toml:")))
        .collect();
    assert_eq!(found, expected, "{diagnostics:#?}");
}

#[test]
fn profiles_are_checked_with_line_and_column() {
    let rest = "[category.w]\ntools = ['write_*']\n";
    check_profile(&format!("core = ['read_a']\n{rest}"), &[]);
    check_profile(&format!("core = ['read_b']\n{rest}"), &["error[unknown-tool] 1:9", "note[unlisted-tools] p.toml"]);
    check_profile(&format!("core = ['*_a', 'x_*']\n{rest}"), &["warning[empty-glob] 1:16"]);
    check_profile(&format!("cor = ['read_a']\n{rest}"), &["error[unknown-key] 1:1", "note[unlisted-tools] p.toml"]);
    check_profile(&format!("core = 'read_a'\n{rest}"), &["error[wrong-type] 1:8", "note[unlisted-tools] p.toml"]);
    check_profile(&format!("unlisted = 'gone'\n{rest}"), &["error[bad-value] 1:12", "note[unlisted-tools] p.toml"]);
    check_profile(&format!("unlisted = 'hidden'\n{rest}"), &["warning[unlisted-tools] p.toml"]);
    check_profile(
        "core = ['read_a']\n[category.v]\ntools = ['write_a']\n[category.w]\ntools = ['write_a', 'write_b']\n",
        &["error[two-categories] 5:10"],
    );
    check_profile("core = ['read_a']\n[category.v]\ntools = ['write_a']\n[category.w]\ntools = ['write_*']\n", &[]);
    check_profile("core = ['*']\n[category.v]\ndescription = 'x'\n", &["error[no-tools] 2:11"]);
    check_profile("core = ['*']\n[summary]\nread_aa = 'x'\n", &["warning[unknown-tool] 3:1"]);
    check_profile("core = ['*'\n", &["error[bad-toml] 1:12"]);
    check_profile("core = ['*', '*']\n", &["warning[repeated] 1:14"]);
    check_profile("core = ['a b', '*']\n", &["error[unknown-tool] 1:9"]);
    check_profile("core = [' ', '*']\n", &["error[bad-name] 1:9"]);
    check_profile("", &["note[unlisted-tools] p.toml"]);
}

#[test]
fn misspelt_names_get_a_hint() {
    let catalog = Catalog::from_mcp(r#"[{"name":"format_cells","inputSchema":{}}]"#).unwrap();
    let profile = ToolProfile::parse("core = ['format_cell']", "p.toml").value;
    let assigned = profile.assign(&catalog);
    assert_eq!(assigned.diagnostics[0].help.as_deref(), Some("did you mean `format_cells`?"));
    let loaded = ToolProfile::parse("catgory = {}", "p.toml");
    assert_eq!(loaded.diagnostics[0].help.as_deref(), Some("did you mean `category`?"));
}

#[test]
fn the_published_schema_is_current() {
    let published: Value = serde_json::from_str(&project("profiles/profile.schema.json")).unwrap();
    assert_eq!(
        published,
        profile_schema().to_value(),
        "write it anew: toolfold profile schema > profiles/profile.schema.json"
    );
    // The reader accepts exactly the keys that the schema names.
    let tables = ["category", "summary", "words"].map(|key| (key, "{}"));
    for (key, sample) in [("name", "'x'"), ("core", "[]"), ("unlisted", "'core'")].into_iter().chain(tables) {
        assert!(published["properties"].get(key).is_some(), "{key}");
        assert_eq!(ToolProfile::parse(&format!("{key} = {sample}"), "p").diagnostics, vec![], "{key}");
    }
    assert_eq!(published["properties"].as_object().unwrap().len(), 6);
}

fn excel() -> Catalog {
    Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap()
}

#[test]
fn the_excel_profiles_match_their_tools() {
    let catalog = excel();
    assert_eq!(catalog.len(), 49);
    for file in ["profiles/excel/profile.toml", "profiles/excel/original.toml"] {
        let profile = ToolProfile::parse(&project(file), file);
        assert_eq!(profile.diagnostics, vec![], "{file}");
        assert_eq!(profile.value.assign(&catalog).diagnostics, vec![], "{file}");
    }
}

#[test]
fn derived_profiles() {
    let derive = |names: &[&str]| {
        let tools: Vec<Value> = names.iter().map(|name| json!({"name": name, "inputSchema": {}})).collect();
        let catalog = Catalog::from_mcp(&json!(tools).to_string()).unwrap();
        let profile = ToolProfile::derive(&catalog);
        assert!(profile.derived);
        let assignment = profile.assign(&catalog).value;
        assert!(assignment.tools.iter().all(|tool| tool.tier == Tier::Extended));
        let by_category = assignment.tools.iter().map(|tool| tool.category.to_string());
        by_category.zip(names).map(|(category, name)| format!("{name}={category}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(derive(&["git__log", "git__diff", "fs__read"]), "git__log=git git__diff=git fs__read=fs");
    assert_eq!(derive(&["mcp__a__x", "mcp__b__y"]), "mcp__a__x=a mcp__b__y=b");
    assert_eq!(
        derive(&["create_issue", "listIssues", "get_file", "delete_files", "ping"]),
        "create_issue=file_and_issue listIssues=file_and_issue get_file=file_and_issue delete_files=file_and_issue \
         ping=file_and_issue"
    );
    assert_eq!(derive(&["only"]), "only=only");
    assert_eq!(derive(&["a", "b"]), "a=other b=other");
}

#[test]
fn a_derived_profile_can_be_written_and_read_back() {
    let catalog = excel();
    let derived = ToolProfile::derive(&catalog);
    let written = ToolProfile::parse(&derived.to_toml(&catalog), "p.toml");
    assert_eq!(written.diagnostics, vec![]);
    let (one, two) = (derived.assign(&catalog).value, written.value.assign(&catalog).value);
    assert!(one.tools.iter().eq(two.tools.iter()));
}

/// The reply to a request over four tools, one core and three foldable; the last is long enough to
/// make folding pay.
fn reply(arm: Arm, open: &[&str], categories: &[&str], tools: &[&str]) -> String {
    let words = "A parameter with words enough to be worth folding away.";
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "description": words}}});
    let tools_json: Vec<Value> = ["read_a", "write_a", "write_b"]
        .iter()
        .map(|name| json!({"name": name, "description": format!("Do {name}. And more."), "input_schema": schema}))
        .collect();
    let long = json!({"name": "report", "description": words.repeat(20), "input_schema": schema});
    let tools_json: Vec<Value> = tools_json.into_iter().chain([long]).collect();
    let catalog = Catalog::from_anthropic(&json!(tools_json).to_string()).unwrap();
    let toml = "core = ['read_a']\n[category.write]\ndescription = 'changes'\ntools = ['write_*']\n[category.more]\ntools = ['report']";
    let profile = ToolProfile::parse(toml, "p");
    let assignment = profile.value.assign(&catalog).value;
    let presentation = Presentation::new(&catalog, &assignment, arm);
    let mut expanded = Expanded::default();
    for name in open {
        let request = with!(ExpandRequest::default(), categories = vec![(*name).to_owned()]);
        expand(&catalog, &assignment, &presentation, &expanded.clone(), &request, &CatalogNames).apply(&mut expanded);
    }
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let request = with!(ExpandRequest::default(), categories = list(categories), tools = list(tools));
    expand(&catalog, &assignment, &presentation, &expanded, &request, &CatalogNames).reply
}

#[test]
fn replies_to_the_model() {
    insta::assert_snapshot!("in_result", reply(Arm::Stable, &[], &["write"], &[]));
    insta::assert_snapshot!("in_place", reply(Arm::Seed, &[], &["write"], &[]));
    insta::assert_snapshot!("bridge", reply(Arm::Index, &[], &[], &["write_b"]));
    insta::assert_snapshot!("partly_open", reply(Arm::Stable, &["write_a"], &["write"], &["read_a"]));
    insta::assert_snapshot!("misspelt", reply(Arm::Stable, &[], &["wirte"], &["zzz", "write_c"]));
}

#[test]
fn requests_are_read_leniently_and_rejected_clearly() {
    let read = |value: Value| {
        ExpandRequest::from_arguments(&value).map(|r| (r.categories, r.tools, r.query)).map_err(|e| e.to_string())
    };
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(read(json!({"categories": ["a", "b"]})), Ok((list(&["a", "b"]), vec![], None)));
    assert_eq!(read(json!({"category": "a"})), Ok((list(&["a"]), vec![], None)));
    assert_eq!(read(json!({"tools": "t", "categories": null})), Ok((vec![], list(&["t"]), None)));
    assert_eq!(
        read(json!({"query": " write file ", "tools": []})),
        Ok((vec![], vec![], Some("write file".to_owned())))
    );
    for nothing in [json!({}), json!({"query": " "}), json!({"query": null})] {
        assert_eq!(read(nothing), Err("give at least one of `query`, `categories` and `tools`".to_owned()));
    }
    assert_eq!(read(json!({"query": ["a"]})), Err("`query` must be a string".to_owned()));
    assert_eq!(
        read(json!([])),
        Err("the arguments must be an object with `query`, `categories` or `tools`".to_owned())
    );
    assert_eq!(read(json!({"tools": [1]})), Err("`tools` must be a list of names".to_owned()));
    assert_eq!(read(json!({"tools": vec!["x"; 201]})), Err("at most 200 names at once".to_owned()));
}

#[test]
fn declarations_of_the_meta_tools() {
    let catalog = excel();
    let profile = ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml").value;
    let assignment = profile.assign(&catalog).value;
    for arm in [Arm::Seed, Arm::Stable, Arm::Index, Arm::Search] {
        let meta = Presentation::new(&catalog, &assignment, arm).meta_tools.into_iter();
        let meta = meta.map(|tool| format!("{}\n{}\n{}", tool.name(), tool.description(), tool.parameters_text()));
        let meta: Vec<String> = meta.collect();
        insta::assert_snapshot!(format!("meta_tools_{arm}"), meta.join("\n\n"));
    }
    assert_eq!(Presentation::new(&catalog, &assignment, Arm::Full).meta_tools.len(), 0);
}

#[test]
fn original_arm_declares_the_original_shape() {
    let catalog = excel();
    let profile = ToolProfile::parse(&project("profiles/excel/original.toml"), "original.toml").value;
    let assignment = profile.assign(&catalog).value;
    let presentation = Presentation::new(&catalog, &assignment, Arm::Seed);
    let expand_tools = presentation.meta_tools.first().unwrap();
    assert_eq!(
        *expand_tools.parameters(),
        json!({
            "type": "object",
            "properties": {"category": {"type": "string", "enum":
                ["data_write", "format", "advanced_format", "chart", "sheet", "code", "file_ops"]}},
            "required": ["category"]
        })
    );
    assert!(catalog.to_json(Format::OpenAiChat).starts_with(r#"[{"type":"function","function":{"name":"read_excel""#));
}

#[test]
fn server_tools_have_separate_profiles() {
    let tool =
        |name: &str| json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}});
    let names = ["db_read", "write", "drop", "list", "draw", "db_list"];
    let text = Value::Array(names.map(tool).to_vec()).to_string();
    let catalog = Catalog::from_mcp(&text).unwrap();
    let parsed = |text: &str| ToolProfile::parse(text, "p.toml").into_result().unwrap();
    // The database's tools are known to it by their own names; the names of the list are another's,
    // too.
    let own = parsed(
        "core = [\"read\"]\nunlisted = \"hidden\"\n[category.rows]\ndescription = \"of tables\"\ntools = [\"w*\", \"list\"]\n\
         [summary]\nwrite = \"Writes rows.\"\n[words]\nwrite = [\"ink\"]\n",
    );
    let general = parsed("[category.rows]\ndescription = \"first\"\ntools = [\"*\"]\n");
    let own_names = [("db_read", "read"), ("write", "write"), ("drop", "drop"), ("db_list", "list")];
    let own_names = own_names.map(|(shown, own)| (shown.to_owned(), own.to_owned())).into();
    let drawn = [("draw".to_owned(), "draw".to_owned())].into();
    let parts = [
        ProfilePart { source: ProfileSource::Written(&own), names: &own_names },
        ProfilePart { source: ProfileSource::Off, names: &drawn },
    ];
    let whole = ToolProfile::of_parts(&catalog, ProfileSource::Written(&general), &parts);
    assert!(!whole.has_errors(), "{:?}", whole.diagnostics);
    let assigned = whole.value.assign(&catalog);
    assert!(!assigned.has_errors(), "{:?}", assigned.diagnostics);
    let own = assigned.value.tools.iter().map(|own| (own.tier, own.category.as_str()));
    let found: Vec<(&str, (Tier, &str))> = names.into_iter().zip(own).collect();
    let expected = [
        ("db_read", (Tier::Core, "core")),
        ("write", (Tier::Extended, "rows")),
        ("drop", (Tier::Hidden, "other")),
        ("list", (Tier::Extended, "rows")),
        ("draw", (Tier::Core, "core")),
        ("db_list", (Tier::Extended, "rows")),
    ];
    assert_eq!(found, expected);
    let write = assigned.value.at(1).unwrap();
    assert_eq!((write.summary.as_deref(), &*write.words), (Some("Writes rows."), &["ink".to_owned()][..]));
    let categories: Vec<_> = assigned.value.categories().map(|(name, text)| (name.as_str(), text)).collect();
    assert_eq!(categories[0], ("rows", "first"));
    assert_eq!(categories.len(), 2, "rows and core: {categories:?}");
    let said: Vec<&str> = whole.diagnostics.iter().chain(&assigned.diagnostics).map(|own| own.code).collect();
    assert_eq!(said, ["unlisted-tools"], "what is hidden is said, once");
    // Without parts it is what the profile alone makes of the catalogue.
    for source in [ProfileSource::Derived, ProfileSource::Written(&general)] {
        let alone = match source {
            ProfileSource::Written(own) => own.clone(),
            _ => ToolProfile::derive(&catalog),
        };
        let whole = ToolProfile::of_parts(&catalog, source, &[]).value.assign(&catalog).value;
        let alone = alone.assign(&catalog).value;
        assert!(whole.tools.iter().eq(alone.tools.iter()) && whole.categories().eq(alone.categories()), "{source:?}");
    }
}
