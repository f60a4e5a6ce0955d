//! What a conversation costs: the tool block as it is billed, and a simple model of everything
//! else.
//!
//! A request is [`REQUEST`] tokens, the tool block, and every message so far; a message is
//! [`MESSAGE`] tokens and its text. Users' texts, calls (compact JSON) and answers of `toolfold`
//! are counted as they are; a tool's result is [`RESULT`] tokens and the text that ends a turn
//! [`CLOSING`], since the corpus has neither. There is no system text. One call a message: parallel
//! calls would make fewer requests, in every arm.

use std::collections::HashMap;

use serde_json::Value;
use toolfold::conversation::Tools;
use toolfold::tokens::{Encoding, Meter, Tiktoken, TokenCounter};

/// What the Chat API adds to a request that has tools and no system message: 3, and 9 for the
/// tools.
const REQUEST: usize = 12;
/// What stands around a message.
const MESSAGE: usize = 4;
/// What a tool's result is taken to be.
pub(super) const RESULT: usize = 60;
/// What the text that ends a turn is taken to be.
pub(super) const CLOSING: usize = 30;

/// What cached input costs, in hundredths of the price of input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prices {
    pub(super) name: &'static str,
    pub(super) read: usize,
    pub(super) write: usize,
    /// A prefix of fewer tokens is not cached.
    pub(super) minimum: usize,
}

/// Shapes of price lists, not price lists.
pub(super) const PRICES: [Prices; 2] = [
    Prices { name: "cached-a", read: 10, write: 100, minimum: 0 },
    Prices { name: "cached-b", read: 10, write: 125, minimum: 1_024 },
];

/// Counts each text once.
#[derive(Debug, Default)]
pub(super) struct Counter(HashMap<String, usize>);

impl Counter {
    pub(super) fn text(&mut self, text: &str) -> usize {
        self.once(text, |text| Tiktoken::new(Encoding::O200kBase).count(text))
    }

    /// A tool array as OpenAI bills it.
    pub(super) fn block(&mut self, array: &Tools) -> usize {
        self.once(array.digest(), |_| {
            let tools: Vec<Value> = array.to().unwrap();
            Meter::default().tool_texts(&tools).unwrap().total(&Tiktoken::new(Encoding::O200kBase))
        })
    }

    fn once(&mut self, text: &str, count: impl FnOnce(&str) -> usize) -> usize {
        if let Some(known) = self.0.get(text) {
            return *known;
        }
        let tokens = count(text);
        self.0.insert(text.to_owned(), tokens);
        tokens
    }
}

/// The bill of one conversation, or of several added up.
#[derive(Debug, Default, Clone)]
pub(super) struct Bill {
    pub(super) requests: usize,
    /// The tool block of the first request.
    pub(super) first: usize,
    /// Everything that was sent.
    pub(super) input: usize,
    /// Everything that the model wrote.
    pub(super) output: usize,
    /// Requests whose tool array is not the one before.
    pub(super) breaks: usize,
    /// The input in hundredths of a token at the price of input, under each of [`PRICES`].
    pub(super) cached: [usize; PRICES.len()],
    messages: usize,
    last: Option<(String, usize)>,
}

impl Bill {
    /// A text of the user, or a tool's result.
    pub(super) fn hear(&mut self, tokens: usize) {
        self.messages += MESSAGE + tokens;
    }

    /// A request with this tool array (its digest and its tokens), answered with a message of so
    /// many tokens.
    ///
    /// All of the request before is a hit if the array is the same and the prefix was long enough
    /// to be kept; what is new is written if the whole is long enough. Nothing runs out, and
    /// nothing is rounded to blocks.
    pub(super) fn ask(&mut self, digest: &str, block: usize, answer: usize) {
        let all = REQUEST + block + self.messages;
        let before = match &self.last {
            Some((last, before)) if last == digest => *before,
            Some(_) => {
                self.breaks += 1;
                0
            }
            None => {
                self.first = block;
                0
            }
        };
        for (sum, prices) in self.cached.iter_mut().zip(PRICES) {
            let hit = if before >= prices.minimum { before } else { 0 };
            let new = if all >= prices.minimum { prices.write } else { 100 };
            *sum += hit * prices.read + (all - hit) * new;
        }
        self.requests += 1;
        self.input += all;
        self.output += answer;
        self.messages += MESSAGE + answer;
        self.last = Some((digest.to_owned(), all));
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.first += other.first;
        self.input += other.input;
        self.output += other.output;
        self.breaks += other.breaks;
        self.cached.iter_mut().zip(other.cached).for_each(|(sum, own)| *sum += own);
    }
}

#[test]
fn a_changed_array_costs_the_whole_conversation_again() {
    let play = |second: &str| {
        let mut bill = Bill::default();
        bill.hear(100);
        bill.ask("one", 2_000, 20);
        bill.hear(60);
        bill.ask(second, 2_000, 20);
        bill
    };
    let (kept, lost) = (play("one"), play("two"));
    let (first, second) = (12 + 2_000 + 104, 12 + 2_000 + 104 + 24 + 64);
    assert_eq!((kept.breaks, kept.input, kept.first), (0, first + second, 2_000));
    assert_eq!(kept.cached[0], first * 100 + first * 10 + 88 * 100);
    assert_eq!(lost.cached[0], (first + second) * 100);
    assert_eq!(kept.cached[1], first * 125 + first * 10 + 88 * 125);
    assert_eq!((lost.breaks, lost.input), (1, kept.input));
}
