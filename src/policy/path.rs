//! Paths and path patterns, read as text alone: this layer sees no disk.
//!
//! `..` and `.` are folded lexically. Symbolic links cannot be seen from here; a host that follows them gives
//! the resolved path as the argument, or denies links. That limit is part of the contract.

use super::decision::Fit;
use super::facts::Facts;
use super::glob::glob_segment;

/// What a path starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// `/`
    Root,
    /// The working folder at the start of the call.
    Here,
    /// `~`
    Home,
}

/// A path after folding `.` and `..`: a base, how many folders above it, and the rest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LexPath {
    /// What it starts from.
    pub base: Base,
    /// Steps above the base. Always 0 for [`Base::Root`].
    pub up: usize,
    /// The segments below.
    pub parts: Vec<String>,
}

impl LexPath {
    /// The working folder itself.
    #[must_use]
    pub fn here() -> Self {
        Self { base: Base::Here, up: 0, parts: Vec::new() }
    }

    /// Reads a path: `/…` absolute, `~` and `~/…` home, anything else below the working folder.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let text = text.strip_prefix("file://").unwrap_or(text);
        if text == "~" || text.starts_with("~/") {
            let home = Self { base: Base::Home, up: 0, parts: Vec::new() };
            return home.join(text.get(2..).unwrap_or_default());
        }
        Self::here().join(text)
    }

    /// This path with another one added: an absolute one replaces it.
    #[must_use]
    pub fn join(&self, text: &str) -> Self {
        let mut path =
            if text.starts_with('/') { Self { base: Base::Root, up: 0, parts: Vec::new() } } else { self.clone() };
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if path.parts.pop().is_none() && path.base != Base::Root {
                        path.up += 1;
                    }
                }
                part => path.parts.push(part.to_owned()),
            }
        }
        path
    }

    /// The same path from the root where the facts allow it.
    #[must_use]
    pub fn absolute(&self, facts: &Facts) -> Self {
        let base = match self.base {
            Base::Root => return self.clone(),
            Base::Here => facts.cwd.as_deref(),
            Base::Home => facts.home.as_deref(),
        };
        let Some(base) = base.filter(|b| b.starts_with('/')) else { return self.clone() };
        let mut path = Self::here().join(base);
        for _ in 0..self.up {
            path.parts.pop();
        }
        path.parts.extend(self.parts.iter().cloned());
        path
    }
}

impl std::fmt::Display for LexPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut lead = match self.base {
            Base::Root => "/".to_owned(),
            Base::Here => String::new(),
            Base::Home => "~/".to_owned(),
        };
        lead.push_str(&"../".repeat(self.up));
        lead.push_str(&self.parts.join("/"));
        f.write_str(if lead.is_empty() { "." } else { &lead })
    }
}

/// A pattern over paths.
///
/// `/…` from the root, `~/…` from home, else from the working folder; `*` and `?` within a segment, `**` any
/// number of segments; a trailing `/` means everything below, and so does a `*` at the end where it forbids. `!` before it turns it round: whatever does *not*
/// fit; where it allows, only below the working folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    negated: bool,
    path: LexPath,
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A sentence if it is empty or has a class (`[…]`), which this layer does not know.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (negated, body) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if body.is_empty() {
            return Err("a path pattern must not be empty".to_owned());
        }
        if body.contains('[') || body.contains('{') {
            return Err("a path pattern knows only `*`, `**` and `?`".to_owned());
        }
        let body = if body.starts_with("//") { body.get(1..).unwrap_or(body) } else { body };
        let mut path = LexPath::read(body);
        if body.ends_with('/') {
            path.parts.push("**".to_owned());
        }
        Ok(Self { negated, path })
    }

    /// Whether it starts neither at the root, nor at home, nor with `./`, nor with `**`: a lint.
    #[must_use]
    pub fn is_bare(&self, text: &str) -> bool {
        self.path.base == Base::Here
            && !text.trim_start_matches('!').starts_with("./")
            && self.path.parts.first().is_none_or(|p| p != "**")
    }

    /// Whether a path fits. `loosen` is set where fitting allows: then case counts, `**` at the end needs
    /// something below, and what cannot be known does not fit.
    #[must_use]
    pub fn fit(&self, path: &LexPath, recursive: bool, facts: &Facts, loosen: bool) -> Fit {
        let fold =
            if loosen { facts.case_sensitive_paths == Some(false) } else { facts.case_sensitive_paths != Some(true) };
        let (pattern, path) = (self.path.absolute(facts), path.absolute(facts));
        let fit = if pattern.base != path.base || pattern.up != path.up {
            // `../x` can never be below `./`; but where `/a` and `b` are to be compared nobody knows.
            if pattern.base == path.base { Fit::No } else { Fit::Maybe }
        } else if segments(&pattern.parts, &path.parts, fold, loosen) {
            Fit::Yes
        } else if recursive && holds(&pattern.parts, &path.parts, fold) {
            Fit::Maybe
        } else {
            Fit::No
        };
        if !self.negated {
            return fit;
        }
        let below =
            |root: &LexPath| path.base == root.base && path.up == root.up && path.parts.starts_with(&root.parts);
        match fit {
            Fit::Yes => Fit::No,
            Fit::Maybe => Fit::Maybe,
            Fit::No if loosen && !below(&LexPath::here().absolute(facts)) => Fit::No,
            Fit::No if recursive => Fit::Maybe,
            Fit::No => Fit::Yes,
        }
    }
}

/// Whether a tree rooted at `path` may hold something that fits.
fn holds(pattern: &[String], path: &[String], fold: bool) -> bool {
    for (i, part) in path.iter().enumerate() {
        match pattern.get(i) {
            Some(p) if p == "**" => return true,
            Some(p) if glob_segment(p, part, fold) => {}
            _ => return false,
        }
    }
    true
}

/// Whether segments fit a pattern with `**`, without recursion.
fn segments(pattern: &[String], path: &[String], fold: bool, loosen: bool) -> bool {
    let (mut p, mut s) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(p), path.get(s)) {
            (None, None) => return true,
            (Some(star), part) if star == "**" => {
                let last = p + 1 == pattern.len();
                if last && (part.is_some() || !loosen) {
                    return true;
                }
                if last {
                    return false;
                }
                retry = Some((p + 1, s));
                p += 1;
                continue;
            }
            // Where it forbids, a `*` at the end means everything below too.
            (Some(a), Some(_)) if a == "*" && !loosen && p + 1 == pattern.len() => return true,
            (Some(a), Some(b)) if glob_segment(a, b, fold) => {
                p += 1;
                s += 1;
                continue;
            }
            _ => {}
        }
        match &mut retry {
            Some((star, from)) if *from < path.len() => {
                *from += 1;
                p = *star;
                s = *from;
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(pattern: &str, path: &str, loosen: bool) -> Fit {
        let facts = Facts { cwd: Some("/repo".to_owned()), ..Facts::default() };
        PathPattern::parse(pattern).unwrap().fit(&LexPath::read(path), false, &facts, loosen)
    }

    #[test]
    fn patterns() {
        use Fit::{No, Yes};
        for (pattern, path, allow, deny) in [
            ("src/**", "src/a/b.rs", Yes, Yes),
            ("src/**", "src", No, Yes),
            ("src/*", "src/a/b.rs", No, Yes),
            ("src/*", "/repo/src/a", Yes, Yes),
            ("**/.env", "a/b/.env", Yes, Yes),
            ("**/.env", ".env", Yes, Yes),
            ("/etc/**", "../etc/passwd", Yes, Yes),
            ("src/**", "src/../secret", No, No),
            ("Makefile", "makefile", No, Yes),
            ("!./src/**", "README.md", Yes, Yes),
            ("!./src/**", "src/a", No, No),
            ("!./**", "/etc/passwd", No, Yes),
            ("reports/", "reports/a", Yes, Yes),
        ] {
            assert_eq!(fit(pattern, path, true), allow, "allow {pattern} ~ {path}");
            assert_eq!(fit(pattern, path, false), deny, "deny {pattern} ~ {path}");
        }
    }
}
