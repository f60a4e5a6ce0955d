//! Putting tools into groups that share a word and are no larger than they may be.

use indexmap::IndexMap;

use super::text::Subject;

/// The tools of each category by its name, as places in the catalogue.
pub(super) type Groups = IndexMap<String, Vec<usize>>;

/// How large groups may be, and how many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The most text in a group of several tools, in bytes.
    pub(super) bytes: usize,
    /// The most groups to aim at.
    pub(super) groups: usize,
}

/// The text of some tools, in bytes.
pub(super) fn weight(subjects: &[Subject], members: &[usize]) -> usize {
    members.iter().filter_map(|at| subjects.get(*at)).map(|subject| subject.bytes).sum()
}

/// Groups of `members` (in ascending order) by words they share, the words in `aside` apart. A group without a name shares none; there may be
/// several, each within the limit.
pub(super) fn split(
    subjects: &[Subject],
    members: &[usize],
    aside: &[&str],
    limits: Limits,
) -> Vec<(Option<String>, Vec<usize>)> {
    let mut found: Vec<(Option<String>, Vec<usize>)> = Vec::new();
    let mut left = members.to_vec();
    for (by, strong) in [(nouns as Words, true), (said, false), (verbs, false)] {
        // What is left is worth cutting by weaker words only where it is too large for one group.
        while (strong || weight(subjects, &left) > limits.bytes)
            && let Some(room) = room(found.len() + pieces(subjects, &left, limits.bytes), limits.groups)
        {
            // A word that all of several tools share tells nothing apart; a weak one must do better. And a strong one
            // takes all of its tools, to be cut by a second word.
            let takes = |tools: Vec<usize>| match strong {
                true => (tools.len() < members.len() || members.len() <= 3).then_some(tools),
                false if 2 * tools.len() > members.len() => None,
                false => Some(fitting(subjects, tools, limits.bytes)),
            };
            let Some((word, tools)) = most_shared(subjects, &left, by, aside, takes) else { break };
            left.retain(|at| tools.binary_search(at).is_err());
            if weight(subjects, &tools) <= limits.bytes {
                found.push((Some(word), tools));
                continue;
            }
            let inner: Vec<&str> = aside.iter().copied().chain([word.as_str()]).collect();
            let (own, others) = (weight(subjects, &tools), weight(subjects, &left));
            let share = (room * own).div_ceil((own + others).max(1));
            let limits = Limits { groups: share + pieces(subjects, &tools, limits.bytes), ..limits };
            for (sub, tools) in split(subjects, &tools, &inner, limits) {
                found.push((Some(sub.map_or_else(|| word.clone(), |sub| format!("{word}_{sub}"))), tools));
            }
        }
    }
    left.retain(|at| !joins(subjects, *at, &mut found, limits.bytes));
    found.extend(cut(subjects, &left, limits.bytes).into_iter().map(|tools| (None, tools)));
    found
}

/// Puts a tool into the first group with room for it that is named after a word of its own. Whether there was one.
fn joins(subjects: &[Subject], at: usize, found: &mut [(Option<String>, Vec<usize>)], bytes: usize) -> bool {
    let Some(subject) = subjects.get(at) else { return false };
    for word in subject.nouns.iter().chain(&subject.said).chain(&subject.verbs) {
        let group = found.iter_mut().find(|(name, tools)| {
            let named = name.as_deref().and_then(|name| name.rsplit('_').next()) == Some(word);
            named && weight(subjects, tools) + subject.bytes <= bytes
        });
        if let Some((_, tools)) = group {
            tools.push(at);
            tools.sort_unstable();
            return true;
        }
    }
    false
}

/// How many more groups there may be; nothing if there are enough.
fn room(groups: usize, most: usize) -> Option<usize> {
    most.checked_sub(groups).filter(|room| *room > 0)
}

type Words = fn(&Subject) -> &[String];

fn nouns(subject: &Subject) -> &[String] {
    &subject.nouns
}

fn said(subject: &Subject) -> &[String] {
    &subject.said
}

fn verbs(subject: &Subject) -> &[String] {
    &subject.verbs
}

/// The word that takes most of the tools, two at least, with those it takes; of equals the first.
fn most_shared(
    subjects: &[Subject],
    left: &[usize],
    by: Words,
    aside: &[&str],
    takes: impl Fn(Vec<usize>) -> Option<Vec<usize>>,
) -> Option<(String, Vec<usize>)> {
    let mut shared: IndexMap<&str, Vec<usize>> = IndexMap::new();
    for (at, subject) in left.iter().filter_map(|at| Some((*at, subjects.get(*at)?))) {
        for word in by(subject).iter().filter(|word| !aside.contains(&word.as_str())) {
            shared.entry(word).or_default().push(at);
        }
    }
    let taken = shared.into_iter().filter_map(|(word, tools)| Some((word, takes(tools)?)));
    let taken: Vec<(&str, Vec<usize>)> = taken.filter(|(_, tools)| tools.len() >= 2).collect();
    // A word of two letters names a group worse than a longer one. `max_by_key` takes the last of equals.
    let best = taken.into_iter().rev().max_by_key(|(word, tools)| (tools.len(), word.len() > 2));
    best.map(|(word, tools)| (word.to_owned(), tools))
}

/// How many pieces [`cut`] makes of tools at least.
fn pieces(subjects: &[Subject], tools: &[usize], bytes: usize) -> usize {
    weight(subjects, tools).div_ceil(bytes.max(1)).min(tools.len())
}

/// The first of the tools, as many as fit into one group; one at least.
fn fitting(subjects: &[Subject], mut tools: Vec<usize>, bytes: usize) -> Vec<usize> {
    let mut sum = 0;
    let more = tools.iter().position(|at| {
        sum += weight(subjects, &[*at]);
        sum > bytes
    });
    tools.truncate(more.unwrap_or(tools.len()).max(1));
    tools
}

/// The tools in pieces within the limit, in their order. A tool that is larger by itself is a piece.
fn cut(subjects: &[Subject], tools: &[usize], bytes: usize) -> Vec<Vec<usize>> {
    let mut pieces: Vec<Vec<usize>> = Vec::new();
    let mut sum = 0;
    for at in tools {
        let own = weight(subjects, &[*at]);
        match pieces.last_mut() {
            Some(piece) if sum + own <= bytes => piece.push(*at),
            _ => {
                pieces.push(vec![*at]);
                sum = 0;
            }
        }
        sum += own;
    }
    pieces
}
