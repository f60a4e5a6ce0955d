//! The arguments of an `expand_tools` call.

use serde_json::{Map, Value};

use crate::diagnostic::InvalidValue;

/// The maximum number of names in a call; more are rejected, so that a runaway call costs nothing.
const MAX_NAMES: usize = 200;

/// The arguments of an `expand_tools` call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpandRequest {
    /// Categories to open.
    pub categories: Vec<String>,
    /// Single tools to open.
    pub tools: Vec<String>,
    /// Words to search the tools for; the best results are opened.
    pub query: Option<String>,
}

impl ExpandRequest {
    /// Reads the arguments of a call. A single string counts as a list of one, and the original
    /// design's `category` as `categories`. Unknown keys are ignored.
    ///
    /// # Errors
    /// Returns an [`InvalidValue`] with a message for the model.
    pub fn from_arguments(arguments: &Value) -> Result<Self, InvalidValue> {
        let map =
            arguments.as_object().ok_or("the arguments must be an object with `query`, `categories` or `tools`")?;
        let mut categories = names_under(map, "categories")?;
        categories.extend(names_under(map, "category")?);
        let query = match map.get("query") {
            None | Some(Value::Null) => None,
            Some(query) => Some(query.as_str().ok_or("`query` must be a string")?.trim().to_owned()),
        };
        let query = query.filter(|query| !query.is_empty());
        let request = Self { categories, tools: names_under(map, "tools")?, query };
        match request.categories.len() + request.tools.len() {
            0 if request.query.is_none() => Err("give at least one of `query`, `categories` and `tools`".into()),
            n if n > MAX_NAMES => Err(format!("at most {MAX_NAMES} names at once").into()),
            _ => Ok(request),
        }
    }
}

/// The names in an argument: one, or a list.
fn names_under(map: &Map<String, Value>, key: &'static str) -> Result<Vec<String>, InvalidValue> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one.clone()]),
        Some(Value::Array(many)) => {
            let mut names = Vec::new();
            for name in many {
                names.push(name.as_str().ok_or_else(|| not_names(key))?.to_owned());
            }
            Ok(names)
        }
        Some(_) => Err(not_names(key)),
    }
}

fn not_names(key: &str) -> InvalidValue {
    format!("`{key}` must be a list of names").into()
}
