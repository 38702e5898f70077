//! The driver of the target `net_stream`. The data decide a stream's records, the losses and delays
//! of each datagram, and the forged ones.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Schema, Tick};
use kinepack_net::{Sequence, StreamConfig, StreamReceiver, StreamSender, split_datagram};

use crate::net::Source;

/// The maximum number of steps in one input.
const MOST_STEPS: usize = 600;
/// The number of packets that may still be in flight.
const MOST_ON_THE_WAY: usize = 40;

fn codec() -> &'static StreamCodec {
    static CODEC: OnceLock<StreamCodec> = OnceLock::new();
    CODEC.get_or_init(|| {
        let number = IntegerLimits::new(0, 100_000, 1).expect("a range");
        let fields = [
            ("number", FieldKind::Integer(number)),
            ("flag", FieldKind::Bool),
            ("choice", FieldKind::Choice { max: 6 }),
            ("raw", FieldKind::Raw { lanes: 2 }),
            ("bytes", FieldKind::Bytes { len: 9 }),
        ];
        let schema = Schema::new(fields.map(|(name, kind)| Field::new(name, kind)).into());
        StreamCodec::new(schema, StreamLevel::Packed).expect("lanes")
    })
}

/// Changes one lane.
fn change(record: &mut [u32], source: &mut Source<'_>) {
    let lane = source.below(record.len());
    let max = codec().schema().lanes()[lane].max;
    let value = if source.byte() & 1 == 0 {
        record[lane].wrapping_add(source.byte().into())
    } else {
        source.word()
    };
    record[lane] = value.checked_rem(max.wrapping_add(1)).unwrap_or(value);
}

/// Runs a stream. The receiver must return each pushed record once, until it accepts a forged
/// datagram. A refused datagram must have no effect, and memory must not grow.
pub fn net_stream(data: &[u8]) {
    let mut source = Source(data);
    let config = StreamConfig {
        repeats: source.byte() % 16,
        longest_round_trip: Duration::from_millis(1 + 16 * u64::from(source.byte())),
        burst_records: 16 + u16::from(source.byte()),
        first_number: Sequence(source.short()),
        ..StreamConfig::at_hz(60)
    };
    let mut sender = StreamSender::new(codec(), config).expect("a configuration");
    let mut receiver = StreamReceiver::new(codec(), config).expect("a configuration");
    let memory = [sender.memory_bytes(), receiver.memory_bytes()];
    let mut record = vec![0; codec().lanes()];
    let (mut pushed, mut given) = (HashMap::new(), HashMap::new());
    let mut on_the_way: Vec<Vec<u8>> = Vec::new();
    let (mut now, mut is_honest) = (Duration::ZERO, true);
    for step in 0..MOST_STEPS {
        if source.is_over(step) {
            break;
        }
        let control = source.byte();
        match control & 15 {
            0..4 => {
                change(&mut record, &mut source);
                let number = sender.push_lanes(&record).expect("of the schema");
                pushed.insert(number, record.clone());
            }
            4..7 => {
                let base = sender.acknowledged();
                if let Some(datagram) = sender.poll_transmit() {
                    let number = Sequence(u16::from_le_bytes([datagram[1], datagram[2]]));
                    let named = (datagram[0] & 8 == 0).then(|| number.before(datagram[3].into()));
                    assert_eq!(named, base, "the base was not acknowledged");
                    on_the_way.push(datagram.to_vec());
                }
                if on_the_way.len() > MOST_ON_THE_WAY {
                    on_the_way.remove(0);
                }
            }
            7..11 if !on_the_way.is_empty() => {
                let nth = usize::from(control >> 4) % on_the_way.len();
                let datagram = if control >> 4 == 15 {
                    on_the_way[nth].clone()
                } else {
                    on_the_way.remove(nth)
                };
                let records = feed(&mut receiver, now, &datagram).unwrap_or_default();
                for number in records.into_iter().filter(|_| is_honest) {
                    assert_eq!(receiver.record(number), Some(&pushed[&number][..]));
                    assert!(given.insert(number, ()).is_none(), "a record was returned twice");
                }
            }
            11 => {
                let mut datagram = on_the_way.first().cloned().unwrap_or_default();
                for _ in 0..=source.below(3) {
                    let end = datagram.len().clamp(1, 16);
                    let place = source.below(end);
                    if let Some(byte) = datagram.get_mut(place) {
                        *byte ^= source.byte();
                    }
                }
                // A change by 0 leaves the packet unchanged.
                is_honest &= feed(&mut receiver, now, &datagram).is_none();
            }
            12 => {
                let piece = source.piece();
                is_honest &= feed(&mut receiver, now, piece).is_none();
                let before = sender.acknowledged();
                if sender.handle(piece).is_err() {
                    assert_eq!(sender.acknowledged(), before);
                }
                if let Ok(parts) = split_datagram(piece) {
                    assert_eq!(parts.flatten().copied().collect::<Vec<_>>(), piece);
                }
            }
            13 => {
                let number =
                    sender.newest().unwrap_or_default().after(5).before(source.byte().into());
                let [low, high] = number.0.to_le_bytes();
                let _ = sender.handle(&[7, low, high]);
            }
            14 => {
                now += Duration::from_millis(source.byte().into());
                if control >> 7 == 1 {
                    let newest = receiver.newest().unwrap_or_default();
                    let tick = newest.after(4).before(source.byte().into());
                    receiver.record_for_tick(now, Tick(tick.0.into()));
                }
            }
            _ => {
                if let Some(acknowledgement) = receiver.acknowledgement() {
                    let taken = sender.handle(&acknowledgement.to_bytes());
                    assert!(taken.is_err() || taken == Ok(acknowledgement));
                }
            }
        }
    }
    assert_eq!([sender.memory_bytes(), receiver.memory_bytes()], memory);
}

/// Feeds a datagram to the receiver, and returns the numbers of the new records. Returns `None` if
/// the datagram was refused.
fn feed(receiver: &mut StreamReceiver, now: Duration, datagram: &[u8]) -> Option<Vec<Sequence>> {
    let held = |receiver: &StreamReceiver| {
        let newest = receiver.newest().unwrap_or_default();
        let records =
            (0..300).filter(|behind| receiver.record(newest.before(*behind)).is_some()).count();
        (receiver.newest(), records, receiver.stats().packets, receiver.stats().records)
    };
    let before = held(receiver);
    let handled = receiver.handle(now, datagram);
    let records = handled.ok().map(|handled| handled.records().map(|new| new.number).collect());
    if records.is_none() {
        assert_eq!(held(receiver), before, "a refusal changed something");
    }
    assert!(held(receiver).1 <= receiver.config().ring_packets());
    records
}
