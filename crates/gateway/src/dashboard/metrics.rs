//! The dashboard's metrics in Prometheus' text format.

use std::fmt::Write as _;

use super::state::{KINDS, State};

/// All metrics. Writing to a string cannot fail.
pub(super) fn metrics_text(state: &State, pending: Option<usize>) -> String {
    let mut out = Metrics(String::new());
    out.one("build_info", "gauge", "The running version.", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    out.one("conversations_total", "counter", "Conversations since the start of the gateway.", &[], {
        state.totals.conversations
    });
    out.one("conversations_open", "gauge", "Open conversations.", &[], state.totals.open);
    out.write_head("calls_total", "counter", "Calls that servers answered, by policy verdict and outcome.");
    for ((server, tool), own) in &state.tools {
        for ((verdict, ok), calls) in &own.calls {
            let outcome = if *ok { "ok" } else { "error" };
            let labels = [("server", server.as_str()), ("tool", tool), ("verdict", verdict), ("outcome", outcome)];
            out.sample("calls_total", &labels, *calls);
        }
    }
    out.write_head("call_duration_seconds", "histogram", "Time that servers took to answer calls.");
    for ((server, tool), own) in &state.tools {
        let (of_server, of_tool) = (("server", server.as_str()), ("tool", tool.as_str()));
        let of = [of_server, of_tool];
        for (bound, calls) in own.took.cumulative() {
            let le = seconds(bound);
            out.sample("call_duration_seconds_bucket", &[of_server, of_tool, ("le", &le)], calls);
        }
        out.sample("call_duration_seconds_bucket", &[of_server, of_tool, ("le", "+Inf")], own.took.count);
        out.sample("call_duration_seconds_sum", &of, own.took.sum.as_secs_f64());
        out.sample("call_duration_seconds_count", &of, own.took.count);
    }
    let count = |kinds: &[&str]| kinds.iter().filter_map(|kind| state.totals.answers.get(kind)).sum::<u64>();
    let repairs = ["invalid", "shown", "unknown_tool"];
    out.one("expansions_total", "counter", "Calls of expand_tools.", &[], count(&["expanded"]));
    out.one("repairs_total", "counter", "Calls answered with an explanation of their errors.", &[], count(&repairs));
    out.one("refusals_total", "counter", "Calls that policy denied.", &[], count(&["refused"]));
    out.one("result_reads_total", "counter", "Calls of read_result.", &[], count(&["read"]));
    out.write_head("large_results_total", "counter", "Results longer than the setting allows, by what became of them.");
    for ((server, tool), own) in &state.tools {
        for (outcome, results) in [("shortened", own.large.shortened), ("left_alone", own.large.left_alone)] {
            if results > 0 {
                let labels = [("server", server.as_str()), ("tool", tool), ("outcome", outcome)];
                out.sample("large_results_total", &labels, results);
            }
        }
    }
    let saved = state.totals.saved_tokens;
    out.one("result_tokens_saved_total", "counter", "Tokens of results that were not sent.", &[], saved);
    out.write_head("answers_total", "counter", "Calls that the gateway answered itself, by kind.");
    for kind in KINDS {
        out.sample("answers_total", &[("kind", kind)], count(&[kind]));
    }
    out.one("approvals_asked_total", "counter", "Calls that required approval.", &[], state.totals.waited);
    if let Some(pending) = pending {
        out.one("approvals_pending", "gauge", "Unanswered approvals in the store.", &[], pending);
    }
    out.write_head("server_up", "gauge", "Whether the server is up in all conversations that use it.");
    for (server, own) in &state.servers {
        if let Some(up) = own.is_up() {
            out.sample("server_up", &[("server", server)], u8::from(up));
        }
    }
    out.write_head(
        "server_failures_total",
        "counter",
        "Number of times that the server ended or could not be started.",
    );
    for (server, own) in &state.servers {
        out.sample("server_failures_total", &[("server", server)], own.failures);
    }
    out.write_head("server_restarts_total", "counter", "Number of times that the server was restarted.");
    for (server, own) in &state.servers {
        out.sample("server_restarts_total", &[("server", server)], own.restarts);
    }
    out.0
}

struct Metrics(String);

impl Metrics {
    fn write_head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP toolfold_gateway_{name} {help}\n# TYPE toolfold_gateway_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "toolfold_gateway_{name}{labels} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.write_head(name, kind, help);
        self.sample(name, labels, value);
    }
}

/// A label's value with the format's three escapes. Invisible characters are already visible.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A bound in seconds, without a needless fraction: `0.005`, `1`, `2.5`.
fn seconds(ms: u64) -> String {
    let text = format!("{}.{:03}", ms / 1_000, ms % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
