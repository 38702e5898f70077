//! One or two hubs, and perhaps a bulk flow, on one link, in virtual time.

use std::time::Duration;

use command_kit::Distribution;
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Budget, HEADER_BYTES, Hub, HubConfig, Link, LinkConfig, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions,
};

use super::Outcome;
use super::bulk::{Bulk, PACKET_BYTES};

const VIEWER: ReceiverId = ReceiverId(0);
/// Steps of the virtual time between ticks, in which the bulk flow sends.
const STEPS: u32 = 8;
/// When a phase is judged.
const LATER: Duration = Duration::from_secs(2);

#[derive(Pack, Clone, Copy)]
struct Thing {
    #[pack(range = -512.0..512.0, precision = 0.01)]
    position: [f32; 3],
    #[pack(range = 0.0..360.0, bits = 8, wrap)]
    heading_degrees: f32,
}

/// Who sends.
pub(crate) struct Sides {
    pub(crate) hubs: usize,
    pub(crate) bulk: bool,
    pub(crate) objects: u32,
    pub(crate) hz: u32,
    pub(crate) budget: Budget,
    pub(crate) trace: bool,
}

/// What a hub's datagrams did in a phase.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) bytes: u64,
    pub(crate) later_bytes: u64,
    /// How long datagrams waited, from when a phase is judged. The largest is of the whole phase.
    pub(crate) waits_ms: Distribution,
    pub(crate) lost: f64,
}

struct Side {
    hub: Hub,
    receiver: Receiver,
    up: Link,
}

/// Senders and receivers on one link. A first byte tells whose a datagram is.
pub(crate) struct Session {
    sides: Vec<Side>,
    bulk: Option<Bulk>,
    down: Link,
    path: LinkConfig,
    bulk_up: Link,
    schema: Schema,
    objects: u32,
    hz: u32,
    tick: u32,
    trace: bool,
}

impl Session {
    pub(crate) fn new(sides: &Sides, down: LinkConfig, up: LinkConfig) -> Outcome<Self> {
        let schema = Schema::of::<Thing>();
        let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
        let side = |nth: usize| -> Outcome<Side> {
            let config = HubConfig { datagrams_per_tick: 16, ..HubConfig::default() };
            let mut hub = Hub::new(&codec, config)?;
            let options = ReceiverOptions { budget: sides.budget, ..Default::default() };
            hub.add(VIEWER, &options, Duration::ZERO)?;
            Ok(Side {
                hub,
                receiver: Receiver::new(&codec, ReceiverConfig::at_hz(sides.hz))?,
                up: Link::new(up, 100 + nth as u64)?,
            })
        };
        Ok(Self {
            sides: (0..sides.hubs).map(side).collect::<Outcome<_>>()?,
            bulk: sides.bulk.then(Bulk::new),
            down: Link::new(down, 1)?,
            path: down,
            bulk_up: Link::new(up, 2)?,
            schema,
            objects: sides.objects,
            hz: sides.hz,
            tick: 0,
            trace: sides.trace,
        })
    }

    pub(crate) fn set_path(&mut self, bits_per_s: Option<u32>, latency: Duration) -> Outcome<()> {
        (self.path.bandwidth_bps, self.path.latency) = (bits_per_s, latency);
        Ok(self.down.reconfigure(self.path)?)
    }

    fn world(&self, tick: u32) -> Outcome<Snapshot> {
        let mut world = Snapshot::new(&self.schema, Tick(tick));
        let seconds = tick as f32 / self.hz as f32;
        for id in 0..self.objects {
            let phase = id as f32 * 0.37;
            let radius = 5.0 + (id % 97) as f32 * 5.0;
            let angle = phase + seconds * 6.0 / radius.sqrt();
            world.push(
                EntityId(id),
                &Thing {
                    position: [
                        angle.cos() * radius,
                        angle.sin() * radius,
                        (angle * 3.0).sin() * 4.0,
                    ],
                    heading_degrees: angle.to_degrees().rem_euclid(360.0),
                },
            )?;
        }
        Ok(world)
    }

    /// Runs for some seconds, and returns what each hub's datagrams did.
    pub(crate) fn run(&mut self, seconds: u32) -> Outcome<Vec<Measured>> {
        let mut measured: Vec<Measured> = self.sides.iter().map(|_| Measured::default()).collect();
        let before: Vec<_> = self.sides.iter().map(|side| side.hub.status(VIEWER)).collect();
        let begin = self.tick;
        for _ in 0..seconds * self.hz {
            self.tick += 1;
            let is_later = Duration::from_secs(1) * (self.tick - begin) / self.hz > LATER;
            self.run_tick(is_later, &mut measured)?;
        }
        for ((side, before), measured) in self.sides.iter().zip(before).zip(&mut measured) {
            let (Some(before), Some(after)) = (before, side.hub.status(VIEWER)) else { continue };
            let sent = (after.sent - before.sent).max(1);
            measured.lost = (after.lost - before.lost) as f64 / sent as f64;
        }
        Ok(measured)
    }

    fn run_tick(&mut self, is_later: bool, measured: &mut [Measured]) -> Outcome<()> {
        let tick = Duration::from_secs(1) / self.hz;
        let begin = tick * self.tick;
        let world = self.world(self.tick)?;
        for step in 0..STEPS {
            let now = begin + tick * step / STEPS;
            self.deliver(now)?;
            // The ticks of the second hub are between those of the first.
            let half = STEPS / 2 + 1;
            if step.is_multiple_of(half) {
                self.send(now, (step / half) as usize, &world, is_later, measured)?;
            }
            // The receivers show a frame between the ticks, and answer in it.
            if step == STEPS / 4 {
                for side in &mut self.sides {
                    if let Some(datagram) = side.receiver.poll_transmit(now) {
                        side.up.send(now, datagram);
                    }
                }
            }
        }
        if self.trace && self.tick.is_multiple_of((self.hz / 10).max(1)) {
            self.print(begin + tick);
        }
        Ok(())
    }

    /// Runs a hub's tick.
    fn send(
        &mut self,
        now: Duration,
        nth: usize,
        world: &Snapshot,
        is_later: bool,
        measured: &mut [Measured],
    ) -> Outcome<()> {
        if let (Some(side), Some(measured)) = (self.sides.get_mut(nth), measured.get_mut(nth)) {
            while let Some(datagram) = side.up.poll(now) {
                side.hub.handle(VIEWER, now, &datagram)?;
            }
            side.hub.tick(now, world)?;
            while let Some((_, datagram)) = side.hub.poll_transmit() {
                let bytes = datagram.len() as u64 + u64::from(HEADER_BYTES);
                measured.bytes += bytes;
                let wait_ms = self.down.queueing(now).as_secs_f64() * 1e3;
                measured.waits_ms.note_largest(wait_ms);
                if is_later {
                    measured.later_bytes += bytes;
                    measured.waits_ms.add(wait_ms);
                }
                self.down.send(now, &[&[nth as u8], datagram].concat());
            }
        }
        Ok(())
    }

    fn deliver(&mut self, now: Duration) -> Outcome<()> {
        while let Some(datagram) = self.down.poll(now) {
            let (owner, datagram) = datagram.split_first().ok_or("an empty datagram")?;
            match self.sides.get_mut(usize::from(*owner)) {
                // The receiver counts what it refuses.
                Some(side) => drop(side.receiver.handle(now, datagram)),
                None => self.bulk_up.send(now, &datagram[..4]),
            }
        }
        let Some(bulk) = &mut self.bulk else { return Ok(()) };
        while let Some(answer) = self.bulk_up.poll(now) {
            bulk.acknowledge(now, u32::from_le_bytes(answer[..4].try_into()?));
        }
        bulk.expire(now);
        while let Some(number) = bulk.send(now) {
            let mut packet = vec![u8::MAX; PACKET_BYTES];
            packet[1..5].copy_from_slice(&number.to_le_bytes());
            self.down.send(now, &packet);
        }
        Ok(())
    }

    fn print(&self, now: Duration) {
        for side in &self.sides {
            let status = side.hub.status(VIEWER).unwrap_or_default();
            let Some(link) = status.link else { continue };
            println!(
                "{:6.2} s  budget {:7}  delivered {:7}  {:9}  queue {:4} ms, seen {:4} ms, trip {:3} ms  lost {:.2}  waiting {}",
                now.as_secs_f64(),
                link.bytes_per_s,
                link.delivered_bytes_per_s.unwrap_or(0),
                format!("{:?}", link.limit),
                self.down.queueing(now).as_millis(),
                link.queueing_delay.as_millis(),
                link.shortest_round_trip.unwrap_or_default().as_millis(),
                link.lost_ratio,
                status.waiting,
            );
        }
    }
}
