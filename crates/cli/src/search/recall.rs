//! The recall of recorded queries: the share of the tools they need that are found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SearchedTools;
use crate::lines::{Lines, not_json};
use crate::output::{Failure, plural_count};
use crate::table::table;

/// The numbers of results for which the recall is measured.
const DEPTHS: [usize; 4] = [1, 5, 10, 20];

/// The recall of queries.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Recall {
    /// The number of queries.
    queries: usize,
    /// The recall by the number of results.
    at: Vec<RecallAt>,
}

/// The mean share of the needed tools among the first results.
#[derive(Debug, Serialize, JsonSchema)]
struct RecallAt {
    /// The number of results.
    results: usize,
    /// The share, from 0 to 1.
    recall: f64,
}

/// A line of the file.
#[derive(Debug, Deserialize)]
struct Row {
    query: String,
    tools: Vec<Needed>,
}

/// A tool that a query needs.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Needed {
    One(String),
    Alternatives(Vec<String>),
}

impl Needed {
    fn is_among(&self, found: &[String]) -> bool {
        match self {
            Self::One(name) => found.contains(name),
            Self::Alternatives(names) => names.iter().any(|name| found.contains(name)),
        }
    }
}

/// Measures the queries of a file.
pub(super) fn measure(tools: &SearchedTools, file: &str) -> Result<Recall, Failure> {
    let mut lines = Lines::open_lines(file)?;
    let (mut queries, mut sums) = (0, [0.0; DEPTHS.len()]);
    while let Some(line) = lines.next()? {
        let refused = |why: String| Failure::wrong(format!("{file}:{}: {why}", line.number));
        let text = line.text.as_ref().map_err(|why| refused(why.clone()))?;
        let row: Row = serde_json::from_str(text).map_err(|why| {
            refused(not_json(&why)).help("a line is {\"query\":\"…\",\"tools\":[\"a\",[\"b\",\"c\"]]}")
        })?;
        if row.tools.is_empty() {
            return Err(refused("`tools` is empty: list the tools that the query needs".to_owned()));
        }
        let most = DEPTHS.into_iter().max().unwrap_or_default();
        let results = tools.search(&row.query, most).results;
        let names: Vec<String> = results.into_iter().map(|tool| tool.name).collect();
        for (sum, depth) in sums.iter_mut().zip(DEPTHS) {
            let first = names.get(..depth).unwrap_or(&names);
            let found = row.tools.iter().filter(|needed| needed.is_among(first)).count();
            *sum += found as f64 / row.tools.len() as f64;
        }
        queries += 1;
    }
    if queries == 0 {
        return Err(Failure::wrong(format!("{file}: contains no queries")));
    }
    let at = DEPTHS.into_iter().zip(sums);
    let at = at.map(|(results, sum)| RecallAt { results, recall: sum / f64::from(queries) }).collect();
    Ok(Recall { queries: queries as usize, at })
}

impl Recall {
    pub(super) fn text(&self) -> String {
        let row = |at: &RecallAt| [at.results.to_string(), format!("{:.3}", at.recall)];
        let rows: Vec<[String; 2]> = self.at.iter().map(row).collect();
        let queries = plural_count(self.queries, "query", "queries");
        format!("{queries}\n{}", table(["results", "recall"], &rows))
    }
}
