//! Measures the size and speed of bytes and small numbers as streams send them.
//!
//! The bytes are 1,024 seeded pairs: a base, and a copy with a few changed bytes. The changed bytes
//! are in random places or in clusters of 1 to 8 bytes. The pairs are coded as runs of whole bytes
//! and as sparse bytes. For a list of gamma-coded distances and lengths, the alternative to sparse
//! bytes, only the bits are counted.
//!
//! The vectors are 4,096 seeded ones of three components. Half of the vectors are 0; the others
//! have magnitudes up to 1,000 steps, all equally often.
//!
//! Run it with `cargo bench -p kinepack --bench streams`. The benchmark first prints the sizes, as
//! mean bits.

#![allow(missing_docs)]

mod random;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kinepack::DecodeError;
use kinepack::bits::{BitReader, BitSink, BitWriter, bits_for};
use kinepack::magnitude::{
    Precision, read_difference, read_multiples, read_steps, write_difference, write_multiples,
    write_steps,
};
use kinepack::quantize::{FloatLimits, VectorLimits};
use kinepack::rle::{
    decode_difference, encode_difference, read_sparse_difference, write_sparse_difference,
};
use random::Random;

const PAIRS: usize = 1024;
const VECTORS: usize = 4096;

/// A base and bytes that resemble it.
type Alike = (Vec<u8>, Vec<u8>);

/// Makes pairs of `len` bytes with `changes` changes of up to `longest` bytes.
fn pairs(len: usize, changes: usize, longest: u64) -> Vec<Alike> {
    let mut random = Random::seeded((len + changes) as u64);
    let mut pair = || {
        let base: Vec<u8> = (0..len).map(|_| random.word() as u8).collect();
        let mut bytes = base.clone();
        for _ in 0..changes {
            let count = 1 + (random.word() % longest) as usize;
            // Changes of single bytes are at different places.
            let mut from = (random.word() % (len - count + 1) as u64) as usize;
            while longest == 1 && bytes[from] != base[from] {
                from = (random.word() % len as u64) as usize;
            }
            bytes[from..from + count]
                .iter_mut()
                .for_each(|byte| *byte ^= (1 + random.word() % 255) as u8);
        }
        (base, bytes)
    };
    (0..PAIRS).map(|_| pair()).collect()
}

/// Counts the bits of gamma(1 + number of changed stretches), and for each stretch those of
/// gamma(distance), gamma(length) and its bytes.
fn gamma_list_bits((base, bytes): &Alike) -> u64 {
    let gamma_bits = |number: usize| u64::from(2 * bits_for(number as u64) - 1);
    let (mut bits, mut stretches, mut unchanged, mut changed) = (0, 0, 1, 0);
    for is_changed in base.iter().zip(bytes).map(|(base, byte)| base != byte).chain([false]) {
        if is_changed {
            changed += 1;
            continue;
        }
        if changed > 0 {
            bits += gamma_bits(unchanged) + gamma_bits(changed) + 8 * changed as u64;
            (stretches, unchanged, changed) = (stretches + 1, 0, 0);
        }
        unchanged += 1;
    }
    bits + gamma_bits(1 + stretches)
}

fn write_sparse(pair: &Alike, out: &mut Vec<u8>) -> u64 {
    out.clear();
    let mut writer = BitWriter::append(out);
    write_sparse_difference(&mut writer, &pair.0, &pair.1);
    let len_bits = writer.len_bits();
    writer.finish().expect("a vector grows");
    len_bits
}

fn encode_runs(pair: &Alike, out: &mut Vec<u8>) -> u64 {
    out.clear();
    encode_difference(&pair.0, &pair.1, out);
    8 * out.len() as u64
}

fn bytes(criterion: &mut Criterion) {
    let cases = [
        ("16-bytes/0-changed", pairs(16, 0, 1)),
        ("16-bytes/1-changed", pairs(16, 1, 1)),
        ("16-bytes/2-changed", pairs(16, 2, 1)),
        ("16-bytes/4-changed", pairs(16, 4, 1)),
        ("16-bytes/all-changed", pairs(16, 16, 1)),
        ("64-bytes/2-clusters", pairs(64, 2, 8)),
        ("64-bytes/4-clusters", pairs(64, 4, 8)),
        ("256-bytes/3-clusters", pairs(256, 3, 8)),
        ("256-bytes/8-clusters", pairs(256, 8, 8)),
    ];
    println!("{:24} {:>8} {:>8} {:>10}", "mean bits", "runs", "sparse", "gamma list");
    let mut out = Vec::new();
    for (name, pairs) in &cases {
        let mean = |bits: u64| bits as f64 / PAIRS as f64;
        let runs = mean(pairs.iter().map(|pair| encode_runs(pair, &mut out)).sum());
        let sparse = mean(pairs.iter().map(|pair| write_sparse(pair, &mut out)).sum());
        let gamma = mean(pairs.iter().map(gamma_list_bits).sum());
        println!("{name:24} {runs:8.1} {sparse:8.1} {gamma:10.1}");
    }
    for (name, pairs) in
        cases.iter().filter(|(name, _)| name.contains("2-c") || name.contains("8-c"))
    {
        let mut group = criterion.benchmark_group(format!("streams/{name}"));
        group.throughput(Throughput::Elements(PAIRS as u64));
        let encodings: [fn(&Alike, &mut Vec<u8>) -> u64; 2] = [encode_runs, write_sparse];
        let [runs, sparse] = encodings.map(|encode| {
            let mut all = vec![Vec::new(); PAIRS];
            for (pair, out) in pairs.iter().zip(&mut all) {
                encode(pair, out);
            }
            all
        });
        for (form, encode) in ["runs/encode", "sparse/write"].into_iter().zip(encodings) {
            group.bench_function(form, |bencher| {
                bencher.iter(|| {
                    black_box(pairs).iter().map(|pair| encode(pair, &mut out)).sum::<u64>()
                });
            });
        }
        group.bench_function("runs/decode", |bencher| {
            bencher.iter(|| {
                for ((base, bytes), runs) in pairs.iter().zip(black_box(&runs)) {
                    out.clear();
                    decode_difference(base, runs, bytes.len(), &mut out).expect("it was encoded");
                    black_box(&out);
                }
            });
        });
        group.bench_function("sparse/read", |bencher| {
            bencher.iter(|| {
                for ((base, bytes), sparse) in pairs.iter().zip(black_box(&sparse)) {
                    out.clear();
                    let mut reader = BitReader::new(sparse);
                    read_sparse_difference(&mut reader, base, bytes.len(), &mut out)
                        .expect("it was written");
                    black_box(&out);
                }
            });
        });
        group.finish();
    }
}

/// Makes steps of 0.1; half of the vectors are 0.
fn vectors() -> Vec<[i64; 3]> {
    let mut random = Random::seeded(16);
    let mut vector = || {
        let magnitude = if random.word() & 1 == 0 { 0 } else { 1000i64 >> (random.word() % 10) };
        core::array::from_fn(|_| (random.word() % (2 * magnitude as u64 + 1)) as i64 - magnitude)
    };
    (0..VECTORS).map(|_| vector()).collect()
}

/// Prints the mean size, then times `write` over all vectors, and `read` over the result.
fn both_ways<Vector: Copy, Back>(
    criterion: &mut Criterion,
    name: &str,
    vectors: &[Vector],
    write: impl Fn(&mut BitWriter<'_>, Vector),
    read: impl Fn(&mut BitReader<'_>) -> Result<Back, DecodeError>,
) {
    let mut bytes = Vec::new();
    let mut run = |vectors: &[Vector]| {
        bytes.clear();
        let mut writer = BitWriter::append(&mut bytes);
        vectors.iter().for_each(|vector| write(&mut writer, *vector));
        let len_bits = writer.len_bits();
        writer.finish().expect("a vector grows");
        len_bits
    };
    println!("{name:24} {:8.1} mean bits a vector", run(vectors) as f64 / vectors.len() as f64);
    let mut group = criterion.benchmark_group(format!("streams/{name}"));
    group.throughput(Throughput::Elements(vectors.len() as u64));
    group.bench_function("write", |bencher| bencher.iter(|| run(black_box(vectors))));
    group.bench_function("read", |bencher| {
        bencher.iter(|| {
            let mut reader = BitReader::new(black_box(&bytes));
            for _ in vectors {
                black_box(read(&mut reader).expect("it was written"));
            }
        });
    });
    group.finish();
}

fn numbers(criterion: &mut Criterion) {
    let steps = vectors();
    both_ways(
        criterion,
        "steps",
        &steps,
        |writer, vector| write_steps(writer, vector).expect("in range"),
        read_steps::<3>,
    );
    let vectors: Vec<[f32; 3]> =
        steps.iter().map(|vector| vector.map(|step| step as f32 / 10.0)).collect();
    both_ways(
        criterion,
        "multiples",
        &vectors,
        |writer, vector| write_multiples(writer, Precision::Tenth, vector).expect("finite"),
        |reader| read_multiples::<3>(reader, Precision::Tenth),
    );
    let angles =
        VectorLimits::new([FloatLimits::until(0.0, 360.0, 0.1).expect("a range").wrapping(); 3]);
    let baseline = [359.5, 0.5, 180.0];
    both_ways(
        criterion,
        "angles",
        &vectors,
        |writer, vector| {
            let value = core::array::from_fn(|axis| baseline[axis] + vector[axis]);
            write_difference(writer, &angles, baseline, value).expect("finite");
        },
        |reader| read_difference(reader, &angles, baseline),
    );
}

criterion_group!(benches, bytes, numbers);
criterion_main!(benches);
