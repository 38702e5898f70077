//! The script commands for receivers and streams.

use std::fmt::Write as _;
use std::time::Duration;

use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{EntityId, Level, Schema};
use kinepack_net::{Event, EventKinds, Receiver, ReceiverConfig};

use super::hex::{from_hex, hex};
use super::script::{at_level, integer, lines, packed, write_schema};

pub(crate) fn write(script: &mut String) {
    write_datagrams(script);
    write_stream(script);
}

/// `net.txt`.
fn write_datagrams(script: &mut String) {
    let lanes = (0..12).map(|lane| integer(format!("lane {lane}"), (1 << 31) - 1));
    let schema = Schema::new(lanes.collect());
    let number = || integer("number", u32::MAX.into());
    let event_schema = Schema::builder()
        .kind_of_fields("hit", vec![number(), integer("damage", 100)])
        .kind_of_fields("noise", vec![number(), Field::new("loud", FieldKind::Bool)])
        .build()
        .unwrap();
    write_schema(script, "net", &schema.to_bytes());
    write_schema(script, "net_events", &event_schema.to_bytes());
    script.push_str("codec net net packed -\ncodec net_events net_events packed -\n");
    script.push_str("codec net_adaptive net adaptive -\n");
    let axis = FloatLimits::new(0.0, 1000.0, 0.25).unwrap();
    let places = Schema::new(vec![Field::new("place", FieldKind::Floats(vec![axis; 2]))]);
    write_schema(script, "net_places", &places.to_bytes());
    script.push_str("codec net_places net_places packed -\n");
    script.push_str("events net_events net_events -1,2\n");
    let events = EventKinds::new(&packed(&event_schema)).droppable_kind(1, 2).unwrap();
    let codecs = [packed(&schema), at_level(&schema, Level::ADAPTIVE), packed(&places)];
    let mut receiver = Receiver::new(&codecs[0], ReceiverConfig::at_hz(60)).unwrap();
    let (mut session, mut name) = (0, String::new());
    for words in lines(vectors!("net.txt")) {
        let (form, datagram) = (words[0], words[1]);
        match form {
            "fault" => {
                let (entity, lane) = (words[1], words[2]);
                writeln!(script, "fault {name} {entity} {lane}").unwrap();
                let entity = EntityId(entity.parse().unwrap());
                assert!(receiver.inject_fault(entity, lane.parse().unwrap()));
            }
            "hello" | "hello-events" | "hello-adaptive" | "hello-places" => {
                session += 1;
                name = format!("net_{session}");
                let (codec, named) = match form {
                    "hello-adaptive" => (&codecs[1], "net_adaptive"),
                    "hello-places" => (&codecs[2], "net_places"),
                    _ => (&codecs[0], "net"),
                };
                receiver = Receiver::new(codec, ReceiverConfig::at_hz(60)).unwrap();
                let mut with = "-";
                if form == "hello-events" {
                    receiver = receiver.with_events(&events);
                    with = "net_events";
                }
                writeln!(script, "receiver {name} {named} {with}").unwrap();
                writeln!(script, "sends {name} {datagram}").unwrap();
                receiver.poll_transmit(Duration::ZERO).unwrap();
            }
            "acknowledgement" | "anew" => {
                writeln!(script, "sends {name} {datagram}").unwrap();
                let sent = receiver.poll_transmit(Duration::ZERO).unwrap();
                assert_eq!(hex(sent), datagram);
            }
            _ => {
                let taken = receiver.handle(Duration::ZERO, &from_hex(datagram));
                let status = if taken.is_ok() { "ok" } else { "data" };
                let newest = receiver.newest().map(|state| format!("{:016x}", state.state_hash()));
                let newest = newest.unwrap_or_else(|| "-".into());
                let events = described(receiver.take_events());
                writeln!(script, "takes {name} {status} {newest} {events} {datagram}").unwrap();
            }
        }
    }
    assert!(session >= 6);
}

/// Events as tick:kind:numbers, whose lanes are their numbers.
pub(crate) fn described<'a>(events: impl Iterator<Item = Event<'a>>) -> String {
    let one = |event: Event<'_>| {
        let (rows, index) = event.state();
        let numbers: Vec<_> = rows.lanes_at(index).collect();
        format!("{}:{}:{}", event.tick.0, event.kind(), listed(&numbers))
    };
    let events: Vec<String> = events.map(one).collect();
    if events.is_empty() { "-".into() } else { events.join(";") }
}

fn listed(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// `net_stream.txt`.
fn write_stream(script: &mut String) {
    let call = vec![
        integer("aim", 1000),
        integer("serial", 65_535),
        Field::new("fires", FieldKind::Bool),
        Field::new("arguments", FieldKind::Bytes { len: 4 }),
    ];
    write_schema(script, "net_stream", &Schema::new(call).to_bytes());
    script.push_str("stream calls net_stream packed 60 2 65525\n");
    let mut packets = 0;
    for words in lines(vectors!("net_stream.txt")) {
        if words[0] == "acknowledgement" {
            writeln!(script, "acknowledges calls {}", words[1]).unwrap();
            continue;
        }
        if words[0] == "timed" {
            writeln!(script, "splits {}00 {}", words[1], words[1].len() / 2).unwrap();
            continue;
        }
        // A record as number:numbers, without the brackets.
        let records: Vec<String> =
            words[2..].iter().map(|record| record.replace(['[', ']'], "")).collect();
        let records = if records.is_empty() { "-".into() } else { records.join(";") };
        writeln!(script, "records calls {} {records} {}", 1000 * packets, words[1]).unwrap();
        packets += 1;
    }
}
