//! Decides when a model must expand a folded tool.

use std::collections::BTreeSet;

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::profile::Detail;
use toolfold::schema::required;

use super::costs::Form;
use crate::json::object_member;
use crate::usage::{UsedCall, UsedSession};

/// How a model expands a folded tool that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Lookup {
    /// Its whole category, as arm `auto` assumes.
    #[default]
    Category,
    /// Only the tool, by its name.
    Tool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ToolNeeds {
    takes_any: bool,
    /// Whether each parameter is optional, and whether it has values or structure.
    parameters: Vec<(bool, bool)>,
}

/// What calls may need: a model expands a tool if a call uses something hidden.
/// Source: the oracle `needs` of the comparison of arms. No call can be made from a stub.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Needs(Vec<ToolNeeds>);

impl Needs {
    pub(super) fn of_catalog(catalog: &Catalog) -> Self {
        let mut tools = Vec::with_capacity(catalog.len());
        for tool in catalog.iter() {
            let schema = tool.parameters();
            let required: Vec<&str> = required(schema).collect();
            let mut parameters = Vec::new();
            for (name, own) in object_member(schema, "properties").into_iter().flatten() {
                parameters.push((!required.contains(&name.as_str()), has_shape(own)));
            }
            tools.push(ToolNeeds { takes_any: !tool.takes_no_parameters(), parameters });
        }
        Self(tools)
    }

    pub(super) fn lacking(&self, forms: &[Form], session: &UsedSession) -> BTreeSet<usize> {
        let mut tools = BTreeSet::new();
        for call in &session.calls {
            if self.lacks(forms, call) {
                tools.insert(call.tool);
            }
        }
        tools
    }

    /// Whether the tool's form lacks something. Without arguments, only a stub does.
    pub(super) fn lacks(&self, forms: &[Form], call: &UsedCall) -> bool {
        let (Some(needs), Some(form)) = (self.0.get(call.tool), forms.get(call.tool)) else { return false };
        match form.detail {
            _ if !form.deferred => false,
            Detail::Full | Detail::Signature => false,
            Detail::Outline => needs.uses(call, |(optional, shaped)| optional && shaped),
            Detail::Required => needs.uses(call, |(optional, _)| optional),
            Detail::Summary | Detail::Index | Detail::Search => needs.takes_any,
        }
    }

    /// Whether a detail hides an optional parameter: its name, or its values.
    pub(super) fn hides_optional(&self, tool: usize, place: usize, detail: Detail) -> bool {
        let Some((true, shaped)) = self.0.get(tool).and_then(|needs| needs.parameters.get(place)) else {
            return false;
        };
        match detail {
            Detail::Full | Detail::Signature => false,
            Detail::Outline => *shaped,
            Detail::Required | Detail::Summary | Detail::Index | Detail::Search => true,
        }
    }
}

impl ToolNeeds {
    fn uses(&self, call: &UsedCall, hidden: impl Fn((bool, bool)) -> bool) -> bool {
        let given = call.parameters.as_deref().unwrap_or_default();
        given.iter().filter_map(|place| self.parameters.get(usize::from(*place))).any(|own| hidden(*own))
    }
}

/// Whether a parameter has listed values or nested structure beyond its bare type.
fn has_shape(schema: &Value) -> bool {
    let shaping = ["enum", "const", "properties", "anyOf", "oneOf", "allOf", "$ref"];
    schema.get("items").is_some_and(has_shape) || shaping.iter().any(|key| schema.get(key).is_some())
}
