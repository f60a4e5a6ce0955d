//! Messages over standard input and output: one line each (specification 2025-11-25, "stdio").

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Event, Heard, MAX_MESSAGE, Outgoing, Source, beginning, child};
use crate::lines::{Line, read_line};
use crate::rpc::Message;

/// How long the remaining output of a process is read after its end.
const LAST_WORDS: Duration = Duration::from_millis(200);

pub(super) fn serve_process(
    mut child: Child,
    source: Source,
    outgoing: mpsc::UnboundedReceiver<Outgoing>,
    ends: CancellationToken,
    heard: Heard,
) -> Result<tokio::task::JoinHandle<()>, String> {
    let missing = || "the process has no standard streams".to_owned();
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stderr = child.stderr.take().ok_or_else(missing)?;
    let said = tokio::spawn(follow(stderr, source.server, heard.clone()));
    tokio::spawn(write_stdin(stdin, outgoing, ends.clone()));
    Ok(tokio::spawn(async move {
        let (read, ended) = (read_stdout(stdout, &source, &heard, MAX_MESSAGE), child::child_ended(child, &ends));
        tokio::pin!(read, ended);
        // A process may close its output and run on, or a descendant may hold it open.
        let (how, is_wanted) = tokio::select! {
            () = &mut read => {
                let is_wanted = ends.is_cancelled();
                ends.cancel();
                (ended.await, is_wanted)
            }
            how = &mut ended => {
                let is_wanted = ends.is_cancelled();
                // Output that the process wrote before it ended may still be unread.
                drop(tokio::time::timeout(LAST_WORDS, &mut read).await);
                (how, is_wanted)
            }
        };
        drop(tokio::time::timeout(LAST_WORDS, said).await);
        let last = heard.lines().join(" | ");
        if !is_wanted && !last.is_empty() {
            // The lines may contain secrets: the reason is sent to models, the log is not.
            tracing::warn!(server = source.server, "last output of a process that ended: {last}");
        }
        source.tell(Event::Closed(format!("the process ended ({how})"))).await;
    }))
}

async fn read_stdout(stdout: impl AsyncRead + Unpin, source: &Source, heard: &Heard, most: usize) {
    let mut reader = BufReader::with_capacity(64 * 1024, stdout);
    let mut buffer = Vec::new();
    loop {
        match read_line(&mut reader, &mut buffer, most).await {
            Ok(Line::Whole) => {}
            Ok(Line::End) => return,
            Ok(Line::TooLong(outline)) => {
                tracing::error!(server = source.server, "dropped a line longer than {most} bytes");
                if !source.tell(Event::TooLong(outline)).await {
                    return;
                }
                continue;
            }
            Err(why) => {
                tracing::error!(server = source.server, "its output cannot be read: {why}");
                return;
            }
        }
        let Ok(text) = std::str::from_utf8(&buffer) else {
            tracing::warn!(server = source.server, "ignored a line that is not UTF-8");
            continue;
        };
        if text.trim().is_empty() {
            continue;
        }
        match Message::from_json(text) {
            Ok(message) => {
                if !source.message(message, None).await {
                    return;
                }
            }
            Err(fault) => {
                tracing::warn!(server = source.server, "ignored a line that is not a message: {}", fault.why);
                // The line may contain secrets.
                let line = beginning(text);
                tracing::debug!(server = source.server, line, "the ignored line");
                heard.push(format!("(standard output, not a message) {line}"));
                // A process that prints without end must not starve other tasks and timers.
                tokio::task::yield_now().await;
            }
        }
    }
}

async fn write_stdin(mut stdin: ChildStdin, mut outgoing: mpsc::UnboundedReceiver<Outgoing>, ends: CancellationToken) {
    loop {
        let next = tokio::select! {
            // Messages that were sent before the end are still written, such as cancellations.
            biased;
            next = outgoing.recv() => next,
            () = ends.cancelled() => None,
        };
        let message = match next {
            None => return,
            Some(Outgoing::Message(message)) => message,
            Some(Outgoing::Abandon(_) | Outgoing::Version(_)) => continue,
        };
        let mut line = message.to_text();
        line.push('\n');
        let written = tokio::select! {
            biased;
            written = stdin.write_all(line.as_bytes()) => written,
            () = ends.cancelled() => return,
        };
        if written.is_err() || stdin.flush().await.is_err() {
            // The task that waits for the process reports its end.
            return;
        }
    }
}

async fn follow(stderr: ChildStderr, server: usize, heard: Heard) {
    let mut reader = BufReader::new(stderr);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match tokio::io::AsyncReadExt::take(&mut reader, 8 * 1024).read_until(b'\n', &mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = beginning(String::from_utf8_lossy(&buffer).trim_end());
        if line.is_empty() {
            continue;
        }
        tracing::debug!(server, "{line}");
        heard.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Inbox;

    /// The events of an output with lines of at most 40 bytes.
    async fn events(output: &str) -> Vec<Event> {
        let (inbox, mut events) = Inbox::new();
        let source = Source { server: 0, run: 0, inbox };
        read_stdout(output.as_bytes(), &source, &Heard::default(), 40).await;
        drop(source);
        let mut seen = Vec::new();
        while let Some(incoming) = events.recv().await {
            seen.push(incoming.event);
        }
        seen
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_reported_with_its_id() {
        let long = "x".repeat(200_000);
        let output =
            format!("{{\"result\":{{\"id\":1,\"text\":\"{long}\"}},\"id\":7}}\n{{\"id\":8,\"result\":{{}}}}\n");
        let seen = events(&output).await;
        let [Event::TooLong(outline), Event::Message { message: Message::Response(id, Ok(_)), .. }] = &seen[..] else {
            panic!("{seen:?}")
        };
        assert_eq!((outline.id().unwrap().as_number(), outline.has_method()), (Some(7), false));
        assert_eq!(id.as_number(), Some(8));
    }
}
