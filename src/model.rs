//! Model ids: the family, version and tier that an id names, in the spelling of any host.
//!
//! `claude-opus-4.5`, `claude-opus-4-5-20251101`, `anthropic/claude-opus-4.5:beta` and
//! `us.anthropic.claude-opus-4-5-20251101-v1:0` are the same model. [`ModelId`] parses all of them
//! as family `claude`, tier `opus`, version 4.5, so a row of the capability table can match "4.5
//! and later" once. A date is never a version.
//!
//! Parsing never fails: parts that an id lacks are `None`, and rows that require them do not match.

mod pattern;
mod version;

pub use pattern::ModelPattern;
pub use version::Version;

use self::version::{dashed, lettered};

/// The maximum length of a parsed id. The longest known real one, the ARN of an inference profile,
/// has about 150 bytes.
const MAX_BYTES: usize = 512;

/// Known families, each with its vendor. Any other leading word is a family without a vendor.
const FAMILIES: [(&str, &str); 20] = [
    ("claude", "anthropic"),
    ("codex", "openai"),
    ("command", "cohere"),
    ("deepseek", "deepseek"),
    ("devstral", "mistral"),
    ("gemini", "google"),
    ("gemma", "google"),
    ("glm", "zai"),
    ("gpt", "openai"),
    ("grok", "xai"),
    ("kimi", "moonshot"),
    ("llama", "meta"),
    ("magistral", "mistral"),
    ("minimax", "minimax"),
    ("ministral", "mistral"),
    ("mistral", "mistral"),
    ("nova", "amazon"),
    ("o", "openai"),
    ("phi", "microsoft"),
    ("qwen", "qwen"),
];

/// Families that are also recognized inside the name of a deployment, such as
/// `prod-gpt-5.4-eastus`. Azure users name deployments freely; other names that merely contain a
/// family (`my-claude`) do not belong to it.
const DEPLOYED: [&str; 3] = ["claude", "gemini", "gpt"];

/// Words of a name that state a size. They may come between the family and the version.
const TIERS: [&str; 26] = [
    "air", "coder", "fable", "flash", "haiku", "instant", "large", "lite", "luna", "max", "medium", "micro", "mini",
    "mythos", "nano", "opus", "plus", "premier", "pro", "small", "sol", "sonnet", "terra", "tiny", "turbo", "ultra",
];

/// Words that are not tiers and may come between the family and the version: `deepseek-chat-v3.1`,
/// `grok-code-fast-1`.
const LINES: [&str; 3] = ["chat", "code", "fast"];

/// Prefixes before `/` or `:` that name the host, in the spellings of routers and SDKs.
const HOSTS: [(&str, Host); 9] = [
    ("azure", Host::Azure),
    ("azure_ai", Host::Azure),
    ("azure_openai", Host::Azure),
    ("bedrock", Host::Bedrock),
    ("bedrock_converse", Host::Bedrock),
    ("openrouter", Host::OpenRouter),
    ("vertex", Host::Vertex),
    ("vertex_ai", Host::Vertex),
    ("google_vertexai", Host::Vertex),
];

/// Prefixes before `:` that name a vendor or a fine-tune, in the spellings of SDKs:
/// `openai:gpt-5.4`, `ft:gpt-4.1:org::id`.
const COLON_PREFIXES: [&str; 10] =
    ["anthropic", "cohere", "deepseek", "ft", "google", "google_genai", "groq", "mistral", "openai", "xai"];

/// Prefixes of Amazon Bedrock before `.`: regions of inference profiles, and vendors. Source:
/// Amazon Bedrock user guide, "Supported Regions and models for inference profiles".
const BEDROCK: [&str; 26] = [
    "af",
    "ai21",
    "amazon",
    "anthropic",
    "ap",
    "apac",
    "au",
    "ca",
    "cohere",
    "deepseek",
    "eu",
    "global",
    "google",
    "il",
    "jp",
    "me",
    "meta",
    "mistral",
    "minimax",
    "moonshot",
    "openai",
    "qwen",
    "sa",
    "us",
    "us-gov",
    "zai",
];

/// The host that serves a model, if its id shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Host {
    /// Azure OpenAI and Azure AI Foundry.
    Azure,
    /// Amazon Bedrock.
    Bedrock,
    /// OpenRouter.
    OpenRouter,
    /// Google Vertex AI.
    Vertex,
}

impl Host {
    /// Every host, in the order of the documentation.
    pub(crate) const ALL: [Self; 4] = [Self::Azure, Self::Bedrock, Self::OpenRouter, Self::Vertex];

    /// The name in files.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Azure => "azure",
            Self::Bedrock => "bedrock",
            Self::OpenRouter => "openrouter",
            Self::Vertex => "vertex",
        }
    }
}

/// The parts of a model id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelId {
    /// The host that serves the model, if the id shows it.
    pub host: Option<Host>,
    /// The vendor, if the family is known.
    pub vendor: Option<&'static str>,
    /// The family in lower case: `claude`, `gpt`, `o`, `gemini` …
    pub family: Option<String>,
    /// The version.
    pub version: Option<Version>,
    /// The tier: `opus`, `mini`, `flash-lite` …
    pub tier: Option<String>,
    /// The other words of the name, in order: `codex`, `preview`, `thinking` … Dates and revisions
    /// are omitted.
    pub variants: Vec<String>,
    /// The name without host, vendor, region and suffix, in lower case.
    bare: String,
    /// The given id after its last `/`, in lower case.
    given: String,
}

impl ModelId {
    /// Parses an id in any of the spellings that the module documentation lists.
    #[must_use]
    pub fn parse(id: &str) -> Self {
        let id = id.trim();
        if id.len() > MAX_BYTES {
            return Self::default();
        }
        let id = id.to_ascii_lowercase();
        let given = id.rsplit('/').next().unwrap_or(&id).to_owned();
        let Bare { host, name, suffixes } = bare(&id);
        let words = id_words(name);
        let mut found = Self { host, bare: name.to_owned(), given, ..Self::default() };
        if let Some(at) = family_at(&words, host) {
            found.read_words(&words, at);
        }
        for word in suffixes {
            if !word.is_empty() && is_alphabetic(word) {
                found.variants.push(word.to_owned());
            }
        }
        found
    }

    /// Whether the version is known and at least `major.minor`.
    pub(crate) fn is_since(&self, major: u16, minor: u16) -> bool {
        self.version.is_some_and(|version| version >= Version::new(major, minor))
    }

    /// Whether the version is known and lower than `major.minor`.
    pub(crate) fn is_before(&self, major: u16, minor: u16) -> bool {
        self.version.is_some_and(|version| version < Version::new(major, minor))
    }

    /// Sets family, version, tier and variants from the words of a name. `at` is the index of the
    /// family.
    fn read_words(&mut self, words: &[String], at: usize) {
        let Some(family) = words.get(at) else { return };
        let family = if family == "chatgpt" { "gpt" } else { family };
        let (version, used) = version_after(words, at);
        self.version = version;
        let mut tier: Vec<&str> = Vec::new();
        for (place, word) in words.iter().enumerate().skip(at + 1) {
            if used.contains(&place) && word != "4o" {
                continue;
            }
            if TIERS.contains(&word.as_str()) {
                tier.push(word);
            } else if word.bytes().any(|b| b.is_ascii_alphabetic()) && lettered(word).is_none() {
                self.variants.push(word.clone());
            }
        }
        if !tier.is_empty() {
            self.tier = Some(tier.join("-"));
        }
        for (name, vendor) in FAMILIES {
            if name == family {
                self.vendor = Some(vendor);
            }
        }
        self.family = Some(family.to_owned());
    }
}

/// A name without its prefixes and suffixes.
struct Bare<'i> {
    host: Option<Host>,
    name: &'i str,
    /// The suffixes after `:`.
    suffixes: std::iter::Skip<std::str::Split<'i, char>>,
}

fn bare(id: &str) -> Bare<'_> {
    let mut host = None;
    if id.starts_with("arn:") {
        host = Some(Host::Bedrock);
    } else if id.contains("publishers/") {
        host = Some(Host::Vertex);
    }
    let mut name = id.rsplit('/').next().unwrap_or(id);
    for segment in id.split('/') {
        host = host.or_else(|| host_named(segment));
    }
    while let Some((head, rest)) = name.split_once(':') {
        let named = host_named(head);
        if named.is_none() && !COLON_PREFIXES.contains(&head) {
            break;
        }
        host = host.or(named);
        name = rest;
    }
    // OpenRouter marks moving aliases with a `~`.
    name = name.trim_start_matches('~');
    let suffixes = name.split(':').skip(1);
    name = name.split(':').next().unwrap_or(name);
    if let Some((head, _)) = name.split_once('@') {
        host = host.or(Some(Host::Vertex));
        name = head;
    }
    while let Some((head, rest)) = name.split_once('.') {
        if !BEDROCK.contains(&head) {
            break;
        }
        host = host.or(Some(Host::Bedrock));
        name = rest;
    }
    Bare { host, name, suffixes }
}

fn host_named(word: &str) -> Option<Host> {
    HOSTS.iter().find(|(name, _)| *name == word).map(|(_, host)| *host)
}

/// Splits a name into words: a dot remains only between digits, and a known family is separated
/// from digits that follow it.
fn id_words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.') {
        let dotted_number = part.split('.').skip(1).all(|piece| piece.starts_with(|c: char| c.is_ascii_digit()));
        let pieces: Vec<&str> = if dotted_number { vec![part] } else { part.split('.').collect() };
        for word in pieces {
            if word.is_empty() {
                continue;
            }
            let letters = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
            match word.split_at_checked(letters) {
                Some((family, rest)) if !rest.is_empty() && is_family(family) => {
                    found.extend([family.to_owned(), rest.to_owned()]);
                }
                _ => found.push(word.to_owned()),
            }
        }
    }
    found
}

fn is_family(word: &str) -> bool {
    word == "chatgpt" || FAMILIES.iter().any(|(name, _)| *name == word)
}

/// The index of the family: the first word, or, in the name of a deployment, the only known family
/// that has a version.
fn family_at(words: &[String], host: Option<Host>) -> Option<usize> {
    let first = words.first()?;
    if is_family(first) {
        // A lone `o` is OpenAI's family only if a number follows.
        return if first != "o" || version_after(words, 0).0.is_some() { Some(0) } else { None };
    }
    let copied = words.iter().any(|word| word.starts_with("distil") || word.starts_with("merge"));
    // `codex` is a variant of GPT unless it comes first.
    let mut known = words.iter().enumerate().filter(|(_, word)| is_family(word) && *word != "codex");
    if let (Some((at, word)), None, false) = (known.next(), known.next(), copied) {
        let deployed = DEPLOYED.contains(&word.as_str()) || host == Some(Host::Azure);
        if deployed && version_after(words, at).0.is_some() {
            return Some(at);
        }
    }
    if is_alphabetic(first) { Some(0) } else { None }
}

fn is_alphabetic(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_alphabetic())
}

/// The version that follows a family and its optional tier, and the range of words it was read
/// from.
fn version_after(words: &[String], family: usize) -> (Option<Version>, std::ops::Range<usize>) {
    let mut at = family + 1;
    while let Some(word) = words.get(at) {
        let gpt_35 = word == "35" && words.get(family).is_some_and(|word| word == "gpt");
        if gpt_35 {
            // Azure's name for GPT-3.5, whose deployment names could not contain a dot.
            return (Some(Version::new(3, 5)), at..at + 1);
        }
        if let Some(version) = lettered(word).or_else(|| word.strip_suffix('o').and_then(|own| own.parse().ok())) {
            return (Some(version), at..at + 1);
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return match dashed(word, words.get(at + 1).map(String::as_str)) {
                Some((version, used)) => (Some(version), at..at + used),
                None => (None, at..at),
            };
        }
        if !TIERS.contains(&word.as_str()) && !LINES.contains(&word.as_str()) {
            break;
        }
        at += 1;
    }
    (None, at..at)
}
