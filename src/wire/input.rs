//! Arguments as a model writes them, and as a tool's own input.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Arguments;
use crate::catalog::{INPUT, Tool, write_string};
use crate::schema::VALUE;

impl Arguments {
    /// The arguments as the tool's input: without the parameter `value` around an input that is not
    /// an object, and under the tool's own names.
    pub(crate) fn own_input(&self, tool: &Tool) -> Cow<'_, Self> {
        if tool.input().is_wrapped {
            return self.in_member(VALUE).map_or(Cow::Borrowed(self), Cow::Owned);
        }
        self.with_own_names(tool)
    }

    /// The tool's input in arguments that policy judged.
    pub(crate) fn input_of_judged(&self, tool: &Tool) -> Cow<'_, Self> {
        match tool.skill_run() {
            Some(_) => self.in_member(INPUT).map_or(Cow::Borrowed(self), Cow::Owned),
            None => self.own_input(tool),
        }
    }

    /// The arguments as policy judges them: an object, under the tool's own names. Those of the run
    /// of a script are a member beside its facts.
    pub(crate) fn judged_input(&self, tool: &Tool) -> Cow<'_, Self> {
        let own = self.with_own_names(tool);
        let Some(run) = tool.skill_run() else { return own };
        let given = own.value().cloned().unwrap_or_else(|_| Value::Object(Map::new()));
        let text = own.as_written().filter(|_| own.value().is_ok()).map(|text| {
            let mut out = String::from("{");
            for (name, value) in &run.facts {
                write_string(&mut out, name);
                out.push_str(&format!(":{value},"));
            }
            write_string(&mut out, INPUT);
            out.push_str(&format!(":{text}}}"));
            out
        });
        Cow::Owned(Self::of_parts(text, run.call(given)))
    }

    fn with_own_names(&self, tool: &Tool) -> Cow<'_, Self> {
        self.with_names(tool.input().renamed.iter().map(|(shown, own)| (&**shown, &**own)))
    }

    /// The arguments under the names that a model sees: it may know a tool's own names from
    /// elsewhere.
    ///
    /// # Errors
    /// Returns what is wrong, for the model, if a parameter is given under both names.
    pub(crate) fn shown_input(&self, tool: &Tool) -> Result<Cow<'_, Self>, String> {
        let input = tool.input();
        let given = |name: &str| self.value().is_ok_and(|value| value.get(name).is_some());
        for (shown, own) in &input.renamed {
            if given(shown) && given(own) {
                return Err(format!("`{own}` and `{shown}` are the same parameter: give only `{shown}`"));
            }
        }
        Ok(self.with_names(input.renamed.iter().map(|(shown, own)| (&**own, &**shown))))
    }

    /// The value of a member, with every digit.
    fn in_member(&self, name: &str) -> Option<Self> {
        let read = self.value().ok()?.get(name)?.clone();
        let text = self.as_written().and_then(|text| {
            let members: IndexMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            Some(members.get(name)?.get().to_owned())
        });
        Some(Self::of_parts(text, read))
    }

    /// The arguments object under other names, each pair the present name and the new one. Borrowed
    /// if no name changes.
    fn with_names<'n>(&self, pairs: impl Iterator<Item = (&'n str, &'n str)>) -> Cow<'_, Self> {
        let Ok(Value::Object(map)) = self.value() else { return Cow::Borrowed(self) };
        let new: IndexMap<&str, &str> = pairs.filter(|(name, _)| map.contains_key(*name)).collect();
        if new.is_empty() {
            return Cow::Borrowed(self);
        }
        let renamed = |name: &str| new.get(name).copied().unwrap_or(name).to_owned();
        let read: Map<String, Value> = map.iter().map(|(name, value)| (renamed(name), value.clone())).collect();
        let members = self.as_written().and_then(|text| {
            let members: IndexMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            Some(members)
        });
        let text = members.map(|members| {
            let mut out = String::from("{");
            for (name, value) in members {
                if out.len() > 1 {
                    out.push(',');
                }
                write_string(&mut out, &renamed(&name));
                out.push(':');
                out.push_str(value.get());
            }
            out.push('}');
            out
        });
        Cow::Owned(Self::of_parts(text, Value::Object(read)))
    }
}
