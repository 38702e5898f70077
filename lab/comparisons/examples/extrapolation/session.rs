//! A client that draws over a bad link, in virtual time.

use std::collections::HashMap;
use std::time::Duration;

use kinepack::EntityId;
use kinepack_net::{
    Extrapolation, Hub, HubConfig, Link, LinkConfig, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions,
};
use serde::Serialize;

use crate::Outcome;
use crate::scene::{Drawn, HZ, Place, Scene};

const CLIENT: ReceiverId = ReceiverId(1);
/// The client draws this long after each tick.
const FRAME_AFTER: Duration = Duration::from_millis(9);
/// The time at the beginning that does not count, in which the delay settles.
const WARM_UP_TICKS: u32 = 3 * HZ;
/// With outages, nothing arrives in the first ticks of each period of this many ticks.
const OUTAGE_TICKS: u32 = 18;
const OUTAGE_EVERY_TICKS: u32 = 180;
/// Slower entities do not count.
const SLOWEST_M_PER_S: f64 = 0.01;

#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) link: LinkConfig,
    pub(crate) outages: bool,
    pub(crate) fixed_delay: Option<Duration>,
    pub(crate) extrapolation: Extrapolation,
    pub(crate) fade: Duration,
    pub(crate) seed: u64,
}

/// What a session found. The example's documentation explains the numbers.
#[derive(Default, Serialize)]
pub(crate) struct Found {
    pub(crate) starved_ratio: f64,
    pub(crate) starved_ms: f64,
    pub(crate) longest_ms: f64,
    pub(crate) lag_ms: f64,
    pub(crate) samples: usize,
    pub(crate) error_mm: f64,
    pub(crate) p99_mm: f64,
    pub(crate) largest_mm: f64,
    pub(crate) now_mm: f64,
    pub(crate) step_mm: f64,
    pub(crate) sample_step_mm: f64,
    pub(crate) beyond_ratio: f64,
    pub(crate) beyond_mm: f64,
    pub(crate) held_mm: f64,
    pub(crate) beyond_degrees: f64,
    pub(crate) held_degrees: f64,
}

#[derive(Default)]
struct Sums {
    frames: u32,
    starved: u32,
    starved_in_row: u32,
    rows: u32,
    longest: u32,
    lag_ticks: f64,
    errors_mm: Vec<f64>,
    now_mm: f64,
    beyond: u32,
    turning: u32,
    found: Found,
    /// The places in the previous frame, as smoothed and as sampled.
    before: HashMap<EntityId, [Place; 2]>,
}

pub(crate) fn run(scene: &Scene, setting: &Setting) -> Outcome<Found> {
    let mut hub = Hub::new(&scene.codec, HubConfig::default())?;
    hub.add(CLIENT, &ReceiverOptions::default(), Duration::ZERO)?;
    let mut receiver = Receiver::new(&scene.codec, ReceiverConfig::at_hz(HZ))?;
    for kind in scene.codec.schema().kinds() {
        receiver.set_extrapolation(kind.name(), setting.extrapolation)?;
    }
    if let Some(delay) = setting.fixed_delay {
        receiver.set_playout_delays(delay, delay)?;
    }
    let mut down = Link::new(setting.link, 2 * setting.seed)?;
    let mut up = Link::new(setting.link, 2 * setting.seed + 1)?;
    let mut drawers = scene.drawers(setting.fade);
    let (mut sums, mut all) = (Sums::default(), Vec::new());
    for (tick, world) in (1u32..).zip(&scene.worlds) {
        let now = Duration::from_secs(1) * tick / HZ;
        let is_out = setting.outages && tick % OUTAGE_EVERY_TICKS < OUTAGE_TICKS;
        while let Some(datagram) = up.poll(now) {
            // Copies are refused.
            let _ = hub.handle(CLIENT, now, &datagram);
        }
        hub.tick(now, world)?;
        while let Some((_, datagram)) = hub.poll_transmit() {
            if !is_out {
                down.send(now, datagram);
            }
        }
        let now = now + FRAME_AFTER;
        while let Some(datagram) = down.poll(now) {
            let _ = receiver.handle(now, &datagram);
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.send(now, datagram);
        }
        let Some(playback) = receiver.playback(now) else { continue };
        all.clear();
        for drawer in &mut drawers {
            drawer.draw(now, &playback, &mut all)?;
        }
        if tick > WARM_UP_TICKS {
            let server_tick = now.as_secs_f64() * f64::from(HZ);
            sums.note_frame(playback.is_starved(), server_tick - playback.tick);
            sums.note(scene, [playback.tick, server_tick], &all);
        }
    }
    Ok(sums.finish())
}

impl Sums {
    fn note_frame(&mut self, is_starved: bool, lag_ticks: f64) {
        self.frames += 1;
        self.lag_ticks += lag_ticks;
        if is_starved {
            self.rows += u32::from(self.starved_in_row == 0);
            self.starved += 1;
            self.starved_in_row += 1;
            self.longest = self.longest.max(self.starved_in_row);
        } else {
            self.starved_in_row = 0;
        }
    }

    fn note(&mut self, scene: &Scene, [shown_tick, server_tick]: [f64; 2], all: &[Drawn]) {
        let mut places = HashMap::with_capacity(all.len());
        for Drawn { id, smooth, sample, held } in all {
            let Some(truth) = scene.truth(shown_tick, *id) else { continue };
            let error = |place: &Place| {
                std::array::from_fn(|axis| {
                    1000.0 * f64::from(place.position[axis] - truth.position[axis])
                })
            };
            let both = [error(smooth), error(sample)];
            places.insert(*id, [*smooth, *sample]);
            let before = scene.truth(shown_tick - 1.0, *id);
            let moved_mm = before.map_or(0.0, |before| length(error(&before)));
            if moved_mm * f64::from(HZ) < SLOWEST_M_PER_S * 1000.0 {
                continue;
            }
            self.errors_mm.push(length(both[0]));
            if let Some(now) = scene.truth(server_tick, *id) {
                let ahead = error(&now);
                self.now_mm += length(std::array::from_fn(|axis| both[0][axis] - ahead[axis]));
            }
            if let Some(before) = self.before.get(id) {
                let [smooth, sample] =
                    [(smooth, &before[0]), (sample, &before[1])].map(|(now, before)| {
                        let [now, before] = [error(now), error(before)];
                        let step_mm = length(std::array::from_fn(|axis| now[axis] - before[axis]));
                        step_mm - moved_mm
                    });
                self.found.step_mm = self.found.step_mm.max(smooth);
                self.found.sample_step_mm = self.found.sample_step_mm.max(sample);
            }
            if let Some(held) = held {
                self.beyond += 1;
                self.found.beyond_mm += length(both[1]);
                self.found.held_mm += length(error(held));
                let turns = [sample, held].map(|place| {
                    place.rotation.zip(truth.rotation).map(|(a, b)| degrees_between(a, b))
                });
                if let [Some(sample), Some(held)] = turns {
                    self.turning += 1;
                    self.found.beyond_degrees += sample;
                    self.found.held_degrees += held;
                }
            }
        }
        self.before = places;
    }

    fn finish(mut self) -> Found {
        let ms_per_tick = 1000.0 / f64::from(HZ);
        self.errors_mm.sort_by(f64::total_cmp);
        let samples = self.errors_mm.len();
        let mean = |sum: f64, count: u32| sum / f64::from(count.max(1));
        let count = samples.max(1) as f64;
        let at = |percent: usize| {
            self.errors_mm.get(samples.saturating_sub(1) * percent / 100).copied().unwrap_or(0.0)
        };
        Found {
            starved_ratio: mean(self.starved.into(), self.frames),
            starved_ms: mean(self.starved.into(), self.rows) * ms_per_tick,
            longest_ms: f64::from(self.longest) * ms_per_tick,
            lag_ms: mean(self.lag_ticks, self.frames) * ms_per_tick,
            samples,
            error_mm: self.errors_mm.iter().sum::<f64>() / count,
            p99_mm: at(99),
            largest_mm: at(100),
            now_mm: self.now_mm / count,
            beyond_ratio: f64::from(self.beyond) / count,
            beyond_mm: mean(self.found.beyond_mm, self.beyond),
            held_mm: mean(self.found.held_mm, self.beyond),
            beyond_degrees: mean(self.found.beyond_degrees, self.turning),
            held_degrees: mean(self.found.held_degrees, self.turning),
            ..self.found
        }
    }
}

fn length(vector: [f64; 3]) -> f64 {
    vector.iter().map(|axis| axis * axis).sum::<f64>().sqrt()
}

/// The angle between two rotations.
fn degrees_between(a: [f32; 4], b: [f32; 4]) -> f64 {
    let norm = |q: [f32; 4]| q.iter().map(|of| f64::from(of * of)).sum::<f64>().sqrt();
    let dot: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(b)).sum();
    2.0 * (dot.abs() / (norm(a) * norm(b))).min(1.0).acos().to_degrees()
}
