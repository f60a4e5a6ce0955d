//! `toolfold undo`: restores what a call overwrote, changed, created or deleted.

mod edge;
mod folder;
mod objects;
mod restore;
mod scan;
mod state;

pub(super) use edge::Edge;
pub(super) use folder::folder_of;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use self::folder::{Folder, Snapshot};
use self::restore::{Did, Step, apply};
use self::scan::{Found, visible_path};
use self::state::{Standing, State, audited, standing};
use super::approver_key::KeyArgs;
use super::clock::{now_ms, time};
use super::ledger::{ListArgs, failure};
use super::output::{BOLD, DIM, Failure, Outcome, emit, emit_json};
use super::table::{cut_for_list, table};
use crate::configuration::units::size_text;
use toolfold::diagnostic::visible;
use toolfold::policy::audit::{Entry, Kind};

const AFTER_HELP: &str = "\
Examples:
  toolfold undo --list                 the calls that can be undone, newest first
  toolfold undo un-3 --dry-run         what would be restored and removed
  toolfold undo un-3                   the files as they were before that call
  toolfold undo call_7f --session c-42      the same by the call's own id, in session c-42

A file that has changed since the call is not overwritten. If a later call changed it, undo that
call first. --force overwrites it anyway, and is needed if the host did not report the call's
result. Nothing is written through a symbolic link. Undoing requires the key that `toolfold
approvals init` created; --list and --dry-run do not.
Exit codes: 0 undone, or listed; 1 no key, or it cannot be undone, and why; 2 usage; 3 no usable
store.";

/// Maximum number of paths that are listed.
const MOST_TOLD: usize = 40;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct UndoArgs {
    /// The call: the id of its snapshot as the list prints it, or its own id
    #[arg(required_unless_present = "list")]
    call: Option<String>,
    /// List the calls that have a snapshot, newest first
    #[arg(long, conflicts_with_all = ["call", "dry_run", "force"])]
    list: bool,
    /// Print what would be done, without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Also overwrite files that have changed since the call
    #[arg(long)]
    force: bool,
    /// Only calls of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    key: KeyArgs,
    #[command(flatten)]
    rest: ListArgs,
}

pub(super) fn run_undo(args: &UndoArgs) -> Outcome {
    match &args.call {
        Some(call) => undo(args, call)?,
        None => list_snapshots(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The snapshots that the arguments select, oldest first.
fn snapshots(args: &UndoArgs, folder: Option<&Folder>) -> Vec<Snapshot> {
    let mut all = folder.map(Folder::all_snapshots).unwrap_or_default();
    if let Some(session) = &args.session {
        all.retain(|snapshot| snapshot.session == *session);
    }
    all
}

fn list_snapshots(args: &UndoArgs) -> Result<(), Failure> {
    let path = args.rest.store.path()?;
    let known = audited(&*args.rest.store.to_read()?)?;
    let folder = Folder::of_store(&path).ok();
    let all = snapshots(args, folder.as_ref());
    let Some(folder) = folder.filter(|_| !all.is_empty()) else {
        return if args.rest.json { emit("[]\n") } else { emit("no call has a snapshot\n") };
    };
    let (mut values, mut rows, mut next) = (Vec::new(), Vec::new(), None);
    for (at, snapshot) in all.iter().enumerate().rev() {
        let standing = standing(&folder, snapshot, &known, all.get(at + 1..).unwrap_or_default());
        if matches!(standing.state, State::Ready | State::Partly) {
            next.get_or_insert(&snapshot.id);
        }
        values.push(snapshot_entry(snapshot, &standing));
        rows.push(snapshot_row(snapshot, &standing));
    }
    if args.rest.json {
        return emit_json(&UndoAnswer::Snapshots(values));
    }
    let headings = ["id", "time", "session", "call", "tool", "size", "state", "files"];
    let mut out = table(headings, &rows);
    if let Some(id) = next {
        let flag = args.rest.store.flag();
        out.push_str(&format!("\nNext: toolfold undo {id} --dry-run{flag}   "));
        out.push_str("(what would be done; then run it without --dry-run)\n");
    }
    emit(&out)
}

fn snapshot_row(snapshot: &Snapshot, standing: &Standing) -> [String; 8] {
    let seen = |text: &str| cut_for_list(text);
    let files: Vec<&str> = snapshot.roots.iter().map(|root| root.path.as_str()).collect();
    [
        snapshot.id.clone(),
        time(snapshot.time_ms),
        seen(&snapshot.session),
        seen(&snapshot.call),
        seen(&snapshot.tool),
        size_text(snapshot.bytes()),
        standing.state.state_text().to_owned(),
        seen(&files.join(", ")),
    ]
}

/// What `toolfold undo --json` prints: the snapshots, or what was restored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum UndoAnswer {
    /// Without a call: the snapshots, newest first.
    Snapshots(Vec<SnapshotRow>),
    /// With a call: what was restored or, with `--dry-run`, would be.
    Undone(Undone),
}

/// The files of a call as they were before it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SnapshotRow {
    id: String,
    session: String,
    call: String,
    tool: String,
    /// When it was made, in UTC.
    time: String,
    /// Its size in bytes.
    bytes: u64,
    state: State,
    /// Why it cannot be undone; `None` if it can.
    why: Option<String>,
    files: Vec<SnapshotFile>,
}

/// A path that the call declared.
#[derive(Debug, Serialize, JsonSchema)]
struct SnapshotFile {
    path: String,
    /// What was there: `file`, `folder`, `link` or `absent`.
    was: &'static str,
    /// The permission bits in octal, of a file or folder.
    mode: Option<String>,
}

/// An undone call.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Undone {
    /// The snapshot's id.
    undone: String,
    session: String,
    call: String,
    tool: String,
    /// Whether nothing was changed.
    dry_run: bool,
    /// Every path once.
    paths: Vec<Step>,
}

fn snapshot_entry(snapshot: &Snapshot, standing: &Standing) -> SnapshotRow {
    let file = |root: &scan::Root| {
        let (was, mode) = match snapshot.before.get(&root.path) {
            None => ("absent", None),
            Some(Found::File { mode, .. }) => ("file", Some(mode)),
            Some(Found::Folder { mode }) => ("folder", Some(mode)),
            Some(Found::Link { .. }) => ("link", None),
        };
        SnapshotFile { path: root.path.clone(), was, mode: mode.map(|mode| format!("{mode:04o}")) }
    };
    SnapshotRow {
        id: snapshot.id.clone(),
        session: snapshot.session.clone(),
        call: snapshot.call.clone(),
        tool: snapshot.tool.clone(),
        time: time(snapshot.time_ms),
        bytes: snapshot.bytes(),
        state: standing.state,
        why: Some(&standing.why).filter(|why| !why.is_empty()).cloned(),
        files: snapshot.roots.iter().map(file).collect(),
    }
}

fn undo(args: &UndoArgs, call: &str) -> Result<(), Failure> {
    let path = args.rest.store.path()?;
    let store = args.rest.store.to_write()?;
    let none = || {
        let known = "`toolfold undo --list` shows the calls that have a snapshot";
        Failure::wrong(format!("no snapshot belongs to a call `{}`", visible(call))).help(known)
    };
    let folder = Folder::of_store(&path).map_err(|_| none())?;
    let broken = |why: std::io::Error| Failure::unmeasured(format!("the snapshots cannot be used: {why}"));
    let _lock = folder.lock_folder().map_err(broken)?;
    let all = snapshots(args, Some(&folder));
    let at = find_snapshot(&all, call)?.ok_or_else(none)?;
    let (Some(snapshot), later) = (all.get(at), all.get(at + 1..).unwrap_or_default()) else { return Err(none()) };
    let mut snapshot = snapshot.clone();
    let Standing { state, plan, why } = standing(&folder, &snapshot, &audited(&*store)?, later);
    let id = snapshot.id.clone();
    let can = matches!(state, State::Ready | State::Partly | State::AsBefore);
    let forced = args.force && matches!(state, State::Changed | State::Running | State::Unreported);
    let Some(plan) = plan.filter(|_| can || forced) else {
        let failure = Failure::wrong(format!("`{id}` cannot be undone: {why}"));
        return Err(match help(state, &id, args) {
            Some(help) => failure.help(help),
            None => failure,
        });
    };
    if args.dry_run {
        return tell(args, &snapshot, &plan.steps);
    }
    args.key.require(&*store, &args.rest.store.flag())?;
    let record = |outcome: &str| {
        let mut entry = Entry::new(Kind::Undone, now_ms());
        entry.session.clone_from(&snapshot.session);
        entry.tool.clone_from(&snapshot.tool);
        entry.call_id.clone_from(&snapshot.call);
        entry.detail = json!({ "undone": id, "paths": plan.steps.len(), "forced": forced });
        entry.outcome = Some(outcome.to_owned());
        entry.undo = Some("snapshot".to_owned());
        store.record(&entry).map_err(failure)
    };
    // An undo that is not recorded is not carried out.
    record("begun")?;
    if let Err((done, why)) = apply(&folder, &snapshot, &plan.steps) {
        let total = plan.steps.len();
        record(&format!("failed after {done} of {total} paths"))?;
        return Err(Failure::wrong(format!("{why}; {done} of {total} paths were restored"))
            .help(format!("fix this, then `toolfold undo {id}` completes the rest")));
    }
    snapshot.undone_ms = Some(now_ms());
    folder.write_snapshot(&snapshot).map_err(broken)?;
    record("restored")?;
    tell(args, &snapshot, &plan.steps)
}

fn find_snapshot(all: &[Snapshot], call: &str) -> Result<Option<usize>, Failure> {
    if let Some(at) = all.iter().position(|snapshot| snapshot.id == call) {
        return Ok(Some(at));
    }
    let (mut found, mut ids) = (None, Vec::new());
    for (at, snapshot) in all.iter().enumerate() {
        if snapshot.call == call {
            found = Some(at);
            ids.push(snapshot.id.as_str());
        }
    }
    if ids.len() > 1 {
        let why = format!("`{}` is the id of {} calls: {}", visible(call), ids.len(), ids.join(", "));
        return Err(Failure::wrong(why).help("use the snapshot's id, as `toolfold undo --list` prints it"));
    }
    Ok(found)
}

fn help(state: State, id: &str, args: &UndoArgs) -> Option<String> {
    let flag = args.rest.store.flag();
    match state {
        State::Changed => Some(format!(
            "undo the later call first, or check what --force would overwrite: toolfold undo {id} --force --dry-run{flag}"
        )),
        State::Running | State::Unreported => {
            Some(format!("check what would be done: toolfold undo {id} --force --dry-run{flag}"))
        }
        State::Undone => Some("an undo cannot be undone: let the agent repeat the call".to_owned()),
        State::Unaudited => Some(format!("`toolfold audit verify{flag}` shows whether the audit trail is intact")),
        _ => None,
    }
}

fn tell(args: &UndoArgs, snapshot: &Snapshot, steps: &[Step]) -> Result<(), Failure> {
    // A path that is replaced by something else is printed once.
    let mut told: Vec<&Step> = Vec::new();
    for step in steps {
        if !told.iter().any(|other| other.path == step.path) {
            told.push(step);
        }
    }
    if args.rest.json {
        let Snapshot { id, session, call, tool, .. } = snapshot;
        let [undone, session, call, tool] = [id, session, call, tool].map(String::clone);
        let paths = told.into_iter().cloned().collect();
        return emit_json(&UndoAnswer::Undone(Undone { undone, session, call, tool, dry_run: args.dry_run, paths }));
    }
    let session =
        if snapshot.session.is_empty() { String::new() } else { format!(" of {}", visible(&snapshot.session)) };
    let (id, tool, call) = (&snapshot.id, visible(&snapshot.tool), visible(&snapshot.call));
    let said = if args.dry_run { "would undo" } else { "undone" };
    let mut out = format!("{said} {BOLD}{id}{BOLD:#}  {tool}  {DIM}{call}{session}{DIM:#}\n");
    for step in told.iter().take(MOST_TOLD) {
        let did = match (step.did, args.dry_run) {
            (Did::Restored, false) => "restored",
            (Did::Restored, true) => "restore",
            (Did::BroughtBack, false) => "brought back",
            (Did::BroughtBack, true) => "bring back",
            (Did::Removed, false) => "removed",
            (Did::Removed, true) => "remove",
        };
        out.push_str(&format!("  {did:<12}  {}\n", visible_path(Path::new(&step.path))));
    }
    if told.len() > MOST_TOLD {
        out.push_str(&format!("  … and {} more; --json lists them all\n", told.len() - MOST_TOLD));
    }
    if told.is_empty() {
        out.push_str("  nothing to restore: everything is as it was before the call\n");
    }
    emit(&out)
}
