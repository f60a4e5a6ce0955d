//! Lines of bounded length.

mod outline;

use memchr::memchr;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

pub(crate) use self::outline::Outline;

/// The result of reading a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, without its end.
    Whole,
    /// A line that exceeds the limit; only its outline is stored.
    TooLong(Outline),
    /// The end of the stream.
    End,
}

/// Reads a line of at most `most` bytes into `buffer`. The last line may lack a line end.
///
/// # Errors
/// Errors of the reader.
pub(crate) async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    buffer: &mut Vec<u8>,
    most: usize,
) -> std::io::Result<Line> {
    /// The part of a long line that is read before other tasks run.
    const AT_ONCE: usize = 1024 * 1024;
    buffer.clear();
    // Releases the memory of a large message.
    buffer.shrink_to(AT_ONCE);
    let mut too_long: Option<Outline> = None;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(match (too_long, buffer.is_empty()) {
                (Some(outline), _) => Line::TooLong(outline),
                (None, true) => Line::End,
                (None, false) => Line::Whole,
            });
        }
        let end = memchr(b'\n', available);
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        match &mut too_long {
            Some(outline) => outline.read(part),
            None if buffer.len() + part.len() > most => {
                let mut outline = Outline::default();
                for part in std::mem::take(buffer).chunks(AT_ONCE) {
                    outline.read(part);
                    tokio::task::yield_now().await;
                }
                outline.read(part);
                too_long = Some(outline);
            }
            None => buffer.extend_from_slice(part),
        }
        let used = end.map_or(part.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            return Ok(too_long.map_or(Line::Whole, Line::TooLong));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_read_up_to_a_length() {
        let text = b"one\n\nmuch too long\ntwo\r\nlast";
        let mut reader = tokio::io::BufReader::with_capacity(4, &text[..]);
        let mut buffer = Vec::new();
        let mut seen = Vec::new();
        loop {
            let line = read_line(&mut reader, &mut buffer, 6).await.unwrap();
            if line == Line::End {
                break;
            }
            seen.push((matches!(line, Line::TooLong(_)), String::from_utf8(buffer.clone()).unwrap()));
        }
        let whole = |text: &str| (false, text.to_owned());
        let expected = [whole("one"), whole(""), (true, String::new()), whole("two\r"), whole("last")];
        assert_eq!(seen, expected);
    }
}
