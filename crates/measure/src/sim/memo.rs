//! Counts large arrays tool by tool: each tool's billed text is rendered once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use serde_json::Value;
use serde_json::value::RawValue;
use toolfold::tokens::{CountError, Meter, TokenCounter, count_tools_with};

/// The minimum number of tools of an array that is counted tool by tool.
const LARGE: usize = 256;

/// Billed texts by the JSON of the tools.
#[derive(Debug, Default)]
pub struct ToolMemo(RefCell<HashMap<(u64, u64), Rc<str>>>);

impl ToolMemo {
    /// The tokens that an array adds to a request; `None` if it must be counted as a whole: a small
    /// one, one of an estimating meter, or one with entries that are not a single function.
    pub(super) fn array_tokens(
        &self,
        json: &str,
        meter: &Meter,
        counter: &dyn TokenCounter,
    ) -> Result<Option<usize>, CountError> {
        let Ok(entries) = serde_json::from_str::<Vec<&RawValue>>(json) else { return Ok(None) };
        if entries.len() < LARGE || !matches!(meter, Meter::Billed { .. }) {
            return Ok(None);
        }
        let Some(constant) = constant(&entries, meter, counter)? else { return Ok(None) };
        let frame = meter.frame();
        let mut whole = frame.header.to_owned();
        for entry in entries {
            let Some(text) = self.entry_text(entry.get(), meter)? else { return Ok(None) };
            whole.push_str(&text);
            whole.push_str(frame.after_each);
        }
        whole.push_str(frame.footer);
        Ok(Some(counter.count(&whole) + constant))
    }

    /// The billed text of one entry; `None` if it is not a single function.
    fn entry_text(&self, entry: &str, meter: &Meter) -> Result<Option<Rc<str>>, CountError> {
        let key = entry_key(entry);
        if let Some(known) = self.0.borrow().get(&key) {
            return Ok(Some(known.clone()));
        }
        let Ok(value) = entry.parse::<Value>() else { return Ok(None) };
        let Ok([text]) = <[String; 1]>::try_from(meter.tool_texts(&[value])?.texts) else { return Ok(None) };
        let text: Rc<str> = text.into();
        self.0.borrow_mut().insert(key, text.clone());
        Ok(Some(text))
    }
}

/// The constant cost of a request with tools, if it is the same for few and for more tools.
fn constant(entries: &[&RawValue], meter: &Meter, counter: &dyn TokenCounter) -> Result<Option<usize>, CountError> {
    let mut found = None;
    for count in [2, 40] {
        let tools: Result<Vec<Value>, _> = entries.iter().take(count).map(|entry| entry.get().parse()).collect();
        let Ok(tools) = tools else { return Ok(None) };
        let counted = count_tools_with(&tools, meter, |_| counter)?.tokens;
        let beside = counted.checked_sub(meter.tool_texts(&tools)?.total(counter));
        if beside.is_none() || found.is_some_and(|known| Some(known) != beside) {
            return Ok(None);
        }
        found = beside;
    }
    Ok(found)
}

/// Two 64-bit digests, so that no two tools of a list share a key.
fn entry_key(entry: &str) -> (u64, u64) {
    let digest = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        entry.hash(&mut hasher);
        hasher.finish()
    };
    (digest(0), digest(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolfold::tokens::{Cached, Tiktoken};

    /// A large array has the same count as when counted as a whole, for every form of request.
    #[test]
    fn a_large_array_has_the_count_of_the_whole() {
        let schema = |at: usize| {
            serde_json::json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string", "description": format!("Where number {at} is.")},
            "rows": {"type": "integer", "enum": [1, 2, at]}}})
        };
        let chat = |at: usize| {
            serde_json::json!({"type": "function", "function": {"name": format!("tool_{at}"),
            "description": format!("Does {at}. Then more."), "parameters": schema(at)}})
        };
        let flat = |at: usize| {
            serde_json::json!({"type": "function", "name": format!("tool_{at}"),
            "description": format!("Does {at}. Then more."), "parameters": schema(at)})
        };
        for (meter, array) in [
            ("billed:openai-chat/gpt-4.1", (0..300).map(chat).collect::<Vec<Value>>()),
            ("billed:openai-chat/gpt-5.4", (0..300).map(chat).collect()),
            ("billed:openai-responses/gpt-5.4", (0..300).map(flat).collect()),
        ] {
            let meter: Meter = meter.parse().unwrap();
            let counter = Cached::new(Tiktoken::new(meter.encoding()));
            let memo = ToolMemo::default();
            let json = Value::from(array.clone()).to_string();
            let whole = count_tools_with(&array, &meter, |_| &counter).unwrap().tokens;
            for _ in 0..2 {
                assert_eq!(memo.array_tokens(&json, &meter, &counter).unwrap(), Some(whole), "{meter}");
            }
            let few = Value::from(array[..20].to_vec()).to_string();
            assert_eq!(memo.array_tokens(&few, &meter, &counter).unwrap(), None);
        }
        let estimate: Meter = "estimate:anthropic/claude-sonnet-5.5".parse().unwrap();
        let json = Value::from((0..300).map(chat).collect::<Vec<Value>>()).to_string();
        let counter = Cached::new(Tiktoken::new(estimate.encoding()));
        assert_eq!(ToolMemo::default().array_tokens(&json, &estimate, &counter).unwrap(), None);
    }
}
