//! The cost of a schema, computed before it is compiled.
//!
//! The budget of [`super::steps`] covers evaluations that succeed, and all evaluations while errors
//! are collected, because the crate evaluates a custom keyword last. Failing evaluations and the
//! stack depth are bounded here: definitions that use each other twice, nested
//! `unevaluatedProperties`, chains and cycles of references.

use std::collections::HashMap;

use serde_json::Value;

use crate::schema::{self, Document, Role, role};

/// The maximum number of evaluations of one value, without those of the values inside it. All 1,053
/// collected real schemas stay below.
const WORK: u64 = 50_000;

/// The maximum length of a chain of subschemas that apply to one value.
const CHAIN: u32 = 500;

/// The maximum number of references to a schema that is being evaluated for the same value.
const CIRCLES: u32 = 12;

/// The cost of one value.
#[derive(Debug, Clone, Copy)]
struct Cost {
    work: u64,
    chain: u32,
}

struct Measure<'s> {
    document: Document<'s>,
    /// By address of the subschema; `None` while it is being computed.
    known: HashMap<usize, Option<Cost>>,
    circles: u32,
}

/// The length of the longest chain of subschemas that apply to one value.
///
/// # Errors
/// The schema exceeds [`WORK`], [`CHAIN`] or [`CIRCLES`].
pub(super) fn chain(root: &Value) -> Result<u32, String> {
    let mut measure = Measure { document: Document::new(root), known: HashMap::new(), circles: 0 };
    let mut most = Cost { work: 0, chain: 0 };
    schema::every_object(root, &mut |node| {
        let cost = measure.measure_schema(node, 0);
        most = Cost { work: most.work.max(cost.work), chain: most.chain.max(cost.chain) };
    });
    if measure.circles > CIRCLES {
        return Err(format!("the schema has more than {CIRCLES} circular references"));
    }
    if most.work > WORK || most.chain > CHAIN {
        return Err("the schema is too complex to check: its references and combinations multiply".to_owned());
    }
    Ok(most.chain)
}

impl<'s> Measure<'s> {
    fn measure_schema(&mut self, node: &'s Value, depth: u32) -> Cost {
        let Some(map) = node.as_object() else { return Cost { work: 1, chain: 1 } };
        if depth > CHAIN {
            return Cost { work: u64::MAX, chain: u32::MAX };
        }
        let address = std::ptr::from_ref(node).addr();
        match self.known.get(&address) {
            Some(Some(cost)) => return *cost,
            Some(None) => {
                self.circles = self.circles.saturating_add(1);
                return Cost { work: 1, chain: 1 };
            }
            None => {}
        }
        self.known.insert(address, None);
        let mut sum = Cost { work: 1, chain: 0 };
        let mut add = |cost: Cost| {
            sum = Cost { work: sum.work.saturating_add(cost.work), chain: sum.chain.max(cost.chain) };
        };
        let mut twice = false;
        for (keyword, value) in map {
            match (role(keyword), keyword.as_str(), value) {
                (Role::InPlace, ..) => schema::held(keyword, value, |one| add(self.measure_schema(one, depth + 1))),
                (Role::Reference, _, Value::String(reference)) => {
                    let targets = self.document.targets(reference).into_iter();
                    let costs: Vec<Cost> = targets.map(|target| self.measure_schema(target, depth + 1)).collect();
                    let work = costs.iter().map(|cost| cost.work).max().unwrap_or(1);
                    add(Cost { work, chain: costs.iter().map(|cost| cost.chain).max().unwrap_or(1) });
                }
                // To find out what is evaluated, the crate evaluates it once more.
                (_, "unevaluatedProperties" | "unevaluatedItems", _) => twice = true,
                _ => {}
            }
        }
        let work = if twice { sum.work.saturating_mul(2) } else { sum.work };
        let cost = Cost { work, chain: sum.chain.saturating_add(1) };
        self.known.insert(address, Some(cost));
        cost
    }
}
