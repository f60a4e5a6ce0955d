//! Decides when a model must expand a folded tool.

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::profile::Detail;
use toolfold::schema::required;

use super::costs::Form;
use crate::usage::UsedCall;

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

/// What the calls of a tool may need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ToolNeeds {
    /// Whether the tool has parameters.
    takes_any: bool,
    /// Whether each parameter is optional, and whether it has values or structure.
    parameters: Vec<(bool, bool)>,
}

/// What calls may need: a model expands a tool if a call uses something hidden.
///
/// Source: the oracle `needs` of the comparison of arms. No call can be made from a stub.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Needs(Vec<ToolNeeds>);

impl Needs {
    pub(super) fn of_catalog(catalog: &Catalog) -> Self {
        let mut tools = Vec::with_capacity(catalog.len());
        for tool in catalog.iter() {
            let schema = tool.parameters();
            let required: Vec<&str> = required(schema).collect();
            let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
            let parameters = properties.map(|(name, own)| (!required.contains(&name.as_str()), has_shape(own)));
            tools.push(ToolNeeds { takes_any: !tool.takes_no_parameters(), parameters: parameters.collect() });
        }
        Self(tools)
    }

    /// Whether the shown form lacks something. Without arguments, only a stub does.
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
