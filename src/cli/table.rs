//! Columns for people: headings, and each column as wide as its widest cell.

use unicode_width::UnicodeWidthStr;

use super::output::DIM;
use crate::diagnostic::visible;

/// A cell wider than this does not widen its column, in terminal columns.
const WIDEST: usize = 48;
/// What is shown of a long text in a list, in characters.
const MOST: usize = 160;

/// Rows under headings. The last column is as long as it is; nothing depends on the terminal.
pub(super) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = headings.map(UnicodeWidthStr::width);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width().min(WIDEST));
        }
    }
    let mut out = format!("{DIM}{}{DIM:#}\n", line(&headings, &widths));
    for row in rows {
        out.push_str(&line(row, &widths));
        out.push('\n');
    }
    out
}

fn line(cells: &[impl AsRef<str>], widths: &[usize]) -> String {
    let pad = |(cell, width): (&_, &usize)| -> String {
        let cell: &str = AsRef::<str>::as_ref(cell);
        format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width())))
    };
    cells.iter().zip(widths).map(pad).collect::<Vec<String>>().join("  ").trim_end().to_owned()
}

/// A text for one line of a list: invisible characters escaped, and what is left out marked.
pub(super) fn short(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} […]", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}
