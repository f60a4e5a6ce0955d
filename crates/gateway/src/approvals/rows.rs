//! The displayed form of an approval.

use serde::Serialize;
use toolfold::diagnostic::visible;
use toolfold::policy::{Approval, Displayed};

/// Maximum number of displayed approvals; the others are only counted.
const MAX_APPROVALS: usize = 50;
/// Maximum length of a call, in characters. A longer one cannot be approved here.
const MAX_SHOWN: usize = 64 * 1024;

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    digest: &'a str,
    created_ms: i64,
    expires_ms: i64,
    session: String,
    /// The tool with its provider.
    tool: String,
    target: String,
    arguments: String,
    effects: Vec<String>,
    undo: String,
    undo_why: String,
    why: Vec<String>,
    cwd: Option<String>,
    /// Whether the text is complete.
    whole: bool,
}

#[derive(Serialize)]
struct Rows<'a> {
    pending: usize,
    approvals: Vec<Row<'a>>,
    error: Option<String>,
}

/// Whether the page shows everything that an approval requires.
pub(super) fn is_whole(approval: &Approval) -> bool {
    let Displayed { target, arguments, effects, undo_why, why, .. } = &approval.request.displayed;
    let lines = effects.iter().chain(why).map(String::len).sum::<usize>();
    target.len() + arguments.len() + undo_why.len() + lines <= MAX_SHOWN
}

/// The pending approvals as JSON, oldest first.
pub(super) fn approvals(pending: Result<Vec<Approval>, String>) -> String {
    let (pending, error) = match pending {
        Ok(pending) => (pending, None),
        Err(why) => (Vec::new(), Some(visible(&why).into_owned())),
    };
    let approvals = pending.iter().take(MAX_APPROVALS).map(approval_row).collect();
    let rows = Rows { pending: pending.len(), approvals, error };
    serde_json::to_string(&rows).unwrap_or_else(|_| "null".to_owned())
}

fn approval_row(approval: &Approval) -> Row<'_> {
    let request = &approval.request;
    let shown = &request.displayed;
    let whole = is_whole(approval);
    let text = |text: &str| match text.char_indices().nth(1_000).filter(|_| !whole) {
        Some((end, _)) => format!("{}…", visible(text.get(..end).unwrap_or_default())),
        None => visible(text).into_owned(),
    };
    let lines =
        |lines: &[String]| lines.iter().take(if whole { usize::MAX } else { 20 }).map(|own| text(own)).collect();
    Row {
        id: &approval.id,
        digest: &approval.digest,
        created_ms: approval.created_ms,
        expires_ms: approval.expires_ms,
        session: text(&request.session),
        tool: text(&request.origin.identity(&request.tool)),
        target: text(&shown.target),
        arguments: text(&shown.arguments),
        effects: lines(&shown.effects),
        undo: text(&shown.undo),
        undo_why: text(&shown.undo_why),
        why: lines(&shown.why),
        cwd: request.cwd.as_deref().map(text),
        whole,
    }
}
