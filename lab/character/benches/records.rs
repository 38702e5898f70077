//! Sends the moves of a player's character through a stream, and measures the bits of a record and
//! the time to encode and decode it.
//!
//! Each record is coded against the record 6 records earlier, as if acknowledgements took a tenth
//! of a second. The first 6 records are coded in full. A ring keeps the learned state after each of
//! the last 64 records. Besides the two levels, the benchmark measures coding every record in full.
//!
//! Run it with `cargo bench -p character --bench records`. The benchmark prints sizes first.

#![allow(missing_docs)]

use std::array;
use std::hint::black_box;
use std::mem::take;

use character::Move;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kinepack::Pack;
use kinepack::bits::{BitCounter, BitSink};
use kinepack::magnitude::{Precision, write_multiples, write_steps};
use kinepack::rle::{encode_difference, write_sparse_difference};
use kinepack::stream::{Learned, StreamBase, StreamCodec, StreamLevel};

/// The number of records, which is 100 seconds.
const RECORDS: usize = 6000;
const LAG: usize = 6;
const RING: usize = 64;

/// The ways to code a record: a name, a level, and whether the coding uses a base.
const WAYS: [(&str, StreamLevel, bool); 3] = [
    ("full", StreamLevel::Packed, false),
    ("packed", StreamLevel::Packed, true),
    ("adaptive", StreamLevel::Adaptive, true),
];

/// A function that returns a vector of a move.
type Vector = fn(&Move) -> [f64; 3];

/// One side of the stream, which holds the learned states after the latest records.
struct Side {
    codec: StreamCodec,
    has_bases: bool,
    ring: Vec<Learned>,
}

impl Side {
    fn new(level: StreamLevel, has_bases: bool) -> Self {
        let codec = StreamCodec::of::<Move>(level).expect("a move has lanes");
        Self { ring: vec![codec.nothing_learned(); RING], has_bases, codec }
    }

    /// Runs `code` for the record at `index`, with its base, and with memory for the learned state.
    fn at(
        &mut self,
        index: usize,
        held: &[Vec<u32>],
        code: impl FnOnce(&StreamCodec, Option<StreamBase<'_>>, &mut Learned),
    ) {
        let mut learned = take(&mut self.ring[index % RING]);
        let base = index.checked_sub(LAG).filter(|_| self.has_bases);
        let base = base.map(|base| StreamBase {
            lanes: &held[base],
            learned: &self.ring[base % RING],
            lag: LAG as u16,
        });
        code(&self.codec, base, &mut learned);
        self.ring[index % RING] = learned;
    }

    /// Encodes all records into `out`, each as a packet, and passes the end of each packet to
    /// `end`.
    fn encode(&mut self, records: &[Vec<u32>], out: &mut Vec<u8>, mut end: impl FnMut(usize)) {
        out.clear();
        for (index, record) in records.iter().enumerate() {
            self.at(index, records, |codec, base, learned| {
                codec.encode(base, record, learned, out).expect("records are lanes");
            });
            end(out.len());
        }
    }

    fn decode(&mut self, records: &[Vec<u32>], packets: &[u8], ends: &[usize], room: &mut [u32]) {
        let mut from = 0;
        for (index, end) in ends.iter().enumerate() {
            self.at(index, records, |codec, base, learned| {
                codec.decode(base, room, learned, &packets[from..*end]).expect("it was encoded");
            });
            from = *end;
            black_box(&room);
        }
    }
}

fn records(criterion: &mut Criterion) {
    let lanes = |played: &Move| {
        let mut lanes = vec![0; Move::LANES];
        played.quantize(&mut lanes).expect("a move is within its limits");
        lanes
    };
    let records: Vec<Vec<u32>> = character::moves(1, RECORDS).iter().map(lanes).collect();
    let mut sent = Vec::new();
    println!("{:10} {:>18} {:>14}", "", "mean bits, padded", "learned, bytes");
    for (name, level, has_bases) in WAYS {
        let mut side = Side::new(level, has_bases);
        let (mut packets, mut ends) = (Vec::new(), Vec::new());
        side.encode(&records, &mut packets, |end| ends.push(end));
        let bits = 8.0 * packets.len() as f64 / RECORDS as f64;
        println!("{name:10} {bits:18.1} {:14}", side.codec.nothing_learned().memory_bytes());
        sent.push((packets, ends));
    }
    print_forms(&character::moves(1, RECORDS));
    let mut group = criterion.benchmark_group("records");
    group.throughput(Throughput::Elements(RECORDS as u64));
    for ((name, level, has_bases), (packets, ends)) in WAYS.into_iter().zip(&sent) {
        let (mut side, mut out) = (Side::new(level, has_bases), Vec::new());
        group.bench_function(format!("{name}/encode"), |bencher| {
            bencher.iter(|| {
                side.encode(black_box(&records), &mut out, |_| {});
                out.len()
            });
        });
        let mut room = vec![0; Move::LANES];
        group.bench_function(format!("{name}/decode"), |bencher| {
            bencher.iter(|| side.decode(&records, black_box(packets), ends, &mut room));
        });
        assert_eq!(room, records[RECORDS - 1]);
    }
    group.finish();
}

/// Prints the bits of the article's forms next to those of level packed. The article's form of the
/// payload is runs of whole bytes. Its form of a vector is multiples of a tenth.
fn print_forms(moves: &[Move]) {
    let pairs = || moves.iter().zip(&moves[LAG..]);
    let mean = |bits: u64| bits as f64 / (RECORDS - LAG) as f64;
    let mut runs = Vec::new();
    pairs().for_each(|(base, now)| encode_difference(&base.payload, &now.payload, &mut runs));
    let mut sparse = BitCounter::default();
    pairs()
        .for_each(|(base, now)| write_sparse_difference(&mut sparse, &base.payload, &now.payload));
    println!("{:10} {:>18} {:>14}", "mean bits", "the article's form", "packed");
    println!(
        "{:10} {:18.1} {:14.1}",
        "payload",
        mean(8 * runs.len() as u64),
        mean(sparse.len_bits())
    );
    let vectors: [(&str, Vector); 3] = [
        ("acc.", |played| played.acceleration),
        ("location", |played| played.location),
        ("velocity", |played| played.velocity),
    ];
    for (name, of) in vectors {
        let (mut multiples, mut steps) = (BitCounter::default(), BitCounter::default());
        for (base, now) in pairs() {
            let [base, now] = [of(base), of(now)]
                .map(|vector| vector.map(|component| (component * 10.0).round() as i64));
            let tenths: [i64; 3] = array::from_fn(|axis| now[axis] - base[axis]);
            let differences = tenths.map(|tenths| tenths as f32 / 10.0);
            write_multiples(&mut multiples, Precision::Tenth, differences).expect("numbers");
            write_steps(&mut steps, tenths).expect("small numbers");
        }
        println!("{name:10} {:18.1} {:14.1}", mean(multiples.len_bits()), mean(steps.len_bits()));
    }
}

criterion_group!(benches, records);
criterion_main!(benches);
