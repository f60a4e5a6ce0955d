//! The profile for `sandbox-exec` of macOS. It is not used yet: a run on macOS is refused.

use std::path::Path;

/// The folders of the system that programs read.
const SYSTEM: [&str; 6] = ["/System", "/usr", "/bin", "/Library/Apple", "/private/var/db/dyld", "/opt/homebrew"];

/// A profile that denies everything except reading the system and `readable`, and writing below
/// `work`. Fails if a path is not Unicode.
#[must_use]
pub fn profile(work: &Path, readable: &[&Path]) -> Option<String> {
    let mut text = "(version 1)\n(deny default)\n(allow process-fork)\n(allow sysctl-read)\n".to_owned();
    text.push_str("(allow signal (target same-sandbox))\n(allow file-read-metadata)\n");
    text.push_str("(allow file-read* file-write-data (literal \"/dev/null\"))\n");
    text.push_str("(allow file-read* (literal \"/dev/urandom\"))\n");
    for path in SYSTEM.iter().map(Path::new).chain(readable.iter().copied()) {
        text.push_str(&format!("(allow file-read* process-exec (subpath {}))\n", quoted(path)?));
    }
    text.push_str(&format!("(allow file-read* file-write* (subpath {}))\n", quoted(work)?));
    Some(text)
}

/// A path as a string of the profile's language.
fn quoted(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control))?;
    Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_folder_is_writable_and_no_path_ends_its_string() {
        let profile = profile(Path::new("/tmp/run"), &[Path::new("/a\"))(allow default)"), Path::new("/b\\")]).unwrap();
        assert_eq!(profile.matches("file-write*").count(), 1);
        assert!(profile.ends_with("(allow file-read* file-write* (subpath \"/tmp/run\"))\n"), "{profile}");
        assert!(profile.contains(r#"(subpath "/a\"))(allow default)"))"#), "{profile}");
        assert!(profile.contains(r#"(subpath "/b\\"))"#), "{profile}");
        assert!(!profile.contains("network"), "{profile}");
        assert_eq!(super::profile(Path::new("/a\nb"), &[]), None);
    }
}
