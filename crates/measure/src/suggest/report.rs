//! The report of a suggestion, in addition to the profile.

use schemars::JsonSchema;
use serde::Serialize;
use toolfold::catalog::Catalog;
use toolfold::profile::Detail;

use super::simulate::Simulated;
use super::write::Draft;
use super::{Fitted, Fitter, HeldOut, SuggestError};
use crate::usage::{Usage, UsedSession};

/// The numbers of tools at the points of the coverage curve.
const CURVE: [usize; 9] = [1, 2, 3, 5, 8, 12, 20, 35, 60];

/// A suggested profile with its report.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Suggestion {
    /// The profile as a file that [`toolfold::profile::ToolProfile::parse`] reads.
    #[serde(rename = "profile")]
    pub toml: String,
    /// The arm of the suggestion.
    pub arm: String,
    /// The meter.
    pub meter: String,
    /// The number of sessions read.
    pub sessions: usize,
    /// The number of calls of known tools read.
    pub calls: usize,
    /// The core tools, in catalog order.
    pub core: Vec<SuggestedTool>,
    /// The categories with tools that are not core.
    pub categories: Vec<SuggestedCategory>,
    /// The share of usage that the most used tools cover.
    pub coverage: Vec<CoveragePoint>,
    /// Tools that no session used, in catalog order. Empty without usage.
    pub unused: Vec<String>,
    /// The tokens of the unused tools in the tool array when everything is full.
    pub unused_tokens: usize,
    /// Optional parameters that calls use and the profile hides, most used first.
    pub hidden_parameters: Vec<HiddenParameter>,
    /// The cost of a session.
    pub costs: ExpectedCosts,
    /// The gain on sessions that the suggestion was not made from; `None` if there are too few.
    pub held_out: Option<HeldOut>,
}

/// A tool of the suggested core.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SuggestedTool {
    /// Its name.
    pub name: String,
    /// Sessions that used it.
    pub sessions: usize,
    /// Calls of it.
    pub calls: usize,
    /// Its tokens in the array.
    pub tokens: usize,
}

/// A category of the suggestion.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SuggestedCategory {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its tools that are not core.
    pub tools: Vec<String>,
    /// Sessions that used one of them.
    pub sessions: usize,
}

/// The coverage of the most used tools.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CoveragePoint {
    /// The number of most used tools, by sessions.
    pub tools: usize,
    /// The share of all calls that they receive, in percent.
    pub calls: f64,
    /// The share of sessions that use no other tool, in percent.
    pub sessions: f64,
}

/// An optional parameter that is used but hidden.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct HiddenParameter {
    /// The tool.
    pub tool: String,
    /// The parameter.
    pub parameter: String,
    /// The number of calls that pass it.
    pub calls: usize,
    /// The number of calls of the tool with known arguments.
    pub of: usize,
    /// The detail of the tool.
    pub detail: Detail,
}

/// The expected cost of sessions under several profiles, simulated for the sessions read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ExpectedCosts {
    /// Under the current profile.
    pub today: Simulated,
    /// With every tool full.
    pub full: Simulated,
    /// With the suggested categories and nothing core.
    pub no_core: Simulated,
    /// Under the suggestion.
    pub suggested: Simulated,
}

pub(super) fn report(
    fitter: &mut Fitter<'_>,
    usage: &Usage,
    played: &[&UsedSession],
    fitted: Fitted,
    costs: ExpectedCosts,
    held_out: Option<HeldOut>,
) -> Result<Suggestion, SuggestError> {
    let catalog = fitter.catalog;
    let counts = Counts::count_usage(usage, catalog.len());
    let Fitted { draft, shown } = fitted;
    let mut core = Vec::new();
    for tool in &draft.core {
        core.push(SuggestedTool {
            name: tool_name(catalog, *tool),
            sessions: counts.sessions.get(*tool).copied().unwrap_or_default(),
            calls: counts.calls.get(*tool).copied().unwrap_or_default(),
            tokens: shown.forms.get(*tool).map_or(0, |form| form.tokens),
        });
    }
    let mut categories = Vec::new();
    for (category, own) in &draft.categories {
        let tools: Vec<usize> = own.tools.iter().copied().filter(|tool| !draft.core.contains(tool)).collect();
        let used = usage.sessions.iter().filter(|session| session.calls.iter().any(|call| tools.contains(&call.tool)));
        if !tools.is_empty() {
            categories.push(SuggestedCategory {
                name: category.clone(),
                description: own.description.clone(),
                sessions: used.count(),
                tools: tools.iter().map(|tool| tool_name(catalog, *tool)).collect(),
            });
        }
    }
    let mut unused = draft.visible(catalog);
    unused.retain(|tool| !usage.is_empty() && matches!(counts.sessions.get(*tool), None | Some(0)));
    let hidden_parameters = hidden_parameters(fitter, usage, &shown.forms);
    let full = fitter.costs.full_forms()?;
    let unused_tokens = unused.iter().filter_map(|tool| full.get(*tool)).sum();
    let head = profile_comments(fitter, usage, played.len(), &costs, held_out.as_ref(), &draft);
    Ok(Suggestion {
        toml: draft.to_toml(catalog, &head),
        arm: fitter.options.arm.to_string(),
        meter: fitter.options.meter.to_string(),
        sessions: usage.sessions.len(),
        calls: usage.calls(),
        core,
        categories,
        coverage: counts.curve(usage),
        unused: unused.into_iter().map(|tool| tool_name(catalog, tool)).collect(),
        unused_tokens,
        hidden_parameters,
        costs,
        held_out,
    })
}

fn tool_name(catalog: &Catalog, at: usize) -> String {
    catalog.at(at).map(|tool| tool.name().to_string()).unwrap_or_default()
}

struct Counts {
    sessions: Vec<usize>,
    calls: Vec<usize>,
}

impl Counts {
    fn count_usage(usage: &Usage, tools: usize) -> Self {
        let mut counts = Self { sessions: vec![0; tools], calls: vec![0; tools] };
        for session in &usage.sessions {
            for call in &session.calls {
                add_one(&mut counts.calls, call.tool);
            }
            for tool in session.tools() {
                add_one(&mut counts.sessions, tool);
            }
        }
        counts
    }

    /// The coverage curve; empty without usage.
    fn curve(&self, usage: &Usage) -> Vec<CoveragePoint> {
        let mut order: Vec<usize> = (0..self.sessions.len()).filter(|at| self.calls.get(*at) > Some(&0)).collect();
        order.sort_by_key(|at| std::cmp::Reverse((self.sessions.get(*at), self.calls.get(*at))));
        let mut rank = vec![usize::MAX; self.sessions.len()];
        for (place, at) in order.iter().enumerate() {
            if let Some(slot) = rank.get_mut(*at) {
                *slot = place;
            }
        }
        // The rank of the least used tool of each session.
        let mut worst: Vec<usize> = Vec::new();
        for session in &usage.sessions {
            worst.extend(session.tools().into_iter().filter_map(|at| rank.get(at).copied()).max());
        }
        let all = self.calls.iter().sum::<usize>().max(1) as f64;
        let mut points: Vec<usize> = CURVE.into_iter().filter(|tools| *tools < order.len()).collect();
        if !order.is_empty() {
            points.push(order.len());
        }
        let mut curve = Vec::new();
        for tools in points {
            let calls: usize = order.iter().take(tools).filter_map(|at| self.calls.get(*at)).sum();
            let sessions = worst.iter().filter(|worst| **worst < tools).count();
            curve.push(CoveragePoint {
                tools,
                calls: calls as f64 * 100.0 / all,
                sessions: sessions as f64 * 100.0 / worst.len().max(1) as f64,
            });
        }
        curve
    }
}

fn add_one(counts: &mut [usize], at: usize) {
    if let Some(count) = counts.get_mut(at) {
        *count += 1;
    }
}

fn parameter_name(catalog: &Catalog, tool: usize, place: usize) -> Option<String> {
    let properties = catalog.at(tool)?.parameters().get("properties")?.as_object()?;
    properties.keys().nth(place).cloned()
}

fn hidden_parameters(fitter: &Fitter<'_>, usage: &Usage, forms: &[super::costs::Form]) -> Vec<HiddenParameter> {
    let mut given: std::collections::BTreeMap<(usize, usize), usize> = std::collections::BTreeMap::new();
    let mut known = vec![0_usize; forms.len()];
    for call in usage.sessions.iter().flat_map(|session| &session.calls) {
        let Some(parameters) = &call.parameters else { continue };
        add_one(&mut known, call.tool);
        for place in parameters {
            *given.entry((call.tool, usize::from(*place))).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for ((tool, place), calls) in given {
        let Some(form) = forms.get(tool).filter(|form| form.deferred) else { continue };
        if !fitter.needs.hides_optional(tool, place, form.detail) {
            continue;
        }
        let Some(parameter) = parameter_name(fitter.catalog, tool, place) else { continue };
        let of = known.get(tool).copied().unwrap_or_default();
        let tool = tool_name(fitter.catalog, tool);
        found.push(HiddenParameter { tool, parameter, calls, of, detail: form.detail });
    }
    found.sort_by(|one, two| two.calls.cmp(&one.calls).then_with(|| one.tool.cmp(&two.tool)));
    found
}

fn profile_comments(
    fitter: &Fitter<'_>,
    usage: &Usage,
    played: usize,
    costs: &ExpectedCosts,
    held_out: Option<&HeldOut>,
    draft: &Draft,
) -> Vec<String> {
    let arm = fitter.options.arm;
    if usage.is_empty() {
        return vec![
            "Suggested by `toolfold suggest` without usage: categories by subject and size.".to_owned(),
            "Core is empty because there is no usage data.".to_owned(),
        ];
    }
    let (calls, sessions) = (usage.calls(), usage.sessions.len());
    let mut head =
        vec![format!("Suggested by `toolfold suggest` for arm {arm} from {calls} calls in {sessions} sessions.")];
    if played < sessions {
        head.push(format!("{played} of them, evenly spaced, were simulated."));
    }
    let (today, suggested) = (costs.today.mean(), costs.suggested.mean());
    let percent = if today > 0.0 { (today - suggested) * 100.0 / today } else { 0.0 };
    head.push(format!("A session: {suggested:.0} tokens at the price of input, {today:.0} under the profile before ({percent:.1} % less)."));
    if let Some(held) = held_out {
        let (gain, error) = (held.gain, held.standard_error);
        head.push(format!("On sessions that it is not based on: {gain:.1} % ± {error:.1} % less."));
    }
    if draft.core.is_empty() {
        head.push("Core is empty: no tool is used often enough to pay for its place in every request.".to_owned());
    }
    head
}
