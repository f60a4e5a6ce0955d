//! `allowed-tools`: the tools that a skill asks to use without approval. A request, never a right.

use super::yaml::Node;

/// Reads the value of `allowed-tools`: a list, or a string split at spaces or commas outside
/// parentheses. Entries keep their parentheses (`Bash(git add:*)`). The second value is whether the
/// parentheses are balanced.
pub(crate) fn read(value: &Node) -> (Vec<String>, bool) {
    match value {
        Node::Text { text, .. } => divide(text),
        Node::List(items) => {
            let mut all = Vec::new();
            let mut sound = true;
            for item in items {
                match item {
                    Node::Text { text, .. } => {
                        let (entries, balanced) = divide(text);
                        all.extend(entries);
                        sound &= balanced;
                    }
                    Node::List(_) | Node::Map(_) | Node::Alias => sound = false,
                }
            }
            (all, sound)
        }
        Node::Map(_) | Node::Alias => (Vec::new(), false),
    }
}

/// Splits a text at spaces and commas outside parentheses. Removes flow brackets around the whole
/// and quotes around an entry, which remain when `[Read, "Write"]` is read as text.
pub(crate) fn divide(text: &str) -> (Vec<String>, bool) {
    let text = text.trim();
    let text = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    let mut entries: Vec<String> = Vec::new();
    let mut current = String::new();
    let (mut depth, mut sound) = (0_usize, true);
    for c in text.chars() {
        match c {
            '(' => {
                // `Bash (git:*)` is read as `Bash(git:*)`.
                if depth == 0 && current.is_empty() {
                    current = entries.pop().unwrap_or_default();
                }
                depth += 1;
                current.push(c);
            }
            ')' => {
                sound &= depth > 0;
                depth = depth.saturating_sub(1);
                current.push(c);
            }
            c if depth == 0 && (c == ',' || c.is_whitespace()) => push(&mut entries, &mut current),
            c => current.push(c),
        }
    }
    push(&mut entries, &mut current);
    (entries, sound && depth == 0)
}

fn push(entries: &mut Vec<String>, current: &mut String) {
    let entry = current.trim().trim_matches(['"', '\'']);
    if !entry.is_empty() {
        entries.push(entry.to_owned());
    }
    current.clear();
}
