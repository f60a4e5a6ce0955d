//! Properties whose original order may be lost: schemas whose keys were sorted.
//!
//! Properties are rendered in the order in which they are sent, and the token count may depend on
//! it. Clients that store objects in sorted maps send them sorted; recorders that do so record
//! another order than was sent. Of 27 recorded requests with such keys, 22 cost the same in both
//! orders, and four were billed in the order of `required`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::tokens::render::Function;

/// The maximum depth; deeper schemas are unchanged. Recorded ones are at most a dozen levels deep.
const MOST_DEEP: usize = 64;

/// Whether some of these functions have sorted keys and a `required` in another order, and
/// `differs` returns true for them in that order.
pub(super) fn depends_on_lost(functions: &[Function<'_>], differs: impl FnOnce(&[Function<'_>]) -> bool) -> bool {
    let mut others: Vec<(usize, Value)> = Vec::new();
    for (at, function) in functions.iter().enumerate() {
        if let Some(other) = function.parameters.and_then(as_required) {
            others.push((at, other));
        }
    }
    if others.is_empty() {
        return false;
    }
    let mut restored = functions.to_vec();
    for (at, other) in &others {
        if let Some(function) = restored.get_mut(*at) {
            function.parameters = Some(other);
        }
    }
    differs(&restored)
}

/// A schema whose keys are all sorted, with properties in the order of `required`. `None` if they
/// are not sorted, or already in that order.
fn as_required(schema: &Value) -> Option<Value> {
    if !is_sorted(schema, MOST_DEEP) {
        return None;
    }
    match ordered(schema) {
        Cow::Owned(other) => Some(other),
        Cow::Borrowed(_) => None,
    }
}

/// Whether the keys of every object are in alphabetical order, up to this depth.
fn is_sorted(value: &Value, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match value {
        Value::Object(map) => map.keys().is_sorted() && map.values().all(|inner| is_sorted(inner, left)),
        Value::Array(list) => list.iter().all(|inner| is_sorted(inner, left)),
        _ => true,
    }
}

fn ordered(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::Object(map) => {
            let (mut inner, mut changed) = (Vec::with_capacity(map.len()), false);
            for (key, value) in map {
                let mut own = ordered(value);
                if let ("properties", Value::Object(properties)) = (key.as_str(), own.as_ref())
                    && let Some(other) = reordered(properties, map.get("required"))
                {
                    own = Cow::Owned(Value::Object(other));
                }
                changed |= matches!(own, Cow::Owned(_));
                inner.push((key, own));
            }
            if !changed {
                return Cow::Borrowed(value);
            }
            let mut owned = Map::new();
            for (key, value) in inner {
                owned.insert(key.clone(), value.into_owned());
            }
            Cow::Owned(Value::Object(owned))
        }
        Value::Array(list) => {
            let inner: Vec<Cow<'_, Value>> = list.iter().map(ordered).collect();
            if inner.iter().all(|value| matches!(value, Cow::Borrowed(_))) {
                return Cow::Borrowed(value);
            }
            Cow::Owned(inner.into_iter().map(Cow::into_owned).collect())
        }
        _ => Cow::Borrowed(value),
    }
}

/// Properties with the required ones rearranged in the order of `required`. `None` if they already
/// are.
fn reordered(properties: &Map<String, Value>, required: Option<&Value>) -> Option<Map<String, Value>> {
    let wanted: Vec<&str> = required?.as_array()?.iter().filter_map(Value::as_str).collect();
    let mut named = wanted.iter().filter_map(|name| properties.get_key_value(*name));
    let mut other = Map::new();
    for entry in properties {
        let is_required = wanted.contains(&entry.0.as_str());
        let (key, value) = if is_required { named.next().unwrap_or(entry) } else { entry };
        other.insert(key.clone(), value.clone());
    }
    if other.len() == properties.len() && !other.keys().eq(properties.keys()) { Some(other) } else { None }
}
