//! The scripted player's styles, and their names on a command line.

use core::fmt;
use core::str::FromStr;

/// The style in which a [`Script`](crate::Script) plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// The player moves about, pushes at times, and pulls for a while, as in ordinary play.
    #[default]
    Typical,
    /// The player pushes a lot while moving, and never pulls.
    Push,
    /// The player mostly pulls, and rolls a large ball of cubes about.
    Pull,
    /// The player never presses a key.
    Rest,
}

impl Style {
    /// Every style, in the order in which help texts list them.
    pub const ALL: [Style; 4] = [Style::Typical, Style::Push, Style::Pull, Style::Rest];

    /// Returns the style's lowercase name, as [`Style::from_str`] accepts it.
    pub const fn name(self) -> &'static str {
        match self {
            Style::Typical => "typical",
            Style::Push => "push",
            Style::Pull => "pull",
            Style::Rest => "rest",
        }
    }
}

impl fmt::Display for Style {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Style {
    type Err = UnknownStyle;

    fn from_str(name: &str) -> Result<Self, UnknownStyle> {
        Style::ALL.into_iter().find(|style| style.name() == name).ok_or(UnknownStyle)
    }
}

/// The error for a text that is not the name of a [`Style`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownStyle;

impl fmt::Display for UnknownStyle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("unknown style; there are")?;
        for (index, style) in Style::ALL.into_iter().enumerate() {
            let separator = if index == 0 { " " } else { ", " };
            write!(formatter, "{separator}{style}")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownStyle {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for style in Style::ALL {
            assert_eq!(style.to_string().parse(), Ok(style));
        }
        assert_eq!("Typical".parse::<Style>(), Err(UnknownStyle));
        assert_eq!(UnknownStyle.to_string(), "unknown style; there are typical, push, pull, rest");
    }
}
