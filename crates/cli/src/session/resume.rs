//! Resumes a conversation from its log.

use super::super::output::{Failure, say_all, warn};
use super::super::presented::Presented;
use super::log_file::{StoredRecord, checked};
use crate::configuration::{Config, Origin, keys};
use toolfold::conversation::{Conversation, Event, LogRecord};
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold::profile::Delivery;

/// The conversation that the records of a log describe, with those records. `config`: the settings
/// that must not conflict with the log; `None` if they are only those of new conversations.
pub(super) fn resume(
    name: &str,
    kept: Vec<StoredRecord>,
    presented: &Presented,
    config: Option<&Config>,
) -> Result<(Conversation, Vec<LogRecord>), Failure> {
    let (first, last) = (kept.first().map_or(1, |kept| kept.line), kept.last().map_or(1, |kept| kept.line));
    let place = |line| Place::file(name).line_column(line, 1);
    let records = checked(name, kept)?;
    let mut conversation = presented.engine.replay(&records).map_err(|why| {
        let why = Diagnostic::error("log-unfit", place(first), format!("the conversation cannot be resumed: {why}"));
        Failure::bad(vec![why.help("use its original tools, profile and wire, or another --id")])
    })?;
    let id = visible(conversation.id()).into_owned();
    let mut noticed = match config {
        Some(config) => conflicts(config, &conversation, &place(first))?,
        None => Vec::new(),
    };
    if has_other_tools(&records, &mut conversation) {
        let why = format!("the tools of `{id}` differ from those that its model was last shown");
        let why = Diagnostic::warning("tools-changed", place(last), why);
        noticed.push(why.help("tools, profile, skills or policy have changed: send the new array"));
    }
    let waiting = conversation.pending().count();
    if waiting > 0 && presented.engine.policy().is_none() {
        let why = format!("{waiting} calls of `{id}` wait for approval, and policy is off: they cannot be resumed");
        noticed.push(Diagnostic::warning("no-policy", place(last), why).help("add --policy and the same --store"));
    }
    say_all(&noticed);
    warn(&format!("resumed `{id}` from {}: {} records, arm {}", visible(name), records.len(), conversation.arm()));
    Ok((conversation, records))
}

/// The settings of files that a resumed conversation does not use.
///
/// # Errors
/// An option of the command line conflicts with the log.
fn conflicts(config: &Config, conversation: &Conversation, place: &Place) -> Result<Vec<Diagnostic>, Failure> {
    let id = visible(conversation.id());
    let logged = [
        (&keys::presentation::ARM, conversation.arm().to_string()),
        (&keys::presentation::WIRE, conversation.wire().to_string()),
        (&keys::presentation::MODEL, conversation.model().unwrap_or("").to_owned()),
    ];
    let mut noticed = Vec::new();
    for (key, logged) in logged {
        let (wanted, origin) = (config.value_text(key), config.origin(key));
        if wanted.is_empty() || wanted == logged || wanted == "auto" {
            continue;
        }
        let what = key.name.rsplit('.').next().unwrap_or(key.name);
        let logged = if logged.is_empty() { "none".to_owned() } else { logged };
        match origin {
            Origin::Flag(flag) => {
                let why = format!("{flag} {wanted}: the conversation `{id}` has {what} {logged}, see {place}");
                return Err(Failure::usage(why).help(format!("omit {flag}, or use another --id")));
            }
            Origin::Default => {}
            other => {
                let why = format!("{what} {wanted} ({other}) is not used: `{id}` has {what} {logged}");
                noticed.push(Diagnostic::warning("log-wins", place.clone(), why));
            }
        }
    }
    Ok(noticed)
}

/// Whether the array differs from the one last shown to the model. In an arm that expands in place,
/// an expansion since then changes it, too.
fn has_other_tools(records: &[LogRecord], conversation: &mut Conversation) -> bool {
    let mut shown = None;
    for record in records {
        match &record.event {
            Event::Presented { digest } => shown = Some(digest),
            Event::Expanded { .. } | Event::Dropped { .. } if conversation.arm().delivery() == Delivery::InPlace => {
                shown = None;
            }
            _ => {}
        }
    }
    shown.is_some_and(|digest| *digest != conversation.digest())
}
