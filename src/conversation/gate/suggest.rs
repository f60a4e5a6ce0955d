//! The last line of an answer: a call for the model to repeat (`Try: {"name":…,"arguments":{…}}`).

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::resolve::{resolve_name, shown_name};
use super::{CallInProgress, ResolvedTool};
use crate::catalog::write_string;
use crate::conversation::Conversation;
use crate::conversation::error::quoted_names;
use crate::diagnostic::visible;
use crate::engine::{Checked, Coerced, Engine, Unknown, nearest_value, unknown_arguments, wrapped};
use crate::profile::Presentation;
use crate::schema::{object_member, text_member};
use crate::wire::{Arguments, MetaRole, NameTable, Named};

/// The maximum size of the arguments of a suggested call in bytes: it must not cost more than the
/// definition before it.
const MAX_TRY_BYTES: usize = 2_000;

/// The length in bytes from which a value counts as part of a tool's name, not as a chance match.
const MIN_REPEATED: usize = 3;

/// The maximum number of tools of a category among which the intended one is searched: each
/// parameter of each of them is compared with each unknown name.
const MAX_COMPARED_TOOLS: usize = 64;

/// The maximum number of unknown names of a call for which another tool is searched.
const MAX_FOREIGN_NAMES: usize = 5;

/// The maximum number of suggested calls for one call of the wrapper for parallel calls.
const MAX_CALLS: usize = 20;

/// The end of every answer with a definition.
const ONLY_GIVEN: &str = "Set only parameters for which the user gave a value.";

/// The sentence at the end of an answer with a definition. Without it a model explains instead of
/// calling (docs/session.md).
pub(super) fn now_call(shown: &str) -> String {
    format!("\nNow call {shown} again. {ONLY_GIVEN}")
}

/// The same for another tool than the one that was called.
pub(super) fn now_call_other(shown: &str) -> String {
    format!("\nNow call {shown}. {ONLY_GIVEN}")
}

/// A line with a call to make.
pub(super) fn try_line(name: &str, arguments: &str) -> String {
    let mut line = "\nTry: {\"name\":".to_owned();
    write_string(&mut line, name);
    line.push_str(",\"arguments\":");
    line.push_str(arguments);
    line.push('}');
    line
}

/// What is wrong with the names of a call's arguments.
pub(super) struct Misnamed<'v> {
    /// The argument that contains all arguments, although the tool has no such parameter.
    wrapper: Option<&'v str>,
    /// The names that the tool does not have; inside the wrapper if there is one.
    unknown: Vec<Unknown<'v>>,
}

impl<'v> Misnamed<'v> {
    /// `None` if the tool has a parameter for each argument.
    pub(super) fn of(parameters: &Value, arguments: &'v Value) -> Option<Self> {
        let unknown = unknown_arguments(parameters, arguments);
        if unknown.is_empty() {
            return None;
        }
        Some(match wrapped(parameters, arguments) {
            Some((name, inner)) => Self { wrapper: Some(name), unknown: unknown_arguments(parameters, inner) },
            None => Self { wrapper: None, unknown },
        })
    }

    /// The unknown name, if it is one.
    fn find(&self, name: &str) -> Option<&Unknown<'v>> {
        self.unknown.iter().find(|own| own.name == name)
    }

    /// A sentence about a tool: the unknown names are parameters of another tool, which the model
    /// was shown in full and whose form it has copied. `None` if one of them is not.
    pub(super) fn copied(&self, tool: &str, (other, parameters): (&str, &Value)) -> Option<String> {
        let declared = object_member(parameters, "properties")?;
        let names: Vec<&str> = self.unknown.iter().map(|own| own.name).collect();
        if self.wrapper.is_some() || !names.iter().all(|name| declared.contains_key(*name)) {
            return None;
        }
        let (last, others) = names.split_last()?;
        let last = quoted_names(&[last]);
        let subject = match others {
            [] => format!("{last} is a parameter"),
            _ => format!("{} and {last} are parameters", quoted_names(others)),
        };
        Some(format!("{subject} of {other}, not of {tool}."))
    }

    /// A sentence about a tool: the unknown names and the nearest parameters.
    pub(super) fn text(&self, tool: &str) -> String {
        let Self { wrapper, unknown } = self;
        let outer =
            wrapper.map(|name| format!("{tool} has no parameter `{}` for an object with its arguments", visible(name)));
        let mut text = match (outer, unknown.is_empty()) {
            (Some(outer), true) => return format!("{outer}."),
            (Some(outer), false) => format!("{outer}, and"),
            (None, _) => format!("{tool} has"),
        };
        let (mut names, mut near) = (Vec::new(), Vec::new());
        for own in unknown {
            names.push(own.name);
            if let Some(name) = &own.near {
                let intended = quoted_names(&[name]);
                near.push(if unknown.len() == 1 {
                    intended
                } else {
                    format!("{intended} for {}", quoted_names(&[own.name]))
                });
            }
        }
        let noun = if names.len() == 1 { "parameter" } else { "parameters" };
        text.push_str(&format!(" no {noun} {}", quoted_names(&names)));
        match near.is_empty() {
            true => text.push('.'),
            false => text.push_str(&format!("; did you mean {}?", near.join(", "))),
        }
        text
    }
}

/// Builds suggested calls from an engine, with the names that the model sees.
pub(super) struct Suggest<'s> {
    engine: &'s Engine,
    names: &'s NameTable,
}

impl<'s> Suggest<'s> {
    pub(super) fn new(engine: &'s Engine, names: &'s NameTable) -> Self {
        Self { engine, names }
    }

    pub(super) fn of(conversation: &'s Conversation) -> Self {
        Self::new(&conversation.engine, &conversation.bound.names)
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

    /// The nearest valid call to one that is not: each unknown name replaced by the near one, each
    /// value that a list does not contain by the near one, without a wrapper and without arguments
    /// that only name the tool. `None` if a name has no near one, or if the arguments are not
    /// valid: a call that leaves out what the user asked for would be repeated as it is.
    pub(super) fn nearest_call(
        &self,
        resolved: ResolvedTool<'_>,
        arguments: &Arguments,
        misnamed: Option<&Misnamed<'_>>,
    ) -> Option<String> {
        let text = arguments.text();
        let mut members: IndexMap<String, &RawValue> = serde_json::from_str(&text).ok()?;
        if let Some(wrapper) = misnamed.and_then(|misnamed| misnamed.wrapper) {
            members = serde_json::from_str(members.get(wrapper)?.get()).ok()?;
        }
        let parameters = resolved.tool.parameters();
        let mut out = IndexMap::with_capacity(members.len());
        for (name, raw) in &members {
            let value: Value = serde_json::from_str(raw.get()).ok()?;
            let name = match misnamed.and_then(|misnamed| misnamed.find(name)) {
                None => name.as_str(),
                Some(Unknown { near: Some(near), .. }) => near.as_str(),
                Some(_) if self.only_names_it(resolved, &value) => continue,
                Some(_) => return None,
            };
            let text = match nearest_value(parameters, name, &value) {
                Some(near) => Value::from(near).to_string(),
                None => raw.get().to_owned(),
            };
            out.insert(name, text);
        }
        self.valid_arguments(resolved, &joined(&out))
    }

    /// The tool that a call was probably meant for, if no unknown name is near to a parameter of
    /// the called one, and its parameters that the unknown names are near to: the only folded tool
    /// of the category that shares an argument with the called one, has a near parameter for each
    /// unknown name and accepts the call with these names.
    pub(super) fn intended_tool(
        &self,
        presentation: &Presentation,
        resolved: ResolvedTool<'_>,
        arguments: &Arguments,
        misnamed: &Misnamed<'_>,
    ) -> Option<(ResolvedTool<'s>, String)> {
        let is_foreign = misnamed.wrapper.is_none() && misnamed.unknown.iter().all(|own| own.near.is_none());
        let given = arguments.value().ok()?;
        let shares = given.as_object().is_some_and(|members| members.len() > misnamed.unknown.len());
        let entry = presentation.deferred.iter().find(|entry| entry.tools.contains(&resolved.index))?;
        let few = entry.tools.len() <= MAX_COMPARED_TOOLS && misnamed.unknown.len() <= MAX_FOREIGN_NAMES;
        if !(is_foreign && shares && few) {
            return None;
        }
        let mut found = None;
        for index in &entry.tools {
            let Some(tool) = self.engine.catalog().at(*index) else { continue };
            if *index == resolved.index {
                continue;
            }
            let other = ResolvedTool { index: *index, tool, shown: self.names.tools.sent(tool.name().as_str()) };
            let Some(renamed @ Misnamed { wrapper: None, .. }) = Misnamed::of(tool.parameters(), given) else {
                continue;
            };
            let mut near = Vec::new();
            for own in &renamed.unknown {
                if let Some(name) = &own.near
                    && !own.by_type
                    && misnamed.find(own.name).is_some()
                {
                    near.push(name.as_str());
                }
            }
            let all = near.len() == renamed.unknown.len() && near.len() == misnamed.unknown.len();
            if !all || self.nearest_call(other, arguments, Some(&renamed)).is_none() {
                continue;
            }
            if found.is_some() {
                return None;
            }
            found = Some((other, quoted_names(&near)));
        }
        found
    }

    /// Whether an argument's value only repeats the name of the tool or of its category, as models
    /// add `"category": "contact"` to `create_contact` after they read a list of categories.
    fn only_names_it(&self, resolved: ResolvedTool<'_>, value: &Value) -> bool {
        let category = self.engine.assignment().at(resolved.index).map_or("", |own| own.category.as_str());
        let names = [resolved.tool.name().as_str(), category].map(str::to_lowercase);
        let repeats = |value: &Value| {
            let word = value.as_str().unwrap_or_default().to_lowercase();
            word.len() >= MIN_REPEATED && names.iter().any(|name| name.contains(&word))
        };
        match value {
            Value::Array(values) => !values.is_empty() && values.iter().all(repeats),
            one => repeats(one),
        }
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
            let name = text_member(call, "recipient_name").or_else(|| text_member(call, "name"))?;
            let shown = match resolve_name(engine, names, name) {
                Some(named) => shown_name(engine, names, named),
                None => name,
            };
            let inner = call.get("parameters").or_else(|| call.get("arguments"));
            let text = one_line(&Arguments::from(inner.cloned().unwrap_or_default()))?;
            if text.len() > MAX_TRY_BYTES {
                return None;
            }
            lines.push_str(&try_line(shown, &text));
        }
        if lines.is_empty() { None } else { Some(lines) }
    }
}

/// An arguments object on one line, as written if it is. `None` if it is not an object.
pub(super) fn one_line(arguments: &Arguments) -> Option<String> {
    if !arguments.value().ok()?.is_object() {
        return None;
    }
    let text = arguments.text();
    if text.contains(['\n', '\r']) { arguments.exact() } else { Some(text.trim().to_owned()) }
}

fn joined(members: &IndexMap<&str, String>) -> String {
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
