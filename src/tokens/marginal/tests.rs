//! A tool's own cost is the difference it makes, computed without encoding everything again.

use super::{Frame, marginal};
use crate::tokens::{Encoding, Tiktoken, TokenCounter};
use proptest::prelude::*;

fn naive(counter: &impl TokenCounter, texts: &[String], frame: Frame) -> Vec<usize> {
    let all = counter.count(&frame.join(texts));
    let without = |i: usize| {
        let mut rest = texts.to_vec();
        rest.remove(i);
        counter.count(&frame.join(&rest))
    };
    (0..texts.len()).map(|i| all.saturating_sub(without(i))).collect()
}

#[track_caller]
fn check(texts: &[&str]) {
    let texts: Vec<String> = texts.iter().map(|&t| t.to_owned()).collect();
    for encoding in Encoding::ALL {
        let counter = Tiktoken::new(encoding);
        for frame in [Frame::OPENAI, Frame::JSON_ARRAY] {
            assert_eq!(marginal(&counter, &texts, frame), naive(&counter, &texts, frame), "{texts:?}");
        }
    }
}

#[test]
fn awkward_texts() {
    for texts in [
        &[][..],
        &[""],
        &["", "", ""],
        &["a"],
        &["a", "'s", "'ll b"],
        &["//", "//\ntype a = () => any;", "// \n"],
        &[" ", "\n", "\n\n", "\r\n", "\t"],
        &["1", "23", "456", "7890"],
        &["{}", "{\"a\":1}", "[]"],
        &["表", "格", "表格", "。"],
        &["a\u{301}", "\u{301}", "e\u{301}\u{301} b"],
        &["type A = () => any;", "type a = () => any;", "type \u{301} = () => any;"],
    ] {
        check(texts);
    }
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = prop_oneof![
        "[a-zA-Z0-9 '\n\r\t{}\\[\\]\",:/;.é表格ー\u{301}\u{3000}😀]{0,12}",
        "(// [a-z表']{0,6}\n)?type [a-z_]{1,5} = \\(\\) => any;",
        "\\{\"name\":\"[a-z]{0,3}\",\"description\":\"[ -~]{0,8}\"\\}",
        "\\PC{0,8}",
    ];
    proptest::collection::vec(text, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(400), ..ProptestConfig::default() })]

    #[test]
    fn windows_equal_the_definition(texts in texts()) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        check(&texts);
    }

    #[test]
    fn certain_splits_are_splits(a in "[ -~\n表格é\u{301}]{0,10}", b in "[ -~\n表格é\u{301}]{0,10}") {
        for encoding in Encoding::ALL {
            let counter = Tiktoken::new(encoding);
            if let (Some(before), Some(after)) = (a.chars().last(), b.chars().next())
                && counter.splits_between(before, after)
            {
                prop_assert_eq!(counter.count(&format!("{a}{b}")), counter.count(&a) + counter.count(&b));
            }
        }
    }
}
