//! A client that draws and sends inputs, and a server that rewinds to what the client drew, over a
//! bad link in virtual time.
//!
//! The client draws at 144 Hz, with frames of irregular length, and now and then one that is much
//! longer. It makes an input 60 times a second. An input's stamp is that of the last drawn frame.
//! The server takes inputs at the beginning of each tick. Beside the stream of inputs with stamps
//! runs one without: the same inputs over a link with the same seed, so the same ones are lost.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use character::{Move, Script};
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{EntityId, Level, Pack};
use kinepack_net::{
    Channel, DatagramKind, Hub, HubConfig, KindOptions, Link, LinkConfig, Receiver, ReceiverConfig,
    ReceiverId, ReceiverOptions, RewindConfig, Seen, StreamConfig, StreamReceiver, StreamSender,
    StreamSenderStats, datagram_kind, split_datagram,
};

use crate::Outcome;
use crate::approximations::{Approximations, Summary};
use crate::common::Random;
use crate::scene::{HZ, Scene};
use crate::shown::Shown;

const CLIENT: ReceiverId = ReceiverId(1);
const FRAMES_HZ: f64 = 144.0;
/// The share of frames that take long, and how long.
const HITCH_RATIO: f64 = 0.01;
const HITCH_S: f64 = 0.04;
/// The time from a tick to the client's next input.
const INPUT_AFTER: Duration = Duration::from_millis(7);
/// In the last of these seconds nothing arrives, if there are outages.
const OUTAGE_EVERY_S: u32 = 10;
/// The time at the beginning whose errors do not count, as the state is still arriving.
const WARM_UP_TICKS: u32 = 3 * HZ;
/// Inputs that did not arrive after this many others are lost.
const KEPT_INPUTS: usize = 600;

/// What is sent in which way.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) budget_bytes_per_s: Option<u32>,
    pub(crate) slow_kinds: bool,
    pub(crate) precision_ms: Option<f64>,
    pub(crate) outages: bool,
    pub(crate) turns: bool,
}

/// The levels of the world and of the inputs, the link, and the seed.
#[derive(Clone, Copy)]
pub(crate) struct Conditions {
    pub(crate) level: Level,
    pub(crate) inputs: StreamLevel,
    /// How many earlier inputs each packet repeats.
    pub(crate) repeats: u8,
    pub(crate) link: LinkConfig,
    pub(crate) seed: u64,
    /// Whether drawn samples are compared with rewound ones.
    pub(crate) compares: bool,
}

/// What a session found.
#[derive(Default)]
pub(crate) struct Found {
    /// The number of inputs whose stamps the server rewound to, and the number that it refused.
    pub(crate) rewound: u64,
    pub(crate) refused: u64,
    /// The number of samples that were compared, and how many of them differ.
    pub(crate) samples: u64,
    pub(crate) differ: u64,
    /// What the first differences are.
    pub(crate) notes: Vec<String>,
    approximations: Approximations,
    /// The sums of the client's playout delay in seconds, for the mean.
    delay_s: f64,
    delays: u32,
}

/// A move, and what the player saw.
#[derive(Pack, Clone, Debug)]
struct Stamped {
    played: Move,
    seen: Option<Seen>,
}

/// Both ends of a stream, and the link to the server.
struct Inputs {
    client: StreamSender,
    server: StreamReceiver,
    up: Link,
}

impl Inputs {
    fn new<T: Pack>(channel: u8, conditions: &Conditions) -> Outcome<Self> {
        let codec = StreamCodec::of::<T>(conditions.inputs)?;
        let channel = Channel::new(channel).ok_or("no such channel")?;
        let repeats = conditions.repeats;
        let config = StreamConfig { channel, repeats, ..StreamConfig::at_hz(HZ) };
        Ok(Self {
            client: StreamSender::new(&codec, config)?,
            server: StreamReceiver::new(&codec, config)?,
            // The same seed loses the same datagrams.
            up: Link::new(conditions.link, 2 * conditions.seed)?,
        })
    }

    fn push(&mut self, now: Duration, input: &impl Pack, is_out: bool) -> Outcome<u16> {
        let number = self.client.push(input)?;
        if let Some(datagram) = self.client.poll_transmit().filter(|_| !is_out) {
            self.up.send(now, datagram);
        }
        Ok(number.0)
    }
}

pub(crate) struct Session<'a> {
    scene: &'a mut Scene,
    setting: Setting,
    hub: Hub,
    receiver: Receiver,
    down: Link,
    stamped: Inputs,
    plain: Inputs,
    script: Script,
    random: Random,
    next_frame: Duration,
    next_input: Duration,
    /// What the last frame showed, if an input was made in view of it.
    drawn: Option<Rc<Shown>>,
    /// What each input's player saw.
    in_flight: BTreeMap<u16, Rc<Shown>>,
    compares: bool,
    found: Found,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        scene: &'a mut Scene,
        setting: Setting,
        conditions: &Conditions,
    ) -> Outcome<Self> {
        let codec = scene.codec(conditions.level, setting.precision_ms)?;
        let mut hub = Hub::new(&codec, HubConfig::default())?;
        let config = RewindConfig { longest: Duration::from_secs(4), ..RewindConfig::at_hz(HZ) };
        hub.set_rewind(Some(config))?;
        for (kind, every) in scene.slow_kinds.iter().filter(|_| setting.slow_kinds) {
            hub.set_kind(kind, KindOptions { every: *every, ..KindOptions::default() })?;
        }
        if setting.turns {
            hub.set_rings(Some(&scene.rings()))?;
        }
        let budget = setting.budget_bytes_per_s.into();
        hub.add(CLIENT, &ReceiverOptions { budget, ..Default::default() }, Duration::ZERO)?;
        Ok(Self {
            scene,
            setting,
            hub,
            receiver: Receiver::new(&codec, ReceiverConfig::at_hz(HZ))?,
            down: Link::new(conditions.link, 2 * conditions.seed + 1)?,
            stamped: Inputs::new::<Stamped>(1, conditions)?,
            plain: Inputs::new::<Move>(2, conditions)?,
            script: Script::new(conditions.seed),
            random: Random::new(conditions.seed),
            next_frame: Duration::ZERO,
            next_input: INPUT_AFTER,
            drawn: None,
            in_flight: BTreeMap::new(),
            compares: conditions.compares,
            found: Found::default(),
        })
    }

    /// Plays all worlds of the scene.
    pub(crate) fn run(mut self) -> Outcome<(Found, [StreamSenderStats; 2])> {
        for tick in 1..=self.scene.worlds.len() as u32 {
            self.play_client(at(tick))?;
            self.serve(tick)?;
        }
        Ok((self.found, [self.stamped.client.stats(), self.plain.client.stats()]))
    }

    /// Draws and plays until `end`.
    fn play_client(&mut self, end: Duration) -> Outcome<()> {
        while self.next_frame.min(self.next_input) < end {
            if self.next_frame <= self.next_input {
                let now = self.next_frame;
                let hitch_s =
                    if f64::from(self.random.unit()) < HITCH_RATIO { HITCH_S } else { 0.0 };
                let length_s = (0.5 + f64::from(self.random.unit())) / FRAMES_HZ + hitch_s;
                self.next_frame += Duration::from_secs_f64(length_s);
                self.draw(now)?;
            } else {
                let now = self.next_input;
                self.next_input += Duration::from_secs(1) / HZ;
                self.send_input(now)?;
            }
        }
        Ok(())
    }

    fn draw(&mut self, now: Duration) -> Outcome<()> {
        while let Some(datagrams) = self.down.poll(now) {
            for datagram in split_datagram(&datagrams)? {
                if datagram_kind(datagram) == Some(DatagramKind::StreamAcknowledgement) {
                    let channel = Channel::from_datagram(datagram).number();
                    let inputs = if channel == 1 { &mut self.stamped } else { &mut self.plain };
                    // After an outage, one may be of an input that is forgotten.
                    let _ = inputs.client.handle(datagram);
                } else {
                    // Copies are refused.
                    let _ = self.receiver.handle(now, datagram);
                }
            }
        }
        let is_out = self.is_out(now);
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            for inputs in [&mut self.stamped, &mut self.plain].into_iter().filter(|_| !is_out) {
                inputs.up.send(now, datagram);
            }
        }
        let playback = self.receiver.playback(now);
        // Only the last frame before an input is compared.
        if let Some(playback) = playback.filter(|_| self.next_frame > self.next_input) {
            let samples = playback.samples().filter(|_| self.compares);
            let shown = Shown::new(playback.tick, samples, &mut self.scene.looks)?;
            self.drawn = Some(Rc::new(shown));
        }
        Ok(())
    }

    fn send_input(&mut self, now: Duration) -> Outcome<()> {
        let is_out = self.is_out(now);
        let played = self.script.step();
        self.plain.push(now, &played, is_out)?;
        let input = Stamped { played, seen: self.receiver.seen() };
        let number = self.stamped.push(now, &input, is_out)?;
        if let Some(drawn) = &self.drawn {
            self.in_flight.insert(number, Rc::clone(drawn));
        }
        if self.in_flight.len() > KEPT_INPUTS {
            self.in_flight.pop_first();
        }
        if self.drawn.is_some() {
            self.found.delay_s += self.receiver.playout_stats().delay.as_secs_f64();
            self.found.delays += 1;
        }
        Ok(())
    }

    fn serve(&mut self, tick: u32) -> Outcome<()> {
        let now = at(tick);
        while let Some(datagram) = self.stamped.up.poll(now) {
            if datagram_kind(&datagram) != Some(DatagramKind::StreamPacket) {
                // Copies are refused.
                let _ = self.hub.handle(CLIENT, now, &datagram);
                continue;
            }
            let Ok(handled) = self.stamped.server.handle(now, &datagram) else { continue };
            let mut inputs = Vec::new();
            for record in handled.records().filter(|record| !record.late) {
                inputs.push((record.number.0, record.read::<Stamped>()?));
            }
            for (number, input) in inputs {
                let drawn = self.in_flight.remove(&number);
                if let Some((seen, drawn)) = input.seen.zip(drawn).filter(|_| self.compares) {
                    self.rewind(tick, seen, &drawn)?;
                }
            }
        }
        while let Some(datagram) = self.plain.up.poll(now) {
            if datagram_kind(&datagram) == Some(DatagramKind::StreamPacket) {
                // Copies are refused.
                let _ = self.plain.server.handle(now, &datagram);
            }
        }
        if self.setting.turns {
            let viewpoint = self.scene.viewpoint(tick)?;
            self.hub.set_viewpoint(CLIENT, viewpoint)?;
        }
        self.hub.tick(now, &self.scene.worlds[tick as usize - 1])?;
        self.send_down(now);
        Ok(())
    }

    /// Sends the tick's datagrams, the first with the acknowledgements of both streams in front.
    fn send_down(&mut self, now: Duration) {
        let is_out = self.is_out(now);
        let mut front = Vec::new();
        for inputs in [&self.stamped, &self.plain] {
            inputs.server.write_acknowledgement(&mut front);
        }
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            front.extend_from_slice(datagram);
            if !is_out {
                self.down.send(now, &front);
            }
            front.clear();
        }
        if !front.is_empty() && !is_out {
            self.down.send(now, &front);
        }
    }

    /// Rewinds to a stamp, and compares all samples with those that were drawn.
    fn rewind(&mut self, tick: u32, seen: Seen, drawn: &Shown) -> Outcome<()> {
        let found = &mut self.found;
        let past = match self.hub.rewind(CLIENT, seen) {
            Ok(past) => past,
            Err(error) => {
                found.refused += 1;
                found.note(|| format!("tick {tick}, moment {}: {error}", drawn.tick));
                return Ok(());
            }
        };
        let ids: Vec<EntityId> = past.ids().collect();
        // A sample that is refused differs.
        let samples = ids.iter().filter_map(|id| past.sample(*id).ok());
        let rewound = Shown::new(past.tick, samples, &mut self.scene.looks)?;
        found.rewound += 1;
        found.samples += drawn.entities.len() as u64;
        let (differ, first) = drawn.differences(&rewound);
        found.differ += differ as u64;
        if let Some(id) = first {
            let [was, is] = [drawn, &rewound].map(|shown| shown.described(id));
            found.note(|| {
                let moments = (drawn.tick, rewound.tick);
                format!("tick {tick}, moments {moments:?}, entity {}:\n  {was}\n  {is}", id.0)
            });
        }
        if tick > WARM_UP_TICKS {
            let trip = self.hub.status(CLIENT).and_then(|status| status.round_trip);
            let delay_s = found.delay_s / f64::from(found.delays.max(1));
            let ago_s = trip.unwrap_or_default().as_secs_f64() + delay_s;
            let by_delay = f64::from(tick) - ago_s * f64::from(HZ);
            let worlds = &self.scene.worlds[..tick as usize - 1];
            found.approximations.add(drawn, worlds, by_delay, &mut self.scene.looks)?;
        }
        Ok(())
    }

    /// Whether nothing that is sent now arrives.
    fn is_out(&self, now: Duration) -> bool {
        let second = now.as_secs() as u32 % OUTAGE_EVERY_S;
        self.setting.outages && second == OUTAGE_EVERY_S - 1
    }
}

impl Found {
    /// Keeps the first notes.
    fn note(&mut self, note: impl FnOnce() -> String) {
        if self.notes.len() < 3 {
            self.notes.push(note());
        }
    }

    pub(crate) fn summary(&self) -> Summary {
        self.approximations.summary()
    }
}

/// The time of a tick.
fn at(tick: u32) -> Duration {
    Duration::from_secs(1) * tick / HZ
}
