//! Looking instead of doubting: whether anything below a folder is what a rule denies.
//!
//! A search through a folder (`grep -r`, `find … | xargs grep`) reads files that nobody named. Under a rule over paths that
//! would be a doubt each time; a host that lends its disk has it decided by a walk of bounded length.

use std::collections::BTreeSet;

use super::{Disk, EntryKind, Links, follow};
use crate::policy::call_context::CallContext;
use crate::policy::context::Context;
use crate::policy::decision::Fit;
use crate::policy::path::{LexPath, PathPattern};
use crate::policy::rule::Rule;

/// The most names that one call has looked at. A larger tree is not looked through, and the rule asks as without a disk.
const MOST: usize = 20_000;

/// Looks below the folders that a call reads, and notes for which rules there is nothing.
pub(super) fn look<'r>(
    cx: &CallContext<'_>,
    rules: impl Iterator<Item = &'r Rule>,
    context: &Context,
    disk: &dyn Disk,
    links: &mut Links,
) {
    if cx.searched().next().is_none() || !cx.only_looks() {
        return;
    }
    let rules: Vec<(&Rule, &PathPattern)> =
        rules.filter_map(|rule| rule.path.as_ref().map(|(pattern, _)| (rule, pattern))).collect();
    let mut left = MOST;
    for folder in cx.searched() {
        let open: Vec<&PathPattern> = rules
            .iter()
            .filter(|(rule, _)| cx.concerns(rule) && cx.file_fit(rule, folder) == Fit::Maybe)
            .map(|(_, pattern)| *pattern)
            .collect();
        let Some(path) = folder.path.as_ref().filter(|_| !open.is_empty()) else { continue };
        let root = path.absolute(context).to_string();
        let looked = Context { links: Some(links.clone()), ..context.clone() };
        if let Some(found) = walk(&root, &open, &looked, disk, &mut left) {
            let clear = open.iter().zip(found).filter(|(_, found)| !found);
            clear.for_each(|(pattern, _)| links.clear(&root, pattern));
        }
    }
}

/// Which of the patterns something below a folder may fit, links followed. `None` where that cannot be found out.
fn walk(
    root: &str,
    patterns: &[&PathPattern],
    context: &Context,
    disk: &dyn Disk,
    left: &mut usize,
) -> Option<Vec<bool>> {
    let mut found = vec![false; patterns.len()];
    let real = follow(root, disk)?;
    let mut seen = BTreeSet::from([real.clone()]);
    let mut check = |path: &str| {
        let path = LexPath::plain(path);
        for (found, pattern) in found.iter_mut().zip(patterns) {
            *found = *found || pattern.fit(&path, false, context, false) != Fit::No;
        }
    };
    check(&real);
    // A folder as it was reached, and where it is.
    let mut todo = vec![(root.trim_end_matches('/').to_owned(), real)];
    while let Some((written, real)) = todo.pop() {
        for (name, kind) in disk.entries(&real)? {
            *left = left.checked_sub(1)?;
            let (written, path) = (format!("{written}/{name}"), format!("{}/{name}", real.trim_end_matches('/')));
            check(&written);
            let path = match kind {
                EntryKind::Link => follow(&path, disk)?,
                EntryKind::Unknown => return None,
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
    Some(found)
}
