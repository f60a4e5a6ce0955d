//! Invalid input: each kind has a code, a place and a help text; none panics, loops or grows.

mod catalogues;
mod mutations;
mod profiles;

use toolfold::diagnostic::Diagnostic;

/// The diagnostic with this code, checked for what every printer relies on.
#[track_caller]
fn found<'d>(diagnostics: &'d [Diagnostic], code: &str) -> &'d Diagnostic {
    let found = diagnostics.iter().find(|diagnostic| diagnostic.code == code);
    let Some(found) = found else { panic!("no `{code}` among {diagnostics:#?}") };
    sound(found);
    found
}

/// One line, every invisible character escaped, a place in a file, and a limited length.
#[track_caller]
fn sound(diagnostic: &Diagnostic) {
    let line = diagnostic.to_string();
    assert!(!line.chars().any(toolfold::diagnostic::is_invisible), "{line:?}");
    assert!(line.chars().count() < 2_000, "{} characters: {line:.200}", line.chars().count());
    assert!(diagnostic.place.file.is_some(), "{line}: in which file?");
    assert!(
        diagnostic.place.line.is_none_or(|line| line > 0) && diagnostic.place.column.is_none_or(|column| column > 0)
    );
    let code = diagnostic.code;
    assert!(code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "`{code}` is not kebab-case");
}
