//! The terminal of one who plays: keys as they are pressed, not by lines, and not drawn; restored
//! on every way out.

use std::io::{self, IsTerminal, stderr};
use std::time::Duration;

use crossterm::event::{
    self, DisableFocusChange, EnableFocusChange, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use cubes::Input;

use super::held::HeldKeys;
use crate::join::JoinError;
use crate::keys::Key;

/// A terminal that hands out keys. Dropped, also by a panic, it is as before.
pub(super) struct Terminal {
    keys: HeldKeys,
    /// Whether what is drawn, and so what the terminal is told, goes there.
    is_told: bool,
}

/// What a look at the keys says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// These are down.
    Keys(Input),
    /// Ctrl-C: here no signal says so.
    Quit,
}

impl Terminal {
    pub(super) fn open() -> Result<Self, JoinError> {
        enable_raw_mode().map_err(JoinError::Terminal)?;
        let terminal = Self { keys: HeldKeys::default(), is_told: stderr().is_terminal() };
        keep_lines().map_err(JoinError::Terminal)?;
        if terminal.is_told {
            // A terminal that does not know this passes it over; where it cannot be told at all, it
            // has no releases.
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                | KeyboardEnhancementFlags::REPORT_EVENT_TYPES;
            let _ = crossterm::execute!(stderr(), PushKeyboardEnhancementFlags(flags));
            let _ = crossterm::execute!(stderr(), EnableFocusChange);
        }
        Ok(terminal)
    }

    /// Takes what was pressed since the last call. Never waits.
    pub(super) fn poll(&mut self, now: Duration) -> Result<Pressed, JoinError> {
        while event::poll(Duration::ZERO).map_err(JoinError::Terminal)? {
            match event::read().map_err(JoinError::Terminal)? {
                Event::Key(key) if is_quit(&key) => return Ok(Pressed::Quit),
                Event::Key(key) => self.take(now, &key),
                Event::FocusLost => self.keys.release_all(),
                _ => {}
            }
        }
        Ok(Pressed::Keys(self.keys.input(now)))
    }

    fn take(&mut self, now: Duration, event: &KeyEvent) {
        match (key_of(event.code), event.kind) {
            (Some(key), KeyEventKind::Release) => self.keys.release(key),
            (Some(key), _) => self.keys.press(now, key),
            (None, _) => {}
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.is_told {
            let _ = crossterm::execute!(stderr(), DisableFocusChange);
            let _ = crossterm::execute!(stderr(), PopKeyboardEnhancementFlags);
        }
        let _ = disable_raw_mode();
    }
}

/// False for a program that a shell runs behind its prompt: the terminal would stop it at the first
/// touch.
#[cfg(unix)]
pub(super) fn is_ours() -> bool {
    let group = rustix::termios::tcgetpgrp(io::stdin());
    // A terminal without job control is nobody else's.
    group.map_or(true, |group| group == rustix::process::getpgrp())
}

#[cfg(not(unix))]
pub(super) fn is_ours() -> bool {
    true
}

fn is_quit(key: &KeyEvent) -> bool {
    key.code == KeyCode::Char('c')
        && key.modifiers.contains(KeyModifiers::CONTROL)
        && key.kind != KeyEventKind::Release
}

/// Arrows or WASD; space and Z as in the page of `demo`.
fn key_of(code: KeyCode) -> Option<Key> {
    Some(match code {
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Char(letter) => match letter.to_ascii_lowercase() {
            'a' => Key::Left,
            'd' => Key::Right,
            'w' => Key::Up,
            's' => Key::Down,
            ' ' => Key::Push,
            'z' => Key::Pull,
            _ => return None,
        },
        _ => return None,
    })
}

/// Raw mode also leaves out what makes a new line begin at the left, which all that is drawn and
/// said counts on.
#[cfg(unix)]
fn keep_lines() -> io::Result<()> {
    use rustix::termios::{OptionalActions, OutputModes, tcgetattr, tcsetattr};

    let stdin = io::stdin();
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
    fn keys_are_found_by_their_codes_and_control_c_is_none() {
        for (codes, key) in [
            ([KeyCode::Left, KeyCode::Char('a'), KeyCode::Char('A')], Key::Left),
            ([KeyCode::Right, KeyCode::Char('d'), KeyCode::Char('D')], Key::Right),
            ([KeyCode::Up, KeyCode::Char('w'), KeyCode::Char('W')], Key::Up),
            ([KeyCode::Down, KeyCode::Char('s'), KeyCode::Char('S')], Key::Down),
        ] {
            assert!(codes.into_iter().all(|code| key_of(code) == Some(key)));
        }
        assert_eq!([' ', 'z', 'Z', 'c'].map(|letter| key_of(KeyCode::Char(letter))), {
            [Some(Key::Push), Some(Key::Pull), Some(Key::Pull), None]
        });
        let press = |modifiers| KeyEvent::new(KeyCode::Char('c'), modifiers);
        assert!(is_quit(&press(KeyModifiers::CONTROL)) && !is_quit(&press(KeyModifiers::NONE)));
    }
}
