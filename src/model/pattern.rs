//! Which models a row of the capability table covers.

use std::cmp::Reverse;

use wildmatch::WildMatch;

use super::{Host, ModelId, Version};

/// The models that a row covers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelPattern {
    /// Every model, and requests that name none.
    Any,
    /// Models whose id matches a glob with `*` for any characters and `?` for one. Letter case is
    /// ignored, `.` equals `-`, and the name is compared with and without the host's prefixes and
    /// suffixes.
    Glob(String),
    /// Models of a family.
    Family {
        /// The family, in lower case: `claude`, `gpt`, `o` …
        family: String,
        /// The first version covered. A model of unknown version is not covered.
        since: Option<Version>,
        /// The first version that is no longer covered.
        until: Option<Version>,
        /// The tier: `opus`, `mini` …
        tier: Option<String>,
        /// A word of the name: `codex`, `thinking` …
        variant: Option<String>,
    },
    /// Every model of a host, if its id shows the host.
    Host(Host),
}

impl ModelPattern {
    /// A glob; `*` is [`ModelPattern::Any`].
    #[must_use]
    pub fn glob(glob: &str) -> Self {
        if glob.chars().all(|c| c == '*') { Self::Any } else { Self::Glob(glob.to_owned()) }
    }

    /// Whether the pattern covers a model. Only [`ModelPattern::Any`] covers a missing model.
    #[must_use]
    pub(crate) fn matches_model(&self, model: Option<&ModelId>) -> bool {
        match (self, model) {
            (Self::Any, _) => true,
            (_, None) => false,
            (Self::Glob(glob), Some(id)) => {
                let glob = WildMatch::new(&folded(glob));
                glob.matches(&folded(&id.given)) || glob.matches(&folded(&id.bare))
            }
            (Self::Host(host), Some(id)) => id.host == Some(*host),
            (Self::Family { family, since, until, tier, variant }, Some(id)) => {
                let has = |word: &str| id.variants.iter().any(|own| own == word);
                let version = match id.version {
                    Some(own) => since.is_none_or(|first| own >= first) && until.is_none_or(|end| own < end),
                    None => since.is_none() && until.is_none(),
                };
                version
                    && id.family.as_ref() == Some(family)
                    && tier.as_ref().is_none_or(|tier| id.tier.as_ref() == Some(tier) || has(tier))
                    && variant.as_ref().is_none_or(|word| has(word))
            }
        }
    }

    /// Sorts the most specific first: by the number of literal characters, then by the later first
    /// version, then those with an end.
    pub(crate) fn specificity(&self) -> Reverse<(usize, Option<Version>, bool)> {
        let key = match self {
            Self::Any => (0, None, false),
            Self::Host(_) => (1, None, false),
            Self::Glob(glob) => (glob.chars().filter(|c| !matches!(c, '*' | '?')).count(), None, false),
            Self::Family { family, since, until, tier, variant } => {
                let words = [Some(family), tier.as_ref(), variant.as_ref()];
                (words.into_iter().flatten().map(String::len).sum(), *since, until.is_some())
            }
        };
        Reverse(key)
    }
}

impl std::fmt::Display for ModelPattern {
    /// `claude opus, 4.5 and later`, or the glob.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Glob(glob) => f.write_str(&crate::diagnostic::visible(glob)),
            Self::Host(host) => write!(f, "any model on {}", host.name()),
            Self::Family { family, since, until, tier, variant } => {
                f.write_str(&crate::diagnostic::visible(family))?;
                for word in [tier, variant].into_iter().flatten() {
                    write!(f, " {}", crate::diagnostic::visible(word))?;
                }
                match (since, until) {
                    (Some(since), Some(until)) => write!(f, ", {since} to before {until}"),
                    (Some(since), None) => write!(f, ", {since} and later"),
                    (None, Some(until)) => write!(f, ", before {until}"),
                    (None, None) => Ok(()),
                }
            }
        }
    }
}

/// A name as globs compare it: without a path, in lower case, with `-` for `.`.
fn folded(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.to_ascii_lowercase().replace('.', "-")
}
