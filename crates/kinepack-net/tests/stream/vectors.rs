//! Checks the frozen datagrams of `spec/vectors/net_stream.txt`. The header of that file describes
//! them. New versions only add lines.
//!
//! `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-net stream::vectors:: -- --nocapture` prints
//! the lines as this version writes them.

use std::time::Duration;

use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Bytes, Pack};
use kinepack_net::{
    Sequence, StreamAcknowledgement, StreamConfig, StreamHandled, StreamReceiver, StreamSender,
    StreamTiming,
};

const VECTORS: &str = include_str!("../../../../spec/vectors/net_stream.txt");

/// The record type that the header of the file describes.
#[derive(Pack)]
struct Call {
    #[pack(range = 0..=1000)]
    aim: u32,
    #[pack(bits = 16)]
    serial: u32,
    fires: bool,
    #[pack(with = Bytes)]
    arguments: [u8; 4],
}

fn codec() -> StreamCodec {
    StreamCodec::of::<Call>(StreamLevel::Packed).unwrap()
}

fn config() -> StreamConfig {
    StreamConfig { repeats: 2, first_number: Sequence(65_525), ..StreamConfig::at_hz(60) }
}

fn call(step: u32) -> Call {
    let byte = |place: u32| if step % 8 < 4 { (step / 8 + place) as u8 } else { 0 };
    Call {
        aim: (500 + 7 * step * (step % 3)) % 1001,
        serial: step * 300,
        fires: step.is_multiple_of(5),
        arguments: [0, 1, 2, 3].map(byte),
    }
}

/// Timings: the acknowledged number, the index, and how early the record is.
const TIMINGS: [(u16, u16, i16); 6] =
    [(0, 0, 0), (2, 15, -1), (300, 7, 2047), (65_535, 1, -2048), (9, 9, 16), (258, 2, -43)];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn records(handled: &StreamHandled<'_>) -> String {
    let record =
        |number: Sequence, lanes: &[u32]| format!(" {}:{lanes:?}", number.0).replace(", ", ",");
    handled.records().map(|new| record(new.number, new.lanes)).collect()
}

/// The lines that this version writes.
fn written() -> String {
    let mut sender = StreamSender::new(&codec(), config()).unwrap();
    let mut receiver = StreamReceiver::new(&codec(), config()).unwrap();
    let (mut lines, mut late) = (String::new(), Vec::new());
    for step in 0..30u32 {
        sender.push(&call(step)).unwrap();
        // Some records are sent together.
        if step % 7 == 6 {
            continue;
        }
        let datagram = sender.poll_transmit().unwrap().to_vec();
        let taken = match step {
            // The next packet overtakes this one, which is then lost.
            9 => {
                late = datagram;
                continue;
            }
            5 | 14..=17 => continue,
            10 => vec![datagram, std::mem::take(&mut late)],
            _ => vec![datagram],
        };
        for datagram in taken {
            let handled = receiver.handle(Duration::from_secs(step.into()), &datagram).unwrap();
            lines += &format!("packet {}{}\n", hex(&datagram), records(&handled));
        }
        if step % 4 == 3 {
            let acknowledgement = receiver.acknowledgement().unwrap().to_bytes();
            lines += &format!("acknowledgement {}\n", hex(&acknowledgement));
            sender.handle(&acknowledgement).unwrap();
        }
    }
    for (newest, index, early_parts) in TIMINGS {
        let number = Sequence(newest).before(index);
        let timing = Some(StreamTiming { number, early_parts });
        let timed = StreamAcknowledgement { newest: Sequence(newest), timing };
        lines += &format!("timed {} {}:{early_parts}\n", hex(&timed.to_bytes()), number.0);
    }
    lines
}

fn frozen() -> impl Iterator<Item = &'static str> {
    VECTORS.lines().filter(|line| !line.starts_with('#'))
}

#[test]
fn every_datagram_is_written() {
    let written = written();
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        println!("{written}");
    }
    assert!(
        written.lines().eq(frozen()),
        "the datagrams are not those of spec/vectors/net_stream.txt"
    );
}

#[test]
fn every_datagram_is_read() {
    let mut receiver = StreamReceiver::new(&codec(), config()).unwrap();
    let mut forms = [0; 4];
    for line in frozen() {
        let mut words = line.split(' ');
        let (name, datagram) = (words.next().unwrap(), bytes(words.next().unwrap()));
        if name == "acknowledgement" {
            assert_eq!(receiver.acknowledgement().unwrap().to_bytes(), *datagram, "{line}");
            continue;
        }
        if name == "timed" {
            let read = StreamAcknowledgement::from_bytes(&datagram).unwrap();
            let StreamTiming { number, early_parts } = read.timing.unwrap();
            assert!(line.ends_with(&format!(" {}:{early_parts}", number.0)), "{line}");
            assert_eq!(read.to_bytes(), datagram);
            continue;
        }
        let handled = receiver.handle(Duration::from_secs(forms[0]), &datagram).unwrap();
        assert!(line.ends_with(&records(&handled)), "{line}: {}", records(&handled));
        let is_full = datagram[0] & 8 != 0;
        let counted = [true, is_full, datagram[0] >> 4 > 0 && !is_full, handled.late];
        forms.iter_mut().zip(counted).for_each(|(form, is)| *form += u64::from(is));
    }
    assert!(forms.iter().all(|form| *form > 0), "{forms:?}");
}
