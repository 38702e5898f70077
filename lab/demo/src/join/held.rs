//! Tracks which keys are down, as far as the terminal reports them.
//!
//! Most terminals report only presses, and repeat them while a key is down. On these terminals, a
//! key counts as down for [`HOLD`] after its last press. Terminals with the kitty keyboard protocol
//! also report releases. After the first reported release, only releases end a press.

use std::time::Duration;

use cubes::Input;

use crate::keys::{Key, input};

/// The time for which a key counts as down after its last press. It is longer than the time between
/// two repeats, and short enough not to annoy.
const HOLD: Duration = Duration::from_millis(300);

/// The keys that are down.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldKeys {
    /// The time at which each key was last pressed or repeated, in the order of [`Key`]. The value
    /// is `None` for a key that is up.
    pressed: [Option<Duration>; 6],
    tells_releases: bool,
}

impl HeldKeys {
    pub(super) fn press(&mut self, now: Duration, key: Key) {
        self.pressed[key as usize] = Some(now);
        // Pressing the opposite direction means that the user has released this key.
        let opposite = match key {
            Key::Left => Key::Right,
            Key::Right => Key::Left,
            Key::Up => Key::Down,
            Key::Down => Key::Up,
            Key::Push | Key::Pull => return,
        };
        if !self.tells_releases {
            self.pressed[opposite as usize] = None;
        }
    }

    pub(super) fn release(&mut self, key: Key) {
        self.tells_releases = true;
        self.pressed[key as usize] = None;
    }

    /// Releases all keys, for example when the window loses the focus.
    pub(super) fn release_all(&mut self) {
        self.pressed = [None; 6];
    }

    pub(super) fn input(&self, now: Duration) -> Input {
        let is_down = |key: Key| {
            self.pressed[key as usize]
                .is_some_and(|pressed| self.tells_releases || now < pressed + HOLD)
        };
        input(is_down)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Input =
        Input { left: false, right: false, up: false, down: false, push: false, pull: false };

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn without_releases_a_key_is_down_until_its_repeats_end() {
        let mut keys = HeldKeys::default();
        assert_eq!(keys.input(ms(0)), NONE);
        keys.press(ms(1000), Key::Right);
        keys.press(ms(1100), Key::Push);
        assert_eq!(keys.input(ms(1299)), Input { right: true, push: true, ..NONE });
        assert_eq!(keys.input(ms(1300)), Input { push: true, ..NONE });
        for at in (1500..2500).step_by(33) {
            keys.press(ms(at), Key::Right);
            assert!(keys.input(ms(at + 32)).right);
        }
        assert_eq!(keys.input(ms(2750)), Input { right: true, ..NONE });
        assert_eq!(keys.input(ms(2800)), NONE);
    }

    #[test]
    fn a_direction_replaces_its_opposite() {
        let mut keys = HeldKeys::default();
        for (key, input) in [
            (Key::Left, Input { left: true, ..NONE }),
            (Key::Right, Input { right: true, ..NONE }),
            (Key::Up, Input { right: true, up: true, ..NONE }),
            (Key::Down, Input { right: true, down: true, ..NONE }),
            (Key::Pull, Input { right: true, down: true, pull: true, ..NONE }),
        ] {
            keys.press(ms(5), key);
            assert_eq!(keys.input(ms(6)), input);
        }
        keys.release_all();
        assert_eq!(keys.input(ms(6)), NONE);
    }

    #[test]
    fn after_a_reported_release_only_releases_count() {
        let mut keys = HeldKeys::default();
        keys.press(ms(0), Key::Left);
        keys.release(Key::Left);
        assert_eq!(keys.input(ms(1)), NONE);
        keys.press(ms(10), Key::Left);
        keys.press(ms(10), Key::Right);
        assert_eq!(keys.input(ms(60_000)), Input { left: true, right: true, ..NONE });
        keys.release(Key::Left);
        assert_eq!(keys.input(ms(60_001)), Input { right: true, ..NONE });
    }
}
