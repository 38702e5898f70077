//! Compares runs and sparse bytes with naive forms: dynamic programming over all runs, and the
//! specification's tree.

use kinepack::DecodeError;
use kinepack::bits::{BitReader, BitSink, BitWriter};
use kinepack::rle::{
    bound, decode, decode_difference, encode, encode_difference, read_sparse,
    read_sparse_difference, write_sparse, write_sparse_difference,
};
use proptest::prelude::*;

use crate::runner::for_all;
use crate::support::{BitModel, Ends, Random, battery, battery_of, from_hex, hex};

const VECTORS: &str = include_str!("../../../spec/vectors/rle.txt");

/// A limit that is far above any size in these tests.
const LIMIT_BYTES: usize = 1 << 20;

fn encoded(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(bytes, &mut out);
    out
}

fn decoded(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    decode(bytes, LIMIT_BYTES, &mut out)?;
    Ok(out)
}

/// Returns `bytes` XOR `base`, as long as `bytes`.
fn difference(base: &[u8], bytes: &[u8]) -> Vec<u8> {
    let base = base.iter().copied().chain(std::iter::repeat(0));
    bytes.iter().zip(base).map(|(byte, base)| byte ^ base).collect()
}

/// Returns the length of the shortest form: the best of all possible first parts, each with the
/// shortest form of the rest.
fn shortest_bytes(bytes: &[u8]) -> usize {
    let mut shortest = vec![0; bytes.len() + 1];
    for from in (0..bytes.len()).rev() {
        let rest = &bytes[from..];
        let equal = rest.iter().take_while(|byte| **byte == rest[0]).count();
        let runs = (1..=equal.min(128)).map(|count| 2 + shortest[from + count]);
        let literals = (1..=rest.len().min(127)).map(|count| 1 + count + shortest[from + count]);
        shortest[from] = runs.chain(literals).min().unwrap();
    }
    shortest[0]
}

/// Checks the properties that hold for any bytes.
fn comes_back_in_the_shortest_form(bytes: &[u8]) {
    let runs = encoded(bytes);
    assert_eq!(runs.len(), shortest_bytes(bytes), "{bytes:?}: {runs:?}");
    assert!(runs.len() <= bound(bytes.len()));
    assert_eq!(decoded(&runs).as_deref(), Ok(bytes));
}

#[test]
fn the_articles_examples() {
    assert_eq!(encoded(b"ABCDEFG"), b"\x87ABCDEFG");
    assert_eq!(encoded(b"AAAAABCDE"), b"\x05A\x84BCDE");
    assert_eq!(encoded(&[b'A'; 300]), [128, b'A', 128, b'A', 44, b'A']);
    assert_eq!(encoded(b""), b"");
    assert_eq!(encoded(b"ABBC"), b"\x84ABBC", "two equal bytes do not split a part");
    assert_eq!(encoded(b"AABBBB"), b"\x02A\x04B");
}

#[test]
fn all_short_bytes_come_back_in_the_shortest_form() {
    for (letters, longest) in [(2u32, 14), (3, 9), (4, 7)] {
        for len in 0..=longest {
            for number in 0..letters.pow(len) {
                let bytes: Vec<u8> =
                    (0..len).map(|place| (number / letters.pow(place) % letters) as u8).collect();
                comes_back_in_the_shortest_form(&bytes);
            }
        }
    }
}

/// Pieces with lengths around those of the longest literal part and the longest run.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Different(usize),
    Equal(usize),
    Pairs(usize),
}

const PIECES: [Piece; 15] = [
    Piece::Different(1),
    Piece::Different(2),
    Piece::Different(125),
    Piece::Different(126),
    Piece::Different(127),
    Piece::Different(128),
    Piece::Different(253),
    Piece::Equal(2),
    Piece::Equal(3),
    Piece::Equal(128),
    Piece::Equal(129),
    Piece::Equal(130),
    Piece::Equal(257),
    Piece::Pairs(2),
    Piece::Pairs(64),
];

fn bytes_of(pieces: &[Piece]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Each byte differs from its neighbours.
    let mut letters = (0..=250).cycle();
    for piece in pieces {
        let (count, times) = match *piece {
            Piece::Different(count) => (count, 1),
            Piece::Equal(count) => (1, count),
            Piece::Pairs(count) => (count, 2),
        };
        letters.by_ref().take(count).for_each(|letter| bytes.resize(bytes.len() + times, letter));
    }
    bytes
}

#[test]
fn bytes_at_the_limits_of_parts_come_back_in_the_shortest_form() {
    for first in PIECES {
        for second in PIECES {
            for third in PIECES {
                comes_back_in_the_shortest_form(&bytes_of(&[first, second, third]));
            }
        }
    }
}

#[test]
fn long_bytes_come_back_in_the_shortest_form() {
    for_all(300, prop::collection::vec(0..PIECES.len(), 0..10), |pieces| {
        comes_back_in_the_shortest_form(&bytes_of(
            &pieces.iter().map(|piece| PIECES[*piece]).collect::<Vec<_>>(),
        ));
    });
    // Few different bytes give runs of all lengths, and many different bytes hardly any runs.
    for_all(
        300,
        (prop::collection::vec(any::<u8>(), 0..1500), 1u8..=255),
        |(mut bytes, letters)| {
            bytes.iter_mut().for_each(|byte| *byte %= letters);
            comes_back_in_the_shortest_form(&bytes);
        },
    );
}

#[test]
fn the_worst_case_is_one_byte_in_127() {
    for len in (0..600).chain([127 * 127, 10_000]) {
        let different: Vec<u8> = (0..len).map(|index| (index % 251) as u8).collect();
        assert_eq!(encoded(&different).len(), bound(len));
    }
    assert_eq!(
        [bound(0), bound(1), bound(127), bound(128), bound(usize::MAX)],
        [0, 2, 128, 130, usize::MAX]
    );
}

#[test]
fn differences_from_bases_of_any_length_come_back() {
    let bytes = || prop::collection::vec(0u8..4, 0..300);
    for_all(1000, (bytes(), bytes(), any::<bool>()), |(base, mut bytes, alike)| {
        if alike {
            bytes.iter_mut().zip(&base).skip(3).for_each(|(byte, base)| *byte = *base);
        }
        let mut out = vec![9];
        encode_difference(&base, &bytes, &mut out);
        assert_eq!(out[1..], encoded(&difference(&base, &bytes)));
        let mut back = vec![8];
        decode_difference(&base, &out[1..], bytes.len(), &mut back).unwrap();
        assert_eq!(back, [&[8], &bytes[..]].concat());
    });
}

#[test]
fn any_valid_runs_are_taken_and_others_have_no_effect() {
    assert_eq!(decoded(&[1, 7, 1, 7, 2, 7, 130, 7, 7, 129, 7]), Ok(vec![7; 7]));
    let cases = [
        (&[0][..], DecodeError::EmptyRun { at_bit: 0 }),
        (&[3, 1, 0, 1], DecodeError::EmptyRun { at_bit: 16 }),
        (&[3], DecodeError::EndOfData { at_bit: 8, wanted_bits: 8, left_bits: 0 }),
        (&[3, 1, 131, 1, 1], DecodeError::EndOfData { at_bit: 24, wanted_bits: 24, left_bits: 16 }),
        (&[128, 1, 128, 1], DecodeError::TooManyBytes { limit_bytes: 255 }),
    ];
    for (bytes, refusal) in cases {
        let mut out = vec![1, 2, 3];
        assert_eq!(decode(bytes, 255, &mut out), Err(refusal));
        assert_eq!(decode_difference(&[5; 9], bytes, 255, &mut out), Err(refusal));
        assert_eq!(out, [1, 2, 3]);
    }
    let mut out = Vec::new();
    assert_eq!(decode(&[128, 1, 127, 1], 255, &mut out), Ok(()));
    assert_eq!(out, [1; 255]);
}

#[test]
fn runs_survive() {
    let bytes =
        bytes_of(&[Piece::Equal(5), Piece::Different(130), Piece::Equal(300), Piece::Pairs(5)]);
    let valid = encoded(&bytes);
    battery_of("runs", &valid, Ends::OtherData, |data| {
        let mut out = vec![1, 2];
        let result = decode(data, bytes.len(), &mut out);
        assert_eq!(out[..2], [1, 2]);
        assert!(result.is_ok() || out.len() == 2, "a refused input changes nothing");
        assert!(out.len() - 2 <= bytes.len() && out.capacity() <= 4 * bytes.len());
        assert!(data != valid || out[2..] == bytes);
        result
    });
}

/// Writes the tree alone, bit by bit.
fn tree_of(bytes: &[u8], bits: &mut BitModel) {
    let is_there = |bytes: &[u8]| bytes.iter().any(|byte| *byte != 0);
    if bytes.len() == 1 {
        return bits.write(u64::from(bytes[0]), 8);
    }
    let (first, second) = bytes.split_at(bytes.len() - bytes.len() / 2);
    let both = is_there(first) && is_there(second);
    bits.write(u64::from(both), 1);
    if !both {
        bits.write(u64::from(is_there(second)), 1);
    }
    [first, second].into_iter().filter(|half| is_there(half)).for_each(|half| tree_of(half, bits));
}

/// Writes sparse bytes as the specification defines them.
fn sparse_of(bytes: &[u8]) -> BitModel {
    let mut bits = BitModel::default();
    if bytes.iter().any(|byte| *byte != 0) {
        bits.write(0b01, 2);
        tree_of(bytes, &mut bits);
        if bits.len_bits() > 8 * bytes.len() as u64 + 2 {
            bits = BitModel::default();
            bits.write(0b11, 2);
            bytes.iter().for_each(|byte| bits.write(u64::from(*byte), 8));
        }
    } else if !bytes.is_empty() {
        bits.write(0, 1);
    }
    bits
}

/// Checks the properties that hold for any bytes and base. Returns the number of bits that they
/// take.
fn sparse_comes_back(base: &[u8], bytes: &[u8]) -> u64 {
    let mut out = vec![3];
    let mut writer = BitWriter::append(&mut out);
    write_sparse_difference(&mut writer, base, bytes);
    let len_bits = writer.len_bits();
    writer.finish().unwrap();
    let naive = sparse_of(&difference(base, bytes));
    assert_eq!(
        (len_bits, &out[1..]),
        (naive.len_bits(), &naive.to_bytes()[..]),
        "{base:?} {bytes:?}"
    );
    assert!(len_bits <= 8 * bytes.len() as u64 + 2);
    let mut reader = BitReader::new(&out[1..]);
    let mut back = vec![4];
    read_sparse_difference(&mut reader, base, bytes.len(), &mut back).unwrap();
    assert_eq!(back, [&[4], bytes].concat());
    assert_eq!(reader.position_bits(), len_bits);
    len_bits
}

#[test]
fn sparse_bytes_come_back() {
    for len in 0..=9 {
        for number in 0..3u32.pow(len) {
            let bytes: Vec<u8> =
                (0..len).map(|place| (number / 3u32.pow(place) % 3) as u8 * 100).collect();
            sparse_comes_back(&[], &bytes);
        }
    }
    let bytes = || prop::collection::vec(any::<u8>(), 0..300);
    for_all(
        1000,
        (bytes(), bytes(), 1u64..100, any::<u64>()),
        |(base, mut bytes, rarity, seed)| {
            let mut random = Random::new(seed);
            for (byte, base) in
                bytes.iter_mut().zip(base.iter().copied().chain(std::iter::repeat(0)))
            {
                *byte = if random.one_in(rarity) { *byte } else { base };
            }
            sparse_comes_back(&base, &bytes);
        },
    );
}

#[test]
fn sparse_bytes_take_the_bits_of_the_specification() {
    let mut input = [0; 16];
    assert_eq!(sparse_comes_back(&[], &input), 1);
    input[2] = 5;
    assert_eq!(sparse_comes_back(&[], &input), 18);
    assert_eq!(sparse_comes_back(&[], &[7; 16]), 8 * 16 + 2);
    assert_eq!(sparse_comes_back(&[7; 20], &[7; 16]), 1, "a longer base is cut");
    assert_eq!(sparse_comes_back(&[7; 16], &[7; 20][..16]), 1);
    assert_eq!(sparse_comes_back(&[7], &[]), 0);
}

#[test]
fn any_valid_sparse_bytes_are_taken() {
    // The first data hold zeros in full, and the second a tree that has only zeros.
    for bits in [(0b11, 2), (0b101, 3)] {
        let mut model = BitModel::default();
        model.write(bits.0, bits.1);
        model.write(0, 16);
        let mut out = Vec::new();
        read_sparse(&mut BitReader::new(&model.to_bytes()), 2, &mut out).unwrap();
        assert_eq!(out, [0, 0]);
    }
}

#[test]
fn sparse_bytes_survive() {
    let base = bytes_of(&[Piece::Different(60)]);
    let mut bytes = base.clone();
    bytes[7] ^= 0xFF;
    bytes[8] ^= 1;
    bytes.extend([0, 0, 0, 9]);
    let mut valid = Vec::new();
    let mut writer = BitWriter::append(&mut valid);
    write_sparse_difference(&mut writer, &base, &bytes);
    write_sparse(&mut writer, &base);
    writer.finish().unwrap();
    battery("sparse bytes", &valid, |data| {
        let mut out = vec![1, 2];
        let mut reader = BitReader::new(data);
        let first = read_sparse_difference(&mut reader, &base, bytes.len(), &mut out);
        assert_eq!(
            out.len(),
            if first.is_ok() { 2 + bytes.len() } else { 2 },
            "a refused input changes nothing"
        );
        first?;
        read_sparse(&mut reader, base.len(), &mut out)?;
        reader.finish()?;
        assert!(data != valid || out == [&[1, 2], &bytes[..], &base[..]].concat());
        Ok(())
    });
}

/// Makes bases and bytes of the vectors: similar, of different lengths, empty, and noise.
fn vector_inputs() -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut random = Random::new(15);
    let mut inputs = vec![
        (vec![], vec![]),
        (vec![], b"ABCDEFG".to_vec()),
        (vec![], b"AAAAABCDE".to_vec()),
        (vec![], vec![b'A'; 300]),
        (vec![], vec![0; 16]),
        (vec![7; 20], vec![7; 16]),
        (vec![7; 16], vec![7; 20]),
        (vec![], bytes_of(&[Piece::Different(126), Piece::Equal(2), Piece::Different(3)])),
        (vec![], bytes_of(&[Piece::Different(3), Piece::Equal(129), Piece::Different(128)])),
    ];
    for (len, changes) in [(16, 1), (16, 2), (16, 4), (16, 16), (33, 2), (64, 5), (100, 1)] {
        let base = random.bytes(len);
        let mut bytes = base.clone();
        (0..changes).for_each(|_| bytes[random.below(len as u64) as usize] = random.word() as u8);
        inputs.push((base, bytes));
    }
    inputs
}

fn hex_or_none(bytes: &[u8]) -> String {
    if bytes.is_empty() { "-".to_owned() } else { hex(bytes) }
}

#[test]
fn every_vector_is_written_and_read() {
    let mut written = String::from("# base bytes runs sparse\n");
    for (base, bytes) in vector_inputs() {
        let (mut runs, mut sparse) = (Vec::new(), Vec::new());
        encode_difference(&base, &bytes, &mut runs);
        let mut writer = BitWriter::append(&mut sparse);
        write_sparse_difference(&mut writer, &base, &bytes);
        writer.finish().unwrap();
        written += &[base, bytes, runs, sparse].map(|bytes| hex_or_none(&bytes)).join(" ");
        written += "\n";
    }
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        println!("{written}");
    }
    assert!(written == VECTORS, "the bytes differ from spec/vectors/rle.txt");
    for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<Vec<u8>> =
            line.split(' ').map(|part| from_hex(part.trim_matches('-'))).collect();
        let [base, bytes, runs, sparse] = &parts[..] else { panic!("{line}") };
        let mut back = Vec::new();
        decode_difference(base, runs, bytes.len(), &mut back).unwrap();
        assert_eq!(back, *bytes, "{line}");
        back.clear();
        let mut reader = BitReader::new(sparse);
        read_sparse_difference(&mut reader, base, bytes.len(), &mut back).unwrap();
        reader.finish().unwrap();
        assert_eq!(back, *bytes, "{line}");
    }
}
