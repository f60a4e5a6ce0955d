//! What the parser of effects is not given: text over which it would run out of stack or memory.

/// The stack of the parser, in bytes: only what is used of it takes memory.
pub(super) const STACK_BYTES: usize = 256 << 20;

/// The longest text that is parsed on the stack at hand, in bytes: it cannot nest deeply enough to fill it.
pub(super) const SHORT_BYTES: usize = 64;

/// The maximum nesting of brackets and keywords that is passed to the parser, whose stack use is not under our control.
const MAX_BRACKETS: usize = 24;

/// Whether the mark of a here-document may have an expansion, over which the parser takes all memory: `<<$(  `. The count
/// is rather too high than too low: quotes are ignored.
pub(super) fn expands_a_mark(text: &str) -> bool {
    text.match_indices("<<").any(|(at, _)| {
        let rest = text.get(at + 2..).unwrap_or_default().trim_start_matches(['<', '-', ' ', '\t', '\\', '\n']);
        let ends = |c: char| c.is_whitespace() || ";|&".contains(c);
        let quoted = rest.starts_with(['\'', '"']);
        let mark = rest.split(ends).next().unwrap_or_default();
        // `<<< $(x)` and `<<'E'` are none of these; arithmetic may shift by a variable.
        !quoted && mark.contains(['$', '`']) && !text.get(at..).is_some_and(|from| from.starts_with("<<<"))
            || quoted && mark.contains(['$', '`']) && !mark.ends_with(['\'', '"'])
    })
}

/// Whether brackets or keywords nest so deeply that the parser might run out of stack. Quotes are
/// ignored: the count is rather too high than too low.
pub(super) fn too_nested(text: &str) -> bool {
    let (mut depth, mut deepest, mut ticks) = (0_usize, 0_usize, 0_usize);
    for c in text.chars() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            '`' => ticks += 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    // `[[ ! ! …` nests with every word.
    let (mut keywords, mut tested) = (0_usize, None);
    for word in text.split(|c: char| c.is_whitespace() || ";|&(){}!<>".contains(c)) {
        match word {
            "[[" => tested = Some(0_usize),
            "]]" => tested = None,
            "if" | "while" | "until" | "for" | "case" | "select" | "coproc" | "time" => keywords += 1,
            "fi" | "done" | "esac" => keywords = keywords.saturating_sub(1),
            _ => {}
        }
        tested = tested.map(|words| words + 1);
        deepest = deepest.max(tested.unwrap_or(0) / 4);
        deepest = deepest.max(keywords);
    }
    deepest > MAX_BRACKETS || ticks > 400
}
