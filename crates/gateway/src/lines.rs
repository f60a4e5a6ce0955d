//! Lines of bounded length.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The result of reading a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line {
    /// A line, without its end.
    Whole,
    /// A line that exceeds the limit; its content is dropped.
    TooLong,
    /// The end of the stream.
    End,
}

/// Reads a line of at most `most` bytes into `buffer`. The last line may lack a line end.
///
/// # Errors
/// Errors of the reader.
pub async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    buffer: &mut Vec<u8>,
    most: usize,
) -> std::io::Result<Line> {
    buffer.clear();
    // Releases the memory of a large message.
    buffer.shrink_to(1024 * 1024);
    let mut too_long = false;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(match (too_long, buffer.is_empty()) {
                (true, _) => Line::TooLong,
                (false, true) => Line::End,
                (false, false) => Line::Whole,
            });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        if too_long || buffer.len() + part.len() > most {
            too_long = true;
            buffer.clear();
        } else {
            buffer.extend_from_slice(part);
        }
        let used = end.map_or(part.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            return Ok(if too_long { Line::TooLong } else { Line::Whole });
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
            seen.push((line, String::from_utf8(buffer.clone()).unwrap()));
        }
        let whole = |text: &str| (Line::Whole, text.to_owned());
        let expected = [whole("one"), whole(""), (Line::TooLong, String::new()), whole("two\r"), whole("last")];
        assert_eq!(seen, expected);
    }
}
