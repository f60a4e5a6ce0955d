//! Reads one source file and lists every name in it that leads to another module or another crate.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::visit::{self, Visit};
use syn::{Item, ItemMod, LitStr, UseTree, Visibility};

/// What a name leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A path of ours, from the crate's root.
    Ours(Vec<String>),
    /// A path of another crate, or of a name in scope. `whole`: a `use` takes in all that is below
    /// it.
    Theirs { path: Vec<String>, whole: bool },
    /// A macro called by its bare name.
    Macro(String),
    /// Something that would lead around the rules.
    Forbidden(&'static str),
}

/// A name in a file.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) line: usize,
    /// As it was written.
    pub(crate) text: String,
    pub(crate) target: Target,
}

/// Every name in a source text. `module` is the path of the file's module, empty for the crate's
/// root.
pub(crate) fn read(text: &str, module: &[String]) -> Result<Vec<Named>, syn::Error> {
    let file = syn::parse_file(text)?;
    let mut reader = Reader { module: module.to_vec(), found: Vec::new() };
    reader.visit_file(&file);
    Ok(reader.found)
}

struct Reader {
    module: Vec<String>,
    found: Vec<Named>,
}

impl Reader {
    fn push(&mut self, line: usize, text: impl Into<String>, target: Target) {
        self.found.push(Named { line, text: text.into(), target });
    }

    /// Notes a path. `whole`: it is the leaf of a `use`.
    fn path(&mut self, line: usize, segments: &[String], whole: bool) {
        let Some(first) = segments.first() else { return };
        let text = segments.join("::");
        let mut rest = segments;
        let mut base: Vec<String> = match first.as_str() {
            "crate" | "toolfold" if segments.len() > 1 || whole => Vec::new(),
            "self" | "super" if segments.len() > 1 || whole => self.module.clone(),
            _ if segments.len() > 1 || whole => {
                return self.push(line, text, Target::Theirs { path: segments.to_vec(), whole });
            }
            _ => return,
        };
        while let Some(step) = rest.first() {
            match step.as_str() {
                "crate" | "toolfold" if base.is_empty() && rest.len() == segments.len() => {}
                "self" => {}
                "super" => {
                    base.pop();
                }
                _ => break,
            }
            rest = &rest[1..];
        }
        base.extend(rest.iter().cloned());
        self.push(line, text, Target::Ours(base));
    }

    fn use_tree(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.use_tree(&path.tree, before);
                before.pop();
            }
            UseTree::Name(name) => self.use_leaf(&name.ident, before),
            UseTree::Rename(rename) => self.use_leaf(&rename.ident, before),
            UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                self.path(line, before, true);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.use_tree(tree, before)),
        }
    }

    fn use_leaf(&mut self, ident: &syn::Ident, before: &[String]) {
        let mut path = before.to_vec();
        if path.is_empty() || ident != "self" {
            path.push(ident.to_string());
        }
        self.path(ident.span().start().line, &path, true);
    }

    /// Tokens that are not parsed: the arguments of macros and attributes.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(first) => {
                    let line = first.span().start().line;
                    let mut path = vec![first.to_string()];
                    while joint(&tokens, at) {
                        match tokens.get(at + 2) {
                            Some(TokenTree::Ident(next)) => path.push(next.to_string()),
                            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                                let trees = syn::punctuated::Punctuated::<UseTree, syn::Token![,]>::parse_terminated;
                                match trees.parse2(group.stream()) {
                                    Ok(trees) => trees.iter().for_each(|tree| self.use_tree(tree, &mut path)),
                                    Err(_) => self.path(line, &path, true),
                                }
                            }
                            Some(TokenTree::Punct(star)) if star.as_char() == '*' => self.path(line, &path, true),
                            _ => {}
                        }
                        at += 3;
                    }
                    let called = matches!(tokens.get(at), Some(TokenTree::Punct(bang)) if bang.as_char() == '!');
                    if called && path.len() == 1 {
                        self.push(line, format!("{first}!"), Target::Macro(first.to_string()));
                    } else {
                        self.path(line, &path, false);
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// Attributes such as `#[serde(with = "crate::…")]` name paths in texts.
    fn texts(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.texts(group.stream()),
                TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    let parsed = syn::parse_str::<LitStr>(&literal.to_string());
                    let path = parsed.ok().and_then(|text| syn::parse_str::<syn::Path>(&text.value()).ok());
                    if let Some(path) = path {
                        self.path(line, &segments(&path), false);
                    }
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::ExternCrate(item) = item {
            let why = "`extern crate` gives a crate another name";
            self.push(item.ident.span().start().line, "extern crate", Target::Forbidden(why));
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if item.attrs.iter().any(|attr| attr.path().is_ident("path")) {
            self.push(item.ident.span().start().line, "#[path]", Target::Forbidden("a module's file has its own name"));
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.use_tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let line = path.segments.first().map_or(0, |segment| segment.ident.span().start().line);
        self.path(line, &segments(path), false);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if let Some(name) = mac.path.get_ident() {
            self.push(name.span().start().line, format!("{name}!"), Target::Macro(name.to_string()));
        }
        visit::visit_macro(self, mac);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        match &attribute.meta {
            syn::Meta::List(list) => self.texts(list.tokens.clone()),
            _ if attribute.path().is_ident("doc") => return,
            _ => {}
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        self.tokens(tokens.clone());
    }

    /// `pub(super)` and `pub(in …)` say who may look in, not what is looked at.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

/// Whether `::` stands at a place among tokens.
fn joint(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    colon(at) && colon(at + 1)
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}
