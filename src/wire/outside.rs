//! What a JSON text has outside its strings: numbers, and words that are no JSON.

/// The number of digits that every 64-bit number represents exactly. For longer numbers the text is
/// authoritative.
const SAFE_DIGITS: usize = 15;

/// Literals of other languages for numbers that JSON lacks.
pub(super) fn not_a_number(text: &str) -> Option<&'static str> {
    const WORDS: [&str; 4] = ["-Infinity", "Infinity", "NaN", "nan"];
    let mut outside = OutsideStrings::new(text);
    std::iter::from_fn(|| outside.next()).find_map(|run| {
        let words = run.split(|c: char| !(c.is_ascii_alphabetic() || c == '-')).filter(|word| !word.is_empty());
        words.into_iter().find_map(|word| WORDS.into_iter().find(|known| *known == word))
    })
}

/// Whether a number has more digits than a 64-bit number represents exactly.
pub(super) fn has_long_number(text: &str) -> bool {
    if text.bytes().filter(u8::is_ascii_digit).count() <= SAFE_DIGITS {
        return false;
    }
    let mut outside = OutsideStrings::new(text);
    std::iter::from_fn(|| outside.next()).any(|run| {
        let numbers = run.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-')));
        numbers.into_iter().any(|number| number.bytes().filter(u8::is_ascii_digit).count() > SAFE_DIGITS)
    })
}

/// The parts of a JSON text outside its strings.
struct OutsideStrings<'t> {
    rest: &'t str,
}

impl<'t> OutsideStrings<'t> {
    fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let Some((run, mut string)) = self.rest.split_once('"') else { return Some(std::mem::take(&mut self.rest)) };
        // Skips to the end of the string: an unescaped quote.
        loop {
            match string.find(['"', '\\']) {
                Some(at) if string.as_bytes().get(at) == Some(&b'"') => {
                    self.rest = string.get(at + 1..).unwrap_or("");
                    return Some(run);
                }
                Some(at) => {
                    let escaped = string.get(at + 1..).unwrap_or("");
                    let mut chars = escaped.chars();
                    chars.next();
                    string = chars.as_str();
                }
                None => {
                    self.rest = "";
                    return Some(run);
                }
            }
        }
    }
}
