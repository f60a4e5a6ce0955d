//! The one table of schema keywords.
//!
//! Sources: JSON Schema draft 4, draft 6, draft 7, 2019-09 and 2020-12 (core, applicator, unevaluated, validation,
//! meta-data, format and content vocabularies), and the schema object of OpenAPI 3.0 and 3.1.

/// What the value of a keyword holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// A schema, or a list of them: `items`, which older drafts write either way.
    SchemaOrSchemas,
    /// An object whose values are schemas and whose keys are names.
    Named,
    /// An object whose values are schemas or lists of property names: `dependencies`.
    NamedOrNames,
    /// No schema.
    Value,
}

/// What a keyword does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Names the schema, so that references find it.
    Identity,
    /// Refers to another schema, which applies to the same value.
    Reference,
    /// Keeps schemas that apply nowhere until something refers to them.
    Definitions,
    /// Applies schemas to the same value.
    InPlace,
    /// Applies schemas to the parts of a value: its properties, their names, its items.
    Child,
    /// Restricts the value by a number.
    Bound,
    /// Restricts the value in another way.
    Assertion,
    /// Explains, without effect on what is valid.
    Annotation,
}

/// A keyword and its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keyword {
    /// Its name.
    pub name: &'static str,
    /// What its value holds.
    pub holds: Holds,
    /// What it does.
    pub role: Role,
}

/// The types of JSON Schema.
pub const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "null", "array", "object"];

/// Makes the table.
macro_rules! keywords {
    ($($name:literal $holds:ident $role:ident;)*) => {
        /// Every known keyword, by vocabulary.
        ///
        /// `$schema` is an annotation here: it names the dialect, which a reader of one schema knows. `format` and the
        /// `content…` keywords are assertions, because some drafts and many validators assert them.
        pub const KEYWORDS: &[Keyword] =
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
    // The document that a string is the text of.
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

/// How many places the search for a keyword has: a power of two, some times as many as there are keywords.
const PLACES: usize = 256;

/// Where the search for a keyword begins. The factors were searched for: each keyword has its place or the next. It is the commonest question of all: a start asks tens of thousands of times.
const fn place(name: &str) -> usize {
    let name = name.as_bytes();
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return 0 };
    (*first as usize * 5 + *last as usize * 41 + name.len() * 8) % PLACES
}

/// At each place the number of a keyword in [`KEYWORDS`], counted from 1, or 0. A keyword whose place is taken has the next.
#[allow(clippy::indexing_slicing, reason = "at compile time; a wrong index does not compile")]
static NUMBERS: [u8; PLACES] = {
    let mut numbers = [0; PLACES];
    let mut number = 0;
    while number < KEYWORDS.len() {
        let mut at = place(KEYWORDS[number].name);
        while numbers[at] != 0 {
            at = (at + 1) % PLACES;
        }
        number += 1;
        numbers[at] = number as u8;
    }
    numbers
};

/// The entry of a keyword; `None` if no dialect of the table has it.
#[must_use]
pub fn keyword(name: &str) -> Option<Keyword> {
    let mut at = place(name);
    loop {
        let number = usize::from(*NUMBERS.get(at)?);
        let found = KEYWORDS.get(number.checked_sub(1)?)?;
        if found.name == name {
            return Some(*found);
        }
        at = (at + 1) % PLACES;
    }
}

/// What the value of a keyword holds. An unknown keyword holds no schema.
#[must_use]
pub fn holds(name: &str) -> Holds {
    keyword(name).map_or(Holds::Value, |keyword| keyword.holds)
}

/// What a keyword does. An unknown one is an assertion, because that is the careful guess. One that begins with `x-` is
/// an annotation: OpenAPI reserves that prefix for extensions.
#[must_use]
pub fn role(name: &str) -> Role {
    match keyword(name) {
        Some(keyword) => keyword.role,
        None if name.starts_with("x-") => Role::Annotation,
        None => Role::Assertion,
    }
}

/// Whether a keyword has no effect on what is valid.
#[must_use]
pub fn is_annotation(name: &str) -> bool {
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
