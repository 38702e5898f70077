//! The look of tables, and reports as JSON.

use std::io::{self, Write};

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// Columns under a header; the first `names` are of words, the others of numbers.
pub fn table<H: Into<String>, R: IntoIterator<Item = String>>(
    header: impl IntoIterator<Item = H>,
    names: usize,
    rows: impl IntoIterator<Item = R>,
) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_header(header.into_iter().map(Into::into).collect::<Vec<String>>());
    for row in rows {
        table.add_row(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if index >= names {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// One JSON document.
pub fn write_json(report: &impl serde::Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// A share in percent.
pub fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        "–".to_owned()
    } else {
        format!("{:.1} %", 100.0 * part as f64 / whole as f64)
    }
}

/// Writes rows of a name and a value.
pub fn write_rows(
    out: &mut impl Write,
    rows: impl IntoIterator<Item = (&'static str, String)>,
) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    for (what, value) in rows {
        table.add_row([what.to_owned(), value]);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if index == 1 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    writeln!(out, "{}", table.trim_fmt())
}
