//! Patterns over paths. For an allow, a pattern is compared narrowly: the path as written and its
//! real path must both fit exactly. For ask and deny it is compared broadly: any meaning of the
//! text and any path it leads to, ignoring case.

use std::cell::OnceCell;

use super::tail::{How, Tail, lies};
use super::view::View;
use super::{Base, LexPath};
use crate::context::Context;
use crate::decision::Fit;
use crate::pattern_error::{InvalidValue, invalid};
use crate::unicode::Equivalence;

/// A pattern over paths.
///
/// `/…` from the root, `~/…` from home, else from the working folder; `*` and `?` within a segment,
/// `**` any number of segments. A trailing `/` covers everything below, and so does a `*` at the
/// end in an ask or deny. `**` at the front means below the working folder in an allow, and
/// anywhere in an ask or deny. A leading `!` negates the pattern: it covers whatever does *not*
/// fit; in an allow, only below the working folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    negated: bool,
    path: LexPath,
}

/// The extent of a path.
#[derive(Debug, Clone, Copy)]
struct Reach<'t> {
    /// Whether everything below it is included.
    recursive: bool,
    /// What follows its segments where that is known only when the call runs. It then tells whether
    /// everything below is included.
    tail: Option<&'t Tail>,
}

impl<'t> Reach<'t> {
    fn of(path: &'t LexPath, recursive: bool) -> Self {
        let tail = path.tail();
        Self { recursive: tail.map_or(recursive, |tail| tail.recursive), tail }
    }
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`InvalidValue`] if the pattern is empty or has a class (`[…]`), which this layer does not
    /// support.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidValue> {
        let (negated, body) = if let Some(rest) = text.strip_prefix('!') { (true, rest) } else { (false, text) };
        if body.is_empty() {
            return invalid("a path pattern must not be empty");
        }
        if let Some(c) = body.chars().find(|c| matches!(c, '[' | '{')) {
            return invalid(format!("a path pattern supports only `*`, `**` and `?`, and not `{c}`"));
        }
        let body = body.strip_prefix("file://").unwrap_or(body);
        let body = if body.starts_with("//") { body.get(1..).unwrap_or(body) } else { body };
        let mut path = LexPath::plain(body);
        if body.ends_with('/') {
            path.parts.push("**".to_owned());
        }
        Ok(Self { negated, path })
    }

    /// The pattern that fits exactly one path.
    pub(crate) fn literal(path: &str) -> Self {
        Self { negated: false, path: LexPath::plain(path) }
    }

    /// Whether a segment of it is this name, and not a pattern that covers it.
    pub(crate) fn names(&self, segment: &str) -> bool {
        self.path.parts.iter().any(|part| part.eq_ignore_ascii_case(segment))
    }

    /// Whether it is unanchored, for the lint: it starts neither at the root, nor at home, nor with
    /// `./`, nor with `**`.
    pub(crate) fn is_bare(&self, text: &str) -> bool {
        self.path.base == Base::Here && !text.trim_start_matches('!').starts_with("./") && !self.is_anywhere()
    }

    /// Whether a path fits. `loosen` is set where fitting allows: then case counts, `**` at the end
    /// needs something below, and what cannot be known does not fit.
    pub(crate) fn fit(&self, path: &LexPath, recursive: bool, context: &Context, loosen: bool) -> Fit {
        if loosen { self.fit_narrow(path, recursive, context) } else { self.fit_wide(path, recursive, context) }
    }

    /// For an allow: the path as written and wherever it leads must fit.
    fn fit_narrow(&self, path: &LexPath, recursive: bool, context: &Context) -> Fit {
        if path.is_odd() {
            return Fit::No;
        }
        let how = self.how(false, context);
        let here = LexPath::here();
        let written = self.path.view(context);
        let reach = Reach::of(path, recursive);
        let mut fit = self.one(&written, &path.view(context), reach, how, Some(&here.view(context)));
        let Some(links) = &context.links else { return fit };
        if path.tail().is_some() {
            // Nobody has resolved where its names lead.
            return Fit::No;
        }
        // The model may have created a link in the pattern's own text, so links are followed only
        // in its base.
        let (based, here) = (self.based(context), here.absolute(context));
        let here = links.follow_path(&here).unwrap_or(here);
        let (based, here) = (based.view(context), here.view(context));
        let spots = path.spots(context);
        if spots.is_empty() {
            return Fit::No;
        }
        for spot in spots {
            let Some(real) = links.real_path(&spot) else { return Fit::No };
            let real = real.view(context);
            fit = fit.min(self.one(&based, &real, reach, how, Some(&here)));
            // A negated pattern must not lead into the excluded paths, either.
            if self.negated {
                fit = fit.min(self.one(&self.followed(context).view(context), &real, reach, how, Some(&here)));
            }
        }
        fit
    }

    /// For an ask or deny: any meaning, and any path it leads to.
    fn fit_wide(&self, path: &LexPath, recursive: bool, context: &Context) -> Fit {
        let fit = self.fit_meanings(path, recursive, true, context);
        let (Fit::No, Some(links)) = (fit, &context.links) else { return fit };
        if path.is_glob() && !matches!(path.glob_spot(context), Some((glob, _)) if links.vouches(&glob)) {
            // A glob may match links that were not resolved: any entry of the folder may lead to
            // a path of the pattern.
            return self.fit_meanings(path, recursive, false, context).min(Fit::Maybe);
        }
        fit
    }

    fn fit_meanings(&self, path: &LexPath, recursive: bool, by_tail: bool, context: &Context) -> Fit {
        let how = self.how(true, context);
        // A pattern that fits anywhere needs no known folder.
        let only_names = how.wide && self.is_anywhere() && !recursive && context.links.is_none();
        let only_names = only_names && self.path.start(context).is_some();
        let written = OnceCell::new();
        let mut fit = if path.doubt { Fit::Maybe } else { Fit::No };
        for meaning in path.meanings() {
            let reach = if by_tail { Reach::of(meaning, recursive) } else { Reach { recursive, tail: None } };
            // Where both begin in one folder, it does not matter which that is.
            let share = self.path.base == meaning.base && self.path.up == 0 && meaning.up == 0;
            if share && context.links.is_none() && !(how.wide && self.is_anywhere()) {
                let own = lies(&self.path.parts, &meaning.parts, reach.tail, reach.recursive, how);
                fit = fit.max(self.judged(own, reach, true));
                continue;
            }
            if only_names && meaning.tail().is_none() && !self.may_lie(meaning, context, how) {
                continue;
            }
            let text = meaning.view(context);
            if only_names && meaning.tail().is_none() && text.base == Base::Root {
                fit = fit.max(lies(&self.path.parts, &text.parts, None, false, how));
                continue;
            }
            let written = written.get_or_init(|| self.path.view(context));
            fit = fit.max(self.one(written, &text, reach, how, None));
            let Some(links) = &context.links else { continue };
            // A negated pattern fits outside the pattern: following links there would make it fit
            // more, not less.
            let followed = if self.negated { self.based(context) } else { self.followed(context) };
            let followed = followed.view(context);
            if !self.negated {
                fit = fit.max(self.one(&followed, &text, reach, how, None));
            }
            let spots = meaning.spots(context);
            if spots.is_empty() {
                fit = fit.max(Fit::Maybe);
            }
            for spot in spots {
                let Some(real) = links.real_path(&spot) else {
                    fit = fit.max(Fit::Maybe);
                    continue;
                };
                let real = real.view(context);
                fit = fit.max(self.one(&followed, &real, reach, how, None));
                if !self.negated {
                    fit = fit.max(self.one(written, &real, reach, how, None));
                }
            }
        }
        fit
    }

    /// Whether each name of the pattern may be one of a path, which has no tail.
    fn may_lie(&self, path: &LexPath, context: &Context, how: How) -> bool {
        let fits = |part: &str, name: &str| how.equivalence.segment(part, name);
        let is_in = |part: &String| {
            path.parts.iter().any(|name| fits(part, name))
                || path.start(context).is_some_and(|start| start.split('/').any(|name| fits(part, name)))
        };
        self.path.parts.iter().all(|part| part == "**" || is_in(part))
    }

    /// How its segments are compared where the whole is compared broadly, or narrowly. For a
    /// negated pattern it is the other way round.
    fn how(&self, wide: bool, context: &Context) -> How {
        let equivalence = Equivalence::of(wide == self.negated, context.case_sensitive_paths);
        How { equivalence, wide: wide != self.negated, none: wide || self.negated }
    }

    /// Compares one pattern with one path, both from the root if that is known. `inside` is the
    /// folder that a negated pattern of an allow is confined to.
    fn one(&self, pattern: &View<'_>, path: &View<'_>, reach: Reach<'_>, how: How, inside: Option<&View<'_>>) -> Fit {
        let anywhere = how.wide && self.is_anywhere();
        let near =
            if anywhere { lies(&self.path.parts, &path.parts, reach.tail, reach.recursive, how) } else { Fit::No };
        let fit = if near == Fit::Yes {
            Fit::Yes
        } else if pattern.base != path.base {
            // Whether `/a` and `b` share a base is unknown.
            Fit::Maybe
        } else if pattern.up == path.up {
            lies(&pattern.parts, &path.parts, reach.tail, reach.recursive, how).max(near)
        } else if inside.is_none() && !self.negated {
            // `../x` is never certainly below `./`, but may lead back into it.
            Fit::Maybe
        } else {
            near
        };
        let below =
            |root: &View<'_>| path.base == root.base && path.up == root.up && path.parts.starts_with(&root.parts);
        self.judged(fit, reach, inside.is_none_or(below))
    }

    /// How a path fits whose segments fit those of the pattern so: of a negated one the opposite,
    /// as far as the path is where that counts.
    fn judged(&self, fit: Fit, reach: Reach<'_>, is_inside: bool) -> Fit {
        if !self.negated {
            return fit;
        }
        match fit {
            Fit::Yes => Fit::No,
            Fit::Maybe => Fit::Maybe,
            Fit::No if !is_inside => Fit::No,
            Fit::No if reach.recursive => Fit::Maybe,
            Fit::No => Fit::Yes,
        }
    }

    /// Whether it covers everything below the root.
    pub(crate) fn is_everything(&self) -> bool {
        !self.negated && self.path.base == Base::Root && self.path.parts.iter().all(|part| part == "**")
    }

    /// Whether a segment has `**` beside other characters, which is no more than `*`.
    pub(crate) fn has_glued_stars(&self) -> bool {
        self.path.parts.iter().any(|part| part.contains("**") && part != "**")
    }

    /// A path that it covers, with this text for each `**`.
    pub(crate) fn sample(&self, between: &str) -> String {
        let mut text = String::new();
        for part in &self.path.parts {
            if !text.is_empty() {
                text.push('/');
            }
            text.push_str(&part.replace("**", between).replace(['*', '?'], "f"));
        }
        match self.path.base {
            Base::Root => format!("/{text}"),
            Base::Home => format!("~/{text}"),
            // What is negated covers the rest.
            Base::Here if self.negated => format!("/outside/{text}"),
            Base::Here => format!("{}{text}", "../".repeat(self.path.up)),
        }
    }

    /// Whether it begins with `**`.
    fn is_anywhere(&self) -> bool {
        self.path.base == Base::Here && matches!(self.path.parts.first(), Some(part) if part == "**")
    }

    /// The absolute paths that must be resolved for this pattern: its base and its literal prefix.
    pub(crate) fn spots(&self, context: &Context) -> Vec<String> {
        let path = self.path.absolute(context);
        if path.base != Base::Root {
            return Vec::new();
        }
        vec![self.base(context).to_string(), front(&path).0.to_string()]
    }

    /// The folder that it starts from: the working folder, home, or the root.
    fn base(&self, context: &Context) -> LexPath {
        LexPath { parts: Vec::new(), ..self.path.clone() }.absolute(context)
    }

    /// The pattern with links followed in its base.
    fn based(&self, context: &Context) -> LexPath {
        below(self.base(context), &self.path.parts, context)
    }

    /// The pattern with links followed up to its first glob.
    fn followed(&self, context: &Context) -> LexPath {
        let (front, rest) = front(&self.path.absolute(context));
        below(front, &rest, context)
    }
}

/// Segments below a folder, with links followed in that.
fn below(folder: LexPath, parts: &[String], context: &Context) -> LexPath {
    let real = if let Some(links) = &context.links { links.follow_path(&folder) } else { None };
    let mut path = real.unwrap_or(folder);
    path.parts.extend_from_slice(parts);
    path
}

/// A path up to its first segment with a glob, and the segments from there.
fn front(path: &LexPath) -> (LexPath, Vec<String>) {
    let literal = path.parts.iter().position(|part| part.contains(['*', '?'])).unwrap_or(path.parts.len());
    let mut front = path.clone();
    let rest = front.parts.split_off(literal);
    (front, rest)
}
