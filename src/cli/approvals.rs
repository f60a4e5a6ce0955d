//! `toolfold approvals`: what waits for a person, and the person's answer.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::ledger::{StoreArgs, failure, now_ms, time};
use super::output::{BOLD, DIM, Failure, Outcome, emit, emit_json};
use crate::diagnostic::visible;
use crate::policy::gate::open;
use crate::policy::{Approval, ApprovalStore, Grant, Holds};

/// See and answer what waits for a person.
#[derive(Debug, Subcommand)]
pub(super) enum ApprovalsCommand {
    /// What waits, oldest first.
    List(ListArgs),
    /// Say yes, once; or also for a while.
    #[command(after_help = "\
Examples:
  toolfold approvals accept ap-12
  toolfold approvals accept ap-12 --for 15m        and do not ask for the same again for 15 minutes
  toolfold approvals accept ap-12 --session        and do not ask for the same again in this session")]
    Accept(AcceptArgs),
    /// Say no. It is final.
    Reject(RejectArgs),
    /// Show one with everything it is bound to.
    Why(WhyArgs),
}

/// Where to look.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// What to accept.
#[derive(Debug, Args)]
pub(super) struct AcceptArgs {
    /// The approval's id
    id: String,
    /// Remember it for a time: 90s, 15m, 8h, 7d
    #[arg(long = "for", value_name = "TIME", value_parser = duration_ms, group = "remember")]
    for_ms: Option<i64>,
    /// Remember it for the session it came from
    #[arg(long, group = "remember")]
    session: bool,
    /// Remember it for a project, by the project's name
    #[arg(long, value_name = "PROJECT", group = "remember")]
    project: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

/// What to reject.
#[derive(Debug, Args)]
pub(super) struct RejectArgs {
    /// The approval's id
    id: String,
    /// Why: the model reads it
    reason: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

/// What to show.
#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// The approval's id
    id: String,
    #[command(flatten)]
    store: StoreArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: &ApprovalsCommand) -> Outcome {
    match command {
        ApprovalsCommand::List(args) => {
            let pending = args.store.to_read()?.pending(now_ms()).map_err(failure)?;
            if args.json {
                emit_json(&pending)?;
            } else {
                emit(&pending.iter().map(|approval| line(approval) + "\n").collect::<String>())?;
            }
        }
        ApprovalsCommand::Accept(args) => accept(args)?,
        ApprovalsCommand::Reject(args) => {
            let (_, approver) = open(Arc::new(args.store.to_write()?));
            let rejected = approver.reject(&args.id, args.reason.as_deref(), now_ms()).map_err(failure)?;
            emit(&format!("rejected {}\n", line(&rejected)))?;
        }
        ApprovalsCommand::Why(args) => {
            let approval = args.store.to_read()?.get(&args.id).map_err(failure)?;
            if args.json {
                emit_json(&approval)?;
            } else {
                emit(&page(&approval))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn accept(args: &AcceptArgs) -> Result<(), Failure> {
    let now = now_ms();
    let (gate, approver) = open(Arc::new(args.store.to_write()?));
    let request = gate.get(&args.id).map_err(failure)?.request;
    let remember = args.for_ms.is_some() || args.session || args.project.is_some();
    if remember && request.shown.remember.is_empty() {
        return Err(Failure::wrong(
            "this call can only be approved once: a part of it is only known when it runs, or too wide",
        ));
    }
    let accepted = approver.accept(&args.id, now).map_err(failure)?;
    let mut out = format!("accepted {}\n", line(&accepted));
    // The narrowest that was offered: for a shell all of its commands, for others exactly these arguments.
    let is_command = |what: &&crate::policy::What| matches!(what, crate::policy::What::Command { .. });
    let commands = request.shown.remember.iter().filter(is_command).count();
    let offered = request.shown.remember.iter().take(commands.max(1));
    for what in offered.filter(|_| remember) {
        let holds = match (&args.project, args.for_ms) {
            (Some(project), _) => Holds::Project(project.clone()),
            (None, Some(_)) => Holds::Always,
            (None, None) => Holds::Session(request.session.clone()),
        };
        let grant = Grant {
            id: String::new(),
            origin: request.origin.clone(),
            tool: request.tool.clone(),
            what: what.clone(),
            holds,
            expires_ms: args.for_ms.map(|ms| now.saturating_add(ms)),
            source: format!("approvals accept {}", args.id),
        };
        let grant = approver.remember(grant, now).map_err(failure)?;
        out.push_str(&format!("remembered {}\n", super::grants::line(&grant)));
    }
    emit(&out)
}

fn line(approval: &Approval) -> String {
    let shown = &approval.request.shown;
    let what = if shown.effects.is_empty() { shown.arguments.clone() } else { shown.effects.join("; ") };
    let what: String = visible(&what).chars().take(160).collect();
    format!(
        "{BOLD}{}{BOLD:#}  {}  {what}  {DIM}until {}{DIM:#}",
        approval.id,
        visible(&shown.target),
        time(approval.expires_ms)
    )
}

fn page(approval: &Approval) -> String {
    let shown = &approval.request.shown;
    let mut out = format!("{BOLD}{}{BOLD:#} {}\n", approval.id, approval.state);
    let mut row = |name: &str, text: &str| out.push_str(&format!("{DIM}{name:<10}{DIM:#} {}\n", visible(text)));
    row("tool", &shown.target);
    row("arguments", &shown.arguments);
    shown.effects.iter().for_each(|effect| row("effect", effect));
    row("undo", &shown.undo);
    shown.why.iter().for_each(|why| row("why", why));
    row("asked", &time(approval.created_ms));
    row("until", &time(approval.expires_ms));
    row("session", &approval.request.session);
    row("digest", &approval.digest);
    approval.reason.iter().for_each(|reason| row("reason", reason));
    out
}

/// `90s`, `15m`, `8h`, `7d` in milliseconds.
fn duration_ms(text: &str) -> Result<i64, String> {
    let help = || "write 90s, 15m, 8h or 7d".to_owned();
    let unit = text.chars().last().ok_or_else(help)?;
    let each = match unit {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return Err(help()),
    };
    let count: i64 = text.trim_end_matches(unit).parse().map_err(|_| help())?;
    if count > 0 { count.checked_mul(each).ok_or_else(help) } else { Err(help()) }
}
