//! Paths, read as text: this layer has no disk access.
//!
//! `..` and `.` are folded lexically, and a path remembers the steps that were folded away, because
//! a symbolic link before a `..` changes where it leads. The host provides where links lead
//! ([`Context::links`](super::context::Context::links)). Without that, a path is evaluated as
//! written, and a link fits whatever its name fits. This limit is part of the contract. So are two
//! limits that no context lifts: hard links and mounts cannot be distinguished from files, and
//! changes between the decision and the call are not seen.

use super::context::Context;
use tail::Tail;

mod form;
mod pattern;
mod positions;
pub(crate) mod tail;
mod view;

pub(crate) use pattern::PathPattern;

/// The start of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Base {
    /// `/`
    Root,
    /// The working folder at the start of the call.
    Here,
    /// `~`
    Home,
}

/// A path after folding `.` and `..`: a base, the number of folders above it, and the remaining
/// segments.
///
/// Two paths are equal if they fold to the same result, whatever their form.
#[derive(Debug, Clone)]
pub struct LexPath {
    /// Its start.
    pub base: Base,
    /// Steps above the base. Always 0 for [`Base::Root`].
    pub up: usize,
    /// The segments below the base.
    pub parts: Vec<String>,
    /// Every step from the base as written, if one of them does not enter a folder or file.
    way: Option<Vec<Step>>,
    /// Other meanings of the text. Only ask and deny consider them.
    also: Vec<LexPath>,
    /// Whether programs may disagree about what it names, so that no allow fits.
    odd: bool,
    /// Whether it may name something that is not known here.
    doubt: bool,
    /// What follows the segments, where that is known only when the call runs.
    tail: Option<Box<Tail>>,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Into a folder or file of this name.
    Down(String),
    /// `..` as the kernel resolves it: the parent of the real folder.
    Up,
    /// `..` of a `cd`, which the shell folds as text. Other programs that change folders do not.
    Back,
}

/// The maximum number of meanings kept for one text.
const MOST: usize = 32;

impl LexPath {
    fn at(base: Base) -> Self {
        Self { base, up: 0, parts: Vec::new(), way: None, also: Vec::new(), odd: false, doubt: false, tail: None }
    }

    /// The working folder itself.
    #[must_use]
    pub(crate) fn here() -> Self {
        Self::at(Base::Here)
    }

    /// Reads the path that an argument names: `/…` absolute, `~` and `~/…` home, `file:///…` as a
    /// URL, anything else below the working folder. A text that a tool may take for another path
    /// (escapes, backslashes, `~user`, `/proc/self`) fits no allow; ask and deny consider every
    /// meaning.
    pub(crate) fn read(text: &str) -> Self {
        let text = form::plain_url(text).unwrap_or(text);
        let mut path = Self::plain(text);
        path.spell(text, Self::plain);
        path
    }

    /// A text taken literally, without other meanings: for patterns, which the model does not
    /// write.
    pub(crate) fn plain(text: &str) -> Self {
        let text = form::plain_url(text).unwrap_or(text);
        if text == "~" || text.starts_with("~/") {
            // `~//x` is `~/x`, and not `/x`.
            return Self::at(Base::Home).with(text.get(2..).unwrap_or_default().trim_start_matches('/'), &Step::Up);
        }
        Self::here().with(text, &Step::Up)
    }

    /// This path joined with another one. An absolute path replaces it.
    pub(crate) fn join(&self, text: &str) -> Self {
        self.added(text, &Step::Up)
    }

    /// The same as `cd` in the shell: `..` removes the last step of the text, wherever that led.
    pub(crate) fn enter(&self, text: &str) -> Self {
        self.added(text, &Step::Back)
    }

    fn added(&self, text: &str, up: &Step) -> Self {
        let mut path = self.with(text, up);
        path.also = self.also.iter().map(|other| other.with(text, up)).collect();
        let from = |text: &str| {
            if text == "~" || text.starts_with("~/") { Self::plain(text) } else { self.with(text, up) }
        };
        path.spell(text, from);
        path
    }

    /// Adds the other meanings of a text.
    fn spell(&mut self, text: &str, read: impl Fn(&str) -> Self) {
        self.spell_once(text, &read);
        // `/x/../proc/self/root`, and `self/root` below `/proc`, also lead into `/proc/self`.
        if self.base == Base::Root && matches!(self.parts.first(), Some(first) if form::has_aliases(first)) {
            let folded = self.to_string();
            if folded != text {
                self.spell_once(&folded, &read);
            }
        }
        self.doubt |= self.also.len() > MOST;
        self.also.truncate(MOST);
    }

    fn spell_once(&mut self, text: &str, read: &impl Fn(&str) -> Self) {
        let readings = form::readings(text);
        self.odd |= readings.odd;
        self.doubt |= readings.doubt;
        for text in &readings.texts {
            self.add_meaning(read(text));
        }
    }

    fn with(&self, text: &str, up: &Step) -> Self {
        let mut path = if text.starts_with('/') {
            Self::at(Base::Root)
        } else {
            Self { also: Vec::new(), tail: None, ..self.clone() }
        };
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    let mut way = path.take_way();
                    way.push(up.clone());
                    path.way = Some(way);
                    if path.parts.pop().is_none() && path.base != Base::Root {
                        path.up += 1;
                    }
                }
                part => {
                    if let Some(way) = &mut path.way {
                        way.push(Step::Down(part.to_owned()));
                    }
                    path.parts.push(part.to_owned());
                }
            }
        }
        path
    }

    /// The steps, even if they equal the segments.
    fn take_way(&mut self) -> Vec<Step> {
        self.way.take().unwrap_or_else(|| self.parts.iter().cloned().map(Step::Down).collect())
    }

    /// The same path from the root, where the context allows that.
    pub(crate) fn absolute(&self, context: &Context) -> Self {
        let Some(base) = self.start(context) else { return self.clone() };
        let mut path = Self { odd: self.odd, doubt: self.doubt, ..Self::at(Base::Root).with(base, &Step::Up) };
        if path.way.is_some() || self.way.is_some() {
            let mut way = path.take_way();
            way.extend(self.clone().take_way());
            path.way = Some(way);
        }
        path.parts.truncate(path.parts.len().saturating_sub(self.up));
        path.parts.extend(self.parts.iter().cloned());
        path.also = self.also.iter().map(|other| other.absolute(context)).collect();
        path
    }

    /// All meanings of the text, the most likely first.
    pub(crate) fn meanings(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.also)
    }

    /// Whether its form prevents any allow from fitting.
    pub(crate) fn is_odd(&self) -> bool {
        self.odd || self.doubt
    }

    /// The same path, which may also name anything else.
    pub(crate) fn made_doubtful(mut self) -> Self {
        self.doubt = true;
        self
    }

    /// The same path as a folder, followed by names that are known only when the call runs.
    pub(crate) fn with_tail(mut self, tail: Tail) -> Self {
        self.tail = Some(Box::new(tail));
        self
    }

    /// The same path, where the shell's options may have changed.
    pub(crate) fn loosened(mut self) -> Self {
        if let Some(tail) = &mut self.tail {
            tail.loose = true;
        }
        self
    }

    /// What follows its segments, where that is known only when the call runs.
    pub(crate) fn tail(&self) -> Option<&Tail> {
        self.tail.as_deref()
    }

    /// Whether it ends in a glob, which may name symbolic links.
    pub(crate) fn is_glob(&self) -> bool {
        matches!(&self.tail, Some(tail) if tail.is_glob())
    }

    /// The path as displayed to a person, from the root where the context allows that.
    pub(crate) fn displayed(&self, context: &Context) -> String {
        let folder = self.absolute(context).to_string();
        match self.tail() {
            None => folder,
            Some(tail) if tail.is_glob() => format!("{}/{}", folder.trim_end_matches('/'), tail.name()),
            Some(_) => format!("files below {folder}"),
        }
    }

    /// The absolute text of a glob below a plain folder, and the glob.
    pub(crate) fn glob_spot(&self, context: &Context) -> Option<(String, &Tail)> {
        let tail = self.tail().filter(|_| self.way.is_none())?;
        let folder = self.absolute(context);
        let text = tail.text().filter(|_| folder.base == Base::Root)?;
        Some((format!("{}/{text}", folder.to_string().trim_end_matches('/')), tail))
    }

    /// The folder that contains its segment `at`, and what follows that segment.
    pub(crate) fn split_at(&self, at: usize) -> (Self, String) {
        let head = Self { base: self.base, up: self.up, ..Self::at(self.base) };
        let head = head.with(&self.parts.get(..at).unwrap_or_default().join("/"), &Step::Up);
        (head, self.parts.get(at + 1..).unwrap_or_default().join("/"))
    }

    /// The same path with a meaning that the text alone does not reveal, so that no allow fits.
    pub(crate) fn with_meaning(mut self, other: Self) -> Self {
        self.odd = true;
        self.add_meaning(other);
        self
    }

    fn add_meaning(&mut self, other: Self) {
        if other != *self && !self.also.contains(&other) {
            self.also.push(Self { also: Vec::new(), ..other });
        }
    }

    /// Every absolute path that it may name: each meaning as written, and where it leads.
    pub(crate) fn everywhere(&self, context: &Context) -> Vec<Self> {
        let mut all = Vec::new();
        for meaning in self.meanings() {
            all.push(meaning.absolute(context));
            let Some(links) = &context.links else { continue };
            all.extend(meaning.spots(context).iter().filter_map(|spot| links.real_path(spot)));
        }
        all
    }

    /// Where a symbolic link leads it, if one does. `Some(None)`: unknown.
    pub(crate) fn leads_elsewhere(&self, context: &Context) -> Option<Option<String>> {
        let links = context.links.as_ref().filter(|links| !links.is_empty())?;
        let mut written = self.absolute(context).to_string();
        // The working folder may itself be behind a link. Then it is where the host says it is.
        let base = if self.up == 0 { links.follow_path(&Self::at(self.base).absolute(context)) } else { None };
        if let Some(mut base) = base {
            base.parts.extend(self.parts.iter().cloned());
            written = base.to_string();
        }
        for spot in self.spots(context) {
            let Some(real) = links.real_path(&spot) else { return Some(None) };
            let real = real.to_string();
            if real != written {
                return Some(Some(real));
            }
        }
        None
    }

    /// The absolute texts whose targets tell where this path leads: as folded, and step by step if
    /// that may differ. Empty where the base is unknown.
    pub(crate) fn spots(&self, context: &Context) -> Vec<String> {
        let path = self.absolute(context);
        if path.base != Base::Root {
            return Vec::new();
        }
        let mut spots = vec![path.to_string()];
        if let Some(way) = &path.way {
            for keeps_back in [false, true] {
                let spot = walked(way, keeps_back);
                if !spots.contains(&spot) {
                    spots.push(spot);
                }
            }
        }
        spots
    }
}

/// Whether a segment of a text is `..`, whichever slash separates its segments.
pub(crate) fn names_parent(text: &str) -> bool {
    text.split(['/', '\\']).any(|part| part == "..")
}

/// The steps as a path, with every `..` that links may affect.
fn walked(way: &[Step], keeps_back: bool) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for step in way {
        match step {
            Step::Down(name) => parts.push(name),
            Step::Back if !keeps_back && !matches!(parts.last(), None | Some(&"..")) => drop(parts.pop()),
            Step::Up | Step::Back => parts.push(".."),
        }
    }
    format!("/{}", parts.join("/"))
}

impl PartialEq for LexPath {
    fn eq(&self, other: &Self) -> bool {
        (self.base, self.up, &self.parts) == (other.base, other.up, &other.parts)
    }
}

impl Eq for LexPath {}

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
