//! Shortens the texts of a result.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::cut::{Ends, boundary, ends};
use super::{LargeResults, Owner, READ_RESULT, SCHEME};
use crate::error::GatewayError;
use crate::object::Object;
use crate::rpc::{Raw, raw};

/// The tokens of the sentence that replaces the middle of a text, with room for long numbers.
const SENTENCE: usize = 150;

/// A result whose texts were shortened as far as possible.
pub(crate) struct Shortened {
    pub(crate) result: Raw,
    /// The tokens of the result's texts before and after.
    pub(crate) tokens: usize,
    pub(crate) left: usize,
}

/// The members of a result, unparsed.
type Members<'r> = IndexMap<Cow<'r, str>, &'r RawValue>;

/// The members of an element of `content` that may have a text.
#[derive(Default, Deserialize)]
struct Block<'r> {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    text: Option<&'r RawValue>,
    #[serde(borrow)]
    resource: Option<&'r RawValue>,
}

impl<'r> Block<'r> {
    fn of(block: &'r RawValue) -> Self {
        serde_json::from_str(block.get()).unwrap_or_default()
    }

    fn is_text(&self) -> bool {
        self.kind.as_deref() == Some("text") && self.text.is_some()
    }

    /// The text of an embedded resource.
    fn resource_text(&self) -> Option<&'r RawValue> {
        let resource = self.resource.filter(|_| self.kind.as_deref() == Some("resource"))?;
        Self::of(resource).text
    }
}

fn string(text: &RawValue) -> String {
    serde_json::from_str(text.get()).unwrap_or_default()
}

fn blocks(result: &Raw) -> Option<(Members<'_>, Vec<&RawValue>)> {
    let members: Members<'_> = serde_json::from_str(result.get()).ok()?;
    let content = serde_json::from_str(members.get("content")?.get()).ok()?;
    Some((members, content))
}

/// The number of bytes of a result's texts, as JSON.
pub(super) fn text_bytes(result: &Raw) -> usize {
    let Some((_, content)) = blocks(result) else { return 0 };
    let texts = content.into_iter().map(Block::of);
    texts
        .filter_map(|own| if own.is_text() { own.text } else { own.resource_text() })
        .map(|text| text.get().len())
        .sum()
}

impl LargeResults {
    /// Stores and shortens the texts of a result that have more than `limit` tokens: all texts
    /// together, and the text of each embedded resource. Everything else stays, also
    /// `structuredContent`, which clients check against a schema. `None`: nothing is longer.
    ///
    /// # Errors
    /// [`GatewayError`] if a text cannot be stored; then the result must stay as it is.
    pub(crate) fn shortened(
        &self,
        owner: &Owner,
        limit: usize,
        links: bool,
        result: &Raw,
    ) -> Result<Option<Shortened>, GatewayError> {
        let Some((members, content)) = blocks(result) else { return Ok(None) };
        let (mut tokens, mut left, mut changed) = (0, 0, false);
        if let Some(own) = members.get("structuredContent") {
            let own = self.tokens(own.get());
            if own > limit {
                (tokens, left, changed) = (own, own, true);
            }
        }
        let mut text = String::new();
        for own in content.iter().map(|own| Block::of(own)).filter(Block::is_text) {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&own.text.map(string).unwrap_or_default());
        }
        let mut replaced = None;
        let all = self.tokens(&text);
        if all > limit {
            let own = self.replace(owner, limit, &text, all)?;
            (tokens, left, changed) = (tokens + all, left + self.tokens(&own.0), true);
            replaced = Some(own);
        }
        drop(text);
        let mut blocks: Vec<Raw> = Vec::with_capacity(content.len());
        let mut is_first = true;
        for block in &content {
            let own = Block::of(block);
            if let Some((text, link)) = replaced.as_ref().filter(|_| own.is_text()) {
                if std::mem::take(&mut is_first) {
                    blocks.push(with_text(block, text));
                    blocks.extend(links.then(|| link.clone()));
                }
                continue;
            }
            if let Some(text) = own.resource_text() {
                let text = string(text);
                let all = self.tokens(&text);
                if all > limit {
                    let (short, link) = self.replace(owner, limit, &text, all)?;
                    (tokens, left, changed) = (tokens + all, left + self.tokens(&short), true);
                    blocks.push(with_resource_text(block, &short));
                    blocks.extend(links.then_some(link));
                    continue;
                }
            }
            blocks.push((*block).to_owned());
        }
        if !changed {
            return Ok(None);
        }
        let content = raw(&blocks);
        drop(blocks);
        let mut members = members;
        members.insert(Cow::Borrowed("content"), &content);
        Ok(Some(Shortened { result: raw(&members), tokens, left }))
    }

    /// Stores a text. Returns its beginning and end, and the link to the stored text.
    fn replace(&self, owner: &Owner, limit: usize, text: &str, tokens: usize) -> Result<(String, Raw), GatewayError> {
        let stored = text.get(..boundary(text, self.quota.one)).unwrap_or_default();
        let id = self.keep(owner, limit, stored)?;
        let room = limit.saturating_sub(SENTENCE).max(limit / 2);
        let Ends { head, tail, head_lines, tail_lines, lines } = ends(text, room, &|text| self.tokens(text));
        let (first, last) = (head_lines + 1, lines - tail_lines);
        let break_after = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        let whole = if stored.len() == text.len() {
            String::new()
        } else {
            format!(" Only its first {} bytes were stored.", stored.len())
        };
        let short = format!(
            "{head}{break_after}[Lines {first} to {last} are left out. The whole result has {tokens} tokens, {lines} \
             lines and {} bytes. To read on, call {READ_RESULT} with {{\"id\":\"{id}\",\"from\":{first}}}; to search, \
             with {{\"id\":\"{id}\",\"grep\":\"PATTERN\"}}.{whole}]\n{tail}",
            text.len(),
        );
        let link = json!({
            "type": "resource_link",
            "uri": format!("{SCHEME}{id}"),
            "name": format!("result {id}"),
            "mimeType": "text/plain",
            "size": stored.len(),
        });
        Ok((short, raw(&link)))
    }
}

fn with_text(block: &RawValue, text: &str) -> Raw {
    let mut own = Object::from_json(block).unwrap_or_default();
    own.put_value("text", text);
    own.to_raw()
}

fn with_resource_text(block: &RawValue, text: &str) -> Raw {
    let mut own = Object::from_json(block).unwrap_or_default();
    if let Some(resource) = own.get("resource").map(|resource| with_text(resource, text)) {
        own.set("resource", resource);
    }
    own.to_raw()
}
