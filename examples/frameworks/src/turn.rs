//! The record of a turn in the examples, and its output.

/// What a turn sent, and the outcomes of its calls.
pub struct Turn {
    /// The request's `tools` as the library writes them.
    pub tools: String,
    /// The digest of the conversation's array.
    pub digest: String,
    /// A line for each call.
    pub calls: Vec<String>,
}

/// Prints turns, and where the tools changed.
pub fn print(turns: Vec<Turn>) {
    let mut last: Option<String> = None;
    for (at, turn) in turns.into_iter().enumerate() {
        let same = if last.as_ref().is_none_or(|last| *last == turn.digest) { "unchanged" } else { "CHANGED" };
        println!("turn {at}: {} bytes of tools, digest {:.12} {same}", turn.tools.len(), turn.digest);
        for call in &turn.calls {
            println!("  {call}");
        }
        last = Some(turn.digest);
    }
}
