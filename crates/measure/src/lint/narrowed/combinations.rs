//! The keywords that combine schemas.

use serde_json::{Map, Value};

use toolfold::schema::dereferenced;

use super::super::rules::{DEFAULT_CHANGED, ENUM_NARROWED};
use super::super::view::first_names;
use super::values::{accepts, listed};
use super::{Comparison, Place, named, refers};

impl Comparison<'_> {
    /// `anyOf`, `oneOf`, `allOf` and `not`.
    pub(super) fn combinations(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, place: Place<'_>) {
        let own = |map: &Map<String, Value>, key: &str| map.get(key).and_then(Value::as_array).cloned();
        for key in ["anyOf", "oneOf"] {
            let Some(branches) = own(new, key) else { continue };
            if old.get(key) == new.get(key) && !branches.iter().any(|branch| branch.as_object().is_some_and(refers)) {
                continue;
            }
            let before = own(old, "anyOf").or_else(|| own(old, "oneOf"));
            for was in before.unwrap_or_else(|| vec![Value::Bool(true)]) {
                let was = self.with_base(old, &was);
                self.fits_one(&was, &branches, key, place);
            }
        }
        if old.get("allOf") != new.get("allOf") {
            for (at, branch) in own(new, "allOf").unwrap_or_default().iter().enumerate() {
                let kept = own(old, "allOf").is_some_and(|before| before.contains(branch));
                if !kept {
                    let pointer = format!("{}/allOf/{at}", place.at);
                    let old = self.with_base(old, &Value::Bool(true));
                    self.compare(&old, branch, place.part(&pointer));
                }
            }
        }
        match (old.get("not"), new.get("not")) {
            (was, Some(is)) if was != Some(is) => self.excluded(old, is, place),
            _ => {}
        }
    }

    /// Whether the values of an earlier alternative fit one of the later ones.
    fn fits_one(&mut self, was: &Value, branches: &[Value], key: &str, place: Place<'_>) {
        let mut found = Vec::new();
        let seen = self.seen.clone();
        for (at, branch) in branches.iter().enumerate() {
            // What a branch that does not fit has compared is not reported, so it is not done.
            self.seen.clone_from(&seen);
            let pointer = format!("{}/{key}/{at}", place.at);
            let before = std::mem::take(&mut self.changes);
            self.compare(was, branch, place.part(&pointer));
            found = std::mem::replace(&mut self.changes, before);
            found.retain(|own| own.rule.id != DEFAULT_CHANGED.id);
            if found.is_empty() {
                return;
            }
        }
        if branches.len() == 1 {
            self.changes.append(&mut found);
        } else {
            self.seen = seen;
            self.undecided(place, &format!("`{key}`"));
        }
    }

    /// An earlier alternative together with the keywords beside it.
    fn with_base(&self, old: &Map<String, Value>, branch: &Value) -> Value {
        let mut whole = old.clone();
        whole.retain(|key, _| !matches!(key.as_str(), "anyOf" | "oneOf" | "allOf" | "not"));
        for (key, value) in dereferenced(self.old_root, branch) {
            match (whole.get_mut(&key), value) {
                (Some(Value::Object(known)), Value::Object(more)) if key == "properties" => known.extend(more),
                (Some(Value::Array(known)), Value::Array(more)) if key == "required" => known.extend(more),
                (_, value) => drop(whole.insert(key, value)),
            }
        }
        Value::Object(whole)
    }

    /// What a new `not` excludes.
    fn excluded(&mut self, old: &Map<String, Value>, not: &Value, place: Place<'_>) {
        let Some(values) = not.as_object().and_then(listed) else {
            return self.undecided(place, "`not`");
        };
        let tested: Vec<Option<bool>> = values.iter().map(|value| accepts(old, value)).collect();
        let gone: Vec<String> =
            values.iter().zip(&tested).filter(|(_, own)| **own == Some(true)).map(|(own, _)| own.to_string()).collect();
        if !gone.is_empty() {
            self.add(&ENUM_NARROWED, place, format!("{} no longer accepts {}", named(place), first_names(&gone)));
        } else if tested.contains(&None) {
            self.undecided(place, "`not`");
        }
    }
}
