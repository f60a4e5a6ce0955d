//! Pins as text and JSON.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::store::PinFile;
use crate::output::{BAD, BOLD, DIM, GOOD};
use crate::table::table;
use toolfold::diagnostic::visible;
use toolfold_gateway::pins::{Definition, FIELDS, Pin};

/// How many different changes of one tool show that its text differs at each start.
const RESTLESS: u32 = 3;

/// What a person has to do about a tool; empty if nothing.
fn state(pin: &Pin) -> String {
    match (&pin.accepted, &pin.changed) {
        (None, _) => "new".to_owned(),
        (Some(_), Some(_)) if pin.changes >= RESTLESS => {
            format!("{} changed {} times", pin.waiting().join(", "), pin.changes)
        }
        (Some(_), Some(_)) => format!("{} changed", pin.waiting().join(", ")),
        (Some(_), None) => String::new(),
    }
}

pub(super) fn list(files: &[PinFile]) -> String {
    if files.is_empty() {
        return "no pinned servers: the gateway pins the tools that servers list first\n".to_owned();
    }
    let mut rows = Vec::new();
    for file in files {
        let server = visible(&file.server).into_owned();
        rows.push([server.clone(), format!("{} tools", file.pins.tools.len()), "pinned".to_owned()]);
        for (name, pin) in &file.pins.tools {
            let what = state(pin);
            if !what.is_empty() {
                rows.push([server.clone(), visible(name).into_owned(), what]);
            }
        }
    }
    table(["server", "tool", "state"], &rows)
}

/// What `pins list --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PinsAnswer {
    servers: Vec<PinnedServer>,
    /// The files that cannot be used.
    damaged: Vec<String>,
}

/// A server with its pinned tools.
#[derive(Debug, Serialize, JsonSchema)]
struct PinnedServer {
    server: String,
    /// Its command or address, as a digest binds the pins to it.
    identity: String,
    /// The file of the pins.
    file: String,
    tools: Vec<PinnedTool>,
}

/// A pinned tool.
#[derive(Debug, Serialize, JsonSchema)]
struct PinnedTool {
    name: String,
    /// `new`, `changed` or `accepted`.
    state: &'static str,
    /// The fields that wait for acceptance.
    fields: Vec<&'static str>,
    /// How many different definitions have differed from the accepted one.
    changes: u32,
    /// The fields whose changes do not matter.
    ignored: BTreeSet<String>,
    /// The accepted definition; null for a new tool.
    accepted: Option<Definition>,
    /// The definition that the server states instead; null if it states the accepted one.
    stated: Option<Definition>,
}

impl PinsAnswer {
    pub(super) fn new(files: &[PinFile], damaged: Vec<String>) -> Self {
        let tool = |(name, pin): (&String, &Pin)| PinnedTool {
            name: name.clone(),
            state: match (&pin.accepted, &pin.changed) {
                (None, _) => "new",
                (Some(_), Some(_)) => "changed",
                (Some(_), None) => "accepted",
            },
            fields: pin.waiting(),
            changes: pin.changes,
            ignored: pin.ignored.clone(),
            accepted: pin.accepted.clone(),
            stated: pin.changed.clone(),
        };
        let server = |file: &PinFile| PinnedServer {
            server: file.server.clone(),
            identity: file.identity.clone(),
            file: file.path.display().to_string(),
            tools: file.pins.tools.iter().map(tool).collect(),
        };
        Self { servers: files.iter().map(server).collect(), damaged }
    }
}

pub(super) fn differences(files: &[PinFile], tool: Option<&str>) -> String {
    let mut out = String::new();
    for file in files {
        for (name, pin) in &file.pins.tools {
            let Some(stated) = pin.changed.as_ref().filter(|_| tool.is_none_or(|tool| tool == name)) else { continue };
            let (server, name) = (visible(&file.server), visible(name));
            out.push_str(&format!("{BOLD}{name} of {server}: {}{BOLD:#}\n", state(pin)));
            let nothing = Definition::new();
            let accepted = pin.accepted.as_ref().unwrap_or(&nothing);
            for field in FIELDS.into_iter().filter(|field| accepted.get(*field) != stated.get(*field)) {
                let ignored = if pin.ignored.contains(field) { ", ignored" } else { "" };
                out.push_str(&format!("  {field}{ignored}\n"));
                out.push_str(&changed_lines(accepted.get(field), stated.get(field)));
            }
        }
    }
    if out.is_empty() { format!("{DIM}nothing has changed{DIM:#}\n") } else { out }
}

/// The lines that differ, without the equal ones at both ends.
fn changed_lines(before: Option<&Value>, after: Option<&Value>) -> String {
    let (before, after) = (lines(before), lines(after));
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let (before, after) = (before.get(same..).unwrap_or_default(), after.get(same..).unwrap_or_default());
    let same = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other).count();
    let mut out = String::new();
    for line in before.iter().take(before.len() - same) {
        out.push_str(&format!("    {BAD}- {line}{BAD:#}\n"));
    }
    for line in after.iter().take(after.len() - same) {
        out.push_str(&format!("    {GOOD}+ {line}{GOOD:#}\n"));
    }
    out
}

fn lines(value: Option<&Value>) -> Vec<String> {
    let text = match value {
        None => return Vec::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => format!("{value:#}"),
    };
    text.lines().map(|line| visible(line).into_owned()).collect()
}
