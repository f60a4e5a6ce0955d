//! Why a call gets what it gets, and what would have made it allowed.

use serde::Serialize;

use super::approval::Shown;
use super::argv::display;
use super::canonical::canonical;
use super::case::Case;
use super::decision::{Decision, Fit, Reason, Says, Verdict};
use super::facts::{Call, Facts};
use super::grant::{Grant, What, offer};
use super::path::LexPath;
use super::record::{Tier, Undo};
use super::rule::{Access, Rule};
use super::set::Policy;
use super::shell::Role;
use crate::diagnostic::visible;

/// A call taken apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// What it gets.
    pub verdict: Verdict,
    /// The tier of the call.
    pub tier: Option<Tier>,
    /// Every part of it, and what each got.
    pub parts: Vec<Part>,
    /// Rules, in compact form, that would have made it allowed, all of them together; or why none can.
    pub would_allow: Vec<String>,
}

/// One part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// `tool`, `command`, `file` or `unknown`.
    pub kind: &'static str,
    /// The part, invisible characters escaped.
    pub text: String,
    /// What it got.
    pub got: Says,
    /// The rule that says so, with its place; or the tier.
    pub by: String,
}

impl Policy {
    /// Explains a decision. Decides by the same code as [`Policy::decide`].
    #[must_use]
    pub fn explain(&self, call: &Call<'_>, facts: &Facts, grants: &[Grant]) -> Explanation {
        let verdict = self.decide(call, facts, grants);
        let case = Case::new(call, facts, self.record(call, facts));
        let mut parts = Vec::new();
        for (i, command) in case.effects.commands.iter().enumerate().filter(|(_, c)| c.role == Role::Runs) {
            let caught = self.rules().rfind(|r| {
                r.says != Says::Allow
                    && case.of_tool(r)
                    && r.command
                        .as_ref()
                        .is_some_and(|c| case.spellings.get(i).is_some_and(|s| c.fit_any_spelling(s) != Fit::No))
            });
            let (got, by) = match (caught, self.command_allowed(&case, i)) {
                (Some(rule), _) => (rule.says, rule_text(rule)),
                (None, Some(reason)) => (Says::Allow, said_by(&reason)),
                (None, None) => (Says::Ask, "nothing allows it by itself".to_owned()),
            };
            parts.push(Part { kind: "command", text: visible(&display(&command.words)).into_owned(), got, by });
        }
        for file in &case.effects.files {
            let fits = |r: &&Rule| {
                (case.of_tool(r) || case.of_effects(r)) && r.path.is_some() && case.file_fit(r, file) != Fit::No
            };
            let rule = self.rules().filter(fits).max_by_key(|r| r.says);
            let (got, by) = rule.map_or_else(
                || (if file.own { Says::Ask } else { Says::Allow }, "no rule over paths".to_owned()),
                |r| {
                    // What may fit a deny is asked about.
                    let sure = case.file_fit(r, file) == Fit::Yes;
                    (if sure { r.says } else { r.says.min(Says::Ask) }, rule_text(r))
                },
            );
            let access = if file.access == Access::Read { "reads" } else { "writes" };
            let leads = file.path.as_ref().map(|path| leads(path, facts)).unwrap_or_default();
            parts.push(Part { kind: "file", text: format!("{access} {}{leads}", visible(&file.text)), got, by });
        }
        for part in &case.effects.unknowns {
            parts.push(Part {
                kind: "unknown",
                text: visible(&part.text).into_owned(),
                got: Says::Ask,
                by: part.kind.to_owned(),
            });
        }
        if parts.is_empty() {
            let got = verdict.reasons.first().map_or(Says::Ask, |r| r.says);
            parts.push(Part { kind: "tool", text: call.origin.identity(call.tool), got, by: verdict.reason() });
        }
        let would_allow = if verdict.decision.runs() {
            Vec::new()
        } else {
            helps(&case, &verdict, &self.needs_no_grant(&case, &verdict))
        };
        Explanation { tier: case.tier, verdict, parts, would_allow }
    }

    /// Which commands need nothing remembered, since rules allow them already. Where a rule asks, no allow counts.
    fn needs_no_grant<'c>(&'c self, case: &'c Case<'c>, verdict: &Verdict) -> impl Fn(usize) -> bool + 'c {
        let asks = verdict.reasons.iter().any(|reason| reason.says == Says::Ask && reason.rule.is_some());
        move |i| !asks && self.command_allowed(case, i).is_some()
    }

    /// What a person is shown before the yes.
    #[must_use]
    pub fn shown(&self, call: &Call<'_>, facts: &Facts, verdict: &Verdict) -> Shown {
        let case = Case::new(call, facts, self.record(call, facts));
        let mut effects: Vec<String> =
            case.command_lines().iter().map(|line| format!("runs {}", visible(line))).collect();
        for file in &case.effects.files {
            let verb = if file.access == Access::Read { "reads" } else { "writes" };
            let line = match &file.path {
                Some(path) => {
                    let own = visible(&path.shown(facts)).into_owned();
                    format!("{verb} {own}{}", leads(path, facts))
                }
                None => format!("{verb} {} (only known when it runs)", visible(&file.text)),
            };
            if !effects.contains(&line) {
                effects.push(line);
            }
        }
        effects.extend(
            case.hosts.iter().filter_map(|h| h.plain.as_ref()).map(|host| format!("reaches {}", visible(host))),
        );
        effects.extend(case.effects.unknowns.iter().map(|u| format!("unknown: {} ({})", visible(&u.text), u.kind)));
        let own = call.origin.identity(call.tool);
        Shown {
            target: case.target.as_ref().map_or(own.clone(), |target| format!("{} (through {own})", visible(target))),
            arguments: visible(&canonical(call.arguments)).into_owned(),
            effects,
            undo: undo_word(case.record.undo).to_owned(),
            why: verdict.reasons.iter().map(ToString::to_string).collect(),
            remember: offer(&case, &self.needs_no_grant(&case, verdict)).unwrap_or_default(),
            links: verdict.links.clone(),
        }
    }
}

/// `snapshot`, `inverse`, `compensate` or `irreversible`.
fn undo_word(undo: Undo) -> &'static str {
    match undo {
        Undo::Snapshot => "snapshot",
        Undo::Inverse => "inverse",
        Undo::Compensate => "compensate",
        Undo::Irreversible => "irreversible",
    }
}

/// What else a path may mean, and where it leads if that is elsewhere than it says.
fn leads(path: &LexPath, facts: &Facts) -> String {
    let others: Vec<String> =
        path.meanings().skip(1).map(|p| visible(&p.absolute(facts).to_string()).into_owned()).collect();
    let also = if path.is_odd() && !others.is_empty() {
        format!(", which may also mean {}", others.get(..3).unwrap_or(&others).join(", "))
    } else {
        String::new()
    };
    match path.leads_elsewhere(facts) {
        None => also,
        Some(Some(real)) => format!("{also}, which leads to {}", visible(&real)),
        Some(None) => format!("{also}, and nobody knows where that leads"),
    }
}

/// The rule behind a reason with its place, else the reason itself.
fn said_by(reason: &Reason) -> String {
    match (&reason.rule, &reason.place) {
        (Some(rule), Some(place)) => format!("{} {rule} ({place})", reason.says),
        _ => reason.text.clone(),
    }
}

fn rule_text(rule: &Rule) -> String {
    format!("{} {} ({})", rule.says, rule.text, rule.place)
}

fn helps(case: &Case<'_>, verdict: &Verdict, allowed: &dyn Fn(usize) -> bool) -> Vec<String> {
    let forbids = |r: &&Reason| verdict.decision == Decision::Deny && r.says == Says::Deny && r.rule.is_some();
    if let Some(deny) = verdict.reasons.iter().find(forbids) {
        return vec![format!("nothing, as long as the rule `{}` stands", deny.rule.as_deref().unwrap_or_default())];
    }
    // No allow outranks an ask; only a remembered yes does.
    let asks = |r: &&Reason| r.says == Says::Ask && r.rule.is_some();
    if let Some(ask) = verdict.reasons.iter().find(asks) {
        let rule = ask.rule.as_deref().unwrap_or_default();
        return vec![format!("no rule, as long as the rule `{rule}` asks: only a person's yes")];
    }
    if let Some(file) = case.effects.files.iter().find(|file| file.own && case.is_shell) {
        let text = visible(&file.text);
        return vec![format!(
            "no rule over the command alone: it writes `{text}`, which needs a rule with that path too"
        )];
    }
    match offer(case, allowed) {
        Err(why) => vec![format!("no rule: {why}")],
        Ok(offers) => {
            let mut rules: Vec<String> = offers
                .iter()
                .map(|what| match what {
                    What::Command { tokens, open } => {
                        format!("allow {}({}{})", case.call.tool, tokens.join(" "), if *open { ":*" } else { "" })
                    }
                    What::Tool | What::Arguments { .. } => {
                        format!("allow {}", case.call.origin.identity(case.call.tool))
                    }
                })
                .collect();
            rules.dedup();
            rules
        }
    }
}
