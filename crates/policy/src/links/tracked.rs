//! Looking at git: whether a checkout may write, or git may print, a file that a rule names.

use super::{Disk, Links, follow};
use crate::context::Context;
use crate::decision::Fit;
use crate::path::{LexPath, PathPattern};
use crate::prepared::{Prepared, SideEffect, checkout, printed};
use crate::rule::{Access, Rule};
use crate::shell::FileEffect;

/// Looks at what git tracks below the folders that a checkout writes or that git prints files of,
/// and notes for each rule whether it may concern one of these files. Where git gives no answer,
/// the rules ask as without a disk.
pub(super) fn look_at_git(cx: &Prepared<'_>, rules: &[&Rule], disk: &dyn Disk, links: &mut Links) {
    let access = match (checkout(cx), printed(cx)) {
        (Some(_), _) => Access::Write,
        (None, Some(_)) => Access::Read,
        (None, None) => return,
    };
    let mut clear: Vec<(String, PathPattern)> = Vec::new();
    for file in cx.effects.files.iter().filter(|file| file.access == access) {
        let open: Vec<&PathPattern> = open(cx, rules, file);
        let (Some(path), false) = (&file.path, open.is_empty()) else { continue };
        let root = path.absolute(&cx.context).to_string();
        let Some(names) = names(cx, &root, disk) else { continue };
        let looked = Context { links: Some(links.clone()), ..cx.context.as_ref().clone() };
        let Some(real) = follow(&root, disk) else { continue };
        for pattern in open {
            let fits = |name: &String| {
                [&root, &real].into_iter().any(|folder| {
                    let path = LexPath::plain(&format!("{}/{name}", folder.trim_end_matches('/')));
                    pattern.fit(&path, false, &looked, false) != Fit::No
                })
            };
            if !names.iter().any(fits) {
                clear.push((root.clone(), pattern.clone()));
            }
        }
    }
    for (root, pattern) in clear {
        links.looked(&root, &pattern, None);
    }
}

/// The patterns of rules that may name a file below a folder.
fn open<'r>(cx: &Prepared<'_>, rules: &[&'r Rule], file: &FileEffect) -> Vec<&'r PathPattern> {
    let may_fit = |rule: &&&Rule| cx.concerns(rule) && cx.matches(rule, SideEffect::File(file)) == Fit::Maybe;
    rules.iter().filter(may_fit).filter_map(|rule| rule.path.as_ref()).map(|(pattern, _)| pattern).collect()
}

/// The names of all files below a folder that the checkout may write or delete, relative to the
/// folder: those of the index, of HEAD and of the revision; or of all files that git may print.
/// `None`: unknown.
fn names(cx: &Prepared<'_>, folder: &str, disk: &dyn Disk) -> Option<Vec<String>> {
    let Some(checkout) = checkout(cx) else {
        let mut all = disk.ever_tracked(folder, None)?;
        for revision in printed(cx)? {
            all.extend(disk.ever_tracked(folder, Some(revision))?);
        }
        return Some(all);
    };
    let mut all = disk.tracked(folder, None)?;
    if let Some(revision) = checkout.revision {
        let own = disk.tracked(folder, Some(revision))?;
        // A name that is not a revision is a path, or the name of a branch of a remote.
        if own.is_empty() {
            let path = LexPath::here().absolute(&cx.context).to_string();
            let is_tracked = checkout.may_be_path && {
                let below = format!("{}/", revision.trim_end_matches('/'));
                disk.tracked(&path, None)?.iter().any(|name| name == revision || name.starts_with(&below))
            };
            if !is_tracked {
                return None;
            }
        }
        all.extend(own);
    }
    all.extend(disk.tracked(folder, Some("HEAD"))?);
    Some(all)
}
