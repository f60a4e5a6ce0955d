//! Determines the definitions and properties that folding must keep so that every written reference
//! has the same target as in the full schema.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use crate::schema::{self, Role, object_member, role, text_member};

/// The definitions to write: those that a written schema refers to, or all of them.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    all: bool,
    /// By address in the document.
    reached: HashSet<*const Value>,
}

impl Definitions {
    /// Whether this entry of `$defs` or `definitions` is written.
    pub(super) fn keeps(&self, entry: &Value) -> bool {
        self.all || self.reached.contains(&std::ptr::from_ref(entry))
    }
}

/// A reference leads to something that folding drops: the schema must be sent unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Untouchable;

/// Follows references from the written schemas, visiting each schema once.
#[derive(Debug)]
pub(super) struct Reach<'s> {
    root: &'s Value,
    definitions: Definitions,
    /// The root's properties that references pass through.
    properties: BTreeSet<&'s str>,
    /// Whether a reference leads to the root itself, or passes through its schemas for unnamed
    /// properties.
    through_root: bool,
    waiting: Vec<&'s Value>,
    seen: HashSet<*const Value>,
}

impl<'s> Reach<'s> {
    /// Skips the schemas that a shorter text replaces.
    pub(super) fn past(root: &'s Value, instead: &HashMap<*const Value, String>) -> Self {
        Self { seen: instead.keys().copied().collect(), ..Self::new(root) }
    }

    pub(super) fn new(root: &'s Value) -> Self {
        Self {
            root,
            definitions: Definitions::default(),
            properties: BTreeSet::new(),
            through_root: false,
            waiting: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Adds a written schema and everything that its references lead to.
    pub(super) fn add_schema(&mut self, node: &'s Value) -> Result<(), Untouchable> {
        self.waiting.push(node);
        while let Some(node) = self.waiting.pop() {
            if self.seen.insert(std::ptr::from_ref(node)) {
                self.look_at(node)?;
            }
        }
        Ok(())
    }

    /// The definitions to write.
    pub(super) fn definitions(self) -> Definitions {
        self.definitions
    }

    /// The root's properties to write, and the definitions. `None` if a reference depends on more
    /// of the root than its properties, or cannot be followed.
    pub(super) fn properties_and_definitions(self) -> Option<(BTreeSet<&'s str>, Definitions)> {
        (!self.through_root && !self.definitions.all).then_some((self.properties, self.definitions))
    }

    fn look_at(&mut self, node: &'s Value) -> Result<(), Untouchable> {
        let Some(map) = node.as_object() else { return Ok(()) };
        if !std::ptr::eq(node, self.root) && schema::identifier(node).is_some() {
            // References below it do not start at the root.
            return Err(Untouchable);
        }
        if schema::is_dynamic(node) {
            self.keep_all();
        }
        for reference in references(map) {
            self.follow(reference)?;
        }
        for (key, value) in map {
            if !matches!(role(key), Role::Definitions | Role::Annotation) {
                schema::held(key, value, |child| self.waiting.push(child));
            }
        }
        Ok(())
    }

    fn follow(&mut self, reference: &str) -> Result<(), Untouchable> {
        let Some(steps) = schema::route(self.root, reference) else {
            // An anchor, another document (or this one by its own address), or no target.
            self.keep_all();
            return Ok(());
        };
        self.through_root |= steps.is_empty();
        for step in &steps {
            match (role(step.keyword), step.keyword) {
                (Role::Annotation, _) => return Err(Untouchable),
                (Role::Definitions, _) => {
                    self.definitions.reached.insert(std::ptr::from_ref(step.to));
                    self.waiting.push(step.to);
                }
                (_, "properties") if std::ptr::eq(step.from, self.root) => {
                    self.properties.insert(step.name);
                    self.waiting.push(step.to);
                }
                (_, "additionalProperties" | "unevaluatedProperties") if std::ptr::eq(step.from, self.root) => {
                    self.through_root = true;
                }
                _ => {}
            }
        }
        // If the path ends below a keyword that holds no schema, nothing else leads there.
        self.waiting.extend(steps.last().map(|step| step.to));
        Ok(())
    }

    fn keep_all(&mut self) {
        if !std::mem::replace(&mut self.definitions.all, true) {
            schema::walk(self.root, &mut |node| self.waiting.push(node));
        }
    }
}

/// The references of a schema object: its `$ref`, and those by which OpenAPI's `discriminator`
/// names its variants.
fn references(map: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let mut found = Vec::from_iter(text_member(map, "$ref"));
    let mapping = map.get("discriminator").and_then(|own| object_member(own, "mapping"));
    for variant in mapping.into_iter().flat_map(Map::values) {
        if let Value::String(text) = variant
            && text.starts_with('#')
        {
            found.push(text);
        }
    }
    found.into_iter()
}
