//! Lines on the terminal about a broadcast.

use command_kit::say;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use kinepack_crowd::moq::Link;

/// The state of a connection, as a line of news.
pub(super) fn news_of(link: &Link) -> String {
    match link {
        Link::Connected => "the relay is connected".to_owned(),
        Link::Connecting { because: Some(error) } => format!("{error}; trying again"),
        Link::Connecting { because: None } => "connecting to the relay".to_owned(),
    }
}

/// Lines on a terminal that are redrawn.
pub(super) struct Lines(Vec<ProgressBar>);

impl Lines {
    pub(super) fn new(count: usize) -> Self {
        let all = MultiProgress::new();
        let line = || {
            let style = ProgressStyle::with_template("{wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            all.add(ProgressBar::new(1).with_style(style))
        };
        Self((0..count).map(|_| line()).collect())
    }

    pub(super) fn show(&self, nth: usize, text: String) {
        self.0.iter().skip(nth).take(1).for_each(|line| line.set_message(text.clone()));
    }

    /// Prints a line above.
    pub(super) fn say(&self, text: &str) {
        let line = || say(format!("kinepack: {text}"));
        match self.0.first() {
            Some(first) => first.suspend(line),
            None => line(),
        }
    }

    pub(super) fn finish(&self) {
        self.0.iter().for_each(ProgressBar::finish_and_clear);
    }
}
