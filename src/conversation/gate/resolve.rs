//! Resolves the name that a model called to a tool.

use std::borrow::Cow;

use serde_json::Value;

use super::is_read_only;
use crate::conversation::Conversation;
use crate::conversation::repair::{self, Reading};
use crate::diagnostic::visible;
use crate::engine::Engine;
use crate::name::nearest;
use crate::profile::{Bridge, Naming};
use crate::schema::takes_no_parameters;
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
    /// The role of a lookup.
    pub(super) fn meta_role(&self) -> Option<MetaRole> {
        match self {
            Self::Expand => Some(MetaRole::Expand),
            Self::Skill => Some(MetaRole::Skill),
            _ => None,
        }
    }

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

/// A call's target and its arguments.
#[derive(Debug, Clone)]
pub(super) struct ResolvedCall {
    pub(super) target: Target,
    pub(super) arguments: Arguments,
    /// The repairs of name and arguments, one line each.
    pub(super) notes: Vec<String>,
    /// The number of calls whose arguments were written as those of one call, if several.
    pub(super) several: Option<usize>,
}

/// Resolves a call, unwrapping `call_tool`. Every arm accepts `call_tool`.
pub(super) fn resolve_target(engine: &Engine, names: &NameTable, name: &str, written: &Arguments) -> ResolvedCall {
    let (mut name, mut arguments) = (name.to_owned(), written.clone());
    let (mut notes, mut several) = (Vec::new(), None);
    let mut through = Bridge::Any;
    for _ in 0..MAX_WRAPPING {
        let Some(named) = resolve_name(engine, names, &name) else {
            return ResolvedCall { target: Target::Unknown(name), arguments, notes, several };
        };
        if known_name(engine, names, &name).is_none() {
            notes.push(format!("name: `{}` was read as `{}`", visible(&name), shown_name(engine, names, named)));
        }
        if engine.coerces() {
            several = repair_arguments(engine, named, &mut arguments, &mut notes);
        }
        let target = match named {
            Named::Meta(MetaRole::Expand) => Target::Expand,
            Named::Meta(MetaRole::Skill) => Target::Skill,
            Named::Meta(MetaRole::Call(bridge)) => match unwrapped(&arguments) {
                Ok(inner) => {
                    (name, arguments) = inner;
                    // Of several bridges, the most limited one applies: it may be the one a person
                    // approved.
                    through = match (through, bridge) {
                        (known, Bridge::Any) => known,
                        (Bridge::Any, own) => own,
                        (known, own) => known.min(own),
                    };
                    continue;
                }
                Err(why) => Target::BadWrapping(why.to_owned()),
            },
            Named::Tool(index) => match engine.catalog().at(index) {
                Some(tool) if !through.may_call(tool) => {
                    let needs = names.bridge(Bridge::for_tool(tool));
                    Target::BadWrapping(format!("it cannot run `{name}`; use {needs}"))
                }
                _ => Target::Tool(index),
            },
        };
        let arguments = if matches!(target, Target::BadWrapping(_)) { written.clone() } else { arguments };
        return ResolvedCall { target, arguments, notes, several };
    }
    let target = Target::BadWrapping(format!("nested more than {MAX_WRAPPING} levels deep"));
    ResolvedCall { target, arguments: written.clone(), notes, several: None }
}

fn unwrapped(outer: &Arguments) -> Result<(String, Arguments), &'static str> {
    let Ok(Value::Object(map)) = outer.value() else {
        return Err("its arguments must be an object with `name` and `arguments`");
    };
    let Some(Value::String(name)) = map.get("name") else { return Err("`name` must be the name of the tool to run") };
    let arguments = outer.member("arguments").unwrap_or_else(|| Arguments::from_text(""));
    Ok((name.clone(), arguments))
}

/// Repairs arguments that are not an object and have one reading. Returns the number of calls if
/// they are the arguments of several.
fn repair_arguments(
    engine: &Engine,
    named: Named,
    arguments: &mut Arguments,
    notes: &mut Vec<String>,
) -> Option<usize> {
    // Other blanks than those of JSON are accepted, but are not JSON.
    let is_plain = arguments.as_written().is_none_or(|text| text.trim() == text.trim_matches([' ', '\t', '\n', '\r']));
    if is_plain && matches!(arguments.value(), Ok(Value::Object(_))) {
        return None;
    }
    let tool = match named {
        Named::Tool(index) => engine.catalog().at(index),
        Named::Meta(_) => None,
    };
    // The input of a tool that takes no object may be written without the object around it.
    if tool.is_some_and(|tool| tool.input().is_wrapped) && arguments.value().is_ok() {
        return None;
    }
    let is_bare = tool.is_some_and(|tool| takes_no_parameters(tool.parameters()));
    match repair::read_arguments(&arguments.text(), is_bare) {
        Reading::Object { text, notes: repairs } => {
            *arguments = Arguments::from_text(&text);
            notes.extend(repairs);
            None
        }
        Reading::Several(count) => Some(count),
        Reading::Unclear => None,
    }
}

/// A name in the wire's alphabet, for the history: unchanged if the wire accepts it, otherwise the
/// name of the tool that it resolves to, or the name with other characters replaced.
pub(in crate::conversation) fn accepted_name<'n>(conversation: &Conversation, name: &'n str) -> Cow<'n, str> {
    let rule = &conversation.limits.name;
    if rule.fits(name) {
        return Cow::Borrowed(name);
    }
    let (engine, names) = (&conversation.engine, &conversation.bound.names);
    if let Some(named) = resolve_name(engine, names, name) {
        return Cow::Owned(shown_name(engine, names, named).to_owned());
    }
    let mut accepted = String::new();
    if name.chars().next().is_none_or(|c| !rule.allows(c) || !rule.starts(c)) {
        accepted.push('_');
    }
    for c in name.chars().take(rule.max_len.saturating_sub(accepted.len())) {
        accepted.push(if rule.allows(c) { c } else { '_' });
    }
    Cow::Owned(accepted)
}

/// Resolves a name: exactly, without the marks of a chat template, or by [`guess`].
pub(super) fn resolve_name(engine: &Engine, names: &NameTable, name: &str) -> Option<Named> {
    known_name(engine, names, name)
        .or_else(|| known_name(engine, names, plain_name(engine, names, name)?))
        .or_else(|| guess(engine, names, name))
}

/// Returns the meaning of a name that needs no repair.
pub(in crate::conversation) fn known_name(engine: &Engine, names: &NameTable, name: &str) -> Option<Named> {
    names.find_named(engine.catalog(), name).filter(|named| match named {
        // Without skills `activate_skill` is unknown.
        Named::Meta(MetaRole::Skill) => has_skills(engine),
        _ => true,
    })
}

fn has_skills(engine: &Engine) -> bool {
    engine.skills().is_some_and(|skills| skills.declared().is_some())
}

/// The known name in a name with the marks of a chat template.
fn plain_name<'n>(engine: &Engine, names: &NameTable, name: &'n str) -> Option<&'n str> {
    let is_known = |name: &str| known_name(engine, names, name).is_some();
    let begins = |mark: &str| engine.catalog().names().any(|own| own.as_str().starts_with(mark));
    repair::plain_name(name, &is_known, &begins)
}

/// The name under which the model sees a target.
pub(super) fn shown_name<'n>(engine: &'n Engine, names: &'n NameTable, named: Named) -> &'n str {
    match named {
        Named::Meta(role) => names.meta(role),
        Named::Tool(index) => engine.catalog().at(index).map_or("", |tool| names.tools.sent(tool.name().as_str())),
    }
}

/// Resolves an inexact name to the only tool that [matches](only_match) if the tool is read-only,
/// or if the name only lacks the server and every server has listed its tools. A guess must never
/// change anything. A lookup changes nothing, so its name may differ in case and separators.
fn guess(engine: &Engine, names: &NameTable, name: &str) -> Option<Named> {
    let Some(index) = only_match(engine, names, name) else {
        for role in [MetaRole::Expand, MetaRole::Skill] {
            let meta = names.meta(role);
            if fold(meta) == fold(name) {
                return known_name(engine, names, meta);
            }
        }
        return None;
    };
    let tool = engine.catalog().at(index)?;
    let is_short = !engine.is_partial() && tool.name().as_str().ends_with(name);
    if is_read_only(tool) || is_short { Some(Named::Tool(index)) } else { None }
}

/// The only tool that matches a name after folding case, separators and a server prefix.
pub(super) fn only_match(engine: &Engine, names: &NameTable, name: &str) -> Option<usize> {
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
            found = Some(at);
        }
    }
    found
}

/// The closest names that the model sees, at most five. `folds`: whether something can be expanded.
pub(super) fn near(engine: &Engine, names: &NameTable, name: &str, folds: bool) -> Vec<Named> {
    let (mut shown, mut found) = (Vec::new(), Vec::new());
    for (at, own) in engine.catalog().names().enumerate() {
        shown.push(names.tool(at, own.as_str()));
    }
    for (role, word, is_declared) in
        [(MetaRole::Expand, "expand", folds), (MetaRole::Skill, "skill", has_skills(engine))]
    {
        if is_declared {
            shown.push(names.meta(role));
            if name.to_lowercase().contains(word) {
                found.push(names.meta(role));
            }
        }
    }
    let mut close = nearest(name, shown.iter().copied(), 5);
    if close.is_empty() {
        let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
        close = nearest(last, shown.iter().copied(), 5);
    }
    for near in close {
        if !found.contains(&near) {
            found.push(near);
        }
    }
    found.truncate(5);
    let mut known = Vec::new();
    for near in found {
        known.extend(known_name(engine, names, near));
    }
    known
}

/// The known name that is most similar to an unknown one, as the model sees it.
pub(in crate::conversation) fn nearest_tool<'n>(
    engine: &'n Engine,
    names: &'n NameTable,
    name: &str,
) -> Option<&'n str> {
    let found = near(engine, names, name, false).into_iter().next();
    found.map(|named| shown_name(engine, names, named))
}

/// A name in lower case without separators inside its parts, split at server prefixes.
fn fold(name: &str) -> Vec<String> {
    let folded = name.trim().to_lowercase().replace("__", ".").replace([':', '/'], ".").replace(['-', '_'], "");
    let mut parts = Vec::new();
    for part in folded.split('.') {
        if !part.is_empty() {
            parts.push(part.to_owned());
        }
    }
    parts
}

/// Whether one of two folded names ends with the other: `server.tool` and `tool`.
fn alike(one: &[String], other: &[String]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    !short.is_empty() && long.ends_with(short)
}
