//! Looking up: where the paths lead on which a decision depends.

use std::collections::BTreeSet;

use super::{Disk, Links, follow, globs, looking};
use crate::decision::Effect;
use crate::floor::candidates;
use crate::path::LexPath;
use crate::prepared::Prepared;

/// Resolves every path that a decision on a call depends on: the files it names, the literal
/// prefixes of the rules' patterns, the working folder, and the protected paths.
pub(crate) fn look_up(cx: &Prepared<'_>, disk: &dyn Disk) -> Links {
    let (context, rules) = (cx.context.as_ref(), || cx.policy.rules());
    // Most files are named several times: each place is checked once.
    let mut spots = BTreeSet::from_iter(LexPath::here().spots(context));
    for path in cx.effects.files.iter().filter_map(|file| file.path.as_ref()) {
        spots.extend(path.meanings().flat_map(|meaning| meaning.spots(context)));
    }
    if !cx.effects.files.is_empty() {
        let patterns = rules().filter_map(|rule| rule.path.as_ref());
        spots.extend(patterns.flat_map(|(pattern, _)| pattern.spots(context)));
        let guarded = context.protected.iter().chain(&context.secrets);
        spots.extend(guarded.flat_map(|path| LexPath::read(path).spots(context)));
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
    if rules().any(|rule| rule.path.is_some()) {
        for path in cx.effects.files.iter().filter_map(|file| file.path.as_ref()) {
            let Some((glob, tail)) = path.glob_spot(context) else { continue };
            let folder = follow(&path.absolute(context).to_string(), disk);
            if folder.is_some_and(|folder| globs::leads_where_it_says(&folder, tail, disk)) {
                links.vouch(glob);
            }
        }
        looking::look(cx, rules().filter(|rule| rule.effect != Effect::Allow), disk, &mut links);
    }
    links
}
