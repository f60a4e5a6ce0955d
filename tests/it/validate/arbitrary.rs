//! Any schema, any arguments.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::engine::validate::Validator;

use super::{MAX_INVALID, MAX_INVALID_BYTES};

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just("a".to_owned()), Just("object".to_owned()), Just("^(a|b)+$".to_owned()), any::<String>()]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(
                (prop_oneof![Just("a".to_owned()), Just("b".to_owned()), any::<String>()], inner),
                0..4
            )
            .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn json_schema() -> impl Strategy<Value = Value> {
    let kinds = ["string", "number", "integer", "boolean", "object", "array", "null"];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::select(kinds.to_vec()).prop_map(|kind| json!({"type": kind})),
        prop::sample::subsequence(kinds.to_vec(), 1..4).prop_map(|kinds| json!({"type": kinds})),
        prop::collection::vec(json_value(), 1..4).prop_map(|list| json!({"enum": list})),
        json_value().prop_map(|value| json!({"const": value})),
        prop::sample::select(vec!["#", "#/$defs/a", "#/properties/a", "#/a", "a#"]).prop_map(|to| json!({"$ref": to})),
        (any::<i32>(), any::<u8>()).prop_map(|(low, length)| json!({"minimum": low, "maxLength": length})),
        (0.001_f64..9.0).prop_map(|step| json!({"multipleOf": step, "pattern": "^(?!b)(a|b)*\\1?$"})),
        prop::collection::vec(prop::sample::select(vec!["a", "b", "/~"]), 1..2)
            .prop_map(|list| json!({"required": list})),
        json_value(),
    ];
    leaf.prop_recursive(5, 48, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            (prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems"]), list).prop_map(|(key, list)| json!({(key): list})),
            (
                prop::sample::select(vec![
                    "not", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedProperties",
                    "unevaluatedItems", "if", "then",
                ]),
                inner.clone(),
                inner.clone(),
            )
                .prop_map(|(key, one, two)| json!({(key): one, "properties": {"a": two}})),
            (inner.clone(), inner).prop_map(|(one, two)| json!({
                "properties": {"a": one, "/~": true}, "$defs": {"a": two}, "required": ["a"], "additionalProperties": false,
            })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_panics(schema in json_schema(), arguments in json_value()) {
        let Ok(validator) = Validator::compile(&schema) else { return Ok(()) };
        let first = validator.check_arguments(&arguments);
        prop_assert_eq!(&first, &validator.check_arguments(&arguments));
        if let Err(invalid) = first {
            let text: usize = invalid.iter().map(|one| one.to_string().len() + 1).sum();
            prop_assert!((1..=MAX_INVALID).contains(&invalid.len()) && text <= MAX_INVALID_BYTES);
            for one in &invalid {
                prop_assert!(!one.to_string().chars().any(char::is_control), "{one}");
            }
        }
    }
}
