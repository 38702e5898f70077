//! Puts a terminal in raw mode, in which keys arrive one by one and are not echoed. The terminal is
//! restored whenever the program ends.

use std::io::{self, IsTerminal, stderr, stdin, stdout};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// A terminal in raw mode. Dropping this value, even during a panic, ends raw mode.
pub struct RawMode(());

impl RawMode {
    pub fn begin() -> io::Result<Self> {
        enable_raw_mode()?;
        let raw = Self(());
        keep_lines()?;
        Ok(raw)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

/// Returns whether a person uses a terminal that this program may read.
pub fn is_at_terminal() -> bool {
    stdin().is_terminal() && stdout().is_terminal() && stderr().is_terminal() && is_ours()
}

/// Returns whether this program may use the terminal. The result is false for a background job of a
/// shell, which the terminal would stop at its first access.
#[cfg(unix)]
fn is_ours() -> bool {
    let group = rustix::termios::tcgetpgrp(stdin());
    // Without job control, no other program uses the terminal.
    group.map_or(true, |group| group == rustix::process::getpgrp())
}

#[cfg(not(unix))]
fn is_ours() -> bool {
    true
}

/// Returns whether a key is Ctrl-C, which sends no signal in raw mode.
pub fn is_quit(key: &KeyEvent) -> bool {
    key.code == KeyCode::Char('c')
        && key.modifiers.contains(KeyModifiers::CONTROL)
        && key.kind != KeyEventKind::Release
}

/// Enables the return to the first column after a line feed. Raw mode disables this, but the
/// display and all messages need it.
#[cfg(unix)]
fn keep_lines() -> io::Result<()> {
    use rustix::termios::{OptionalActions, OutputModes, tcgetattr, tcsetattr};

    let stdin = stdin();
    let mut modes = tcgetattr(&stdin)?;
    modes.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
    Ok(tcsetattr(&stdin, OptionalActions::Now, &modes)?)
}

#[cfg(not(unix))]
fn keep_lines() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_c_quits() {
        let press = |modifiers| KeyEvent::new(KeyCode::Char('c'), modifiers);
        assert!(is_quit(&press(KeyModifiers::CONTROL)) && !is_quit(&press(KeyModifiers::NONE)));
    }
}
