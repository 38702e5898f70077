//! Draws lines on a terminal that are redrawn below the printed lines.

use command_kit::{announce, escaped};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Lines that are redrawn below the printed ones. They are invisible if standard error is not a
/// terminal.
pub(crate) struct Lines {
    all: MultiProgress,
    lines: Vec<ProgressBar>,
}

impl Lines {
    pub(crate) fn new(count: usize) -> Self {
        let mut lines = Self { all: MultiProgress::new(), lines: Vec::new() };
        lines.lines = (0..count).map(|_| lines.add("{wide_msg}", 1)).collect();
        lines
    }

    /// Adds a line below the others, with a template of `indicatif`. The caller redraws and clears
    /// the line.
    pub(crate) fn add(&self, template: &str, length: u64) -> ProgressBar {
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.all.add(ProgressBar::new(length).with_style(style))
    }

    /// Returns whether the lines are invisible, because standard error is not a terminal.
    pub(crate) fn is_hidden(&self) -> bool {
        self.lines.iter().all(ProgressBar::is_hidden)
    }

    /// Redraws the lines from line `from` on.
    pub(crate) fn show(&self, from: usize, texts: impl IntoIterator<Item = String>) {
        let lines = self.lines.iter().skip(from);
        lines.zip(texts).for_each(|(line, text)| line.set_message(escaped(&text).into_owned()));
    }

    /// Prints a line on standard error, above the redrawn lines.
    pub(crate) fn say(&self, line: &str) {
        self.all.suspend(|| announce(line));
    }

    pub(crate) fn finish(&self) {
        self.lines.iter().for_each(ProgressBar::finish_and_clear);
    }
}
