//! Checks the frozen datagrams of `spec/vectors/net.txt`: what this version writes, and what every
//! later version must read. The header of that file describes them. New versions only add lines.
//!
//! `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-net vectors:: -- --nocapture` prints the
//! lines as this version writes them.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use kinepack::quantize::{FloatLimits, IntegerLimits};
use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Acknowledgement, Audience, EventKinds, Hub, HubConfig, Received, Receiver, ReceiverConfig,
    ReceiverId, ReceiverOptions, Refused, Ring, Rings, Sequence, datagram_sequence,
};

use crate::support::older_sequences;

const VECTORS: &str = include_str!("../../../spec/vectors/net.txt");
const ID: ReceiverId = ReceiverId(1);

/// A codec for entities of twelve lanes of 31 bits, so three entities do not fit into a datagram of
/// 128 bytes.
fn codec() -> Codec {
    codec_at(Level::PACKED)
}

fn codec_at(level: Level) -> Codec {
    let lane = |index| {
        let limits = IntegerLimits::new(0, (1 << 31) - 1, 1).unwrap();
        Field::new(format!("lane {index}"), FieldKind::Integer(limits))
    };
    let schema = Schema::new((0..12).map(lane).collect());
    Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap()
}

/// A world with the entities 1, 2 and 9. Each lane is a small hash of entity, lane, and the tick at
/// which the entity last changed. All entities change until tick 12, and the first one changes from
/// tick 20 on. From tick 100 on, all lanes move steadily, except for 24 bits of noise. These
/// snapshots take two datagrams.
fn world(codec: &Codec, tick: u32) -> Snapshot {
    let mut world = Snapshot::new(codec.schema(), Tick(tick));
    if let Some(since) = tick.checked_sub(100) {
        for id in [1, 2, 9] {
            let lane = |lane: u32| {
                let noise = (id * 31 + lane * 7 + tick).wrapping_mul(0x9E37_79B1) >> 8;
                ((since * (id + lane)) << 20) + noise
            };
            world.push_lanes(EntityId(id), &(0..12).map(lane).collect::<Vec<_>>()).unwrap();
        }
        return world;
    }
    let still_from = tick.min(12);
    for (id, changed) in
        [(1, if tick < 20 { still_from } else { tick }), (2, still_from), (9, still_from / 4)]
    {
        let lane = |lane: u32| (id * 31 + lane * 7 + changed).wrapping_mul(0x9E37_79B1) >> 1;
        world.push_lanes(EntityId(id), &(0..12).map(lane).collect::<Vec<_>>()).unwrap();
    }
    world
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn receiver(codec: &Codec, events: Option<&EventKinds>) -> Receiver {
    let receiver = Receiver::new(codec, ReceiverConfig::at_hz(60)).unwrap();
    match events {
        Some(events) => receiver.with_events(events),
        None => receiver,
    }
}

/// An event that must arrive.
#[derive(Pack, Debug)]
struct Hit {
    number: u32,
    #[pack(max = 100)]
    damage: u8,
}

/// An event that is sent again for two ticks.
#[derive(Pack, Debug)]
struct Noise {
    number: u32,
    loud: bool,
}

fn event_kinds() -> EventKinds {
    let schema = Schema::builder().kind::<Hit>("hit").kind::<Noise>("noise").build().unwrap();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    EventKinds::new(&codec).droppable::<Noise>(2).unwrap()
}

/// Emits two events in each tick, or forty in tick 33. Every third event is a noise.
fn emit(hub: &mut Hub, tick: u32) {
    for nth in 0..if tick == 33 { 40 } else { 2 } {
        let number = 100 * tick + nth;
        let emitted = if number.is_multiple_of(3) {
            hub.emit(&Noise { number, loud: nth > 0 }, Audience::All)
        } else {
            hub.emit(&Hit { number, damage: (number % 101) as u8 }, Audience::All)
        };
        emitted.unwrap();
    }
}

/// The events that the receiver hands on, each with a space in front: tick, kind, number, and the
/// last field.
fn events_of(receiver: &mut Receiver) -> String {
    let mut written = String::new();
    for event in receiver.take_events() {
        let fields = match (event.get::<Hit>().unwrap(), event.get::<Noise>().unwrap()) {
            (Some(Hit { number, damage }), _) => format!("hit:{number}:{damage}"),
            (_, Some(Noise { number, loud })) => format!("noise:{number}:{}", u8::from(loud)),
            _ => panic!("{event:?}"),
        };
        written += &format!(" {}:{fields}", event.tick.0);
    }
    written
}

fn sequence(datagram: &[u8]) -> Sequence {
    datagram_sequence(datagram).expect("it is a snapshot or a fragment")
}

/// Names a snapshot's header by its form.
fn form(datagram: &[u8]) -> String {
    if datagram[0] == 1 {
        return "fragment".into();
    }
    if datagram[0] == 10 {
        return form(&datagram[3..]) + "-checked";
    }
    match datagram {
        [0x2A, ..] => return "events-alone".into(),
        [0x4A, _, rest @ ..] => return form(rest) + "-turns",
        [0x1A, len, rest @ ..] => return form(&rest[usize::from(*len)..]) + "-events",
        _ => {}
    }
    let mut form = String::from(if datagram[3] == 0 { "reference" } else { "view" });
    form += if datagram[0] >> 5 == 0 { "-tick" } else { "-stride" };
    form += if datagram[0] & 8 != 0 { "-left-out" } else { "" };
    form += if datagram[0] & 16 != 0 { "-merge" } else { "" };
    form + if datagram[0] & 7 == 3 { "-older" } else { "" }
}

/// The lines that this version writes, in six sessions. The first session is plain. The second
/// session is short, with two older views from its hello on. The third session has a state check in
/// each snapshot, and a fault in the receiver. The fourth session has events. The fifth session is
/// at the level adaptive, with older views in two parts. In the sixth session, far entities take
/// turns of four ticks.
fn written() -> String {
    let codec = codec();
    let hello = receiver(&codec, None).poll_transmit(Duration::ZERO).unwrap().to_vec();
    let hello_line = format!("hello {}\n", hex(&hello));
    let mut lines = hello_line.clone();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    for (name, byte) in
        [("version", 1), ("schema", 2), ("codec", 10), ("initial", 18), ("events", 26)]
    {
        let mut other = hello.clone();
        other[byte] ^= 0x55;
        assert!(matches!(hub.handle(ID, Duration::ZERO, &other), Err(Refused::Mismatch(_))));
        lines += &format!("refusal-{name} {}\n", hex(hub.poll_transmit().unwrap().1));
    }
    let config = |older_views, check_every_bytes| HubConfig {
        datagram_bytes: 128,
        older_views: Some(older_views),
        check_every_bytes,
        ..HubConfig::default()
    };
    let by_default = HubConfig::default().check_every_bytes;
    lines += &session(&codec, config(0, by_default), 1..=29, None, None);
    lines += &hello_line;
    lines += &session(&codec, config(2, by_default), 20..=36, None, None);
    lines += &hello_line;
    lines += &session(&codec, config(0, Some(0)), 20..=42, Some(31), None);
    let events = event_kinds();
    let hello = hex(receiver(&codec, Some(&events)).poll_transmit(Duration::ZERO).unwrap());
    lines += &format!("hello-events {hello}\n");
    lines += &session(&codec, config(0, by_default), 20..=46, None, Some(&events));
    let adaptive = codec_at(Level::ADAPTIVE);
    let hello = hex(receiver(&adaptive, None).poll_transmit(Duration::ZERO).unwrap());
    lines += &format!("hello-adaptive {hello}\n");
    lines += &session(&adaptive, config(2, by_default), 100..=130, None, None);
    let codec = codec_of_places();
    let hello = hex(receiver(&codec, None).poll_transmit(Duration::ZERO).unwrap());
    lines += &format!("hello-places {hello}\n");
    lines + &session_in_turns(&codec)
}

/// A codec for entities that have a place.
fn codec_of_places() -> Codec {
    let axis = FloatLimits::new(0.0, 1000.0, 0.25).unwrap();
    let schema = Schema::new(vec![Field::new("place", FieldKind::Floats(vec![axis; 2]))]);
    Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap()
}

/// Runs a session with eight entities that move, the first three of them near the viewpoint. The
/// farther ones change in every fourth tick. Acknowledgements take three ticks, and the datagram of
/// tick 13 is lost.
fn session_in_turns(codec: &Codec) -> String {
    let config = HubConfig { check_every_bytes: Some(64), ..HubConfig::default() };
    let mut hub = Hub::new(codec, config).unwrap();
    let ring = |within, every| Ring { within, leave: within, every, tier: 0, coarser: 0 };
    hub.set_rings(Some(&Rings {
        positions: vec!["place".into()],
        urgent: vec![],
        rings: vec![ring(300.0, 1), ring(700.0, 4)],
        beyond: None,
        cell: 100.0,
        exact_after: None,
    }))
    .unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    hub.set_viewpoint(ID, Some([50.0, 50.0, 0.0])).unwrap();
    let mut receiver = receiver(codec, None);
    hub.handle(ID, Duration::ZERO, receiver.poll_transmit(Duration::ZERO).unwrap()).unwrap();
    let (mut lines, mut up) = (String::new(), Vec::new());
    for tick in 1..=28 {
        let now = Duration::from_millis(20) * tick;
        for (_, datagram) in up.extract_if(.., |(due, _): &mut (u32, Vec<u8>)| *due <= tick) {
            hub.handle(ID, now, &datagram).unwrap();
        }
        let mut world = Snapshot::new(codec.schema(), Tick(tick));
        for id in 1..=8 {
            world.push_lanes(EntityId(id), &[400 * id + 3 * tick, 200 + tick]).unwrap();
        }
        hub.tick(now, &world).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            if tick == 13 {
                continue;
            }
            receiver.handle(now, datagram).unwrap();
            let state = receiver.view(sequence(datagram)).map_or(0, Snapshot::state_hash);
            lines += &format!("{} {} {state:016x}\n", form(datagram), hex(datagram));
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            lines += &format!("acknowledgement {}\n", hex(datagram));
            up.push((tick + 3, datagram.to_vec()));
        }
    }
    lines
}

/// The entity and the lane that the fault changes.
const FAULT: (EntityId, usize) = (EntityId(2), 3);

/// Runs a session in the ticks `ticks`, with a fault in one of them.
fn session(
    codec: &Codec,
    config: HubConfig,
    ticks: RangeInclusive<u32>,
    fault: Option<u32>,
    events: Option<&EventKinds>,
) -> String {
    let mut hub = Hub::new(codec, config).unwrap();
    if let Some(events) = events {
        hub = hub.with_events(events);
    }
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mut receiver = receiver(codec, events);
    hub.handle(ID, Duration::ZERO, receiver.poll_transmit(Duration::ZERO).unwrap()).unwrap();
    let mut lines = String::new();
    let begin = *ticks.start();
    let now = |tick: u32| Duration::from_millis(u64::from(tick + 1 - begin) * 20);

    // Datagrams take two ticks in each direction. Every seventh datagram from the hub is lost, and
    // every fifth datagram to the hub.
    let [mut down, mut up]: [Vec<(u32, Vec<u8>)>; 2] = Default::default();
    let mut counts = [0u32; 2];
    for tick in ticks {
        for (_, datagram) in down.extract_if(.., |(due, _)| *due <= tick) {
            if let Err(refused) = receiver.handle(now(tick), &datagram) {
                assert!(fault.is_some());
                lines += &format!("{} {}\n", name_of(&refused), hex(&datagram));
                continue;
            }
            let view = receiver.view(sequence(&datagram));
            let state = view.or(receiver.newest()).map_or(0, Snapshot::state_hash);
            let events = events_of(&mut receiver);
            lines += &format!("{} {} {state:016x}{events}\n", form(&datagram), hex(&datagram));
        }
        if fault == Some(tick) {
            let (EntityId(id), lane) = FAULT;
            assert!(receiver.inject_fault(EntityId(id), lane));
            lines += &format!("fault {id} {lane}\n");
        }
        while let Some(datagram) = receiver.poll_transmit(now(tick)) {
            counts[0] += 1;
            let name = if datagram[0] == 5 { "acknowledgement" } else { "anew" };
            lines += &format!("{name} {}\n", hex(datagram));
            if counts[0] % 5 != 0 {
                up.push((tick + 2, datagram.to_vec()));
            }
        }
        for (_, datagram) in up.extract_if(.., |(due, _)| *due <= tick) {
            hub.handle(ID, now(tick), &datagram).unwrap();
        }
        // The sender pauses, so the tick is not in step with the sequence.
        if tick == 16 || tick == 17 {
            continue;
        }
        if events.is_some() && tick <= 38 {
            emit(&mut hub, tick);
        }
        hub.tick(now(tick), &world(codec, tick)).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            counts[1] += 1;
            if counts[1] % 7 != 0 {
                down.push((tick + 2, datagram.to_vec()));
            }
        }
    }
    lines
}

/// Names a refusal after a fault.
fn name_of(refused: &Refused) -> &'static str {
    match refused {
        Refused::WrongState { .. } => "wrong-state",
        Refused::NoBaseline => "no-baseline",
        _ => panic!("{refused}"),
    }
}

#[test]
fn every_datagram_is_written() {
    let written = written();
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        println!("{written}");
    }
    let frozen: Vec<&str> = VECTORS.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(written.lines().eq(frozen), "the datagrams are not those of spec/vectors/net.txt");
}

#[test]
fn every_datagram_is_read() {
    let (codec, adaptive, places) = (codec(), codec_at(Level::ADAPTIVE), codec_of_places());
    let (events, mut receiver) = (event_kinds(), receiver(&codec, None));
    let mut forms = Vec::new();
    let (mut partial, mut older_in_parts) = (HashSet::new(), 0);
    for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
        let (form, rest) = line.split_once(' ').unwrap();
        if form == "fault" {
            assert_eq!(rest, format!("{} {}", FAULT.0.0, FAULT.1));
            assert!(receiver.inject_fault(FAULT.0, FAULT.1));
            continue;
        }
        let (datagram, state) = rest.split_once(' ').unwrap_or((rest, ""));
        let datagram = bytes(datagram);
        forms.push(form);
        match form {
            "hello" | "hello-events" | "hello-adaptive" | "hello-places" => {
                let events = (form == "hello-events").then_some(&events);
                let codec = match form {
                    "hello-adaptive" => &adaptive,
                    "hello-places" => &places,
                    _ => &codec,
                };
                receiver = self::receiver(codec, events);
                partial.clear();
                assert_eq!(receiver.poll_transmit(Duration::ZERO), Some(&datagram[..]));
            }
            "acknowledgement" => {
                let [5, six @ ..] = &datagram[..] else { panic!("{line}") };
                let acknowledgement = Acknowledgement::from_bytes(six.try_into().unwrap());
                assert_eq!(receiver.poll_acknowledgement(), Some(acknowledgement), "{line}");
            }
            "anew" => {
                assert_eq!(receiver.poll_transmit(Duration::ZERO), Some(&datagram[..]), "{line}");
            }
            "wrong-state" | "no-baseline" => {
                let refused = receiver.handle(Duration::ZERO, &datagram).unwrap_err();
                assert_eq!(name_of(&refused), form, "{line}");
            }
            _ if form.starts_with("refusal") => {
                let refused = receiver.handle(Duration::ZERO, &datagram);
                assert!(matches!(refused, Err(Refused::Mismatch(_))), "{line}: {refused:?}");
            }
            _ => {
                let left_out = form.contains("left-out");
                if left_out {
                    partial.insert(sequence(&datagram));
                }
                if form.contains("-older") {
                    let older = older_sequences(&datagram).into_iter();
                    older_in_parts += older.filter(|older| partial.contains(older)).count();
                }
                let received = receiver.handle(Duration::ZERO, &datagram).unwrap();
                assert!(
                    matches!(received, Received::Snapshot { left_out: is, .. } if is == left_out)
                        || ["fragment", "events-alone"].contains(&form),
                    "{line}"
                );
                let view = receiver
                    .view(sequence(&datagram))
                    .or(receiver.newest())
                    .map_or(0, Snapshot::state_hash);
                let events = events_of(&mut receiver);
                assert_eq!(format!("{view:016x}{events}"), state, "{line}");
            }
        }
    }
    for form in [
        "hello",
        "refusal-initial",
        "acknowledgement",
        "fragment",
        "left-out",
        "-stride",
        "-tick",
        "-merge",
        "-older",
        "-checked",
        "wrong-state",
        "no-baseline",
        "anew",
        "refusal-events",
        "-events",
        "events-alone",
        "-turns",
    ] {
        assert!(forms.iter().any(|known| known.contains(form)), "no {form}");
    }
    assert!(older_in_parts > 10, "{older_in_parts} older views in parts");
}
