//! The corpora of hand-made and real `SKILL.md` files, with the reference validator's answers.

use serde::Deserialize;
use toolfold::skill::{Document, strict};

/// A file with the reference's answer. Probes have `validate`, real files `errors`.
#[derive(Deserialize)]
struct Case {
    id: String,
    dir: String,
    file: String,
    content: String,
    #[serde(default)]
    hex: bool,
    #[serde(alias = "errors")]
    validate: Option<Vec<String>>,
    prompt: Option<String>,
    valid: Option<bool>,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        if !self.hex {
            return self.content.clone().into_bytes();
        }
        let digits: Vec<u32> = self.content.chars().filter_map(|c| c.to_digit(16)).collect();
        digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
    }

    fn strict(&self) -> Vec<String> {
        if !["SKILL.md", "skill.md"].contains(&self.file.as_str()) {
            return vec!["Missing required file: SKILL.md".to_owned()];
        }
        Document::read(&self.bytes(), &self.file, &self.dir).strict
    }
}

/// The rows of a corpus; none, with a printed notice, if the shared folder is missing.
fn corpus(name: &str) -> Vec<Case> {
    let Some(path) = crate::corpus(&format!("skills/{name}")) else { return Vec::new() };
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The first line of each error, and of a YAML error only its prefix: the rest is the parser's
/// wording.
fn comparable(errors: &[String]) -> Vec<&str> {
    let yaml = "Invalid YAML in frontmatter:";
    errors.iter().map(|e| if e.starts_with(yaml) { yaml } else { e.lines().next().unwrap_or_default() }).collect()
}

#[test]
fn probes_get_the_reference_answers() {
    let cases = corpus("probes.jsonl");
    let (mut exact, mut of, mut prompts, mut prompts_of) = (0, 0, 0, 0);
    for case in &cases {
        let Some(expected) = &case.validate else { continue };
        of += 1;
        let ours = case.strict();
        if comparable(&ours) == comparable(expected) {
            exact += 1;
        } else {
            println!("{}: {expected:?} but got {ours:?}", case.id);
        }
        let Some(prompt) = &case.prompt else { continue };
        prompts_of += 1;
        let text = String::from_utf8(case.bytes()).unwrap();
        let properties = strict::decode(text.as_bytes()).and_then(|t| strict::properties(&t)).unwrap();
        let location = format!("{{DIR}}/{}", case.file);
        if strict::prompt(&[(properties, location)]) == *prompt {
            prompts += 1;
        }
    }
    println!("probes: {exact}/{of} exact, prompt: {prompts}/{prompts_of} exact");
    assert_eq!((exact, prompts), (of, prompts_of));
}

#[test]
fn real_files_get_the_reference_verdicts() {
    let cases = corpus("parity.jsonl");
    let (mut verdicts, mut exact) = (0, 0);
    for case in &cases {
        let ours = case.strict();
        let expected = case.validate.as_deref().unwrap_or_default();
        verdicts += usize::from(case.valid == Some(ours.is_empty()));
        if comparable(&ours) == comparable(expected) {
            exact += 1;
        } else {
            println!("{}: {expected:?} but got {ours:?}", case.id);
        }
    }
    println!("parity: {verdicts}/{} verdicts, {exact}/{} exact", cases.len(), cases.len());
    assert_eq!((verdicts, exact), (cases.len(), cases.len()));
}

#[test]
fn nothing_vanishes() {
    let cases = corpus("parity.jsonl");
    let (mut loaded, mut rescued) = (0, 0);
    for case in &cases {
        let document = Document::read(&case.bytes(), &case.file, &case.dir);
        rescued += usize::from(document.rescued);
        if let Some(content) = &document.content {
            loaded += 1;
            assert!(!content.name.is_empty() && !content.description.is_empty(), "{}", case.id);
            if document.rescued {
                println!("{} rescued: {:.60} | {:.100}", case.id, content.name, content.description);
            }
        } else {
            let why = document.diagnostics.iter().find(|d| d.is_error()).expect("a reason");
            assert!(why.help.is_some(), "{}: no help in {why}", case.id);
            println!("{}: {why}", case.id);
        }
    }
    println!("load: {loaded}/{} loaded, {rescued} rescued", cases.len());
    assert!(loaded * 100 >= cases.len() * 93, "{loaded}");
}

/// Hand-made front matter with one oddity each, and the answer of skills-ref 0.1.1: names in many
/// scripts, every scalar style, and the differences between YAML 1.1 and 1.2.
#[test]
fn oddities_get_the_reference_answers() {
    #[derive(Deserialize)]
    struct Oddity {
        dir: String,
        content: String,
        errors: Vec<String>,
    }
    let cases: Vec<Oddity> =
        include_str!("strict_cases.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let exact = |case: &&Oddity| {
        let text = strict::decode(case.content.as_bytes()).unwrap();
        let ours = strict::validate(&text, &case.dir);
        let same = comparable(&ours) == comparable(&case.errors);
        if !same {
            println!("{:?}: {:?} but got {ours:?}", case.content, case.errors);
        }
        same
    };
    let count = cases.iter().filter(exact).count();
    println!("oddities: {count}/{} exact", cases.len());
    assert_eq!(count, cases.len());
}
