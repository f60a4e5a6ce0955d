//! A call that a model made, as a wire read it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// JSON of any kind.
    Json(Value),
    /// Text that is not JSON, as the model wrote it, and why it is not.
    Malformed {
        /// What the model wrote.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Arguments {
    /// Reads the text of arguments. Nothing at all is an empty object: models write it for tools without parameters.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Json(Value::Object(Map::new()));
        }
        match serde_json::from_str(text) {
            Ok(Value::Null) => Self::Json(Value::Object(Map::new())),
            Ok(value) => Self::Json(value),
            Err(why) => Self::Malformed { text: text.to_owned(), why: why.to_string() },
        }
    }
}

/// One call of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id of the call, given back with the answer.
    pub id: String,
    /// The name the model called.
    pub name: String,
    /// What it passed.
    pub arguments: Arguments,
}

impl Call {
    /// A call with arguments that are JSON already.
    #[must_use]
    pub fn new(id: &str, name: &str, arguments: Value) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), arguments: Arguments::Json(arguments) }
    }
}
