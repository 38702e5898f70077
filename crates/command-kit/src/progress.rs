//! The progress bar of commands that read or make frames.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over `frames` frames, or a spinner if their number is unknown.
pub fn progress(frames: Option<impl Into<u64>>) -> ProgressBar {
    let style = "{bar:40} frame {pos} of {len}, {per_sec}, {eta} left";
    match frames {
        Some(frames) => ProgressBar::new(frames.into()).with_style(
            ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
        ),
        None => ProgressBar::new_spinner(),
    }
}
