//! Explanations: why a decision was made, and what would allow the call.

use serde::Serialize;

use super::approval::Displayed;
use super::argv::display;
use super::call_context::CallContext;
use super::canonical::canonical;
use super::capability::{PolicyTier, ToolCapability};
use super::command::CommandPattern;
use super::compact::compact;
use super::context::{Context, PolicyCall};
use super::decision::{Decision, Effect, Fit, Reason, Verdict};
use super::floor::{doubt, floor};
use super::glob::is_glob;
use super::grant::{Grant, offer};
use super::host::Host;
use super::load::PolicyFile;
use super::path::LexPath;
use super::policy_set::Policy;
use super::rule::{PolicyScope, Rule, ToolPattern};
use super::shell::Role;
use crate::diagnostic::visible;
use crate::name::nearest;

/// A decision, explained part by part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The decision and its reasons.
    pub verdict: Verdict,
    /// The tier of the call.
    pub tier: Option<PolicyTier>,
    /// The parts of the call, each with its effect.
    pub parts: Vec<Part>,
    /// The compact rules that together would allow the call, or why no rule can.
    pub would_allow: Vec<String>,
    /// The tool that may be meant, where no record and no rule names the tool of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
}

/// A part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

impl Policy {
    /// Explains a decision, which the same code makes as in [`Policy::decide`].
    #[must_use]
    pub fn explain(&self, call: &PolicyCall<'_>, context: &Context, grants: &[Grant]) -> Explanation {
        let verdict = self.decide(call, context, grants);
        let cx = CallContext::new(call, context, self.capability(call, context));
        let mut parts = Vec::new();
        let mut add = |kind, text: &str, got, by| {
            parts.push(Part { kind, text: visible(text).into_owned(), got, by });
        };
        for (i, command) in cx.effects.commands.iter().enumerate().filter(|(_, c)| c.role == Role::Runs) {
            let matches = |rule: &&Rule| {
                let fits =
                    |pattern: &CommandPattern| cx.forms.get(i).is_some_and(|f| pattern.fit_any_form(f) != Fit::No);
                rule.effect != Effect::Allow && cx.of_tool(rule) && rule.command.as_ref().is_some_and(fits)
            };
            let (got, by) = match (self.rules().rfind(matches), self.command_allowed(&cx, i)) {
                (Some(rule), _) => self.got(&cx, rule, rule.effect),
                (None, Some(reason)) => (Effect::Allow, said_by(&reason)),
                (None, None) => (Effect::Ask, "no rule allows it by itself".to_owned()),
            };
            add("command", &display(&command.words), got, by);
        }
        // Where the tool's allows are over paths, each of its files needs one.
        let over_paths = self.rules().any(|r| r.effect == Effect::Allow && r.path.is_some() && cx.of_tool(r));
        let needed = !cx.is_shell && over_paths && !verdict.decision.runs();
        for file in &cx.effects.files {
            let fits = |r: &&Rule| cx.concerns(r) && r.path.is_some() && cx.file_fit(r, file) != Fit::No;
            let (got, by) = match self.rules().filter(fits).max_by_key(|r| r.effect) {
                // A file that may fit a deny asks.
                Some(r) if cx.file_fit(r, file) != Fit::Yes => self.got(&cx, r, r.effect.min(Effect::Ask)),
                Some(r) => self.got(&cx, r, r.effect),
                None if file.own || needed => (Effect::Ask, "no path rule applies".to_owned()),
                None => (Effect::Allow, "no path rule applies".to_owned()),
            };
            let leads = file.path.as_ref().map(|path| leads(path, context)).unwrap_or_default();
            add("file", &format!("{} {}{leads}", file.access.verb(), file.text), got, by);
        }
        for part in &cx.effects.unknowns {
            add("unknown", &part.text, Effect::Ask, part.kind.to_owned());
        }
        if let Some(Reason { effect, text, .. }) = floor(&cx).or_else(|| doubt(&cx)) {
            parts.push(Part { kind: "floor", text, got: effect, by: "no rule lifts it".to_owned() });
        }
        if parts.is_empty() {
            let got = verdict.reasons.first().map_or(Effect::Ask, |r| r.effect);
            parts.push(Part { kind: "tool", text: call.origin.identity(call.tool), got, by: verdict.reason() });
        }
        let would_allow = self.would_allow(&cx, &verdict).unwrap_or_else(|why| vec![why]);
        Explanation { tier: cx.tier, verdict, parts, would_allow, did_you_mean: self.close_to(&cx) }
    }

    /// What a part got by a rule: its effect, unless a later allow overrides it.
    fn got(&self, cx: &CallContext<'_>, rule: &Rule, effect: Effect) -> (Effect, String) {
        match self.overridden(cx, rule).filter(|_| rule.effect != Effect::Allow) {
            Some(later) => (Effect::Allow, format!("{}, later than {}", rule_text(later), rule_text(rule))),
            None => (effect, rule_text(rule)),
        }
    }

    /// The rules that together allow a call, which has been tried; or why none do.
    fn would_allow(&self, cx: &CallContext<'_>, verdict: &Verdict) -> Result<Vec<String>, String> {
        if verdict.decision.runs() {
            return Ok(Vec::new());
        }
        let hints = helps(cx, verdict, &self.needs_no_grant(cx, verdict))?;
        let read = |hint: &String| match hint.strip_prefix("[[rule]] ") {
            Some(fields) => PolicyFile::load(&format!("rule = [{{ {fields} }}]"), "", PolicyScope::User).value.rules,
            None => {
                let known = |_: &str| Some(cx.capability.clone().into_owned());
                Vec::from_iter(compact(Effect::Allow, hint.trim_start_matches("allow "), known))
            }
        };
        let more = PolicyFile { rules: hints.iter().flat_map(read).collect(), ..PolicyFile::default() };
        let tried = Self::new([self.files(), &[more]].concat()).with_mode(self.mode);
        let tried = tried.decide(cx.call, cx.context, &[]);
        if tried.decision.runs() { Ok(hints) } else { Err(format!("no rule: {}", tried.reason())) }
    }

    /// The tool whose name is close to that of a call, where no record and no rule names that.
    fn close_to(&self, cx: &CallContext<'_>) -> Option<String> {
        let own = cx.call.origin.identity(cx.call.tool);
        let names = |rule: &Rule| rule.tool != ToolPattern::Any && cx.of_tool(rule);
        if *cx.capability != ToolCapability::default() || self.rules().any(names) {
            return None;
        }
        let records = self.capabilities().into_keys().map(str::to_owned);
        let known: Vec<String> = records.chain(self.rules().filter_map(|rule| rule.tool.identity())).collect();
        nearest(&own, known.iter().map(String::as_str), 1).first().map(|&close| close.to_owned())
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
        let run = cx.effects.commands.iter().filter(|command| command.role == Role::Runs);
        let mut effects: Vec<String> =
            run.map(|command| format!("runs {}", visible(&display(&command.words)))).collect();
        for file in &cx.effects.files {
            let verb = file.access.verb();
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
            format!("path = {}, access = \"{}\"", text(&file.text), file.access.verb().trim_end_matches('s'))
        }
        ([], [Host { plain: Some(host), .. }]) => format!("host = {}", text(host)),
        _ => {
            let exact = |(name, value): (&String, &serde_json::Value)| {
                let value = value.as_str().filter(|value| !is_glob(value))?;
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

/// The rules that may allow a call together, each as it is written; or why no rule does.
fn helps(cx: &CallContext<'_>, verdict: &Verdict, allowed: &dyn Fn(usize) -> bool) -> Result<Vec<String>, String> {
    // The rule of the first reason that has the effect.
    let rule_that = |effect| verdict.reasons.iter().filter(|r| r.effect == effect).find_map(|r| r.rule.as_deref());
    match (rule_that(Effect::Deny), rule_that(Effect::Ask)) {
        (Some(deny), _) if verdict.decision == Decision::Deny => {
            return Err(format!("nothing, while the rule `{deny}` is in force"));
        }
        // No allow outranks what may be denied, or an ask; only a remembered approval does the latter.
        (Some(deny), _) => {
            return Err(format!("no rule, while the rule `{deny}` may deny it: only a person's approval"));
        }
        (None, Some(ask)) => return Err(format!("no rule, while the rule `{ask}` asks: only a person's approval")),
        (None, None) => {}
    }
    if let Some(file) = cx.effects.files.iter().find(|file| file.own && cx.is_shell) {
        let text = visible(&file.text);
        return Err(format!(
            "no rule for the command alone: it writes `{text}`, which also needs a rule for that path"
        ));
    }
    offer(cx, allowed).map_err(|why| format!("no rule: {why}"))?;
    if !cx.is_shell {
        return Ok(vec![narrow(cx)]);
    }
    let asked = cx.effects.commands.iter().enumerate().filter(|(i, c)| c.role == Role::Runs && !allowed(*i));
    let tool = cx.call.origin.identity(cx.call.tool);
    let mut rules: Vec<String> = asked.map(|(_, c)| format!("allow {tool}({})", display(&c.words))).collect();
    rules.dedup();
    Ok(rules)
}
