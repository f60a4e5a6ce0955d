//! Feature `watch`: a change on disk swaps the library.

use std::sync::mpsc;
use std::time::Duration;

use toolfold::skill::{Discovery, DiscoveryCache, DiskFs, Root, Scope, SkillLibrary, SkillWatcher};
use toolfold_testing::with;

use super::skill;

#[test]
fn a_change_replaces_the_library_and_not_the_old_one() {
    let base = std::env::temp_dir().join(format!("toolfold-watch-{}", std::process::id()));
    std::fs::create_dir_all(base.join("skills/one")).unwrap();
    std::fs::write(base.join("skills/one/SKILL.md"), skill("one", "first", "")).unwrap();
    let root = |name: &str| with!(Root::new(base.join(name), Scope::User), trusted = true);
    let discovery = Discovery::new(vec![root("skills"), root("later")]);
    let mut cache = DiscoveryCache::default();
    let library = SkillLibrary::discover(&DiskFs, discovery, &mut cache).value;
    let (sender, receiver) = mpsc::channel();
    let watcher = SkillWatcher::start(library, cache, move |loaded| {
        let _ = sender.send(loaded.value.skills().len());
    })
    .unwrap();
    let old = watcher.current();
    std::fs::write(base.join("skills/one/SKILL.md"), skill("one", "second", "")).unwrap();
    std::fs::create_dir_all(base.join("later/two")).unwrap();
    std::fs::write(base.join("later/two/SKILL.md"), skill("two", "x", "")).unwrap();
    let mut names = Vec::new();
    for _ in 0..50 {
        let _ = receiver.recv_timeout(Duration::from_millis(200));
        names = watcher.current().skills().map(|s| format!("{}: {}", s.name(), s.description())).collect();
        if names.len() == 2 {
            break;
        }
    }
    assert_eq!(names, ["one: second", "two: x"]);
    assert_eq!(old.get("one").unwrap().description(), "first");
    drop(watcher);
    let _ = std::fs::remove_dir_all(base);
}
