//! Guesses from a tool's schema which arguments are paths, hosts or commands.

use serde_json::Value;

use toolfold::catalog::Tool;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A file or folder.
    Path,
    /// A host or URL.
    Host,
    /// A URI, which may be either.
    Uri,
    /// A shell command.
    Command,
    /// The folder in which a command runs.
    Workdir,
    /// The program that interprets a command.
    Program,
    /// A text that seems to be none of these.
    Text,
    /// Not a text: a number, a boolean, an enum.
    Other,
}

#[derive(Debug, Clone)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The reason, if the name alone does not show it.
    pub(super) why: Option<&'static str>,
    /// The values of an argument that selects an action.
    pub(super) values: Vec<String>,
}

/// Words in names of paths. A wrong guess costs a deletion; a missing one, a deny that never
/// matches.
const PATHS: [&str; 33] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filenames",
    "filepath",
    "filepaths",
    "dir",
    "dirs",
    "directory",
    "directories",
    "folder",
    "folders",
    "cwd",
    "workdir",
    "root",
    "roots",
    "glob",
    "notebook",
    "workbook",
    "src",
    "dst",
    "dest",
    "destination",
    "source",
    "attachment",
    "attachments",
    "include",
    "exclude",
    "workspace",
    "executable",
    "binary",
];
const HOSTS: [&str; 17] = [
    "url", "urls", "href", "host", "hosts", "hostname", "domain", "domains", "endpoint", "website", "site", "link",
    "links", "server", "address", "webhook", "proxy",
];
const COMMANDS: [&str; 4] = ["command", "cmd", "commandline", "script"];
const WORKDIRS: [&str; 6] = ["cwd", "workdir", "directory", "dir", "path", "folder"];
const PROGRAMS: [&str; 4] = ["shell", "interpreter", "executable", "binary"];
const ACTIONS: [&str; 5] = ["action", "op", "operation", "command", "subcommand"];
/// Words that select an action only as the whole name: `retry-mode` does not.
const WHOLE_ACTIONS: [&str; 2] = ["mode", "method"];
/// Last words of a name that mentions a path or host without being one.
const ABOUT: [&str; 12] =
    ["id", "ids", "type", "types", "count", "size", "format", "mode", "kind", "sha", "encoding", "mime"];

/// Verbs whose effect is there twice if they are called twice: messages, payments, deletions.
const REPEATED: [&str; 10] =
    ["send", "reply", "pay", "refund", "charge", "transfer", "delete", "erase", "purge", "payout"];
/// What is there twice if it is made twice, and the verbs that make it.
const ORDERS: [&str; 6] = ["order", "payment", "invoice", "booking", "reservation", "purchase"];
const MAKES: [&str; 5] = ["create", "place", "submit", "make", "add"];
/// What is sent to a program, and again.
const INPUT: [&str; 5] = ["key", "keys", "input", "request", "signal"];

/// Whether the name of a tool says that a second identical call does harm: it sends, pays, orders
/// or deletes.
pub(super) fn repeats_harm(name: &str) -> bool {
    let of = |list: &[&str]| has_word(name, list);
    of(&REPEATED) && !of(&INPUT) || of(&ORDERS) && of(&MAKES)
}

/// The top-level arguments of a tool, in the order of its schema.
pub(super) fn guessed_arguments(tool: &Tool) -> Vec<Argument> {
    let mut found: Vec<Argument> = Vec::new();
    for (name, schema) in properties(tool.parameters()) {
        let (kind, why) = guessed_kind(name, schema);
        found.push(Argument { name: name.clone(), kind, why, values: actions(name, schema) });
    }
    // One argument contains the command; only then can another one be the folder in which it runs.
    let command = found.iter().position(|argument| argument.kind == Kind::Command);
    for (at, argument) in found.iter_mut().enumerate() {
        if argument.kind == Kind::Command && command != Some(at) {
            argument.kind = Kind::Text;
        }
    }
    if command.is_some() {
        for argument in &mut found {
            if matches!(argument.kind, Kind::Path | Kind::Text) && has_word(&argument.name, &PROGRAMS) {
                argument.kind = Kind::Program;
            }
        }
        let folder = found.iter_mut().find(|own| own.kind == Kind::Path && has_word(&own.name, &WORKDIRS));
        if let Some(folder) = folder {
            folder.kind = Kind::Workdir;
        }
    }
    found
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn has_word(name: &str, list: &[&str]) -> bool {
    words_of_name(name).iter().any(|word| list.contains(&word.as_str()))
}

fn guessed_kind(name: &str, schema: &Value) -> (Kind, Option<&'static str>) {
    if !is_chosen(schema) && may_be_text(schema) {
        return of_text(name, schema);
    }
    match has_path_inside(schema, 0) {
        true => (Kind::Path, Some("contains nested paths, which policy cannot read: such a call requires approval")),
        false => (Kind::Other, None),
    }
}

fn of_text(name: &str, schema: &Value) -> (Kind, Option<&'static str>) {
    let words = words_of_name(name);
    let last = words.last().map_or("", String::as_str);
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let says = |texts: &[&str]| texts.iter().any(|text| description.contains(text));
    // `commandLine` has two words, and is one of these names.
    let joined = words.concat();
    let last = if COMMANDS.contains(&joined.as_str()) { joined.as_str() } else { last };
    if COMMANDS.contains(&last) && (last != "script" || says(&["shell", "bash", "command"])) && is_text(schema) {
        return (Kind::Command, None);
    }
    if words.iter().any(|word| matches!(word.as_str(), "uri" | "uris")) {
        return (Kind::Uri, None);
    }
    if ABOUT.contains(&last) {
        return (Kind::Text, None);
    }
    if has_word(name, &HOSTS) {
        return (Kind::Host, None);
    }
    if has_word(name, &PATHS) {
        return (Kind::Path, None);
    }
    if matches!(format, "uri" | "url" | "uri-reference") {
        (Kind::Uri, Some("has the format of a URI"))
    } else if matches!(format, "hostname" | "ipv4" | "ipv6") {
        (Kind::Host, Some("has the format of a host"))
    } else if says(&["file path", "filepath", "path to", "path of", "absolute path", "relative path", "directory"]) {
        (Kind::Path, Some("is described as a path"))
    } else if says(&["a url", "the url", "full url", "http://", "https://", "hostname"]) {
        (Kind::Host, Some("is described as a URL or host"))
    } else {
        (Kind::Text, None)
    }
}

fn actions(name: &str, schema: &Value) -> Vec<String> {
    let chooses =
        words_of_name(name).last().is_some_and(|last| ACTIONS.contains(&&**last)) || WHOLE_ACTIONS.contains(&name);
    match schema.get("enum") {
        Some(Value::Array(values)) if chooses => {
            values.iter().filter_map(|value| Some(value.as_str()?.to_owned())).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the value is one of a few.
fn is_chosen(schema: &Value) -> bool {
    schema.get("enum").is_some() || schema.get("const").is_some()
}

/// Whether a text is valid, alone or in a list. A schema without a type allows one.
fn may_be_text(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return schema != &Value::Bool(false) };
    let of_type = |name: &str| match name {
        "string" => true,
        "array" => map.get("items").is_none_or(|items| !is_chosen(items) && may_be_text(items)),
        _ => false,
    };
    let mut branches = branches(schema).peekable();
    match map.get("type") {
        Some(Value::String(name)) => of_type(&name.to_lowercase()),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(of_type),
        _ if branches.peek().is_some() => branches.any(|branch| !is_chosen(branch) && may_be_text(branch)),
        _ => !map.contains_key("properties"),
    }
}

/// Whether only texts are valid.
fn is_text(schema: &Value) -> bool {
    schema.get("type").is_none_or(|name| name.as_str().is_some_and(|name| name.eq_ignore_ascii_case("string")))
}

/// Whether an object or a list of objects contains a path at any depth.
fn has_path_inside(schema: &Value, depth: usize) -> bool {
    if depth > 4 {
        return true;
    }
    let mut inner: Vec<&Value> = Vec::new();
    for (name, schema) in properties(schema) {
        let is_text = !is_chosen(schema) && may_be_text(schema);
        if is_text && matches!(of_text(name, schema).0, Kind::Path | Kind::Uri) {
            return true;
        }
        inner.push(schema);
    }
    inner.extend(["items", "additionalProperties"].iter().filter_map(|key| schema.get(*key)));
    inner.extend(branches(schema));
    inner.into_iter().any(|schema| schema.is_object() && has_path_inside(schema, depth + 1))
}

fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten()
}

/// The words of a name in lower case; `filePath`, `file_path` and `file-path` have the same words.
fn words_of_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut lower_before = false;
    for c in name.chars() {
        let starts = !c.is_alphanumeric() || (c.is_uppercase() && lower_before);
        if starts || words.is_empty() {
            words.push(String::new());
        }
        lower_before = c.is_lowercase() || c.is_ascii_digit();
        if let Some(word) = words.last_mut()
            && c.is_alphanumeric()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
