//! Who may name whom: the table of the architecture, as data, and its judgement of one file.

use crate::reader::{Named, Target, read};

/// The library's modules, innermost first, each with those of ours that it may name. `name`,
/// `diagnostic`, `search`, `skill` and `policy` are in crates that the library re-exports: cargo
/// keeps the two layers from naming each other or a module.
///
/// `error` is the crate's one error and holds diagnostics; `catalog` names it for its constructors
/// that give everything or nothing (`Catalog::from_openai`).
const TABLE: &[(&str, &[&str])] = &[
    ("excel", &[]),
    ("model", &["diagnostic"]),
    ("error", &["diagnostic"]),
    ("schema", &["diagnostic"]),
    ("catalog", &["schema", "name", "diagnostic", "error"]),
    ("profile", &["catalog", "schema", "name", "search", "diagnostic"]),
    ("engine", &["catalog", "schema", "profile", "skill", "policy", "search", "name", "diagnostic", "error"]),
    ("wire", &["catalog", "schema", "profile", "model", "name", "diagnostic", "error"]),
    (
        "conversation",
        &["catalog", "schema", "profile", "skill", "policy", "engine", "wire", "name", "diagnostic", "error"],
    ),
    ("tokens", &["catalog", "profile", "schema", "model", "name", "diagnostic"]),
    ("store", &["policy", "engine", "diagnostic"]),
];

/// The edges inside the library: the only modules that touch files or clocks. Everything else of
/// that kind is in other crates.
const EDGES: &[&str] = &["store", "skill::disk"];

/// Modules that are compiled for tests only, which `tests/architecture.rs` checks: they read
/// recordings and print scores.
pub(crate) const TESTS: &[&str] = &["tokens::estimate::held_out"];

/// Names of other crates that only some modules may use.
const KEPT: &[(&str, &[&str])] = &[
    ("std::fs", EDGES),
    ("std::env", EDGES),
    ("std::net", EDGES),
    ("std::time::SystemTime", EDGES),
    ("std::time::Instant", EDGES),
    ("std::process", &[]),
    ("std::io::stdin", &[]),
    ("std::io::stdout", &[]),
    ("std::io::stderr", &[]),
    ("rmcp", &[]),
    ("axum", &[]),
    ("tokio", &[]),
    ("clap", &[]),
    ("anstream", &[]),
    ("anstyle", &[]),
    ("rusqlite", &["store"]),
    // `schema` compiles the patterns of a list as the validator does.
    ("fancy_regex", &["schema", "tokens"]),
    ("tiktoken_rs", &["tokens"]),
    // Modules name the layers as `crate::skill` and `crate::policy`, which the table judges.
    ("toolfold_policy", &["lib"]),
    ("toolfold_skill", &["lib"]),
];

/// Macros that only some modules may call.
const KEPT_MACROS: &[(&str, &[&str])] =
    &[("println", &[]), ("print", &[]), ("eprintln", &[]), ("eprint", &[]), ("dbg", &[]), ("include", &[])];

/// The variants of `wire::Wire`.
const APIS: &[&str] = &["OpenAiChat", "OpenAiResponses", "Anthropic", "Gemini", "Mcp"];

/// The files that may name one API, by path in the repository. Every other file treats all APIs
/// alike: what differs is in the API's own file (`src/wire/<api>.rs`), or in a table of one of
/// these files.
const NAMES_AN_API: &[&str] = &[
    // The enum, and its match to the API's file.
    "src/wire.rs",
    "src/wire/api.rs",
    "src/wire/openai_responses.rs",
    // Requests and responses of live models.
    "crates/measure/src/ab/exchange.rs",
    "crates/cli/src/ab/model/remote.rs",
    // The API that a recorded message or a model's name indicates.
    "crates/measure/src/usage/shape.rs",
    "crates/cli/src/report/setup.rs",
    "crates/cli/src/sim.rs",
    "crates/cli/src/why/meter.rs",
    "bindings/python/src/tokens.rs",
    // Defaults, and commands that do not support MCP.
    "crates/cli/src/ab/plan.rs",
    "crates/cli/src/check/measured.rs",
    "crates/cli/src/configuration/keys/presentation.rs",
    "crates/cli/src/configuration/parse.rs",
    "crates/cli/src/gateway/layers.rs",
    "crates/cli/src/probe.rs",
    "crates/cli/src/suggest.rs",
    "crates/measure/src/ab/counter.rs",
    "crates/measure/src/probe.rs",
    "crates/measure/src/probe/row.rs",
    "crates/measure/src/sim/arms.rs",
    "crates/measure/src/usage/reader.rs",
    // Lints about one provider.
    "crates/measure/src/lint/providers.rs",
    "crates/measure/src/lint/strict.rs",
];

/// Where a file names a single API but may not. `file` is a path in the repository.
pub(crate) fn judge_apis(file: &str, text: &str) -> Vec<String> {
    // Few files have one of the words, and only those are parsed.
    let names = match APIS.iter().any(|word| text.contains(word)) {
        true => read(text, &[]),
        false => Ok(Vec::new()),
    };
    let Ok(names) = names else { return vec![format!("{file}:1: cannot be read")] };
    let mut faults = Vec::new();
    for name in names {
        let (Target::Ours(path) | Target::Theirs { path, .. }) = &name.target else { continue };
        // In the module `wire`, `Self` can only be the enum.
        let holder = |of: &str| of == "Wire" || of == "Self" && file.starts_with("src/wire");
        if let [.., of, variant] = &path[..]
            && holder(of)
            && APIS.contains(&variant.as_str())
        {
            faults.push(format!(
                "{file}:{}: `{}`: only the files of NAMES_AN_API may name one API",
                name.line, name.text
            ));
        }
    }
    match (NAMES_AN_API.contains(&file), faults.is_empty()) {
        (false, _) => faults,
        (true, false) => Vec::new(),
        (true, true) => vec![format!("{file}:1: names no API: remove it from NAMES_AN_API")],
    }
}

/// What is wrong with a file, one line each: `file:line: what: why`. `file` is below `src/`.
pub(crate) fn judge(file: &str, text: &str) -> Vec<String> {
    let module = module_of(file);
    let own = module.first().map_or("lib", String::as_str);
    let allowed = TABLE.iter().find(|(name, _)| *name == own).map(|(_, allowed)| *allowed);
    if allowed.is_none() && own != "lib" {
        return vec![format!("src/{file}:1: module `{own}` is not in the table of tests/architecture/rules.rs")];
    }
    faults(&format!("src/{file}"), text, &module, &|path| our_rule(own, allowed, path))
}

/// The same for a file of a layer that is a crate: what it names of its own and of ours is cargo's
/// to judge.
pub(crate) fn judge_layer(layer: &str, file: &str, text: &str) -> Vec<String> {
    let mut module = vec![layer.to_owned()];
    module.extend(module_of(file));
    faults(&format!("crates/{layer}/src/{file}"), text, &module, &|_| None)
}

fn faults(file: &str, text: &str, module: &[String], ours: &dyn Fn(&[String]) -> Option<String>) -> Vec<String> {
    let names = match read(text, module) {
        Ok(names) => names,
        Err(why) => return vec![format!("{file}:{}: cannot be read: {why}", why.span().start().line)],
    };
    let is_test = TESTS.contains(&module.join("::").as_str());
    let fault = |name: &Named| match &name.target {
        Target::Theirs { path, .. } if is_test && path.starts_with(&["std".to_owned(), "fs".to_owned()]) => None,
        Target::Macro(name) if is_test && name == "println" => None,
        Target::Ours(path) => ours(path),
        Target::Theirs { path, whole } => their_rule(module, path, *whole),
        Target::Macro(name) => KEPT_MACROS.iter().find(|(kept, _)| kept == name).and_then(|(_, by)| only(by, module)),
        Target::Forbidden(why) => Some((*why).to_owned()),
    };
    let faults = names.iter().filter_map(|name| Some((name, fault(name)?)));
    faults.map(|(name, why)| format!("{file}:{}: `{}`: {why}", name.line, name.text)).collect()
}

/// The module path of a file below `src/`: empty for the root.
pub(crate) fn module_of(file: &str) -> Vec<String> {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    if path == "lib" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

fn our_rule(own: &str, allowed: Option<&[&str]>, path: &[String]) -> Option<String> {
    let Some(top) = path.first() else {
        // `lib.rs` is the root; anyone else who takes in the root takes in everything.
        return (own != "lib").then(|| "takes in the crate's root, and with it every module".to_owned());
    };
    match (own, allowed) {
        ("lib", _) => None,
        (_, Some(allowed)) if top == own || allowed.contains(&top.as_str()) => None,
        (_, Some([])) => Some(format!("`{own}` may name nothing of ours")),
        (_, allowed) => Some(format!("`{own}` may name {} only", allowed.unwrap_or_default().join(", "))),
    }
}

fn their_rule(module: &[String], path: &[String], whole: bool) -> Option<String> {
    let text = path.join("::");
    let below =
        |long: &str, short: &str| long == short || long.strip_prefix(short).is_some_and(|r| r.starts_with("::"));
    KEPT.iter()
        .filter(|(kept, _)| below(&text, kept) || (whole && below(kept, &text)))
        .find_map(|(kept, by)| only(by, module).map(|why| format!("`{kept}`: {why}")))
}

/// Why a module may not name what is kept for others; nothing if it may.
fn only(by: &[&str], module: &[String]) -> Option<String> {
    let own = if module.is_empty() { "lib".to_owned() } else { module.join("::") };
    let fits = |who: &str| own == who || own.strip_prefix(who).is_some_and(|rest| rest.starts_with("::"));
    if by.iter().any(|who| fits(who)) {
        return None;
    }
    Some(if by.is_empty() { "nobody may name it".to_owned() } else { format!("only {} may name it", by.join(", ")) })
}
