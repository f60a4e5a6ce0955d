//! The hint for a name that is unknown but similar to a known one.

use toolfold::diagnostic::visible;
use toolfold::name::nearest;

/// ``did you mean `NAME`?`` with the most similar known name; `None` if none is similar.
pub(crate) fn did_you_mean<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let near = nearest(name, known, 1);
    Some(format!("did you mean `{}`?", visible(near.first()?)))
}
