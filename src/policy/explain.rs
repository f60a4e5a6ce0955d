//! Explanations: why a decision was made, and what would allow the call.

use serde::Serialize;

use super::approval::Displayed;
use super::argv::display;
use super::call_context::CallContext;
use super::canonical::canonical;
use super::capability::PolicyTier;
use super::context::{Context, PolicyCall};
use super::decision::{Decision, Effect, Fit, Reason, Verdict};
use super::grant::{Grant, offer};
use super::path::LexPath;
use super::policy_set::Policy;
use super::rule::{Access, Rule};
use super::shell::Role;
use crate::diagnostic::visible;

/// A decision, explained part by part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The decision and its reasons.
    pub verdict: Verdict,
    /// The tier of the call.
    pub tier: Option<PolicyTier>,
    /// The parts of the call, each with its effect.
    pub parts: Vec<Part>,
    /// The compact rules that together would allow the call, or why no rule can.
    pub would_allow: Vec<String>,
}

/// A part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// `tool`, `command`, `file` or `unknown`.
    pub kind: &'static str,
    /// The part, with invisible characters escaped.
    pub text: String,
    /// The effect for this part.
    pub got: Effect,
    /// The rule that decided, with its place, or the tier.
    pub by: String,
}

impl Policy {
    /// Explains a decision, which the same code makes as in [`Policy::decide`].
    #[must_use]
    pub fn explain(&self, call: &PolicyCall<'_>, context: &Context, grants: &[Grant]) -> Explanation {
        let verdict = self.decide(call, context, grants);
        let cx = CallContext::new(call, context, self.capability(call, context));
        let mut parts = Vec::new();
        for (i, command) in cx.effects.commands.iter().enumerate().filter(|(_, c)| c.role == Role::Runs) {
            let caught = self.rules().rfind(|r| {
                r.effect != Effect::Allow
                    && cx.of_tool(r)
                    && r.command.as_ref().is_some_and(|c| cx.forms.get(i).is_some_and(|s| c.fit_any_form(s) != Fit::No))
            });
            let (got, by) = match (caught, self.command_allowed(&cx, i)) {
                (Some(rule), _) => (rule.effect, rule_text(rule)),
                (None, Some(reason)) => (Effect::Allow, said_by(&reason)),
                (None, None) => (Effect::Ask, "no rule allows it by itself".to_owned()),
            };
            parts.push(Part { kind: "command", text: visible(&display(&command.words)).into_owned(), got, by });
        }
        // Where the tool's allows are over paths, each of its files needs one.
        let over_paths = self.rules().any(|r| r.effect == Effect::Allow && r.path.is_some() && cx.of_tool(r));
        let needed = !cx.is_shell && over_paths && !verdict.decision.runs();
        for file in &cx.effects.files {
            let fits =
                |r: &&Rule| (cx.of_tool(r) || cx.of_effects(r)) && r.path.is_some() && cx.file_fit(r, file) != Fit::No;
            let rule = self.rules().filter(fits).max_by_key(|r| r.effect);
            let (got, by) = rule.map_or_else(
                || (if file.own || needed { Effect::Ask } else { Effect::Allow }, "no path rule applies".to_owned()),
                |r| {
                    // A file that may fit a deny asks.
                    let sure = cx.file_fit(r, file) == Fit::Yes;
                    (if sure { r.effect } else { r.effect.min(Effect::Ask) }, rule_text(r))
                },
            );
            let access = if file.access == Access::Read { "reads" } else { "writes" };
            let leads = file.path.as_ref().map(|path| leads(path, context)).unwrap_or_default();
            parts.push(Part { kind: "file", text: format!("{access} {}{leads}", visible(&file.text)), got, by });
        }
        for part in &cx.effects.unknowns {
            parts.push(Part {
                kind: "unknown",
                text: visible(&part.text).into_owned(),
                got: Effect::Ask,
                by: part.kind.to_owned(),
            });
        }
        if parts.is_empty() {
            let got = verdict.reasons.first().map_or(Effect::Ask, |r| r.effect);
            parts.push(Part { kind: "tool", text: call.origin.identity(call.tool), got, by: verdict.reason() });
        }
        let would_allow = if verdict.decision.runs() {
            Vec::new()
        } else {
            helps(&cx, &verdict, &self.needs_no_grant(&cx, &verdict))
        };
        Explanation { tier: cx.tier, verdict, parts, would_allow }
    }

    /// Which commands need no grant, because rules allow them already. Where a rule asks, no allow counts.
    fn needs_no_grant<'c>(&'c self, cx: &'c CallContext<'c>, verdict: &Verdict) -> impl Fn(usize) -> bool + 'c {
        let asks = verdict.reasons.iter().any(|reason| reason.effect == Effect::Ask && reason.rule.is_some());
        move |i| !asks && self.command_allowed(cx, i).is_some()
    }

    /// What a person is shown before approving.
    #[must_use]
    pub fn displayed(&self, call: &PolicyCall<'_>, context: &Context, verdict: &Verdict) -> Displayed {
        let cx = CallContext::new(call, context, self.capability(call, context));
        let mut effects: Vec<String> =
            cx.command_lines().iter().map(|line| format!("runs {}", visible(line))).collect();
        for file in &cx.effects.files {
            let verb = if file.access == Access::Read { "reads" } else { "writes" };
            let line = match &file.path {
                Some(path) => {
                    let own = visible(&path.displayed(context)).into_owned();
                    format!("{verb} {own}{}", leads(path, context))
                }
                None => format!("{verb} {} (known only when it runs)", visible(&file.text)),
            };
            if !effects.contains(&line) {
                effects.push(line);
            }
        }
        effects.extend(
            cx.hosts.iter().filter_map(|h| h.plain.as_ref()).map(|host| format!("connects to {}", visible(host))),
        );
        effects.extend(cx.effects.unknowns.iter().map(|u| format!("unknown: {} ({})", visible(&u.text), u.kind)));
        let own = call.origin.identity(call.tool);
        Displayed {
            target: cx.target.as_ref().map_or(own.clone(), |target| format!("{} (through {own})", visible(target))),
            arguments: visible(&canonical(call.arguments)).into_owned(),
            effects,
            undo: cx.capability.undo.to_string(),
            undo_why: String::new(),
            why: verdict.reasons.iter().map(ToString::to_string).collect(),
            remember: offer(&cx, &self.needs_no_grant(&cx, verdict)).unwrap_or_default(),
            links: verdict.links.clone(),
        }
    }
}

/// What else a path may mean, and where a symbolic link leads it.
fn leads(path: &LexPath, context: &Context) -> String {
    let others: Vec<String> =
        path.meanings().skip(1).map(|p| visible(&p.absolute(context).to_string()).into_owned()).collect();
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
fn said_by(reason: &Reason) -> String {
    match (&reason.rule, &reason.place) {
        (Some(rule), Some(place)) => format!("{} {rule} ({place})", reason.effect),
        _ => reason.text.clone(),
    }
}

fn rule_text(rule: &Rule) -> String {
    format!("{} {} ({})", rule.effect, rule.text, rule.place)
}

/// The narrowest rule that allows a call to a tool: for its file, its host, or these arguments.
fn narrow(cx: &CallContext<'_>) -> String {
    let identity = cx.call.origin.identity(cx.call.tool);
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let condition = match (cx.effects.files.as_slice(), cx.hosts.as_slice()) {
        ([file], []) => {
            let access = if file.access == Access::Read { "read" } else { "write" };
            format!("path = {}, access = \"{access}\"", text(&file.text))
        }
        ([], [host]) if host.plain.is_some() => {
            format!("host = {}", text(host.plain.as_deref().unwrap_or_default()))
        }
        _ => {
            let exact = |(name, value): (&String, &serde_json::Value)| {
                let value = value.as_str().filter(|value| !super::glob::is_glob(value))?;
                Some(format!("{} = {}", text(name), text(value)))
            };
            let args: Vec<String> =
                cx.call.arguments.as_object().into_iter().flatten().filter_map(exact).take(4).collect();
            if args.is_empty() {
                return format!("allow {identity}");
            }
            format!("args = {{ {} }}", args.join(", "))
        }
    };
    format!("[[rule]] decide = \"allow\", tool = {}, {condition}", text(&identity))
}

fn helps(cx: &CallContext<'_>, verdict: &Verdict, allowed: &dyn Fn(usize) -> bool) -> Vec<String> {
    // The rule of the first reason that has the effect.
    let rule_that = |effect| verdict.reasons.iter().filter(|r| r.effect == effect).find_map(|r| r.rule.as_deref());
    if let Some(deny) = rule_that(Effect::Deny).filter(|_| verdict.decision == Decision::Deny) {
        return vec![format!("nothing, while the rule `{deny}` is in force")];
    }
    // No allow outranks an ask; only a remembered approval does.
    if let Some(rule) = rule_that(Effect::Ask) {
        return vec![format!("no rule, while the rule `{rule}` asks: only a person's approval")];
    }
    if let Some(file) = cx.effects.files.iter().find(|file| file.own && cx.is_shell) {
        let text = visible(&file.text);
        return vec![format!(
            "no rule for the command alone: it writes `{text}`, which also needs a rule for that path"
        )];
    }
    match offer(cx, allowed) {
        Err(why) => vec![format!("no rule: {why}")],
        Ok(_) if cx.is_shell => {
            let asked = cx.effects.commands.iter().enumerate().filter(|(i, c)| c.role == Role::Runs && !allowed(*i));
            let mut rules: Vec<String> =
                asked.map(|(_, command)| format!("allow {}({})", cx.call.tool, display(&command.words))).collect();
            rules.dedup();
            rules
        }
        Ok(_) => vec![narrow(cx)],
    }
}
