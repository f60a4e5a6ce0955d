//! The bound on tokens without a vocabulary, compared with the vocabulary.

use proptest::prelude::*;
use toolfold::skill::most_tokens;
use toolfold::tokens::{Encoding, Tiktoken, TokenCounter};
use toolfold_testing::Cases;

use super::scale::text;

#[test]
fn the_bound_holds_for_every_character_and_every_pair_of_letters() {
    let counter = Tiktoken::new(Encoding::O200kBase);
    let check = |text: &str| {
        let (bound, tokens) = (most_tokens(text), counter.count(text));
        assert!(tokens <= bound, "{text:?} has {tokens} tokens, the bound is {bound}");
    };
    // A quick run takes every seventh character: blocks of Unicode are longer than that.
    let step = if Cases::of_this_run().is_quick() { 7 } else { 1 };
    for c in (1_u32..0x2_0000).step_by(step).filter_map(char::from_u32) {
        check(&c.to_string());
        check(&format!("{c}{c}a{c}"));
    }
    for (a, b) in (b'a'..=b'z').flat_map(|a| (b'a'..=b'z').map(move |b| (char::from(a), char::from(b)))) {
        check(&format!("{a}{b}"));
        check(&format!("{a}{b}{a}{b}{b}{a}"));
        check(&format!("-{a}{b}- {a} {b}--{a}"));
    }
    for word in crate::project("crates/skill/src/words.txt").split_whitespace() {
        assert_eq!((counter.count(&format!(" {word}")), most_tokens(&format!(" {word}"))), (1, 1), "{word}");
        ["'s", "s", "Is", "1", "\u{301}", "é", "."].iter().for_each(|after| check(&format!("{word} {word}{after}")));
    }
    // For prose the bound is at most three times the count.
    let prose =
        "Formats cells, ranges and whole sheets. Use when the user asks for bold text, colours or number formats.";
    assert!(most_tokens(prose) <= 3 * counter.count(prose));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(2_000), ..ProptestConfig::default() })]
    #[test]
    fn the_bound_holds(text in prop_oneof![text(), "\\PC{0,200}", "([a-z]{1,9}[ -]?){0,40}", "( (the|user|files|when|a|qz)['.A-Z1é]?){0,30}", "[0-9a-z]{0,60}"]) {
        prop_assert!(Tiktoken::new(Encoding::O200kBase).count(&text) <= most_tokens(&text));
    }
}
