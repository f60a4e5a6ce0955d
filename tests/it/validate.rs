//! Arguments against schemas: the texts, the bounds, and schemas of real tools.

mod arbitrary;
mod coerce;
mod hostile;
mod late;

use serde_json::{Value, json};
use toolfold::engine::validate::{Checked, InvalidKind, Validator};

use crate::corpus;

/// The documented limits of one check.
const MAX_INVALID: usize = 20;
const MAX_INVALID_BYTES: usize = 2_048;

#[track_caller]
fn compile(schema: &Value) -> Validator {
    Validator::compile(schema).unwrap_or_else(|why| panic!("{schema}: {why}"))
}

#[track_caller]
fn lines(schema: &Value, arguments: &Value) -> Vec<String> {
    match compile(schema).check_arguments(arguments) {
        Ok(checked) => vec![format!("{checked:?}")],
        Err(invalid) => invalid.iter().map(ToString::to_string).collect(),
    }
}

#[track_caller]
fn check(schema: &Value, arguments: &Value, expected: &[&str]) {
    assert_eq!(lines(schema, arguments), expected, "\nschema {schema}\narguments {arguments}");
}

/// A tool with many kinds of properties.
fn format_cells() -> Value {
    json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "the workbook"},
            "sheet_name": {"type": "string", "minLength": 1},
            "rows": {"type": "array", "maxItems": 3, "items": {"$ref": "#/$defs/row"}},
            "align": {"enum": ["left", "center", "right"]},
            "zoom": {"type": "integer", "minimum": 10, "maximum": 400},
            "color": {"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$"},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
            "fill": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "a/b": {"type": "boolean"}
        },
        "required": ["file_path"],
        "additionalProperties": false,
        "$defs": {"row": {
            "type": "object",
            "properties": {"height": {"type": "number"}, "hidden": {"type": "boolean"}},
            "required": ["height"]
        }}
    })
}

#[test]
fn errors_are_readable_by_a_model() {
    let cases: Vec<(Value, &[&str])> = vec![
        (json!({"file_path": "a.xlsx"}), &["Valid"]),
        (json!({}), &["/file_path: missing, expected a string"]),
        (json!({"file_path": 5}), &["/file_path: expected a string, got 5"]),
        (
            json!({"file_path": "a", "rows": [{"height": "tall"}, {"hidden": true}]}),
            &["/rows/0/height: expected a number, got \"tall\"", "/rows/1/height: missing, expected a number"],
        ),
        (json!({"file_path": "a", "sheet": "S"}), &["/sheet: unknown parameter; did you mean `sheet_name`?"]),
        (
            json!({"file_path": "a", "qqqq": 1}),
            &[
                "/qqqq: unknown parameter; allowed: `a/b`, `align`, `color`, `file_path`, `fill`, `rows`, `sheet_name`, `tags`, `zoom`",
            ],
        ),
        (
            json!({"file_path": "a", "align": "middle"}),
            &["/align: expected one of \"left\", \"center\", \"right\", got \"middle\""],
        ),
        (json!({"file_path": "a", "zoom": 5}), &["/zoom: expected at least 10, got 5"]),
        (json!({"file_path": "a", "zoom": 10.5}), &["/zoom: expected an integer, got 10.5"]),
        (json!({"file_path": "a", "zoom": "100"}), &["/zoom: expected an integer, got \"100\""]),
        (
            json!({"file_path": "a", "color": "red"}),
            &["/color: expected text that matches `^#[0-9A-Fa-f]{6}$`, got \"red\""],
        ),
        (json!({"file_path": "a", "sheet_name": ""}), &["/sheet_name: expected at least 1 character, got \"\""]),
        (json!({"file_path": "a", "tags": ["x", "x"]}), &["/tags: expected unique items, got [\"x\",\"x\"]"]),
        (json!({"file_path": "a", "fill": 3}), &["/fill: expected a string or null, got 3"]),
        (json!({"file_path": "a", "a/b": 3}), &["/a~1b: expected a boolean, got 3"]),
        (json!({"file_path": "a", "rows": {}}), &["/rows: expected an array, got {}"]),
        (
            json!({"file_path": "a\u{202e}\u{7}b", "align": "\u{202e}\u{7}b"}),
            &["/align: expected one of \"left\", \"center\", \"right\", got \"\\u{202e}\\u0007b\""],
        ),
        (json!([1]), &["arguments: expected an object, got [1]"]),
    ];
    for (arguments, expected) in cases {
        check(&format_cells(), &arguments, expected);
    }
}

#[test]
fn unions_report_the_closest_branch() {
    let shape = json!({"properties": {"shape": {"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
        {"type": "object", "properties": {"kind": {"const": "box"}, "width": {"type": "number"}, "height": {"type": "number"}},
         "required": ["kind", "width", "height"]},
        {"type": "null"}
    ]}}});
    check(&shape, &json!({"shape": {"kind": "circle"}}), &["/shape/radius: missing, expected a number"]);
    check(
        &shape,
        &json!({"shape": {"kind": "box", "width": "w", "height": 1}}),
        &["/shape/width: expected a number, got \"w\""],
    );
    check(
        &shape,
        &json!({"shape": {"kind": "star", "radius": 1}}),
        &["/shape/kind: expected one of \"circle\", \"box\", got \"star\""],
    );
    check(
        &shape,
        &json!({"shape": 7}),
        &[
            "/shape: expected an object with `kind`, `radius` or an object with `kind`, `width`, `height` or null, got 7",
        ],
    );
    let one_way = json!({"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    check(&one_way, &json!({}), &["arguments: expected one of `a`, `b`, got none of them"]);
    let levels =
        json!({"properties": {"level": {"anyOf": [{"const": "low"}, {"const": "high"}, {"type": "integer"}]}}});
    check(&levels, &json!({"level": "mid"}), &["/level: expected \"low\" or \"high\" or an integer, got \"mid\""]);
    let both = json!({"properties": {"n": {"oneOf": [{"minimum": 1}, {"maximum": 5}]}}});
    check(&both, &json!({"n": 3}), &["/n: expected a value that matches exactly one alternative, got 3"]);
}

#[test]
fn rarer_keywords() {
    let required = json!({"properties": {"sheet_name": {"type": "string"}}, "required": ["sheet_name"]});
    check(
        &required,
        &json!({"sheet": "S"}),
        &["/sheet_name: missing, expected a string (`sheet` is not a known name)"],
    );
    let all_of = json!({"allOf": [{"$ref": "#/$defs/a"}], "unevaluatedProperties": false,
        "$defs": {"a": {"properties": {"limit": {"type": "integer", "minimum": 1, "maximum": 9}}, "required": ["limit"]}}});
    check(&all_of, &json!({}), &["/limit: missing, expected an integer from 1 to 9"]);
    check(&all_of, &json!({"limit": 1, "limt": 2}), &["/limt: unknown parameter; allowed: `limit`"]);
    let not = json!({"properties": {"p": {"not": {"type": "string"}}}});
    check(&not, &json!({"p": "x"}), &["/p: expected anything but {\"type\":\"string\"}, got \"x\""]);
    let contains = json!({"properties": {"p": {"contains": {"type": "string"}}}});
    check(&contains, &json!({"p": [1]}), &["/p: expected an array with a string in it, got [1]"]);
    let names = json!({"propertyNames": {"pattern": "^[a-z]+$"}});
    check(
        &names,
        &json!({"A": 1}),
        &["arguments: expected property names that are text that matches `^[a-z]+$`, got \"A\""],
    );
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    check(&closed, &json!({"x": 1}), &["/x: unknown parameter; none are allowed"]);
    let both = json!({"properties": {"p": {"type": "string", "enum": ["a", "b"]}}});
    check(&both, &json!({"p": 1}), &["/p: expected one of \"a\", \"b\", got 1"]);
    let never = json!({"properties": {"p": false}});
    check(&never, &json!({"p": 1}), &["/p: not allowed here"]);
    let many = json!({"properties": {"p": {"enum": (0..400).map(|n| format!("value-{n}")).collect::<Vec<_>>()}}});
    let line = lines(&many, &json!({"p": "x"})).join("");
    assert!(line.contains("… (400 in total)") && line.len() < 300, "{line}");
}

#[test]
fn formats_follow_the_draft() {
    let schema = |draft: &str| json!({"$schema": draft, "properties": {"d": {"type": "string", "format": "date"}}});
    let arguments = json!({"d": "tomorrow"});
    check(
        &schema("http://json-schema.org/draft-07/schema#"),
        &arguments,
        &["/d: expected text in the format `date`, got \"tomorrow\""],
    );
    check(&schema("https://json-schema.org/draft/2019-09/schema"), &arguments, &["Valid"]);
    check(&schema("https://json-schema.org/draft/2020-12/schema"), &arguments, &["Valid"]);
    check(&schema("http://json-schema.org/schema#"), &arguments, &["Valid"]);
}

#[test]
fn reasons_why_a_schema_does_not_compile() {
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({"properties": {"a": deep}});
    }
    let cases = [
        (
            json!({"properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}),
            "reference `http://127.0.0.1:9/x.json` is external; references are never fetched",
        ),
        (
            json!({"properties": {"a": {"$ref": "file:///etc/passwd"}}}),
            "reference `file:///etc/passwd` is external; references are never fetched",
        ),
        (json!({"$ref": "#/$defs/gone"}), "reference `/$defs/gone` cannot be resolved"),
        (json!({"$schema": "http://127.0.0.1:9/x"}), "`$schema` is `http://127.0.0.1:9/x`, which is not a known draft"),
        (json!({"properties": {"p": {"pattern": "["}}}), "at `/properties/p/pattern`: \"[\" is not a valid regex"),
        (
            json!({"properties": {"p": {"type": "str"}}}),
            "at `/properties/p/type`: \"str\" is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
        (
            json!({"$ref": "#/const", "const": {"oneOf": [{"$ref": "#"}]}}),
            "reference `#/const` points to a value, not a schema",
        ),
        (deep, "the schema is nested more than 120 levels deep"),
        (json!(3), "3 is not of types \"boolean\", \"object\""),
    ];
    for (schema, expected) in cases {
        assert_eq!(Validator::compile(&schema).err().map(|why| why.to_string()).as_deref(), Some(expected), "{schema}");
    }
}

#[test]
fn errors_are_limited_and_sorted() {
    let schema =
        json!({"properties": {"rows": {"items": {"properties": {"v": {"type": "string"}}, "required": ["w"]}}}});
    let rows: Vec<Value> = (0..5_000).map(|n| json!({"v": n})).collect();
    let invalid = compile(&schema).check_arguments(&json!({"rows": rows})).unwrap_err();
    assert_eq!(invalid.len(), MAX_INVALID);
    assert_eq!(invalid.last().map(|one| one.kind), Some(InvalidKind::More));
    let paths: Vec<&str> = invalid.iter().take(6).map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["/rows/0/v", "/rows/0/w", "/rows/1/v", "/rows/1/w", "/rows/2/v", "/rows/2/w"]);
    let long = "k".repeat(5_000);
    let schema = json!({"properties": {(&long): {"type": "string"}, "p": {"const": long}}});
    let lines = lines(&schema, &json!({(&long): 1, "p": vec![long.as_str(); 9]}));
    assert!(lines.iter().map(|line| line.len() + 1).sum::<usize>() <= MAX_INVALID_BYTES, "{lines:?}");
    assert!(lines.iter().all(|line| line.len() < 600), "{lines:?}");
}

#[test]
fn large_valid_arguments_are_checked() {
    let schema = json!({"properties": {"rows": {"items": {"items": {"$ref": "#/$defs/cell"}}}},
        "$defs": {"cell": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]}}});
    let mut rows = vec![json!((0..20).collect::<Vec<_>>()); 5_000];
    assert_eq!(compile(&schema).check_arguments(&json!({"rows": rows})), Ok(Checked::Valid));
    rows[4_999][19] = json!(true);
    check(&schema, &json!({"rows": rows}), &["/rows/4999/19: expected a string or a number or null, got true"]);
}

/// Every object under a key that holds a tool's schema.
fn schemas(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|one| schemas(one, found)),
        Value::Object(map) => {
            let own = ["inputSchema", "input_schema", "parameters"].iter().find_map(|key| map.get(*key));
            match own.filter(|schema| schema.is_object()) {
                Some(schema) => found.push(schema.clone()),
                None => map.values().for_each(|one| schemas(one, found)),
            }
        }
        _ => {}
    }
}

#[test]
fn schemas_of_real_tools_compile() {
    for folder in ["mcp", "excelmanus", "bfcl"] {
        let Some(folder) = corpus(folder) else { continue };
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let Ok(text) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
            match serde_json::from_str::<Value>(&text) {
                Ok(value) => schemas(&value, &mut found),
                Err(_) => text
                    .lines()
                    .filter_map(|line| serde_json::from_str(line).ok())
                    .for_each(|v: Value| schemas(&v, &mut found)),
            }
        }
        let found = toolfold_testing::sample(found, 60);
        let refused: Vec<_> = found.iter().filter_map(|schema| Validator::compile(schema).err()).collect();
        println!("{}: {}/{} compile {refused:?}", folder.display(), found.len() - refused.len(), found.len());
        assert!(refused.is_empty());
        // An empty call is judged by the list of required names, whatever else the schema contains.
        for schema in &found {
            let needs = schema.get("required").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
            let empty = compile(schema).check_arguments(&json!({}));
            assert!(!needs || empty.is_err(), "{schema}");
        }
    }
}
