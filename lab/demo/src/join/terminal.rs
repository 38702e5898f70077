//! The player's terminal, which reports the keys that are down.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use crossterm::event::{
    self, DisableFocusChange, EnableFocusChange, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use cubes::Input;

use super::held::HeldKeys;
use crate::join::JoinError;
use crate::keys::Key;
use crate::raw_mode::{RawMode, is_quit};

/// A terminal that reports keys. Dropping this value, even during a panic, restores the terminal.
pub(super) struct Terminal {
    keys: HeldKeys,
    /// Whether standard error is a terminal, to which the display and control sequences are
    /// written.
    has_display: bool,
    _raw: RawMode,
}

/// The result of polling the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// The user holds these keys.
    Keys(Input),
    /// The user pressed Ctrl-C, which sends no signal in raw mode.
    Quit,
}

impl Terminal {
    pub(super) fn open() -> Result<Self, JoinError> {
        let raw = RawMode::begin().map_err(JoinError::Terminal)?;
        let has_display = stderr().is_terminal();
        let terminal = Self { keys: HeldKeys::default(), has_display, _raw: raw };
        if terminal.has_display {
            // Terminals without this protocol ignore these flags, and report no releases.
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                | KeyboardEnhancementFlags::REPORT_EVENT_TYPES;
            let _ = crossterm::execute!(stderr(), PushKeyboardEnhancementFlags(flags));
            let _ = crossterm::execute!(stderr(), EnableFocusChange);
        }
        Ok(terminal)
    }

    /// Takes the key events since the last call. The method never waits.
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
        if self.has_display {
            let _ = crossterm::execute!(stderr(), DisableFocusChange);
            let _ = crossterm::execute!(stderr(), PopKeyboardEnhancementFlags);
        }
    }
}

/// Returns the game key of a terminal key: arrows or WASD, and space and Z as on the page of
/// `demo`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_map_to_keys_and_control_c_is_none_of_them() {
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
    }
}
