//! Times writing and reading bits, compared with `bitstream-io` and `bitter` (which only reads).
//!
//! There are 100,000 values in a seeded order. A quarter are flags of 1 bit, 70 in 100 have 1 to 20
//! bits, and 5 in 100 have 32 to 64. The widths are known only at run time and follow no pattern,
//! as in a snapshot. All libraries write the same bytes and read the same values, which is checked
//! before the timing. Kinepack and `bitstream-io` refuse a read past the end in every call.
//! `bitter` does too, except for `bitter-manual` (peek and consume), which never checks for the
//! end.
//!
//! Run it with `cargo bench -p kinepack --bench bits`.

#![allow(missing_docs)]

mod random;

use std::hint::black_box;

use bitstream_io::{BitRead as _, BitWrite as _, LittleEndian};
use bitter::BitReader as _;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kinepack::bits::{BitReader, BitSink, BitWriter};
use random::Random;

const VALUES: usize = 100_000;

/// A value and its width in bits.
type Written = (u64, u32);
/// Reads values with the widths of the given ones, and returns their mixed sum.
type Read = fn(&[Written], &[u8]) -> u64;

fn values() -> Vec<Written> {
    let mut random = Random::seeded(1);
    let mut value = || {
        let bits = match random.word() % 100 {
            0..25 => 1,
            25..95 => 1 + random.word() % 20,
            _ => 32 + random.word() % 33,
        };
        (random.word() >> (64 - bits), bits as u32)
    };
    (0..VALUES).map(|_| value()).collect()
}

fn write(values: &[Written], bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut writer = BitWriter::append(bytes);
    for &(value, bits) in values {
        writer.write(value, bits);
    }
    writer.finish().expect("a vector grows");
}

fn write_lent(values: &[Written], bytes: &mut [u8]) {
    let mut writer = BitWriter::lend(bytes);
    for &(value, bits) in values {
        writer.write(value, bits);
    }
    writer.finish().expect("the slice is long enough");
}

fn write_bitstream_io(values: &[Written], bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut writer = bitstream_io::BitWriter::endian(bytes, LittleEndian);
    for &(value, bits) in values {
        writer.write_unsigned_var(bits, value).expect("a vector grows");
    }
    writer.byte_align().expect("a vector grows");
}

/// Mixes values into a sum that depends on their order.
fn mix(sum: u64, value: u64) -> u64 {
    sum.rotate_left(1) ^ value
}

fn read(values: &[Written], bytes: &[u8]) -> u64 {
    let mut reader = BitReader::new(bytes);
    values.iter().fold(0, |sum, (_, bits)| mix(sum, reader.read(*bits).expect("it was written")))
}

fn read_bitstream_io(values: &[Written], bytes: &[u8]) -> u64 {
    let mut reader = bitstream_io::BitReader::endian(bytes, LittleEndian);
    values.iter().fold(0, |sum, (_, bits)| {
        mix(sum, reader.read_unsigned_var(*bits).expect("it was written"))
    })
}

fn read_bitter(values: &[Written], bytes: &[u8]) -> u64 {
    let mut reader = bitter::LittleEndianReader::new(bytes);
    values
        .iter()
        .fold(0, |sum, (_, bits)| mix(sum, reader.read_bits(*bits).expect("it was written")))
}

fn read_bitter_manual(values: &[Written], bytes: &[u8]) -> u64 {
    let mut reader = bitter::LittleEndianReader::new(bytes);
    let mut take = |bits| {
        if reader.lookahead_bits() < bits {
            reader.refill_lookahead();
        }
        let value = reader.peek(bits);
        reader.consume(bits);
        value
    };
    values.iter().fold(0, |sum, &(_, bits)| {
        let value = if bits <= bitter::MAX_READ_BITS {
            take(bits)
        } else {
            take(32) | take(bits - 32) << 32
        };
        mix(sum, value)
    })
}

/// Checks that all libraries write the same bytes and read the same values.
fn check(values: &[Written], bytes: &[u8]) {
    let mut others = Vec::new();
    write_bitstream_io(values, &mut others);
    assert_eq!(bytes, others);
    let mut lent = vec![0; bytes.len()];
    write_lent(values, &mut lent);
    assert_eq!(bytes, lent);

    let mut reader = BitReader::new(bytes);
    let mut bitstream_io = bitstream_io::BitReader::endian(bytes, LittleEndian);
    let mut bitter = bitter::LittleEndianReader::new(bytes);
    for &(value, bits) in values {
        assert_eq!(reader.read(bits), Ok(value));
        assert_eq!(bitstream_io.read_unsigned_var::<u64>(bits).ok(), Some(value));
        assert_eq!(bitter.read_bits(bits), Some(value));
    }
    assert_eq!(reader.finish(), Ok(()));
    let sum = values.iter().fold(0, |sum, (value, _)| mix(sum, *value));
    for read in [read, read_bitstream_io, read_bitter, read_bitter_manual] {
        assert_eq!(read(values, bytes), sum);
    }
}

fn bits(criterion: &mut Criterion) {
    let values = values();
    let mut bytes = Vec::new();
    write(&values, &mut bytes);
    check(&values, &bytes);

    let mut group = criterion.benchmark_group("bits/write");
    group.throughput(Throughput::Elements(VALUES as u64));
    group.bench_function("kinepack", |bencher| {
        bencher.iter(|| write(black_box(&values), black_box(&mut bytes)));
    });
    group.bench_function("kinepack-lent", |bencher| {
        bencher.iter(|| write_lent(black_box(&values), black_box(&mut bytes)));
    });
    group.bench_function("bitstream-io", |bencher| {
        bencher.iter(|| write_bitstream_io(black_box(&values), black_box(&mut bytes)));
    });
    group.finish();

    let mut group = criterion.benchmark_group("bits/read");
    group.throughput(Throughput::Elements(VALUES as u64));
    let readers: [(&str, Read); 4] = [
        ("kinepack", read),
        ("bitstream-io", read_bitstream_io),
        ("bitter", read_bitter),
        ("bitter-manual", read_bitter_manual),
    ];
    for (name, read) in readers {
        group.bench_function(name, |bencher| {
            bencher.iter(|| read(black_box(&values), black_box(&bytes)));
        });
    }
    group.finish();
}

criterion_group!(benches, bits);
criterion_main!(benches);
