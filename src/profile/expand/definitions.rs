//! The definitions of opened tools in an answer.

use super::bridges;
use super::reply::break_line;
use crate::catalog::{Catalog, Tool, write_string};
use crate::profile::fold::{schema_in_answers, schema_with_null_defaults};
use crate::profile::{Arm, Delivery, Naming};

/// The definitions of opened tools as an arm delivers them: how to call them, then one per line. In
/// place they are only named, because the next turn's array contains them. `tools` are indices in
/// the catalog.
#[must_use]
pub fn definitions(catalog: &Catalog, arm: Arm, tools: impl IntoIterator<Item = usize>, naming: &dyn Naming) -> String {
    let mut text = match arm.delivery() {
        Delivery::InPlace => "Opened, with full parameters in your tool list from now on:".to_owned(),
        Delivery::Bridge => return bridged(catalog, &tools.into_iter().collect::<Vec<_>>(), naming),
        Delivery::None | Delivery::InResult | Delivery::Native | Delivery::Append => {
            "Opened. Call them directly by name:".to_owned()
        }
    };
    for (at, tool) in tools.into_iter().filter_map(|at| Some((at, catalog.at(at)?))) {
        text.push('\n');
        let shown = naming.tool(at, tool.name().as_str());
        if arm.delivery() == Delivery::InPlace {
            text.push_str(shown);
        } else {
            text.push_str(&definition(tool, shown));
        }
    }
    text
}

/// The definitions of opened tools, grouped by the meta-tool that runs them.
fn bridged(catalog: &Catalog, tools: &[usize], naming: &dyn Naming) -> String {
    let mut text = String::new();
    for bridge in bridges(catalog, tools.iter().copied(), naming) {
        break_line(&mut text);
        let opened = if text.is_empty() { "Opened. " } else { "" };
        let name = naming.bridge(bridge);
        text.push_str(&format!("{opened}Run them with {name} {{\"name\":…,\"arguments\":{{…}}}}:"));
        for (at, tool) in tools.iter().filter_map(|at| Some((*at, catalog.at(*at)?))) {
            if bridge.is_for(tool) {
                text.push('\n');
                text.push_str(&definition(tool, naming.tool(at, tool.name().as_str())));
            }
        }
    }
    text
}

/// A tool as a line of compact JSON under the name that the model sees, with its original schema
/// except for `$schema` and the title at its root.
#[must_use]
pub fn definition(tool: &Tool, shown: &str) -> String {
    with_schema(tool, shown, &schema_in_answers(tool))
}

/// The definition in the answer to a call that did not run: an optional parameter without a default
/// has the default `null`, which the gate drops from a call.
pub(crate) fn definition_for_retry(tool: &Tool, shown: &str) -> String {
    with_schema(tool, shown, &schema_with_null_defaults(tool))
}

fn with_schema(tool: &Tool, shown: &str, schema: &str) -> String {
    let mut text = String::from("{\"name\":");
    write_string(&mut text, shown);
    if !tool.description().is_empty() {
        text.push_str(",\"description\":");
        write_string(&mut text, tool.description());
    }
    text.push_str(",\"parameters\":");
    text.push_str(schema);
    text.push('}');
    text
}
