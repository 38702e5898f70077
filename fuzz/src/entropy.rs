//! The driver of the target `entropy`. Any decisions must round-trip through the coder, and any
//! bytes must decode to some decisions or an error.

use kinepack::DecodeError;
use kinepack::bits::{BitReader, BitSink, BitWriter};
use kinepack::entropy::{
    Coder, Cost, Counter, MANTISSAS, MAX_EXPONENT, RangeDecoder, RangeEncoder, Signed, code_signed,
    code_tree,
};

/// A value and its coding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A decision at a given probability.
    Bit(bool, u16),
    /// A decision that one of 16 counters codes.
    Counted(bool, u8),
    /// A number with equal probabilities, and its bits, up to 32.
    Direct(u32, u32),
    /// A number of 0 to 4 bits that a tree of counters codes.
    Tree(u32, u32),
    /// A signed number.
    Signed(i64),
}

/// The counters that code a list of steps.
struct Model {
    limit: u8,
    counters: [Counter; 16],
    tree: [Counter; 16],
    zero: Counter,
    sign: Counter,
    exponents: [Counter; 8],
    mantissas: [Counter; MANTISSAS],
}

impl Model {
    fn new(limit: u8) -> Self {
        let counter = Counter::default();
        Self {
            limit,
            counters: [counter; 16],
            tree: [counter; 16],
            zero: counter,
            sign: counter,
            exponents: [counter; 8],
            mantissas: [counter; MANTISSAS],
        }
    }

    /// Codes the value of a step. Both sides know the step's kind.
    fn code<C: Coder>(&mut self, coder: &mut C, step: Step) -> Step {
        let limit = self.limit;
        match step {
            Step::Bit(bit, probability) => Step::Bit(coder.code(bit, probability), probability),
            Step::Counted(bit, index) => {
                Step::Counted(self.counters[usize::from(index % 16)].code(coder, bit, limit), index)
            }
            Step::Direct(value, bits) => Step::Direct(coder.code_direct(value, bits), bits),
            Step::Tree(value, bits) => {
                Step::Tree(code_tree(coder, &mut self.tree, value, bits, limit), bits)
            }
            Step::Signed(value) => {
                let model = Signed {
                    zero: &mut self.zero,
                    sign: &mut self.sign,
                    exponents: &mut self.exponents,
                    mantissas: &mut self.mantissas,
                };
                Step::Signed(code_signed(coder, value, model, limit))
            }
        }
    }
}

/// Codes all steps with counters whose limit is `limit`.
pub fn code_all<C: Coder>(coder: &mut C, steps: &[Step], limit: u8) -> Vec<Step> {
    let mut model = Model::new(limit);
    steps.iter().map(|step| model.code(coder, *step)).collect()
}

/// Encodes the steps after a prefix of `prefix_bits` ones.
pub fn encode(steps: &[Step], limit: u8, prefix_bits: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = BitWriter::append(&mut bytes);
    writer.write(u64::MAX, prefix_bits);
    let mut encoder = RangeEncoder::new(&mut writer);
    assert_eq!(code_all(&mut encoder, steps, limit), steps);
    encoder.finish();
    writer.finish().unwrap();
    bytes
}

/// Decodes steps of the kinds `kinds` from any bytes. Returns whether an encoder writes exactly
/// these bytes.
pub fn decode(
    kinds: &[Step],
    limit: u8,
    prefix_bits: u32,
    bytes: &[u8],
) -> (Vec<Step>, Result<(), DecodeError>) {
    let mut reader = BitReader::new(bytes);
    if let Err(error) = reader.read(prefix_bits) {
        return (Vec::new(), Err(error));
    }
    let mut decoder = RangeDecoder::new(&mut reader);
    let steps = code_all(&mut decoder, kinds, limit);
    let is_exhausted = decoder.is_exhausted();
    let outcome = decoder.finish();
    assert!(!is_exhausted || outcome.is_err());
    if outcome.is_ok() {
        assert_eq!(reader.left_bits(), 0);
        assert_eq!(reader.finish(), Ok(()));
    }
    (steps, outcome)
}

/// Returns the same steps, but with other values, which a decoder must not use.
pub fn blank(steps: &[Step]) -> Vec<Step> {
    let blank = |step: &Step| match *step {
        Step::Bit(bit, probability) => Step::Bit(!bit, probability),
        Step::Counted(bit, index) => Step::Counted(!bit, index),
        Step::Direct(value, bits) => Step::Direct(!value, bits),
        Step::Tree(value, bits) => Step::Tree(!value, bits),
        Step::Signed(value) => Step::Signed(1 - value.signum()),
    };
    steps.iter().map(blank).collect()
}

/// Checks that accepted bytes equal the encoding of the decoded steps, and that this encoding is
/// always accepted.
pub fn check_bytes(kinds: &[Step], limit: u8, prefix_bits: u32, bytes: &[u8]) {
    let (steps, outcome) = decode(kinds, limit, prefix_bits, bytes);
    if steps.is_empty() && outcome.is_err() {
        return;
    }
    for step in &steps {
        match *step {
            Step::Direct(value, bits) | Step::Tree(value, bits) => {
                assert!(u64::from(value) < 1 << bits);
            }
            Step::Signed(value) => assert!(value.unsigned_abs() >> MAX_EXPONENT <= 1),
            Step::Bit(..) | Step::Counted(..) => {}
        }
    }
    let mut encoded = encode(&steps, limit, prefix_bits);
    assert_eq!(decode(&blank(&steps), limit, prefix_bits, &encoded), (steps, Ok(())));
    if outcome.is_ok() {
        // The prefix is restored, because the coder did not write it.
        encoded[..prefix_bits as usize / 8].copy_from_slice(&bytes[..prefix_bits as usize / 8]);
        if !prefix_bits.is_multiple_of(8) {
            let (at, mask) = (prefix_bits as usize / 8, (1 << (prefix_bits % 8)) - 1);
            encoded[at] = encoded[at] & !mask | bytes[at] & mask;
        }
        assert_eq!(encoded, bytes);
    }
}

/// Checks that the steps survive encoding and decoding, and that their encoded length is close to
/// the estimate of `Cost`. If data are shortened, extended or changed, they must be refused, or
/// must be the valid encoding of other steps.
pub fn check_steps(steps: &[Step], limit: u8, prefix_bits: u32) {
    let valid = encode(steps, limit, prefix_bits);
    let (decoded, outcome) = decode(&blank(steps), limit, prefix_bits, &valid);
    assert_eq!((&decoded[..], outcome), (steps, Ok(())));

    let mut cost = Cost::default();
    code_all(&mut cost, steps, limit);
    let encoded_bits = (8 * valid.len()) as f64 - f64::from(prefix_bits);
    // When the range is shortest, a decision may lose up to 1/256 of the range. The end takes up to
    // 2 bytes.
    assert!(encoded_bits < cost.bits() * 1.01 + 16.0, "{encoded_bits} for {}", cost.bits());

    for len in valid.len().saturating_sub(40)..valid.len() {
        check_bytes(steps, limit, prefix_bits, &valid[..len]);
    }
    for tail in [&[0][..], &[0xFF], &[0; 9], &[0xA5; 33]] {
        check_bytes(steps, limit, prefix_bits, &[&valid, tail].concat());
    }
    let (decoded, outcome) = decode(steps, limit, prefix_bits, &[&valid[..], &[0; 5]].concat());
    assert_eq!(decoded, steps, "appended zeros do not change the steps");
    assert!(matches!(outcome, Err(DecodeError::TrailingData { left_bits: 40.. })), "{outcome:?}");
}

/// Makes choices from the input. A `Source` takes bytes from the front, and zeros after the end.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes([(); 4].map(|()| self.byte()))
    }

    fn step(&mut self) -> Step {
        let control = self.byte();
        let bit = control & 0x80 != 0;
        match control & 7 {
            0 => Step::Bit(bit, self.word() as u16),
            1 => Step::Bit(bit, [0, 1, 1 << 15, u16::MAX][usize::from(control >> 3 & 3)]),
            2 | 3 => Step::Counted(bit, control >> 3 & 15),
            4 => {
                let bits = u32::from(self.byte()) % 33;
                Step::Direct((u64::from(self.word()) & ((1 << bits) - 1)) as u32, bits)
            }
            5 => {
                let bits = u32::from(control >> 3 & 15) % 5;
                Step::Tree(u32::from(self.byte()) & ((1 << bits) - 1), bits)
            }
            6 => Step::Signed(i64::from(self.byte() as i8)),
            _ => {
                let magnitude =
                    (u64::from(self.word()) << 1 | 1) >> (control >> 3 & 15) >> (self.byte() % 20);
                Step::Signed(if bit { -(magnitude as i64) } else { magnitude as i64 })
            }
        }
    }
}

/// The first bytes are the limit of the counters, the first bit and the number of steps. The steps
/// follow, and are encoded and decoded. The rest of the data is then decoded as steps of the same
/// kinds.
pub fn entropy(data: &[u8]) {
    let mut source = Source(data);
    let [limit, prefix_bits, count] = [(); 3].map(|()| source.byte());
    let prefix_bits = u32::from(prefix_bits) % 64;
    let steps: Vec<Step> = (0..count).map(|_| source.step()).collect();
    check_steps(&steps, limit, prefix_bits);
    check_bytes(&steps, limit, prefix_bits, source.0);
}
