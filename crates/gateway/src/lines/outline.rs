//! The outline of a JSON-RPC message that is too long to be stored.

use serde_json::value::RawValue;

use crate::rpc::Id;

/// Maximum size of an id, in bytes.
const MAX_ID: usize = 1024;

/// The key of the id, with its quotes.
const ID: &[u8] = b"\"id\"";

/// The id and the kind of a message, read part by part. Only the id is stored. The rest of the text
/// is not checked: it may be invalid JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// Whether the text begins with `{`; `None` before its beginning.
    is_object: Option<bool>,
    has_method: bool,
    id: Vec<u8>,
    /// The number of open objects and arrays.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Whether the next string in the outermost object is a key.
    at_key: bool,
    /// The beginning of the last key in the outermost object.
    key: Vec<u8>,
}

impl Outline {
    /// The message's id, if it has a valid one.
    pub(crate) fn id(&self) -> Option<Id> {
        let text = String::from_utf8(self.id.clone()).ok()?;
        Id::from_raw(&RawValue::from_string(text).ok()?)
    }

    /// Whether the text begins like a message.
    pub(crate) fn is_message(&self) -> bool {
        self.is_object == Some(true)
    }

    /// Whether the message is a request or a notification.
    pub(crate) fn has_method(&self) -> bool {
        self.has_method
    }

    /// Reads the next part of the text.
    pub(crate) fn read(&mut self, part: &[u8]) {
        for byte in part {
            self.read_byte(*byte);
        }
    }

    fn read_byte(&mut self, byte: u8) {
        if self.in_string {
            if self.depth == 1 {
                self.store(byte);
            }
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        if byte.is_ascii_whitespace() || !*self.is_object.get_or_insert(byte == b'{') {
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 && self.at_key {
                    self.key.clear();
                }
            }
            b'{' | b'[' => {
                self.at_key |= self.depth == 0;
                self.depth += 1;
                return;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return;
            }
            b':' if self.depth == 1 => {
                self.at_key = false;
                self.has_method |= self.key == b"\"method\"";
                if self.key == ID {
                    self.id.clear();
                }
                return;
            }
            b',' if self.depth == 1 => {
                self.at_key = true;
                return;
            }
            _ => {}
        }
        if self.depth == 1 {
            self.store(byte);
        }
    }

    /// Stores a character of a key, or of the id.
    fn store(&mut self, byte: u8) {
        /// Longer than each key that is read, with its quotes.
        const MAX_KEY: usize = 16;
        if self.at_key {
            if self.key.len() < MAX_KEY {
                self.key.push(byte);
            }
        } else if self.key == ID && self.id.len() <= MAX_ID {
            self.id.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The id and whether there is a method.
    fn outline(text: &str) -> (Option<String>, bool, bool) {
        // Parts end anywhere.
        let mut outline = Outline::default();
        for part in text.as_bytes().chunks(3) {
            outline.read(part);
        }
        (outline.id().map(|id| id.json().to_owned()), outline.has_method(), outline.is_message())
    }

    #[test]
    fn the_id_and_the_kind_of_a_message_are_read() {
        let answer = |id: &str| (Some(id.to_owned()), false, true);
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"method":"x"}}"#, answer("7")),
            (r#"{"result":{"a":[{"id":8}],"t":"},\"id\":9"},"jsonrpc":"2.0" , "id" : 7 }"#, answer("7")),
            (r#"{"result":"id","id":"a\"b,}"}"#, answer(r#""a\"b,}""#)),
            (r#"{"x":"\\","id":-1.5,"result":"#, answer("-1.5")),
            (r#"{"id":null,"error":{"code":1}}"#, (None, false, true)),
            (r#"{"id":[7],"result":{}}"#, (None, false, true)),
            (r#"{"id":7,"method":"m","params":{}}"#, (Some("7".to_owned()), true, true)),
            (r#"{"method":"m","params":{"id":3}}"#, (None, true, true)),
            (r#"[{"id":7,"result":1}]"#, (None, false, false)),
            ("a log line with { \"id\": 7 }", (None, false, false)),
        ] {
            assert_eq!(outline(text), expected, "{text}");
        }
        let long = format!(r#"{{"id":"{}","result":1}}"#, "x".repeat(MAX_ID));
        assert_eq!(outline(&long), (None, false, true));
    }
}
