//! The table of schema keywords.
//!
//! Sources: JSON Schema draft 4, draft 6, draft 7, 2019-09 and 2020-12 (core, applicator,
//! unevaluated, validation, meta-data, format and content vocabularies), and the schema object of
//! OpenAPI 3.0 and 3.1.

/// The form of a keyword's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holds {
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// A schema or a list of schemas: `items`, for which older drafts allow both.
    SchemaOrSchemas,
    /// An object whose values are schemas and whose keys are names.
    Named,
    /// An object whose values are schemas or lists of property names: `dependencies`.
    NamedOrNames,
    /// Not a schema.
    Value,
}

/// The effect of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Identifies the schema as the target of references.
    Identity,
    /// Refers to another schema, which applies to the same value.
    Reference,
    /// Defines schemas that apply only where they are referenced.
    Definitions,
    /// Applies schemas to the same value.
    InPlace,
    /// Applies schemas to parts of the value: its properties, their names, its items.
    Child,
    /// Restricts the value by a number.
    Bound,
    /// Restricts the value in another way.
    Assertion,
    /// Describes the value without restricting it.
    Annotation,
}

/// A keyword and its classification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Keyword {
    /// The keyword's name.
    pub name: &'static str,
    /// The form of its value.
    pub holds: Holds,
    /// Its effect.
    pub(crate) role: Role,
}

/// The types of JSON Schema.
pub(crate) const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "null", "array", "object"];

/// Defines the table.
macro_rules! keywords {
    ($($name:literal $holds:ident $role:ident;)*) => {
        /// Every known keyword, by vocabulary.
        ///
        /// `$schema` is an annotation here, because it only names the dialect. `format` and the
        /// `content…` keywords are assertions, because some drafts and many validators assert them.
        pub(crate) const KEYWORDS: &[Keyword] =
            &[$(Keyword { name: $name, holds: Holds::$holds, role: Role::$role }),*];
    };
}

keywords! {
    // Core.
    "$schema" Value Annotation;
    "$comment" Value Annotation;
    "$vocabulary" Value Identity;
    "$id" Value Identity;
    "id" Value Identity;
    "$anchor" Value Identity;
    "$dynamicAnchor" Value Identity;
    "$recursiveAnchor" Value Identity;
    "$ref" Value Reference;
    "$dynamicRef" Value Reference;
    "$recursiveRef" Value Reference;
    "$defs" Named Definitions;
    "definitions" Named Definitions;
    // Applicators for the same value.
    "allOf" Schemas InPlace;
    "anyOf" Schemas InPlace;
    "oneOf" Schemas InPlace;
    "not" Schema InPlace;
    "if" Schema InPlace;
    "then" Schema InPlace;
    "else" Schema InPlace;
    "dependentSchemas" Named InPlace;
    "dependencies" NamedOrNames InPlace;
    // Applicators for parts of the value.
    "properties" Named Child;
    "patternProperties" Named Child;
    "additionalProperties" Schema Child;
    "unevaluatedProperties" Schema Child;
    "propertyNames" Schema Child;
    "items" SchemaOrSchemas Child;
    "prefixItems" Schemas Child;
    "additionalItems" Schema Child;
    "unevaluatedItems" Schema Child;
    "contains" Schema Child;
    // The schema of the document that a string contains.
    "contentSchema" Schema Child;
    "contentEncoding" Value Assertion;
    "contentMediaType" Value Assertion;
    // Limits. In draft 4 the two exclusive ones are booleans beside `minimum` and `maximum`.
    "minimum" Value Bound;
    "maximum" Value Bound;
    "exclusiveMinimum" Value Bound;
    "exclusiveMaximum" Value Bound;
    "multipleOf" Value Bound;
    "minLength" Value Bound;
    "maxLength" Value Bound;
    "minItems" Value Bound;
    "maxItems" Value Bound;
    "minContains" Value Bound;
    "maxContains" Value Bound;
    "minProperties" Value Bound;
    "maxProperties" Value Bound;
    // Other assertions.
    "type" Value Assertion;
    "enum" Value Assertion;
    "const" Value Assertion;
    "pattern" Value Assertion;
    "format" Value Assertion;
    "uniqueItems" Value Assertion;
    "required" Value Assertion;
    "dependentRequired" Value Assertion;
    // Annotations.
    "title" Value Annotation;
    "description" Value Annotation;
    "default" Value Annotation;
    "examples" Value Annotation;
    "deprecated" Value Annotation;
    "readOnly" Value Annotation;
    "writeOnly" Value Annotation;
    // OpenAPI.
    "example" Value Annotation;
    "xml" Value Annotation;
    "externalDocs" Value Annotation;
    "nullable" Value Assertion;
    "discriminator" Value Assertion;
}

/// The number of slots in the hash table: a power of two, several times the number of keywords.
const PLACES: usize = 256;

/// The first slot to search for a keyword. The factors were chosen by search so that each keyword
/// is in this slot or the next. This lookup is the most frequent operation: startup performs tens
/// of thousands.
const fn first_slot(name: &str) -> usize {
    let name = name.as_bytes();
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return 0 };
    (*first as usize * 5 + *last as usize * 41 + name.len() * 8) % PLACES
}

/// For each slot, the 1-based index of a keyword in [`KEYWORDS`], or 0. A keyword whose slot is
/// taken uses the next one.
#[allow(clippy::indexing_slicing, reason = "at compile time; a wrong index does not compile")]
static NUMBERS: [u8; PLACES] = {
    let mut numbers = [0; PLACES];
    let mut number = 0;
    while number < KEYWORDS.len() {
        let mut at = first_slot(KEYWORDS[number].name);
        while numbers[at] != 0 {
            at = (at + 1) % PLACES;
        }
        number += 1;
        numbers[at] = number as u8;
    }
    numbers
};

/// The entry of a keyword; `None` if it is unknown.
#[must_use]
pub(crate) fn keyword(name: &str) -> Option<Keyword> {
    let mut at = first_slot(name);
    loop {
        let number = usize::from(*NUMBERS.get(at)?);
        let found = KEYWORDS.get(number.checked_sub(1)?)?;
        if found.name == name {
            return Some(*found);
        }
        at = (at + 1) % PLACES;
    }
}

/// The form of a keyword's value. The value of an unknown keyword holds no schema.
#[must_use]
pub fn holds(name: &str) -> Holds {
    keyword(name).map_or(Holds::Value, |keyword| keyword.holds)
}

/// The effect of a keyword. An unknown keyword counts as an assertion, which is the conservative
/// choice. One that begins with `x-` is an annotation: OpenAPI reserves that prefix for extensions.
#[must_use]
pub(crate) fn role(name: &str) -> Role {
    match keyword(name) {
        Some(keyword) => keyword.role,
        None if name.starts_with("x-") => Role::Annotation,
        None => Role::Assertion,
    }
}

/// The names of the known keywords, by vocabulary.
pub fn keyword_names() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|known| known.name)
}

/// Whether a keyword has no effect on validity.
#[must_use]
pub(crate) fn is_annotation(name: &str) -> bool {
    role(name) == Role::Annotation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_and_nothing_else() {
        for known in KEYWORDS {
            assert_eq!(keyword(known.name), Some(*known));
            assert_eq!(keyword(&format!("{}s", known.name)).is_some(), known.name == "example");
            assert_eq!(keyword(&known.name.to_uppercase()), None);
        }
        assert_eq!(keyword(""), None);
        let searched = (0..PLACES).map(|at| NUMBERS.iter().cycle().skip(at).take_while(|number| **number != 0).count());
        assert!(searched.max() < Some(8), "a search is short");
    }
}
