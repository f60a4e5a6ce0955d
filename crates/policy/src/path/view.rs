//! A borrowed absolute path: what comparisons need, without copying every name.

use super::{Base, LexPath};
use crate::context::Context;

/// A path from the root where the context allows that, else from its base.
#[derive(Debug, Clone)]
pub(crate) struct View<'p> {
    pub(super) base: Base,
    pub(super) up: usize,
    pub(crate) parts: Vec<&'p str>,
}

impl LexPath {
    /// The same as [`absolute`](Self::absolute), borrowed.
    pub(crate) fn view<'p>(&'p self, context: &'p Context) -> View<'p> {
        let own = self.parts.iter().map(String::as_str);
        let Some(base) = self.start(context) else {
            return View { base: self.base, up: self.up, parts: own.collect() };
        };
        let mut parts: Vec<&str> = Vec::with_capacity(self.parts.len() + 8);
        for part in base.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        parts.truncate(parts.len().saturating_sub(self.up));
        parts.extend(own);
        View { base: Base::Root, up: 0, parts }
    }

    /// The absolute path of its base, if it is known and is not the root.
    pub(super) fn start<'f>(&self, context: &'f Context) -> Option<&'f str> {
        let base = match self.base {
            Base::Root => None,
            Base::Here => context.cwd.as_deref(),
            Base::Home => context.home.as_deref(),
        };
        base.filter(|base| base.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_the_absolute_path() {
        let context =
            Context { cwd: Some("/w/./x/../repo/".to_owned()), home: Some("/home/u".to_owned()), ..Context::default() };
        let unknown = Context::default();
        for text in ["a/b", "../a", "../../../../a", "/etc/./passwd", "~/x", "~", ".", "", "a/../../b"] {
            for context in [&context, &unknown] {
                let path = LexPath::read(text);
                let (view, whole) = (path.view(context), path.absolute(context));
                assert_eq!((view.base, view.up), (whole.base, whole.up), "{text}");
                assert_eq!(view.parts, whole.parts, "{text}");
            }
        }
    }
}
