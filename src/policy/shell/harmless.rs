//! Variables that change how something is displayed and nothing that runs: setting one for a command asks nobody.

/// The names, those that begin like one with a `*`, and why they are harmless. Source: the manual of what reads them. Not
/// here, though they look alike: `PYTHONWARNINGS` imports modules, `PYTEST_ADDOPTS` has options, `MPLBACKEND` loads code,
/// `POSIXLY_CORRECT` changes how options are read, `LOCPATH` and `NLSPATH` name files, `PAGER` and `EDITOR` run.
const HARMLESS: &[(&str, &str)] = &[
    ("LANG", "locale(7): the language of messages"),
    ("LANGUAGE", "gettext(1): the languages of messages, by preference"),
    ("LC_*", "locale(7): one category of the locale"),
    ("TZ", "tzset(3): the time zone"),
    ("TERM", "term(7): the name of a terminal"),
    ("COLORTERM", "termcap conventions: whether a terminal has all colours"),
    ("COLUMNS", "environ(7): the width of a terminal"),
    ("LINES", "environ(7): the height of a terminal"),
    ("NO_COLOR", "no-color.org: output without colours"),
    ("FORCE_COLOR", "force-color.org: output with colours"),
    ("CLICOLOR", "ls(1) of BSD: output with colours"),
    ("CLICOLOR_FORCE", "ls(1) of BSD: output with colours, also to a file"),
    ("CI", "a convention of build services: nobody watches"),
    ("PYTHONUNBUFFERED", "python(1): output at once"),
    ("PYTHONDONTWRITEBYTECODE", "python(1): no compiled files"),
    ("PYTHONHASHSEED", "python(1): the order of hashes"),
    ("PYTHONUTF8", "python(1): the encoding of text"),
    ("RUST_BACKTRACE", "std::backtrace: what a panic prints"),
    ("RUST_LOG", "env_logger: what is logged"),
    ("CARGO_TERM_COLOR", "The Cargo Book: output with colours"),
    ("CARGO_TERM_PROGRESS_WHEN", "The Cargo Book: whether progress is shown"),
    ("CARGO_INCREMENTAL", "The Cargo Book: whether a build is incremental"),
    ("GIT_TERMINAL_PROMPT", "git(1): whether git asks on the terminal"),
    ("GIT_OPTIONAL_LOCKS", "git(1): whether git refreshes its index on the way"),
    ("PIP_NO_INPUT", "pip(1): nobody is asked"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "pip(1): no look for a newer pip"),
    ("SOURCE_DATE_EPOCH", "reproducible-builds.org: the time that builds note"),
    ("OMP_NUM_THREADS", "OpenMP 5.2, 21.1.2: how many threads"),
    ("TF_CPP_MIN_LOG_LEVEL", "TensorFlow: what is logged"),
];

/// Whether setting a variable to a value runs, loads and reads nothing. A value that may name a file is none of these.
pub(super) fn is_harmless(name: &str, value: &str) -> bool {
    let listed = HARMLESS.iter().any(|(known, _)| match known.strip_suffix('*') {
        Some(front) => name.starts_with(front),
        None => name == *known,
    });
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
