//! Serves one client on standard input and output.

mod streams;

use std::sync::Arc;

use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::backlog::Backlog;
use crate::client::{Client, Sink, ToHub};
use crate::hub::{Begin, Hub, Receipt};
use crate::lines::{Line, read_line};
use crate::link::MAX_MESSAGE;
use crate::rpc::{Fault, Id, Message, error_member};
use crate::settings::Settings;

/// Serves the client until it closes its end or the process is to end (SIGTERM, SIGINT).
///
/// # Errors
/// If the streams cannot be used.
pub async fn serve(settings: Settings, id: String) -> std::io::Result<()> {
    let (input, output) = streams::standard()?;
    let (to, lines) = mpsc::unbounded_channel();
    let begin = Begin::default();
    let backlog = begin.backlog.clone();
    let client = Client::new(0, Arc::new(Lines(to, backlog.clone())));
    let (hub, ended) = Hub::begin(settings, id, begin);
    let writer = tokio::spawn(write_lines(output, lines, backlog));
    let read = read_messages(input, client, &hub);
    tokio::pin!(read);
    // A client ends the conversation by closing its end. Earlier requests are answered.
    tokio::select! {
        () = &mut read => {}
        () = asked_to_end() => tracing::info!("shutting down; waiting for running calls"),
    }
    drop(hub.send(ToHub::Drain).await);
    drop(ended.await);
    drop(tokio::time::timeout(std::time::Duration::from_secs(1), writer).await);
    Ok(())
}

/// Lines for the client's standard output. A line's receipt is dropped after the line is written.
struct Lines(mpsc::UnboundedSender<(String, Option<Receipt>)>, Backlog);

impl Sink for Lines {
    fn send(&self, message: Message, of: Option<&Id>) {
        self.deliver(message, of, None);
    }

    fn deliver(&self, message: Message, _of: Option<&Id>, receipt: Option<Receipt>) {
        let line = message.to_text();
        self.1.add(line.len());
        drop(self.0.send((line, receipt)));
    }
}

async fn read_messages(mut input: impl AsyncBufRead + Unpin, client: Client, hub: &mpsc::Sender<ToHub>) {
    let mut buffer = Vec::new();
    loop {
        let fault = match read_line(&mut input, &mut buffer, MAX_MESSAGE).await {
            Ok(Line::End) | Err(_) => return,
            Ok(Line::TooLong(outline)) => {
                let fault = Fault::too_long(MAX_MESSAGE, outline.id());
                // A server waits for the client's answer.
                if let (Some(id), false) = (&fault.id, outline.has_method()) {
                    let answer = Err(error_member(fault.code, &fault.why));
                    let message = Message::Response(id.clone(), answer);
                    if hub.send(ToHub::Message(client.clone(), message)).await.is_err() {
                        return;
                    }
                    continue;
                }
                fault
            }
            Ok(Line::Whole) => match std::str::from_utf8(&buffer).map(str::trim) {
                Ok("") => continue,
                Ok(text) => match Message::from_json(text) {
                    Ok(message) => {
                        if hub.send(ToHub::Message(client.clone(), message)).await.is_err() {
                            return;
                        }
                        continue;
                    }
                    Err(fault) => fault,
                },
                Err(_) => Fault::not_utf8(),
            },
        };
        client.sink.send(Message::Fault(fault.id, error_member(fault.code, &fault.why)), None);
    }
}

async fn write_lines(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::UnboundedReceiver<(String, Option<Receipt>)>,
    backlog: Backlog,
) {
    while let Some((mut line, receipt)) = lines.recv().await {
        let mut receipts = vec![receipt];
        let mut bytes = line.len();
        line.push('\n');
        // Lines that are already queued are written together.
        while line.len() < 64 * 1024
            && let Ok((more, receipt)) = lines.try_recv()
        {
            receipts.push(receipt);
            bytes += more.len();
            line.push_str(&more);
            line.push('\n');
        }
        if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
            return;
        }
        backlog.subtract(bytes);
        drop(receipts);
    }
}

/// Waits for SIGTERM or SIGINT.
pub async fn asked_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    }
    #[cfg(not(unix))]
    drop(tokio::signal::ctrl_c().await);
}
