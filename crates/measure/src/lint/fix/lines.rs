//! The lines of findings in the text of a list.

use std::collections::HashMap;

use super::super::Lint;
use super::spans::parse_spans;
use super::{gather, unescaped};

impl Lint {
    /// Sets the line of each finding about a tool: that of its place in the text, else of the
    /// nearest value around it. Changes nothing if the text is not the list as JSON.
    pub fn find_lines(&mut self, text: &str) {
        let Some(roots) = parse_spans(text) else { return };
        let mut tools = Vec::new();
        for root in &roots {
            gather(text, root, "", &mut tools);
        }
        // The first of two tools of one name is the one that is in the catalog.
        let tools: HashMap<_, _> = tools.into_iter().rev().collect();
        let breaks: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        for finding in &mut self.findings {
            let Some(place) = finding.tool.as_ref().and_then(|name| tools.get(name)) else { continue };
            let path: Vec<String> = finding.pointer.split('/').skip(1).map(unescaped).collect();
            let start = place.nearest(&path);
            finding.line = Some(breaks.partition_point(|at| *at < start) + 1);
        }
    }
}
