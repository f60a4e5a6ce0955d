//! Names within a provider's alphabet and length, and back.
//!
//! A name that fits goes out as it is, always: what another tool is called never changes it. Any other name has its foreign
//! characters replaced by `_`; where that is too long, says nothing, or is taken, it is cut and eight digits of the
//! original's hash are added. So no two tools ever share a name, and the same catalogue always gets the same names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::Wire;
use crate::engine::{ACTIVATE_SKILL, Engine, sha256};
use crate::profile::{CALL_TOOL, EXPAND_TOOLS};

/// What the meta-tools are called; no other tool is sent under these names.
const RESERVED: [&str; 3] = [EXPAND_TOOLS, CALL_TOOL, ACTIVATE_SKILL];

/// How many digits of the hash a mangled name gets, behind a `_`.
const HASH_DIGITS: usize = 8;

/// What a provider takes for a name.
#[derive(Debug, Clone, Copy)]
struct Rule {
    most: usize,
    /// The joints allowed besides ASCII letters and digits.
    joints: &'static str,
    /// Whether the first character must be a letter or `_`.
    letter_first: bool,
}

impl Rule {
    fn of(wire: Wire) -> Self {
        match wire {
            // OpenAI, both APIs, and namespaces: `^[a-zA-Z0-9_-]{1,64}$`.
            Wire::OpenAiChat | Wire::OpenAiResponses => Self { most: 64, joints: "_-", letter_first: false },
            // Anthropic Messages, `tools[].name`: `^[a-zA-Z0-9_-]{1,128}$`.
            Wire::Anthropic => Self { most: 128, joints: "_-", letter_first: false },
            // Gemini API, FunctionDeclaration.name: letters, digits, `_ : . -`, at most 64. Vertex AI asks for a letter or
            // `_` first and in its beta takes no colon, so neither is sent.
            Wire::Gemini => Self { most: 64, joints: "_.-", letter_first: true },
            // MCP 2025-11-25, "Tool names": 1 to 128 of letters, digits, `_ - .`.
            Wire::Mcp => Self { most: 128, joints: "_-.", letter_first: false },
        }
    }

    fn takes(self, c: char) -> bool {
        c.is_ascii_alphanumeric() || self.joints.contains(c)
    }

    fn starts(self, c: char) -> bool {
        !self.letter_first || c.is_ascii_alphabetic() || c == '_'
    }

    fn fits(self, name: &str) -> bool {
        (1..=self.most).contains(&name.len())
            && name.chars().all(|c| self.takes(c))
            && name.chars().next().is_some_and(|c| self.starts(c))
    }

    /// The name with foreign characters replaced, of any length.
    fn replaced(self, name: &str) -> String {
        let first = name.chars().next().map(|c| if self.takes(c) { c } else { '_' });
        let lead = first.is_some_and(|c| !self.starts(c)).then_some('_');
        lead.into_iter().chain(name.chars().map(|c| if self.takes(c) { c } else { '_' })).collect()
    }

    /// The name cut, with a hash. `salt` tells apart what even the hash does not.
    fn hashed(self, name: &str, salt: usize) -> String {
        let salted = if salt == 0 { name.to_owned() } else { format!("{name}\n{salt}") };
        let hash: String = sha256(salted.as_bytes()).chars().take(HASH_DIGITS).collect();
        let head: String = self.replaced(name).chars().take(self.most - HASH_DIGITS - 1).collect();
        format!("{head}_{hash}")
    }
}

/// The names that are sent otherwise than they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names(IndexMap<String, String>);

impl Names {
    /// The tools' names on a wire.
    pub(super) fn of(wire: Wire, engine: &Engine) -> Self {
        Self::mangle(Rule::of(wire), &RESERVED, &BTreeSet::new(), &|| engine.catalog().names().map(AsRef::as_ref))
    }

    /// The categories' names as namespaces of OpenAI Responses.
    pub(super) fn namespaces(engine: &Engine) -> Self {
        let names = || engine.assignment().categories().map(|(name, _)| name.as_str());
        // The list may have namespaces of its own.
        let taken: BTreeSet<&str> = engine.catalog().namespaces().collect();
        Self::mangle(Rule::of(Wire::OpenAiResponses), &[], &taken, &names)
    }

    fn mangle<'n, I: Iterator<Item = &'n str>>(
        rule: Rule,
        reserved: &[&str],
        others: &BTreeSet<&str>,
        names: &impl Fn() -> I,
    ) -> Self {
        let fits = |name: &str| rule.fits(name) && !others.contains(name);
        if names().all(fits) {
            return Self::default();
        }
        let mut taken: BTreeSet<Cow<'_, str>> =
            reserved.iter().chain(others).map(|name| Cow::Borrowed(*name)).collect();
        let mut wanted: Vec<(&str, String)> = Vec::new();
        let mut count: IndexMap<String, usize> = IndexMap::new();
        for name in names() {
            if fits(name) {
                taken.insert(Cow::Borrowed(name));
            } else {
                let plain = rule.replaced(name);
                *count.entry(plain.clone()).or_default() += 1;
                wanted.push((name, plain));
            }
        }
        let says_something = |plain: &str| plain.bytes().any(|b| b.is_ascii_alphanumeric());
        let alone = |plain: &str| count.get(plain) == Some(&1);
        let (mut sent, mut crowded) = (IndexMap::new(), Vec::new());
        for (name, plain) in wanted {
            if rule.fits(&plain) && says_something(&plain) && alone(&plain) && !taken.contains(plain.as_str()) {
                taken.insert(Cow::Owned(plain.clone()));
                sent.insert(name.to_owned(), plain);
            } else {
                crowded.push(name);
            }
        }
        for name in crowded {
            // The hash of some salt is free: there are more hashes than names.
            let free = (0_usize..).map(|salt| rule.hashed(name, salt)).find(|own| !taken.contains(own.as_str()));
            let own = free.unwrap_or_default();
            taken.insert(Cow::Owned(own.clone()));
            sent.insert(name.to_owned(), own);
        }
        Self(sent)
    }

    /// The name under which a tool is sent.
    pub(crate) fn sent<'n>(&'n self, original: &'n str) -> &'n str {
        self.0.get(original).map_or(original, String::as_str)
    }

    /// The name that was sent under this one.
    pub(super) fn original<'n>(&'n self, sent: &'n str) -> &'n str {
        self.0.iter().find(|(_, own)| *own == sent).map_or(sent, |(name, _)| name.as_str())
    }

    /// What was changed, in catalogue order where nothing was crowded out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, sent)| (name.as_str(), sent.as_str()))
    }
}

impl Wire {
    /// The name under which a tool of the engine's catalogue is sent.
    #[must_use]
    pub fn sent_name(self, engine: &Engine, original: &str) -> String {
        if Rule::of(self).fits(original) {
            return original.to_owned();
        }
        Names::of(self, engine).sent(original).to_owned()
    }

    /// The catalogue's name of what was sent under a name. A name that was never sent is given back as it is: the gate
    /// knows what to say of it.
    #[must_use]
    pub fn name_of(self, engine: &Engine, sent: &str) -> String {
        let as_it_is = RESERVED.contains(&sent) || engine.catalog().get(sent).is_some();
        if as_it_is && Rule::of(self).fits(sent) {
            return sent.to_owned();
        }
        Names::of(self, engine).original(sent).to_owned()
    }
}
