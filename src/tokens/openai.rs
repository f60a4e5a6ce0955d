//! What OpenAI bills for a request: its messages, tools, calls and results, and the constants
//! between them.
//!
//! Every rule was fitted on recorded requests and the `prompt_tokens` that the API reported.

mod order;
mod text;

use std::collections::BTreeSet;

use serde_json::Value;

use self::text::{compact_arguments, format_text, parsed};
use super::billing::{
    Api, CHANNEL, Family, NAMED_FUNCTION, NAMED_TOOL, NO_TOOL, PER_MESSAGE, PER_MESSAGE_NAME, is_of_2023,
    unverified_block, unverified_model,
};
use super::encoding::TokenCounter;
use super::json::{Style, write_text};
use super::marginal::Frame;
use super::prompt::{Choice, Message, Prompt, Role, Round, Turn};
use super::python::dumps;
use super::reason::Reason;
use super::render::Block;

/// Counts a request for a model on one of OpenAI's APIs. Returns the tokens and the constructs that
/// no recorded request covers.
pub(super) fn count_request<C: TokenCounter>(
    prompt: &Prompt<'_>,
    api: Api,
    model: &str,
    counter: &C,
) -> (usize, BTreeSet<Reason>) {
    let mut tally = Tally {
        counter,
        api,
        family: Family::of(model),
        has_tools: !prompt.tools.is_empty(),
        has_system: prompt.has_system(),
        reasons: prompt.reasons.clone(),
    };
    tally.reasons.extend(unverified_model(model, tally.has_tools));
    let mut tokens = tally.family.per_request(tally.has_tools);
    let mut system: Option<&str> = None;
    for (at, turn) in prompt.turns.iter().enumerate() {
        tokens += match turn {
            Turn::Round(round) => tally.round(round),
            Turn::Message(message) => {
                let first = message.role == Role::System && system.is_none();
                if first {
                    if at > 0 && tally.has_tools {
                        tally.add_reason(Reason::LateSystem);
                    }
                    system = Some(&message.text);
                }
                tally.message(message, first, prompt.format.is_some())
            }
        };
    }
    tokens += tally.tool_block(prompt, is_of_2023(model), system);
    tokens += prompt.beside.iter().map(|text| counter.count(text)).sum::<usize>();
    if let Some(format) = &prompt.format {
        let around = tally.family.around_format(api, tally.has_tools, tally.has_system);
        if api == Api::Chat && !tally.has_tools {
            tally.add_reason(Reason::ResponseFormat);
        }
        if format.schema.is_none() {
            tally.add_reason(Reason::Malformed);
        }
        tokens += around + counter.count(&format_text(format));
    }
    (tokens, tally.reasons)
}

/// Counts parts of a request and collects constructs that are not covered.
struct Tally<'c, C> {
    counter: &'c C,
    api: Api,
    family: Family,
    has_tools: bool,
    has_system: bool,
    reasons: BTreeSet<Reason>,
}

impl<C: TokenCounter> Tally<'_, C> {
    /// `first_system`: the first system text, which belongs to the tools.
    fn message(&mut self, message: &Message<'_>, first_system: bool, has_format: bool) -> usize {
        let Message { role, text, name } = message;
        if first_system && self.has_tools && self.family.joins_system_text(self.api) {
            return 0; // Counted with the tools, as one text.
        }
        let ended = first_system && (self.has_tools || has_format) && self.family.ends_system_text(self.api);
        let text = if ended { self.counter.count(&format!("{text}\n")) } else { self.counter.count(text) };
        let mut tokens = PER_MESSAGE + text;
        if *role == Role::Assistant && self.family.has_channels() {
            self.add_reason(Reason::AssistantHistory);
            tokens += CHANNEL;
        }
        tokens + self.message_name(*name)
    }

    /// The name of a message.
    fn message_name(&mut self, name: Option<&str>) -> usize {
        let Some(name) = name else { return 0 };
        self.add_reason(Reason::MessageName);
        PER_MESSAGE_NAME + self.counter.count(name)
    }

    /// The assistant's text beside its calls: a separate message before them.
    fn beside_calls(&mut self, round: &Round<'_>) -> usize {
        let name = self.message_name(round.name);
        if round.said.is_empty() {
            return name;
        }
        let said = Message { role: Role::Assistant, text: round.said.as_ref().into(), name: None };
        name + self.message(&said, false, false)
    }

    /// Calls and their results.
    fn round(&mut self, round: &Round<'_>) -> usize {
        let Round { calls, results, .. } = round;
        if results.len() != calls.len() {
            self.add_reason(Reason::UnansweredCalls);
        }
        if self.api == Api::Responses {
            let reasons = self.family.has_channels();
            self.add_reason(if reasons { Reason::LostReasoning } else { Reason::CallsOnResponses });
        }
        let said = self.beside_calls(round);
        if self.api == Api::Chat && calls.len() != 1 {
            return said + self.parallel(round);
        }
        let single = calls.len() == 1;
        let each = calls.iter().map(|call| {
            let called = self.counter.count(call.name) + self.counter.count(&format!("functions.{}", call.name));
            let arguments = self.counter.count(&compact_arguments(&call.arguments));
            called + arguments + self.family.per_call(self.api, single && call.completed)
        });
        let calls: usize = each.sum();
        said + calls + results.iter().map(|result| self.counter.count(result)).sum::<usize>()
    }

    /// Several calls of one message on the Chat API.
    fn parallel(&self, round: &Round<'_>) -> usize {
        let mut uses = String::from("{\"tool_uses\":[");
        for (i, call) in round.calls.iter().enumerate() {
            uses.push_str(if i == 0 { "{\"recipient_name\":" } else { ",{\"recipient_name\":" });
            write_text(&format!("functions.{}", call.name), &mut uses);
            uses.push_str(",\"parameters\":");
            let arguments = if call.arguments.is_empty() { "{}" } else { &call.arguments };
            uses.push_str(&Style::COMPACT.print(&parsed(arguments)));
            uses.push('}');
        }
        uses.push_str("]}");
        let results: Vec<Value> = round.results.iter().map(|result| parsed(result)).collect();
        let results = dumps(&Value::Array(results));
        self.counter.count(&uses) + self.counter.count(&results) + self.family.per_parallel_calls()
    }

    /// The tools, with the first system text if both are one text, and the request's tool choice.
    fn tool_block(&mut self, prompt: &Prompt<'_>, old: bool, system: Option<&str>) -> usize {
        let Some(first) = prompt.tools.first() else { return 0 };
        if prompt.bare_functions {
            self.add_reason(Reason::OldFunctions);
        }
        let block = Block::render_functions(&prompt.tools, old);
        self.reasons.extend(unverified_block(&prompt.tools, &block));
        let text = self.block(&block, system);
        if order::depends_on_lost(&prompt.tools, |tools| {
            self.block(&Block::render_functions(tools, old), system) != text
        }) {
            self.add_reason(Reason::SortedKeys);
        }
        text + self.family.around_tools(self.api, system.is_some(), first.is_described()) + self.choice(prompt)
    }

    /// The rendered tools, with the first system text if both are one text.
    fn block(&self, block: &Block, system: Option<&str>) -> usize {
        let block = Frame::OPENAI.join(&block.texts);
        match system {
            Some(system) if self.family.joins_system_text(self.api) => {
                self.counter.count(&format!("# Instructions\n\n{system}\n\n# Tools\n\n## functions\n\n{block}"))
            }
            _ => self.counter.count(&block),
        }
    }

    fn choice(&mut self, prompt: &Prompt<'_>) -> usize {
        match prompt.choice {
            Choice::Auto => 0,
            Choice::Required => {
                let tokens = self.family.required_choice(self.api, self.has_system);
                if tokens > 0 {
                    self.add_reason(Reason::RequiredChoice);
                }
                tokens
            }
            _ if !self.family.bills_tool_choice() => 0,
            Choice::Never => NO_TOOL,
            Choice::Named(name) => {
                (if prompt.bare_functions { NAMED_FUNCTION } else { NAMED_TOOL }) + self.counter.count(name)
            }
        }
    }

    fn add_reason(&mut self, reason: Reason) {
        self.reasons.insert(reason);
    }
}
