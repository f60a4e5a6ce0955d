//! `${…}`: what runs while a parameter is expanded, and what it probably expands to.

use brush_parser::word::{Parameter, ParameterExpr, ParameterTransformOp, SpecialParameter};

use super::side_effects::Weight;
use super::walker::Walker;

/// Walks a parameter expansion. Returns the probable value, from assignments in the line itself.
pub(super) fn parameter(walker: &mut Walker, expr: &ParameterExpr) -> Option<String> {
    let text = "${…}";
    let (parameter, indirect, texts): (Option<&Parameter>, bool, Vec<&str>) = match expr {
        ParameterExpr::Parameter { parameter, indirect } | ParameterExpr::ParameterLength { parameter, indirect } => {
            (Some(parameter), *indirect, vec![])
        }
        ParameterExpr::UseDefaultValues { parameter, indirect, default_value: t, .. }
        | ParameterExpr::AssignDefaultValues { parameter, indirect, default_value: t, .. }
        | ParameterExpr::IndicateErrorIfNullOrUnset { parameter, indirect, error_message: t, .. }
        | ParameterExpr::UseAlternativeValue { parameter, indirect, alternative_value: t, .. }
        | ParameterExpr::RemoveSmallestSuffixPattern { parameter, indirect, pattern: t }
        | ParameterExpr::RemoveLargestSuffixPattern { parameter, indirect, pattern: t }
        | ParameterExpr::RemoveSmallestPrefixPattern { parameter, indirect, pattern: t }
        | ParameterExpr::RemoveLargestPrefixPattern { parameter, indirect, pattern: t }
        | ParameterExpr::UppercaseFirstChar { parameter, indirect, pattern: t }
        | ParameterExpr::UppercasePattern { parameter, indirect, pattern: t }
        | ParameterExpr::LowercaseFirstChar { parameter, indirect, pattern: t }
        | ParameterExpr::LowercasePattern { parameter, indirect, pattern: t } => {
            (Some(parameter), *indirect, t.as_deref().into_iter().collect())
        }
        ParameterExpr::Substring { parameter, indirect, offset, length } => {
            walker.arithmetic(&offset.value);
            if let Some(length) = length {
                walker.arithmetic(&length.value);
            }
            (Some(parameter), *indirect, vec![])
        }
        ParameterExpr::Transform { parameter, indirect, op } => {
            if matches!(op, ParameterTransformOp::PromptExpand) {
                walker.found.unknown("prompt-expansion", text, Weight::Code);
            }
            (Some(parameter), *indirect, vec![])
        }
        ParameterExpr::ReplaceSubstring { parameter, indirect, pattern, replacement, .. } => (
            Some(parameter),
            *indirect,
            [Some(pattern.as_str()), replacement.as_deref()].into_iter().flatten().collect(),
        ),
        ParameterExpr::VariableNames { .. } | ParameterExpr::MemberKeys { .. } => (None, false, vec![]),
    };
    if let ParameterExpr::AssignDefaultValues { parameter: Parameter::Named(name), .. } = expr {
        walker.sets(name, None);
    }
    if !texts.is_empty() {
        walker.deeper(|walker| texts.iter().for_each(|text| drop(walker.expanded(text))), &texts.concat());
    }
    if indirect {
        walker.found.unknown("indirect-expansion", text, Weight::Code);
    }
    walker.found.unknown("parameter", &name(parameter), Weight::Value);
    match parameter {
        Some(Parameter::NamedWithIndex { index, .. }) => {
            if !index.chars().all(|c| c.is_ascii_digit()) {
                walker.arithmetic(index);
                walker.found.unknown("subscript", index, Weight::Code);
            }
            None
        }
        Some(Parameter::NamedWithAllIndices { name, .. })
            if matches!(expr, ParameterExpr::Parameter { indirect: false, .. }) =>
        {
            walker.variables.get(&format!("{name}[@]")).cloned()
        }
        Some(Parameter::Named(name)) if matches!(expr, ParameterExpr::Parameter { indirect: false, .. }) => {
            if name == "IFS" { Some(" ".to_owned()) } else { walker.variables.get(name).cloned() }
        }
        Some(Parameter::Named(_)) => match expr {
            ParameterExpr::UseDefaultValues { default_value: Some(t), .. }
            | ParameterExpr::AssignDefaultValues { default_value: Some(t), .. } => Some(t.clone()),
            _ => None,
        },
        // `$@` and `$1` of a `bash -c` line are empty unless the line sets them.
        Some(Parameter::Special(SpecialParameter::AllPositionalParameters { .. }) | Parameter::Positional(_)) => {
            Some(walker.variables.get("@").cloned().unwrap_or_default())
        }
        _ => None,
    }
}

/// Whether an expansion may produce several words even in double quotes: `"$@"`, `"${a[@]}"`.
pub(super) fn is_list(expr: &ParameterExpr) -> bool {
    match expr {
        ParameterExpr::Parameter { parameter, .. }
        | ParameterExpr::UseDefaultValues { parameter, .. }
        | ParameterExpr::UseAlternativeValue { parameter, .. }
        | ParameterExpr::Substring { parameter, .. } => matches!(
            parameter,
            Parameter::Special(SpecialParameter::AllPositionalParameters { .. })
                | Parameter::NamedWithAllIndices { .. }
        ),
        ParameterExpr::VariableNames { .. } | ParameterExpr::MemberKeys { .. } => true,
        _ => true,
    }
}

fn name(parameter: Option<&Parameter>) -> String {
    match parameter {
        Some(
            Parameter::Named(name)
            | Parameter::NamedWithIndex { name, .. }
            | Parameter::NamedWithAllIndices { name, .. },
        ) => {
            format!("${name}")
        }
        Some(Parameter::Positional(n)) => format!("${n}"),
        Some(Parameter::Special(_)) => "a special parameter".to_owned(),
        None => "${!…}".to_owned(),
    }
}
