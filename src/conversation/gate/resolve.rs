//! Resolves the name that a model called to a tool.

use std::borrow::Cow;

use serde_json::Value;

use crate::engine::Engine;
use crate::name::nearest;
use crate::profile::{Bridge, Naming};
use crate::wire::{Arguments, MetaRole, NameTable, Named};

/// The maximum number of nested `call_tool` calls.
const MAX_WRAPPING: usize = 4;

/// The target of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// `expand_tools`.
    Expand,
    /// `activate_skill`.
    Skill,
    /// The tool at this index of the catalog.
    Tool(usize),
    /// An unknown tool: the name as written.
    Unknown(String),
    /// A call of `call_tool` without a valid target: the reason.
    BadWrapping(String),
}

impl Target {
    /// The recorded name of the target: its catalog name, or that of a meta-tool.
    pub(super) fn recorded_name<'n>(&'n self, engine: &'n Engine) -> Cow<'n, str> {
        match self {
            Self::Expand => Cow::Borrowed(crate::profile::EXPAND_TOOLS),
            Self::Skill => Cow::Borrowed(crate::engine::ACTIVATE_SKILL),
            Self::Tool(index) => engine.catalog().at(*index).map_or("", |tool| tool.name().as_str()).into(),
            Self::Unknown(name) => Cow::Borrowed(name),
            Self::BadWrapping(_) => Cow::Borrowed(crate::profile::CALL_TOOL),
        }
    }
}

/// Resolves a call, unwrapping `call_tool`. Every arm accepts `call_tool`.
pub(super) fn resolve_target(
    engine: &Engine,
    names: &NameTable,
    name: &str,
    written: &Arguments,
) -> (Target, Arguments) {
    let (mut name, mut arguments) = (name.to_owned(), written.clone());
    let mut through = Bridge::Any;
    for _ in 0..MAX_WRAPPING {
        match resolve_name(engine, names, &name) {
            Some(Named::Meta(MetaRole::Expand)) => return (Target::Expand, arguments),
            Some(Named::Meta(MetaRole::Skill)) => return (Target::Skill, arguments),
            Some(Named::Meta(MetaRole::Call(bridge))) => match unwrapped(&arguments) {
                Ok(inner) => {
                    (name, arguments) = inner;
                    // Of several bridges, the most limited one applies: it may be the one a person
                    // approved.
                    through = match (through, bridge) {
                        (known, Bridge::Any) => known,
                        (Bridge::Any, own) => own,
                        (known, own) => known.min(own),
                    };
                }
                Err(why) => return (Target::BadWrapping(why.to_owned()), written.clone()),
            },
            Some(Named::Tool(index)) => {
                let needs = engine.catalog().at(index).filter(|tool| !through.may_call(tool)).map(Bridge::for_tool);
                return match needs {
                    None => (Target::Tool(index), arguments),
                    Some(needs) => {
                        let why = format!("it cannot run `{name}`; use {}", names.bridge(needs));
                        (Target::BadWrapping(why), written.clone())
                    }
                };
            }
            None => return (Target::Unknown(name), arguments),
        }
    }
    (Target::BadWrapping(format!("nested more than {MAX_WRAPPING} levels deep")), written.clone())
}

fn unwrapped(outer: &Arguments) -> Result<(String, Arguments), &'static str> {
    let Ok(Value::Object(map)) = outer.value() else {
        return Err("its arguments must be an object with `name` and `arguments`");
    };
    let Some(Value::String(name)) = map.get("name") else { return Err("`name` must be the name of the tool to run") };
    let arguments = outer.member("arguments").unwrap_or_else(|| Arguments::from_text(""));
    Ok((name.clone(), arguments))
}

/// Resolves a name: exactly, or to the only read-only tool that matches after folding case, `-` and
/// `_`, and a server prefix. A guess must never change anything.
fn resolve_name(engine: &Engine, names: &NameTable, name: &str) -> Option<Named> {
    let exact = names.find_named(engine.catalog(), name).filter(|named| match named {
        // Without skills `activate_skill` is unknown.
        Named::Meta(MetaRole::Skill) => engine.skills().is_some_and(|skills| skills.tool().is_some()),
        _ => true,
    });
    exact.or_else(|| guess(engine, names, name).map(Named::Tool))
}

fn guess(engine: &Engine, names: &NameTable, name: &str) -> Option<usize> {
    if name.len() > 4 * crate::name::MAX_NAME_CHARS {
        return None;
    }
    let wanted = fold(name);
    if wanted.is_empty() {
        return None;
    }
    let mut found = None;
    for (at, tool) in engine.catalog().iter().enumerate() {
        let own = tool.name().as_str();
        if alike(&fold(own), &wanted) || alike(&fold(names.tool(at, own)), &wanted) {
            // An ambiguous name does not match.
            if found.is_some() {
                return None;
            }
            found = Some((at, tool));
        }
    }
    let (at, tool) = found?;
    let read_only = tool.annotations().and_then(|hints| hints.read_only_hint) == Some(true);
    read_only.then_some(at)
}

/// The catalog indexes of the tools with the closest shown names, at most five.
pub(super) fn near(engine: &Engine, names: &NameTable, name: &str) -> Vec<usize> {
    let shown: Vec<&str> = engine.catalog().names().enumerate().map(|(at, own)| names.tool(at, own.as_str())).collect();
    let found = nearest(name, shown.iter().copied(), 5);
    found.iter().filter_map(|near| names.find_tool(engine.catalog(), near)).collect()
}

/// A name in lower case with uniform separators, split at server prefixes.
fn fold(name: &str) -> Vec<String> {
    let folded = name.to_lowercase().replace('-', "_").replace("__", ".").replace([':', '/'], ".");
    folded.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Whether one of two folded names ends with the other: `server.tool` and `tool`.
fn alike(one: &[String], other: &[String]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    !short.is_empty() && long.ends_with(short)
}
