//! Reads the names of tools in the description of `expand_tools`.

/// A text with `a_{b, c}` written as `a_b, a_c`.
pub(crate) fn written_out(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let names = after.split_once('}').filter(|(names, _)| !names.is_empty() && !names.contains(['"', '{']));
        let Some((names, after)) = names else {
            out.push('{');
            rest = after;
            continue;
        };
        let prefix = before.rsplit([' ', ',', '\n', '`']).next().unwrap();
        let names: Vec<String> = names.split(", ").map(|end| format!("{prefix}{end}")).collect();
        out.truncate(out.len() - prefix.len());
        out.push_str(&names.join(", "));
        rest = after;
    }
    out + rest
}

#[test]
fn prefixes_are_written_out() {
    assert_eq!(written_out(r#"{"a": "x (2): b_{c, d}, e","f":{}}"#), r#"{"a": "x (2): b_c, b_d, e","f":{}}"#);
}
