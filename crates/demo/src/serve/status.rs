//! The server's lines on a terminal: redrawn each second, below the news.

use command_kit::say;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// See the head of this file. Invisible if standard error is not a terminal.
pub(super) struct Status {
    all: MultiProgress,
    lines: [ProgressBar; 3],
}

impl Status {
    pub(super) fn new() -> Self {
        let all = MultiProgress::new();
        let lines = [(); 3].map(|()| {
            let style = ProgressStyle::with_template("{wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            all.add(ProgressBar::new(1).with_style(style))
        });
        Self { all, lines }
    }

    /// Prints a line on standard error, above the status.
    pub(super) fn say(&self, line: &str) {
        self.all.suspend(|| say(format!("kinepack: {line}")));
    }

    pub(super) fn is_hidden(&self) -> bool {
        self.lines.iter().all(ProgressBar::is_hidden)
    }

    pub(super) fn show(&self, messages: [String; 3]) {
        self.lines.iter().zip(messages).for_each(|(line, message)| line.set_message(message));
    }

    pub(super) fn finish(&self) {
        self.lines.iter().for_each(ProgressBar::finish_and_clear);
    }
}
