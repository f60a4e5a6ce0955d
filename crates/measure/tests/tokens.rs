//! The tokens of the built-in tools in every arm, compared exactly; a change is reviewed as a diff.
#![allow(missing_docs, reason = "tests document themselves by name")]

#[allow(dead_code, reason = "the bench also prints the lists of the corpora")]
#[path = "../benches/tokens.rs"]
mod tokens;

#[test]
fn tokens_of_the_builtin_tools() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../benches/ledger");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_description("cargo bench --bench tokens: the built-in tools; review every change");
    settings.bind(|| insta::assert_snapshot!("tokens", tokens::builtin()));
}
