//! The corpora and their tool lists.

use std::path::{Path, PathBuf};

use toolfold::catalog::Catalog;

/// The tool lists in a folder of the corpora, by file name; none without the corpora.
pub(crate) fn lists(folder: &str) -> Vec<(String, Catalog)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora").join(folder);
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!("skipped: {} does not exist", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|own| own == "json"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let catalog = Catalog::import(&std::fs::read_to_string(path).unwrap(), &name, None).value;
        (!catalog.is_empty()).then_some((name, catalog))
    };
    paths.iter().filter_map(read).collect()
}

/// A file of the corpora; prints a notice if it is missing.
pub(crate) fn corpus(path: &str) -> Option<PathBuf> {
    let full = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora")).join(path);
    if !full.exists() {
        println!("skipped: {} does not exist", full.display());
        return None;
    }
    Some(full)
}
