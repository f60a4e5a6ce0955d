use std::time::Duration;

use serde_json::Value;
use toolfold::profile::Arm;

use super::*;

fn dashboard() -> Dashboard {
    Dashboard::new(["files"], Some(Meter::new("bytes", str::len)), || 1_700_000_000_000)
}

fn called<'o>(server: &'o str, tool: &'o str, ok: bool) -> Observed<'o> {
    Observed::Called { server, tool, verdict: "allow", took: Duration::from_millis(7), ok, bytes: 0 }
}

fn all(dashboard: &Dashboard) -> Value {
    serde_json::from_str(&dashboard.since(0).1).unwrap()
}

#[test]
fn a_conversation_is_shown_from_start_to_end() {
    let dashboard = dashboard();
    let tell = |what: &Observed<'_>| dashboard.on_event("gateway/1", what);
    tell(&Observed::Began);
    tell(&Observed::Client { name: "claude", version: "2" });
    tell(&Observed::Server { name: "files", down: None });
    tell(&Observed::Shown { arm: Arm::Stable, reason: "many tools", tools: 40, list: "[1]", full: "[1,2,3]" });
    tell(&Observed::Answered { name: "expand_tools", kind: "expanded" });
    tell(&called("files", "read", true));
    tell(&called("files", "read", false));
    tell(&Observed::Waits { server: "files", name: "delete", approval: "ap-1" });
    let seen = all(&dashboard);
    let own = &seen["conversations"][0];
    assert_eq!((own["client"].as_str(), own["arm"].as_str()), (Some("claude 2"), Some("stable")));
    assert_eq!((own["list"]["tokens"].as_u64(), own["full"]["tokens"].as_u64()), (Some(3), Some(7)));
    assert_eq!((own["calls"].as_u64(), own["failed"].as_u64(), own["waited"].as_u64()), (Some(2), Some(1), Some(1)));
    assert_eq!(own["answers"]["expanded"], 1);
    assert_eq!(seen["recent"].as_array().unwrap().len(), 4);
    assert_eq!(seen["tools"][0]["failed"], 1);
    assert_eq!(seen["servers"][0]["up"], 1);
    tell(&Observed::Ended);
    let seen = all(&dashboard);
    assert!(seen["conversations"][0]["ended_ms"].is_i64());
    assert_eq!((seen["totals"]["open"].as_u64(), seen["servers"][0]["up"].as_u64()), (Some(0), Some(0)));
}

#[test]
fn large_results_and_tools_that_differ_from_pins_are_shown() {
    let dashboard = dashboard();
    let tell = |what: &Observed<'_>| dashboard.on_event("gateway/1", what);
    let call = |bytes| Observed::Called {
        server: "files",
        tool: "read",
        verdict: "allow",
        took: Duration::from_millis(7),
        ok: true,
        bytes,
    };
    [0, 90_000, 50_000].into_iter().for_each(|bytes| tell(&call(bytes)));
    tell(&Observed::Large { server: "files", tool: "read", tokens: 9_000, left: 1_000 });
    tell(&Observed::Large { server: "files", tool: "read", tokens: 7_000, left: 7_000 });
    tell(&Observed::Withheld { server: "files", tools: &[("write", "its description has changed")] });
    let seen = all(&dashboard);
    let large = serde_json::json!({"most_bytes": 90_000, "shortened": 1, "saved_tokens": 8_000, "left_alone": 1});
    assert_eq!((&seen["tools"][0]["large"], &seen["totals"]["saved_tokens"]), (&large, &large["saved_tokens"]));
    assert_eq!(seen["servers"][0]["withheld"], 1);
    assert_eq!(seen["servers"][0]["withheld_tools"][0][0], "write");
    let metrics = dashboard.metrics(None);
    assert!(
        metrics.contains("large_results_total{server=\"files\",tool=\"read\",outcome=\"left_alone\"} 1\n"),
        "{metrics}"
    );
    assert!(metrics.contains("toolfold_gateway_result_tokens_saved_total 8000\n"), "{metrics}");
    tell(&Observed::Withheld { server: "files", tools: &[] });
    assert_eq!(all(&dashboard)["servers"][0]["withheld"], 0);
}

#[test]
fn only_changes_are_read_again() {
    let dashboard = dashboard();
    dashboard.on_event("a", &Observed::Began);
    dashboard.on_event("b", &Observed::Began);
    let (seq, _) = dashboard.since(0);
    dashboard.on_event("b", &called("files", "read", true));
    let (_, text) = dashboard.since(seq);
    let seen: Value = serde_json::from_str(&text).unwrap();
    let ids: Vec<&str> =
        seen["conversations"].as_array().unwrap().iter().filter_map(|own| own["id"].as_str()).collect();
    assert_eq!((ids, seen["recent"].as_array().unwrap().len()), (vec!["b"], 1));
    assert_eq!(seen["kept"], serde_json::json!([1, 2]));
    let mut changes = dashboard.subscribe();
    assert!(!changes.has_changed().unwrap());
    dashboard.on_event("a", &Observed::Ended);
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
}

/// The limits hold independently of what clients, servers and models send.
#[test]
fn memory_is_bounded() {
    let dashboard = dashboard();
    let long = "x".repeat(100_000);
    for n in 0..2_000 {
        let id = format!("c{n}");
        dashboard.on_event(&id, &Observed::Began);
        dashboard.on_event(&id, &Observed::Client { name: &long, version: &long });
        dashboard.on_event(&id, &Observed::Server { name: &format!("s{n}"), down: Some(&long) });
        dashboard.on_event(&id, &called(&format!("server {n}"), &format!("{n} {long}"), true));
        dashboard.on_event(&id, &Observed::Answered { name: &long, kind: &format!("kind {n}") });
        let list = format!("[{n}]");
        dashboard.on_event(&id, &Observed::Shown { arm: Arm::Full, reason: &long, tools: 1, list: &list, full: &long });
    }
    let seen = all(&dashboard);
    let len = |name: &str| seen[name].as_array().unwrap().len();
    assert_eq!((len("conversations"), len("recent")), (MAX_CONVERSATIONS, MAX_RECENT));
    assert_eq!((len("tools"), len("servers")), (MAX_TOOLS + 1, MAX_SERVERS));
    assert_eq!(seen["totals"]["answers"]["other"], 2_000);
    assert!(dashboard.since(0).1.len() < 2_000_000, "{}", dashboard.since(0).1.len());
    let calls =
        dashboard.metrics(None).lines().filter(|line| line.starts_with("toolfold_gateway_calls_total{")).count();
    assert_eq!(calls, MAX_TOOLS + 1);
    // Ended conversations are removed first.
    let old = seen["conversations"][0]["id"].as_str().unwrap().to_owned();
    dashboard.on_event("c1999", &Observed::Ended);
    dashboard.on_event("new", &Observed::Began);
    assert_eq!(all(&dashboard)["conversations"][0]["id"].as_str(), Some(old.as_str()));
}

#[test]
fn failures_and_restarts_of_servers_are_counted() {
    let dashboard = dashboard();
    assert_eq!(dashboard.health(), Health { servers: 1, down: vec![] });
    for id in ["a", "b"] {
        dashboard.on_event(id, &Observed::Began);
        dashboard.on_event(id, &Observed::Server { name: "files", down: None });
    }
    dashboard.on_event("a", &Observed::Server { name: "files", down: Some("it ended") });
    dashboard.on_event("a", &Observed::Server { name: "files", down: Some("it ended again") });
    assert_eq!(dashboard.health().down, ["files"]);
    assert!(dashboard.metrics(None).contains("toolfold_gateway_server_up{server=\"files\"} 0\n"));
    dashboard.on_event("a", &Observed::Server { name: "files", down: None });
    let text = dashboard.metrics(None);
    assert!(text.contains("toolfold_gateway_server_up{server=\"files\"} 1\n"), "{text}");
    assert!(text.contains("server_failures_total{server=\"files\"} 2\n"), "{text}");
    assert!(text.contains("server_restarts_total{server=\"files\"} 1\n"), "{text}");
    // Without users, the last state counts.
    dashboard.on_event("a", &Observed::Server { name: "files", down: Some("gone") });
    dashboard.on_event("a", &Observed::Ended);
    dashboard.on_event("b", &Observed::Ended);
    assert_eq!(dashboard.health().down, ["files"]);
}

#[test]
fn hostile_names_do_not_break_lines_of_the_metrics() {
    let dashboard = dashboard();
    dashboard.on_event("a", &Observed::Began);
    dashboard.on_event("a", &called("files", "a\"} 1\nevil{b=\"\\\u{202e}c", true));
    let text = dashboard.metrics(Some(3));
    let expected = r#"tool="a\"} 1\\u{a}evil{b=\"\\\\u{202e}c",verdict="allow",outcome="ok"} 1"#;
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("\ntoolfold_gateway_approvals_pending 3\n"));
    assert!(
        text.contains("le=\"0.005\"} 0\n") && text.contains("le=\"2.5\"} 1\n") && text.contains("le=\"+Inf\"} 1\n")
    );
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.starts_with("toolfold_gateway_"), "{line}");
        assert!(line.rsplit_once(' ').is_some_and(|(_, value)| value.parse::<f64>().is_ok()), "{line}");
    }
    assert!(!text.contains('\u{202e}') && text.is_ascii());
}
