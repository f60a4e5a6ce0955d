//! A call that was running when its process ended may have run: the same call asks.

use serde_json::json;
use toolfold::conversation::{Conversation, Outcome};

use super::{AS_IS, session, write};
use crate::talk::{Call, Dispatch};

/// The conversation in another process, from its log.
fn resumed(conversation: &mut Conversation) -> Conversation {
    let log = conversation.take_log(0);
    conversation.engine().replay(&log).unwrap()
}

fn asks(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Confirm(asked) => {
            assert!(asked.reason.contains("the identical call `c1` may have run"), "{}", asked.reason);
            true
        }
        Outcome::Forward(_) => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_same_call_asks_after_its_process_ended() {
    let (mut first, ..) = session(AS_IS);
    assert!(!asks(first.dispatch(&write("c1", "q1.xlsx"))));
    assert!(!asks(first.dispatch(&write("c2", "q1.xlsx"))), "this process still runs `c1`");
    first.report_result(&"c2".into(), true);
    let mut second = resumed(&mut first);
    assert!(!asks(second.dispatch(&write("c3", "q2.xlsx"))), "another file");
    // A copy of the conversation has the same unreported call.
    let mut copy = second.fork();
    assert!(asks(second.dispatch(&write("c4", "q1.xlsx"))));
    assert!(asks(copy.dispatch(&write("c5", "q1.xlsx"))));
    // Once the result is reported, the outcome is known.
    let (mut first, ..) = session(AS_IS);
    first.dispatch(&write("c1", "q1.xlsx"));
    let mut second = resumed(&mut first);
    second.report_result(&"c1".into(), false);
    assert!(!asks(second.dispatch(&write("c4", "q1.xlsx"))));
}

#[test]
fn what_only_reads_or_was_repeated_by_the_host_does_not_ask() {
    let (mut first, ..) = session(AS_IS);
    let read = |id: &str| Call::new(id, "read_excel", json!({"file_path": "q1.xlsx"}));
    first.dispatch(&read("c1"));
    first.dispatch(&write("c2", "q1.xlsx"));
    let mut second = resumed(&mut first);
    assert!(!asks(second.dispatch(&read("c3"))));
    // The host repeats the message whose calls it has not run yet.
    assert!(!asks(second.dispatch(&write("c2", "q1.xlsx"))));
}

#[test]
fn a_policy_that_only_audits_asks_nothing() {
    let (mut first, ..) = session(("\"enforce\"", "\"audit\""));
    first.dispatch(&write("c1", "q1.xlsx"));
    assert!(!asks(resumed(&mut first).dispatch(&write("c2", "q1.xlsx"))));
}
