//! The server and client that the gateway is tested with.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The fixture's executable, which lies beside the one of `toolfold` that a test was built with. `cargo test` builds it with
/// the other members; no test builds anything.
///
/// # Panics
/// If it is not there, or older than its sources: a run of one package alone does not build another's.
#[must_use]
pub fn fixture(toolfold: &str) -> String {
    super::timed();
    let place = Path::new(toolfold).with_file_name("toolfold-fixture");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixture/src");
    let built = changed(&place).unwrap_or_else(|| panic!("{} is missing: {BUILD}", place.display()));
    assert!(newest(&sources).is_none_or(|source| source <= built), "{} is out of date: {BUILD}", place.display());
    place.to_string_lossy().into_owned()
}

const BUILD: &str = "run `cargo build -p toolfold-fixture`, or `cargo test` without `-p`";

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// When the newest file below a folder was changed.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.iter().filter_map(|path| if path.is_dir() { newest(path) } else { changed(path) }).max()
}
