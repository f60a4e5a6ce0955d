//! Tables as text: headings, and each column as wide as its widest cell.

use unicode_width::UnicodeWidthStr;

use super::output::DIM;
use toolfold::diagnostic::visible;

/// Width of what people read, in terminal columns: that of the smallest usual terminal.
pub(super) const WIDTH: usize = 80;
/// Maximum width that a cell gives its column, in terminal columns.
const WIDEST: usize = 48;
/// Maximum length of a text in a list, in characters.
const MOST: usize = 160;

/// Rows under headings. Columns of numbers are right-aligned; the last column has no fixed width.
/// The result does not depend on the terminal.
pub(super) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let (columns, all) = (columns_of(headings, rows), Vec::from_iter(0..N));
    block(&headings, rows, &columns, &all)
}

/// The same for tables of many short columns: those that do not fit into [`WIDTH`] follow below in
/// further tables, which repeat the first `keys` columns.
pub(super) fn table_in_blocks<const N: usize>(keys: usize, headings: [&str; N], rows: &[[String; N]]) -> String {
    let columns = columns_of(headings, rows);
    let width = |at: &usize| columns.get(*at).map_or(0, |column| column.width + 2);
    let key_width: usize = (0..keys).map(|at| width(&at)).sum();
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut used = usize::MAX;
    for at in keys..N {
        // The last column of a line is not followed by blanks.
        if used.saturating_add(width(&at)) > WIDTH + 2 {
            blocks.push((0..keys).collect());
            used = key_width;
        }
        used += width(&at);
        if let Some(block) = blocks.last_mut() {
            block.push(at);
        }
    }
    let blocks: Vec<String> = blocks.iter().map(|own| block(&headings, rows, &columns, own)).collect();
    blocks.join("\n")
}

fn columns_of<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> [Column; N] {
    let mut columns = headings.map(|heading| Column { width: heading.width(), number: !rows.is_empty() });
    for row in rows {
        for (column, cell) in columns.iter_mut().zip(row) {
            column.width = column.width.max(cell.width().min(WIDEST));
            column.number &= !cell.is_empty() && cell.bytes().all(|b| b.is_ascii_digit() || b == b',');
        }
    }
    columns
}

/// A table of some of the columns.
fn block<const N: usize>(headings: &[&str; N], rows: &[[String; N]], columns: &[Column; N], shown: &[usize]) -> String {
    let mut out = format!("{DIM}{}{DIM:#}\n", table_line(headings, columns, shown));
    for row in rows {
        out.push_str(&table_line(row, columns, shown));
        out.push('\n');
    }
    out
}

struct Column {
    width: usize,
    number: bool,
}

fn table_line(cells: &[impl AsRef<str>], columns: &[Column], shown: &[usize]) -> String {
    let pad = |at: &usize| {
        let (cell, column) = (cells.get(*at)?.as_ref(), columns.get(*at)?);
        let space = " ".repeat(column.width.saturating_sub(cell.width()));
        Some(if column.number { space + cell } else { cell.to_owned() + &space })
    };
    shown.iter().filter_map(pad).collect::<Vec<String>>().join("  ").trim_end().to_owned()
}

/// A note in lines of at most [`WIDTH`] columns, the first one after a dot.
pub(super) fn note_lines(text: &str) -> String {
    let lines = wrapped(text, WIDTH - 2);
    let mark = |(at, line): (usize, &String)| format!("{} {line}\n", if at == 0 { "·" } else { " " });
    lines.iter().enumerate().map(mark).collect()
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
