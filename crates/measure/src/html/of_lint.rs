//! Lint findings on a page.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::model::{Page, PageFinding};
use crate::figures::grouped;
use crate::lint::{Finding, Lint};

impl Page {
    /// Adds lint findings: errors first, then those that save most.
    #[must_use]
    pub fn with_findings(mut self, lint: &Lint) -> Self {
        let mut found: Vec<&Finding> = lint.findings.iter().collect();
        found.sort_by_cached_key(|own| Reverse((own.severity, own.saves.unwrap_or_default())));
        let mut of_tool: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for own in &found {
            let Some(tool) = own.tool.as_deref() else { continue };
            let (number, saves) = of_tool.entry(tool).or_default();
            *number += 1;
            *saves += own.saves.unwrap_or_default();
        }
        for tool in &mut self.tools {
            tool.findings = of_tool.get(tool.name.as_str()).map_or(0, |(number, _)| *number);
        }
        for fix in &mut self.fix {
            match of_tool.get(fix.tool.as_str()) {
                Some((1, saves)) => fix.why.push_str(&format!("; lint has 1 finding{}", worth(*saves))),
                Some((number, saves)) => fix.why.push_str(&format!("; lint has {number} findings{}", worth(*saves))),
                None => {}
            }
        }
        self.findings = found.into_iter().map(finding).collect();
        self
    }
}

fn worth(saves: usize) -> String {
    if saves == 0 { String::new() } else { format!(", worth {} tokens", grouped(saves)) }
}

fn finding(own: &Finding) -> PageFinding {
    let place = match (&own.tool, own.pointer.as_str()) {
        (Some(tool), "") => tool.clone(),
        (Some(tool), pointer) => format!("{tool} {pointer}"),
        (None, pointer) => pointer.to_owned(),
    };
    PageFinding {
        rule: own.rule.to_owned(),
        severity: own.severity.to_string(),
        place,
        message: own.reason.clone(),
        help: own.fix.to_owned(),
        saves: own.saves,
    }
}
