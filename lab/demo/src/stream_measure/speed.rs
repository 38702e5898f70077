//! Measures the codec alone. It codes one client's packets again, each as one record against the
//! base that it had on its link.

use std::hint::black_box;
use std::time::{Duration, Instant};

use character::{Move, Script};
use kinepack::Pack;
use kinepack::stream::{Learned, StreamBase, StreamCodec};

/// The number of records between two readings of the clock.
const BATCH: usize = 512;
/// The largest distance to a base.
const RING: usize = 256;

/// The time to code a packet of one record.
pub(super) struct Speed {
    pub(super) encode_ns: f64,
    pub(super) decode_ns: f64,
}

/// One end of the stream: the models after each of the most recent records, and scratch memory.
struct End<'a> {
    codec: &'a StreamCodec,
    records: &'a [u32],
    ring: Vec<Learned>,
    learned: Learned,
}

impl<'a> End<'a> {
    fn new(codec: &'a StreamCodec, records: &'a [u32]) -> Self {
        Self {
            codec,
            records,
            ring: vec![codec.nothing_learned(); RING],
            learned: codec.nothing_learned(),
        }
    }

    /// Runs `code` for a record, with its base.
    fn at(
        &mut self,
        index: usize,
        back: Option<u16>,
        code: impl FnOnce(&StreamCodec, Option<StreamBase<'_>>, &[u32], &mut Learned),
    ) {
        let base = back.map(|lag| {
            let base = index - usize::from(lag);
            StreamBase {
                lanes: lanes_of(self.records, base),
                learned: &self.ring[base % RING],
                lag,
            }
        });
        code(self.codec, base, lanes_of(self.records, index), &mut self.learned);
        std::mem::swap(&mut self.ring[index % RING], &mut self.learned);
    }
}

fn lanes_of(records: &[u32], index: usize) -> &[u32] {
    &records[index * Move::LANES..(index + 1) * Move::LANES]
}

/// Codes the records of a script with the given seed. `backs` contains each record's distance to
/// its base, if it has one.
pub(super) fn measure(codec: &StreamCodec, seed: u64, backs: &[Option<u16>]) -> Speed {
    let mut records = vec![0; backs.len() * Move::LANES];
    for (place, played) in records.chunks_exact_mut(Move::LANES).zip(Script::new(seed)) {
        played.quantize(place).expect("a character is within its limits");
    }
    // The first run warms up the caches.
    code_all(codec, &records, backs);
    code_all(codec, &records, backs)
}

fn code_all(codec: &StreamCodec, records: &[u32], backs: &[Option<u16>]) -> Speed {
    let (mut client, mut server) = (End::new(codec, records), End::new(codec, records));
    let (mut encoding, mut decoding) = (Duration::ZERO, Duration::ZERO);
    let mut packets = vec![Vec::new(); BATCH];
    let mut lanes = vec![0; Move::LANES];
    for first in (0..backs.len()).step_by(BATCH) {
        let batch = first..(first + BATCH).min(backs.len());
        let begin = Instant::now();
        for (index, packet) in batch.clone().zip(&mut packets) {
            packet.clear();
            client.at(index, backs[index], |codec, base, record, learned| {
                codec.encode(base, record, learned, packet).expect("lanes of a move");
            });
        }
        encoding += begin.elapsed();
        let begin = Instant::now();
        for (index, packet) in batch.zip(&packets) {
            server.at(index, backs[index], |codec, base, _, learned| {
                codec.decode(base, &mut lanes, learned, packet).expect("it was encoded");
            });
            black_box(&lanes);
        }
        decoding += begin.elapsed();
    }
    let mean = |time: Duration| time.as_nanos() as f64 / backs.len().max(1) as f64;
    Speed { encode_ns: mean(encoding), decode_ns: mean(decoding) }
}
