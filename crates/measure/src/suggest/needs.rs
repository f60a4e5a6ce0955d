//! Decides when a model must expand a folded tool.

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::profile::Detail;

use super::costs::Form;
use crate::usage::UsedCall;

/// How a model expands a folded tool that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lookup {
    /// Its whole category, as arm `auto` assumes.
    #[default]
    Category,
    /// Only the tool, by its name.
    Tool,
}

/// What the calls of a tool may need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ToolNeeds {
    /// Whether the tool has parameters.
    takes_any: bool,
    /// For each top-level parameter, whether it is optional, and whether it has listed values or
    /// nested structure.
    parameters: Vec<(bool, bool)>,
}

/// What the calls of a catalog's tools may need: a model expands a tool exactly if a call uses
/// something hidden.
///
/// Source: the oracle `needs` of the comparison of arms. No call can be made from a stub.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Needs(Vec<ToolNeeds>);

impl Needs {
    pub(super) fn of_catalog(catalog: &Catalog) -> Self {
        let tool = |schema: &Value| {
            let required = schema.get("required").and_then(Value::as_array);
            let is_required = |name: &str| required.is_some_and(|list| list.iter().any(|own| own == name));
            let properties = schema.get("properties").and_then(Value::as_object);
            let parameters = properties.into_iter().flatten().map(|(name, own)| (!is_required(name), has_shape(own)));
            parameters.collect()
        };
        let tools = catalog
            .iter()
            .map(|own| ToolNeeds { takes_any: !own.takes_no_parameters(), parameters: tool(own.parameters()) });
        Self(tools.collect())
    }

    /// Whether a call cannot be made from the shown form. If a record lacks the arguments, only a
    /// stub is insufficient.
    pub(super) fn lacks(&self, form: &Form, call: &UsedCall) -> bool {
        let Some(needs) = self.0.get(call.tool).filter(|_| form.deferred) else { return false };
        match form.detail {
            Detail::Full | Detail::Signature => false,
            Detail::Outline => needs.uses(call, |(optional, shaped)| optional && shaped),
            Detail::Required => needs.uses(call, |(optional, _)| optional),
            Detail::Summary | Detail::Index => needs.takes_any,
        }
    }

    /// The optional parameters of a tool, by index in its schema.
    pub(super) fn optional(&self, tool: usize) -> impl Iterator<Item = usize> {
        let parameters = self.0.get(tool).map(|needs| needs.parameters.as_slice()).unwrap_or_default();
        parameters.iter().enumerate().filter(|(_, (optional, _))| *optional).map(|(place, _)| place)
    }

    /// Whether a parameter is hidden at a detail: its name, or its values.
    pub(super) fn hides(&self, tool: usize, place: usize, detail: Detail) -> bool {
        let parameter = self.0.get(tool).and_then(|needs| needs.parameters.get(place));
        parameter.is_some_and(|(optional, shaped)| match detail {
            Detail::Full | Detail::Signature => false,
            Detail::Outline => *optional && *shaped,
            Detail::Required => *optional,
            Detail::Summary | Detail::Index => true,
        })
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
    let inner = schema.get("items").is_some_and(has_shape);
    inner
        || ["enum", "const", "properties", "anyOf", "oneOf", "allOf", "$ref"]
            .iter()
            .any(|key| schema.get(key).is_some())
}
