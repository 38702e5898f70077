//! The drivers of the targets `rle` and `magnitude`. Any bytes must decode to valid values that
//! round-trip, or must be refused.

use kinepack::DecodeError;
use kinepack::bits::{BitReader, BitSink, BitWriter};
use kinepack::magnitude::{
    Precision, read_any, read_difference, read_multiples, read_steps, write_any, write_difference,
    write_multiples, write_steps,
};
use kinepack::quantize::{FloatLimits, VectorLimits};
use kinepack::rle::{
    bound, decode, decode_difference, encode, encode_difference, read_sparse_difference,
    write_sparse_difference,
};

use crate::coding::Source;

/// The first byte is the length of a base, and the second a limit. The rest consists of the base
/// and untrusted bytes.
pub fn rle(data: &[u8]) {
    let mut source = Source(data);
    let [base_bytes, limit_bytes] = [source.below(256), 4 * source.below(256)];
    let (base, bytes) = source.0.split_at(base_bytes.min(source.0.len()));
    decode_runs(base, bytes, limit_bytes);
    read_sparse(base, bytes, limit_bytes);
    runs_round_trip(base, bytes);
    sparse_round_trips(base, bytes);
    sparse_round_trips(bytes, base);
}

fn decode_runs(base: &[u8], bytes: &[u8], limit_bytes: usize) {
    let mut out = vec![0xEE];
    let decoded = decode(bytes, limit_bytes, &mut out);
    let mut against = vec![0xEE];
    assert_eq!(decode_difference(base, bytes, limit_bytes, &mut against), decoded);
    assert_eq!((out[0], out.len()), (0xEE, against.len()));
    match decoded {
        Ok(()) => {
            assert!(out.len() <= 1 + limit_bytes);
            let mut shortest = Vec::new();
            encode(&out[1..], &mut shortest);
            assert!(shortest.len() <= bytes.len(), "the input is shorter than our form");
            runs_round_trip(base, &against[1..]);
        }
        Err(_) => assert!(out.len() == 1, "a refused input had an effect"),
    }
}

fn runs_round_trip(base: &[u8], bytes: &[u8]) {
    let mut runs = vec![0xEE];
    encode_difference(base, bytes, &mut runs);
    assert!(runs.len() <= 1 + bound(bytes.len()));
    let mut back = Vec::new();
    assert_eq!(decode_difference(base, &runs[1..], bytes.len(), &mut back), Ok(()));
    assert_eq!(back, bytes);
    if let Some(limit_bytes) = bytes.len().checked_sub(1) {
        let refusal = decode_difference(base, &runs[1..], limit_bytes, &mut back);
        assert_eq!(refusal, Err(DecodeError::TooManyBytes { limit_bytes }));
        assert_eq!(back, bytes);
    }
}

fn read_sparse(base: &[u8], bytes: &[u8], len_bytes: usize) {
    let mut reader = BitReader::new(bytes);
    let mut out = vec![0xEE];
    match read_sparse_difference(&mut reader, base, len_bytes, &mut out) {
        Ok(()) => {
            assert_eq!(out.len(), 1 + len_bytes);
            sparse_round_trips(base, &out[1..]);
        }
        Err(error) => {
            assert!(matches!(error, DecodeError::EndOfData { .. }));
            assert_eq!(out, [0xEE], "a refused input had an effect");
        }
    }
}

fn sparse_round_trips(base: &[u8], bytes: &[u8]) {
    let mut sparse = Vec::new();
    let mut writer = BitWriter::append(&mut sparse);
    write_sparse_difference(&mut writer, base, bytes);
    let len_bits = writer.len_bits();
    writer.finish().unwrap();
    assert!(len_bits <= 8 * bytes.len() as u64 + 2);
    let mut reader = BitReader::new(&sparse);
    let mut back = Vec::new();
    assert_eq!(read_sparse_difference(&mut reader, base, bytes.len(), &mut back), Ok(()));
    assert_eq!((back.as_slice(), reader.position_bits()), (bytes, len_bits));
    reader.finish().unwrap();
}

/// The first byte selects a form, and the next twelve are a baseline. The rest are the bits.
pub fn magnitude(data: &[u8]) {
    let mut source = Source(data);
    let form = source.byte();
    let baseline = [(); 3].map(|()| f32::from_bits(source.word()));
    match form % 8 {
        0 => multiples(Precision::Whole, source.0),
        1 => multiples(Precision::Tenth, source.0),
        2 => multiples(Precision::Hundredth, source.0),
        3 => steps::<1>(source.0),
        4 => steps::<2>(source.0),
        5 => steps::<4>(source.0),
        6 => differences(&position(), baseline, source.0),
        _ => differences(&angles(), baseline, source.0),
    }
    if let Ok(bytes) = written(|writer| write_multiples(writer, Precision::Tenth, baseline).is_ok())
    {
        read_multiples::<3>(&mut BitReader::new(&bytes), Precision::Tenth).unwrap();
    }
}

fn position() -> VectorLimits<3> {
    let [xz, y] = [FloatLimits::new(-100.0, 100.0, 0.1), FloatLimits::with_bits(-1.0, 1.0, 23)]
        .map(Result::unwrap);
    VectorLimits::new([xz, y, xz])
}

fn angles() -> VectorLimits<3> {
    VectorLimits::new([FloatLimits::until(0.0, 360.0, 0.1).unwrap().wrapping(); 3])
}

/// Returns the written bytes. Returns an error if the value was refused, and then no bits were
/// written.
fn written(write: impl FnOnce(&mut BitWriter<'_>) -> bool) -> Result<Vec<u8>, ()> {
    let mut bytes = Vec::new();
    let mut writer = BitWriter::append(&mut bytes);
    let is_written = write(&mut writer);
    assert!(is_written || writer.len_bits() == 0);
    writer.finish().unwrap();
    if is_written { Ok(bytes) } else { Err(()) }
}

fn multiples(precision: Precision, data: &[u8]) {
    let mut reader = BitReader::new(data);
    while let Ok(vector) = read_multiples::<3>(&mut reader, precision) {
        let bytes = written(|writer| write_multiples(writer, precision, vector).is_ok()).unwrap();
        let back: [f32; 3] = read_multiples(&mut BitReader::new(&bytes), precision).unwrap();
        // For larger values, `f32` is as coarse as the steps.
        let is_near = |component: f32| (component * precision.steps_per_unit()).abs() < 4e6;
        assert!(!vector.into_iter().all(is_near) || back == vector);
    }
}

/// Checks that each vector has one string of bits, so that encoding gives the same bytes.
fn steps<const N: usize>(data: &[u8]) {
    let mut reader = BitReader::new(data);
    let mut bytes = Vec::new();
    let mut writer = BitWriter::append(&mut bytes);
    let read = loop {
        match read_steps::<N>(&mut reader) {
            Ok(steps) => write_steps(&mut writer, steps).unwrap(),
            Err(error) => break error,
        }
    };
    assert!(matches!(read, DecodeError::EndOfData { .. } | DecodeError::OutOfRange { .. }));
    let len_bits = writer.len_bits();
    writer.finish().unwrap();
    let (mut sent, mut back) = (BitReader::new(data), BitReader::new(&bytes));
    for _ in 0..len_bits {
        assert_eq!(back.read_bool(), sent.read_bool());
    }
}

fn differences(limits: &VectorLimits<3>, mut baseline: [f32; 3], data: &[u8]) {
    let mut reader = BitReader::new(data);
    loop {
        let from_bit = reader.position_bits();
        let within = read_difference(&mut reader.clone(), limits, baseline);
        match read_any(&mut reader, limits, baseline) {
            Ok(value) => {
                assert!(within.is_err() || limits.quantize(value).is_ok());
                assert!(within.is_err() || within == Ok(value));
                let difference =
                    written(|writer| write_difference(writer, limits, baseline, value).is_ok());
                assert!(difference.is_ok() || within.is_err());
                let any = written(|writer| {
                    write_any(writer, limits, baseline, value);
                    true
                });
                let back = read_any(&mut BitReader::new(&any.unwrap()), limits, baseline).unwrap();
                let expected = match difference {
                    Ok(_) => limits.quantize(value).map(|codes| limits.reconstruct(codes)).unwrap(),
                    Err(()) => value,
                };
                assert_eq!(back.map(f32::to_bits), expected.map(f32::to_bits));
                baseline = value;
            }
            Err(DecodeError::OutOfRange { at_bit }) => {
                assert!(at_bit > from_bit && within.is_err());
            }
            Err(DecodeError::EndOfData { .. }) => break,
            Err(error) => panic!("{error:?}"),
        }
    }
}
