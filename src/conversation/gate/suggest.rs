//! The last line of an answer: a call for the model to repeat (`Try: {"name":…,"arguments":{…}}`).

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::resolve::{resolve_name, shown_name};
use super::{CallInProgress, ResolvedTool};
use crate::catalog::write_string;
use crate::conversation::Conversation;
use crate::conversation::error::quoted_names;
use crate::engine::{Checked, Coerced, Engine, Unknown};
use crate::wire::{Arguments, MetaRole, NameTable, Named};

/// The maximum size of the arguments of a suggested call in bytes: it must not cost more than the
/// definition before it.
const MAX_TRY_BYTES: usize = 2_000;

/// The maximum number of suggested calls for one call of the wrapper for parallel calls.
const MAX_CALLS: usize = 20;

/// A line with a call to make.
pub(super) fn try_line(name: &str, arguments: &str) -> String {
    let mut line = "\nTry: {\"name\":".to_owned();
    write_string(&mut line, name);
    line.push_str(",\"arguments\":");
    line.push_str(arguments);
    line.push('}');
    line
}

/// Unknown arguments and the nearest parameters, as a sentence about a tool.
pub(super) fn unknown_text(tool: &str, unknown: &[Unknown<'_>]) -> String {
    let names: Vec<&str> = unknown.iter().map(|own| own.name).collect();
    let noun = if names.len() == 1 { "parameter" } else { "parameters" };
    let mut text = format!("{tool} has no {noun} {}", quoted_names(&names));
    let mut near = Vec::new();
    for own in unknown {
        if let Some(name) = &own.near {
            let intended = quoted_names(&[name]);
            near.push(if names.len() == 1 {
                intended
            } else {
                format!("{intended} for {}", quoted_names(&[own.name]))
            });
        }
    }
    match near.is_empty() {
        true => text.push('.'),
        false => text.push_str(&format!("; did you mean {}?", near.join(", "))),
    }
    text
}

/// Builds suggested calls from an engine, with the names that the model sees.
pub(super) struct Suggest<'s> {
    engine: &'s Engine,
    names: &'s NameTable,
}

impl<'s> Suggest<'s> {
    pub(super) fn of(conversation: &'s Conversation) -> Self {
        Self { engine: &conversation.engine, names: &conversation.bound.names }
    }

    /// The same call with other arguments as the last line of an answer, in the form in which the
    /// model made it: directly, or through `call_tool`. Empty if the arguments are too long.
    pub(super) fn repeat_line(&self, current: &CallInProgress<'_>, shown: &str, arguments: &str) -> String {
        if arguments.len() > MAX_TRY_BYTES {
            return String::new();
        }
        let Self { engine, names } = self;
        match resolve_name(engine, names, &current.call.name) {
            Some(named @ Named::Meta(MetaRole::Call(_))) => {
                let mut inner = "{\"name\":".to_owned();
                write_string(&mut inner, shown);
                inner.push_str(&format!(",\"arguments\":{arguments}}}"));
                try_line(shown_name(engine, names, named), &inner)
            }
            _ => try_line(shown, arguments),
        }
    }

    /// A call's arguments with each unknown name replaced by the near one if that is valid, and
    /// otherwise without the unknown names. `None` if neither is valid.
    pub(super) fn without_unknown(
        &self,
        resolved: ResolvedTool<'_>,
        arguments: &Arguments,
        unknown: &[Unknown<'_>],
    ) -> Option<String> {
        let text = arguments.text();
        let members: IndexMap<String, &RawValue> = serde_json::from_str(&text).ok()?;
        let with_names = |is_replaced: bool| {
            let mut out = IndexMap::with_capacity(members.len());
            for (name, value) in &members {
                match unknown.iter().find(|own| own.name == name) {
                    None => drop(out.insert(name.as_str(), value.get())),
                    Some(Unknown { near: Some(near), .. }) if is_replaced => drop(out.insert(near, value.get())),
                    Some(_) => {}
                }
            }
            self.valid_arguments(resolved, &joined(&out))
        };
        with_names(true).or_else(|| with_names(false))
    }

    /// Arguments on one line, coerced, if they are valid.
    fn valid_arguments(&self, resolved: ResolvedTool<'_>, text: &str) -> Option<String> {
        let value: Value = serde_json::from_str(text).ok()?;
        match self.engine.check_arguments(resolved.index, &value, || text.into()) {
            (Checked::Invalid(_), _) => None,
            (_, Some(Coerced { text, .. })) => Some(text),
            (_, None) => Some(text.to_owned()),
        }
    }

    /// The calls inside a call of OpenAI's wrapper for parallel calls, a line for each. `None` if
    /// the arguments are not those of the wrapper.
    pub(super) fn inner_calls(&self, arguments: &Arguments) -> Option<String> {
        let uses = arguments.value().ok()?.get("tool_uses")?.as_array()?;
        let Self { engine, names } = self;
        let mut lines = String::new();
        for call in uses.iter().take(MAX_CALLS) {
            let name = ["recipient_name", "name"].iter().find_map(|key| call.get(key)?.as_str())?;
            let shown = resolve_name(engine, names, name).map_or(name, |named| shown_name(engine, names, named));
            let inner = ["parameters", "arguments"].iter().find_map(|key| call.get(key)).cloned().unwrap_or_default();
            let inner = Arguments::from(inner);
            lines.push_str(&try_line(shown, &one_line(&inner).filter(|text| text.len() <= MAX_TRY_BYTES)?));
        }
        (!lines.is_empty()).then_some(lines)
    }
}

/// An arguments object on one line, as written if it is. `None` if it is not an object.
pub(super) fn one_line(arguments: &Arguments) -> Option<String> {
    arguments.value().ok().filter(|value| value.is_object())?;
    let text = arguments.text();
    if text.contains(['\n', '\r']) { arguments.exact() } else { Some(text.trim().to_owned()) }
}

fn joined(members: &IndexMap<&str, &str>) -> String {
    let mut out = "{".to_owned();
    for (name, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        write_string(&mut out, name);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    Arguments::from_text(&out).exact().filter(|_| out.contains(['\n', '\r'])).unwrap_or(out)
}
