//! Profile files that are broken, misspelt, or of another catalog.

use toolfold::catalog::Catalog;
use toolfold::diagnostic::{Diagnostic, Severity};
use toolfold::engine::Engine;
use toolfold::profile::ToolProfile;

use super::{found, sound};

const TOOLS: &str = r#"[{"name":"list_sheets","inputSchema":{"type":"object"}},
    {"name":"format_cells","inputSchema":{"type":"object"}},{"name":"write_cells","inputSchema":{"type":"object"}}]"#;

/// The diagnostics of reading a profile and applying it to the three tools above.
fn read(text: &str) -> Vec<Diagnostic> {
    let catalog = Catalog::from_mcp(TOOLS).unwrap();
    let loaded = ToolProfile::parse(text, "profile.toml");
    let mut diagnostics = loaded.diagnostics;
    diagnostics.extend(loaded.value.assign(&catalog).diagnostics);
    diagnostics.iter().for_each(sound);
    diagnostics
}

#[track_caller]
fn check(text: &str, code: &str, severity: Severity, part: &str) {
    let diagnostics = read(text);
    let diagnostic = found(&diagnostics, code);
    assert_eq!(diagnostic.severity, severity, "{diagnostic}");
    assert!(diagnostic.to_string().contains(part), "`{part}` is not in: {diagnostic}");
    assert!(diagnostic.help.is_some() || severity == Severity::Note, "{diagnostic}: and what to do about it?");
}

#[test]
fn syntax_errors_have_a_line() {
    let error = |text, code, part| check(text, code, Severity::Error, part);
    error("core = [", "bad-toml", "profile.toml:1:");
    error("a b c", "bad-toml", "profile.toml:1:");
    error("\ncore = 3", "wrong-type", "profile.toml:2:8");
    error("core = [3]", "wrong-type", "profile.toml:1:9");
    error("name = 3", "wrong-type", "a string, not a number");
    error("name = ''", "bad-name", "profile.toml:1:8");
    error("name = \"a\\u0000\"", "bad-name", "visible");
    error("unlisted = 'gone'", "bad-value", "extended, core or hidden");
    error("unlisted = 1979-05-27", "wrong-type", "a date");
    error("cores = []", "unknown-key", "did you mean `core`?");
    error("category = []", "wrong-type", "a table");
    error("[category]\nformat = 3", "wrong-type", "profile.toml:2:10");
    error("[category.'a b']\ntools = []", "bad-name", "U+0020");
    error("[category.x]", "no-tools", "category `x`");
    error("[category.x]\ntool = []\ntools = []", "unknown-key", "did you mean `tools`?");
    error("[category.x]\ntools = 'list_sheets'", "wrong-type", "profile.toml:2:9");
    error("[summary]\nlist_sheets = ''", "bad-value", "empty");
    error("[summary]\nlist_sheets = 1", "wrong-type", "summary.list_sheets");
    error("[summary]\n'\u{202e}' = 'x'", "bad-name", "U+202E");
    error("core = ['']", "bad-name", "profile.toml:1:9");
    error("core = [\"\u{202e}\"]", "bad-name", "u{202e}");
    check("core = ['list_sheets', 'list_sheets']", "repeated", Severity::Warning, "profile.toml:1:24");
}

#[test]
fn catalog_mismatches_have_a_line() {
    check("core = ['list_sheet']", "unknown-tool", Severity::Error, "did you mean `list_sheets`?");
    check("\n\ncore = ['zebra']", "unknown-tool", Severity::Error, "profile.toml:3:9");
    check("[category.x]\ntools = ['formt_cells']", "unknown-tool", Severity::Error, "did you mean `format_cells`?");
    check("core = ['zebra_*']", "empty-glob", Severity::Warning, "profile.toml:1:9");
    check("[summary]\nzebra = 'x'", "unknown-tool", Severity::Warning, "profile.toml:2:1");
    let two = "[category.a]\ntools = ['list_sheets']\n[category.b]\ntools = ['list_sheets']";
    check(two, "two-categories", Severity::Error, "profile.toml:4:10");
    check("unlisted = 'hidden'", "unlisted-tools", Severity::Warning, "3 tools are");
    check("core = ['list_*']", "unlisted-tools", Severity::Note, "2 tools are");
}

#[test]
fn a_profile_of_another_catalog_is_rejected() {
    let profile = ToolProfile::parse("core = ['zebra', 'lion']", "profile.toml").value;
    let error = Engine::builder(Catalog::from_mcp(TOOLS).unwrap()).profile(profile).build().unwrap_err();
    assert_eq!(error.kind, toolfold::error::ErrorKind::Profile);
    assert_eq!(error.to_string().lines().count(), 2, "{error}");
}

#[test]
fn size_and_depth_are_bounded() {
    check(&format!("# {}", "x".repeat(2_000_000)), "too-large", Severity::Error, "2000 KB");
    check(
        &format!("core = {}{}", "[".repeat(10_000), "]".repeat(10_000)),
        "bad-toml",
        Severity::Error,
        "profile.toml:1:",
    );
    let dotted = format!("{} = 1", vec!["a"; 10_000].join("."));
    assert!(!read(&dotted).is_empty());
}

/// A megabyte of patterns that match nothing. Multiplying costs would take minutes here.
#[test]
fn many_patterns_cost_no_more_than_their_size() {
    let patterns: Vec<String> = (0..5_000).map(|at| format!("'no_{at}'")).collect();
    let diagnostics = read(&format!("core = [{}]", patterns.join(",")));
    assert!((1..=60).contains(&diagnostics.len()), "{} diagnostics", diagnostics.len());
}
