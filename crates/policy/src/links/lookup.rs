//! Looking up: where the paths lead on which a decision depends.

use super::{Disk, Links, follow, globs, looking};
use crate::call_context::CallContext;
use crate::context::{Context, PolicyCall};
use crate::decision::Effect;
use crate::floor::candidates;
use crate::path::LexPath;
use crate::policy_set::Policy;

impl Policy {
    /// Resolves every path that a decision on this call depends on: the files it names, the literal prefixes of the
    /// rules' patterns, the working folder, and the protected paths. The result is meant for [`Context::links`].
    #[must_use]
    pub fn links(&self, call: &PolicyCall<'_>, context: &Context, disk: &dyn Disk) -> Links {
        let cx = CallContext::new(call, context, self.capability(call, context));
        let mut spots = LexPath::here().spots(context);
        for path in cx.effects.files.iter().filter_map(|file| file.path.as_ref()) {
            spots.extend(path.meanings().flat_map(|meaning| meaning.spots(context)));
        }
        if !cx.effects.files.is_empty() {
            spots.extend(
                self.rules().filter_map(|rule| rule.path.as_ref()).flat_map(|(pattern, _)| pattern.spots(context)),
            );
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
        if self.rules().any(|rule| rule.path.is_some()) {
            for path in cx.effects.files.iter().filter_map(|file| file.path.as_ref()) {
                let Some((glob, tail)) = path.glob_spot(context) else { continue };
                let folder = follow(&path.absolute(context).to_string(), disk);
                if folder.is_some_and(|folder| globs::leads_where_it_says(&folder, tail, disk)) {
                    links.vouch(glob);
                }
            }
            let rules = self.rules().filter(|rule| rule.effect != Effect::Allow);
            looking::look(&cx, rules, context, disk, &mut links);
        }
        links
    }
}
