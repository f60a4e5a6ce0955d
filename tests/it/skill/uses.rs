//! The skills used most keep their descriptions if the list is too long.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolfold::engine::SkillLayer;
use toolfold::skill::{
    Budget, Caller, CatalogText, FittedTool, MemoryFs, Permissions, Precedence, Scope, SkillTool, SkillView, fit_used,
    most_tokens,
};

use super::{discover, root};

/// Sixty skills of a project and one of the user.
fn files() -> MemoryFs {
    let mut fs = MemoryFs::default();
    for n in 0..60 {
        let description = format!("Does the work of department {n} with all of its forms, and of its partners.");
        fs.put(format!("/p/{n}/SKILL.md"), super::skill(&format!("s-{n:02}"), &description, ""));
    }
    fs.put("/u/z/SKILL.md", super::skill("z-used", "Does what is often needed, with every step of it.", ""));
    fs
}

fn view() -> SkillView {
    let roots = vec![root("/p", Scope::Project), root("/u", Scope::User)];
    SkillView::new(&discover(&files(), roots, Precedence::Scopes).0, &Permissions::default(), Caller::Model)
}

fn uses() -> BTreeMap<String, usize> {
    BTreeMap::from([("z-used".to_owned(), 3), ("s-40".to_owned(), 9), ("gone".to_owned(), 50)])
}

/// Skills that were used keep their descriptions before nearer ones, in every form of the list.
#[test]
fn skills_used_most_keep_their_descriptions() {
    let (view, uses) = (view(), uses());
    let fitted = |uses: &BTreeMap<String, usize>, tokens| {
        let cost = |tool: &SkillTool| most_tokens(&tool.description) + most_tokens(&tool.parameters.to_string());
        let fitted = fit_used(&view, uses, tokens, &cost).unwrap();
        assert_eq!(fitted, fit_used(&view, uses, tokens, &cost).unwrap(), "the same input gives the same bytes");
        assert!(fitted.cost <= tokens, "{tokens}");
        fitted
    };
    let whole = |fitted: &FittedTool, name: &str| {
        let line = format!("- {name}: {}\n", view.get(name).unwrap().0.description());
        format!("{}\n", fitted.tool.description).contains(&line)
    };
    for (form, tokens) in [("shortened", 2_200), ("names", 1_500), ("a few names", 800)] {
        let (used, unused) = (fitted(&uses, tokens), fitted(&BTreeMap::new(), tokens));
        let shape = |list: &CatalogText| match (list.trimmed, list.omitted) {
            (1.., 0) => "shortened",
            (0, 0) => "names",
            _ => "a few names",
        };
        assert_eq!((shape(&used.list), shape(&unused.list)), (form, form), "{tokens}");
        for name in ["z-used", "s-40"] {
            assert!(whole(&used, name), "{form}: {name}");
            assert!(used.list.listed.contains(&name.to_owned()), "{form}: {name}");
        }
        assert!(!whole(&unused, "z-used"), "{form}: the farthest");
    }
    assert_eq!(fitted(&uses, 100_000), fitted(&BTreeMap::new(), 100_000), "with room for all, the list is the same");
}

/// A layer asks for the uses at most once, and only if its list must be shortened: the tools of a
/// conversation do not change while skills are used.
#[test]
fn a_layer_reads_the_uses_once() {
    for (budget, times) in [(100_000, 0), (1_500, 1)] {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        let layer = SkillLayer::new(view(), Arc::new(files())).budget(Budget::Tokens(budget)).used(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            uses()
        });
        let first = layer.declared().unwrap().0.description().to_owned();
        assert!(first.contains("- z-used: Does what is often needed, with every step of it."), "{first}");
        for other in [layer.clone(), layer.clone().budget(Budget::Tokens(budget))] {
            assert_eq!(other.declared().unwrap().0.description(), first);
        }
        assert_eq!(asked.load(Ordering::Relaxed), times, "{budget}");
    }
}
