//! The results of trials as a row of the capability table.

use schemars::JsonSchema;
use serde::Serialize;
use toolfold::wire::{Capabilities, Support, Wire};

use super::{Case, ProbeError};
use crate::suggest::toml_string;

/// The minimum number of repeats for a conclusion.
const ENOUGH: usize = 3;

/// The trials of one case.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CaseResult {
    /// The case, by its name.
    pub case: &'static str,
    /// The number of right answers.
    pub right: usize,
    /// The number of answers.
    pub asked: usize,
    /// The number of right answers in the control.
    pub control_right: usize,
    /// The number of answers in the control.
    pub control_asked: usize,
    /// Why requests had no answer, the last reason.
    pub error: Option<String>,
}

impl CaseResult {
    /// The conclusion. `yes` from four right of five, `no` up to one of five; unknown in between,
    /// with fewer than three repeats, or if the control was ever right.
    #[must_use]
    pub fn support(&self) -> Support {
        let enough = self.asked >= ENOUGH && self.control_asked >= ENOUGH;
        if !enough || self.control_right > 0 {
            return Support::Unprobed;
        }
        match self.right * 5 {
            fives if fives >= self.asked * 4 => Support::Yes,
            fives if fives <= self.asked => Support::No,
            _ => Support::Unprobed,
        }
    }

    /// The conclusion in words.
    #[must_use]
    pub fn verdict(&self) -> String {
        if self.control_right > 0 {
            return "not conclusive: the model was right without the schema".to_owned();
        }
        if self.asked < ENOUGH || self.control_asked < ENOUGH {
            let why = self.error.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            return format!("not conclusive: fewer than {ENOUGH} answers{why}");
        }
        match self.support() {
            Support::Yes => "yes".to_owned(),
            Support::No => "no".to_owned(),
            Support::Unprobed => "unprobed: sometimes".to_owned(),
        }
    }

    fn counts(&self) -> String {
        let Self { case, right, asked, control_right, control_asked, .. } = self;
        format!("{case} {right} of {asked} (control {control_right} of {control_asked})")
    }
}

fn support_word(support: Support) -> &'static str {
    match support {
        Support::Yes => "yes",
        Support::No => "no",
        Support::Unprobed => "unprobed",
    }
}

/// A row of the capability table in TOML with a comment line per case, as
/// `presentation.capabilities` reads it.
///
/// # Errors
/// Returns a [`ProbeError`] if the model's name is invalid in a row.
pub fn capability_row(wire: Wire, model: &str, date: &str, results: &[CaseResult]) -> Result<String, ProbeError> {
    if model.is_empty() || model.contains(['*', '?']) || model.chars().any(char::is_control) {
        let model = toolfold::diagnostic::visible(model);
        return Err(ProbeError::new(format_args!("`{model}` is not a valid model name for a row")));
    }
    let mut out = String::new();
    for own in results {
        let line: String = format!("# {}: {}", own.counts(), own.verdict());
        out.push_str(&toolfold::diagnostic::visible(&line.replace(char::is_control, " ")));
        out.push('\n');
    }
    out.push_str(&format!("[[capability]]\nwire = {}\nmodel = {}\n", toml_string(wire.name()), toml_string(model)));
    for (key, case) in [("native", Case::Native), ("in_result", Case::Stub), ("bridge", Case::CallTool)] {
        // Cases that were not tested are left to other rows.
        if let Some(own) = results.iter().find(|own| own.case == case.name()) {
            out.push_str(&format!("{key} = \"{}\"\n", support_word(own.support())));
        }
    }
    let counts: Vec<String> = results.iter().map(CaseResult::counts).collect();
    out.push_str(&format!("source = {}\n", toml_string(&format!("toolfold probe: {}", counts.join(", ")))));
    out.push_str(&format!("date = {}\n", toml_string(date)));
    if let Some(own) = results.iter().find(|own| own.case == Case::Undeclared.name()) {
        let note = format!("uses a schema from a result for undeclared tools: {}", own.verdict());
        out.push_str(&format!("note = {}\n", toml_string(&note)));
    }
    Capabilities::parse(&out, "probe").into_result().map(|_| out).map_err(ProbeError::new)
}

#[cfg(test)]
mod tests {
    use toolfold::profile::Delivery;

    use super::*;

    #[test]
    fn the_row_of_trials_is_read_back() {
        let result = |case: Case, right, control_right| CaseResult {
            case: case.name(),
            right,
            asked: 5,
            control_right,
            control_asked: 5,
            error: None,
        };
        for (right, control, expected) in [
            (5, 0, Support::Yes),
            (4, 0, Support::Yes),
            (3, 0, Support::Unprobed),
            (1, 0, Support::No),
            (5, 1, Support::Unprobed),
        ] {
            let results =
                [result(Case::Stub, right, control), result(Case::CallTool, 0, 0), result(Case::Undeclared, 2, 0)];
            let text = capability_row(Wire::OpenAiChat, "my \"model\"-1.5", "2026-11-23", &results).unwrap();
            let table = Capabilities::parse(&text, "x").into_result().unwrap();
            let known = table.of(Wire::OpenAiChat, Some("my \"model\"-1.5"));
            assert_eq!(known.of(Delivery::InResult), expected, "{text}");
            assert_eq!(known.of(Delivery::Bridge), Support::No);
            assert_eq!(known.row(Delivery::Native), None);
        }
        assert!(capability_row(Wire::OpenAiChat, "all-*", "2026-11-23", &[]).is_err());
        let few = CaseResult { asked: 2, right: 2, ..result(Case::Stub, 2, 0) };
        assert_eq!(few.support(), Support::Unprobed);
    }
}
