//! Reads the calls in records of toolfold's own event log.

use serde_json::Value;
use toolfold::conversation::{Event, LOG_VERSION, LogRecord, OLDEST_LOG_VERSION};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// A conversation began.
    Began,
    /// A tool was called, by its catalog name or as the model wrote it.
    Called {
        id: String,
        name: String,
    },
    Meta,
    Nothing,
}

/// The conversation and the content of a record, or why the value is not a record.
pub(super) fn read_record(value: &Value) -> Result<(String, Said), String> {
    let version = value.get("v").and_then(Value::as_u64);
    let supported = u64::from(OLDEST_LOG_VERSION)..=u64::from(LOG_VERSION);
    if !version.is_some_and(|version| supported.contains(&version)) {
        let found = version.map_or_else(|| "unknown".to_owned(), |version| version.to_string());
        return Err(format!("unsupported record version {found}; expected {OLDEST_LOG_VERSION} to {LOG_VERSION}"));
    }
    let record: LogRecord = serde::Deserialize::deserialize(value).map_err(|_| "not a log record".to_owned())?;
    let said = match record.event {
        Event::Started { .. } | Event::Forked { .. } => Said::Began,
        Event::Called { meta: true, .. } => Said::Meta,
        // A name without a matching tool is stored as the model wrote it.
        Event::Called { id, target, .. } => Said::Called { id: id.as_str().to_owned(), name: target },
        _ => Said::Nothing,
    };
    Ok((record.conversation, said))
}
