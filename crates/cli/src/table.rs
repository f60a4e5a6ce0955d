//! Tables as text: headings, and each column as wide as its widest cell.

use unicode_width::UnicodeWidthStr;

use super::output::DIM;
use toolfold::diagnostic::visible;

/// Maximum width that a cell gives its column, in terminal columns.
const WIDEST: usize = 48;
/// Maximum length of a text in a list, in characters.
const MOST: usize = 160;

/// Rows under headings. Columns of numbers are right-aligned; the last column has no fixed width.
/// The result does not depend on the terminal.
pub(super) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let mut columns = headings.map(|heading| Column { width: heading.width(), number: !rows.is_empty() });
    for row in rows {
        for (column, cell) in columns.iter_mut().zip(row) {
            column.width = column.width.max(cell.width().min(WIDEST));
            column.number &= !cell.is_empty() && cell.bytes().all(|b| b.is_ascii_digit() || b == b',');
        }
    }
    let mut out = format!("{DIM}{}{DIM:#}\n", table_line(&headings, &columns));
    for row in rows {
        out.push_str(&table_line(row, &columns));
        out.push('\n');
    }
    out
}

struct Column {
    width: usize,
    number: bool,
}

fn table_line(cells: &[impl AsRef<str>], columns: &[Column]) -> String {
    let pad = |(cell, column): (&_, &Column)| -> String {
        let cell: &str = AsRef::<str>::as_ref(cell);
        let space = " ".repeat(column.width.saturating_sub(cell.width()));
        if column.number { space + cell } else { cell.to_owned() + &space }
    };
    cells.iter().zip(columns).map(pad).collect::<Vec<String>>().join("  ").trim_end().to_owned()
}

/// A sentence in lines of at most `columns` columns; a longer word has its own line.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A text for one line of a list: invisible characters are escaped, and a cut is marked.
pub(super) fn cut_for_list(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} […]", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}
