//! Workflow commands of GitHub Actions: annotations on a pull request.

/// The maximum number of annotations of a kind that GitHub shows for a step.
/// Source: GitHub's "Workflow commands" and "Checks API" (10 annotations a step).
const MOST: usize = 10;

/// An annotation.
#[derive(Debug)]
pub(crate) struct Annotation<'a> {
    /// `error`, `warning` or `notice`.
    pub(crate) kind: &'static str,
    /// The file, and the line counted from 1.
    pub(crate) place: Option<(&'a str, Option<usize>)>,
    pub(crate) title: String,
    pub(crate) message: String,
}

/// The annotations as lines `::error …::message`. If there are more of a kind than GitHub shows,
/// the last one of that kind gives the number of the others, and `elsewhere`: where they are.
pub(crate) fn commands(annotations: &[Annotation<'_>], title: &str, elsewhere: &str) -> String {
    let mut out = String::new();
    for kind in ["error", "warning", "notice"] {
        let own: Vec<_> = annotations.iter().filter(|one| one.kind == kind).collect();
        let shown = if own.len() > MOST { MOST - 1 } else { own.len() };
        for one in own.iter().take(shown) {
            let mut properties = Vec::new();
            if let Some((file, line)) = one.place {
                properties.push(format!("file={}", property(file)));
                properties.extend(line.map(|line| format!("line={line}")));
            }
            properties.push(format!("title={}", property(&one.title)));
            out.push_str(&format!("::{kind} {}::{}\n", properties.join(","), data(&one.message)));
        }
        if shown < own.len() {
            let more = format!("{} more findings are {elsewhere}", own.len() - shown);
            out.push_str(&format!("::{kind} title={}::{}\n", property(title), data(&more)));
        }
    }
    out
}

/// Escapes a message as the runner's toolkit does: a line break would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, which also ends at a colon or a comma.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
