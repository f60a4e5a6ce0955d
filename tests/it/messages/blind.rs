//! What the model had read when it wrote a call, and what it still sees, where ids repeat.

use toolfold::conversation::ModelCall;
use toolfold::engine::Blind;
use toolfold::profile::Arm;

use super::*;

/// A folded tool with an optional parameter, which the model has not been shown.
fn folded(blind: Blind) -> Conversation {
    let long = "Name of the customer, as the invoice shows it. ".repeat(40);
    let text = json!({"type": "string", "description": long});
    let tool = |name: &str| {
        json!({"name": name, "description": long, "inputSchema": {"type": "object",
            "properties": {"customer": text, "cc": text}, "required": ["customer"]}})
    };
    let tools = json!([tool("send_invoice"), tool("send_letter"), tool("send_offer")]);
    let catalog = Catalog::from_mcp(&tools.to_string()).unwrap();
    let profile =
        toolfold::profile::ToolProfile::parse("[category.all]\ntools = ['*']", "p.toml").into_result().unwrap();
    let engine = Engine::builder(catalog).profile(profile).arm(Arm::Stable).blind(blind).build().unwrap();
    engine.conversation(Wire::OpenAiChat).start().unwrap()
}

fn invoice(id: &str, customer: &str) -> ModelCall {
    ModelCall::new(id, "send_invoice", json!({"customer": customer}))
}

#[test]
fn parallel_blind_calls_are_all_shown_first() {
    let three = || [invoice("1", "x"), invoice("2", "y"), invoice("3", "z")];
    let kinds = |outcomes: Vec<Outcome>| outcomes.iter().map(|outcome| reply(outcome).answer.kind).collect::<Vec<_>>();
    let shown = vec![ReplyKind::Shown; 3];
    // As a message of the wire, as the calls of one message, and one at a time under the message's
    // key.
    let calls: Vec<_> =
        three().iter().map(|call| (call.id.to_string(), call.arguments.value().unwrap().clone())).collect();
    let calls: Vec<_> = calls.iter().map(|(id, own)| (id.as_str(), "send_invoice", own.clone())).collect();
    let mut talk = folded(Blind::default());
    assert_eq!(kinds(judge(&mut talk, &Wire::OpenAiChat.assistant_message(&calls))), shown);
    let mut talk = folded(Blind::default());
    assert_eq!(kinds(talk.calls(three(), None).outcomes().cloned().collect()), shown);
    let single = |talk: &mut Conversation, key: &str| {
        let each = three().map(|call| talk.call_in(key, call.id, &call.name, call.arguments).unwrap());
        each.to_vec()
    };
    let mut talk = folded(Blind::default());
    assert_eq!(kinds(single(&mut talk, "msg_1")), shown);
    assert!(single(&mut talk, "msg_2").iter().all(is_forward), "the next message was written after reading it");
}

/// Another answer may have gone to another client: each answer contains the definition.
#[test]
fn every_answer_of_a_shared_conversation_has_the_definition() {
    let mut talk = folded(Blind::default());
    talk.shared_by_models();
    let outcomes = talk.calls([invoice("1", "x"), invoice("2", "y")], None).outcomes().cloned().collect::<Vec<_>>();
    for outcome in &outcomes {
        assert!(reply(outcome).answer.content.contains("Full definition:\n"), "{}", reply(outcome).answer.content);
    }
    let mut talk = folded(Blind::default());
    let outcomes = talk.calls([invoice("1", "x"), invoice("2", "y")], None).outcomes().cloned().collect::<Vec<_>>();
    assert!(
        reply(&outcomes[1]).answer.content.contains("in another result"),
        "two calls of one model: only one answer has the definition"
    );
}

#[test]
fn a_shown_answer_is_not_a_loop() {
    let mut talk = folded(Blind::default());
    let message = [invoice("send_invoice:0", "x")];
    let outcome = only(talk.calls(message.clone(), None).outcomes().cloned().collect());
    assert_eq!(reply(&outcome).answer.kind, ReplyKind::Shown);
    assert!(is_forward(&only(talk.calls(message, None).outcomes().cloned().collect())), "the same call, made again");
}

#[test]
fn seen_matches_answers_by_text_if_ids_repeat() {
    let long = "What there is to know about it, at length. ".repeat(40);
    let tool = |name: &str| json!({"name": name, "description": long, "inputSchema": {"type": "object", "properties": {"p": {"type": "string", "description": long}}}});
    let tools = json!([tool("mail_send"), tool("mail_read"), tool("disk_wipe"), tool("disk_list")]);
    let profile = "[category.mail]\ntools = ['mail*']\n[category.disk]\ntools = ['disk*']\n";
    let profile = toolfold::profile::ToolProfile::parse(profile, "p.toml").into_result().unwrap();
    let catalog = Catalog::from_mcp(&tools.to_string()).unwrap();
    let engine = Engine::builder(catalog).profile(profile).arm(Arm::Stable).build().unwrap();
    let mut talk = engine.conversation(Wire::OpenAiChat).start().unwrap();
    let mut messages = Vec::new();
    for category in ["mail", "disk"] {
        let message = Wire::OpenAiChat.assistant_message(&[(
            "expand_tools:0",
            "expand_tools",
            json!({"categories": [category]}),
        )]);
        let turn = talk.turn(&message).unwrap();
        let answers = turn.into_messages();
        messages.push(message);
        messages.extend(answers);
    }
    assert_eq!(talk.opened().len(), 4);
    talk.seen(&json!(messages)).unwrap();
    assert_eq!(talk.opened().len(), 4, "both answers are there");
    talk.seen(&json!(messages[2..])).unwrap();
    assert_eq!(talk.opened(), ["disk_wipe", "disk_list"], "the first answer was trimmed");
    let rebuilt = engine.conversation(Wire::OpenAiChat).from_transcript(&json!(messages)).unwrap();
    assert_eq!(rebuilt.opened().len(), 4, "a transcript with repeated ids is read");
    talk.seen_calls(["expand_tools:0"]);
    assert_eq!(talk.opened(), ["disk_wipe", "disk_list"], "an id given once refers to the newest call");
}
