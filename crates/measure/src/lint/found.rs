//! Collects and sorts findings, and computes their costs.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use toolfold::catalog::{Catalog, Format, Tool};
use toolfold::diagnostic::Severity;
use toolfold::profile::{Detail, Folded};
use toolfold::schema::pointer_token;
use toolfold::tokens::CountError;

use super::Options;
use super::rules::Rule;
use crate::json::list_member;
use crate::parts::{Measurer, chat_value, remove_member};

/// The maximum number of findings of a rule; the rest are counted in the last one.
const MOST_OF_A_RULE: usize = 2_000;

/// A mechanical change of a tool. Pointers start at the tool: `/description`, `/parameters/…`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Edit {
    /// Removes a member.
    Remove(String),
    /// Replaces a value.
    Replace(String, Value),
    /// Appends a member to an object.
    Add(String, &'static str, Value),
}

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// The severity in this case.
    pub severity: Severity,
    /// The tool; absent if the finding is about the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The place in the tool, as a JSON Pointer (RFC 6901) in its original format; absent if the
    /// finding is about the whole tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pointer: String,
    /// The line of the place in the list's text, counted from 1, after [`Lint::find_lines`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What is wrong: lower case, no full stop.
    pub reason: String,
    /// How to fix it.
    pub fix: &'static str,
    /// The cost of the affected part, in tokens of the meter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<usize>,
    /// The tokens that the fix saves; 0 if it adds words or the provider does not bill the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves: Option<usize>,
    /// Whether `--fix` fixes it.
    pub fixable: bool,
    /// The edits of `--fix`.
    #[serde(skip)]
    pub edits: Vec<Edit>,
    /// Texts whose cost is reported, each with its number of occurrences in the list.
    #[serde(skip)]
    pub(super) texts: Vec<(String, usize)>,
    /// A part of the tool whose cost is reported, relative to the tool.
    #[serde(skip)]
    pub(super) part: Option<String>,
}

/// The number of findings by severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Total {
    /// The tool loses meaning, or a call cannot work.
    pub errors: usize,
    /// Probably a mistake.
    pub warnings: usize,
    /// Remarks.
    pub notes: usize,
}

/// The result of a lint run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "toolfold.lint/1")]
#[non_exhaustive]
pub struct Lint {
    /// Always `toolfold.lint/1`.
    pub schema: &'static str,
    /// The meter of the costs.
    pub meter: String,
    /// The number of tools in the list.
    pub tools: usize,
    /// The cost of the list.
    pub tokens: usize,
    /// The number of findings.
    pub total: Total,
    /// The total saving of all fixes, as far as it can be computed.
    pub saves: usize,
    /// The saving of `--fix`.
    pub fix_saves: usize,
    /// The findings by tool in the list's order, worst first; then the list's own.
    pub findings: Vec<Finding>,
}

pub(super) struct Found<'o> {
    options: &'o Options<'o>,
    tool: Option<String>,
    schema_at: &'static str,
    description_at: &'static str,
    allowed: Vec<String>,
    list: Vec<Finding>,
    counts: indexmap::IndexMap<&'static str, usize>,
}

impl<'o> Found<'o> {
    pub(super) fn new(options: &'o Options<'o>) -> Self {
        Self {
            options,
            tool: None,
            schema_at: "",
            description_at: "",
            allowed: Vec::new(),
            list: Vec::new(),
            counts: indexmap::IndexMap::new(),
        }
    }

    pub(super) fn begin_tool(&mut self, tool: &Tool) {
        self.tool = Some(tool.name().to_string());
        (self.schema_at, self.description_at) = places(tool);
        self.allowed = allowed(tool);
    }

    pub(super) fn begin_list(&mut self) {
        self.tool = None;
        self.allowed.clear();
    }

    pub(super) fn wants(&self, rule: &Rule) -> bool {
        !self.options.allow.iter().chain(&self.allowed).any(|own| own == rule.id)
    }

    /// Adds a finding at a place of the tool: `""`, `/description`, `/parameters/…`.
    pub(super) fn add_finding(
        &mut self,
        rule: &'static Rule,
        at: &str,
        reason: impl Into<String>,
    ) -> Option<&mut Finding> {
        self.add_as(rule, rule.severity, at, reason)
    }

    pub(super) fn add_as(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        at: &str,
        reason: impl Into<String>,
    ) -> Option<&mut Finding> {
        if !self.wants(rule) {
            return None;
        }
        let count = self.counts.entry(rule.id).or_default();
        *count += 1;
        if *count > MOST_OF_A_RULE {
            return None;
        }
        let severity = if self.options.deny.iter().any(|own| own == rule.id) { Severity::Error } else { severity };
        let pointer = match (at.strip_prefix("/parameters"), at) {
            (Some(rest), _) => format!("{}{rest}", self.schema_at),
            (None, "/description") => self.description_at.to_owned(),
            (None, other) => other.to_owned(),
        };
        self.list.push(Finding {
            rule: rule.id,
            severity,
            tool: self.tool.clone(),
            pointer,
            line: None,
            reason: toolfold::diagnostic::visible(&reason.into()).into_owned(),
            fix: rule.fix,
            costs: None,
            saves: None,
            fixable: false,
            edits: Vec::new(),
            texts: Vec::new(),
            part: None,
        });
        self.list.last_mut()
    }

    pub(super) fn about(
        &mut self,
        tool: Option<&Tool>,
        rule: &'static Rule,
        severity: Severity,
        at: &str,
        reason: impl Into<String>,
    ) -> Option<&mut Finding> {
        match tool {
            Some(tool) => self.begin_tool(tool),
            None => self.begin_list(),
        }
        self.add_as(rule, severity, at, reason)
    }

    /// The findings by tool, then by severity, in stable order. Rules with too many findings state
    /// how many more there are.
    pub(super) fn sorted(mut self, catalog: &Catalog) -> Vec<Finding> {
        for (rule, count) in &self.counts {
            let more = count.saturating_sub(MOST_OF_A_RULE);
            if more > 0
                && let Some(last) = self.list.iter_mut().rfind(|own| own.rule == *rule)
            {
                last.reason = format!("{}; {more} more findings of this rule are not shown", last.reason);
            }
        }
        self.list
            .sort_by_cached_key(|own| (own.position(catalog).unwrap_or(usize::MAX), std::cmp::Reverse(own.severity)));
        self.list
    }
}

impl Finding {
    fn position(&self, catalog: &Catalog) -> Option<usize> {
        catalog.position(self.tool.as_ref()?)
    }

    fn apply_edits(&self, tool: &mut Value) {
        for edit in &self.edits {
            edited(tool, edit);
        }
    }

    pub(super) fn fixed_by(&mut self, edits: Vec<Edit>) {
        self.fixable = !edits.is_empty();
        self.edits = edits;
    }

    pub(super) fn about_text(&mut self, text: &str, times: usize) {
        self.texts.push((text.to_owned(), times));
    }

    pub(super) fn about_part(&mut self, at: &str) {
        self.part = Some(at.to_owned());
    }
}

fn places(tool: &Tool) -> (&'static str, &'static str) {
    match tool.format() {
        Some(Format::OpenAiChat) => ("/function/parameters", "/function/description"),
        Some(Format::Anthropic) => ("/input_schema", "/description"),
        Some(Format::Mcp) => ("/inputSchema", "/description"),
        _ => ("/parameters", "/description"),
    }
}

/// The rules that a tool disables: `"_meta": {"toolfold/allow": ["rule", …]}`.
fn allowed(tool: &Tool) -> Vec<String> {
    let Some((_, text)) = tool.extra().find(|(name, _)| *name == "_meta") else { return Vec::new() };
    let meta: Value = serde_json::from_str(text).unwrap_or_default();
    list_member(&meta, "toolfold/allow").iter().filter_map(|rule| Some(rule.as_str()?.to_owned())).collect()
}

pub(super) fn place_below(at: &str, token: &str) -> String {
    format!("{at}/{}", pointer_token(token))
}

/// Makes an edit in a Chat Completions tool. Missing members are skipped.
fn edited(value: &mut Value, edit: &Edit) {
    match edit {
        Edit::Remove(at) => remove_member(value, &format!("/function{at}")),
        Edit::Replace(at, new) => {
            if let Some(old) = value.pointer_mut(&format!("/function{at}")) {
                *old = new.clone();
            }
        }
        Edit::Add(at, key, new) => {
            if let Some(Value::Object(map)) = value.pointer_mut(&format!("/function{at}")) {
                map.insert((*key).to_owned(), new.clone());
            }
        }
    }
}

pub(super) fn measured(
    measurer: &Measurer<'_>,
    catalog: &Catalog,
    mut findings: Vec<Finding>,
) -> Result<Lint, CountError> {
    let whole: Vec<Value> = catalog.iter().map(|tool| chat_value(&Folded::new(tool, Detail::Full, None))).collect();
    let tokens = measurer.total(&whole)?;
    let (mut saves, mut fix_saves) = (0, 0);
    for group in findings.chunk_by_mut(|a, b| a.tool == b.tool) {
        let own = group.first().and_then(|one| whole.get(one.position(catalog)?));
        let before = match own {
            Some(own) if group.iter().any(|one| one.fixable || one.part.is_some()) => measurer.one(own)?,
            _ => 0,
        };
        let mut all = own.filter(|_| group.iter().any(|one| one.fixable)).cloned();
        for one in group.iter_mut() {
            if let Some(own) = own {
                price(measurer, own, before, one)?;
            }
            count_texts(measurer, one);
            match &mut all {
                Some(all) if one.fixable => one.apply_edits(all),
                _ => saves += one.saves.unwrap_or(0),
            }
        }
        if let Some(all) = all {
            fix_saves += before.saturating_sub(measurer.one(&all)?);
        }
    }
    let [errors, warnings, notes] = [Severity::Error, Severity::Warning, Severity::Note]
        .map(|severity| findings.iter().filter(|one| one.severity == severity).count());
    let total = Total { errors, warnings, notes };
    Ok(Lint {
        schema: super::CONTRACT,
        meter: measurer.meter().to_string(),
        tools: catalog.len(),
        tokens,
        total,
        saves: (saves + fix_saves).min(tokens),
        fix_saves,
        findings,
    })
}

/// The cost of a finding's part, and the saving of its fix.
fn price(measurer: &Measurer<'_>, own: &Value, before: usize, one: &mut Finding) -> Result<(), CountError> {
    if one.fixable {
        let mut after = own.clone();
        one.apply_edits(&mut after);
        one.saves = Some(before.saturating_sub(measurer.one(&after)?));
    }
    if let Some(part) = &one.part {
        let mut without = own.clone();
        remove_member(&mut without, &format!("/function{part}"));
        one.costs = Some(before.saturating_sub(measurer.one(&without)?));
    }
    Ok(())
}

/// The cost of a finding's texts, and the saving if one of each remains.
fn count_texts(measurer: &Measurer<'_>, one: &mut Finding) {
    if one.texts.is_empty() {
        return;
    }
    let (mut costs, mut saves) = (0, 0);
    for (text, times) in &one.texts {
        let tokens = measurer.text(text);
        costs += tokens * times;
        saves += tokens * times.saturating_sub(1);
    }
    one.costs = Some(costs);
    one.saves = (saves > 0).then_some(saves);
}
