//! Formats tables and the text around them, and writes reports as JSON.
//!
//! A table that is wider than the terminal is written in parts, one below the other. Each part
//! repeats the columns of names. Text breaks between words. Output that does not go to a terminal
//! has no limit, unless the environment variable COLUMNS sets one.

use std::env;
use std::io::{self, Write};

use comfy_table::{CellAlignment, LineStyle, TableStyle};
use console::{Term, measure_text_width};

use crate::escaped;

/// The minimum width. A narrower terminal is treated as having this width.
const LEAST_WIDTH: usize = 20;

/// Returns the number of characters in a line of standard output, or `None` if there is no limit.
pub fn width() -> Option<usize> {
    let asked = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || {
        let terminal = Term::stdout();
        terminal.is_term().then(|| terminal.size_checked()).flatten()
    };
    asked
        .or_else(|| terminal().map(|(_, columns)| usize::from(columns)))
        .filter(|width| *width > 0)
        .map(|width| width.max(LEAST_WIDTH))
}

/// Columns under a header.
pub struct Table {
    header: Vec<String>,
    names: usize,
    rows: Vec<Vec<String>>,
}

/// Makes a table of columns under a header. The first `names` columns hold words, the others
/// numbers. A heading that begins with a line break or a tab is in the group of the previous
/// column, and a group is never split. The tab is not shown. A cell is one line: its control
/// characters are escaped.
pub fn table<H: Into<String>, R: IntoIterator<Item = String>>(
    header: impl IntoIterator<Item = H>,
    names: usize,
    rows: impl IntoIterator<Item = R>,
) -> Table {
    let cell = |cell: String| escaped(&cell).into_owned();
    Table {
        header: header.into_iter().map(Into::into).collect(),
        names,
        rows: rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect(),
    }
}

impl Table {
    /// Renders the table in the width of standard output, without spaces at the ends of lines.
    pub fn trim_fmt(&self) -> String {
        self.fitted(width())
    }

    fn fitted(&self, width: Option<usize>) -> String {
        let all: Vec<usize> = (self.names..self.header.len()).collect();
        let whole = self.rendered(&all);
        let Some(width) = width.filter(|width| longest_line(&whole) > *width) else {
            return whole;
        };
        let mut parts: Vec<(Vec<usize>, String)> = Vec::new();
        for group in self.groups() {
            if let Some((columns, text)) = parts.last_mut() {
                let longer = [columns, &group[..]].concat();
                let rendered = self.rendered(&longer);
                if longest_line(&rendered) <= width {
                    (*columns, *text) = (longer, rendered);
                    continue;
                }
            }
            let rendered = self.rendered(&group);
            parts.push((group, rendered));
        }
        let parts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
        if parts.is_empty() { whole } else { parts.join("\n\n") }
    }

    /// Returns the columns of numbers, by group.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for index in self.names..self.header.len() {
            match groups.last_mut() {
                Some(group) if self.header[index].starts_with(['\n', '\t']) => group.push(index),
                _ => groups.push(vec![index]),
            }
        }
        groups
    }

    /// Renders the columns of names and the columns `columns`.
    fn rendered(&self, columns: &[usize]) -> String {
        let of = |cells: &[String]| -> Vec<String> {
            let cell = |index: usize| {
                let cell = cells.get(index).map_or("", String::as_str);
                cell.strip_prefix('\t').unwrap_or(cell).to_owned()
            };
            (0..self.names).chain(columns.iter().copied()).map(cell).collect()
        };
        let mut table = comfy_table::Table::new();
        table.load_style(
            TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')),
        );
        table.set_header(of(&self.header));
        for row in &self.rows {
            table.add_row(of(row));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 1));
            if index >= self.names {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let text = table.trim_fmt();
        // The separator is as wide as the padding of the last column.
        let width = text.lines().filter(|line| !line.starts_with('─')).map(measure_text_width);
        let width = width.max().unwrap_or(0);
        let line = |line: &str| match line.starts_with('─') {
            true => "─".repeat(width),
            false => line.to_owned(),
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn longest_line(text: &str) -> usize {
    text.lines().map(measure_text_width).max().unwrap_or(0)
}

/// Writes a paragraph in the width of standard output. Its first line begins with `first`, and the
/// other lines with spaces of the same width.
pub fn write_text(out: &mut impl Write, first: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{}", wrapped(first, text, width()))
}

fn wrapped(first: &str, text: &str, width: Option<usize>) -> String {
    let text = escaped(text);
    let Some(width) = width else { return format!("{first}{text}") };
    let indent = measure_text_width(first);
    let (mut lines, mut line) = (first.to_owned(), indent);
    for (index, word) in text.split(' ').enumerate() {
        let word_width = measure_text_width(word);
        if index > 0 && line + 1 + word_width > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            line = indent;
        } else if index > 0 {
            lines.push(' ');
            line += 1;
        }
        lines.push_str(word);
        line += word_width;
    }
    lines
}

/// Writes a report as one JSON document.
pub fn write_json(report: &impl serde::Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// Returns a share in percent.
pub fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        "–".to_owned()
    } else {
        format!("{:.1} %", 100.0 * part as f64 / whole as f64)
    }
}

/// Writes rows, each with a name and a value.
pub fn write_rows(
    out: &mut impl Write,
    rows: impl IntoIterator<Item = (&'static str, String)>,
) -> io::Result<()> {
    let mut table = comfy_table::Table::new();
    table.load_style(TableStyle::new());
    for (what, value) in rows {
        table.add_row([what.to_owned(), escaped(&value).into_owned()]);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if index == 1 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    writeln!(out, "{}", table.trim_fmt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> Table {
        let rows = [["packed", "14.5", "20", "174.0"], ["adaptive", "9.5", "12", "114.0"]];
        table(["level", "bytes\nmean", "\nmax", "kbit/s"], 1, rows.map(|row| row.map(String::from)))
    }

    #[test]
    fn a_table_that_fits_is_whole() {
        let whole = sizes().fitted(None);
        assert_eq!(whole.lines().count(), 5, "{whole}");
        assert_eq!(sizes().fitted(Some(longest_line(&whole))), whole);
    }

    #[test]
    fn a_wide_table_is_in_parts_that_repeat_the_names_and_split_no_group() {
        let narrow = sizes().fitted(Some(24));
        let parts: Vec<&str> = narrow.split("\n\n").collect();
        assert_eq!(parts.len(), 2, "{narrow}");
        assert!(parts.iter().all(|part| part.contains("adaptive")), "{narrow}");
        assert!(parts[0].contains("mean") && parts[0].contains("max"), "{narrow}");
        assert!(parts[1].contains("kbit/s") && longest_line(&narrow) <= 24, "{narrow}");
    }

    #[test]
    fn a_cell_stays_in_its_line() {
        let rows = [["goal\nforged  line\u{1b}[2J".to_owned(), "7".to_owned()]];
        let text = table(["marker", "tick"], 1, rows).fitted(None);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("goal\\u000aforged  line\\u001b[2J"), "{text}");
    }

    #[test]
    fn text_breaks_between_words_under_its_first_word() {
        assert_eq!(wrapped("- ", "one two three", Some(10)), "- one two\n  three");
        assert_eq!(wrapped("- ", "one two three", None), "- one two three");
        assert_eq!(wrapped("", "extraordinarily long", Some(5)), "extraordinarily\nlong");
        assert_eq!(wrapped("- ", "a\nforged line", None), "- a\\u000aforged line");
    }
}
