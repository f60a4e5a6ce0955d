//! Looking instead of doubting: whether anything below a folder is what a rule denies.
//!
//! A search through a folder (`grep -r`, `find … | xargs grep`, a tool such as `Grep`) reads files
//! that the call does not name. Under a rule over paths, each such call would be uncertain; with
//! access to the host's disk, a walk of bounded length decides it.

use std::collections::BTreeSet;

use super::{Disk, EntryKind, Links, follow};
use crate::context::Context;
use crate::decision::Fit;
use crate::path::{LexPath, PathPattern};
use crate::prepared::{Prepared, SideEffect};
use crate::rule::{Access, Rule};
use crate::shell::FileEffect;

/// Maximum number of names checked on the disk for one call. A larger tree is not searched, and the
/// rule asks as it does without a disk.
const MOST: usize = 20_000;

/// Looks below the folders that a call reads, and notes for each rule what there is.
pub(super) fn look<'r>(cx: &Prepared<'_>, rules: impl Iterator<Item = &'r Rule>, disk: &dyn Disk, links: &mut Links) {
    let context = cx.context.as_ref();
    if cx.is_shell && (cx.searched().next().is_none() || !cx.only_looks()) {
        return;
    }
    let rules: Vec<(&Rule, &PathPattern)> =
        rules.filter_map(|rule| rule.path.as_ref().map(|(pattern, _)| (rule, pattern))).collect();
    // Whatever a tool reads may be a folder.
    let read = |file: &&FileEffect| !cx.is_shell && file.access == Access::Read;
    let read = cx.effects.files.iter().filter(read).map(|file| FileEffect { recursive: true, ..file.clone() });
    let folders: Vec<FileEffect> = if cx.is_shell { cx.searched().cloned().collect() } else { read.collect() };
    let mut left = MOST;
    for folder in &folders {
        let open: Vec<&PathPattern> = rules
            .iter()
            .filter(|(rule, _)| cx.concerns(rule) && cx.matches(rule, SideEffect::File(folder)) == Fit::Maybe)
            .map(|(_, pattern)| *pattern)
            .collect();
        let Some(path) = folder.path.as_ref().filter(|_| !open.is_empty()) else { continue };
        let root = path.absolute(context).to_string();
        let looked = Context { links: Some(links.clone()), ..context.clone() };
        match walk(&root, &open, &looked, disk, &mut left) {
            Ok(found) => {
                for (pattern, found) in open.iter().zip(found).filter(|(_, found)| found.as_ref() != Some(&root)) {
                    links.looked(&root, pattern, found);
                }
            }
            Err(why) => open.iter().for_each(|pattern| links.looked(&root, pattern, Some(why.to_owned()))),
        }
    }
}

/// For each pattern, the first file below a folder that it may fit, links followed; or why that
/// cannot be found out.
fn walk(
    root: &str,
    patterns: &[&PathPattern],
    context: &Context,
    disk: &dyn Disk,
    left: &mut usize,
) -> Result<Vec<Option<String>>, &'static str> {
    const CLOSED: &str = "a folder or a link in what it reads through cannot be looked at";
    let mut found = vec![None; patterns.len()];
    let real = follow(root, disk).ok_or(CLOSED)?;
    let mut seen = BTreeSet::from([real.clone()]);
    let mut check = |text: &str| {
        let path = LexPath::plain(text);
        for (found, pattern) in found.iter_mut().zip(patterns) {
            if found.is_none() && pattern.fit(&path, false, context, false) != Fit::No {
                *found = Some(text.to_owned());
            }
        }
    };
    check(&real);
    // A folder as it was reached, and where it is.
    let mut todo = vec![(root.trim_end_matches('/').to_owned(), real)];
    while let Some((written, real)) = todo.pop() {
        for (name, kind) in disk.entries(&real).ok_or(CLOSED)? {
            *left = left.checked_sub(1).ok_or("it reads through more than 20,000 names")?;
            let (written, path) = (format!("{written}/{name}"), format!("{}/{name}", real.trim_end_matches('/')));
            check(&written);
            let path = match kind {
                EntryKind::Link => follow(&path, disk).ok_or(CLOSED)?,
                EntryKind::Unknown => return Err(CLOSED),
                EntryKind::File | EntryKind::MayBeFolder => path,
            };
            if path != written {
                check(&path);
            }
            if kind != EntryKind::File && seen.insert(path.clone()) {
                todo.push((written, path));
            }
        }
    }
    Ok(found)
}
