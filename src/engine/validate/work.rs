//! How much a schema may ask for, read off before it is compiled.
//!
//! The budget of [`super::steps`] counts what succeeds, and everything while errors are collected; the crate asks a
//! keyword of ours last. What fails, and how deep the stack goes meanwhile, is bounded here: definitions that use each
//! other twice, nested `unevaluatedProperties`, chains and circles of references.

use std::collections::HashMap;

use serde_json::Value;

use crate::schema::{self, Document, Role, role};

/// The most evaluations that one value may cost, however deep the values in it go. All 1,053 real schemas at
/// hand stay below.
const WORK: u64 = 50_000;

/// The longest chain of subschemas that speak of one value.
const CHAIN: u32 = 500;

/// In how many places references may lead back to the same value.
const CIRCLES: u32 = 12;

/// What one value may cost.
#[derive(Debug, Clone, Copy)]
struct Cost {
    work: u64,
    chain: u32,
}

struct Measure<'s> {
    document: Document<'s>,
    /// By address of the subschema; nothing while it is being measured.
    known: HashMap<usize, Option<Cost>>,
    circles: u32,
}

/// The longest chain of subschemas that speak of one value.
///
/// # Errors
/// The schema asks for more than [`WORK`], [`CHAIN`] or [`CIRCLES`] allow.
pub(super) fn chain(root: &Value) -> Result<u32, String> {
    let mut measure = Measure { document: Document::new(root), known: HashMap::new(), circles: 0 };
    let mut most = Cost { work: 0, chain: 0 };
    schema::every_object(root, &mut |node| {
        let cost = measure.measure_schema(node, 0);
        most = Cost { work: most.work.max(cost.work), chain: most.chain.max(cost.chain) };
    });
    if measure.circles > CIRCLES {
        return Err(format!("references lead back to the same value in more than {CIRCLES} places"));
    }
    if most.work > WORK || most.chain > CHAIN {
        return Err("the schema is too intricate to be checked: its references and combinations multiply".to_owned());
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
                // What is evaluated is found out by evaluating it once more.
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
