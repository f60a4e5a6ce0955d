//! An output of a script: its first part as text, and the number of bytes.

/// The first bytes of an output; the rest is counted.
#[derive(Debug)]
pub(super) struct Capped {
    bytes: Vec<u8>,
    most: usize,
    total: u64,
}

impl Capped {
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), most, total: 0 }
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.total += piece.len() as u64;
        let room = self.most.saturating_sub(self.bytes.len()).min(piece.len());
        self.bytes.extend(piece.get(..room).unwrap_or_default());
    }

    /// The number of bytes of the whole output.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The stored part as text. Invalid UTF-8 is replaced; a character that the limit divides is
    /// left out.
    pub(super) fn into_text(self) -> String {
        let is_cut = self.total > self.bytes.len() as u64;
        let whole = match std::str::from_utf8(&self.bytes) {
            Err(why) if is_cut && why.error_len().is_none() => why.valid_up_to(),
            _ => self.bytes.len(),
        };
        String::from_utf8_lossy(self.bytes.get(..whole).unwrap_or_default()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_are_stored_and_all_are_counted() {
        let mut text = Capped::new(4);
        text.push(b"ab");
        text.push("c\u{e9}d".as_bytes());
        assert_eq!(text.total(), 6);
        assert_eq!(text.into_text(), "abc", "the second byte of the character is beyond the limit");
        let mut text = Capped::new(9);
        text.push(b"a\xffb\xc3");
        assert_eq!(text.into_text(), "a\u{fffd}b\u{fffd}");
    }
}
