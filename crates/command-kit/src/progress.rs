//! The progress bar of commands that read or make frames.

use std::fmt::Write;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// Returns a bar over `frames` frames, or a spinner if their number is unknown.
pub fn progress(frames: Option<impl Into<u64>>) -> ProgressBar {
    let template = "{bar:40} frame {pos} of {len}, {speed}, {eta} left";
    match frames {
        Some(frames) => ProgressBar::new(frames.into()).with_style(
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .with_key("speed", |state: &ProgressState, out: &mut dyn Write| {
                    // A bar that cannot be drawn is ignored.
                    let _ = out.write_str(&speed(state.per_sec()));
                }),
        ),
        None => ProgressBar::new_spinner(),
    }
}

/// Returns a speed as text. From 10 on, it has no decimals.
fn speed(per_second: f64) -> String {
    if per_second < 10.0 { format!("{per_second:.1}/s") } else { format!("{per_second:.0}/s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_rounded() {
        assert_eq!([0.0, 9.94, 388.9237].map(speed), ["0.0/s", "9.9/s", "389/s"]);
    }
}
