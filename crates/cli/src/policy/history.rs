//! `--history`: earlier calls, read from the records of an audit trail.

use clap::Args;
use toolfold::diagnostic::Place;
use toolfold::policy::audit::Sealed;
use toolfold::policy::{Context, EarlierCalls, Past, Policy};

use super::super::lines::{Lines, not_json};
use super::super::output::Failure;

/// Maximum number of records. They are all in memory while a call is evaluated.
const MAX_RECORDS: usize = 1_000_000;

#[derive(Debug, Args)]
pub(super) struct HistoryArgs {
    /// Audit records of the earlier calls, as `toolfold audit export` prints them, or `-`. The call
    /// is evaluated at the time of the last record
    #[arg(long, value_name = "FILE|-")]
    pub(super) history: Option<String>,

    /// The conversation of the call [default: that of the last record]
    #[arg(long, value_name = "ID", requires = "history")]
    session: Option<String>,

    /// The tenant of the call and of the earlier ones [default: the only one of the store]
    #[arg(long, value_name = "NAME", requires = "history")]
    tenant: Option<String>,
}

impl HistoryArgs {
    /// The earlier calls. Sets the conversation, the tenant and the time of the context.
    pub(super) fn read(&self, policy: &Policy, context: &mut Context) -> Result<Option<Past>, Failure> {
        let Some(file) = &self.history else { return Ok(None) };
        context.tenant = self.tenant.clone().unwrap_or_default();
        let (mut past, mut last) = (Past::default(), 0);
        let mut lines = Lines::open_lines(file)?;
        let mut count = 0;
        while let Some(line) = lines.next()? {
            let wrong = |why: String| {
                let help = "the file must contain the records of one store in their order: toolfold audit export";
                Failure::in_file("history", Place::file(file).line_column(line.number, 1), why).help(help)
            };
            let text = line.text.as_ref().map_err(|why| wrong(why.clone()))?;
            let record: Sealed = serde_json::from_str(text).map_err(|why| {
                wrong(if why.is_data() { format!("the line is not an audit record: {why}") } else { not_json(&why) })
            })?;
            if record.seq <= last {
                return Err(wrong(format!("record {} follows record {last}", record.seq)));
            }
            count += 1;
            if count > MAX_RECORDS {
                return Err(wrong(format!("more than {MAX_RECORDS} records")));
            }
            last = record.seq;
            past.add(policy, context, &record.entry);
        }
        context.session = self.session.clone().unwrap_or_else(|| past.session.clone());
        context.now_ms = past.time_ms;
        Ok(Some(past))
    }
}

/// The conditions on earlier calls with the calls that each counts, as lines of an explanation.
pub(super) fn earlier_lines(conditions: &[EarlierCalls]) -> Vec<String> {
    let mut lines = Vec::new();
    for condition in conditions {
        let why = condition.why.as_deref().unwrap_or("does not apply");
        lines.push(format!("{}: {why}", condition.rule));
        for call in &condition.calls {
            let state = match call.state {
                toolfold::policy::CallState::Ok => "succeeded",
                toolfold::policy::CallState::Failed => "failed",
                _ => "outcome unknown",
            };
            let time = super::super::clock::time(call.time_ms);
            lines.push(format!("  {time}  {}  {}  {}  {state}", call.session, call.call_id, call.tool));
        }
        let hidden = condition.count - condition.calls.len() as u64;
        if hidden > 0 {
            lines.push(format!("  and {hidden} older calls"));
        }
    }
    lines
}
