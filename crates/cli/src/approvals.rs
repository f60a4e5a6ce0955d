//! `toolfold approvals`: lists pending approvals and records a person's decision.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::approver_key::{InitArgs, KeyArgs, init};
use super::clock::{now_ms, time};
use super::layers::project_of;
use super::ledger::{ListArgs, OneArgs, failure, user};
use super::output::{BOLD, DIM, Failure, Outcome, emit, emit_json};
use super::table::{cut_for_list, table};
use crate::configuration::units::period_ms;
use toolfold::diagnostic::visible;
use toolfold::policy::gate::open;
use toolfold::policy::{
    Approval, ApprovalState, Approver, Bound, Effect, Gate, Grant, GrantScope, GrantTarget, Request, ToolCapability,
    compact,
};

#[derive(Debug, Subcommand)]
pub(super) enum ApprovalsCommand {
    /// List the pending approvals, oldest first.
    #[command(after_help = "\
Examples:
  toolfold approvals list
  toolfold approvals list --json      each with its arguments, effects and digest

Exit codes: 0 ok, even if none is pending; 3 no usable store.")]
    List(ListArgs),
    /// Create your approver key and register it in the store. Run this yourself, before an agent
    /// runs.
    #[command(after_help = "\
Examples:
  toolfold approvals init                              the key of the default store
  toolfold approvals init --store work.sqlite          the same key for another store
  toolfold approvals init --old-key old.key            replace the store's key

approve, reject and undo need this key in every process; a terminal proves nothing. The key is read
from its file only, never from the environment. No call that the policy judges may read or write
that file. Replacing the key of a store requires the old key.
Exit codes: 0 ok, 1 the store has another key, or the file cannot be used, 3 no usable store.")]
    Init(InitArgs),
    /// Approve once, or for a period.
    #[command(after_help = "\
Examples:
  toolfold approvals approve ap-12
  toolfold approvals approve ap-12 --for 15m        and allow the same call for 15 minutes
  toolfold approvals approve ap-12 --session        … in the session the call came from
  toolfold approvals approve ap-12 --project        … in the project the call came from
  toolfold approvals approve ap-12 --session --prefix 'git log'      … and every other `git log`

`approvals why` shows what would be remembered. Requires the key that `approvals init` created.
Exit codes: 0 approved, 1 no key, it is not pending or cannot be remembered, 2 usage, 3 no usable
store.")]
    #[command(visible_alias = "accept")]
    Approve(ApproveArgs),
    /// Reject. A rejection is final.
    #[command(after_help = "\
Examples:
  toolfold approvals reject ap-12
  toolfold approvals reject ap-12 'the file is still needed'      the model reads the reason

Requires the key that `approvals init` created.
Exit codes: 0 rejected, 1 no key, or it is not pending, 3 no usable store.")]
    Reject(RejectArgs),
    /// Show an approval with everything it is bound to.
    #[command(after_help = "\
Example:
  toolfold approvals why ap-12      what would run, its effects, and why it requires approval")]
    Why(OneArgs),
    /// Remove approvals that are no longer pending. The audit trail keeps every decision.
    #[command(after_help = "\
Examples:
  toolfold approvals purge                        those decided or expired 30 days ago
  toolfold approvals purge --older-than 12h

Exit codes: 0 ok, 2 usage, 3 no usable store.")]
    Purge(PurgeArgs),
}

#[derive(Debug, Args)]
pub(super) struct PurgeArgs {
    /// Minimum time since the decision or expiry: 90s, 15m, 12h, 30d
    #[arg(long, value_name = "TIME", value_parser = period_ms, default_value = "30d")]
    older_than: i64,
    #[command(flatten)]
    rest: ListArgs,
}

#[derive(Debug, Args)]
pub(super) struct ApproveArgs {
    #[command(flatten)]
    one: OneArgs,
    #[command(flatten)]
    key: KeyArgs,
    /// Remember it for a period: 90s, 15m, 8h, 7d
    #[arg(long = "for", value_name = "TIME", value_parser = period_ms, group = "remember")]
    for_ms: Option<i64>,
    /// Remember it for the session that the call came from
    #[arg(long, group = "remember")]
    session: bool,
    /// Remember it for the project that the call came from (the nearest folder with .git, else the
    /// working directory), or for the given one
    #[arg(long, value_name = "PROJECT", num_args = 0..=1, require_equals = true, group = "remember")]
    project: Option<Option<String>>,
    /// Remember every command that begins with these words, instead of this exact call
    #[arg(long, value_name = "WORDS", requires = "remember")]
    prefix: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct RejectArgs {
    #[command(flatten)]
    one: OneArgs,
    /// The reason, which the model reads
    reason: Option<String>,
    #[command(flatten)]
    key: KeyArgs,
}

/// What `toolfold approvals approve --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ApproveAnswer {
    /// The approved call.
    approval: Approval,
    /// What is remembered; empty if the call may run only once.
    remembered: Vec<Grant>,
}

/// What `toolfold approvals purge --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PurgeAnswer {
    /// The number of approvals that were removed.
    purged: usize,
}

pub(super) fn run_approvals(command: &ApprovalsCommand) -> Outcome {
    match command {
        ApprovalsCommand::List(args) => list_pending(args)?,
        ApprovalsCommand::Init(args) => init(args)?,
        ApprovalsCommand::Approve(args) => approve(args)?,
        ApprovalsCommand::Reject(args) => {
            let OneArgs { id, rest } = &args.one;
            let (_, approver) = handles(rest, &args.key)?;
            let rejected = approver.reject(id, args.reason.as_deref(), now_ms()).map_err(failure)?;
            if rest.json {
                emit_json(&rejected)?;
            } else {
                emit(&format!("rejected {}\n", approval_line(&rejected)))?;
            }
        }
        ApprovalsCommand::Purge(args) => purge(args)?,
        ApprovalsCommand::Why(args) => {
            let store = args.rest.store.to_read()?;
            // The store has the state of the last change; expiry is not a change.
            let approval = store.get(&args.id).map_err(failure)?.expired(store.now(now_ms()));
            if args.rest.json {
                emit_json(&approval)?;
            } else {
                emit(&approval_page(&approval, &args.rest.store.flag()))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The gate and the approver of the store. The approver acts for the user who has the key.
fn handles(rest: &ListArgs, key: &KeyArgs) -> Result<(Gate, Approver), Failure> {
    let store = rest.store.to_write()?;
    key.require(&*store, &rest.store.flag())?;
    let (gate, approver) = open(store);
    Ok((gate, approver.named(format!("{}, by toolfold approvals", user()))))
}

fn purge(args: &PurgeArgs) -> Result<(), Failure> {
    let store = args.rest.store.to_write()?;
    let now = store.now(now_ms());
    let removed = store.purge(now.saturating_sub(args.older_than), now).map_err(failure)?;
    if args.rest.json {
        return emit_json(&PurgeAnswer { purged: removed });
    }
    emit(&format!("removed {removed} approvals; the audit trail keeps its records\n"))
}

fn list_pending(args: &ListArgs) -> Result<(), Failure> {
    let pending = args.store.to_read()?.pending(now_ms()).map_err(failure)?;
    if args.json {
        return emit_json(&pending);
    }
    let Some(first) = pending.first() else { return emit("no pending approvals\n") };
    let mut rows = Vec::new();
    for approval in &pending {
        let [session, target] = [&approval.request.session, &approval.request.displayed.target];
        let [session, target] = [session, target].map(|text| visible(text).into_owned());
        rows.push([approval.id.clone(), time(approval.expires_ms), session, target, what(approval)]);
    }
    let (flag, id) = (args.store.flag(), &first.id);
    let next = format!("Next: toolfold approvals why {id}{flag}   (the details; then approve {id} or reject {id})\n");
    emit(&format!("{}\n{next}", table(["id", "until", "session", "tool", "what"], &rows)))
}

fn approve(args: &ApproveArgs) -> Result<(), Failure> {
    let OneArgs { id, rest } = &args.one;
    let (gate, approver) = handles(rest, &args.key)?;
    let now = gate.now(now_ms());
    let waiting = gate.get(id).map_err(failure)?;
    let scope =
        if waiting.state_at(now) == ApprovalState::Pending { grant_scope(args, &waiting.request)? } else { None };
    // A call that cannot be remembered is not approved either.
    let targets = targets(args, &waiting.request)?;
    let approved = approver.approve(id, now).map_err(failure)?;
    if !rest.json {
        let until = time(approved.expires_ms);
        emit(&format!("approved {}\n  {DIM}it may run once, until {until}{DIM:#}\n", approval_line(&approved)))?;
    }
    let mut remembered = Vec::new();
    for (target, scope) in targets.iter().zip(scope.iter().cycle()) {
        let request = &waiting.request;
        let mut grant = Grant::new(request.origin.clone(), &request.tool, target.clone(), scope.clone());
        (grant.source, grant.bound) = (format!("approvals approve {id}"), bound(args, request));
        grant.expires_ms = args.for_ms.map(|ms| now.saturating_add(ms));
        let grant = approver.remember(grant, now).map_err(failure)?;
        if !rest.json {
            let (line, id, flag) = (super::grants::grant_line(&grant), &grant.id, rest.store.flag());
            let back = format!("to revoke it: toolfold grants revoke {id}{flag}");
            emit(&format!("remembered {line}\n  {DIM}{back}{DIM:#}\n"))?;
        }
        remembered.push(grant);
    }
    if rest.json { emit_json(&ApproveAnswer { approval: approved, remembered }) } else { Ok(()) }
}

/// The scope in which the approval is remembered, if any. It is determined before the approval is
/// given: a call that cannot be remembered is not approved either.
fn grant_scope(args: &ApproveArgs, request: &Request) -> Result<Option<GrantScope>, Failure> {
    let id = &args.one.id;
    let scope = match (&args.project, args.for_ms, args.session) {
        (Some(Some(project)), ..) if project.trim().is_empty() => {
            return Err(Failure::usage("--project= does not name a project").help("omit the `=`, or name a project"));
        }
        (Some(Some(project)), ..) => GrantScope::Project(project.clone()),
        (Some(None), ..) => match &request.cwd {
            Some(cwd) => GrantScope::Project(project_of(cwd)),
            None => {
                return Err(
                    Failure::wrong(format!("`{id}` has no working directory")).help("name the project: --project=NAME")
                );
            }
        },
        // A prefix cannot be remembered for another project.
        (None, Some(_), _) if args.prefix.is_some() => match &request.cwd {
            Some(cwd) => GrantScope::Project(project_of(cwd)),
            None => return Err(Failure::wrong(format!("`{id}` has no working directory")).help("use --session")),
        },
        (None, Some(_), _) => GrantScope::Always,
        // Sessions without an id are indistinguishable: the approval would apply to all of them.
        (None, None, true) if request.session.is_empty() => {
            return Err(Failure::wrong(format!("`{id}` came from a session without an id"))
                .help("start sessions with --id, or use --for"));
        }
        (None, None, true) => GrantScope::Session(request.session.clone()),
        (None, None, false) => return Ok(None),
    };
    if request.displayed.remember.is_empty() && args.prefix.is_none() {
        let why = "this call can only be approved once: a part of it is unknown until it runs, or too broad";
        return Err(Failure::wrong(why)
            .help(format!("approve it once: toolfold approvals approve {id}{}", args.one.rest.store.flag())));
    }
    Ok(Some(scope))
}

/// What is remembered: this exact call, or the commands that begin with the given prefix.
fn targets(args: &ApproveArgs, request: &Request) -> Result<Vec<GrantTarget>, Failure> {
    let Some(prefix) = &args.prefix else { return Ok(offered(request).cloned().collect()) };
    let rule = compact(Effect::Allow, &format!("{}({}:*)", request.tool, prefix.trim()), |_| {
        let mut record = ToolCapability::default();
        record.command = Some("command".to_owned());
        Some(record)
    });
    let grant = rule.map_err(|why| Failure::usage(why.to_string())).and_then(|rule| {
        Grant::from_rule(&rule, "", GrantScope::Always, "").map_err(|why| Failure::wrong(why.to_string()))
    })?;
    let runs = format!("runs {}", prefix.split_whitespace().collect::<Vec<_>>().join(" "));
    let begins =
        |effect: &String| effect.strip_prefix(&runs).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    if !request.displayed.effects.iter().any(begins) {
        return Err(Failure::wrong(format!("no command of this call begins with `{}`", visible(prefix))));
    }
    Ok(vec![grant.target])
}

fn bound(args: &ApproveArgs, request: &Request) -> Bound {
    let mut bound = Bound::default();
    bound.schema_hash = Some(request.schema_hash.clone());
    bound.policy_version = Some(request.policy_version.clone());
    bound.cwd = request.cwd.clone().filter(|_| args.prefix.is_none());
    bound
}

/// The calls that can be remembered as they are.
fn offered(request: &Request) -> impl Iterator<Item = &GrantTarget> {
    request.displayed.remember.iter().filter(|target| matches!(target, GrantTarget::Arguments { .. }))
}

fn approval_line(approval: &Approval) -> String {
    format!("{BOLD}{}{BOLD:#}  {}  {}", approval.id, visible(&approval.request.displayed.target), what(approval))
}

fn what(approval: &Approval) -> String {
    let displayed = &approval.request.displayed;
    if displayed.effects.is_empty() {
        cut_for_list(&displayed.arguments)
    } else {
        cut_for_list(&displayed.effects.join("; "))
    }
}

fn approval_page(approval: &Approval, flag: &str) -> String {
    let (displayed, id) = (&approval.request.displayed, &approval.id);
    let mut out = format!("{BOLD}{id}{BOLD:#} {}\n", approval.state);
    let mut row = |name: &str, text: &str| out.push_str(&format!("{DIM}{name:<10}{DIM:#} {}\n", visible(text)));
    row("tool", &displayed.target);
    row("arguments", &displayed.arguments);
    for effect in &displayed.effects {
        row("effect", effect);
    }
    let why = if displayed.undo_why.is_empty() { String::new() } else { format!(": {}", displayed.undo_why) };
    row("undo", &format!("{}{why}", displayed.undo));
    for why in &displayed.why {
        row("why", why);
    }
    if approval.state == ApprovalState::Pending {
        for target in offered(&approval.request) {
            row("remember", &super::grants::grant_coverage(target));
        }
        if offered(&approval.request).next().is_none() {
            row("remember", "not possible: a part of it is unknown until it runs, or too broad");
        }
    }
    row("asked", &time(approval.created_ms));
    row("until", &time(approval.expires_ms));
    row("session", if approval.request.session.is_empty() { "without an id" } else { &approval.request.session });
    if let Some(cwd) = &approval.request.cwd {
        row("folder", cwd);
    }
    row("digest", &approval.digest);
    if let Some(by) = &approval.answered_by {
        row("answered", by);
    }
    if let Some(reason) = &approval.reason {
        row("reason", reason);
    }
    if approval.state == ApprovalState::Pending {
        out.push_str(&format!("\nNext: toolfold approvals approve {id}{flag}   (or reject {id}{flag} 'why not')\n"));
    }
    out
}
