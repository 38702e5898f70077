//! The switches of the game: each mechanism can be left out, to see what happens without it.

use std::time::Duration;

use kinepack_net::Extrapolation;
use serde::{Deserialize, Serialize};

/// Where the server looks for the targets of a shot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rewind {
    /// Where the shooter's screen had them: `Hub::rewind`.
    #[default]
    Exact,
    /// Where they were at the tick that the shooter's screen was nearest to.
    Tick,
    /// Where they are now.
    None,
}

/// What the server and its clients do. The same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// By what the server decides who is hit.
    pub rewind: Rewind,
    /// Clients simulate their own player. Otherwise they show what arrived from the server.
    pub prediction: bool,
    /// What a correction changes fades in. Otherwise the player jumps there.
    pub fade: bool,
    /// Clients follow what the server says about their inputs. Otherwise they keep the lead with
    /// which they began.
    pub clock: bool,
    /// Players on the ferry are relative to it. Otherwise they are carried along in the world.
    pub frames: bool,
    /// Teleporters and new lives are marked as jumps. Otherwise players fly there.
    pub cuts: bool,
    /// Others continue straight on for 100 ms if their states are late. Otherwise they stop.
    pub straight: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            rewind: Rewind::Exact,
            prediction: true,
            fade: true,
            clock: true,
            frames: true,
            cuts: true,
            straight: false,
        }
    }
}

impl Rules {
    /// What is shown of a player whose next state is late.
    pub fn late_players(&self) -> Extrapolation {
        let at_most = Duration::from_millis(100);
        if self.straight { Extrapolation::Straight { at_most } } else { Extrapolation::Hold }
    }
}
