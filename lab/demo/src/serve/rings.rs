//! What a client that plays sees by the distance from its own cube, for `serve --rings`.
//!
//! The hub measures the rings from the viewpoint of each client. A client that only watches has no
//! viewpoint, so it sees everything. Broadcasts and recordings have everything too.

use std::fmt;

use clap::Args;
use kinepack_net::{Hub, NetError, Ring, Rings};

use super::players::Players;
use crate::sender::Sender;

/// The fields that hold positions, by the names of their kinds.
const POSITIONS: [&str; 2] = ["player.position", "cube.position"];
/// The least and the largest distance of a ring in metres. Positions that can be sent are at most
/// 725 m apart.
const METRES: (f64, f64) = (1.0, 1_000.0);
const MOST_RINGS: usize = 8;
/// How much farther than its ring an entity is when it leaves the ring, as a factor.
const LEAVE_RATIO: f64 = 1.1;
/// The edge length of the hub's cells, as a share of the smallest ring.
const CELL_RATIO: f64 = 0.25;

/// The rings of clients that play.
#[derive(Args)]
pub struct RingOptions {
    /// Limit what a client that plays sees, by distances from its own cube in metres, such as
    /// 6,12:4. The first ring is the nearest. With a number after a colon, an entity of the ring
    /// changes only in every n-th snapshot. A client that only watches sees everything.
    #[arg(long, value_name = "METRES[:EVERY],...", value_parser = PlayerRings::parse)]
    rings: Option<PlayerRings>,
}

/// Rings from the nearest to the farthest.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerRings(Vec<PlayerRing>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct PlayerRing {
    within_m: f64,
    /// An entity of the ring changes once in this number of snapshots.
    every: u8,
}

impl RingOptions {
    /// Sets the rings of a hub that sends the world of cubes.
    pub fn apply(&self, hub: &mut Hub) -> Result<(), NetError> {
        self.rings.as_ref().map_or(Ok(()), |rings| hub.set_rings(Some(&rings.of_hub())))
    }

    /// Returns the option as text for a report. The text is empty without rings.
    pub fn name(&self) -> String {
        self.rings.as_ref().map(|rings| format!(" --rings {rings}")).unwrap_or_default()
    }
}

impl PlayerRings {
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rings: Vec<PlayerRing> = Vec::new();
        for part in text.split(',') {
            let number = rings.len() + 1;
            let ring = PlayerRing::parse(part, rings.last());
            rings.push(ring.map_err(|reason| format!("ring {number}, `{part}`: {reason}"))?);
        }
        if rings.len() > MOST_RINGS {
            return Err(format!("give at most {MOST_RINGS} rings instead of {}", rings.len()));
        }
        Ok(Self(rings))
    }

    pub fn of_hub(&self) -> Rings {
        let ring = |ring: &PlayerRing| Ring {
            within: ring.within_m,
            leave: ring.within_m * LEAVE_RATIO,
            every: ring.every.into(),
            tier: 0,
            coarser: 0,
        };
        let smallest_m = self.0.first().map_or(METRES.0, |ring| ring.within_m);
        Rings {
            positions: POSITIONS.map(str::to_owned).to_vec(),
            urgent: Vec::new(),
            rings: self.0.iter().map(ring).collect(),
            beyond: None,
            cell: smallest_m * CELL_RATIO,
            exact_after: None,
        }
    }
}

impl PlayerRing {
    /// Parses a ring. `nearer` is the ring before it.
    fn parse(text: &str, nearer: Option<&Self>) -> Result<Self, String> {
        let (metres, every) = text.split_once(':').unwrap_or((text, "1"));
        let (least_m, most_m) = METRES;
        let within_m = metres.trim().parse().ok();
        let within_m = within_m.filter(|metres| (least_m..=most_m).contains(metres));
        let within_m = within_m.ok_or_else(|| {
            format!("give a distance from {least_m} to {most_m} metres, such as 6 or 12:4")
        })?;
        if let Some(nearer) = nearer.filter(|nearer| nearer.within_m >= within_m) {
            return Err(format!(
                "give a distance above that of the ring before, which has {} metres",
                nearer.within_m
            ));
        }
        let every = every.trim().parse().ok().filter(|every| *every > 0);
        let every = every.ok_or("give 1 to 255 snapshots after the colon, such as 12:4")?;
        Ok(Self { within_m, every })
    }
}

impl fmt::Display for PlayerRings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, PlayerRing { within_m, every }) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{within_m}")?;
            if *every > 1 {
                write!(f, ":{every}")?;
            }
        }
        Ok(())
    }
}

/// Moves the viewpoint of each client that plays to its cube. Call it before each state that is
/// sent. Without rings, viewpoints have no effect.
pub(super) fn look(players: &Players, sender: &mut Sender) -> Result<(), NetError> {
    for (receiver, cube) in players.cubes() {
        let Some(state) = sender.states().find(cube) else { continue };
        let viewpoint = state.position.map(f64::from);
        match sender.hub.set_viewpoint(receiver, Some(viewpoint)) {
            // The receiver has just left.
            Ok(()) | Err(NetError::UnknownReceiver) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_parsed_and_named_as_they_were_given() {
        for text in ["6", "6,12:4", "1,2.5:255,1000"] {
            assert_eq!(PlayerRings::parse(text).map(|rings| rings.to_string()), Ok(text.into()));
        }
        let rings = PlayerRings::parse("6, 12 : 4").expect("two rings").of_hub();
        assert_eq!(rings.cell, 1.5);
        let of_each = rings.rings.iter().map(|ring| (ring.within, ring.every));
        assert!(of_each.eq([(6.0, 1), (12.0, 4)]));
        assert!(rings.rings.iter().all(|ring| (ring.leave / ring.within - 1.1).abs() < 1e-9));
    }

    #[test]
    fn a_wrong_ring_is_named_with_what_to_give_instead() {
        for (text, says) in [
            ("", "ring 1, ``: give a distance from 1 to 1000 metres"),
            ("6,", "ring 2, ``: give a distance from 1 to 1000 metres"),
            ("6,twelve", "ring 2, `twelve`: give a distance from 1 to 1000 metres"),
            ("0.5", "from 1 to 1000"),
            ("-6", "from 1 to 1000"),
            ("1001", "from 1 to 1000"),
            ("nan", "from 1 to 1000"),
            ("inf", "from 1 to 1000"),
            ("12,6", "ring 2, `6`: give a distance above that of the ring before, which has 12"),
            ("6,6", "give a distance above"),
            ("6:", "ring 1, `6:`: give 1 to 255 snapshots after the colon"),
            ("6:0", "1 to 255"),
            ("6:256", "1 to 255"),
            ("6:1:2", "1 to 255"),
            ("1,2,3,4,5,6,7,8,9", "at most 8 rings instead of 9"),
        ] {
            let refused = PlayerRings::parse(text).expect_err(text);
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }
}
