//! Compares the bit cursors with a naive model.

use kinepack::bits::{BitReader, BitSink, BitWriter};
use kinepack::{DecodeError, EncodeError};
use proptest::prelude::*;

use crate::runner::for_all;
use crate::support::BitModel;

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(u64, u32),
    Flag(bool),
    Align,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (any::<u64>(), 0u32..=64).prop_map(|(value, bits)| Step::Write(value, bits)),
        2 => any::<bool>().prop_map(Step::Flag),
        1 => Just(Step::Align),
    ]
}

#[test]
fn the_bit_cursors_agree_with_the_naive_model() {
    let inputs = (
        prop::collection::vec(any_step(), 0..60),
        prop::collection::vec(any::<u8>(), 0..4),
        0usize..400,
    );
    for_all(1000, inputs, |(steps, before, lent_bytes)| {
        let mut grown = before.clone();
        let mut lent = vec![0x77; lent_bytes];
        let mut model = BitModel::default();
        let mut writers = [BitWriter::append(&mut grown), BitWriter::lend(&mut lent)];
        for step in &steps {
            for writer in &mut writers {
                match *step {
                    Step::Write(value, bits) => writer.write(value, bits),
                    Step::Flag(flag) => writer.write_bool(flag),
                    Step::Align => writer.align(),
                }
            }
            match *step {
                Step::Write(value, bits) => model.write(value, bits),
                Step::Flag(flag) => model.write(u64::from(flag), 1),
                Step::Align => model.pad(),
            }
            assert!(writers.iter().all(|writer| writer.len_bits() == model.len_bits()));
        }
        let expected = model.to_bytes();
        let [to_grown, to_lent] = writers.map(BitWriter::finish);
        assert_eq!(to_grown, Ok(expected.len()));
        assert_eq!(grown, [before, expected.clone()].concat());
        if expected.len() <= lent_bytes {
            assert_eq!(to_lent, Ok(expected.len()));
            assert_eq!(lent[..expected.len()], expected);
            assert!(
                lent[expected.len()..].iter().all(|byte| *byte == 0x77),
                "bytes after the end are changed"
            );
        } else {
            let full =
                EncodeError::BufferFull { needed_bytes: expected.len(), buffer_bytes: lent_bytes };
            assert_eq!(to_lent, Err(full));
        }

        let mut reader = BitReader::new(&expected);
        for step in &steps {
            assert_eq!(reader.position_bits() + reader.left_bits(), 8 * expected.len() as u64);
            match *step {
                Step::Write(value, bits) => {
                    let value = if bits == 64 { value } else { value & ((1 << bits) - 1) };
                    assert!(bits > 56 || reader.peek(bits) == value);
                    assert_eq!(reader.read(bits), Ok(value));
                }
                Step::Flag(flag) => assert_eq!(reader.read_bool(), Ok(flag)),
                Step::Align => assert_eq!(reader.align(), Ok(())),
            }
        }
        assert_eq!(reader.finish(), Ok(()));
    });
}

#[test]
fn a_read_past_the_end_reports_position_width_and_remainder() {
    let inputs =
        (prop::collection::vec(any::<u8>(), 0..40), prop::collection::vec(0u32..=64, 1..40));
    for_all(1000, inputs, |(bytes, widths)| {
        let mut reader = BitReader::new(&bytes);
        let mut model = BitModel::of(&bytes);
        for bits in widths {
            let peeked_bits = bits.min(56);
            assert_eq!(reader.peek(peeked_bits), model.peek(peeked_bits));
            let at_bit = model.position_bits();
            let end = DecodeError::EndOfData {
                at_bit,
                wanted_bits: bits,
                left_bits: model.left_bits().min(64) as u32,
            };
            assert_eq!(reader.read(bits), model.read(bits).ok_or(end));
            assert_eq!(
                (reader.position_bits(), reader.left_bits()),
                (model.position_bits(), model.left_bits())
            );
        }
    });
}
