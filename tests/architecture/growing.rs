//! Public types must be able to grow without breaking hosts: the exceptions, as data, and the
//! search for types that are neither `#[non_exhaustive]` nor listed.

use syn::{Attribute, Fields, Item, Visibility};

/// The crates of the library and the folders of their sources.
pub(crate) const PUBLISHED: [(&str, &str); 6] = [
    ("toolfold", "src"),
    ("diagnostic", "crates/diagnostic/src"),
    ("gateway", "crates/gateway/src"),
    ("measure", "crates/measure/src"),
    ("policy", "crates/policy/src"),
    ("skill", "crates/skill/src"),
];

/// Public types that hosts may build from their fields or match without `_`, each with the reason.
pub(crate) const EXHAUSTIVE: &[(&str, &str)] = &[
    // A host must handle a new case: it decides whether a call runs.
    ("toolfold::Outcome", "the outcome of a call"),
    ("toolfold::Resumed", "the outcome of an answered approval"),
    ("policy::Decision", "the decision on a call"),
    ("policy::Effect", "the effect of a rule"),
    ("policy::Answer", "the answers of a person"),
    ("policy::ApprovalState", "the states of an approval"),
    ("policy::ToolOrigin", "the identity of a tool in rules and approvals"),
    ("policy::GrantTarget", "the calls that a remembered approval covers, which a person sees"),
    ("policy::GrantScope", "the place where a remembered approval applies, which a person sees"),
    ("skill::Answer", "the outcome of an activation"),
    ("skill::Permission", "the permission of a skill"),
    ("gateway::Trust", "the trust in a server"),
    // The other crates must handle a new case: a wildcard would measure or run something else.
    ("toolfold::Detail", "the forms of a tool, each of which is measured"),
    ("toolfold::Delivery", "the ways to open a tool, each of which is measured"),
    ("toolfold::Support", "yes, no or unknown"),
    ("toolfold::Target", "a reference leads to a schema, to nothing or elsewhere"),
    ("gateway::Target", "the transports of a server"),
    ("gateway::How", "the transports of a server in a client's file"),
    ("diagnostic::Severity", "the severities of a diagnostic, each with its exit code and color"),
    ("skill::Kind", "a file, a folder or anything else"),
    // A pair, or a list with a name.
    ("diagnostic::Loaded", "a value and its diagnostics"),
    ("diagnostic::LoadError", "a list of diagnostics"),
    ("skill::PermissionRule", "a pattern and its permission"),
    ("policy::Checkpoint", "the number of a record and its hash"),
    ("toolfold::Choice", "an arm and the reason for it"),
    ("toolfold::ProfilePart", "a profile and the names of its tools"),
    ("toolfold::TokenPrices", "the four prices of a model"),
    ("toolfold::Experiment", "two arms and the share of the second"),
    ("gateway::Several", "a list of observers"),
];

/// The public types in a source text that hosts can build or match in full, by name.
pub(crate) fn exhaustive_types(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Only a file that has one is parsed.
    if text.contains("pub struct ") || text.contains("pub enum ") {
        collect(&syn::parse_file(text).unwrap().items, &mut found);
    }
    found
}

fn collect(items: &[Item], found: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Mod(inner) if !inner.attrs.iter().any(|attribute| attribute.path().is_ident("cfg")) => {
                collect(inner.content.as_ref().map_or(&[], |(_, items)| items), found);
            }
            Item::Struct(own) if is_open(&own.vis, &own.attrs) && has_only_public_fields(&own.fields) => {
                found.push(own.ident.to_string());
            }
            Item::Enum(own) if is_open(&own.vis, &own.attrs) => found.push(own.ident.to_string()),
            _ => {}
        }
    }
}

fn is_open(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !attributes.iter().any(|own| own.path().is_ident("non_exhaustive"))
}

/// Whether a host can write a literal of the struct. It has nothing to write in one without fields.
fn has_only_public_fields(fields: &Fields) -> bool {
    !fields.is_empty() && fields.iter().all(|field| matches!(field.vis, Visibility::Public(_)))
}
