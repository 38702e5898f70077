//! Compares the entropy coder with a naive model and with its ideal cost, and runs the battery over
//! it.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack entropy::` writes the corpus of the fuzz
//! target again.

use std::fs;
use std::path::PathBuf;

use kinepack::DecodeError;
use kinepack::bits::{BitCounter, BitReader, BitSink, BitWriter};
use kinepack::entropy::{
    Coder, Cost, Counter, MANTISSAS, RangeDecoder, RangeEncoder, Signed, code_signed,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::entropy_driver as driver;
use crate::entropy_driver::{Step, blank, check_bytes, check_steps, code_all, decode, encode};
use crate::runner::for_all;
use crate::support::{BitModel, Random};

fn any_probability() -> impl Strategy<Value = u16> {
    prop_oneof![any::<u16>(), 0u16..4, (u16::MAX - 3)..=u16::MAX, Just(1 << 15)]
}

fn any_signed() -> impl Strategy<Value = i64> {
    let largest = (1i64 << 33) - 1;
    let of_any_magnitude = (-largest..=largest, 0u32..34).prop_map(|(value, shift)| value >> shift);
    prop_oneof![4 => of_any_magnitude, 2 => -3i64..4, 1 => Just(largest), 1 => Just(-largest)]
}

fn any_step() -> impl Strategy<Value = Step> {
    let number = |(value, bits): (u32, u32)| ((u64::from(value) & ((1 << bits) - 1)) as u32, bits);
    prop_oneof![
        (any::<bool>(), any_probability())
            .prop_map(|(bit, probability)| Step::Bit(bit, probability)),
        // The value is almost always the more probable one.
        (0u8..50, any_probability()).prop_map(|(turn, probability)| Step::Bit(
            (probability >= 1 << 15) != (turn == 0),
            probability
        )),
        (any::<bool>(), 0u8..16).prop_map(|(bit, index)| Step::Counted(bit, index)),
        (any::<u32>(), 0u32..=32)
            .prop_map(number)
            .prop_map(|(value, bits)| Step::Direct(value, bits)),
        (0u32..=32).prop_map(|bits| Step::Direct(((1u64 << bits) - 1) as u32, bits)),
        (any::<u32>(), 0u32..=4).prop_map(number).prop_map(|(value, bits)| Step::Tree(value, bits)),
        any_signed().prop_map(Step::Signed),
    ]
}

fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![3 => vec(any_step(), 0..60), 1 => vec(any_step(), 60..400)]
}

#[test]
fn any_steps_come_back_from_any_bit_on() {
    for_all(3000, (any_steps(), any::<u8>(), 0u32..64), |(steps, limit, prefix_bits)| {
        check_steps(&steps, limit, prefix_bits);
    });
}

#[test]
fn any_bytes_are_the_encoding_of_their_decisions_or_refused() {
    let data = (any_steps(), any::<u8>(), 0u32..64, vec(any::<u8>(), 0..80));
    for_all(3000, data, |(steps, limit, prefix_bits, bytes)| {
        check_bytes(&steps, limit, prefix_bits, &bytes);
    });
}

/// The model has few steps, so that all byte strings of some lengths can be tried and many of them
/// are valid.
#[test]
fn all_short_data_are_refused_or_the_only_form_of_their_decisions() {
    let [rare, usual] = [Step::Bit(true, 1), Step::Bit(true, u16::MAX)];
    let scripts: [&[Step]; 8] = [
        &[],
        &[rare],
        &[usual],
        &[rare, usual, Step::Bit(true, 700)],
        &[Step::Direct(0, 8)],
        &[Step::Direct(0, 16)],
        &[Step::Bit(false, 0x5555); 9],
        &[Step::Signed(0), Step::Tree(0, 2), Step::Counted(false, 1)],
    ];
    for kinds in scripts {
        let all = [vec![]].into_iter().chain((0..=u8::MAX).map(|byte| vec![byte]));
        let all = all.chain((0..=u16::MAX).map(|bytes| bytes.to_be_bytes().to_vec()));
        let mut valid: Vec<Vec<Step>> = Vec::new();
        for bytes in all {
            check_bytes(kinds, 20, 0, &bytes);
            let (steps, outcome) = decode(kinds, 20, 0, &bytes);
            if outcome.is_ok() {
                valid.push(steps);
            }
        }
        let found = valid.len();
        valid.sort_by_key(|steps| format!("{steps:?}"));
        valid.dedup();
        assert_eq!(valid.len(), found, "two forms of one sequence");
        let flat_bits: u32 =
            kinds.iter().map(|kind| if let Step::Direct(_, bits) = kind { *bits } else { 0 }).sum();
        assert!(found >= 1 << flat_bits, "{found} forms of {kinds:?}");
    }
}

/// A naive coder: the fraction as bits in memory, through which a carry runs, and the range.
struct Naive {
    /// The bits before the window, most significant first.
    bits: Vec<bool>,
    low: u64,
    range: u64,
}

impl Naive {
    fn narrow(&mut self, below: u64, range: u64) {
        self.low += below;
        self.range = range;
        self.carry();
        while self.range < 1 << 24 {
            self.bits.extend((24..32).rev().map(|bit| self.low >> bit & 1 == 1));
            self.low = self.low << 8 & 0xFFFF_FFFF;
            self.range <<= 8;
        }
    }

    fn carry(&mut self) {
        if self.low >> 32 == 1 {
            self.low &= 0xFFFF_FFFF;
            let zero = self.bits.iter().rposition(|bit| !bit).unwrap();
            self.bits[zero] = true;
            self.bits[zero + 1..].fill(false);
        }
    }

    /// Tries ends of 0 bits, 1 bit and so on.
    fn finish(mut self) -> Vec<bool> {
        for end_bits in 0.. {
            let end = self.low.next_multiple_of(1 << (32 - end_bits));
            if end < self.low + self.range {
                self.low = end;
                self.carry();
                self.bits.extend((32 - end_bits..32).rev().map(|bit| self.low >> bit & 1 == 1));
                break;
            }
        }
        self.bits
    }
}

impl Coder for Naive {
    fn code(&mut self, bit: bool, probability: u16) -> bool {
        let upper = self.range * u64::from(probability.max(1)) / 65536;
        let lower = self.range - upper;
        if bit {
            self.narrow(lower, upper);
        } else {
            self.narrow(0, lower);
        }
        bit
    }

    fn code_direct(&mut self, value: u32, bits: u32) -> u32 {
        let value = (u64::from(value) % (1 << bits)) as u32;
        if bits > 16 {
            let left_bits = bits - 16;
            let above = self.code_direct(value >> left_bits, 16);
            return above << left_bits | self.code_direct(value, left_bits);
        }
        let step = self.range >> bits;
        let below = step * u64::from(value);
        let is_last = u64::from(value) + 1 == 1 << bits;
        if bits > 0 {
            self.narrow(below, if is_last { self.range - below } else { step });
        }
        value
    }
}

#[test]
fn the_naive_coder_writes_the_same_bits() {
    for_all(2000, (any_steps(), any::<u8>(), 0u32..64), |(steps, limit, prefix_bits)| {
        let mut naive = Naive { bits: Vec::new(), low: 0, range: u64::from(u32::MAX) };
        code_all(&mut naive, &steps, limit);
        let mut model = BitModel::default();
        (0..prefix_bits).for_each(|_| model.write(1, 1));
        naive.finish().into_iter().for_each(|bit| model.write(u64::from(bit), 1));
        let len_bits = model.len_bits();
        model.pad();
        assert_eq!(encode(&steps, limit, prefix_bits), model.to_bytes());

        let mut counter = BitCounter::default();
        counter.write(0, prefix_bits);
        let mut encoder = RangeEncoder::new(&mut counter);
        code_all(&mut encoder, &steps, limit);
        encoder.finish();
        assert_eq!(counter.len_bits(), len_bits);
    });
}

/// One case has a carry that runs through many bytes of 0xFF, and the other has the same bytes
/// without a carry.
#[test]
fn a_carry_runs_through_any_number_of_bytes() {
    for ones in [1, 2, 3, 7, 100, 3000] {
        for last in [0, 1, 0x7FFF, 0xFFFF] {
            // The steps choose half of the range, and then the upper end of that half: just below
            // the middle, or above it.
            for first in [false, true] {
                let mut steps = vec![Step::Bit(first, 1 << 15)];
                steps.extend(vec![Step::Bit(true, 0xFFFF); ones]);
                steps.extend(vec![Step::Bit(true, 1); ones]);
                steps.extend([
                    Step::Direct(last, 16),
                    Step::Bit(true, 1),
                    Step::Direct(0xFFFF_FFFF, 32),
                ]);
                check_steps(&steps, 30, 0);
                check_steps(&steps, 30, 5);
            }
        }
    }
}

/// Makes 200,000 decisions at these probabilities, each `true` as often as its probability says.
fn stream(seed: u64, probabilities: &[f64]) -> Vec<Step> {
    let mut random = Random::new(seed);
    let decision = |_| {
        let probability = (probabilities[random.below(probabilities.len() as u64) as usize]
            * 65536.0)
            .round() as u16;
        Step::Bit(random.below(1 << 16) < u64::from(probability), probability)
    };
    (0..200_000).map(decision).collect()
}

#[test]
fn decisions_cost_the_logarithm_of_their_probability() {
    let mixed: Vec<f64> = (1..1000).map(|thousandth| f64::from(thousandth) / 1000.0).collect();
    let streams: [&[f64]; 9] = [
        &[0.0001],
        &[0.001],
        &[0.03],
        &[0.3],
        &[0.5],
        &[0.97],
        &[0.999],
        &[0.001, 0.5, 0.9999],
        &mixed,
    ];
    for (seed, probabilities) in (0..).zip(streams) {
        let steps = stream(seed, probabilities);
        let ideal_bits: f64 = steps.iter().map(|step| step_bits(*step)).sum();
        let bits = (8 * encode(&steps, 1, 0).len()) as f64;
        assert!(
            (bits - ideal_bits).abs() <= ideal_bits * 2e-4 + 8.0,
            "{probabilities:?}: {bits} for {ideal_bits}"
        );
        let mut cost = Cost::default();
        code_all(&mut cost, &steps, 1);
        assert!(
            (cost.bits() / ideal_bits - 1.0).abs() < 1e-4,
            "{probabilities:?}: {} for {ideal_bits}",
            cost.bits()
        );
    }
}

fn step_bits(step: Step) -> f64 {
    match step {
        Step::Bit(true, probability) => 16.0 - f64::from(probability).log2(),
        Step::Bit(false, probability) => 16.0 - (65536.0 - f64::from(probability)).log2(),
        Step::Direct(_, bits) => f64::from(bits),
        _ => unreachable!("not in these streams"),
    }
}

#[test]
fn flat_numbers_cost_their_bits() {
    let mut random = Random::new(9);
    for bits in [1, 3, 8, 13, 16, 17, 31, 32] {
        let mut number = || Step::Direct((random.word() >> (64 - bits)) as u32, bits);
        let steps: Vec<Step> = (0..50_000).map(|_| number()).collect();
        let ideal_bits = 50_000.0 * f64::from(bits);
        let encoded_bits = (8 * encode(&steps, 1, 0).len()) as f64;
        assert!(
            (encoded_bits / ideal_bits - 1.0).abs() < 2e-4,
            "{bits}: {encoded_bits} for {ideal_bits}"
        );
    }
}

#[test]
fn counters_approach_an_unknown_probability() {
    for (seed, (probability, above)) in
        (0..).zip([(0.001, 0.08), (0.03, 0.02), (0.3, 0.01), (0.5, 0.01)])
    {
        let given = stream(seed, &[probability]);
        let ideal_bits: f64 = given.iter().map(|step| step_bits(*step)).sum();
        let counted = |step: &Step| Step::Counted(matches!(step, Step::Bit(true, _)), 0);
        let steps: Vec<Step> = given.iter().map(counted).collect();
        let encoded_bits = (8 * encode(&steps, 250, 0).len()) as f64;
        assert!(
            (encoded_bits / ideal_bits - 1.0).abs() < above,
            "{probability}: {encoded_bits} for {ideal_bits}"
        );
    }
}

/// Codes signed numbers with a model that has `exponents` exponents.
fn code_numbers<C: Coder>(coder: &mut C, values: &[i64], exponents: usize) -> Vec<i64> {
    let [mut zero, mut sign] = [Counter::default(); 2];
    let mut exponents = vec![Counter::default(); exponents];
    let mut mantissas = [Counter::default(); MANTISSAS];
    let code = |value: &i64| {
        let model = Signed {
            zero: &mut zero,
            sign: &mut sign,
            exponents: &mut exponents,
            mantissas: &mut mantissas,
        };
        code_signed(coder, *value, model, 30)
    };
    values.iter().map(code).collect()
}

#[test]
fn signed_numbers_at_every_power_of_two_come_back() {
    let around = |exponent: u32| (-1..=1).map(move |by| (1i64 << exponent) + by);
    let positive = (0..=33).flat_map(around).filter(|value| value >> 33 == 0);
    let values: Vec<i64> = positive.flat_map(|value| [value, -value]).collect();
    for exponents in [1, 7, 32, 40] {
        let mut bytes = Vec::new();
        let mut writer = BitWriter::append(&mut bytes);
        let mut encoder = RangeEncoder::new(&mut writer);
        assert_eq!(code_numbers(&mut encoder, &values, exponents), values);
        encoder.finish();
        writer.finish().unwrap();

        let mut reader = BitReader::new(&bytes);
        let mut decoder = RangeDecoder::new(&mut reader);
        assert_eq!(code_numbers(&mut decoder, &vec![0; values.len()], exponents), values);
        assert_eq!(decoder.finish(), Ok(()));
    }
}

#[test]
fn a_decoder_past_its_data_is_exhausted_and_continues() {
    // The cases are truncated data of 1000 numbers, and empty data.
    let steps: Vec<Step> = (1..1000).map(|value| Step::Signed(value * value)).collect();
    let valid = encode(&steps, 30, 0);
    for len in [valid.len() - 10, valid.len() / 2, 5, 0] {
        let mut reader = BitReader::new(&valid[..len]);
        let mut decoder = RangeDecoder::new(&mut reader);
        let mut flat_bits = 0;
        while !decoder.is_exhausted() {
            assert!(
                flat_bits <= 8 * len as u64 + 8,
                "not more than the window and a byte past the end"
            );
            decoder.code_direct(0, 1);
            flat_bits += 1;
        }
        assert!(flat_bits + 8 >= 8 * len as u64);
        for _ in 0..1000 {
            decoder.code(true, 1000);
            assert!(decoder.is_exhausted());
        }
        assert!(matches!(decoder.finish(), Err(DecodeError::EndOfData { .. })));
        // A decoder of the same steps also reports an error at the end of its data.
        let (_, outcome) = decode(&blank(&steps), 30, 0, &valid[..len]);
        assert!(outcome.is_err(), "cut to {len}");
    }
}

#[test]
fn data_that_begin_with_32_ones_are_refused() {
    for kinds in [&[][..], &[Step::Direct(0, 32); 3], &[Step::Bit(true, u16::MAX); 9]] {
        for len in 4..20 {
            let (_, outcome) = decode(kinds, 30, 0, &vec![0xFF; len]);
            assert_eq!(outcome, Err(DecodeError::OutOfRange { at_bit: 0 }));
        }
    }
}

/// Runs the battery of `tests/battery.rs` over the range coder. For the range coder, truncated and
/// flipped data can be valid. Valid data must be the encoding of the decisions in the data, which
/// [`check_bytes`] checks.
#[test]
fn mixed_steps_survive_the_battery() {
    let mut random = Random::new(31);
    for count in [0, 1, 2, 5, 20, 100] {
        let step = |_| match random.below(5) {
            0 => Step::Bit(random.one_in(100), 655),
            1 => Step::Counted(random.one_in(3), random.below(16) as u8),
            2 => Step::Direct(random.up_to(1023), 10),
            3 => Step::Tree(random.up_to(15), 4),
            _ => Step::Signed((random.word() as i64) >> (31 + random.below(33))),
        };
        let steps: Vec<Step> = (0..count).map(step).collect();
        let valid = encode(&steps, 60, 0);
        check_steps(&steps, 60, 0);
        for len in 0..valid.len() {
            check_bytes(&steps, 60, 0, &valid[..len]);
        }
        let mut turned = valid.clone();
        for bit in 0..8 * valid.len() {
            turned[bit / 8] ^= 1 << (bit % 8);
            check_bytes(&steps, 60, 0, &turned);
            turned[bit / 8] ^= 1 << (bit % 8);
        }
        for len in (0..20).chain([31, 64, 257]) {
            let kept = random.below(valid.len() as u64 + 1) as usize;
            let noise = random.bytes(len);
            for bytes in
                [&vec![0; len], &vec![0xFF; len], &noise, &[&valid[..kept], &noise[..]].concat()]
            {
                check_bytes(&steps, 60, 0, bytes);
            }
        }
    }
}

/// These steps give these bytes on every platform and in every release.
#[test]
fn the_bytes_are_frozen() {
    let mut steps: Vec<Step> =
        (0..40).map(|index| Step::Counted(index % 7 == 3, index % 3)).collect();
    steps.extend([0, 1, -1, 2, 77, -1000, 65_536, -(1 << 33) + 1].map(Step::Signed));
    steps.extend([
        Step::Direct(0xDEAD_BEEF, 32),
        Step::Tree(9, 4),
        Step::Bit(true, 1),
        Step::Bit(false, 0xFFFF),
    ]);
    let hex: String = encode(&steps, 20, 3).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "c7ba2d1bc02f8e16928971965adcef77b5f8ff2fdc960d41ea5f2600");
}

fn corpus() -> Vec<Vec<u8>> {
    let mut random = Random::new(2019);
    let data = |(count, len): (u8, usize)| {
        [&[random.word() as u8, random.word() as u8, count], &random.bytes(len)[..]].concat()
    };
    [(0, 8), (1, 12), (4, 40), (10, 60), (20, 120), (40, 220), (80, 400), (200, 900)]
        .into_iter()
        .map(data)
        .collect()
}

#[test]
fn the_driver_runs_over_the_corpus_and_its_mutations() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/entropy");
    for (index, data) in corpus().iter().enumerate() {
        let path = directory.join(format!("{index:02}"));
        if std::env::var_os("KINEPACK_WRITE_CORPUS").is_some() {
            fs::create_dir_all(&directory).unwrap();
            fs::write(&path, data).unwrap();
        }
        assert!(fs::read(&path).unwrap() == *data, "{} is out of date", path.display());
    }
    let mut random = Random::new(1);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let data = fs::read(path).unwrap();
        driver::entropy(&data);
        for _ in 0..200 {
            let mut mutated = data.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(mutated.len() as u64) as usize;
                mutated[at] = random.word() as u8;
            }
            mutated.truncate(data.len() - random.below(4) as usize);
            driver::entropy(&mutated);
        }
    }
}
