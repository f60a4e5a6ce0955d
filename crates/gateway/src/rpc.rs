//! JSON-RPC 2.0 messages: parts that the gateway does not read keep their original text.
//!
//! Results, errors and parameters are stored as raw JSON, so that unknown fields and content types
//! pass unchanged, with every digit of their numbers.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// JSON in its original text.
pub type Raw = Box<RawValue>;

/// The codes of JSON-RPC 2.0, section 5.1, and those of MCP (specification 2026-07-28,
/// `schema.ts`).
pub mod code {
    /// The text is not valid JSON.
    pub const PARSE: i64 = -32700;
    /// The JSON is not a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method is unknown or not offered.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are invalid.
    pub const INVALID_PARAMS: i64 = -32602;
    /// An internal error of the gateway or of a server.
    pub const INTERNAL: i64 = -32603;
    /// A server requires a login. Implementations define -32000 to -32019.
    pub const LOGIN_NEEDED: i64 = -32010;
    /// HTTP headers and body differ.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client lacks a capability that the request needs.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The protocol version is unsupported.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

/// A request's id: a number or a string, in its original text.
#[derive(Debug, Clone)]
pub struct Id(Raw);

impl Id {
    /// A number as id, for the gateway's requests.
    #[must_use]
    pub fn number(id: u64) -> Self {
        Self(raw(&id))
    }

    /// A text as id, for the gateway's requests.
    #[must_use]
    pub fn text(id: &str) -> Self {
        Self(raw(&id))
    }

    /// The id as raw JSON.
    #[must_use]
    pub fn raw(&self) -> Raw {
        self.0.clone()
    }

    /// The id as JSON.
    #[must_use]
    pub fn json(&self) -> &str {
        self.0.get()
    }

    /// The number; `None` if the gateway cannot have created the id. Some servers return `1` as
    /// `"1"` or `1.0`, which the official SDKs accept.
    #[must_use]
    pub fn as_number(&self) -> Option<u64> {
        let text = self.0.get();
        let inner = text.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
        inner.or_else(|| text.strip_suffix(".0")).unwrap_or(text).parse().ok()
    }

    /// Reads an id; `None` if the JSON is neither a number nor a string.
    #[must_use]
    pub fn from_raw(raw: &RawValue) -> Option<Self> {
        let first = raw.get().bytes().next()?;
        (first == b'"' || first == b'-' || first.is_ascii_digit()).then(|| Self(raw.to_owned()))
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.json().hash(state);
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.json())
    }
}

/// A request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// The id, which its response repeats.
    pub id: Id,
    /// The method.
    pub method: String,
    /// The parameters, if it has any.
    pub params: Option<Raw>,
}

/// A message without a response.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Notification {
    /// The method.
    pub method: String,
    /// The parameters, if it has any.
    pub params: Option<Raw>,
}

/// The outcome of a request: its `result` or its `error`.
pub type Answer = Result<Raw, Raw>;

/// One message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Message {
    /// A request.
    Request(Request),
    /// A notification.
    Notification(Notification),
    /// A response.
    Response(Id, Answer),
    /// A response to a message that could not be read.
    Fault(Option<Id>, Raw),
}

/// Why a text is not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The JSON-RPC code.
    pub code: i64,
    /// The reason.
    pub why: String,
    /// The id for the response, if it could be read.
    pub id: Option<Id>,
}

#[derive(Deserialize)]
struct Fields<'m> {
    #[serde(borrow, default)]
    id: Option<&'m RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'m, str>>,
    #[serde(borrow, default)]
    params: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "value_or_null")]
    result: Option<&'m RawValue>,
    #[serde(borrow, default)]
    error: Option<&'m RawValue>,
}

/// A member whose value may be `null`, which differs from no member.
fn value_or_null<'m, D: Deserializer<'m>>(from: D) -> Result<Option<&'m RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    /// [`Fault`] if the text is not a JSON object, or not a JSON-RPC message.
    pub fn from_json(text: &str) -> Result<Self, Fault> {
        // Some runtimes write a byte order mark first; a reader may ignore it (RFC 8259, 8.1).
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // An array would be read as a message whose members are in a fixed order.
        if text.trim_start().starts_with('[') {
            let why = "batches are not supported; send one message at a time";
            return Err(fault(code::INVALID_REQUEST, why.to_owned(), None));
        }
        let fields: Fields<'_> = match serde_json::from_str(text) {
            Ok(fields) => fields,
            Err(why) if why.is_data() => {
                return Err(fault(code::INVALID_REQUEST, format!("not a JSON-RPC message: {why}"), None));
            }
            Err(why) => return Err(fault(code::PARSE, format!("not valid JSON: {why}"), None)),
        };
        let id = fields.id.and_then(Id::from_raw);
        let owned = |raw: Option<&RawValue>| raw.map(ToOwned::to_owned);
        if let Some(method) = fields.method {
            let (method, params) = (method.into_owned(), owned(fields.params));
            return match (fields.id, id) {
                (None, _) => Ok(Self::Notification(Notification { method, params })),
                (Some(_), Some(id)) => Ok(Self::Request(Request { id, method, params })),
                (Some(_), None) => {
                    Err(fault(code::INVALID_REQUEST, "`id` must be a string or a number".to_owned(), None))
                }
            };
        }
        match (id, fields.result, fields.error) {
            (Some(id), _, Some(error)) => Ok(Self::Response(id, Err(valid_error(error)))),
            (Some(id), Some(result), None) => Ok(Self::Response(id, Ok(result.to_owned()))),
            (None, None, Some(error)) => Ok(Self::Fault(None, valid_error(error))),
            (id, ..) => Err(fault(
                code::INVALID_REQUEST,
                "neither a request (`method`) nor a response (`id` with `result` or `error`)".to_owned(),
                id,
            )),
        }
    }

    /// The message as one line of JSON.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Request(Request { id, method, params }) => {
                message_line(&format!("\"id\":{id},\"method\":{},", json_string(method)), "params", params.as_deref())
            }
            Self::Notification(Notification { method, params }) => {
                message_line(&format!("\"method\":{},", json_string(method)), "params", params.as_deref())
            }
            Self::Response(id, Ok(result)) => message_line(&format!("\"id\":{id},"), "result", Some(result)),
            Self::Response(id, Err(error)) => message_line(&format!("\"id\":{id},"), "error", Some(error)),
            Self::Fault(id, error) => {
                let id = id.as_ref().map_or("null", Id::json);
                message_line(&format!("\"id\":{id},"), "error", Some(error))
            }
        }
    }
}

impl Request {
    /// Creates a request.
    #[must_use]
    pub fn new(id: Id, method: &str, params: Option<Raw>) -> Self {
        Self { id, method: method.to_owned(), params }
    }
}

impl Notification {
    /// Creates a notification.
    #[must_use]
    pub fn new(method: &str, params: Option<Raw>) -> Self {
        Self { method: method.to_owned(), params }
    }
}

impl Fault {
    /// The fault of a message that is too long.
    #[must_use]
    pub fn too_long(most: usize, id: Option<Id>) -> Self {
        fault(code::INVALID_REQUEST, format!("the message exceeds {most} bytes"), id)
    }

    /// The fault of a message that is not UTF-8.
    #[must_use]
    pub fn not_utf8() -> Self {
        fault(code::PARSE, "the message is not UTF-8".to_owned(), None)
    }
}

fn fault(code: i64, why: String, id: Option<Id>) -> Fault {
    Fault { code, why, id }
}

/// Writes a message. A line break inside raw JSON can only be white space and becomes a blank,
/// since a message is one line.
fn message_line(head: &str, key: &str, body: Option<&RawValue>) -> String {
    let body = body.map_or("", RawValue::get);
    let mut out = String::with_capacity(head.len() + body.len() + 40);
    out.push_str("{\"jsonrpc\":\"2.0\",");
    out.push_str(head);
    if body.is_empty() {
        out.pop();
    } else {
        out.push('"');
        out.push_str(key);
        out.push_str("\":");
        // Two searches for one character are several times faster than one search for either.
        if body.contains('\n') || body.contains('\r') {
            out.push_str(&body.replace(['\n', '\r'], " "));
        } else {
            out.push_str(body);
        }
    }
    out.push('}');
    out
}

fn json_string(text: &str) -> String {
    Value::from(text).to_string()
}

/// A value as raw JSON; `null` if it cannot be written (a map with keys that are not strings).
#[must_use]
pub fn raw<T: serde::Serialize + ?Sized>(value: &T) -> Raw {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The `error` member of a response.
#[must_use]
pub fn error_member(code: i64, message: &str) -> Raw {
    raw(&serde_json::json!({"code": code, "message": message}))
}

/// The `error` member with `data`.
#[must_use]
pub fn error_with(code: i64, message: &str, data: &Value) -> Raw {
    raw(&serde_json::json!({"code": code, "message": message, "data": data}))
}

/// The message of an `error` member.
#[must_use]
pub fn message_of(error: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Said {
        message: String,
    }
    serde_json::from_str(error.get()).map_or_else(|_| error.get().to_owned(), |said: Said| said.message)
}

/// A valid `error` member: clients never end a call whose error has no code or no message.
fn valid_error(error: &RawValue) -> Raw {
    match (code_of(error), message_of(error)) {
        (Some(_), message) if message != error.get() => error.to_owned(),
        (code, whole) => {
            error_member(code.unwrap_or(code::INTERNAL), &serde_json::from_str(error.get()).unwrap_or(whole))
        }
    }
}

/// The code of an `error` member.
#[must_use]
pub fn code_of(error: &RawValue) -> Option<i64> {
    serde_json::from_str::<Value>(error.get()).ok()?.get("code")?.as_i64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn kept(text: &str) {
        assert_eq!(Message::from_json(text).unwrap().to_text(), text);
    }

    #[test]
    fn messages_pass_unchanged() {
        kept(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        kept(r#"{"jsonrpc":"2.0","id":"a\"b","method":"tools/call","params":{"x":12345678901234567890123,"y":1.50}}"#);
        kept(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        kept(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"hologram","z":null}],"a":1}}"#);
        kept(r#"{"jsonrpc":"2.0","id":7,"result":null}"#);
        kept(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"m","data":{"k":[]}}}"#);
    }

    #[test]
    fn a_message_is_one_line() {
        let text = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\r\n\"result\":{\n\"a\":\"\\n\"}}";
        let out = Message::from_json(text).unwrap().to_text();
        assert!(!out.contains(['\n', '\r', '\u{feff}']) && out.contains(r#""a":"\n""#), "{out}");
    }

    #[test]
    fn ids_of_the_gateway_are_recognized_in_other_forms() {
        let number = |text: &str| match Message::from_json(&format!(r#"{{"id":{text},"result":{{}}}}"#)).unwrap() {
            Message::Response(id, _) => id.as_number(),
            other => panic!("{other:?}"),
        };
        assert_eq!(["7", "\"7\"", "7.0"].map(number), [Some(7); 3]);
        assert_eq!(["-7", "7.5", "\"x\"", "\"\"", "7e1"].map(number), [None; 5]);
    }

    #[test]
    fn an_invalid_error_gets_the_members_that_clients_require() {
        for (error, valid) in [
            (r#""slow down""#, r#"{"code":-32603,"message":"slow down"}"#),
            (r#"{"message":"slow down"}"#, r#"{"code":-32603,"message":"slow down"}"#),
            (r#"{"code":429}"#, r#"{"code":429,"message":"{\"code\":429}"}"#),
        ] {
            let message = Message::from_json(&format!(r#"{{"jsonrpc":"2.0","id":7,"error":{error}}}"#)).unwrap();
            assert_eq!(message.to_text(), format!(r#"{{"jsonrpc":"2.0","id":7,"error":{valid}}}"#));
        }
    }

    #[test]
    fn an_error_without_an_id_is_a_fault_of_the_other_side() {
        let text = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;
        assert!(matches!(Message::from_json(text), Ok(Message::Fault(None, _))));
        kept(text);
    }

    #[test]
    fn invalid_messages_are_faults() {
        for (text, code, word) in [
            ("{", code::PARSE, "not valid JSON"),
            ("", code::PARSE, "not valid JSON"),
            ("[]", code::INVALID_REQUEST, "batches"),
            ("[{\"id\":1,\"method\":\"ping\"}]", code::INVALID_REQUEST, "batches"),
            ("[7,\"ping\"]", code::INVALID_REQUEST, "batches"),
            ("3", code::INVALID_REQUEST, "not a JSON-RPC"),
            ("{\"id\":{},\"method\":\"m\"}", code::INVALID_REQUEST, "`id`"),
            ("{\"id\":1}", code::INVALID_REQUEST, "neither"),
            ("{\"method\":3}", code::INVALID_REQUEST, "not a JSON-RPC"),
        ] {
            let fault = Message::from_json(text).unwrap_err();
            assert!(fault.code == code && fault.why.contains(word), "{text}: {fault:?}");
        }
        assert_eq!(Message::from_json("{\"id\":\"x\"}").unwrap_err().id, Some(Id::text("x")));
    }
}
