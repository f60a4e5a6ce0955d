//! Targets of the skill layer: discovery of 2,000 skills cold under 0.5 s and warm under 60 ms,
//! parsing at 20 MB/s or more, the list text of 500 skills under 1 ms, the check of 5,000 unchanged
//! skills under 5 ms.
#![allow(clippy::disallowed_methods, reason = "a bench reads corpora and makes folders")]

use std::path::PathBuf;

use divan::Bencher;
use divan::counter::BytesCount;
use toolfold::skill::{
    Budget, Caller, Discovery, DiscoveryCache, DiskFs, Document, MemoryFs, Permissions, Root, Scope, SkillLibrary,
    SkillView, activate_tool, catalog_text,
};

fn main() {
    divan::main();
}

/// Real files, or generated ones if the corpus is missing.
fn files() -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora/skills/parity.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let content = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        value.get("content").and_then(|c| c.as_str()).map(str::to_owned)
    };
    let real: Vec<String> = text.lines().filter_map(content).collect();
    if real.is_empty() { (0..250).map(made).collect() } else { real }
}

fn made(number: usize) -> String {
    let body = "A line of the body that says what to do.\n".repeat(150);
    format!(
        "---\nname: skill-{number:04}\ndescription: Does thing {number}. Use when thing {number} is asked for, and in no other case.\n---\n# Steps\n\n{body}"
    )
}

#[divan::bench]
fn parse(bencher: Bencher<'_, '_>) {
    let files = files();
    let bytes: usize = files.iter().map(String::len).sum();
    bencher
        .counter(BytesCount::new(bytes))
        .bench(|| files.iter().filter(|f| Document::read(f.as_bytes(), "SKILL.md", "x").content.is_some()).count());
}

/// A folder with 2,000 skills, created once.
fn folder() -> PathBuf {
    folder_of(2_000)
}

fn folder_of(skills: usize) -> PathBuf {
    let base = std::env::temp_dir().join(format!("toolfold-bench-skills-{skills}"));
    for number in 0..skills {
        let folder = base.join(format!("skill-{number:04}"));
        if !folder.exists() {
            std::fs::create_dir_all(folder.join("references")).expect("a writable folder for temporary files");
            std::fs::write(folder.join("SKILL.md"), made(number)).expect("a writable folder for temporary files");
            std::fs::write(folder.join("references/a.md"), "a").expect("a writable folder for temporary files");
        }
    }
    base
}

fn discovery(path: PathBuf) -> Discovery {
    let mut root = Root::new(path, Scope::User);
    root.trusted = true;
    Discovery::new(vec![root])
}

#[divan::bench(sample_count = 10)]
fn discover_cold(bencher: Bencher<'_, '_>) {
    let discovery = discovery(folder());
    bencher.bench(|| {
        let found = SkillLibrary::discover(&DiskFs, discovery.clone(), &mut DiscoveryCache::default());
        assert_eq!(found.value.skills().len(), 2_000);
    });
}

#[divan::bench(sample_count = 10)]
fn discover_warm(bencher: Bencher<'_, '_>) {
    let mut cache = DiscoveryCache::default();
    let library = SkillLibrary::discover(&DiskFs, discovery(folder()), &mut cache).value;
    bencher.bench_local(|| assert_eq!(library.reload(&DiskFs, &mut cache).value.skills().len(), 2_000));
}

/// What a session waits for before each request.
#[divan::bench]
fn unchanged_5000(bencher: Bencher<'_, '_>) {
    let mut cache = DiscoveryCache::default();
    let _ = SkillLibrary::discover(&DiskFs, discovery(folder_of(5_000)), &mut cache);
    bencher.bench_local(|| assert!(cache.is_current(&DiskFs)));
}

fn view_of_500() -> SkillView {
    let mut fs = MemoryFs::default();
    for number in 0..500 {
        fs.put(format!("/s/{number}/SKILL.md"), made(number));
    }
    let library = SkillLibrary::discover(&fs, discovery(PathBuf::from("/s")), &mut DiscoveryCache::default()).value;
    SkillView::new(&library, &Permissions::default(), Caller::Model)
}

#[divan::bench(args = [8_000, 20_000, 200_000])]
fn catalog_of_500(bencher: Bencher<'_, '_>, chars: usize) {
    let view = view_of_500();
    bencher.bench(|| catalog_text(&view, Budget::Chars(chars)));
}

/// What a host waits for: the view, and the declaration of `activate_skill` fitted into its budget.
#[divan::bench(sample_count = 10)]
fn tool_of_5000(bencher: Bencher<'_, '_>) {
    let mut fs = MemoryFs::default();
    for number in 0..5_000 {
        fs.put(format!("/s/{number}/SKILL.md"), made(number));
    }
    let library = SkillLibrary::discover(&fs, discovery(PathBuf::from("/s")), &mut DiscoveryCache::default()).value;
    bencher.bench(|| {
        let view = SkillView::new(&library, &Permissions::default(), Caller::Model);
        activate_tool(&view, Budget::default()).map(|tool| tool.description.len())
    });
}

#[divan::bench]
fn search_500(bencher: Bencher<'_, '_>) {
    let view = view_of_500();
    let _ = view.search("", 1); // Builds the index.
    bencher.bench(|| view.search("thing 42 steps", 10));
}
