//! Simulates a relay that keeps the newest groups, and a QUIC link to one viewer that loses
//! packets.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use kinepack::Tick;
use kinepack_crowd::{Carried, Piece, Refused, Track, Viewer};

pub const TICK_HZ: u32 = 60;

/// Returns the time of a tick.
pub fn at(tick: u32) -> Duration {
    Duration::from_secs(1) * tick / TICK_HZ
}

/// A generator of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// Returns true with the probability `ratio`.
    pub fn is(&mut self, ratio: f64) -> bool {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64 <= ratio && ratio > 0.0
    }
}

/// Passes pieces to one viewer. A lost object is sent again and delays its group, but a lost
/// datagram is not sent again.
pub struct Pipe {
    random: Random,
    loss: f64,
    latency: Duration,
    /// For each track and group, the time at which the group's stream is free again.
    free: HashMap<(Track, u64), Duration>,
    way: VecDeque<(Duration, Piece)>,
    /// The objects of the newest group of each track, which the relay keeps.
    kept: HashMap<Track, Vec<Piece>>,
    subscribed: Vec<Track>,
}

impl Pipe {
    pub fn new(seed: u64, loss: f64, latency_ms: u64) -> Self {
        let latency = Duration::from_millis(latency_ms);
        Self {
            random: Random(seed),
            loss,
            latency,
            free: HashMap::new(),
            way: VecDeque::new(),
            kept: HashMap::new(),
            subscribed: Vec::new(),
        }
    }

    pub fn send(&mut self, now: Duration, piece: &Piece) {
        if let Carried::Object(number) = piece.carried {
            let kept = self.kept.entry(piece.track).or_default();
            if number == 0 {
                kept.clear();
            }
            kept.push(piece.clone());
        }
        let is_lost = self.random.is(self.loss);
        let mut at = now + self.latency;
        if let Carried::Object(_) = piece.carried {
            if is_lost {
                at += 2 * self.latency;
            }
            let free = self.free.entry((piece.track, piece.group)).or_default();
            at = at.max(*free);
            *free = at;
        } else if is_lost {
            return;
        }
        self.way.push_back((at, piece.clone()));
    }

    /// Passes the pieces that have arrived to a viewer, if the viewer wants them. The viewer must
    /// not refuse any, except for datagrams whose head was lost and has not arrived yet.
    pub fn deliver(&mut self, now: Duration, viewer: &mut Viewer) {
        let mut way = std::mem::take(&mut self.way);
        let wanted: Vec<Track> = viewer.wanted().collect();
        for track in wanted.iter().filter(|track| !self.subscribed.contains(track)) {
            way.retain(|(_, piece)| piece.track != *track);
            let kept = self.kept.get(track).into_iter().flatten();
            way.extend(kept.map(|piece| (now, piece.clone())));
        }
        self.subscribed = wanted;
        way.make_contiguous().sort_by_key(|(at, _)| *at);
        while let Some((at, piece)) = way.pop_front_if(|(at, _)| *at <= now) {
            if viewer.wanted().any(|track| track == piece.track) {
                match show(viewer, at, &piece) {
                    Ok(_) | Err(Refused::NoHead) => {}
                    Err(refused) => panic!("{refused}: {piece:?}"),
                }
            }
        }
        self.way = way;
    }
}

/// Passes a piece to a viewer. Returns the tick of the snapshot that the piece completes, if any.
pub fn show(viewer: &mut Viewer, now: Duration, piece: &Piece) -> Result<Option<Tick>, Refused> {
    match piece.carried {
        Carried::Object(number) => {
            viewer.object(now, piece.track, piece.group, number, &piece.bytes)
        }
        Carried::Datagram => viewer.datagram(now, piece.track.tier(), &piece.bytes),
    }
}
