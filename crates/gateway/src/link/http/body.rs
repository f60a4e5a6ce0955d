//! The bodies of responses, of bounded size.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{Stream, StreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use sse_stream::{Sse, SseStream};

use crate::link::{Cause, Failure, MAX_MESSAGE};

/// The events of a response.
pub(super) struct Events {
    events: Pin<Box<dyn Stream<Item = Result<Sse, sse_stream::Error>> + Send>>,
    /// The number of bytes that were read since the last event.
    size: Arc<AtomicUsize>,
}

impl Events {
    pub(super) fn read(response: Response) -> Self {
        Self::of(response.bytes_stream(), MAX_MESSAGE)
    }

    /// Reads events of at most `most` bytes.
    fn of<E>(parts: impl Stream<Item = Result<bytes::Bytes, E>> + Send + 'static, most: usize) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let size = Arc::new(AtomicUsize::new(0));
        let read = size.clone();
        let parts = parts.map(move |part| {
            let part = part.map_err(std::io::Error::other)?;
            if read.fetch_add(part.len(), Ordering::Relaxed) + part.len() > most {
                return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge));
            }
            Ok(part)
        });
        Self { events: Box::pin(SseStream::from_bytes_stream(parts)), size }
    }

    /// The next event; `None` at the end of the stream, also if the stream is invalid.
    ///
    /// # Errors
    /// [`Failure`] if the event exceeds the maximum size of a message.
    pub(super) async fn next(&mut self) -> Result<Option<Sse>, Failure> {
        match self.events.next().await {
            Some(Ok(event)) => {
                self.size.store(0, Ordering::Relaxed);
                Ok(Some(event))
            }
            Some(Err(sse_stream::Error::Body(why)))
                if why
                    .downcast_ref::<std::io::Error>()
                    .is_some_and(|why| why.kind() == std::io::ErrorKind::FileTooLarge) =>
            {
                Err(Failure::too_large())
            }
            Some(Err(_)) | None => Ok(None),
        }
    }
}

/// A failure during a request that the server may have carried out.
pub(super) fn unanswered(why: String) -> Failure {
    Failure { cause: Cause::NoAnswer, why }
}

pub(super) fn media_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Reads the body, up to the maximum size of a message.
pub(super) async fn read_limited_body(response: Response) -> Result<String, Failure> {
    let mut body = Vec::new();
    let mut parts = response.bytes_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|why| unanswered(unreachable_because(&why)))?;
        if body.len() + part.len() > MAX_MESSAGE {
            return Err(Failure::too_large());
        }
        body.extend_from_slice(&part);
    }
    String::from_utf8(body).map_err(|_| unanswered("the response is not UTF-8".to_owned()))
}

/// Why a request failed, without the URL, which may contain a secret.
pub(super) fn unreachable_because(why: &reqwest::Error) -> String {
    let mut causes = String::from(if why.is_connect() {
        "the server cannot be reached"
    } else if why.is_timeout() {
        "the server did not respond in time"
    } else {
        "the request failed"
    });
    let mut cause = std::error::Error::source(why);
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !causes.contains(&text) {
            causes = format!("{causes}: {text}");
        }
        cause = inner.source();
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_event_has_a_maximum_size() {
        let parts = |event: &str, count: usize| {
            let parts: Vec<_> =
                (0..count).map(|_| Ok::<_, std::io::Error>(bytes::Bytes::from(event.to_owned()))).collect();
            Events::of(futures_util::stream::iter(parts), 100)
        };
        let mut small = parts("data: 0123456789\n\n", 20);
        for _ in 0..20 {
            assert!(small.next().await.unwrap().is_some());
        }
        assert!(small.next().await.unwrap().is_none());
        let large = parts("data: 0123456789\n", 20).next().await.unwrap_err();
        assert_eq!(large.cause, Cause::TooLarge);
    }
}
