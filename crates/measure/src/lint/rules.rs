//! The table of rules: what each finds and what to do about it.

use schemars::JsonSchema;
use serde::Serialize;
use toolfold::diagnostic::Severity;

/// The subject of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Group {
    /// The texts of a tool and its parameters.
    Words,
    /// Content that should not be in a list.
    Safety,
    /// The validity and clarity of the schema.
    Schema,
    /// The restrictions of providers.
    Provider,
    /// The list as a whole.
    List,
    /// Metadata for clients: annotations and titles.
    Hints,
    /// Differences from an earlier list.
    Change,
}

impl Group {
    /// The heading of the group.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Words => "Words",
            Self::Safety => "Safety",
            Self::Schema => "Schemas",
            Self::Provider => "Providers",
            Self::List => "The list",
            Self::Hints => "Annotations",
            Self::Change => "Changes (with --against)",
        }
    }
}

/// One rule. Its id is stable: configurations name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Rule {
    /// The id, in kebab-case.
    pub id: &'static str,
    /// The group of the rule.
    pub group: Group,
    /// The usual severity. Some rules have more and less severe cases.
    pub severity: Severity,
    /// Whether `--fix` fixes it.
    pub fixable: bool,
    /// The problem that it finds, as a sentence without a full stop.
    pub finds: &'static str,
    /// How to fix it, as a sentence without a full stop.
    pub fix: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $group:ident $severity:ident $fixable:literal $finds:literal => $fix:literal;)*) => {
        $(
            pub(super) static $name: Rule = Rule {
                id: $id,
                group: Group::$group,
                severity: Severity::$severity,
                fixable: $fixable,
                finds: $finds,
                fix: $fix,
            };
        )*
        /// Every rule, by group.
        pub static RULES: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    // Words.
    NO_DESCRIPTION "no-description" Words Warning false
        "a tool has no description" => "describe in one sentence what it does";
    NOT_ALONE "sentence-not-alone" Words Note false
        "the first sentence of a description cannot serve as a summary: a heading, a warning, a condition"
        => "begin with one sentence that describes what the tool does";
    SHARED_SENTENCE "shared-sentence" Words Warning false
        "three or more tools begin with the same sentence" => "begin with what distinguishes each tool";
    RESTATES_TOOL "description-restates-name" Words Note false
        "a tool's description repeats its name" => "describe what it does, on what, and what it returns";
    LONG_DESCRIPTION "long-description" Words Note false
        "a tool's description is very long"
        => "keep what a model needs to choose and call the tool; move the rest to where it is used";
    EXAMPLES_INSIDE "examples-in-description" Words Note false
        "a description contains blocks of examples"
        => "keep one short example, or none if the schema defines the format";
    LOOSE_SPACE "loose-white-space" Words Note true
        "a description has leading or trailing white space, indentation or empty lines" => "remove it";
    UNDESCRIBED "undescribed-parameter" Words Note false
        "parameters have no description" => "describe the meaning and format of each in a few words";
    RESTATES_TYPE "restates-type" Words Note true
        "a parameter's description repeats its type" => "describe its meaning, or remove the description";
    RESTATES_NAME "restates-name" Words Note false
        "a parameter's description repeats its name"
        => "add information that the name lacks, or remove the description";
    LONG_PARAMETER "long-parameter-description" Words Note false
        "a parameter's description is very long" => "keep what is needed to write the value";
    ENUM_IN_WORDS "enum-in-words" Words Note false
        "the values of a string are only in the description" => "list them in `enum`";
    FORMAT_IN_WORDS "format-in-words" Words Note false
        "the format of a string is only in the description" => "declare it with `format`, which clients can check";
    RANGE_IN_WORDS "range-in-words" Words Note false
        "the range of a number is only in the description" => "declare it with `minimum` and `maximum`";
    LIST_IN_WORDS "list-in-words" Words Note false
        "a list is passed as one string with separators" => "use an array, if the server accepts one";
    JSON_IN_WORDS "json-in-words" Words Note false
        "an object or list is passed as a JSON string" => "declare its structure, if the server accepts it";
    DEFAULT_IN_WORDS "default-in-words" Words Note false
        "a default is only in the description" => "declare it with `default`; folding drops descriptions first";
    TITLE_RESTATES "title-restates-name" Words Note true
        "schemas have titles that repeat their names; titles are billed" => "remove them";
    UNKNOWN_TOOL "mentions-unknown-tool" Words Note false
        "a description refers to a tool that is not in the list"
        => "name an existing tool, or remove the reference";
    BOILERPLATE "boilerplate" Words Note false
        "five or more tools contain the same text"
        => "write it once: in the server's instructions, or in the system prompt";
    // Safety.
    SECRET "secret-in-text" Safety Error false
        "a text contains a probable key or token" => "revoke it and remove it";
    PRIVATE_KEY "private-key" Safety Error false
        "a text contains a private key" => "revoke it and remove it";
    URL_PASSWORD "password-in-url" Safety Error false
        "a URL contains a user and a password" => "change the password and remove it";
    HOME_PATH "home-path" Safety Warning false
        "a text contains a path in a user's home folder" => "use a path that is valid on every machine";
    HIDDEN "hidden-characters" Safety Error false
        "a text has characters that models read and people cannot see" => "remove them, or do not trust the tool";
    BIDI "bidi-characters" Safety Error false
        "a text has characters that reorder the displayed text" => "remove them, or do not trust the tool";
    INJECTION "injection-like" Safety Warning false
        "a description resembles instructions against the user"
        => "review it; remove the text, or do not trust the tool";
    // Schemas.
    INVALID "invalid-schema" Schema Error false
        "a schema is not valid JSON Schema" => "fix it: calls of the tool cannot be validated";
    MISSING_REF "unresolved-ref" Schema Error false
        "a `$ref` has no target" => "fix the pointer, or add the definition";
    REMOTE_REF "remote-ref" Schema Error false
        "a `$ref` refers to another document, which is never fetched" => "inline the definition";
    RECURSIVE "recursive-ref" Schema Note false
        "a schema refers to itself" => "limit the depth; strict modes and Gemini do not support every recursion";
    UNUSED_DEFS "unused-definitions" Schema Note true
        "definitions without references" => "remove them";
    EMPTY_MEMBER "empty-member" Schema Note true
        "a description or title in a schema is empty" => "remove it";
    MISSPELT "misspelt-keyword" Schema Warning false
        "an unknown keyword that is similar to a known one" => "correct the spelling: it has no effect now";
    REQUIRED_UNKNOWN "required-unknown" Schema Warning false
        "`required` names an unknown parameter" => "add the parameter, or remove the name";
    DUPLICATE_REQUIRED "duplicate-required" Schema Warning true
        "`required` names a parameter twice" => "remove one";
    DUPLICATE_ENUM "duplicate-enum-value" Schema Warning true
        "an `enum` has a value twice" => "remove one";
    ENUM_TYPE "enum-type-mismatch" Schema Error false
        "an `enum` has values that the schema's type excludes" => "fix the values or the type";
    DEFAULT_MISMATCH "default-mismatch" Schema Warning false
        "a default is invalid under its own schema" => "fix the default or the schema";
    EXAMPLE_MISMATCH "example-mismatch" Schema Warning false
        "an example is invalid under its own schema" => "fix the example or the schema";
    BOUNDS "contradictory-bounds" Schema Error false
        "bounds that no value satisfies" => "fix them";
    UNTYPED "untyped-parameter" Schema Note false
        "a parameter's schema has no type" => "add a `type`";
    OPEN_OBJECT "open-object" Schema Note false
        "an object's schema does not describe its content"
        => "declare its properties, or their values with `additionalProperties`";
    LARGE_ENUM "large-enum" Schema Warning false
        "an `enum` has a hundred values or more" => "accept a string, and offer a tool that looks up values";
    MANY_PARAMETERS "many-parameters" Schema Note false
        "a tool has more than twenty parameters" => "split the tool by task, or group related parameters";
    DEEP "deep-nesting" Schema Note false
        "objects are nested more than five levels deep"
        => "flatten it: models make more errors, and strict modes allow five or ten levels";
    NEAR_PARAMETERS "near-duplicate-parameters" Schema Warning false
        "two parameters of one tool differ only in case or `_`" => "keep one";
    // Providers.
    REPAIRED "repaired-schema" Provider Warning true
        "a provider rejects the schema, and a small addition fixes it" => "add it";
    AT_TOP "refused-at-top" Provider Warning false
        "a provider rejects `oneOf`, `anyOf`, `allOf`, `enum` or `not` at the top level of a schema"
        => "move the alternatives one level down, or describe them in the description";
    REFUSED_NAME "refused-name" Provider Warning false
        "a provider rejects the tool's name" => "rename the tool";
    REFUSED_PARAMETER "refused-parameter" Provider Warning false
        "a provider rejects a parameter's name" => "rename the parameter";
    DESCRIPTION_LIMIT "description-limit" Provider Warning false
        "a description is longer than a provider allows" => "shorten it";
    TOO_MANY_TOOLS "too-many-tools" Provider Warning false
        "the list has more tools than a provider allows" => "defer tools: arm index or auto";
    TOO_MANY_STRICT "too-many-strict" Provider Warning false
        "more tools are strict than a provider allows" => "use `strict` only for the tools that need it";
    GEMINI_SUBSET "gemini-subset" Provider Note false
        "Gemini's old `parameters` narrow the schema (with --wire gemini)" => "send `parametersJsonSchema`";
    STRICT_OPEN "strict-open-object" Provider Error false
        "a strict schema has an object without `additionalProperties: false`" => "add it, or remove `strict`";
    STRICT_OPTIONAL "strict-optional" Provider Error false
        "a strict schema has parameters that are not required" => "require them and allow null, or remove `strict`";
    STRICT_KEYWORD "strict-keyword" Provider Error false
        "a strict schema has keywords that strict mode rejects" => "remove them, or remove `strict`";
    // The list.
    UNREADABLE "unreadable-tool" List Error false
        "an entry of the list is not a valid tool" => "fix the entry: it is not sent";
    DUPLICATE_NAME "duplicate-name" List Error false
        "two tools have the same name" => "rename one: only the first is sent";
    COLLIDING "colliding-names" List Warning false
        "names that differ only in case, `-` or `_`" => "rename all but one: models confuse them";
    CONFUSABLE "confusable-tools" List Warning false
        "tools that a model will confuse (with --pairs)"
        => "state in each description when to use which, or merge them";
    SPELLINGS "inconsistent-parameter" List Note false
        "tools spell the same parameter differently" => "use one spelling";
    LARGE_CATEGORY "large-category" List Note false
        "a category of the profile has more than ten tools" => "split it by subject: it is expanded as a whole";
    SMALL_STUBS "stub-saves-nothing" List Note false
        "tools so small that folding saves nothing"
        => "list them as core, or leave them: every arm sends them in full";
    // Annotations.
    READ_ONLY "read-only-contradiction" Hints Warning false
        "a tool is annotated as read-only, and its name implies a change"
        => "correct the hint: clients run read-only tools without approval";
    HINTS_DISAGREE "hints-disagree" Hints Warning false
        "a tool is annotated as read-only and as destructive" => "correct one of the hints";
    NO_HINTS "no-annotations" Hints Note false
        "tools of an MCP list have no annotations"
        => "add `readOnlyHint` and `destructiveHint`: without them clients request approval for every call";
    NO_TITLE "no-title" Hints Note false
        "tools of an MCP list have no title" => "add a title for people";
    // Changes.
    REMOVED "tool-removed" Change Error false
        "a tool was removed" => "keep it for a while, or announce it in the release notes";
    ADDED "tool-added" Change Note false
        "a tool is new" => "check its cost: every client pays for it";
    PARAMETER_REMOVED "parameter-removed" Change Error false
        "a parameter was removed" => "accept it for a while";
    NEWLY_REQUIRED "newly-required" Change Error false
        "a parameter is now required" => "make it optional with a default";
    TYPE_CHANGED "type-changed" Change Error false
        "a parameter no longer accepts some types" => "accept the old types, too";
    ENUM_NARROWED "enum-narrowed" Change Error false
        "a parameter no longer accepts some values" => "accept the old values, too";
    BOUNDS_NARROWED "bounds-narrowed" Change Warning false
        "a parameter has narrower bounds, a new pattern or another new restriction" => "accept the old values, too";
    SCHEMA_CHANGED "schema-changed" Change Warning false
        "a schema has changed in a way that cannot be decided: earlier calls may be invalid"
        => "test it with earlier calls, or keep the old schema";
    SCHEMA_WIDENED "schema-widened" Change Note false
        "a schema has changed, and every earlier call stays valid" => "nothing: clients need no change";
    DEFAULT_CHANGED "default-changed" Change Warning false
        "a default has changed: calls that omit it behave differently"
        => "keep it, or announce it in the release notes";
    HINT_WEAKENED "hint-changed" Change Warning false
        "a tool is no longer annotated as read-only or as not destructive"
        => "announce it in the release notes: approvals were given for the old annotations";
    DESCRIPTION_CHANGED "description-changed" Change Note false
        "a tool's description has changed" => "review it: models act on it";
}
