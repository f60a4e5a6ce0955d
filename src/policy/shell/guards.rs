//! What the parser of effects is not given: text over which it would run out of stack or memory.

/// The stack of the parser, in bytes: only what is used of it takes memory.
pub(super) const STACK_BYTES: usize = 256 << 20;

/// The longest text that is parsed on the stack at hand, in bytes: it cannot nest deeply enough to fill it.
pub(super) const SHORT_BYTES: usize = 64;

/// The maximum nesting of brackets and keywords that is passed to the parser, whose stack use is not under our control.
const MAX_BRACKETS: usize = 24;

/// The most digits of a number of a descriptor, or of `~1`, over which the parser does not panic.
const MAX_DIGITS: usize = 9;

/// Whether the parser panics over a number: that of a descriptor before a redirection, or that behind `~`.
pub(super) fn has_large_number(text: &str) -> bool {
    // A line may continue between the digits and the operator.
    let text = text.replace("\\\n", "");
    let mut digits = 0;
    for c in text.chars() {
        if digits > MAX_DIGITS && matches!(c, '<' | '>') {
            return true;
        }
        digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
    }
    text.split('~').skip(1).any(|behind| {
        let digits = behind.trim_start_matches(['+', '-']).chars().take_while(char::is_ascii_digit);
        digits.count() > MAX_DIGITS
    })
}

/// Whether a text has a here-document over which the parser may panic or take all memory: `<<$(  `, `<<E ${x}$(⏎E`,
/// `$(<<E⏎)⏎E`. What remains begins outside quotes or with `"$(cat <<`, has a name as its mark, has its end, and is closed
/// where it is in parentheses. Rather too many are refused than too few.
pub(super) fn has_odd_document(text: &str) -> bool {
    if text.contains("<<") && text.contains("$[") {
        return true;
    }
    let mut outside = String::new();
    let mut lines = text.split('\n');
    while let Some(line) = lines.next() {
        let Some(marks) = marks(&outside, line) else { return true };
        outside.push_str(line);
        outside.push('\n');
        if marks.is_empty() {
            continue;
        }
        let before = line.split("<<").next().unwrap_or_default();
        let start = format!("{}{before}", outside.strip_suffix(&format!("{line}\n")).unwrap_or_default());
        // Between an operator and its text the parser keeps what it has read in a queue.
        let behind = line.get(before.len()..).unwrap_or_default();
        let unsteady =
            behind.contains(['`', '\\']) || ["$(", "${", "$'", "$\""].iter().any(|open| behind.contains(open));
        let in_cat = start.strip_suffix("\"$(cat ").is_some_and(|start| quote_at_end(start) == Some(None));
        let is_quoted = !in_cat && quote_at_end(&start) != Some(None);
        let closes = in_cat || quote_at_end(&outside) == Some(None);
        let depth = |open, close| depth(&outside, open, close);
        let in_expansion = depth('{', '}') > 0 && outside.contains("${");
        if unsteady || is_quoted || !closes || in_expansion || before.contains('#') {
            return true;
        }
        let is_inside = depth('(', ')') > 0;
        if is_inside && marks.len() > 1 {
            return true;
        }
        for mark in marks {
            if !lines.any(|line| line.trim_start_matches('\t') == mark) {
                return true;
            }
        }
        let mut next = lines.clone().filter(|line| !line.trim().is_empty());
        if is_inside && !next.next().is_some_and(|line| line.trim_start().starts_with(')')) {
            return true;
        }
    }
    false
}

/// The quote that is open at the end of a text. `None` where an expansion in double quotes or a backquote makes that
/// unclear.
fn quote_at_end(text: &str) -> Option<Option<char>> {
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\'', Some('\'')) | ('"', Some('"')) => quote = None,
            (_, Some('\'')) => {}
            ('\\', _) => drop(chars.next()),
            ('`', _) => return None,
            ('$', Some('"')) if chars.peek().is_some_and(|c| matches!(c, '(' | '{')) => {
                // `"$(cat <<E⏎…⏎E⏎)"`: only the here-document was left out.
                let rest: String = chars.clone().take(7).collect();
                if !rest.starts_with("(cat <<") {
                    return None;
                }
            }
            ('\'' | '"', None) => quote = Some(c),
            _ => {}
        }
    }
    Some(quote)
}

/// The marks of the here-documents that begin in a line. `None` where one of them is no name.
fn marks<'t>(before: &str, line: &'t str) -> Option<Vec<&'t str>> {
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(found) = line.get(at..).and_then(|rest| rest.find("<<")) {
        let start = at + found;
        let after = line.get(start..).unwrap_or_default().trim_start_matches('<');
        let run = line.len() - start - after.len();
        at = start + run;
        let ahead = line.get(..start).unwrap_or_default();
        if run > 3 || ahead.ends_with('\\') {
            return None;
        }
        if run == 3 {
            continue;
        }
        let rest = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\t']);
        let quote = ["'", "\""].into_iter().find(|quote| rest.starts_with(quote)).unwrap_or_default();
        let rest = rest.get(quote.len()..).unwrap_or_default();
        let (mark, behind) =
            rest.split_at(rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len()));
        let behind = behind.strip_prefix(quote)?;
        let so_far = || format!("{before}{ahead}");
        if behind.starts_with(')') && so_far().rfind("((") > so_far().rfind("))") {
            // A shift in arithmetic.
            continue;
        }
        if mark.is_empty() || !(behind.is_empty() || behind.starts_with([' ', '\t', ';', '|', '&', '<', '>'])) {
            return None;
        }
        marks.push(mark);
    }
    Some(marks)
}

/// How many of these brackets are open at the end of a text.
fn depth(text: &str, open: char, close: char) -> usize {
    text.chars().fold(0, |depth: usize, c| match c {
        c if c == open => depth + 1,
        c if c == close => depth.saturating_sub(1),
        _ => depth,
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
