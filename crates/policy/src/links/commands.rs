//! Links that a command line creates itself: `ln -s /etc x && echo > x/passwd`. They are not on
//! disk before the line runs, so they are read from its words.

use crate::argv::{all_known, behind_first, cluster, known, program};
use crate::path::LexPath;
use crate::programs::{self, Links};
use crate::rule::Access;
use crate::shell::{Command, FileEffect, SideEffects};
use crate::unicode::is_same_name;

/// A link that a command creates.
struct NewLink<'a> {
    /// Its target, as written.
    target: &'a str,
    /// The names that it may get: the last operand, or the name of the target within it.
    names: [&'a str; 2],
}

impl NewLink<'_> {
    fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|own| is_same_name(name, own))
    }
}

/// Adds the target as another meaning to every file below a link that the same line creates, and
/// prevents any allow from relying on its name.
pub(crate) fn follow_own_links(effects: &mut SideEffects) {
    let SideEffects { commands, files, .. } = effects;
    for command in commands.iter().filter(|command| creates_links(command)) {
        let Some(links) = links_of(command) else {
            // It may lead anywhere, under any name.
            for file in files.iter_mut() {
                file.path = file.path.take().map(LexPath::made_doubtful);
            }
            continue;
        };
        for link in &links {
            let mut own: Vec<LexPath> = Vec::new();
            for file in files.iter_mut() {
                // The first file under either name is the link itself, which the command writes,
                // and not its target.
                if let Some(path) = &file.path
                    && is_own(file, path, link)
                    && own.len() < 2
                    && !own.contains(path)
                {
                    own.push(path.clone());
                    continue;
                }
                if let Some(path) = file.path.take() {
                    file.path = Some(led(path, link));
                }
            }
        }
    }
}

fn creates_links(command: &Command) -> bool {
    if command.words.len() < 2 {
        return false;
    }
    match programs::known(program(&command.words).unwrap_or_default()).links {
        Some(Links::Always) => true,
        Some(Links::ByOption) => known(&command.words).any(makes_symbolic),
        None => false,
    }
}

/// Whether an option of `ln` makes its links symbolic ones.
fn makes_symbolic(option: &str) -> bool {
    matches!(cluster(option), Some(letters) if letters.contains('s')) || option.starts_with("--sy")
}

/// The links that a command creates. `None` if an operand is unknown.
fn links_of(command: &Command) -> Option<Vec<NewLink<'_>>> {
    let mut operands = all_known(behind_first(&command.words))?;
    operands.retain(|word| !word.starts_with('-'));
    let mut links = Vec::new();
    // Any operand may be a target (`-t` puts the folder first), and any other operand its name.
    for (i, target) in operands.iter().enumerate() {
        let own = last(target);
        if operands.len() == 1 {
            links.push(NewLink { target, names: [own, own] });
        }
        for (j, link) in operands.iter().enumerate() {
            if j != i {
                links.push(NewLink { target, names: [last(link), own] });
            }
        }
    }
    Some(links)
}

/// The last segment of a path.
fn last(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

fn is_own(file: &FileEffect, path: &LexPath, link: &NewLink<'_>) -> bool {
    file.access == Access::Write && matches!(path.parts.last(), Some(last) if link.is_named(last))
}

/// A path with its target as another meaning, if one of its segments is the link.
fn led(path: LexPath, link: &NewLink<'_>) -> LexPath {
    let Some(at) = path.parts.iter().position(|part| link.is_named(part)) else {
        // The glob may name the link, and so lead anywhere.
        let globbed = matches!(path.tail(), Some(t) if t.is_glob() && link.names.iter().any(|own| t.may_name(own)));
        return if globbed { path.made_doubtful() } else { path };
    };
    let (head, rest) = path.split_at(at);
    let target = if link.target.starts_with('~') { LexPath::read(link.target) } else { head.join(link.target) };
    path.with_meaning(target.join(&rest))
}
