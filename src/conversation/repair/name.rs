//! The repairs of tool names.

/// Namespaces that chat templates put before a tool's name.
const NAMESPACES: [&str; 8] =
    ["functions", "function", "default_api", "tools", "tool", "tool_use", "multi_tool_use", "print("];

/// Separators after a namespace.
const SEPARATORS: [&str; 5] = ["::", ":", ".", "/", "__"];

/// Words of chat templates beside a tool's name.
const CHANNELS: [&str; 10] =
    ["assistant", "user", "system", "tool", "commentary", "analysis", "final", "json", "code", "function"];

/// The maximum number of parts that are removed from one name.
const MAX_REMOVED: usize = 8;

/// The name of OpenAI's wrapper for parallel calls, without separators.
const PARALLEL: &str = "multitooluseparallel";

/// The known name in a name with the marks of a chat template: `functions.read_file`,
/// `read_file<|channel|>commentary`, `read_file:0`. `None` if there is not exactly one. `is_known`
/// returns whether a name is known, and `begins` whether a known name begins with a text, which is
/// then not a mark.
pub(in crate::conversation) fn plain_name<'n>(
    name: &'n str,
    is_known: &dyn Fn(&str) -> bool,
    begins: &dyn Fn(&str) -> bool,
) -> Option<&'n str> {
    let mut found = None;
    for part in parts(name, is_known) {
        match stripped(part, is_known, begins) {
            Some(known) if found.is_none() => found = Some(known),
            Some(_) => return None,
            None if CHANNELS.contains(&part.trim()) => {}
            None => return None,
        }
    }
    found.filter(|known| *known != name)
}

/// Whether a name is that of OpenAI's wrapper for parallel calls, which models write as a call.
pub(in crate::conversation) fn is_parallel(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphabetic).collect();
    plain.strip_prefix("functions").unwrap_or(&plain) == PARALLEL
}

/// The parts of a name between template tokens (`<|channel|>`), recipients (`to=`) and blanks.
fn parts<'n>(name: &'n str, is_known: &dyn Fn(&str) -> bool) -> Vec<&'n str> {
    let mut parts = Vec::new();
    let mut rest = Some(name);
    while let Some(text) = rest.take() {
        let (part, behind) = text.split_once('<').map_or((text, None), |(part, behind)| (part, Some(behind)));
        for part in part.split("to=") {
            match is_known(part.trim()) {
                true => parts.push(part.trim()),
                false => parts.extend(part.split_whitespace()),
            }
        }
        rest = behind.map(|behind| behind.split_once('>').map_or("", |(_, rest)| rest));
    }
    parts
}

/// The known name in a part, without namespaces before it and marks after it.
fn stripped<'n>(part: &'n str, is_known: &dyn Fn(&str) -> bool, begins: &dyn Fn(&str) -> bool) -> Option<&'n str> {
    let mut own = part;
    for _ in 0..=MAX_REMOVED {
        own = own.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '\u{feff}'));
        if is_known(own) {
            return Some(own);
        }
        own = without_namespace(own, begins).or_else(|| without_mark(own))?;
    }
    None
}

fn without_namespace<'n>(name: &'n str, begins: &dyn Fn(&str) -> bool) -> Option<&'n str> {
    for namespace in NAMESPACES {
        let Some(behind) = name.strip_prefix(namespace) else { continue };
        if namespace.ends_with('(') {
            return Some(behind);
        }
        for separator in SEPARATORS {
            if let Some(rest) = behind.strip_prefix(separator)
                && !begins(&format!("{namespace}{separator}"))
            {
                return Some(rest);
            }
        }
    }
    None
}

/// Without a number after a colon, or punctuation, at the end.
fn without_mark(name: &str) -> Option<&str> {
    if let Some(rest) = name.strip_suffix(['(', ')', '.', ':', ';', ',']) {
        return Some(rest);
    }
    let (rest, number) = name.rsplit_once([':', '#'])?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain<'n>(name: &'n str, tools: &[&str]) -> Option<&'n str> {
        plain_name(name, &|name| tools.contains(&name), &|mark| tools.iter().any(|own| own.starts_with(mark)))
    }

    #[test]
    fn marks_of_templates_are_removed() {
        for name in [
            "functions.read_file",
            "default_api.read_file",
            "default_api:read_file",
            "default_api/read_file",
            "tools::read_file",
            "functions.read_file:0",
            "read_file:12",
            "read_file ",
            " read_file\n",
            "`read_file`",
            "read_file()",
            "print(default_api.read_file(",
            "read_file<|channel|>commentary",
            "assistant<|channel|>read_file",
            "commentary to=functions.read_file<|constrain|>json",
            "read_file<|channel",
            "<tool_call>read_file</s>",
            "read_file commentary",
            "read_file:",
        ] {
            assert_eq!(plain(name, &["read_file", "ping"]), Some("read_file"), "{name}");
        }
    }

    #[test]
    fn a_name_with_another_meaning_is_not_changed() {
        for (name, tools) in [
            ("read_file", &["read_file"][..]),
            ("repo.read_file", &["read_file"]),
            ("tools.read_file", &["read_file", "tools.write"]),
            ("read_file<|channel|>ping", &["read_file", "ping"]),
            ("read_file:a", &["read_file"]),
            ("", &["read_file"]),
            ("functions.", &["read_file"]),
        ] {
            assert_eq!(plain(name, tools), None, "{name}");
        }
        assert!(is_parallel("multi_tool_use.parallel") && is_parallel("functions.multi_tool_use_parallel:0"));
        assert!(!is_parallel("parallel"));
    }
}
