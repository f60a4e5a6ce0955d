//! `lint --against` and a validator: no value that becomes invalid goes unreported, and a wider
//! schema is no error.

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold::catalog::Catalog;
use toolfold::diagnostic::Severity;

use super::super::{Finding, Options, findings};

/// A small generator of numbers: schemas and values follow from the seed alone (xorshift64*,
/// Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % most.max(1)
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn sometimes(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn schema(&mut self, depth: usize) -> Value {
        let kinds = if depth == 0 { 5 } else { 9 };
        let mut own = match self.below(kinds) {
            0 | 1 => json!({"type": "string"}),
            2 => json!({"type": self.pick(&["integer", "number"])}),
            3 => {
                let values = [json!("a"), json!("b"), json!(1), json!(2), json!(null)];
                json!({"enum": values[..2 + self.below(4)]})
            }
            4 => json!({"type": "boolean"}),
            5 => json!({"type": "array", "items": self.schema(depth - 1)}),
            6 => json!({"anyOf": [self.schema(depth - 1), self.schema(depth - 1)]}),
            7 => json!({"type": "array", "prefixItems": [self.schema(0), self.schema(0)]}),
            _ => self.object(depth - 1),
        };
        while self.sometimes(2) {
            self.restrict(&mut own);
        }
        own
    }

    fn object(&mut self, depth: usize) -> Value {
        let names = ["p", "q", "r"];
        let mut properties = Map::new();
        for name in names.into_iter().take(1 + self.below(3)) {
            properties.insert(name.to_owned(), self.schema(depth));
        }
        let required: Vec<&str> = names.into_iter().filter(|name| properties.contains_key(*name)).collect();
        let required: Vec<&str> = required.into_iter().filter(|_| self.sometimes(2)).collect();
        json!({"type": "object", "properties": properties, "required": required})
    }

    /// Adds a keyword that allows less.
    fn restrict(&mut self, schema: &mut Value) {
        let n = self.below(4);
        let (key, value) = self.pick(&[
            ("minLength", json!(n)),
            ("maxLength", json!(n)),
            ("minimum", json!(n)),
            ("exclusiveMaximum", json!(n + 2)),
            ("multipleOf", json!(1 + n)),
            ("pattern", json!("^[ab]")),
            ("minItems", json!(n)),
            ("maxItems", json!(n)),
            ("uniqueItems", json!(true)),
            ("maxProperties", json!(n)),
            ("additionalProperties", json!(false)),
            ("additionalProperties", json!({"type": "string"})),
            ("const", json!("a")),
            ("enum", json!(["a", 1, 2])),
            ("not", json!({"const": "a"})),
            ("allOf", json!([{"maxLength": 2}])),
            ("anyOf", json!([{"maxLength": 1}, {"minimum": 1}])),
            ("required", json!(["p"])),
            ("dependentRequired", json!({"p": ["q"]})),
            ("if", json!({"type": "string"})),
            ("then", json!({"maxLength": 1})),
        ]);
        schema[key] = value;
    }

    /// A value that a schema may accept.
    fn value(&mut self, schema: &Value) -> Value {
        if let Some(one) = schema.get("const").filter(|_| self.sometimes(2)) {
            return one.clone();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return self.pick(values);
        }
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array).filter(|_| self.sometimes(2)) {
            let branch = self.pick(branches);
            return self.value(&branch);
        }
        match schema["type"].as_str() {
            Some("object") => {
                let mut own = Map::new();
                for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
                    if !self.sometimes(3) {
                        own.insert(name.clone(), self.value(inner));
                    }
                }
                if self.sometimes(4) {
                    own.insert("other".to_owned(), self.pick(&[json!("s"), json!(1)]));
                }
                Value::Object(own)
            }
            Some("array") => {
                let first = schema["prefixItems"].as_array().cloned().unwrap_or_default();
                let any = json!({"type": "string"});
                let rest = schema.get("items").unwrap_or(&any);
                (0..self.below(4)).map(|at| self.value(first.get(at).unwrap_or(rest))).collect()
            }
            Some("boolean") => json!(self.sometimes(2)),
            Some("integer") => json!(self.below(6)),
            Some("number") => self.pick(&[json!(0.5), json!(1), json!(2), json!(3.5), json!(6)]),
            Some("string") => self.pick(&["", "a", "b", "ab", "bcd", "zzzz"]).into(),
            _ => self.pick(&[
                json!("a"),
                json!("zzz"),
                json!(1),
                json!(2.5),
                json!(null),
                json!(true),
                json!([]),
                json!({}),
            ]),
        }
    }

    /// A subschema of a schema.
    fn place<'s>(&mut self, schema: &'s mut Value) -> &'s mut Value {
        if self.sometimes(3) {
            return schema;
        }
        let mut inner: Vec<&str> = Vec::new();
        for key in ["properties", "items", "prefixItems", "anyOf"] {
            if schema.get(key).is_some() {
                inner.push(key);
            }
        }
        if inner.is_empty() {
            return schema;
        }
        let key = self.pick(&inner);
        let at = match &schema[key] {
            Value::Object(map) if key == "properties" => {
                format!("/{key}/{}", self.pick(&map.keys().collect::<Vec<_>>()))
            }
            Value::Array(list) => format!("/{key}/{}", self.below(list.len())),
            _ => format!("/{key}"),
        };
        self.place(schema.pointer_mut(&at).unwrap())
    }

    /// Changes a schema so that it accepts everything that it accepted.
    fn widen(&mut self, schema: &mut Value) {
        let one = self.place(schema);
        let has = |key: &str| one.get(key).is_some();
        match self.below(6) {
            0 if has("enum") => one["enum"].as_array_mut().unwrap().push(json!("more")),
            1 if one["type"].is_string() => one["type"] = json!([one["type"], "null"]),
            2 if has("required") => one["required"] = json!([]),
            3 if has("properties") => one["properties"]["new"] = json!({"type": "string"}),
            4 if has("anyOf") => one["anyOf"].as_array_mut().unwrap().push(json!({"type": "object"})),
            _ => {
                for key in [
                    "minLength",
                    "maxLength",
                    "minimum",
                    "exclusiveMaximum",
                    "multipleOf",
                    "pattern",
                    "minItems",
                    "maxItems",
                    "uniqueItems",
                    "maxProperties",
                    "not",
                    "allOf",
                    "dependentRequired",
                    "const",
                    "if",
                ] {
                    if has(key) {
                        one.as_object_mut().unwrap().shift_remove(key);
                        return;
                    }
                }
                one["description"] = json!("Another text.");
            }
        }
    }
}

fn catalog(parameters: &Value) -> Catalog {
    Catalog::import(
        &json!([{"name": "t", "description": "Does it.", "inputSchema": parameters}]).to_string(),
        "list",
        None,
    )
    .value
}

/// The findings of a change, without those about the lists as they are.
fn changes(old: &Value, new: &Value) -> Vec<Finding> {
    let before = catalog(old);
    let found = findings(&catalog(new), &Options { before: Some(&before), ..Options::new() });
    let of_changes = |rule: &str| {
        matches!(rule, "parameter-removed" | "newly-required" | "type-changed" | "enum-narrowed" | "bounds-narrowed")
            || matches!(rule, "default-changed" | "schema-changed" | "schema-widened" | "description-changed")
    };
    found.into_iter().filter(|one| of_changes(one.rule)).collect()
}

fn validator(schema: &Value) -> Option<Validator> {
    jsonschema::draft202012::new(schema).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(3_000), ..ProptestConfig::default() })]

    /// Break it by removing a keyword from the comparison: a value of the old schema is rejected,
    /// and nothing is reported.
    #[test]
    fn a_value_that_becomes_invalid_is_reported(seed in 1_u64..) {
        let mut random = Random(seed);
        let old = random.object(2);
        let mut new = old.clone();
        for _ in 0..1 + random.below(2) {
            match random.below(3) {
                0 => { let fresh = random.schema(1); *random.place(&mut new) = fresh; }
                1 => { let mut copy = Random(random.0); let place = copy.place(&mut new); random.restrict(place); }
                _ => random.widen(&mut new),
            }
        }
        let (Some(was), Some(is)) = (validator(&old), validator(&new)) else { return Ok(()) };
        prop_assume!(new["type"] == "object");
        let found = changes(&old, &new);
        let reported = found.iter().any(|one| one.severity != Severity::Note);
        prop_assert!(!found.is_empty() || catalog(&old).iter().next().map(|tool| tool.parameters().clone())
            == catalog(&new).iter().next().map(|tool| tool.parameters().clone()), "silent: {old} -> {new}");
        for _ in 0..40 {
            let value = random.value(&old);
            if was.is_valid(&value) && !is.is_valid(&value) {
                prop_assert!(reported, "{value} became invalid: {old} -> {new}: {found:?}");
            }
        }
    }
}

/// Break it by comparing alternatives one by one in order: a new alternative is then a change.
#[test]
fn a_wider_schema_is_no_error() {
    let (mut all, mut undecided) = (0_u32, 0_u32);
    for seed in 1..=u64::from(toolfold_testing::cases(2_000)) {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let old = random.object(2);
        let mut new = old.clone();
        for _ in 0..1 + random.below(3) {
            random.widen(&mut new);
        }
        if old == new {
            continue;
        }
        let found = changes(&old, &new);
        let errors: Vec<&Finding> = found.iter().filter(|one| one.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{old} -> {new}: {errors:?}");
        all += 1;
        undecided += u32::from(found.iter().any(|one| one.severity == Severity::Warning));
    }
    println!("{all} wider schemas, {undecided} with a warning");
    assert!(undecided * 20 <= all, "more than 5 % of the wider schemas have a warning");
}

/// Each place of a recursive definition would be another finding.
#[test]
fn a_change_of_a_recursive_definition_is_reported_once() {
    let list = |most: usize| {
        let inner: Map<String, Value> =
            ["a", "b", "c"].map(|name| (name.to_owned(), json!({"$ref": "#/$defs/n"}))).into_iter().collect();
        let node = json!({"type": "object", "properties": inner, "maxProperties": most, "anyOf": [{"$ref": "#/$defs/n"}, {"type": "object"}]});
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}, "y": {"$ref": "#/$defs/n"}}, "$defs": {"n": node}})
    };
    let found = changes(&list(5), &list(3));
    assert_eq!(found.iter().filter(|one| one.rule == "bounds-narrowed").count(), 1, "{found:?}");
}
