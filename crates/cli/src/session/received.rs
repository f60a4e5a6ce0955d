//! What a session receives: lines of its input, and the ends of scripts that run beside it.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::super::lines::{Line, Lines};
use super::super::output::Failure;
use super::outcome::Ran;

pub(super) enum Received {
    Line(Line),
    /// The script of the run with this number has ended.
    Ran(u64, Ran),
    /// The input has ended, or cannot be read further.
    End(Result<(), Failure>),
}

/// Where a session receives from.
pub(super) enum Inputs {
    /// Lines only: without scripts, nothing else can arrive.
    Lines(Lines),
    /// Lines that another thread reads, and the ends of scripts.
    Both(Receiver<Received>),
}

impl Inputs {
    /// Lines of standard input only.
    pub(super) fn lines() -> Result<Self, Failure> {
        Lines::open_lines("-").map(Self::Lines)
    }

    /// Lines of standard input, and what is sent to the returned sender. At most one line is read
    /// ahead.
    pub(super) fn with_scripts() -> Result<(Self, SyncSender<Received>), Failure> {
        let (sender, receiver) = sync_channel(1);
        let lines = sender.clone();
        let reads = move || {
            let ended = read_lines(&lines);
            // The session has ended if it no longer receives.
            drop(lines.send(Received::End(ended)));
        };
        let thread = std::thread::Builder::new().name("input".to_owned()).spawn(reads);
        thread.map_err(|why| Failure::wrong(format!("no thread can be started: {why}")))?;
        Ok((Self::Both(receiver), sender))
    }

    pub(super) fn next(&mut self) -> Received {
        match self {
            Self::Lines(lines) => match lines.next() {
                Ok(Some(line)) => Received::Line(line),
                Ok(None) => Received::End(Ok(())),
                Err(why) => Received::End(Err(why)),
            },
            // The session itself has a sender, so the channel is never closed.
            Self::Both(receiver) => receiver.recv().unwrap_or(Received::End(Ok(()))),
        }
    }
}

fn read_lines(to: &SyncSender<Received>) -> Result<(), Failure> {
    let mut lines = Lines::open_lines("-")?;
    while let Some(line) = lines.next()? {
        if to.send(Received::Line(line)).is_err() {
            break;
        }
    }
    Ok(())
}
