//! Looking at a disk: where the paths lead on which a decision depends, and whether anything below
//! a folder is what a rule denies.
//!
//! A search through a folder (`grep -r`, `find … | xargs grep`, a tool such as `Grep`) reads files
//! that the call does not name. Under a rule over paths, each such call would be uncertain; with
//! access to the host's disk, a walk of bounded length decides it.

use std::collections::BTreeSet;

use super::tracked::look_at_git;
use super::{Disk, DiskEntry, EntryKind, Links, follow};
use crate::context::Context;
use crate::decision::{Effect, Fit};
use crate::floor::candidates;
use crate::path::tail::{Segment, Tail};
use crate::path::{LexPath, PathPattern};
use crate::prepared::{Prepared, SideEffect};
use crate::rule::{Access, Rule};
use crate::shell::FileEffect;

/// Resolves every path that a decision on a call depends on: the files it names, the literal
/// prefixes of the rules' patterns, the working folder, and the protected paths.
pub(crate) fn look_up(cx: &Prepared<'_>, disk: &dyn Disk) -> Links {
    let (context, rules) = (cx.context.as_ref(), || cx.policy.rules());
    // Most files are named several times: each place is checked once.
    let mut spots = BTreeSet::from_iter(LexPath::here().spots(context));
    for path in cx.effects.paths() {
        spots.extend(path.meanings().flat_map(|meaning| meaning.spots(context)));
    }
    if !cx.effects.files.is_empty() {
        for (pattern, _) in rules().filter_map(|rule| rule.path.as_ref()) {
            spots.extend(pattern.spots(context));
        }
        for path in context.protected.iter().chain(&context.secrets) {
            spots.extend(LexPath::read(path).spots(context));
        }
    }
    let mut links = Links::default();
    for spot in spots {
        let real = follow(&spot, disk);
        links.insert(&spot, real);
    }
    for (word, programs) in candidates(&cx.effects, context) {
        if programs.iter().any(|program| disk.is_own_program(program)) {
            links.own_program(&word);
        }
    }
    // Globs are resolved only where a rule may depend on what they name.
    if cx.judges_paths() {
        for path in cx.effects.paths() {
            let Some((glob, tail)) = path.glob_spot(context) else { continue };
            let folder = follow(&path.absolute(context).to_string(), disk);
            if matches!(&folder, Some(folder) if leads_where_it_says(folder, tail, disk)) {
                links.vouch(glob);
            }
        }
        let restricting: Vec<&Rule> = rules().filter(|rule| rule.effect != Effect::Allow).collect();
        look_at_git(cx, &restricting, disk, &mut links);
        look(cx, &restricting, disk, &mut links);
    }
    links
}

/// The maximum number of names that are examined for one glob.
const MAX_GLOBBED: usize = 2_000;

/// Whether every name that a glob expands to in a folder, and every folder on the way, leads to
/// itself. `false` where this cannot be determined.
fn leads_where_it_says(folder: &str, tail: &Tail, disk: &dyn Disk) -> bool {
    let (mut folders, mut seen) = (vec![folder.trim_end_matches('/').to_owned()], 0_usize);
    for segment in &tail.segments {
        let mut next = Vec::new();
        // `**` is searched at every depth.
        let mut todo = folders;
        if matches!(segment, Segment::Deep) {
            next.clone_from(&todo);
        }
        while let Some(folder) = todo.pop() {
            let Some(names) = disk.names(if folder.is_empty() { "/" } else { &folder }) else { return false };
            for name in names {
                if !segment.may_name(&name, tail.loose) {
                    continue;
                }
                seen += 1;
                let path = format!("{folder}/{name}");
                if seen > MAX_GLOBBED || disk.look(&path) != DiskEntry::Other {
                    return false;
                }
                if matches!(segment, Segment::Deep) {
                    todo.push(path.clone());
                }
                next.push(path);
            }
        }
        folders = next;
    }
    true
}

/// Maximum number of names checked on the disk for one call. A larger tree is not searched, and the
/// rule asks as it does without a disk.
const MAX_NAMES: usize = 20_000;

/// Looks below the folders that a call reads, and notes for each rule what there is.
fn look(cx: &Prepared<'_>, rules: &[&Rule], disk: &dyn Disk, links: &mut Links) {
    let context = cx.context.as_ref();
    if cx.is_shell && (cx.searched().next().is_none() || !cx.only_looks()) {
        return;
    }
    let mut folders: Vec<FileEffect> = Vec::new();
    if cx.is_shell {
        folders.extend(cx.searched().cloned());
    } else {
        // Whatever a tool reads may be a folder.
        for file in cx.effects.files.iter().filter(|file| file.access == Access::Read) {
            folders.push(FileEffect { recursive: true, ..file.clone() });
        }
    }
    let mut left = MAX_NAMES;
    for folder in &folders {
        let mut open: Vec<&PathPattern> = Vec::new();
        for rule in rules {
            if let Some((pattern, _)) = &rule.path
                && cx.concerns(rule)
                && cx.matches(rule, SideEffect::File(folder)) == Fit::Maybe
            {
                open.push(pattern);
            }
        }
        let (Some(path), false) = (&folder.path, open.is_empty()) else { continue };
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
