//! Models that repeat calls: their answers, and when a call is held back.

use super::*;

#[cfg(feature = "validate")]
#[test]
fn a_repeated_failing_call_gets_a_directive_and_the_schema() {
    let mut session = session(Arm::Full);
    let bad = call("write_a", json!({}));
    let said: Vec<Reply> = (0..5).map(|_| reply(session.dispatch(&bad.again()))).collect();
    assert_eq!(
        said.iter().map(|r| r.answer.kind).collect::<Vec<_>>(),
        [ReplyKind::Invalid, ReplyKind::Invalid, ReplyKind::Loop, ReplyKind::Loop, ReplyKind::Loop]
    );
    let schema: Vec<bool> = said.iter().map(|r| r.answer.content.contains("\"parameters\"")).collect();
    assert_eq!(schema, [false, false, false, true, false], "a directive, the schema, then the bare error");
    assert!(
        said[4].answer.content.contains("path") && said[4].answer.content.contains("has failed before"),
        "{}",
        said[4].answer.content
    );
    let other = reply(session.dispatch(&call("write_a", json!({"count": 1}))));
    assert_eq!(other.answer.kind, ReplyKind::Invalid, "another call is another matter");
}

#[test]
fn a_call_failing_at_the_host_is_held_back_twice() {
    let mut session = session(Arm::Stable);
    let same = call("read_a", json!({"path": "x"}));
    for _ in 0..3 {
        let same = same.again();
        assert_eq!(forwarded(&session.dispatch(&same)).0, "read_a");
        session.report_result(&same.id(), false);
    }
    let first = reply(session.dispatch(&same.again()));
    let second = reply(session.dispatch(&same.again()));
    assert_eq!((first.answer.kind, second.answer.kind), (ReplyKind::Loop, ReplyKind::Loop));
    assert!(!first.answer.content.contains("\"parameters\"") && second.answer.content.contains("\"parameters\""));
    let insists = same.again();
    assert_eq!(forwarded(&session.dispatch(&insists)).0, "read_a", "who insists is let through");
    session.report_result(&insists.id(), true);
    assert_eq!(forwarded(&session.dispatch(&same.again())).0, "read_a");
}

#[test]
fn a_call_that_its_tool_never_received_is_not_held_back() {
    let mut session = session(Arm::Stable);
    let same = call("read_a", json!({"path": "x"}));
    let mut ends = vec![CallEnd::NotRun; 6];
    // It does not reset the count of real failures either.
    ends.extend([CallEnd::Failed, CallEnd::NotRun, CallEnd::Failed, CallEnd::NotRun, CallEnd::Failed]);
    for end in ends {
        let same = same.again();
        assert_eq!(forwarded(&session.dispatch(&same)).0, "read_a");
        session.report_result(&same.id(), end);
    }
    assert_eq!(reply(session.dispatch(&same.again())).answer.kind, ReplyKind::Loop);
    let log = serde_json::to_value(session.take_log(0)).unwrap();
    let log = log.as_array().unwrap();
    assert_eq!(log.iter().filter(|record| record["not_run"] == true && record["ok"] == false).count(), 8, "{log:?}");
}

#[test]
fn lookups_without_a_call_get_a_directive() {
    let mut session = session(Arm::Stable);
    let lookup = call("expand_tools", json!({"categories": ["write"]}));
    let said: Vec<Reply> = (0..6).map(|_| reply(session.dispatch(&lookup.again()))).collect();
    assert!(said[..3].iter().all(|r| r.answer.kind == ReplyKind::Expanded));
    assert!(
        said[3].answer.kind == ReplyKind::Loop && !said[3].answer.content.contains("\"parameters\""),
        "{}",
        said[3].answer.content
    );
    assert!(
        said[4].answer.content.contains("\"name\":\"write_a\""),
        "the schemas it circles: {}",
        said[4].answer.content
    );
    assert!(
        !said[5].answer.content.contains("\"parameters\"") && said[5].answer.kind == ReplyKind::Loop,
        "and not again"
    );
    session.dispatch(&call("read_a", json!({"path": "x"})));
    assert_eq!(reply(session.dispatch(&lookup.again())).answer.kind, ReplyKind::Expanded, "a real call ends the run");
}
