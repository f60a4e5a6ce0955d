//! The table of rules: what each finds and how to fix it.

use serde::Serialize;
use toolfold::diagnostic::Severity;

/// The subject of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// The texts of a tool and its parameters.
    Words,
    /// Content that must not be there.
    Safety,
    /// The validity and meaning of the schema.
    Schema,
    /// Provider restrictions.
    Provider,
    /// The list as a whole.
    List,
    /// Annotations and titles, which clients read.
    Hints,
    /// Differences to a previous list.
    Change,
}

impl Group {
    /// Its heading.
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

/// A rule. Its id is stable, because configurations name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Its kebab-case id.
    pub id: &'static str,
    /// Its group.
    pub group: Group,
    /// The usual severity of a finding. Some rules have worse and milder cases.
    pub severity: Severity,
    /// Whether `--fix` fixes it.
    pub fixable: bool,
    /// What it finds, as a sentence without a full stop.
    pub finds: &'static str,
    /// How to fix it, likewise.
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
        "the first sentence of a description cannot stand for the tool: a heading, a warning, a condition"
        => "begin with one sentence about what the tool does";
    SHARED_SENTENCE "shared-sentence" Words Warning false
        "three tools or more begin with the same sentence" => "begin with the difference between them";
    RESTATES_TOOL "description-restates-name" Words Note false
        "a tool's description only repeats its name" => "describe what it does, to what, and what it returns";
    LONG_DESCRIPTION "long-description" Words Note false
        "a tool's description is very long" => "keep what a model needs to choose and call the tool; move the rest to where it is used";
    EXAMPLES_INSIDE "examples-in-description" Words Note false
        "a description holds blocks of examples" => "keep one short example, or none if the schema is sufficient";
    LOOSE_SPACE "loose-white-space" Words Note true
        "a description has white space around it, indentation or empty lines" => "take it out";
    UNDESCRIBED "undescribed-parameter" Words Note false
        "parameters have no description" => "describe each and its form in a few words";
    RESTATES_TYPE "restates-type" Words Note true
        "a parameter's description only repeats its type" => "describe it, or remove it";
    RESTATES_NAME "restates-name" Words Note false
        "a parameter's description only repeats its name" => "add what is not in the name, or remove it";
    LONG_PARAMETER "long-parameter-description" Words Note false
        "a parameter's description is very long" => "keep what is needed to write the value";
    ENUM_IN_WORDS "enum-in-words" Words Note false
        "the values of a string are only given in words" => "list them in `enum`";
    FORMAT_IN_WORDS "format-in-words" Words Note false
        "the format of a string is only given in words" => "use `format`, which clients can check";
    RANGE_IN_WORDS "range-in-words" Words Note false
        "the range of a number is only given in words" => "use `minimum` and `maximum`";
    LIST_IN_WORDS "list-in-words" Words Note false
        "a list is given as one text with separators" => "make it an array, if the server can take one";
    JSON_IN_WORDS "json-in-words" Words Note false
        "an object or list is given as JSON in a text" => "declare its shape, if the server can take it";
    DEFAULT_IN_WORDS "default-in-words" Words Note false
        "a default is only given in words" => "use `default`, which folding keeps longer than words";
    TITLE_RESTATES "title-restates-name" Words Note true
        "schemas have titles that repeat the names they are of; they are billed" => "take them out";
    UNKNOWN_TOOL "mentions-unknown-tool" Words Note false
        "a description sends the model to a tool that is not in the list" => "name a tool that is there, or take it out";
    BOILERPLATE "boilerplate" Words Note false
        "the same text occurs in five tools or more" => "state it once: in the server's instructions or the system prompt";
    // Safety.
    SECRET "secret-in-text" Safety Error false
        "a text shows what looks like a key or token" => "revoke and remove it";
    PRIVATE_KEY "private-key" Safety Error false
        "a text shows a private key" => "revoke and remove it";
    URL_PASSWORD "password-in-url" Safety Error false
        "an address holds a user and a password" => "change the password, and take it out";
    HOME_PATH "home-path" Safety Warning false
        "a text shows a path in a user's home folder" => "write a path that is valid on every machine";
    HIDDEN "hidden-characters" Safety Error false
        "a text has characters that a model reads and people do not see" => "remove them, or do not trust the tool";
    BIDI "bidi-characters" Safety Error false
        "a text has characters that reorder what is shown" => "remove them, or do not trust the tool";
    INJECTION "injection-like" Safety Warning false
        "a description reads like instructions against the user" => "read it with care; take it out, or do not trust the tool";
    // Schemas.
    INVALID "invalid-schema" Schema Error false
        "a schema breaks the rules of JSON Schema" => "fix it: calls of the tool cannot be checked";
    MISSING_REF "unresolved-ref" Schema Error false
        "a `$ref` points at nothing" => "fix the pointer, or add the definition";
    REMOTE_REF "remote-ref" Schema Error false
        "a `$ref` leads out of the schema; clients do not fetch it" => "put the definition in its place";
    RECURSIVE "recursive-ref" Schema Note false
        "a schema refers to itself" => "say how deep it may be; strict modes and Gemini do not take every recursion";
    UNUSED_DEFS "unused-definitions" Schema Note true
        "definitions that nothing refers to" => "take them out";
    EMPTY_MEMBER "empty-member" Schema Note true
        "a description or title in a schema is empty" => "take them out";
    MISSPELT "misspelt-keyword" Schema Warning false
        "a keyword that no dialect knows and that is almost one" => "write it as it is spelt: it has no effect now";
    REQUIRED_UNKNOWN "required-unknown" Schema Warning false
        "`required` names a parameter that is not there" => "add the parameter, or take the name out";
    DUPLICATE_REQUIRED "duplicate-required" Schema Warning true
        "`required` names a parameter twice" => "take one out";
    DUPLICATE_ENUM "duplicate-enum-value" Schema Warning true
        "an `enum` has a value twice" => "take one out";
    ENUM_TYPE "enum-type-mismatch" Schema Error false
        "an `enum` has values of a type that the schema excludes: they are never valid" => "fix the values or the type";
    DEFAULT_MISMATCH "default-mismatch" Schema Warning false
        "a default does not fit its own schema" => "fix the default or the schema";
    EXAMPLE_MISMATCH "example-mismatch" Schema Warning false
        "an example does not fit its own schema" => "fix the example or the schema";
    BOUNDS "contradictory-bounds" Schema Error false
        "bounds that no value meets" => "fix them";
    UNTYPED "untyped-parameter" Schema Note false
        "a parameter's schema has no type" => "give it a `type`";
    OPEN_OBJECT "open-object" Schema Note false
        "an object's schema does not define its content" => "declare its properties, or what they hold with `additionalProperties`";
    LARGE_ENUM "large-enum" Schema Warning false
        "an `enum` has a hundred values or more" => "take a text, and offer a tool that looks values up";
    MANY_PARAMETERS "many-parameters" Schema Note false
        "a tool has more than twenty parameters" => "split the tool by what it does, or gather what belongs together";
    DEEP "deep-nesting" Schema Note false
        "objects are nested more than five deep" => "make it flatter: models err more, and strict modes end at five or ten";
    NEAR_PARAMETERS "near-duplicate-parameters" Schema Warning false
        "two parameters of one tool differ in case or `_` only" => "keep one";
    // Providers.
    REPAIRED "repaired-schema" Provider Warning true
        "a provider refuses the schema as it is, and a small addition helps" => "add it";
    AT_TOP "refused-at-top" Provider Warning false
        "a provider refuses `oneOf`, `anyOf`, `allOf`, `enum` or `not` at the top of a schema"
        => "put the alternatives one level below, or say them in the description";
    REFUSED_NAME "refused-name" Provider Warning false
        "a provider refuses the tool's name" => "rename the tool";
    REFUSED_PARAMETER "refused-parameter" Provider Warning false
        "a provider refuses a parameter's name" => "rename the parameter";
    DESCRIPTION_LIMIT "description-limit" Provider Warning false
        "a description is longer than a provider takes" => "shorten it";
    TOO_MANY_TOOLS "too-many-tools" Provider Warning false
        "the list has more tools than a provider takes" => "defer tools: arm index or auto";
    TOO_MANY_STRICT "too-many-strict" Provider Warning false
        "more tools are strict than a provider takes" => "leave `strict` to the tools that need it";
    GEMINI_SUBSET "gemini-subset" Provider Note false
        "Gemini's old `parameters` narrow the schema (with --wire gemini)" => "send `parametersJsonSchema`";
    STRICT_OPEN "strict-open-object" Provider Error false
        "a strict schema has an object without `additionalProperties: false`" => "add it, or do not ask for `strict`";
    STRICT_OPTIONAL "strict-optional" Provider Error false
        "a strict schema has parameters that are not required" => "require them and let them be null, or do not ask for `strict`";
    STRICT_KEYWORD "strict-keyword" Provider Error false
        "a strict schema has keywords that strict mode refuses" => "take them out, or do not ask for `strict`";
    // The list.
    UNREADABLE "unreadable-tool" List Error false
        "an entry of the list cannot be read as a tool" => "fix the entry: it is not sent";
    DUPLICATE_NAME "duplicate-name" List Error false
        "two tools have one name" => "rename one: only the first is sent";
    COLLIDING "colliding-names" List Warning false
        "names that differ in case, `-` or `_` only" => "rename all but one: models mix them up";
    SPELLINGS "inconsistent-parameter" List Note false
        "one parameter is spelt differently by different tools" => "spell it one way";
    LARGE_CATEGORY "large-category" List Note false
        "a category of the profile has more than ten tools" => "split it by subject: it is opened as a whole";
    SMALL_STUBS "stub-saves-nothing" List Note false
        "tools so small that folding saves nothing" => "list them as core, or leave them: they are sent whole in every arm";
    // Annotations.
    READ_ONLY "read-only-contradiction" Hints Warning false
        "a tool is marked read-only, but its name describes a change" => "correct the hint: clients run read-only tools without approval";
    HINTS_DISAGREE "hints-disagree" Hints Warning false
        "a tool is marked both read-only and destructive" => "correct one of the hints";
    NO_HINTS "no-annotations" Hints Note false
        "tools of an MCP list have no annotations" => "say `readOnlyHint` and `destructiveHint`: without them clients ask for every call";
    NO_TITLE "no-title" Hints Note false
        "tools of an MCP list have no title" => "give each a title for people";
    // Changes.
    REMOVED "tool-removed" Change Error false
        "a tool is not there any more" => "keep it for a while, or say so in the notes of the release";
    ADDED "tool-added" Change Note false
        "a tool is new" => "check its cost: every client pays for it";
    PARAMETER_REMOVED "parameter-removed" Change Error false
        "a parameter is not there any more" => "go on taking it for a while";
    NEWLY_REQUIRED "newly-required" Change Error false
        "a parameter must be given now and need not before" => "make it optional with a default";
    TYPE_CHANGED "type-changed" Change Error false
        "a parameter does not take types that it took" => "take the old types, too";
    ENUM_NARROWED "enum-narrowed" Change Error false
        "a parameter does not take values that it took" => "take the old values, too";
    BOUNDS_NARROWED "bounds-narrowed" Change Warning false
        "a parameter's bounds are narrower" => "accept what was accepted before";
    DEFAULT_CHANGED "default-changed" Change Warning false
        "a default is another one: calls that leave it out do something else" => "keep it, or say so in the notes of the release";
    HINT_WEAKENED "hint-changed" Change Warning false
        "a tool is no longer marked read-only or non-destructive" => "mention it in the release notes: existing approvals assume the earlier hint";
    DESCRIPTION_CHANGED "description-changed" Change Note false
        "a tool's description is another one" => "read it: models act on it";
}
