//! Variables that change how something is displayed and nothing that runs: setting one for a command asks nobody.

use crate::policy::programs;

/// Whether setting a variable to a value runs, loads and reads nothing. A value that may name a file is none of these.
pub(super) fn is_harmless(name: &str, value: &str) -> bool {
    let listed = programs::row("env").is_some_and(|row| row.lists("plain_variables", name));
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.,+@=:-".contains(c) || (name == "TZ" && c == '/');
    // `TZ=:file` and `TZ=/file` are read.
    listed && value.chars().all(plain) && !value.starts_with([':', '/']) && !value.contains("..")
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn only_listed_names_with_plain_values() {
        for (name, value) in [
            ("LANG", "C"),
            ("LC_ALL", "en_US.UTF-8"),
            ("TZ", "Europe/Berlin"),
            ("TZ", "UTC+3"),
            ("NO_COLOR", ""),
            ("RUST_LOG", "debug,hyper=info"),
        ] {
            assert!(is_harmless(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("LANG", "/tmp/x"),
            ("LANG", "../x"),
            ("TZ", ":/etc/passwd"),
            ("TZ", "/etc/passwd"),
            ("TZ", "a/../../b"),
            ("TERM", "../../x"),
            ("LC_ALL", "$(id)"),
            ("LOCPATH", "x"),
            ("LANGX", "C"),
            ("PATH", "x"),
            ("lang", "C"),
            ("PYTHONWARNINGS", "ignore"),
        ] {
            assert!(!is_harmless(name, value), "{name}={value}");
        }
    }
}
