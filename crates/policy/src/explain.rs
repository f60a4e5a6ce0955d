//! Explanations: why a decision was made, and what would allow the call.

use schemars::JsonSchema;
use serde::Serialize;

use super::approval::Displayed;
use super::argv::display;
use super::canonical::canonical;
use super::capability::{PolicyTier, ToolCapability};
use super::compact::compact;
use super::context::Context;
use super::decision::{Decision, Effect, Fit, Reason, Verdict};
use super::floor::{doubt, floor};
use super::glob::is_glob;
use super::grant::{Grant, offer};
use super::host::Host;
use super::load::PolicyFile;
use super::past::EarlierCalls;
use super::path::LexPath;
use super::policy_set::Policy;
use super::prepared::{Prepared, SideEffect};
use super::rule::{PolicyScope, Rule, ToolPattern};
use crate::diagnostic::visible;
use crate::name::nearest;

/// A decision, explained part by part.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Explanation {
    /// The decision and its reasons.
    pub verdict: Verdict,
    /// The tier of the call.
    pub tier: Option<PolicyTier>,
    /// The parts of the call, each with its effect.
    pub parts: Vec<Part>,
    /// The conditions on earlier calls that concern the call, with the calls that each counts.
    /// Empty without a history.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierCalls>,
    /// The compact rules that together would allow the call, or why no rule can.
    pub would_allow: Vec<String>,
    /// The tool that may be meant, where no record and no rule names the tool of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
}

/// A part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Part {
    /// `tool`, `command`, `file`, `unknown` or `floor`.
    pub kind: &'static str,
    /// The part, with invisible characters escaped.
    pub text: String,
    /// The effect for this part.
    pub got: Effect,
    /// The rule that decided, with its place, or the tier.
    pub by: String,
}

impl Prepared<'_> {
    /// Explains the decision, part by part.
    #[must_use]
    pub fn explain(&self, grants: &[Grant]) -> Explanation {
        self.policy.explained(self, self.decide(grants))
    }

    /// Whether the tier of the call is `read_only`.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        self.tier == Some(PolicyTier::ReadOnly)
    }

    /// What a person is shown before approving.
    #[must_use]
    pub fn displayed(&self, verdict: &Verdict) -> Displayed {
        let mut effects: Vec<String> = Vec::new();
        for (_, command) in self.running() {
            effects.push(format!("runs {}", visible(&display(&command.words))));
        }
        for file in &self.effects.files {
            let verb = file.access.verb();
            let line = match &file.path {
                Some(path) => {
                    let own = visible(&path.displayed(&self.context)).into_owned();
                    format!("{verb} {own}{}", leads(path, &self.context))
                }
                None => format!("{verb} {} (known only when it runs)", visible(&file.text)),
            };
            if !effects.contains(&line) {
                effects.push(line);
            }
        }
        for host in &self.hosts {
            if let Some(host) = &host.plain {
                effects.push(format!("connects to {}", visible(host)));
            }
        }
        for part in &self.effects.unknowns {
            effects.push(format!("unknown: {} ({})", visible(&part.text), part.kind));
        }
        let own = self.identity();
        let target = if let Some(inner) = &self.target { format!("{} (through {own})", visible(inner)) } else { own };
        Displayed {
            target,
            arguments: visible(&canonical(self.call.arguments)).into_owned(),
            effects,
            undo: self.capability.undo.to_string(),
            undo_why: String::new(),
            why: verdict.reasons.iter().map(ToString::to_string).collect(),
            remember: offer(self, &self.policy.needs_no_grant(self, verdict)).unwrap_or_default(),
            links: verdict.links.clone(),
        }
    }
}

impl Policy {
    fn explained(&self, cx: &Prepared<'_>, verdict: Verdict) -> Explanation {
        let mut parts = Vec::new();
        let mut add = |kind, text: &str, got, by| {
            parts.push(Part { kind, text: visible(text).into_owned(), got, by });
        };
        let allows = self.allowing(cx, false);
        for (index, command) in cx.running() {
            let command_of = SideEffect::Command(index);
            let mut restricting = self.rules().filter(|rule| rule.effect != Effect::Allow && cx.of_tool(rule));
            let asks = restricting.rfind(|rule| cx.matches(rule, command_of) != Fit::No);
            let (got, by) = match (asks, self.command_allowed_by(cx, &allows, index)) {
                (Some(rule), _) => self.got(cx, rule, rule.effect),
                (None, Some(reason)) => (Effect::Allow, said_by(&reason)),
                (None, None) => (Effect::Ask, "no rule allows it on its own".to_owned()),
            };
            add("command", &display(&command.words), got, by);
        }
        // Where the tool's allows are over paths, each of its files needs one.
        let over_paths = self.rules().any(|r| r.effect == Effect::Allow && r.path.is_some() && cx.of_tool(r));
        let needed = !cx.is_shell && over_paths && !verdict.decision.runs();
        for file in &cx.effects.files {
            let of_file = SideEffect::File(file);
            let over_paths = self.rules().filter(|rule| rule.path.is_some() && cx.concerns(rule));
            let fitting = over_paths.filter(|rule| cx.matches(rule, of_file) != Fit::No);
            let (got, by) = match fitting.max_by_key(|rule| rule.effect) {
                // A file that may fit a deny asks.
                Some(r) if cx.matches(r, of_file) != Fit::Yes => self.got(cx, r, r.effect.min(Effect::Ask)),
                Some(r) => self.got(cx, r, r.effect),
                None if file.own || needed => (Effect::Ask, "no path rule applies".to_owned()),
                None => (Effect::Allow, "no path rule applies".to_owned()),
            };
            let leads = if let Some(path) = &file.path { leads(path, &cx.context) } else { String::new() };
            add("file", &format!("{} {}{leads}", file.access.verb(), file.text), got, by);
        }
        for part in &cx.effects.unknowns {
            add("unknown", &part.text, Effect::Ask, part.kind.to_owned());
        }
        if let Some(Reason { effect, text, .. }) = floor(cx).or_else(|| doubt(cx)) {
            parts.push(Part { kind: "floor", text, got: effect, by: "no rule lifts it".to_owned() });
        }
        if parts.is_empty() {
            let got = if let Some(reason) = verdict.reasons.first() { reason.effect } else { Effect::Ask };
            parts.push(Part { kind: "tool", text: cx.identity(), got, by: verdict.reason() });
        }
        let would_allow = self.would_allow(cx, &verdict).unwrap_or_else(|why| vec![why]);
        Explanation { tier: cx.tier, verdict, parts, earlier: Vec::new(), would_allow, did_you_mean: self.close_to(cx) }
    }

    /// What a part got by a rule: its effect, unless a later allow overrides it.
    fn got(&self, cx: &Prepared<'_>, rule: &Rule, effect: Effect) -> (Effect, String) {
        match self.overridden(cx, rule) {
            Some(later) if rule.effect != Effect::Allow => {
                (Effect::Allow, format!("{}, later than {}", rule_text(later), rule_text(rule)))
            }
            _ => (effect, rule_text(rule)),
        }
    }

    /// The rules that together allow a call, which has been tried; or why none do.
    fn would_allow(&self, cx: &Prepared<'_>, verdict: &Verdict) -> Result<Vec<String>, String> {
        if verdict.decision.runs() {
            return Ok(Vec::new());
        }
        let hints = self.missing_rules(cx, verdict)?;
        if let Some(file) = cx.effects.own_file().filter(|_| cx.is_shell) {
            let text = visible(&file.text);
            return Err(format!(
                "no rule for the command alone: it writes `{text}`, which also needs a rule for that path"
            ));
        }
        let tried = self.with_rules(&hints, &cx.capability).verdict(cx, &[], cx.context.interactive);
        if tried.decision.runs() { Ok(hints) } else { Err(format!("no rule: {}", tried.reason())) }
    }

    /// The narrowest rules without which a call asks, each as it is written; or why no rule helps.
    /// For a shell: one for each command that no rule allows yet, none for its files.
    pub(super) fn missing_rules(&self, cx: &Prepared<'_>, verdict: &Verdict) -> Result<Vec<String>, String> {
        helps(cx, verdict, &self.needs_no_grant(cx, verdict))
    }

    /// The same policy with more rules of the user's, each as [`Self::missing_rules`] writes it.
    pub(super) fn with_rules(&self, hints: &[String], capability: &ToolCapability) -> Self {
        let rules = hints.iter().flat_map(|hint| read_hint(hint, capability)).collect();
        self.with_more(rules)
    }

    /// The tool whose name is close to that of a call, where no record and no rule names that.
    fn close_to(&self, cx: &Prepared<'_>) -> Option<String> {
        let own = cx.identity();
        let is_named = self.rules().any(|rule| rule.tool != ToolPattern::Any && cx.of_tool(rule));
        if *cx.capability != ToolCapability::default() || is_named {
            return None;
        }
        let mut known = Vec::from_iter(self.capabilities().into_keys().map(str::to_owned));
        known.extend(self.rules().filter_map(|rule| rule.tool.identity()));
        let close = *nearest(&own, known.iter().map(String::as_str), 1).first()?;
        Some(close.to_owned())
    }

    /// The commands that need no grant, because rules allow them already. Where a rule asks, no
    /// allow counts.
    fn needs_no_grant(&self, cx: &Prepared<'_>, verdict: &Verdict) -> Vec<usize> {
        let asks = verdict.reasons.iter().any(|reason| reason.effect == Effect::Ask && reason.rule.is_some());
        if asks { Vec::new() } else { self.allowed_commands(cx) }
    }
}

/// The rules that a hint is: a `[[rule]]` table on one line, or a compact rule.
pub(super) fn read_hint(hint: &str, capability: &ToolCapability) -> Vec<Rule> {
    match hint.strip_prefix("[[rule]] ") {
        Some(fields) => PolicyFile::load(&format!("rule = [{{ {fields} }}]"), "", PolicyScope::User).value.rules,
        None => {
            let rule = compact(Effect::Allow, hint.trim_start_matches("allow "), |_| Some(capability.clone()));
            Vec::from_iter(rule)
        }
    }
}

/// What else a path may mean, and where a symbolic link leads it.
fn leads(path: &LexPath, context: &Context) -> String {
    let mut others = Vec::new();
    for path in path.meanings().skip(1) {
        others.push(visible(&path.absolute(context).to_string()).into_owned());
    }
    let also = if path.is_odd() && !others.is_empty() {
        format!(", which may also mean {}", others.get(..3).unwrap_or(&others).join(", "))
    } else {
        String::new()
    };
    match path.leads_elsewhere(context) {
        None => also,
        Some(Some(real)) => format!("{also}, which leads to {}", visible(&real)),
        Some(None) => format!("{also}, and it is unknown where that leads"),
    }
}

/// The rule of a reason with its place, else the text of the reason.
pub(super) fn said_by(reason: &Reason) -> String {
    match (&reason.rule, &reason.place) {
        (Some(rule), Some(place)) => format!("{} {rule} ({place})", reason.effect),
        _ => reason.text.clone(),
    }
}

fn rule_text(rule: &Rule) -> String {
    format!("{} {} ({})", rule.effect, rule.text, rule.place)
}

/// The narrowest rule that allows a call to a tool: for its file, its host, or these arguments.
fn narrow(cx: &Prepared<'_>) -> String {
    let identity = cx.identity();
    let condition = match (cx.effects.files.as_slice(), cx.hosts.as_slice()) {
        ([file], []) => {
            format!("path = {}, access = \"{}\"", quoted(&file.text), file.access.verb().trim_end_matches('s'))
        }
        ([], [Host { plain: Some(host), .. }]) => format!("host = {}", quoted(host)),
        _ => {
            let mut args = Vec::new();
            for (name, value) in cx.call.arguments.as_object().into_iter().flatten() {
                if let Some(value) = value.as_str().filter(|value| !is_glob(value)) {
                    args.push(format!("{} = {}", quoted(name), quoted(value)));
                }
            }
            if args.is_empty() {
                return format!("allow {identity}");
            }
            args.truncate(4);
            format!("args = {{ {} }}", args.join(", "))
        }
    };
    format!("[[rule]] decide = \"allow\", tool = {}, {condition}", quoted(&identity))
}

/// A text as TOML quotes it: a JSON string with DEL escaped, which JSON leaves unescaped.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn rule_with(verdict: &Verdict, effect: Effect) -> Option<&str> {
    verdict.reasons.iter().find(|reason| reason.effect == effect && reason.rule.is_some())?.rule.as_deref()
}

/// The rules that may allow a call together, each as it is written; or why no rule does.
fn helps(cx: &Prepared<'_>, verdict: &Verdict, allowed: &[usize]) -> Result<Vec<String>, String> {
    match (rule_with(verdict, Effect::Deny), rule_with(verdict, Effect::Ask)) {
        (Some(deny), _) if verdict.decision == Decision::Deny => {
            return Err(format!("nothing, while the rule `{deny}` is in force"));
        }
        // No allow outranks what may be denied, or an ask; only a remembered approval does the
        // latter.
        (Some(deny), _) => {
            return Err(format!("no rule, while the rule `{deny}` may deny it: only a person's approval"));
        }
        (None, Some(ask)) => return Err(format!("no rule, while the rule `{ask}` asks: only a person's approval")),
        (None, None) => {}
    }
    offer(cx, allowed).map_err(|why| format!("no rule: {why}"))?;
    if !cx.is_shell {
        return Ok(vec![narrow(cx)]);
    }
    let (tool, mut rules) = (cx.identity(), Vec::new());
    for (index, command) in cx.running() {
        if !allowed.contains(&index) {
            rules.push(format!("allow {tool}({})", display(&command.words)));
        }
    }
    rules.dedup();
    Ok(rules)
}
