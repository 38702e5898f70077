//! Errors in the list of views that a packet is coded against.

use core::fmt;

use crate::limits::MAX_OLDER_VIEWS;

/// The reason why views cannot be [`Baselines`](crate::Baselines).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaselinesError {
    /// The list has no view.
    None,
    /// The list has more views than one baseline and [`Baselines::OLDER`](crate::Baselines::OLDER)
    /// older ones.
    TooMany,
    /// A view is not older than the view before it in the list.
    NotOlder {
        /// The tick of the refused view.
        tick: u32,
        /// The tick of the view before it in the list.
        newer: u32,
    },
}

impl fmt::Display for BaselinesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(
                f,
                "there is no view to code against; both sides can begin with an empty view"
            ),
            Self::TooMany => write!(f, "more than {} views to code against", 1 + MAX_OLDER_VIEWS),
            Self::NotOlder { tick, newer } => {
                write!(f, "the view of tick {tick} follows that of tick {newer}, but is not older")
            }
        }
    }
}

impl core::error::Error for BaselinesError {}
