//! `$'…'`: the escapes of ANSI-C quoting (bash manual, 3.1.2.4).

use super::sed::Chars;

/// Decodes the content of `$'…'`. `None` for what is not text: `\0`, control letters, bytes above
/// 127.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        if matches!(chars.peek(), Some('0'..='7')) {
            out.push(character(&mut chars, 8, 3).filter(char::is_ascii)?);
            continue;
        }
        let c = chars.next()?;
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'e' | 'E' => out.push('\u{1b}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            '\\' | '\'' | '"' | '?' => out.push(c),
            'x' => out.push(character(&mut chars, 16, 2).filter(char::is_ascii)?),
            'u' => out.push(character(&mut chars, 16, 4)?),
            'U' => out.push(character(&mut chars, 16, 8)?),
            _ => return None,
        }
    }
    Some(out)
}

/// The character with the number that the next digits are, if it is not NUL.
fn character(chars: &mut Chars<'_>, radix: u32, most: usize) -> Option<char> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        chars.next();
        value = Some(value.unwrap_or(0) * radix + digit);
    }
    char::from_u32(value?).filter(|c| *c != '\0')
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes() {
        for (text, value) in [
            ("a\\x62c", Some("abc")),
            ("\\162m", Some("rm")),
            ("\\u0072m", Some("rm")),
            ("a\\'b", Some("a'b")),
            ("a\\nb", Some("a\nb")),
            ("\\x00", None),
            ("\\cA", None),
        ] {
            assert_eq!(decode(text).as_deref(), value, "{text}");
        }
    }
}
