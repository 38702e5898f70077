//! The driver of the target `net_rewind`. The data decide a world, what is lost, late or left out,
//! and the stamps: those of drawn frames, which must give what was drawn, and forged ones.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::time::Duration;

use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, KindOptions, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    RewindConfig, RewindError, Sample, Seen,
};

use crate::net::Source;

const ID: ReceiverId = ReceiverId(1);
/// The maximum number of steps in one input.
const MOST_STEPS: usize = 400;
/// The number of datagrams and of stamps that may be on their way.
const MOST_ON_THE_WAY: usize = 40;
const TICK_HZ: u32 = 60;
const MAX: u32 = 1 << 16;

fn codec() -> &'static Codec {
    static CODEC: OnceLock<Codec> = OnceLock::new();
    CODEC.get_or_init(|| {
        let number = IntegerLimits::new(0, MAX.into(), 1).expect("a range");
        let field = |name| Field::new(name, FieldKind::Integer(number));
        let schema = Schema::builder()
            .kind_of_fields("walker", vec![field("along"), field("across")])
            .kind_of_fields("door", vec![field("angle")])
            .build()
            .expect("a schema");
        Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).expect("a codec")
    })
}

/// A sample to the bit.
type Drawn = (EntityId, [Vec<u32>; 2], [u32; 2]);

fn drawn(sample: &Sample<'_>) -> Drawn {
    let lanes = |(state, at): (&Snapshot, usize)| state.lanes_at(at).collect();
    let between = [sample.between.ratio.to_bits(), sample.between.seconds.to_bits()];
    (sample.id, [lanes(sample.from), lanes(sample.to)], between)
}

/// Changes some of the entities. The ids of walkers are below 64, those of doors above.
fn advance(world: &mut Vec<(u32, [u32; 2])>, source: &mut Source<'_>) {
    for _ in 0..source.below(6) {
        let (id, change) = (source.below(96) as u32, source.byte());
        match world.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(at) if change == 255 => drop(world.remove(at)),
            Ok(at) => world[at].1[usize::from(change & 1)] += u32::from(change) % 9,
            Err(at) => world.insert(at, (id, [0, 0])),
        }
    }
}

fn snapshot(world: &[(u32, [u32; 2])], tick: u32) -> Snapshot {
    let mut state = Snapshot::new(codec().schema(), Tick(tick));
    for (id, [along, across]) in world {
        let pushed = match id {
            ..64 => state.push_lanes_of(0, EntityId(*id), &[*along % MAX, *across % MAX]),
            _ => state.push_lanes_of(1, EntityId(*id), &[*along % MAX]),
        };
        pushed.expect("ids increase");
    }
    state
}

/// Runs a session. Stamps of drawn frames must give what was drawn, to the bit, or be refused for
/// their age. Forged stamps must give something or be refused.
pub fn net_rewind(data: &[u8]) {
    let mut source = Source(data);
    let longest = Duration::from_millis(50 + 16 * u64::from(source.byte()));
    let config = RewindConfig { longest, ..RewindConfig::at_hz(TICK_HZ) };
    let budget = Some(1_000 + 40 * u32::from(source.byte())).filter(|_| source.byte() & 1 == 0);
    let hub_config = HubConfig { datagram_bytes: 128 + source.below(128), ..HubConfig::default() };
    let mut hub = Hub::new(codec(), hub_config).expect("a configuration");
    hub.set_rewind(Some(config)).expect("a configuration");
    let every = 1 << source.below(3);
    hub.set_kind("door", KindOptions { every, ..KindOptions::default() }).expect("a kind");
    let options = ReceiverOptions { budget: budget.into(), ..ReceiverOptions::default() };
    hub.add(ID, &options, Duration::ZERO).expect("a receiver");
    let mut receiver =
        Receiver::new(codec(), ReceiverConfig::at_hz(TICK_HZ)).expect("a configuration");
    let (mut world, mut tick, mut is_honest) = (Vec::new(), 0u32, true);
    let mut on_the_way: VecDeque<Vec<u8>> = VecDeque::new();
    let mut stamps: VecDeque<(Seen, f64, Vec<Drawn>)> = VecDeque::new();
    for step in 0..MOST_STEPS {
        if source.is_over(step) {
            break;
        }
        let control = source.byte();
        let now = Duration::from_secs(1) * tick / TICK_HZ
            + Duration::from_micros(60 * u64::from(control));
        match control & 15 {
            0..6 => {
                tick += 1;
                advance(&mut world, &mut source);
                let now = Duration::from_secs(1) * tick / TICK_HZ;
                hub.tick(now, &snapshot(&world, tick)).expect("a world");
                while let Some((_, datagram)) = hub.poll_transmit() {
                    on_the_way.push_back(datagram.to_vec());
                }
                while on_the_way.len() > MOST_ON_THE_WAY {
                    on_the_way.pop_front();
                }
            }
            6..10 => {
                // Most datagrams arrive in order, some late, and some twice or never.
                let nth = if control >> 4 < 10 { 0 } else { usize::from(control >> 4) - 9 };
                if let Some(datagram) = on_the_way.remove(nth) {
                    let _ = receiver.handle(now, &datagram);
                }
            }
            10 => drop(on_the_way.pop_front()),
            11 | 12 => {
                while let Some(datagram) = receiver.poll_transmit(now) {
                    let _ = hub.handle(ID, now, datagram);
                }
            }
            13 => {
                let Some(playback) = receiver.playback(now) else { continue };
                let at = playback.tick;
                let mut frame: Vec<Drawn> = playback.samples().map(|of| drawn(&of)).collect();
                frame.sort_unstable();
                stamps.extend(receiver.seen().map(|seen| (seen, at, frame)));
                while stamps.len() > MOST_ON_THE_WAY {
                    stamps.pop_front();
                }
            }
            14 => {
                if let Some((seen, at, frame)) = stamps.pop_front() {
                    rewind(&mut hub, seen, at, &frame, is_honest);
                }
            }
            _ => {
                let known = stamps.front().map(|(seen, ..)| *seen);
                is_honest &= !forge(&mut hub, known, &mut source);
            }
        }
    }
}

/// Rewinds to a drawn frame, and compares each sample. After a forged stamp was accepted, honest
/// ones may seem to run back.
fn rewind(hub: &mut Hub, seen: Seen, at: f64, frame: &[Drawn], is_honest: bool) {
    let past = match hub.rewind(ID, seen) {
        Ok(past) => past,
        Err(RewindError::TooOld { .. }) => return,
        Err(RewindError::RunsBack) if !is_honest => return,
        Err(error) => panic!("an honest stamp was refused: {error}"),
    };
    assert_eq!(past.tick, at);
    assert!(past.ids().eq(frame.iter().map(|(id, ..)| *id)), "other entities");
    for of in frame {
        match past.sample(of.0) {
            Ok(sample) => assert_eq!(drawn(&sample), *of),
            Err(error) => assert!(matches!(error, RewindError::TooOld { .. }), "{error}"),
        }
    }
}

/// Rewinds to a forged stamp. Returns whether the hub accepted it.
fn forge(hub: &mut Hub, known: Option<Seen>, source: &mut Source<'_>) -> bool {
    let mut lanes = [0; Seen::LANES];
    match known {
        Some(seen) => seen.quantize(&mut lanes).expect("integers"),
        None => lanes.iter_mut().for_each(|lane| *lane = source.byte().into()),
    }
    for _ in 0..=source.below(4) {
        let lane = source.below(lanes.len());
        lanes[lane] = if lane == 0 { source.short().into() } else { source.byte().into() };
    }
    let Ok(past) = hub.rewind(ID, Seen::reconstruct(&lanes)) else { return false };
    assert!(past.tick.is_finite());
    for id in past.ids().collect::<Vec<_>>() {
        let sample = past.sample(id);
        assert!(matches!(sample, Ok(_) | Err(RewindError::TooOld { .. })), "{sample:?}");
    }
    assert!(past.sample(EntityId(7_777)).is_err());
    true
}
