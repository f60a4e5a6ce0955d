//! The test server and client for the gateway.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The fixture's executable, an example beside the `toolfold` that a test was built with.
/// `cargo test` builds examples with the tests of their package; no test builds anything.
///
/// # Panics
/// Panics if it is missing or older than its sources: `cargo test --test it` builds only the tests.
#[must_use]
pub fn fixture(toolfold: &str) -> String {
    super::timed();
    example(toolfold, "toolfold-fixture", &["fixture/src"]).to_string_lossy().into_owned()
}

/// An example of `toolfold-cli` that is newer than its sources, which are folders below `crates`.
pub(crate) fn example(toolfold: &str, name: &str, sources: &[&str]) -> PathBuf {
    let place = Path::new(toolfold).with_file_name("examples").join(name);
    let built = changed(&place).unwrap_or_else(|| panic!("{} is missing: {BUILD}", place.display()));
    for folder in sources {
        let newest = newest(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder));
        assert!(newest.is_none_or(|source| source <= built), "{} is out of date: {BUILD}", place.display());
    }
    place
}

const BUILD: &str = "run `cargo build -p toolfold-cli --examples`, or `cargo test` without `--test`";

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// The modification time of the newest file below a folder, apart from snapshots, which no build
/// reads.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_none_or(|extension| extension != "snap"));
    paths.iter().filter_map(|path| if path.is_dir() { newest(path) } else { changed(path) }).max()
}
