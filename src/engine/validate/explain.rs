//! Converts the crate's errors to [`Invalid`]: one line each, from the closest branch, in a stable
//! order.

use std::collections::BTreeSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::{Invalid, InvalidKind, MAX_INVALID, MAX_INVALID_BYTES, words};
use crate::engine::declared::{property, property_names};
use crate::name;
use crate::schema;

/// The maximum number of the crate's errors that are examined. They are sorted and cut afterwards.
const MAX_LOOKED_AT: usize = 1_000;

/// The maximum depth of nested unions.
const MAX_UNIONS: usize = 16;

/// The errors, and whether something could not be judged.
pub(super) struct Explained {
    pub(super) invalid: Vec<Invalid>,
    pub(super) unsettled: bool,
}

struct Explainer<'s> {
    root: &'s Value,
    /// Each error with its keyword, for sorting.
    found: Vec<(Invalid, String)>,
    unsettled: bool,
}

/// Describes the crate's errors.
pub(super) fn explain<'i>(root: &Value, errors: impl Iterator<Item = ValidationError<'i>>) -> Explained {
    let mut explainer = Explainer { root, found: Vec::new(), unsettled: false };
    for error in errors.take(MAX_LOOKED_AT) {
        explainer.explain_error(&error, 0);
    }
    let Explainer { mut found, unsettled, .. } = explainer;
    // Where a list of values or an exact value is expected, the expected type adds nothing.
    let mut exact: BTreeSet<String> = BTreeSet::new();
    for (invalid, keyword) in &found {
        if matches!(keyword.as_str(), "enum" | "const") {
            exact.insert(invalid.path.clone());
        }
    }
    found.retain(|(invalid, keyword)| keyword != "type" || !exact.contains(&invalid.path));
    found.sort_by_cached_key(|(invalid, keyword)| (order(&invalid.path), keyword.clone(), invalid.expected.clone()));
    found.dedup_by(|a, b| a.0 == b.0);
    Explained { invalid: limit_errors(found.into_iter().map(|(invalid, _)| invalid).collect()), unsettled }
}

impl Explainer<'_> {
    fn explain_error(&mut self, error: &ValidationError<'_>, depth: usize) {
        let path = error.instance_path().as_str();
        match error.kind() {
            Kind::Required { property } => self.missing(error, property.as_str().unwrap_or_default()),
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                self.explain_unknown(error, unexpected);
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => self.union(error, context, depth),
            Kind::PropertyNames { error: inner } => {
                let expected = format!("property names that are {}", self.expected(inner));
                self.push(path, &expected, words::found(inner.instance()), "propertyNames");
            }
            Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } | Kind::Custom { .. } => {
                self.unsettled = true;
            }
            Kind::FalseSchema if !path.is_empty() => {
                let found = "not allowed here".to_owned();
                let invalid =
                    Invalid { path: path.to_owned(), kind: InvalidKind::Unknown, expected: String::new(), found };
                self.found.push((invalid, "false".to_owned()));
            }
            kind => {
                let expected = self.expected(error);
                self.push(path, &expected, words::found(error.instance()), kind.keyword());
            }
        }
    }

    fn push(&mut self, path: &str, expected: &str, found: String, keyword: &str) {
        let expected = words::clip_expected(expected);
        self.found.push((Invalid::mismatch(path.to_owned(), expected, found), keyword.to_owned()));
    }

    /// The subschema whose keyword failed, if the crate's path is valid.
    fn subschema(&self, error: &ValidationError<'_>) -> Option<&Value> {
        let keyword = error.schema_path().as_str();
        let (owner, _) = keyword.rsplit_once('/')?;
        self.root.pointer(owner)
    }

    fn missing(&mut self, error: &ValidationError<'_>, name: &str) {
        let owner = self.subschema(error);
        let expected = match owner.and_then(|owner| property(self.root, owner, name)) {
            Some(node) => words::expectation(self.root, node),
            None => "a value".to_owned(),
        };
        // A similar name that is not forbidden probably holds the value.
        let mut known = BTreeSet::new();
        if let Some(owner) = owner {
            property_names(self.root, owner, &mut known);
        }
        let closed = owner.is_some_and(|owner| owner.get("additionalProperties") == Some(&Value::Bool(false)));
        let mut found = String::new();
        if let (Value::Object(given), false) = (error.instance().as_ref(), closed) {
            let unknown = given.keys().map(String::as_str).filter(|given| !known.contains(given)).take(64);
            if let Some(near) = name::nearest(name, unknown, 1).first() {
                found = format!(" (`{}` is not a known name)", words::clip(near));
            }
        }
        let path = join(error.instance_path().as_str(), name);
        self.found.push((Invalid { path, kind: InvalidKind::Missing, expected, found }, "required".to_owned()));
    }

    fn explain_unknown(&mut self, error: &ValidationError<'_>, unexpected: &[String]) {
        let mut known = BTreeSet::new();
        if let Some(owner) = self.subschema(error) {
            property_names(self.root, owner, &mut known);
        }
        let at = error.instance_path().as_str();
        let noun = if at.is_empty() { "parameter" } else { "property" };
        let mut said = Vec::new();
        for name in unexpected.iter().take(MAX_LOOKED_AT) {
            let free = known.iter().copied().filter(|known| error.instance().get(known).is_none());
            // A known name that is already used is suggested only if no other is close.
            let near = name::nearest(name, free, 1).into_iter().next();
            let expected = near.map(words::clip).unwrap_or_default();
            let found = match near {
                None if known.is_empty() => format!("unknown {noun}; none are allowed"),
                None => format!("unknown {noun}; allowed: {}", words::some_names(known.iter().copied())),
                Some(_) => format!("unknown {noun}"),
            };
            let invalid = Invalid { path: join(at, name), kind: InvalidKind::Unknown, expected, found };
            said.push((invalid, "additionalProperties".to_owned()));
        }
        self.found.extend(said);
    }

    /// The branch that fits best, or what all branches expect at the same place.
    fn union(&mut self, error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>], depth: usize) {
        let at = error.instance_path().as_str();
        let mut fitting: Vec<&Vec<ValidationError<'static>>> =
            context.iter().filter(|branch| !branch.iter().any(|error| is_of_whole(error, at))).collect();
        if fitting.is_empty() || depth >= MAX_UNIONS {
            let owner = self.subschema(error);
            let branches = owner.map_or(&[][..], |owner| schema::list_member(owner, error.kind().keyword()));
            let expected = words::either(branches.iter().take(8).map(|branch| words::expectation(self.root, branch)));
            let expected = if expected.is_empty() { "another value".to_owned() } else { expected };
            return self.push(at, &expected, words::found(error.instance()), error.kind().keyword());
        }
        if let [_, _, ..] = fitting.as_slice() {
            if let Some((path, wanted, got)) = discriminator(&fitting) {
                return self.push(&path, &words::one_of(&wanted), got, "enum");
            }
            if let Some(names) = alternatives(&fitting, at) {
                let expected = format!("one of {}", words::some_names(names.into_iter()));
                return self.push(at, &expected, "none of them".to_owned(), error.kind().keyword());
            }
        }
        fitting.sort_by_cached_key(|branch| {
            let exact = branch.iter().filter(|error| matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. }));
            (exact.count(), branch.len())
        });
        for error in fitting.first().into_iter().copied().flatten() {
            self.explain_error(error, depth + 1);
        }
    }

    /// What was expected at the place of `error`.
    fn expected(&self, error: &ValidationError<'_>) -> String {
        let limit = |phrase: &str, number: u64, noun: &str| format!("{phrase} {}", words::counted_noun(number, noun));
        match error.kind() {
            Kind::Type { kind: TypeKind::Single(one) } => words::article(one.as_str()),
            Kind::Type { kind: TypeKind::Multiple(several) } => {
                words::either(several.iter().map(|kind| words::article(kind.as_str())))
            }
            Kind::Enum { options } => match options.as_ref() {
                Value::Array(values) => words::one_of(values),
                other => words::found(other),
            },
            Kind::Constant { expected_value } => words::found(expected_value),
            Kind::Minimum { limit } => format!("at least {limit}"),
            Kind::Maximum { limit } => format!("at most {limit}"),
            Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
            Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
            Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
            Kind::MinLength { limit: number } => limit("at least", *number, "character"),
            Kind::MaxLength { limit: number } => limit("at most", *number, "character"),
            Kind::MinItems { limit: number } => limit("at least", *number, "item"),
            Kind::MaxItems { limit: number } => limit("at most", *number, "item"),
            Kind::AdditionalItems { limit: number } => {
                limit("at most", u64::try_from(*number).unwrap_or(u64::MAX), "item")
            }
            Kind::UnevaluatedItems { .. } => "no more items".to_owned(),
            Kind::MinProperties { limit: number } => limit("at least", *number, "property"),
            Kind::MaxProperties { limit: number } => limit("at most", *number, "property"),
            Kind::UniqueItems => "unique items".to_owned(),
            Kind::Pattern { pattern } => format!("text that matches `{}`", words::clip(pattern)),
            Kind::Format { format } => format!("text in the format `{}`", words::clip(format)),
            Kind::Contains => self.contains(error),
            Kind::ContentEncoding { content_encoding } => format!("text encoded as {}", words::clip(content_encoding)),
            Kind::ContentMediaType { content_media_type } => {
                format!("text of type {}", words::clip(content_media_type))
            }
            Kind::Not { schema } => {
                format!("anything but {}", words::found(schema_as_written(self.root, error, schema)))
            }
            Kind::OneOfMultipleValid { .. } => "a value that matches exactly one alternative".to_owned(),
            Kind::FalseSchema => "nothing".to_owned(),
            _ => "a value that matches the schema".to_owned(),
        }
    }

    fn contains(&self, error: &ValidationError<'_>) -> String {
        let Some(owner) = self.subschema(error) else { return "an array with other items".to_owned() };
        let number = |key: &str| owner.get(key).and_then(Value::as_u64);
        let what = owner.get("contains").map(|node| words::expectation(self.root, node)).unwrap_or_default();
        match (number("minContains").unwrap_or(1), number("maxContains")) {
            (least, None) => {
                format!("an array with {what} in it at least {least} times").replace(" at least 1 times", "")
            }
            (least, Some(most)) => format!("an array with {what} in it {least} to {most} times"),
        }
    }
}

/// Whether an error rejects the whole value at `at`: its type, or the value itself.
fn is_of_whole(error: &ValidationError<'static>, at: &str) -> bool {
    let rejects =
        matches!(error.kind(), Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. } | Kind::FalseSchema);
    rejects && error.instance_path().as_str() == at
}

/// The values that an error expects, at most 64; `None` if it expects no exact value.
fn exact_values(error: &ValidationError<'static>) -> Option<Vec<Value>> {
    match error.kind() {
        Kind::Constant { expected_value } => Some(vec![Value::clone(expected_value)]),
        Kind::Enum { options } => options.as_array().map(|list| list.iter().take(64).cloned().collect()),
        _ => None,
    }
}

/// The place where every branch expects a different value, all these values, and the value found
/// there.
fn discriminator(branches: &[&Vec<ValidationError<'static>>]) -> Option<(String, Vec<Value>, String)> {
    let (first, rest) = branches.split_first()?;
    first.iter().find_map(|error| {
        let mut wanted = exact_values(error)?;
        for branch in rest {
            let mut same = branch.iter().filter(|other| other.instance_path() == error.instance_path());
            for value in same.find_map(exact_values)? {
                if !wanted.contains(&value) {
                    wanted.push(value);
                }
            }
        }
        Some((error.instance_path().as_str().to_owned(), wanted, words::found(error.instance())))
    })
}

/// The names, if every branch lacks nothing but one of them.
fn alternatives<'a>(branches: &[&'a Vec<ValidationError<'static>>], at: &str) -> Option<BTreeSet<&'a str>> {
    let mut names = BTreeSet::new();
    for branch in branches {
        let [only] = branch.as_slice() else { return None };
        match only.kind() {
            Kind::Required { property } if only.instance_path().as_str() == at => names.insert(property.as_str()?),
            _ => return None,
        };
    }
    Some(names)
}

/// The schema below `not` as written, without the added keywords.
fn schema_as_written<'a>(root: &'a Value, error: &ValidationError<'_>, compiled: &'a Value) -> &'a Value {
    root.pointer(error.schema_path().as_str()).unwrap_or(compiled)
}

/// Sorts array indexes by number and names by spelling.
fn order(path: &str) -> Vec<(u64, String)> {
    path.split('/').map(|part| (part.parse().unwrap_or(u64::MAX), part.to_owned())).collect()
}

fn join(path: &str, name: &str) -> String {
    format!("{path}/{}", schema::pointer_token(name))
}

/// Limits the errors, and appends the number of the remaining ones.
fn limit_errors(mut invalid: Vec<Invalid>) -> Vec<Invalid> {
    const MORE: usize = 64;
    let count = invalid.len();
    let mut bytes = 0;
    let mut keep = 0;
    for one in &invalid {
        bytes += one.to_string().len() + 1;
        if bytes > MAX_INVALID_BYTES - MORE || keep == MAX_INVALID {
            break;
        }
        keep += 1;
    }
    if keep == count {
        return invalid;
    }
    invalid.truncate(keep.min(MAX_INVALID - 1));
    let found = format!("and {} more", count - invalid.len());
    let kind = InvalidKind::More;
    invalid.push(Invalid { path: String::new(), kind, expected: String::new(), found });
    invalid
}
