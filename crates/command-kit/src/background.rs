//! Runs long work with a progress bar. A signal can stop it.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::interrupt::Interrupt;

/// The time between two checks of the signal's flag.
const ROUND: Duration = Duration::from_millis(20);

/// Runs `work` on another thread, with a bar for the share that it reports as done. Returns `None`
/// after a signal. The thread then continues until the program ends, but its result is ignored.
pub fn in_background<R: Send + 'static>(
    done: &str,
    interrupt: &Interrupt,
    work: impl FnOnce(&mut dyn FnMut(f64)) -> R + Send + 'static,
) -> Option<R> {
    let style =
        ProgressStyle::with_template(&format!("{{bar:40}} {{percent}} % {done}, {{eta}} left"));
    let bar =
        ProgressBar::new(1000).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let (sender, receiver) = channel();
    let thread = thread::spawn({
        let bar = bar.clone();
        move || {
            let result = work(&mut |share| bar.set_position((share * 1000.0) as u64));
            // After a signal, no receiver exists for the result.
            let _ = sender.send(result);
        }
    });
    let result = loop {
        match receiver.recv_timeout(ROUND) {
            Ok(result) => break Some(result),
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => break receiver.try_recv().ok(),
            },
            Err(RecvTimeoutError::Timeout) if interrupt.is_raised() => break None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    bar.finish_and_clear();
    result
}
