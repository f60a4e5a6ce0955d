//! Findings: gathered, sorted, and what they cost.

use serde::Serialize;
use serde_json::Value;

use toolfold::catalog::{Catalog, Format, Tool};
use toolfold::diagnostic::Severity;
use toolfold::profile::{Detail, Folded};
use toolfold::schema::pointer_token;
use toolfold::tokens::CountError;

use super::Options;
use super::rules::Rule;
use super::view::View;
use crate::parts::{Measurer, chat_value, remove};

/// How many findings of one rule a list can have; the rest are counted in the last of them.
const MOST_OF_A_RULE: usize = 2_000;

/// A mechanical change of a tool. Pointers start at the tool: `/description`, `/parameters/…`.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Takes a member out.
    Remove(String),
    /// Writes another value in the place of one.
    Replace(String, Value),
    /// Adds a member to an object, at its end.
    Add(String, &'static str, Value),
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad it is here.
    pub severity: Severity,
    /// The tool; absent where it is about the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Where in the tool, as a JSON Pointer (RFC 6901) in the format that it came in; absent where
    /// it is about all of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pointer: String,
    /// What is wrong: lower case, no full stop.
    pub reason: String,
    /// What to do about it.
    pub fix: &'static str,
    /// What the part that it is about costs now, in tokens of the meter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<usize>,
    /// What the fix saves; 0 where it adds words or the provider does not bill the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves: Option<usize>,
    /// Whether `--fix` does it.
    pub fixable: bool,
    /// What `--fix` does.
    #[serde(skip)]
    pub edits: Vec<Edit>,
    /// Texts whose cost the finding is about, each with how often it stands in the list.
    #[serde(skip)]
    pub(super) texts: Vec<(String, usize)>,
    /// A part of the tool whose cost it is about, from the tool.
    #[serde(skip)]
    pub(super) part: Option<String>,
}

/// How many findings of a severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Total {
    /// Meaning is lost, or a call cannot work.
    pub errors: usize,
    /// Probably a mistake.
    pub warnings: usize,
    /// Worth knowing.
    pub notes: usize,
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Lint {
    /// Always `toolfold.lint/1`.
    pub schema: &'static str,
    /// What costs are counted with.
    pub meter: String,
    /// How many tools the list has.
    pub tools: usize,
    /// What the list costs.
    pub tokens: usize,
    /// How many findings there are.
    pub total: Total,
    /// What doing all of it would save, as far as it can be reckoned.
    pub saves: usize,
    /// What of it `--fix` saves.
    pub fix_saves: usize,
    /// The findings: by tool in the order of the list, the worst first; those about the list itself
    /// are last.
    pub findings: Vec<Finding>,
}

/// Gathers findings.
pub(super) struct Found<'o> {
    options: &'o Options<'o>,
    tool: Option<String>,
    schema_at: &'static str,
    description_at: &'static str,
    /// Rules that the tool itself says are not to be looked at.
    allowed: Vec<String>,
    list: Vec<Finding>,
    /// By rule, how many there are.
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

    /// What follows is about this tool.
    pub(super) fn begin(&mut self, view: &View<'_>) {
        self.tool = Some(view.tool.name().to_string());
        (self.schema_at, self.description_at) = places(view.tool);
        self.allowed = allowed(view.tool);
    }

    /// What follows is about the list.
    pub(super) fn begin_list(&mut self) {
        self.tool = None;
        self.allowed.clear();
    }

    /// Whether a rule is looked at.
    pub(super) fn wants(&self, rule: &Rule) -> bool {
        let is = |own: &String| own == rule.id;
        !self.options.allow.iter().any(is) && !self.allowed.iter().any(is)
    }

    /// Adds a finding at a place of the tool: `""`, `/description`, `/parameters/…`.
    pub(super) fn add(&mut self, rule: &'static Rule, at: &str, reason: impl Into<String>) -> Option<&mut Finding> {
        self.add_as(rule, rule.severity, at, reason)
    }

    /// The same with a severity of its own.
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

    /// Adds a finding about a tool that is named.
    pub(super) fn about(
        &mut self,
        tool: Option<&Tool>,
        rule: &'static Rule,
        severity: Severity,
        at: &str,
        reason: impl Into<String>,
    ) -> Option<&mut Finding> {
        self.begin_list();
        if let Some(tool) = tool {
            self.tool = Some(tool.name().to_string());
            (self.schema_at, self.description_at) = places(tool);
            self.allowed = allowed(tool);
        }
        self.add_as(rule, severity, at, reason)
    }

    /// The findings by tool, then by severity; equals as they were found. Rules with too many say
    /// how many more there are.
    pub(super) fn sorted(mut self, catalog: &Catalog) -> Vec<Finding> {
        for (rule, count) in &self.counts {
            let more = count.saturating_sub(MOST_OF_A_RULE);
            if let Some(last) = self.list.iter_mut().rfind(|own| own.rule == *rule).filter(|_| more > 0) {
                last.reason = format!("{}; {more} more findings of this rule are not shown", last.reason);
            }
        }
        let place = |own: &Finding| own.tool.as_ref().and_then(|name| catalog.position(name)).unwrap_or(usize::MAX);
        self.list.sort_by_key(|own| (place(own), std::cmp::Reverse(own.severity)));
        self.list
    }
}

impl Finding {
    /// The finding with what `--fix` does.
    pub(super) fn fixed_by(&mut self, edits: Vec<Edit>) {
        self.fixable = !edits.is_empty();
        self.edits = edits;
    }

    /// The finding with a text that it is about, and how often it stands in the list.
    pub(super) fn about_text(&mut self, text: &str, times: usize) {
        self.texts.push((text.to_owned(), times));
    }

    /// The finding with the part of the tool whose cost it is about.
    pub(super) fn about_part(&mut self, at: &str) {
        self.part = Some(at.to_owned());
    }
}

/// Where a tool's format has the schema and the description.
fn places(tool: &Tool) -> (&'static str, &'static str) {
    match tool.origin() {
        Some(Format::OpenAiChat) => ("/function/parameters", "/function/description"),
        Some(Format::Anthropic) => ("/input_schema", "/description"),
        Some(Format::Mcp) => ("/inputSchema", "/description"),
        _ => ("/parameters", "/description"),
    }
}

/// The rules that a tool says are not to be looked at: `"_meta": {"toolfold/allow": ["rule", …]}`,
/// which no provider bills.
fn allowed(tool: &Tool) -> Vec<String> {
    let meta = tool.extra().find(|(name, _)| *name == "_meta").and_then(|(_, text)| serde_json::from_str(text).ok());
    let meta: Value = meta.unwrap_or_default();
    let rules = meta.get("toolfold/allow").and_then(Value::as_array).into_iter().flatten();
    rules.filter_map(|rule| rule.as_str().map(str::to_owned)).collect()
}

/// A place below another.
pub(super) fn below(at: &str, token: &str) -> String {
    format!("{at}/{}", pointer_token(token))
}

/// Makes an edit in a tool of Chat Completions' shape. Only what is there is changed.
fn edited(value: &mut Value, edit: &Edit) {
    match edit {
        Edit::Remove(at) => remove(value, &format!("/function{at}")),
        Edit::Replace(at, new) => {
            if let Some(old) = value.pointer_mut(&format!("/function{at}")) {
                *old = new.clone();
            }
        }
        Edit::Add(at, key, new) => {
            let holder = value.pointer_mut(&format!("/function{at}")).and_then(Value::as_object_mut);
            if let Some(map) = holder {
                map.insert((*key).to_owned(), new.clone());
            }
        }
    }
}

/// The findings with their costs.
pub(super) fn measured(
    measurer: &Measurer<'_>,
    catalog: &Catalog,
    mut findings: Vec<Finding>,
) -> Result<Lint, CountError> {
    let whole: Vec<Value> = catalog.iter().map(|tool| chat_value(&Folded::new(tool, Detail::Full, None))).collect();
    let tokens = measurer.total(&whole)?;
    let (mut saves, mut fix_saves) = (0, 0);
    for group in findings.chunk_by_mut(|a, b| a.tool == b.tool) {
        let at = group.first().and_then(|one| one.tool.as_ref()).and_then(|name| catalog.position(name));
        let own = at.and_then(|at| whole.get(at));
        let prices = group.iter().any(|one| one.fixable || one.part.is_some());
        let before = match own.filter(|_| prices) {
            Some(own) => measurer.one(own)?,
            None => 0,
        };
        let mut all = own.filter(|_| group.iter().any(|one| one.fixable)).cloned();
        let mut fixable = 0;
        for one in group.iter_mut() {
            if let Some(own) = own {
                price(measurer, own, before, one)?;
            }
            texts(measurer, one);
            match &mut all {
                Some(all) if one.fixable => {
                    fixable += 1;
                    one.edits.iter().for_each(|edit| edited(all, edit));
                }
                _ => saves += one.saves.unwrap_or(0),
            }
        }
        if let Some(all) = all.filter(|_| fixable > 0) {
            fix_saves += before.saturating_sub(measurer.one(&all)?);
        }
    }
    let count = |severity| findings.iter().filter(|one| one.severity == severity).count();
    let total =
        Total { errors: count(Severity::Error), warnings: count(Severity::Warning), notes: count(Severity::Note) };
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

/// What a finding's part costs, and what its fix saves.
fn price(measurer: &Measurer<'_>, own: &Value, before: usize, one: &mut Finding) -> Result<(), CountError> {
    if one.fixable {
        let mut after = own.clone();
        one.edits.iter().for_each(|edit| edited(&mut after, edit));
        one.saves = Some(before.saturating_sub(measurer.one(&after)?));
    }
    if let Some(part) = &one.part {
        let mut without = own.clone();
        remove(&mut without, &format!("/function{part}"));
        one.costs = Some(before.saturating_sub(measurer.one(&without)?));
    }
    Ok(())
}

/// What the texts of a finding cost: all of them, and saved all but one of each.
fn texts(measurer: &Measurer<'_>, one: &mut Finding) {
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
