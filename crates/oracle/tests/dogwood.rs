//! Rules over earlier calls, compared with [Dogwood](https://crates.io/crates/dogwood-language): on
//! random histories, both engines deny the same calls for the same conditions.
//!
//! The conditions that both have: a limit on calls, on distinct values and on a sum within a
//! window, a required earlier success, an identical earlier call, and an earlier call of a kind.
//!
//! Differences, and how the test bridges them:
//! - A window of Dogwood contains an event that is exactly as old as the window is long; ours does
//!   not. All times are whole seconds, so `within 6s` there is `within = "7s"` here.
//! - Dogwood remembers each event that it is given. It is given `ran` only for calls that ran, and
//!   `ok` for calls that were reported as successful.
//! - Its conditions have no "or" and no sums over the call at hand, so one of our conditions is two
//!   of its rules or compares with `room`, the rest of the limit.

use std::collections::BTreeSet;

use dogwood_language::{Authorizer, Event, LoweredPolicySet, PolicySchema, ServiceSchema, Value};
use serde_json::json;
use toolfold_policy::audit::{Entry, Kind};
use toolfold_policy::{
    ApprovalStore, Context, Decision, History, MemoryStore, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin,
};

/// The conditions, in the order of Dogwood's rules, of which two are `distinct`.
const CONDITIONS: [&str; 7] = ["count", "distinct", "distinct", "sum", "after", "once", "read"];

const OURS: &str = r#"
[policy]
default = "allow"
[tool.look]
tier = "read_only"
trust = "untrusted"
[tool.send]
tier = "b"
sends = true
[[rule]]
decide = "deny"
tool = "send"
over = { count = 2, within = "5s" }
why = "count"
[[rule]]
decide = "deny"
tool = "send"
over = { count_distinct = "to", count = 2, within = "7s" }
why = "distinct"
[[rule]]
decide = "deny"
tool = "send"
over = { sum = { arg = "n", max = 6 }, within = "9s", per = "tenant" }
why = "sum"
[[rule]]
decide = "deny"
tool = "send"
unless_after = "look"
match_args = ["to"]
why = "after"
[[rule]]
decide = "deny"
tool = "send"
args = { kind = "single" }
once = true
why = "once"
[[rule]]
decide = "deny"
sends = true
args = { kind = "public" }
after_reading = ["untrusted"]
why = "read"
"#;

const SCHEMA: &str = r#"
namespace T {
  entity User;
  entity Gateway;
  type Input = { session: String, to: String, n: Long, kind: String, room: Long };
  action "Send" appliesTo { principal: [User], resource: [Gateway], context: { input: Input } };
  action "Look" appliesTo { principal: [User], resource: [Gateway], context: { input: Input } };
}
"#;

const EVENTS: &str = "
decision event <A>::request { ...inputs(A), }
event <A>::ran { ...inputs(A), }
event <A>::ok { ...inputs(A), }
";

const THEIRS: &str = r#"
forbid (principal, action == T::Action::"Send", resource) when temporal {
    bind(c, count_within(4s, T::Action::"Send"::ran{ input.session: context.input.session }), c >= 2)
};
forbid (principal, action == T::Action::"Send", resource) when temporal {
    bind(c, count for (k: String). where (formerly within 6s
        T::Action::"Send"::ran{ input.session: context.input.session, input.to: k }), c > 2)
};
forbid (principal, action == T::Action::"Send", resource) when temporal {
    !(formerly within 6s T::Action::"Send"::ran{ input.session: context.input.session, input.to: context.input.to })
    && bind(c, count for (k: String). where (formerly within 6s
        T::Action::"Send"::ran{ input.session: context.input.session, input.to: k }), c >= 2)
};
forbid (principal, action == T::Action::"Send", resource) when temporal {
    bind(s, sum a for (a: Long), (t: Timepoint). where (formerly within 8s
        (T::Action::"Send"::ran{ input.n: a } && tp(t))), s > context.input.room)
};
forbid (principal, action == T::Action::"Send", resource) when temporal {
    !(formerly within 1d T::Action::"Look"::ok{ input.session: context.input.session, input.to: context.input.to })
};
forbid (principal, action == T::Action::"Send", resource) when { context.input.kind == "single" } when temporal {
    formerly within 1d T::Action::"Send"::ran{ input.session: context.input.session, input.to: context.input.to,
        input.n: context.input.n, input.kind: context.input.kind }
};
forbid (principal, action == T::Action::"Send", resource) when { context.input.kind == "public" } when temporal {
    formerly within 1d T::Action::"Look"::ran{ input.session: context.input.session }
};
permit (principal, action, resource);
"#;

/// A call of a history.
#[derive(Debug, Clone)]
struct Call {
    seconds: i64,
    session: String,
    sends: bool,
    to: String,
    n: i64,
    kind: &'static str,
}

impl Call {
    fn event(&self, kind: &str) -> Event {
        let action = if self.sends { "T::Action::Send" } else { "T::Action::Look" };
        let mut event = Event::builder(action, kind)
            .timestamp(self.seconds)
            .principal("T::User::\"u\"")
            .resource("T::Gateway::\"g\"");
        let texts = [("session", self.session.as_str()), ("to", &self.to), ("kind", self.kind)];
        let texts = texts.map(|(name, text)| (name, Value::String(text.to_owned())));
        for (name, value) in texts.into_iter().chain([("n", Value::Int(self.n)), ("room", Value::Int(6 - self.n))]) {
            event = event.field("input", name, value.clone());
            if kind == "request" {
                event = event.request_context("input", name, value);
            }
        }
        event.build()
    }
}

/// Our decision, as the set of conditions that deny.
struct Ours {
    policy: Policy,
    store: MemoryStore,
}

impl Ours {
    fn judge(&self, call: &Call, id: &str) -> BTreeSet<String> {
        let arguments = json!({ "to": call.to, "n": call.n, "kind": call.kind });
        let tool = if call.sends { "send" } else { "look" };
        let context =
            Context::default().with_interactive(true).with_session(&*call.session).with_now_ms(call.seconds * 1000);
        let origin = ToolOrigin::Native;
        let prepared =
            self.policy.prepare(PolicyCall::new(&origin, tool, &arguments), &context, None, History::default());
        let history = self.store.history(&prepared.series(), None).unwrap();
        let prepared = prepared.with_history(history);
        let verdict = prepared.decide(&[]);
        let reasons = verdict.reasons.iter().filter(|_| verdict.decision == Decision::Deny);
        let fired: BTreeSet<String> =
            reasons.map(|reason| reason.text.rsplit(": ").next().unwrap().to_owned()).collect();
        if fired.is_empty() {
            let mut entry = Entry::new(Kind::Decision, call.seconds * 1000);
            (entry.decision, entry.call) = (Some("allow".to_owned()), id.to_owned());
            entry.counted = prepared.counted();
            self.store.record(&entry).unwrap();
        }
        fired
    }

    fn report(&self, id: &str, ok: bool) {
        let mut entry = Entry::new(Kind::Outcome, 0);
        entry.call = id.to_owned();
        entry.outcome = Some(if ok { "ok" } else { "failed" }.to_owned());
        self.store.record(&entry).unwrap();
    }
}

fn theirs() -> Authorizer {
    let service = ServiceSchema::builder().event_schema_str(EVENTS).build().unwrap();
    let schema = PolicySchema::from_cedarschema_str(SCHEMA).unwrap();
    Authorizer::new(LoweredPolicySet::from_str(THEIRS, &service, &schema).unwrap())
}

/// Each history has its own sessions and is a year after the one before it, so that one engine can
/// judge many.
#[test]
fn both_engines_deny_the_same_calls() {
    let policy = PolicyFile::load(OURS, "policy.toml", PolicyScope::User).into_result().unwrap();
    let mut seed = 11_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((seed >> 33) % below).unwrap()
    };
    let (mut engine, mut fired) = (theirs(), BTreeSet::new());
    let mut ran = 0;
    for case in 0..toolfold_testing::cases_of(200, 1_000) {
        if case % 50 == 49 {
            engine = theirs();
        }
        let ours = Ours { policy: Policy::new(vec![policy.clone()]), store: MemoryStore::default() };
        let mut seconds = i64::from(case) * 31_536_000;
        // Calls that ran and are not reported yet: their reports arrive later, or never.
        let mut open: Vec<(Call, String)> = Vec::new();
        for step in 0..14 {
            // Ties in time, and steps on the ends of the windows.
            seconds += [0, 0, 1, 1, 2, 4, 5, 7, 9][random(9)];
            let call = Call {
                seconds,
                session: format!("c{case}s{}", random(2)),
                sends: random(3) > 0,
                to: format!("t{}", random(3)),
                n: i64::try_from(random(4)).unwrap(),
                kind: ["plain", "plain", "single", "public"][random(4)],
            };
            let id = format!("{case}/{step}");
            let own = ours.judge(&call, &id);
            let response = engine.is_authorized(&call.event("request")).unwrap();
            let errors: Vec<&str> = response.diagnostics().errors().collect();
            assert_eq!(errors, Vec::<&str>::new());
            let other: BTreeSet<String> = response
                .diagnostics()
                .reason()
                .filter_map(|rule| CONDITIONS.get(rule.rule_index).map(|&name| name.to_owned()))
                .collect();
            assert_eq!(own, other, "case {case}, step {step}: {call:?}");
            fired.extend(own.iter().cloned());
            if own.is_empty() {
                ran += 1;
                let _ = engine.is_authorized(&call.event("ran"));
                open.push((call, id));
            }
            while !open.is_empty() && random(2) == 0 {
                let (mut call, id) = open.swap_remove(random(open.len() as u64));
                let ok = random(4) > 0;
                ours.report(&id, ok);
                if ok {
                    call.seconds = seconds;
                    let _ = engine.is_authorized(&call.event("ok"));
                }
            }
        }
    }
    assert_eq!(fired, CONDITIONS.map(str::to_owned).into(), "the histories reach every condition");
    assert!(ran > 100, "and calls run");
}
