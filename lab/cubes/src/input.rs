//! The keys that a player holds in one tick.

/// The keys held during one tick. The default holds none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Input {
    /// Move towards −x.
    pub left: bool,
    /// Move towards +x.
    pub right: bool,
    /// Move away from the viewer, towards +y.
    pub up: bool,
    /// Move towards the viewer, towards −y.
    pub down: bool,
    /// Hover, and blow the surrounding cubes away.
    pub push: bool,
    /// Draw the surrounding cubes towards the player, and drag them along.
    pub pull: bool,
}

impl Input {
    /// Returns the held direction: x and y, each −1, 0 or 1. Opposite keys cancel out.
    pub fn direction(self) -> [i8; 2] {
        [i8::from(self.right) - i8::from(self.left), i8::from(self.up) - i8::from(self.down)]
    }

    /// Holds exactly the keys of `direction`, in which only the signs count. The buttons do not
    /// change.
    #[must_use]
    pub fn with_direction(self, direction: [i8; 2]) -> Self {
        Self {
            left: direction[0] < 0,
            right: direction[0] > 0,
            down: direction[1] < 0,
            up: direction[1] > 0,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_round_trip_and_opposites_cancel() {
        for x in -1..=1 {
            for y in -1..=1 {
                assert_eq!(Input::default().with_direction([x, y]).direction(), [x, y]);
            }
        }
        let both = Input { left: true, right: true, up: true, ..Input::default() };
        assert_eq!(both.direction(), [0, 1]);
    }
}
