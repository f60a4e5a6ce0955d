//! Compact JSON text: removes the white space between tokens and leaves the tokens unchanged.

/// Removes the white space between the tokens of a valid JSON text, or of a prefix of one. Strings,
/// numbers and key order stay unchanged, which serializing a parsed value would not guarantee
/// (`1e3`, `"\u00e9"`, a repeated key).
pub(crate) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let bytes = json.as_bytes();
    let (mut kept_from, mut in_string, mut escaped) = (0, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            // White space is ASCII, so both ends are character boundaries.
            out.push_str(json.get(kept_from..at).unwrap_or_default());
            kept_from = at + 1;
        } else {
            in_string = *byte == b'"';
        }
    }
    out.push_str(json.get(kept_from..).unwrap_or_default());
    out
}
