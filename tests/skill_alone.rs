//! Layer 2 compiles with its two neighbours and nothing else of the crate.
#![allow(
    dead_code,
    unused_imports,
    missing_docs,
    unreachable_pub,
    rustdoc::broken_intra_doc_links,
    clippy::disallowed_methods,
    reason = "the layer is compiled a second time, alone, to prove what it uses"
)]

#[path = "../src"]
mod layer {
    pub mod diagnostic;
    pub mod name;
    pub mod skill;
}
use layer::{diagnostic, name, skill};

#[test]
fn the_layer_is_independent() {
    let document = skill::Document::read(b"---\nname: x\ndescription: y\n---\n", "SKILL.md", "x");
    assert!(document.strict.is_empty() && document.diagnostics.iter().all(|d| !diagnostic::Diagnostic::is_error(d)));
    assert_eq!(name::nearest("skil", ["skill"], 1), ["skill"]);
}
