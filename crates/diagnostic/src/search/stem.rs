//! English stems: forms of one word become one term.

/// Noun endings, with what replaces them: `creation` and `create` have one stem.
const NOUN_ENDINGS: [(&str, &str); 6] =
    [("ization", "iz"), ("ation", "at"), ("ator", "at"), ("ition", "it"), ("ction", "ct"), ("ment", "")];

/// The minimum number of letters before a noun ending.
const MIN_BEFORE_ENDING: usize = 3;

/// The stem of a word in lower-case ASCII. Other words are their own stems.
pub(super) fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    if !stem.is_ascii() {
        return stem;
    }
    drop_plural(&mut stem);
    if !drop_suffix(&mut stem, "ing", 5) {
        drop_suffix(&mut stem, "ed", 4);
    }
    for (ending, replacement) in NOUN_ENDINGS {
        if stem.strip_suffix(ending).is_some_and(|before| before.len() >= MIN_BEFORE_ENDING) {
            stem.truncate(stem.len() - ending.len());
            stem.push_str(replacement);
            break;
        }
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    if stem.len() > 3 && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
    stem
}

fn drop_plural(word: &mut String) {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if word.len() < 4 || !word.ends_with('s') || ends(&["ss", "us", "is"]) {
        return;
    }
    if ends(&["ies"]) {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ends(&["xes", "ches", "shes", "sses", "zes"]) {
        word.truncate(word.len() - 2);
    } else {
        word.pop();
    }
}

/// Removes a suffix from a word of more than `longer_than` letters if a vowel is before it, and
/// then the second of two equal consonants: `planned` becomes `plan`, but `called` `call`.
fn drop_suffix(word: &mut String, suffix: &str, longer_than: usize) -> bool {
    let vowel_before = |before: &str| before.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    if word.len() <= longer_than || !word.strip_suffix(suffix).is_some_and(vowel_before) {
        return false;
    }
    word.truncate(word.len() - suffix.len());
    let mut last = word.chars().rev();
    let (one, other) = (last.next(), last.next());
    let doubled = one == other && one.is_some_and(|letter| !"lszaeiou".contains(letter));
    if word.len() > 2 && doubled {
        word.pop();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["create", "creates", "created", "creating", "creation"][..],
            &["query", "queries", "querying"],
            &["search", "searches", "searched"],
            &["plan", "plans", "planned", "planning"],
            &["call", "calls", "called"],
            &["translate", "translation", "translator"],
            &["attach", "attachment", "attachments"],
            &["box", "boxes"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|one| *one == stems[0]), "{forms:?}: {stems:?}");
        }
        for (word, expected) in [("status", "status"), ("this", "this"), ("string", "string"), ("nation", "nation")] {
            assert_eq!(stem(word), expected);
        }
        assert_eq!(stem("größen"), "größen");
    }
}
