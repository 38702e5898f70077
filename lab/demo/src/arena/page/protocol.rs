//! The messages between the program and its page. A text is a JSON object whose only key names its
//! kind. The page sends [`Control`]; the program sends `hello`, `status`, `error` and `end`.
//!
//! A binary message from the page is a datagram of its client. One to the page begins with its kind:
//!
//! | first byte | then |
//! |---|---|
//! | 0 | a datagram |
//! | 1 | the places of all players now, as the server knows them: for each the id (`u32`), x and y in the world (`f32`), and the health (`u8`), little-endian. Nothing of the game needs this: the page shows what the network hides. |

use std::time::Duration;

use arena::counts::Shots;
use arena::map::{self, Wall};
use arena::rules::Rules;
use axum::body::Bytes;
use kinepack::EntityId;
use kinepack_net::{LinkConfig, PRESETS};
use serde::{Deserialize, Serialize};

/// The round trip gets longer by this.
pub(super) const LONGER_MS: u32 = 150;
/// The most that a page may ask for, and the least.
const KBPS: std::ops::RangeInclusive<u32> = 3..=1_000_000;

/// A message from the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Control {
    Rules(Rules),
    Net(Net),
}

/// The network of all players.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Net {
    /// The name of a link.
    pub(super) link: String,
    /// Whether its round trip is longer by [`LONGER_MS`].
    pub(super) longer: bool,
    /// The most that the server sends to each player.
    pub(super) kbps: Option<u32>,
}

impl Net {
    /// The link. `own` is the one of the command line, which may have other numbers than its name
    /// says.
    ///
    /// # Errors
    /// Returns the reason why the settings are refused.
    pub(super) fn config(&self, own: (&str, LinkConfig)) -> Result<LinkConfig, &'static str> {
        if self.kbps.is_some_and(|kbps| !KBPS.contains(&kbps)) {
            return Err("a budget is 3 to 1000000 kbit/s");
        }
        let named = LinkConfig::named(&self.link);
        let own = Some(own).filter(|(name, _)| *name == self.link).map(|(_, config)| config);
        let config = own.or(named).ok_or("there is no such link")?;
        let more_ms = if self.longer { LONGER_MS } else { 0 };
        let latency = config.latency + Duration::from_millis(more_ms.into()) / 2;
        Ok(LinkConfig { latency, ..config })
    }
}

#[derive(Serialize)]
struct Link {
    name: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct Rectangle {
    at: [f64; 2],
    half: [f64; 2],
}

impl From<&Wall> for Rectangle {
    fn from(Wall { at, half }: &Wall) -> Self {
        Self { at: *at, half: *half }
    }
}

/// The first message to a page.
#[derive(Serialize)]
struct Hello<'a> {
    program: &'static str,
    me: u32,
    rules: &'a Rules,
    net: &'a Net,
    links: Vec<Link>,
    longer_ms: u32,
    tick_hz: u32,
    half_m: [f64; 2],
    river_half_m: f64,
    deck_half_m: f64,
    radius_m: f64,
    health: u8,
    pads: [[f64; 2]; 2],
    pad_radius_m: f64,
    walls: Vec<Rectangle>,
}

/// The message `hello`.
pub(super) fn hello(me: EntityId, rules: &Rules, net: &Net) -> String {
    let hello = Hello {
        program: concat!("kinepack ", env!("CARGO_PKG_VERSION")),
        me: me.0,
        rules,
        net,
        links: PRESETS.iter().map(|of| Link { name: of.name, about: of.about }).collect(),
        longer_ms: LONGER_MS,
        tick_hz: map::TICK_HZ,
        half_m: map::HALF_M,
        river_half_m: map::RIVER_HALF_M,
        deck_half_m: map::DECK_HALF_M,
        radius_m: map::RADIUS_M,
        health: arena::state::HEALTH,
        pads: map::PADS,
        pad_radius_m: map::PAD_RADIUS_M,
        walls: map::WALLS.iter().map(Into::into).collect(),
    };
    serde_json::json!({ "hello": hello }).to_string()
}

/// A player.
#[derive(Debug, Serialize)]
pub(super) struct PlayerStatus {
    pub(super) id: u32,
    pub(super) is_bot: bool,
    pub(super) shots: Shots,
}

/// What all pages show.
#[derive(Debug, Serialize)]
pub(super) struct Status<'a> {
    pub(super) rules: Rules,
    pub(super) net: &'a Net,
    pub(super) pages: usize,
    pub(super) tick: u32,
    pub(super) players: Vec<PlayerStatus>,
    /// The datagrams that the server refused.
    pub(super) refused: u64,
    /// The messages that pages did not take in time.
    pub(super) skipped: u64,
}

impl Status<'_> {
    pub(super) fn to_json(&self) -> String {
        serde_json::json!({ "status": self }).to_string()
    }
}

/// An answer to a message that was refused.
pub(super) fn error(reason: &str) -> String {
    serde_json::json!({ "error": reason }).to_string()
}

/// The last message to a page.
pub(super) fn end() -> String {
    serde_json::json!({ "end": true }).to_string()
}

/// A datagram for the page's client.
pub(super) fn datagram(datagram: &[u8]) -> Bytes {
    [&[0], datagram].concat().into()
}

/// Everybody's place now.
pub(super) fn places(players: impl Iterator<Item = (EntityId, [f64; 2], u8)>) -> Bytes {
    let mut bytes = vec![1];
    for (id, place, health) in players {
        bytes.extend(id.0.to_le_bytes());
        place.iter().for_each(|coordinate| bytes.extend((*coordinate as f32).to_le_bytes()));
        bytes.push(health);
    }
    bytes.into()
}
