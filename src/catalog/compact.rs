//! Compact JSON text: white space between tokens taken out, every token kept as it was spelt.

/// Takes out the white space between the tokens of a valid JSON text. Strings, numbers and key order stay as spelt,
/// which re-serialising a parsed value would not promise (`1e3`, `"\u00e9"`, a repeated key).
pub(crate) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut in_string = false;
    let mut escaped = false;
    for c in json.chars() {
        if in_string {
            out.push(c);
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == '"' {
                in_string = false;
            }
        } else if !matches!(c, ' ' | '\t' | '\n' | '\r') {
            in_string = c == '"';
            out.push(c);
        }
    }
    out
}
