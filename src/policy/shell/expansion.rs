//! `${…}`: what runs while a parameter is expanded, and what it probably expands to.

use brush_parser::word::{Parameter, ParameterExpr as Expr, ParameterTransformOp, SpecialParameter};

use super::side_effects::Weight;
use super::walker::Walker;

/// Walks a parameter expansion. Returns the probable value, from assignments in the line itself.
pub(super) fn parameter(walker: &mut Walker, expr: &Expr) -> Option<String> {
    let text = "${…}";
    let none: &Option<String> = &None;
    let (parameter, indirect, first, second) = match expr {
        Expr::Parameter { parameter, indirect }
        | Expr::ParameterLength { parameter, indirect }
        | Expr::Substring { parameter, indirect, .. }
        | Expr::Transform { parameter, indirect, .. } => (Some(parameter), *indirect, None, none),
        Expr::UseDefaultValues { parameter, indirect, default_value: t, .. }
        | Expr::AssignDefaultValues { parameter, indirect, default_value: t, .. }
        | Expr::IndicateErrorIfNullOrUnset { parameter, indirect, error_message: t, .. }
        | Expr::UseAlternativeValue { parameter, indirect, alternative_value: t, .. }
        | Expr::RemoveSmallestSuffixPattern { parameter, indirect, pattern: t }
        | Expr::RemoveLargestSuffixPattern { parameter, indirect, pattern: t }
        | Expr::RemoveSmallestPrefixPattern { parameter, indirect, pattern: t }
        | Expr::RemoveLargestPrefixPattern { parameter, indirect, pattern: t }
        | Expr::UppercaseFirstChar { parameter, indirect, pattern: t }
        | Expr::UppercasePattern { parameter, indirect, pattern: t }
        | Expr::LowercaseFirstChar { parameter, indirect, pattern: t }
        | Expr::LowercasePattern { parameter, indirect, pattern: t } => (Some(parameter), *indirect, None, t),
        Expr::ReplaceSubstring { parameter, indirect, pattern, replacement, .. } => {
            (Some(parameter), *indirect, Some(pattern), replacement)
        }
        Expr::VariableNames { .. } | Expr::MemberKeys { .. } => (None, false, None, none),
    };
    let texts: Vec<&str> = first.into_iter().chain(second).map(String::as_str).collect();
    match expr {
        Expr::Substring { offset, length, .. } => {
            let parts = [Some(offset), length.as_ref()].into_iter().flatten();
            parts.for_each(|part| walker.arithmetic(&part.value));
        }
        Expr::Transform { op: ParameterTransformOp::PromptExpand, .. } => {
            walker.found.unknown("prompt-expansion", text, Weight::Code);
        }
        _ => {}
    }
    if let Expr::AssignDefaultValues { parameter: Parameter::Named(name), .. } = expr {
        walker.sets(name, None);
    }
    if !texts.is_empty() {
        walker.deeper(|walker| texts.iter().for_each(|text| drop(walker.expanded(text))), &texts.concat());
    }
    if indirect {
        walker.found.unknown("indirect-expansion", text, Weight::Code);
    }
    walker.found.unknown("parameter", &name(parameter), Weight::Value);
    let plain = matches!(expr, Expr::Parameter { indirect: false, .. });
    match parameter? {
        Parameter::NamedWithIndex { index, .. } => {
            walker.subscript(index);
            None
        }
        Parameter::NamedWithAllIndices { name, .. } if plain => walker.variables.get(&format!("{name}[@]")).cloned(),
        Parameter::Named(name) if plain && name == "IFS" => Some(" ".to_owned()),
        Parameter::Named(name) if plain => walker.variables.get(name).cloned(),
        Parameter::Named(_) => match expr {
            Expr::UseDefaultValues { default_value, .. } | Expr::AssignDefaultValues { default_value, .. } => {
                default_value.clone()
            }
            _ => None,
        },
        // `$@` and `$1` of a `bash -c` line are empty unless the line sets them.
        Parameter::Special(SpecialParameter::AllPositionalParameters { .. }) | Parameter::Positional(_) => {
            Some(walker.variables.get("@").cloned().unwrap_or_default())
        }
        _ => None,
    }
}

/// Whether an expansion may produce several words even in double quotes: `"$@"`, `"${a[@]}"`.
pub(super) fn is_list(expr: &Expr) -> bool {
    match expr {
        Expr::Parameter { parameter, .. }
        | Expr::UseDefaultValues { parameter, .. }
        | Expr::UseAlternativeValue { parameter, .. }
        | Expr::Substring { parameter, .. } => matches!(
            parameter,
            Parameter::Special(SpecialParameter::AllPositionalParameters { .. })
                | Parameter::NamedWithAllIndices { .. }
        ),
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
