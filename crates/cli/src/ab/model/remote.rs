//! A model behind an API: Chat Completions and compatible APIs, Responses, Anthropic, Gemini.

use std::time::Duration;

use serde_json::Value;

use super::super::super::output::Failure;
use super::{NoAnswer, Timeouts, foreign_line};
use crate::disk::variable;
use toolfold::wire::Wire;
use toolfold_gateway::outbox::{Posted, Poster};

/// The requested version of Anthropic's API. Source: its reference, "Versioning".
const ANTHROPIC_VERSION: &str = "2023-06-01";
/// The wait before the first retry; it doubles with each retry.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait between retries, even if the server asks for a longer one.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Limits of time and number of requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    pub(super) timeouts: Timeouts,
    pub(super) retries: u32,
    pub(super) most: u64,
}

pub(in super::super::super) struct Remote {
    poster: Poster,
    url: String,
    /// Name and value of the header that holds the key.
    key: Option<(&'static str, String, String)>,
    wire: Wire,
    patience: Patience,
    sent: u64,
    /// Whether the host has answered any request.
    reached: bool,
}

impl Remote {
    pub(super) fn new(
        base: &str,
        wire: Wire,
        model: &str,
        key_env: Option<&str>,
        patience: Patience,
    ) -> Result<Self, Failure> {
        let is_http = base.starts_with("http://") || base.starts_with("https://");
        if !is_http || base.contains(['?', '#', '@']) || base.contains(char::is_whitespace) {
            let message = "--base-url must be an http or https address without user, query or fragment";
            return Err(Failure::usage(message).help("pass a key in an environment variable: --key-env NAME"));
        }
        let base = base.trim_end_matches('/');
        let path_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@');
        let url = match wire {
            Wire::OpenAiResponses => format!("{base}/responses"),
            Wire::Anthropic => format!("{base}/v1/messages"),
            Wire::Gemini if model.chars().all(path_safe) && !model.contains("..") => {
                format!("{base}/models/{model}:generateContent")
            }
            Wire::Gemini => return Err(Failure::usage("--model cannot be part of an address")),
            _ => format!("{base}/chat/completions"),
        };
        let key = key_env.map(|name| {
            let value = variable(name)
                .ok_or_else(|| Failure::usage(format!("the variable `{name}` that --key-env names is not set")))?;
            Ok::<_, Failure>(match wire {
                Wire::Anthropic => ("x-api-key", value.clone(), value),
                Wire::Gemini => ("x-goog-api-key", value.clone(), value),
                _ => ("authorization", format!("Bearer {value}"), value),
            })
        });
        let key = key.transpose()?;
        let poster = Poster::new().map_err(Failure::unmeasured)?;
        Ok(Self { poster, url, key, wire, patience, sent: 0, reached: false })
    }

    pub(super) fn answer_request(&mut self, body: &Value, first: bool) -> Result<Value, NoAnswer> {
        let text = body.to_string();
        let mut wait = FIRST_WAIT;
        for attempt in 0_u32.. {
            if self.sent >= self.patience.most {
                let why = format!("stopped after {} requests (--max-requests)", self.sent);
                return Err(NoAnswer::Everything(why));
            }
            self.sent += 1;
            let posted = self.post(text.clone(), self.patience.timeouts.of(first));
            self.reached |= posted.is_ok();
            let (why, asked) = match posted {
                Ok(Posted { status: 200..=299, body, .. }) => {
                    // A server that echoes the key must not put it into a file.
                    let read = serde_json::from_str(&self.hidden(&body));
                    return read.map_err(|why| NoAnswer::Request(format!("the response is not JSON: {why}")));
                }
                Ok(Posted { status: status @ (408 | 429 | 500..=599), body, retry_after, .. }) => {
                    (format!("status {status}: {}", foreign_line(&self.hidden(&body))), retry_after)
                }
                Ok(Posted { status, body, .. }) => {
                    let why = format!("status {status}: {}", foreign_line(&self.hidden(&body)));
                    return Err(match status {
                        401 | 403 | 404 | 300..=399 => NoAnswer::Everything(why),
                        _ => NoAnswer::Request(why),
                    });
                }
                // A host that has never accepted a connection gets no more retries.
                Err(why) if !self.reached && attempt >= 1 => {
                    return Err(NoAnswer::Everything(format!("{} does not answer: {}", self.url, self.hidden(&why))));
                }
                Err(why) => (self.hidden(&why), None),
            };
            if attempt >= self.patience.retries {
                return Err(NoAnswer::Request(format!("{why} ({} attempts)", attempt + 1)));
            }
            std::thread::sleep(asked.unwrap_or(wait).min(LONGEST_WAIT));
            wait = wait.saturating_mul(2);
        }
        Err(NoAnswer::Request("no answer".to_owned()))
    }

    fn post(&self, body: String, timeout: Duration) -> Result<Posted, String> {
        let mut headers = Vec::new();
        headers.extend(self.key.as_ref().map(|(name, value, _)| (*name, value.as_str())));
        if self.wire == Wire::Anthropic {
            headers.push(("anthropic-version", ANTHROPIC_VERSION));
        }
        Ok(self.poster.post(&self.url, &headers, body, timeout)?)
    }

    /// The text with the key removed.
    fn hidden(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |(_, _, secret)| text.replace(secret.as_str(), "[key]"))
    }
}
