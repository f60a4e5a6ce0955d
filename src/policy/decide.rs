//! The decision: a pure function of the call, its context and the grants.
//!
//! Precedence: the floor (managed denies, protected paths), then deny, then ask, then allow, then the tier. A grant can
//! lift an ask and nothing else. Nothing here depends on which tools are shown or expanded or which skills are active,
//! beyond what the context says.

use super::call_context::CallContext;
use super::capability::PolicyTier;
use super::command::CommandPattern;
use super::context::{Context, PolicyCall, ToolOrigin};
use super::decision::{Decision, Effect, Fit, Reason, Verdict};
use super::floor::{floor, may_be_protected};
use super::grant::{Grant, covers};
use super::host::Host;
use super::load::PolicyMode;
use super::policy_set::Policy;
use super::refusal::{Refusal, no_rule_for};
use super::rule::{PolicyScope, Rule};
use super::shell::{FileEffect, Role, Weight};

impl Policy {
    /// Decides on a call.
    ///
    /// Never fails: a call that cannot be evaluated asks. The order of precedence is floor, deny, ask, allow, tier.
    pub fn decide(&self, call: &PolicyCall<'_>, context: &Context, grants: &[Grant]) -> Verdict {
        let links = context.links.clone().unwrap_or_default();
        let cx = CallContext::new(call, context, self.capability(call, context));
        let mut outcome = self.evaluate(&cx, grants);
        if outcome.decision == Decision::Confirm && !context.interactive {
            outcome.decision = Decision::Deny;
            let text = "this call needs a person's approval, and nobody can be asked here; find another way, or stop and say so";
            outcome.reasons.insert(0, Reason::new(Effect::Deny, text));
        }
        if self.mode == PolicyMode::Off && !outcome.floor {
            let reasons = vec![Reason::new(Effect::Allow, OFF)];
            return Verdict { decision: Decision::Allow, reasons, would_be: None, links };
        }
        if self.mode == PolicyMode::Audit && !outcome.floor && !outcome.decision.runs() {
            let text = "the policy only audits: the call runs and is audited";
            outcome.reasons.insert(0, Reason::new(Effect::Allow, text));
            return Verdict {
                decision: Decision::AllowAudited,
                reasons: outcome.reasons,
                would_be: Some(outcome.decision),
                links,
            };
        }
        Verdict { decision: outcome.decision, reasons: outcome.reasons, would_be: None, links }
    }

    /// Whether a tool is denied whatever its arguments. Such a tool is not shown, not listed, not expandable and not
    /// named in any error.
    #[must_use]
    pub fn denies_outright(&self, tool: &str, origin: &ToolOrigin, context: &Context) -> bool {
        let none = serde_json::Value::Object(serde_json::Map::new());
        let call = PolicyCall { tool, origin, arguments: &none };
        let (capability, _) = self.capability(&call, context);
        let binds = |rule: &&Rule| self.mode == PolicyMode::Enforce || rule.scope == PolicyScope::Managed;
        self.rules().filter(|r| r.effect == Effect::Deny && !r.is_conditional()).filter(binds).any(|rule| {
            let family = rule.family.is_some() && rule.family == capability.family;
            (rule.tool.fits(&call, None, Effect::Deny) || family)
                && rule.arguments_fit(&call, None, context.annotations)
        }) || (self.mode == PolicyMode::Enforce
            && self.default == Some(Effect::Deny)
            && capability.tier.is_none()
            && !self.may_allow(&call))
    }

    /// Whether any allow or ask covers the tool at all.
    fn may_allow(&self, call: &PolicyCall<'_>) -> bool {
        self.rules().any(|r| r.effect != Effect::Deny && (r.tool.fits(call, None, r.effect) || r.family.is_some()))
    }

    fn evaluate(&self, cx: &CallContext<'_>, grants: &[Grant]) -> Outcome {
        if let Some(reason) = floor(cx) {
            return Outcome { decision: Decision::Deny, reasons: vec![reason], floor: true };
        }
        let (mut denies, mut asks, mut restricted) = (Vec::new(), Vec::new(), !cx.context.protected.is_empty());
        let (mut floor, mut doubt) = (false, false);
        if let Some(reason) = may_be_protected(cx) {
            doubt = true;
            asks.push(reason);
        }
        for rule in self.rules().filter(|r| r.effect != Effect::Allow) {
            let fit = cx.caught(rule);
            // A rule that does not match here may still match what an opaque part of the command runs.
            restricted |= cx.is_shell && rule.is_conditional() && (cx.of_tool(rule) || cx.of_effects(rule));
            let fit = if fit != Fit::No && self.overridden(cx, rule) { Fit::No } else { fit };
            match (fit, rule.effect) {
                (Fit::No, _) | (_, Effect::Allow) => {}
                (Fit::Yes, Effect::Deny) => {
                    floor |= rule.scope == PolicyScope::Managed;
                    // Of several rules with the same effect, the last one is named.
                    denies.insert(0, by_rule(rule, "this call is denied"));
                }
                (Fit::Maybe, Effect::Deny) => {
                    doubt = true;
                    asks.insert(0, by_rule(rule, "this call may be one that is denied"));
                }
                (Fit::Yes | Fit::Maybe, Effect::Ask) => asks.insert(0, by_rule(rule, "this call needs approval")),
            }
        }
        if !denies.is_empty() {
            return Outcome { decision: Decision::Deny, reasons: denies, floor };
        }
        if self.broken {
            let text = "a policy file could not be read completely: every call asks until it is fixed";
            return Outcome {
                decision: Decision::Confirm,
                reasons: vec![Reason::new(Effect::Ask, text)],
                floor: false,
            };
        }
        let permission = match self.permission(cx, restricted, false) {
            // What a rule asks about is not left to a default that denies.
            Err(Refusal { decision: Decision::Deny, .. }) if !asks.is_empty() => self.permission(cx, restricted, true),
            permission => permission,
        };
        // Where a rule asks, an allow for the same command does not count: only grants do.
        let by_rules = asks.is_empty();
        let covered = || {
            let ids = covers(grants, cx, &|i| by_rules && self.command_allowed(cx, i).is_some()).filter(|_| !doubt)?;
            Some(Reason::new(Effect::Allow, format!("a remembered approval covers it ({ids})")))
        };
        let covered = covered();
        let (decision, reasons) = match (asks.is_empty(), permission) {
            (true, Ok(reason)) => (Decision::AllowAudited, vec![reason]),
            (false, Ok(_)) => (Decision::Confirm, asks),
            (_, Err(Refusal { reason, decision: Decision::Deny })) => (Decision::Deny, vec![reason]),
            (_, Err(Refusal { reason, .. })) => {
                asks.push(reason);
                (Decision::Confirm, asks)
            }
        };
        if decision == Decision::Confirm {
            if let Some(reason) = covered {
                return Outcome { decision: audited(cx.tier), reasons: vec![reason], floor: false };
            }
            return Outcome { decision, reasons, floor: false };
        }
        let decision = if decision == Decision::AllowAudited { audited(cx.tier) } else { decision };
        Outcome { decision, reasons, floor: false }
    }

    /// Whether a later allow in the same file covers everything that a rule matches, where the last match wins.
    fn overridden(&self, cx: &CallContext<'_>, rule: &Rule) -> bool {
        let Some(file) = self.files.iter().find(|f| f.last_match && f.rules.iter().any(|r| std::ptr::eq(r, rule)))
        else {
            return false;
        };
        let later = file.rules.iter().skip_while(|r| !std::ptr::eq(*r, rule)).skip(1);
        let mut allows = later.filter(|r| r.effect == Effect::Allow && cx.of_tool(r) && self.may_loosen(r, cx));
        allows.any(|allow| {
            let caught = |i: &usize| {
                rule.command.as_ref().is_none_or(|c| cx.forms.get(*i).is_some_and(|s| c.fit_any_form(s) != Fit::No))
            };
            let commands = allow.command.as_ref().is_none_or(|pattern| {
                let all = &cx.effects.commands;
                (0..all.len()).filter(caught).all(|i| all.get(i).is_some_and(|c| pattern.allows(&c.words)))
            });
            let files = allow.path.is_none() || cx.effects.files.iter().all(|f| cx.file_fit(allow, f) == Fit::Yes);
            let hosts = allow.host.as_ref().is_none_or(|p| cx.hosts.iter().all(|h| p.fit(h, true) == Fit::Yes));
            // An allow over hosts covers nothing of a call that names none.
            commands && files && hosts && (allow.host.is_none() || !cx.hosts.is_empty())
        })
    }

    /// What allows the call, or why it is not allowed. `asked`: what a rule asks about counts as allowed.
    fn permission(&self, cx: &CallContext<'_>, restricted: bool, asked: bool) -> Result<Reason, Refusal> {
        let closed = self.by_tier(cx).err().filter(|refusal| refusal.decision == Decision::Deny);
        if let (Some(refusal), true) = (&closed, cx.unreadable.is_some() || cx.context.definition_changed) {
            return Err(Refusal { reason: refusal.reason.clone(), decision: Decision::Deny });
        }
        if let Some(why) = &cx.unreadable {
            return Err(Refusal::ask(why.clone()));
        }
        if cx.context.definition_changed {
            return Err(Refusal::ask("the tool's definition has changed since it was allowed"));
        }
        let counts = |r: &Rule| r.effect == Effect::Allow || (asked && r.effect == Effect::Ask);
        let rules: Vec<&Rule> = self.rules().filter(|r| counts(r) && self.may_loosen(r, cx)).collect();
        if cx.is_shell {
            return self.shell_permission(cx, &rules, restricted);
        }
        if let Some(rule) =
            rules.iter().rev().find(|r| cx.of_tool(r) && r.path.is_none() && r.host.is_none() && r.command.is_none())
        {
            return Ok(by_rule(rule, "allowed"));
        }
        // A rule over paths and hosts needs both in the call.
        let reaches = |r: &Rule, h: &Host| r.host.as_ref().is_some_and(|p| p.fit(h, true) == Fit::Yes);
        let names = |r: &Rule, f: &FileEffect| r.path.is_some() && cx.file_fit(r, f) == Fit::Yes;
        let one_host = |r: &Rule| r.host.is_none() || cx.hosts.iter().any(|h| reaches(r, h));
        let one_file = |r: &Rule| r.path.is_none() || cx.effects.files.iter().any(|f| names(r, f));
        let file = |f| rules.iter().rev().find(|r| cx.of_tool(r) && names(r, f) && one_host(r));
        let host = |h: &Host| rules.iter().rev().find(|r| cx.of_tool(r) && reaches(r, h) && one_file(r));
        let files: Option<Vec<_>> = cx.effects.files.iter().map(file).collect();
        let hosts: Option<Vec<_>> = cx.hosts.iter().map(host).collect();
        // An argument that nobody declares, and that names a place elsewhere, may be what the tool takes.
        let astray = cx.effects.suspects.iter().filter(|suspect| is_elsewhere(&suspect.text));
        let sure =
            astray.clone().all(|suspect| file(suspect).is_some()) && cx.suspect_hosts.iter().all(|h| host(h).is_some());
        if let (Some(files), Some(hosts), true) = (files, hosts, sure)
            && let Some(rule) = files.into_iter().chain(hosts).next()
        {
            return Ok(by_rule(rule, "allowed"));
        }
        let over_paths = rules.iter().any(|r| r.path.is_some() && cx.of_tool(r));
        self.by_tier(cx).map_err(|refusal| {
            if refusal.decision == Decision::Deny || !over_paths {
                return refusal;
            }
            let left = || cx.effects.files.iter().chain(astray).find(|f| file(f).is_none()).map(no_rule_for);
            match cx.why_no_path().or_else(left) {
                Some(why) => refusal.because(why),
                None => refusal,
            }
        })
    }

    /// Whether an allow may apply here at all: one from a project only in a trusted workspace, one that depends on a
    /// server's hints only if the server is trusted.
    fn may_loosen(&self, rule: &Rule, cx: &CallContext<'_>) -> bool {
        let hinted =
            rule.annotations != super::context::Annotations::default() && matches!(cx.call.origin, ToolOrigin::Mcp(_));
        (rule.scope > PolicyScope::Project || cx.context.workspace_trusted)
            && (!hinted || cx.context.server_trusted)
            && (cx.of_tool(rule) || cx.of_effects(rule))
            && (!cx.of_tool(rule) || rule.arguments_fit(cx.call, cx.target.as_deref(), cx.context.annotations))
    }

    fn by_tier(&self, cx: &CallContext<'_>) -> Result<Reason, Refusal> {
        let tool = cx.call.tool;
        match (cx.tier, self.default) {
            (Some(PolicyTier::ReadOnly), _) => Ok(Reason::new(Effect::Allow, format!("`{tool}` only reads"))),
            (Some(PolicyTier::B), _) => {
                Ok(Reason::new(Effect::Allow, format!("`{tool}` is Tier B: it runs and is audited")))
            }
            (Some(PolicyTier::A), _) => {
                Err(Refusal::ask(format!("`{tool}` is Tier A: a person must approve it first")))
            }
            (None, Some(Effect::Allow)) => Ok(Reason::new(Effect::Allow, "allowed by default")),
            (None, Some(Effect::Deny)) => {
                let text = format!("no rule or tier covers `{tool}`, and the default is to deny");
                Err(Refusal { reason: Reason::new(Effect::Deny, text), decision: Decision::Deny })
            }
            (None, _) => Err(Refusal::ask(format!("no rule or tier covers `{tool}`"))),
        }
    }

    fn shell_permission(&self, cx: &CallContext<'_>, rules: &[&Rule], restricted: bool) -> Result<Reason, Refusal> {
        let unseen = cx.effects.unknowns.iter().find(|u| u.weight == Weight::Unseen);
        if let Some(part) = unseen {
            return Err(Refusal::ask(format!(
                "it contains characters that a person cannot see: `{}` ({})",
                part.text, part.kind
            )));
        }
        let blanket = rules.iter().rev().find(|r| {
            cx.of_tool(r) && r.path.is_none() && r.host.is_none() && r.command.as_ref().is_none_or(|c| c.any)
        });
        let tier = self.by_tier(cx);
        let wide = blanket.map(|r| by_rule(r, "allowed")).or(tier.as_ref().ok().cloned());
        if let Some(reason) = wide {
            let code = cx.effects.unknowns.iter().find(|u| u.weight == Weight::Code);
            return match code.filter(|_| restricted) {
                None => Ok(reason),
                Some(part) => {
                    let text = format!("`{}` may run anything ({}), including what is denied", part.text, part.kind);
                    Err(Refusal::ask(text))
                }
            };
        }
        let nothing = match tier {
            Err(refusal) => refusal,
            Ok(_) => Refusal::ask("no rule allows it"),
        };
        let mut by: Option<Reason> = None;
        for (i, command) in cx.effects.commands.iter().enumerate() {
            if command.role != Role::Runs {
                continue;
            }
            match self.command_allowed_by(cx, rules, i).or_else(|| self.named_with_wrapper(cx, rules, i)) {
                Some(reason) => by = Some(reason),
                None => {
                    let line = super::argv::display(&command.words);
                    return Err(
                        nothing.because(format!("no rule allows `{}`", line.chars().take(120).collect::<String>()))
                    );
                }
            }
        }
        for file in cx.effects.files.iter().filter(|f| f.own) {
            match rules.iter().rev().find(|r| cx.of_effects(r) && cx.file_fit(r, file) == Fit::Yes) {
                Some(_) => {}
                None => return Err(nothing.because(no_rule_for(file))),
            }
        }
        for part in &cx.effects.unknowns {
            let named = part.interpreter.is_some_and(|i| rules.iter().any(|r| self.names_interpreter(cx, r, i)));
            let word = part.option.is_some_and(|(i, at)| rules.iter().any(|r| names_word(cx, r, i, at)));
            let here = part.folder.as_ref().is_some_and(|folder| cx.is_here(folder));
            if !named && !word && !here {
                return Err(nothing.because(part.reason()));
            }
        }
        by.ok_or_else(|| nothing.because("it contains no command that a rule allows".to_owned()))
    }

    /// What allows one command, a rule or the built-in table: for grants, which cover the rest, and for explanations.
    pub(crate) fn command_allowed(&self, cx: &CallContext<'_>, index: usize) -> Option<Reason> {
        let rules: Vec<&Rule> = self.rules().filter(|r| r.effect == Effect::Allow && self.may_loosen(r, cx)).collect();
        self.command_allowed_by(cx, &rules, index)
    }

    fn command_allowed_by(&self, cx: &CallContext<'_>, rules: &[&Rule], index: usize) -> Option<Reason> {
        let words = &cx.effects.commands.get(index)?.words;
        let program = words.first()?.get()?;
        if program.split('/').any(|part| part == "..") {
            return None;
        }
        let mut renamed = words.clone();
        if let Some((name, _)) = self.programs().find(|(_, path)| *path == program)
            && let Some(first) = renamed.first_mut()
        {
            *first = super::argv::Word::known(name);
        }
        let fits = |r: &&&Rule| {
            let yes = |c: &CommandPattern| c.allows(words) || c.allows(&renamed);
            cx.of_tool(r) && r.path.is_none() && r.host.is_none() && r.command.as_ref().is_some_and(yes)
        };
        if let Some(rule) = rules.iter().rev().find(fits) {
            return Some(by_rule(rule, "allowed"));
        }
        let reads =
            self.read_only_shell(cx.context) && super::shell::readonly::only_reads(words, cx.context.workspace_trusted);
        reads.then(|| Reason::new(Effect::Allow, format!("`{program}` only reads")))
    }

    /// A rule that names a wrapper together with the program it starts covers that program too: `npx tsc:*`.
    fn named_with_wrapper(&self, cx: &CallContext<'_>, rules: &[&Rule], index: usize) -> Option<Reason> {
        let all = &cx.effects.commands;
        let inner = &all.get(index)?.words;
        let outer = &all.get(index.checked_sub(1)?)?.words;
        let from = outer.len().checked_sub(inner.len()).filter(|&from| from > 0 && outer.ends_with(inner))?;
        let base = super::argv::base_name(outer.first()?.get()?);
        if !super::shell::launchers::is_launcher(base) {
            return None;
        }
        let reaches = |c: &CommandPattern| c.literal().is_some_and(|(words, _)| words.len() > from) && c.allows(outer);
        let plain = |r: &&&Rule| cx.of_tool(r) && r.path.is_none() && r.host.is_none();
        let rule = rules.iter().rev().filter(plain).find(|r| r.command.as_ref().is_some_and(reaches))?;
        Some(by_rule(rule, "allowed"))
    }

    fn names_interpreter(&self, cx: &CallContext<'_>, rule: &Rule, index: usize) -> bool {
        let Some(words) = cx.effects.commands.get(index).map(|c| c.words.as_slice()) else { return false };
        let Some(program) = words.first().and_then(super::argv::Word::get) else { return false };
        // A rule that names more than the interpreter means that, and no code; one that names the code means the code.
        let wide = |c: &CommandPattern| c.len() == 1 || (c.len() >= words.len() && c.is_word_by_word());
        let names = |c: &CommandPattern| c.program() == Some(program) && wide(c) && c.allows(words);
        cx.of_tool(rule) && rule.command.as_ref().is_some_and(names)
    }
}

/// Whether an allow names a word of a command, and not only what stands before it, or allows it as an option.
fn names_word(cx: &CallContext<'_>, rule: &Rule, index: usize, at: usize) -> bool {
    let Some(words) = cx.effects.commands.get(index).map(|command| command.words.as_slice()) else { return false };
    let named = || rule.options.iter().any(|option| option.covers(words, at));
    let names = |pattern: &CommandPattern| (pattern.names(words, at) || named()) && pattern.allows(words);
    cx.of_tool(rule) && rule.command.as_ref().is_some_and(names)
}

/// Whether a text that may be a path leads out of the working folder.
fn is_elsewhere(text: &str) -> bool {
    text.starts_with(['/', '~', '$', '\\']) || text.split(['/', '\\']).any(|part| part == "..") || text.contains(':')
}

/// Why a call runs where the policy is off.
const OFF: &str = "the policy is off: only managed denies and the floor hold";

struct Outcome {
    decision: Decision,
    reasons: Vec<Reason>,
    floor: bool,
}

fn audited(tier: Option<PolicyTier>) -> Decision {
    if tier == Some(PolicyTier::ReadOnly) { Decision::Allow } else { Decision::AllowAudited }
}

pub(crate) fn by_rule(rule: &Rule, what: &str) -> Reason {
    let text = rule.why.as_ref().map_or_else(|| what.to_owned(), |why| format!("{what}: {why}"));
    Reason { effect: rule.effect, text, rule: Some(rule.text.clone()), place: Some(rule.place.clone()) }
}
