//! What the checks ask of the syntax of every file, parsed once for all of them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use syn::visit::{self, Visit};

use super::{rust_files, text};

/// What the checks ask of a file's syntax.
pub(super) struct Source {
    pub(super) modules: Vec<Module>,
    /// The number of functions in the inherent `impl` blocks of each type, by the name of the type.
    pub(super) methods: BTreeMap<String, usize>,
    /// The lines of exceptions without a reason.
    pub(super) unexplained: Vec<usize>,
}

/// A module that a file declares: its name, the value of its `#[path = "…"]`, and its own modules
/// if they are in the same file.
pub(super) struct Module {
    pub(super) name: String,
    pub(super) path: Option<String>,
    pub(super) content: Option<Vec<Module>>,
}

/// Every file of Rust, parsed once for all checks.
pub(super) fn sources() -> &'static BTreeMap<String, Source> {
    static ALL: OnceLock<BTreeMap<String, Source>> = OnceLock::new();
    ALL.get_or_init(|| {
        let files = rust_files();
        let read = |half: &[String]| Vec::from_iter(half.iter().map(|path| (path.clone(), Source::read(path))));
        std::thread::scope(|scope| {
            let halves = files.chunks(files.len().div_ceil(2)).map(|half| scope.spawn(move || read(half)));
            Vec::from_iter(halves).into_iter().flat_map(|half| half.join().unwrap()).collect()
        })
    })
}

impl Source {
    fn read(path: &str) -> Self {
        let text = text(path);
        // Only a file that can have one of the three is parsed.
        if !["mod ", "impl", "allow(", "expect(", "allow (", "expect ("].iter().any(|word| text.contains(word)) {
            return Self { modules: Vec::new(), methods: BTreeMap::new(), unexplained: Vec::new() };
        }
        let parsed = syn::parse_file(&text);
        let file = parsed.unwrap_or_else(|why| panic!("{path}:{}: {why}", why.span().start().line));
        let mut methods = BTreeMap::new();
        count_methods(&file.items, &mut methods);
        let mut exceptions = Exceptions(Vec::new());
        exceptions.visit_file(&file);
        Self { modules: modules(&file.items), methods, unexplained: exceptions.0 }
    }
}

fn modules(items: &[syn::Item]) -> Vec<Module> {
    let of = |item: &syn::Item| {
        let syn::Item::Mod(item) = item else { return None };
        let content = item.content.as_ref().map(|(_, items)| modules(items));
        Some(Module { name: item.ident.to_string(), path: path_of(item), content })
    };
    items.iter().filter_map(of).collect()
}

/// The value of `#[path = "…"]` of a module.
fn path_of(item: &syn::ItemMod) -> Option<String> {
    let attribute = item.attrs.iter().find(|attr| attr.path().is_ident("path"))?;
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return None };
    Some(text.value())
}

/// Adds the number of functions in the inherent `impl` blocks of each type, by the name of the
/// type.
fn count_methods(items: &[syn::Item], methods: &mut BTreeMap<String, usize>) {
    for item in items {
        match item {
            syn::Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    count_methods(items, methods);
                }
            }
            syn::Item::Impl(block) if block.trait_.is_none() => {
                let syn::Type::Path(of) = &*block.self_ty else { continue };
                let Some(name) = of.path.segments.last() else { continue };
                let functions = block.items.iter().filter(|item| matches!(item, syn::ImplItem::Fn(_))).count();
                *methods.entry(name.ident.to_string()).or_default() += functions;
            }
            _ => {}
        }
    }
}

/// Every `#[allow]` and `#[expect]` says why: clippy misses those that its own configuration turns
/// off.
struct Exceptions(Vec<usize>);

impl<'ast> Visit<'ast> for Exceptions {
    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let syn::Meta::List(list) = &attribute.meta else { return };
        let excepts = attribute.path().is_ident("allow") || attribute.path().is_ident("expect");
        let says_why = |token| matches!(token, proc_macro2::TokenTree::Ident(word) if word == "reason");
        if excepts && !list.tokens.clone().into_iter().any(says_why) {
            self.0.push(attribute.pound_token.spans[0].start().line);
        }
        visit::visit_attribute(self, attribute);
    }
}

/// A path without `..`.
pub(super) fn normal(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
