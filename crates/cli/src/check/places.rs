//! Where a finding is: the line of the tool in its list, else its line in the lock.

use indexmap::IndexMap;

use super::locked::{Locked, from_here};
use crate::input::{Input, read_text};
use toolfold::catalog::MAX_BYTES;
use toolfold_measure::check::{Finding, Place, line_of_name};

/// The places of the tools in findings, and of everything else.
pub(super) fn places_of_tools(
    input: &Input,
    findings: &[Finding],
    locked: Option<&Locked>,
) -> (IndexMap<String, Place>, Option<Place>) {
    let file = input.config.settings.tools.file.as_deref().filter(|file| *file != "-");
    // The list was read a moment ago; if it no longer exists, there is no line to show.
    let list = file.and_then(|file| Some((from_here(file), read_text(file, MAX_BYTES).ok()?)));
    let mut places = IndexMap::new();
    for tool in findings.iter().filter_map(|finding| finding.tool.as_ref()) {
        let in_list =
            list.as_ref().and_then(|(file, text)| Some(Place::new(file.clone(), Some(line_of_name(text, tool)?))));
        if let Some(place) = in_list.or_else(|| in_lock(locked?, tool)) {
            places.insert(tool.clone(), place);
        }
    }
    let whole = list.map(|(file, _)| file).or_else(|| locked.map(|own| own.file.clone()));
    (places, whole.map(|file| Place::new(file, None)))
}

fn in_lock(locked: &Locked, tool: &str) -> Option<Place> {
    let start = format!("  {{ name = \"{tool}\",");
    let line = locked.text.lines().position(|line| line.starts_with(&start))?;
    Some(Place::new(locked.file.clone(), Some(line + 1)))
}
