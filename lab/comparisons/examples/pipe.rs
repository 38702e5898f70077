//! Sends 901 cubes to many viewers through a pipe that loses 2 % of the packets, and compares each
//! view with the publisher's world, lane for lane. The program runs in virtual time on two threads.
//!
//! `cargo run --release -p comparisons --example pipe -- [VIEWERS [SECONDS]]`

#[path = "../../../crates/kinepack-crowd/tests/support/pipe.rs"]
mod pipe;

use std::collections::VecDeque;
use std::error::Error;
use std::time::{Duration, Instant};

use comparisons::broadcast::{Cubes, catalogue};
use indicatif::ProgressBar;
use kinepack::Snapshot;
use kinepack_crowd::{Catalogue, Piece, Publisher, Track, Viewer, ViewerConfig};
use pipe::{Pipe, at};

const LOSS: f64 = 0.02;
const LATENCY_MS: u64 = 30;
/// The number of bytes that QUIC, UDP and IP add to an object or datagram that has its own packet.
const HEADER_BYTES: usize = 28 + 25;
/// The number of ticks whose worlds are kept for comparison. This is longer than any delay.
const KEPT: usize = 120;

struct Watching {
    viewer: Viewer,
    pipe: Pipe,
    compared: u64,
    wrong_lanes: u64,
    delays_ms: Vec<f32>,
}

/// The states that viewers must see at a tick.
struct Truth {
    world: Snapshot,
    /// The tier whose state is coarser than the world, and the state that viewers of this tier must
    /// see.
    coarse: Option<(usize, Snapshot)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |or: u32| arguments.next().map_or(Ok(or), |text| text.parse());
    let (viewers, seconds) = (number(1_000)?, number(10)?);
    let catalogue = catalogue()?;
    let mut publisher = Publisher::new(&catalogue);
    let mut watching = (0..viewers)
        .map(|nth| {
            let mut viewer = Viewer::new(&catalogue, ViewerConfig::at_hz(60))?;
            viewer.watch(nth as usize % catalogue.tiers().len())?;
            let pipe = Pipe::new(nth.into(), LOSS, LATENCY_MS);
            Ok(Watching { viewer, pipe, compared: 0, wrong_lanes: 0, delays_ms: Vec::new() })
        })
        .collect::<Result<Vec<_>, kinepack_crowd::CrowdError>>()?;
    let mut cubes = Cubes::new()?;
    let mut truth: VecDeque<Truth> = VecDeque::new();
    let coarse = catalogue.find("coarse");
    let progress = ProgressBar::new((60 * seconds).into());
    let (mut publishing, mut bytes) = (Duration::ZERO, vec![[0; 2]; catalogue.tiers().len()]);
    for tick in 0..60 * seconds {
        let snapshot = cubes.step(tick)?;
        let begin = Instant::now();
        let pieces = publisher.publish(snapshot)?;
        publishing += begin.elapsed();
        let pieces = &pieces.to_vec();
        for piece in pieces {
            // Only viewers that join receive key snapshots.
            if let Track::Snapshots(tier) = piece.track {
                bytes[tier][0] += piece.bytes.len();
                bytes[tier][1] += piece.bytes.len() + HEADER_BYTES;
            }
        }
        let coarse = coarse.and_then(|tier| Some((tier, publisher.last_of(tier)?.clone())));
        truth.push_back(Truth { world: snapshot.clone(), coarse });
        if truth.len() > KEPT {
            truth.pop_front();
        }
        let half = watching.len().div_ceil(2).max(1);
        std::thread::scope(|scope| {
            for part in watching.chunks_mut(half) {
                let truth = &truth;
                scope.spawn(move || {
                    for one in part {
                        one.take(tick, pieces, truth);
                    }
                });
            }
        });
        progress.inc(1);
    }
    progress.finish_and_clear();
    report(&catalogue, &watching, &bytes, seconds, publishing);
    Ok(())
}

impl Watching {
    fn take(&mut self, tick: u32, pieces: &[Piece], truth: &VecDeque<Truth>) {
        pieces.iter().for_each(|piece| self.pipe.send(at(tick), piece));
        let before = self.viewer.newest().map(|newest| newest.tick);
        self.pipe.deliver(at(tick), &mut self.viewer);
        if let Some(newest) = self.viewer.newest().filter(|newest| Some(newest.tick) != before) {
            let Some(sent) = truth.iter().rev().find(|sent| sent.world.tick == newest.tick) else {
                return;
            };
            let sent = match &sent.coarse {
                Some((tier, coarse)) if self.viewer.shown_tiers().eq([*tier]) => coarse,
                _ => &sent.world,
            };
            self.compared += 1;
            let differ = |lane: usize| {
                let pairs = sent.lane(lane).iter().zip(newest.lane(lane));
                pairs.filter(|(sent, seen)| sent != seen).count() as u64
            };
            self.wrong_lanes += (0..sent.lane_count()).map(differ).sum::<u64>()
                + u64::from(!sent.has_same_entities(newest));
        }
        if let Some(playback) = self.viewer.playback(at(tick)) {
            self.delays_ms.push((f64::from(tick) - playback.tick) as f32 * 1e3 / 60.0);
        }
    }
}

fn report(
    catalogue: &Catalogue,
    watching: &[Watching],
    bytes: &[[usize; 2]],
    seconds: u32,
    publishing: Duration,
) {
    let us = publishing.as_secs_f64() * 1e6 / f64::from(60 * seconds);
    println!("{} viewers; publishing takes {us:.0} µs a tick for all tiers", watching.len());
    println!("tier   viewers  kbit/s  with headers  median delay  states compared  wrong lanes");
    for (number, tier) in catalogue.tiers().iter().enumerate() {
        let of = || watching.iter().skip(number).step_by(catalogue.tiers().len());
        let mut delays_ms: Vec<f32> = of().flat_map(|one| one.delays_ms.iter().copied()).collect();
        delays_ms.sort_by(f32::total_cmp);
        let kbps = bytes[number].map(|bytes| bytes as f64 * 8e-3 / f64::from(seconds));
        println!(
            "{:<6} {:>7}  {:>6.1}  {:>12.1}  {:>9.0} ms  {:>15}  {:>11}",
            tier.name,
            of().count(),
            kbps[0],
            kbps[1],
            delays_ms.get(delays_ms.len() / 2).copied().unwrap_or(f32::NAN),
            of().map(|one| one.compared).sum::<u64>(),
            of().map(|one| one.wrong_lanes).sum::<u64>(),
        );
    }
}
