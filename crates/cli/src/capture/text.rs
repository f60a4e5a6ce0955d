//! What a captured list contains as text: tools on one line, and commands and URLs without secrets.

use indexmap::IndexMap;
use toolfold_gateway::clients::read::{How, Listed};
use toolfold_gateway::clients::secrets::moved;

/// A tool on one line, with the same numbers and the same order of members.
pub(super) fn one_line(tool: &str) -> String {
    if !tool.contains('\n') && !tool.contains('\r') {
        return tool.to_owned();
    }
    let mut out = String::with_capacity(tool.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in tool.chars() {
        if quoted || !c.is_whitespace() {
            out.push(c);
        }
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
    }
    out
}

/// The words of a command, with a variable in place of everything that looks like a secret.
pub(super) fn without_secrets(command: &str, args: &[String]) -> Vec<String> {
    let how = How::Stdio { command: command.to_owned(), args: args.to_vec(), env: IndexMap::new(), cwd: None };
    let mut listed = [Listed::new("server", how)];
    moved(&mut listed);
    let [Listed { how, .. }] = listed;
    match how {
        How::Stdio { command, args, .. } => [vec![command], args].concat(),
        How::Http { .. } => Vec::new(),
    }
}

/// A URL without user, query and fragment, which may contain secrets.
pub(super) fn url_without_secrets(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = url.get(..end).unwrap_or(url);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_keep_no_secret() {
        for (url, kept) in [
            ("https://x.test/mcp", "https://x.test/mcp"),
            ("https://me:pw@x.test:8/mcp?key=1#a", "https://x.test:8/mcp"),
            ("https://x.test?key=1/2", "https://x.test"),
        ] {
            assert_eq!(url_without_secrets(url), kept);
        }
    }

    #[test]
    fn commands_keep_no_secret() {
        let args =
            ["-y", "@modelcontextprotocol/server-everything", "--token", "abc", "--api-key=def", "sk-1234567890"];
        let words = without_secrets("npx", &args.map(str::to_owned)).join(" ");
        assert!(words.starts_with("npx -y @modelcontextprotocol/server-everything "), "{words}");
        assert!(!["abc", "def", "sk-1"].iter().any(|secret| words.contains(secret)), "{words}");
    }

    #[test]
    fn a_tool_is_written_on_one_line() {
        assert_eq!(one_line("{\n \"a\" : \"x \\\" \\\\\",\r\n \"n\": 1.50}"), r#"{"a":"x \" \\","n":1.50}"#);
    }
}
