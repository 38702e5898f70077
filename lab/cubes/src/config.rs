//! The world's options: the number of cubes.
//!
//! The article's scene is a 30 × 30 grid of 900 cubes, and the player. Other counts show how a
//! codec scales. The limit keeps the arena far within ±256 m, the article's range of positions.

use core::fmt;

/// The largest number of cubes without the player, which is a grid of 100 × 100.
pub const MAX_CUBES: u32 = 10_000;

/// The options of a [`World`](crate::World).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// The number of cubes besides the player's, from 0 to [`MAX_CUBES`].
    ///
    /// The cubes fill a near-square grid row by row, with `ceil(sqrt(cubes))` columns.
    pub cubes: u32,
}

impl Default for Config {
    /// Returns the article's scene, with 900 cubes and therefore 901 bodies.
    fn default() -> Self {
        Self { cubes: 900 }
    }
}

impl Config {
    /// Checks that all options are within their ranges.
    ///
    /// # Errors
    ///
    /// [`ConfigError::TooManyCubes`] if there are more than [`MAX_CUBES`] cubes.
    pub const fn validate(&self) -> Result<(), ConfigError> {
        if self.cubes > MAX_CUBES {
            return Err(ConfigError::TooManyCubes { cubes: self.cubes });
        }
        Ok(())
    }
}

/// The reason why a [`Config`] was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There are more than [`MAX_CUBES`] cubes.
    TooManyCubes {
        /// The number of cubes that was requested.
        cubes: u32,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyCubes { cubes } => {
                write!(formatter, "{cubes} cubes, but at most {MAX_CUBES} fit")
            }
        }
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_checked() {
        assert_eq!(Config::default().validate(), Ok(()));
        assert_eq!(Config { cubes: 0 }.validate(), Ok(()));
        assert_eq!(Config { cubes: MAX_CUBES }.validate(), Ok(()));
        let error = Config { cubes: 10_001 }.validate().unwrap_err();
        assert_eq!(error, ConfigError::TooManyCubes { cubes: 10_001 });
        assert_eq!(error.to_string(), "10001 cubes, but at most 10000 fit");
    }
}
