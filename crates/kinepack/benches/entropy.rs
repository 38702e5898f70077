//! Times the range coder: decisions per second with adaptive counters. Also compares the size with
//! the ideal.
//!
//! There are 200,000 decisions in a seeded order. `rare`, `skewed` and `even` are decisions that
//! are true once in 1000, 33 and 2 times. Each of them uses one counter, so each decision waits for
//! the previous one. `mixed` cycles through 64 counters of all probabilities. `direct` codes flat
//! numbers of 1 to 20 bits. `signed` codes 50,000 numbers of all magnitudes up to 2¹⁶, small ones
//! more often, with some 8 decisions each. The decoded values are checked before the timing, and
//! the benchmark prints the size.
//!
//! Run it with `cargo bench -p kinepack --bench entropy`.

#![allow(missing_docs)]

mod random;

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use kinepack::bits::{BitReader, BitWriter};
use kinepack::entropy::{
    Coder, Cost, Counter, MANTISSAS, RangeDecoder, RangeEncoder, Signed, code_signed,
};
use random::Random;

const DECISIONS: usize = 200_000;
const SIGNED: usize = 50_000;
const CONTEXTS: usize = 64;
const LIMIT: u8 = 250;

/// A format: codes all of its values, and returns their mixed sum.
trait Format {
    fn code<C: Coder>(&self, coder: &mut C) -> u64;
}

/// Mixes values into a sum that depends on their order.
fn mix(sum: u64, value: u64) -> u64 {
    sum.rotate_left(1) ^ value
}

/// A list of decisions, each with the index of its counter.
struct Decisions(Vec<(bool, u8)>);

impl Decisions {
    /// Makes random decisions. Each decision picks a counter, and is true with the probability
    /// given for that counter, in 1/65536.
    fn new(probabilities: &[u64]) -> Self {
        let mut random = Random::seeded(3);
        let decision = |_| {
            let counter = random.word() as usize % probabilities.len();
            (random.word() >> 48 < probabilities[counter], counter as u8)
        };
        Self((0..DECISIONS).map(decision).collect())
    }
}

impl Format for Decisions {
    fn code<C: Coder>(&self, coder: &mut C) -> u64 {
        let mut counters = [Counter::default(); CONTEXTS];
        self.0.iter().fold(0, |sum, (bit, index)| {
            let counter = &mut counters[usize::from(*index) % CONTEXTS];
            mix(sum, u64::from(counter.code(coder, *bit, LIMIT)))
        })
    }
}

struct Direct(Vec<(u32, u32)>);

impl Direct {
    fn new() -> Self {
        let mut random = Random::seeded(4);
        let mut number = |_| {
            let bits = 1 + random.word() as u32 % 20;
            ((random.word() >> (64 - bits)) as u32, bits)
        };
        Self((0..DECISIONS).map(&mut number).collect())
    }
}

impl Format for Direct {
    fn code<C: Coder>(&self, coder: &mut C) -> u64 {
        self.0
            .iter()
            .fold(0, |sum, &(value, bits)| mix(sum, u64::from(coder.code_direct(value, bits))))
    }
}

struct Numbers(Vec<i64>);

impl Numbers {
    fn new() -> Self {
        let mut random = Random::seeded(5);
        let mut number = |_| {
            let bits = random.word().trailing_zeros().min(16);
            let magnitude = (random.word() & ((1 << bits) - 1)) as i64;
            if random.word() & 1 == 0 { magnitude } else { -magnitude }
        };
        Self((0..SIGNED).map(&mut number).collect())
    }
}

impl Format for Numbers {
    fn code<C: Coder>(&self, coder: &mut C) -> u64 {
        let [mut zero, mut sign] = [Counter::default(); 2];
        let mut exponents = [Counter::default(); 20];
        let mut mantissas = [Counter::default(); MANTISSAS];
        self.0.iter().fold(0, |sum, value| {
            let model = Signed {
                zero: &mut zero,
                sign: &mut sign,
                exponents: &mut exponents,
                mantissas: &mut mantissas,
            };
            mix(sum, code_signed(coder, *value, model, LIMIT) as u64)
        })
    }
}

fn encode<F: Format>(format: &F, bytes: &mut Vec<u8>) -> u64 {
    bytes.clear();
    let mut writer = BitWriter::append(bytes);
    let mut encoder = RangeEncoder::new(&mut writer);
    let sum = format.code(&mut encoder);
    encoder.finish();
    writer.finish().expect("a vector grows");
    sum
}

/// `blank` has as many values as the data, but a decoder ignores their content.
fn decode<F: Format>(blank: &F, bytes: &[u8]) -> u64 {
    let mut reader = BitReader::new(bytes);
    let mut decoder = RangeDecoder::new(&mut reader);
    let sum = blank.code(&mut decoder);
    decoder.finish().expect("it was encoded");
    sum
}

fn bench<F: Format>(criterion: &mut Criterion, name: &str, count: usize, format: &F, blank: &F) {
    let mut bytes = Vec::new();
    let sum = encode(format, &mut bytes);
    assert_eq!(decode(blank, &bytes), sum);
    let mut cost = Cost::default();
    assert_eq!(format.code(&mut cost), sum);
    let above = (8.0 * bytes.len() as f64 / cost.bits() - 1.0) * 100.0;
    println!(
        "{name}: {} bytes for {count}, {above:.4} % above the cost of {:.0} bits",
        bytes.len(),
        cost.bits()
    );

    let mut group: BenchmarkGroup<'_, WallTime> =
        criterion.benchmark_group(format!("entropy/{name}"));
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function("encode", |bencher| {
        bencher.iter(|| encode(black_box(format), black_box(&mut bytes)));
    });
    group.bench_function("decode", |bencher| {
        bencher.iter(|| decode(black_box(blank), black_box(&bytes)));
    });
    group.bench_function("cost", |bencher| {
        bencher.iter(|| black_box(format).code(&mut Cost::default()));
    });
    group.finish();
}

fn entropy(criterion: &mut Criterion) {
    let mut random = Random::seeded(6);
    let mixed: [u64; CONTEXTS] = core::array::from_fn(|_| random.word() >> 48);
    for (name, probabilities) in
        [("rare", &[66][..]), ("skewed", &[1986]), ("even", &[1 << 15]), ("mixed", &mixed)]
    {
        let decisions = Decisions::new(probabilities);
        let blank = Decisions(decisions.0.iter().map(|(_, counter)| (false, *counter)).collect());
        bench(criterion, name, DECISIONS, &decisions, &blank);
    }
    let direct = Direct::new();
    let blank = Direct(direct.0.iter().map(|(_, bits)| (0, *bits)).collect());
    bench(criterion, "direct", DECISIONS, &direct, &blank);
    bench(criterion, "signed", SIGNED, &Numbers::new(), &Numbers(vec![0; SIGNED]));
}

criterion_group!(benches, entropy);
criterion_main!(benches);
