//! The log of the gateway.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use super::super::output::warn;
use crate::disk;

/// The variable that sets the levels: `debug`, or `toolfold_gateway=debug,rmcp=warn`.
const LEVELS: &str = "TOOLFOLD_LOG";

/// Logs to standard error, at the levels of `TOOLFOLD_LOG` or else the gateway's warnings.
pub(super) fn start_log() {
    let usual = || Targets::new().with_target("toolfold_gateway", LevelFilter::WARN);
    let filter = match disk::variable(LEVELS).map(|text| text.parse::<Targets>()) {
        Some(Ok(filter)) => filter,
        Some(Err(why)) => {
            warn(&format!("{LEVELS} is ignored: {why}; write a level, or targets with theirs: toolfold_gateway=debug"));
            usual()
        }
        None => usual(),
    };
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_filter(filter);
    // A subscriber that the host has installed stays.
    drop(tracing_subscriber::registry().with(lines).try_init());
}
