//! JSON Schemas: keywords, subschemas and references.
//!
//! This module is the only place with a list of keywords or a walk over schemas. Folding, token
//! counts, the validator's explanations, the wires and the catalog's checks are built on it.
//!
//! | question | answer |
//! |---|---|
//! | what does a keyword do, what does it hold? | [`holds`], `keyword`, `role` |
//! | what schemas are in a schema? | [`walk`], `children`, `held`, `walk_mut`, `every_object` |
//! | where does a `$ref` lead? | [`resolve`], `follow`, `pointed`, `route` |
//! | where could a validator take it to lead? | `Document` |
//! | what is a schema with its parts put together? | [`dereferenced`], `merge`, `flattened` |
//! | what does a schema of any draft mean in 2020-12? | `normalize` |
//! | what is a schema with one parameter for an input, or with other names? | `wrapped`, `renamed` |
//! | what arguments does a tool take? | [`properties`], [`required`], `takes_no_parameters` |
//!
//! Nothing here fetches, loops or recurses without bound: a reference is followed only inside its
//! own document, chains and cycles are cut, walks keep their own stack, and a schema's depth is
//! limited when it is read (`MAX_DEPTH`).

mod arguments;
#[cfg_attr(not(feature = "validate"), allow(dead_code, reason = "only the validator uses all of it"))]
mod document;
mod keyword;
mod layers;
mod members;
mod merge;
mod normal;
mod reference;
mod rename;
#[cfg(test)]
mod tests;
mod types;
#[cfg_attr(not(feature = "validate"), allow(dead_code, reason = "only the validator uses all of it"))]
mod walk;
mod wrap;

pub(crate) use arguments::top;
pub use arguments::{properties, required};
pub(crate) use arguments::{single_type, takes_no_parameters};
#[cfg_attr(not(feature = "validate"), allow(unused_imports, reason = "only the validator uses all of it"))]
pub(crate) use document::Document;
pub use keyword::{Holds, holds, keyword_names};
pub(crate) use keyword::{Role, TYPES, is_annotation, keyword, role};
pub(crate) use layers::{drops_null, layers};
pub(crate) use members::{list_member, object_member, text_member, text_members};
pub use merge::dereferenced;
pub(crate) use merge::{flattened, merge};
pub(crate) use normal::normalize;
pub(crate) use reference::{Broken, follow, follow_by, pointed, pointed_at, reference, route};
pub use reference::{Target, identifier, is_dynamic, pointer_token, resolve};
pub(crate) use rename::{parameters, renamed};
pub use types::Types;
pub use walk::walk;
#[cfg_attr(not(feature = "validate"), allow(unused_imports, reason = "only the validator uses all of it"))]
pub(crate) use walk::{children, every_object, held, walk_mut};
pub(crate) use wrap::{VALUE, wrapped};

use serde_json::Value;

/// The maximum nesting depth of a schema: the recursion limit of `serde_json` (128) minus the
/// levels around a schema in a tool array, so that everything written can be read back.
pub(crate) const MAX_DEPTH: usize = 120;

/// The kind of a JSON value, for messages.
#[must_use]
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Whether a value is nested more than `limit` levels deep. Descends no further than that.
#[must_use]
pub(crate) fn deeper_than(value: &Value, limit: usize) -> bool {
    let deeper = |inner: &Value| limit == 0 || deeper_than(inner, limit - 1);
    match value {
        Value::Array(list) => list.iter().any(deeper),
        Value::Object(map) => map.values().any(deeper),
        _ => false,
    }
}
