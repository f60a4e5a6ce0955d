//! The doctor's report as text: problems first, then one line for each healthy server.

use std::collections::BTreeSet;

use super::super::output::{BOLD, DIM, GOOD, grouped};
use super::doctor::{Report, ServerReport};
use super::probe::{LeftOut, Renamed};
use toolfold::diagnostic::visible;

/// Maximum number of names that are listed; the rest is counted.
const NAMES: usize = 8;

pub(super) fn doctor_page(report: &Report) -> String {
    let mut problems = problems(report);
    let (down, up): (Vec<&ServerReport>, Vec<&ServerReport>) = report.servers.iter().partition(|own| !own.up);
    let faults = report.faults.len() + report.policy.faults.len();
    let wrong =
        if faults == 0 { String::new() } else { format!("; {faults} problem{} with the configuration", s(faults)) };
    let verdict = match (down.len() + report.unusable.len(), up.len()) {
        (0, up) => format!("{up} server{} up", s(up)),
        (down, up) => format!("{down} server{} down, {up} up", s(down)),
    };
    let mut out = format!("{BOLD}{verdict}{wrong}{BOLD:#}\n");
    let indented = problems.drain(..).map(|problem| format!("  {problem}\n")).collect::<String>();
    if !indented.is_empty() {
        out.push_str(&format!("\n{indented}"));
    }
    if !up.is_empty() {
        out.push('\n');
    }
    for server in up {
        out.push_str(&healthy(server));
    }
    out.push_str(&seen_by_client(report));
    out
}

fn problems(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    for server in report.servers.iter().filter(|own| !own.up) {
        let why = server.why.as_deref().unwrap_or("it is not there");
        let after = server.ms.map_or_else(String::new, |ms| format!(" (after {ms} ms)"));
        let kind = if server.wants_login { "login" } else { "down" };
        found.push(format!("{kind:<9} {}: {}{after}", visible(&server.name), visible(why)));
    }
    for why in &report.unusable {
        found.push(format!("down      {}", visible(why)));
    }
    for fault in &report.faults {
        found.push(format!("refused   {fault}"));
    }
    for fault in &report.policy.faults {
        found.push(format!("policy    {fault}"));
    }
    for what in &report.unmatched {
        found.push(format!("no tool   {what}"));
    }
    let missing: BTreeSet<String> = report.servers.iter().flat_map(|own| own.not_passed.clone()).collect();
    if !missing.is_empty() {
        let lacking = report.servers.iter().filter(|own| !own.not_passed.is_empty());
        let servers: Vec<String> = lacking.map(|own| own.name.clone()).collect();
        let missing = some_names(&missing.into_iter().collect::<Vec<_>>());
        let help = "if a server needs one, add it to `inherit` of its table in [gateway.server]";
        found.push(format!("env       {missing}: set here, but not passed to {}; {help}", some_names(&servers)));
    }
    for server in &report.servers {
        let Some((tool, bytes)) = server.large_results.iter().max_by_key(|(_, bytes)| **bytes) else { continue };
        let (name, tools) = (visible(&server.name), server.large_results.len());
        found.push(format!(
            "large     results of {tools} tool{} of {name}, up to {} bytes of text ({}); shorten them with --max-result, \
             or `max_result` of its table in [gateway.server]",
            s(tools),
            grouped(*bytes),
            visible(tool),
        ));
    }
    if !report.policy.configured {
        let help = "write one with `toolfold policy new`, and name it in [policy] or with --policy";
        found.push(format!("policy    none: no call is denied or requires approval; {help}"));
    }
    for record in &report.policy.plain_records {
        found.push(format!("policy    {record}"));
    }
    let refused = &report.policy.refused;
    if !refused.is_empty() {
        found.push(format!("refused   {}: denied for all arguments, so they are not shown", some_names(refused)));
    }
    let asked = &report.policy.without_record;
    if !asked.is_empty() {
        let help = "give them a tier: [tool.\"mcp:server/name\"]";
        found.push(format!("no record {}: every call requires approval; {help}", some_names(asked)));
    }
    let (asked, renamed): (Vec<&Renamed>, Vec<&Renamed>) = report.renamed.iter().partition(|own| own.asked);
    for own in renamed {
        let (tool, server, shown) = (visible(&own.tool), visible(&own.server), visible(&own.shown));
        found.push(format!("renamed   {tool} of {server}: shown as {shown}, since {}", visible(&own.why)));
    }
    if !asked.is_empty() {
        let prefixed: Vec<String> = asked.iter().map(|own| own.shown.clone()).collect();
        found.push(format!("renamed   {}: --namespace prefixes every name", some_names(&prefixed)));
    }
    for LeftOut { server, tool, why } in &report.left_out {
        let tool = if tool.is_empty() { "a tool".into() } else { visible(tool) };
        found.push(format!("left out  {tool} of {}: {}", visible(server), visible(why)));
    }
    for server in report.servers.iter().filter(|own| own.up && own.left_out > 0) {
        let (name, left_out, tools) = (visible(&server.name), server.left_out, server.tools);
        found.push(format!(
            "left out  {left_out} of {tools} tools of {name} in total, by include and exclude or as listed above"
        ));
    }
    found
}

fn healthy(server: &ServerReport) -> String {
    let ServerReport { name, ms, protocol, tools, tokens, trust, .. } = server;
    let ms = ms.map_or_else(String::new, |ms| format!(" in {ms} ms"));
    let protocol = protocol.as_deref().map_or_else(String::new, |own| format!(", {}", visible(own)));
    let trust = if *trust == "unstated" { String::new() } else { format!(", {trust}") };
    let (name, tools, tokens) = (visible(name), grouped(*tools), figure(*tokens));
    format!("  {GOOD}up{GOOD:#}        {name}{ms}{protocol}, {tools} tools, {tokens}{trust}\n")
}

fn seen_by_client(report: &Report) -> String {
    let client = &report.client;
    let mut out = String::new();
    let Some(shown) = &report.shown else {
        return "\nThe client sees no tools.\n".to_owned();
    };
    let (entries, tokens, full) = (shown.entries, figure(shown.tokens), figure(shown.full_tokens));
    let title = if client.name == "generic" { "A client" } else { client.title.as_str() };
    out.push_str(&format!("\n{BOLD}{title} sees {entries} tools, {tokens}{BOLD:#}; all of them in full: {full}\n"));
    let reason = client.left_alone.as_deref().unwrap_or(&shown.reason);
    out.push_str(&format!("  arm {}: {reason}\n", shown.arm));
    if client.left_alone.is_some() {
        let sure = if client.verified { "" } else { ", not verified" };
        out.push_str(&format!("  {DIM}{} ({}{sure}){DIM:#}\n", client.source, client.date));
    }
    out.push_str(&format!("  {DIM}counted with {}{DIM:#}\n", report.meter));
    out
}

fn figure(tokens: Option<usize>) -> String {
    tokens.map_or_else(|| "tokens not countable".to_owned(), |own| format!("{} tokens", grouped(own)))
}

fn some_names(all: &[String]) -> String {
    let shown: Vec<String> = all.iter().take(NAMES).map(|own| visible(own).into_owned()).collect();
    let more = all.len().saturating_sub(NAMES);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

fn s(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
