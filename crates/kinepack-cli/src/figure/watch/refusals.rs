//! The lines about refused descriptions. Anybody can send many, so the lines per second are
//! limited.

use std::fmt::Display;
use std::net::SocketAddr;
use std::time::Duration;

/// The time between two lines.
const EVERY: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Refusals {
    next: Duration,
    unsaid: u64,
}

impl Refusals {
    /// Returns the line about a refused description, unless another one was just written.
    pub(super) fn line(
        &mut self,
        now: Duration,
        from: SocketAddr,
        error: &impl Display,
    ) -> Option<String> {
        if now < self.next {
            self.unsaid += 1;
            return None;
        }
        self.next = now + EVERY;
        let before = match std::mem::take(&mut self.unsaid) {
            0 => String::new(),
            unsaid => format!(" (and {unsaid} before it)"),
        };
        Some(format!("the body of {from} is refused{before}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_refusals_take_few_lines() {
        let mut refusals = Refusals::default();
        let from = "127.0.0.1:70".parse().unwrap();
        let lines: Vec<String> = (0..35_000)
            .filter_map(|step| refusals.line(Duration::from_micros(100 * step), from, &"bad"))
            .collect();
        assert_eq!(
            lines,
            [
                "the body of 127.0.0.1:70 is refused: bad",
                "the body of 127.0.0.1:70 is refused (and 19999 before it): bad"
            ]
        );
    }
}
