//! The script commands for packets of streams, without headers.

use std::fmt::Write as _;

use kinepack::schema::FieldKind;
use kinepack::stream::{Learned, StreamBase, StreamCodec, StreamLevel};
use kinepack::values::Values;

use super::hex::from_hex;
use super::script::{lines, schema};

pub(crate) fn write(script: &mut String) {
    for level in [StreamLevel::Packed, StreamLevel::Adaptive] {
        let mut packets = Packets::new(script, "stream", level);
        for words in lines(vectors!("stream.txt")) {
            let [of, number, base, lag, count, packet] = words[..] else {
                if words[0] == level.name() {
                    assert_eq!(words[1], format!("{:016x}", packets.codec.hash()));
                }
                continue;
            };
            if of == level.name() {
                assert_eq!(number, packets.held.len().to_string());
                let base = base.parse().ok();
                packets.write(script, base, lag.parse().unwrap(), count.parse().unwrap(), packet);
            }
        }
        let mut packets = Packets::new(script, "optional", level);
        for words in lines(vectors!("optional.txt")) {
            if let ["stream", of, _, packet] = words[..]
                && of == level.name()
            {
                let base = packets.held.len().checked_sub(1);
                packets.write(script, base, 1, 1, packet);
            }
        }
        assert!(packets.held.len() > 2);
    }
}

/// The packets of a codec.
struct Packets {
    name: String,
    codec: StreamCodec,
    /// The last record of each packet, and the model trained up to it.
    held: Vec<(Vec<u32>, Learned)>,
}

impl Packets {
    fn new(script: &mut String, schema_name: &str, level: StreamLevel) -> Self {
        let codec = StreamCodec::new(schema(schema_name), level).unwrap();
        let name = format!("{schema_name}_{}", level.name());
        let letters: String = codec
            .schema()
            .fields()
            .iter()
            .map(|field| match &field.kind {
                FieldKind::Floats(_) | FieldKind::Rotation(_) => 'f',
                FieldKind::Integer(limits) if limits.min() < 0 => 'i',
                _ => 'u',
            })
            .collect();
        let hash = codec.hash();
        writeln!(
            script,
            "stream_codec {name} {schema_name} {} {letters} {hash:016x}",
            level.name()
        )
        .unwrap();
        Self { name, codec, held: Vec::new() }
    }

    fn write(
        &mut self,
        script: &mut String,
        base: Option<usize>,
        lag: u16,
        count: usize,
        packet: &str,
    ) {
        let Self { name, codec, held } = self;
        let known = base.map(|base| {
            let (lanes, learned) = &held[base];
            StreamBase { lanes, learned, lag }
        });
        let mut records = vec![0; count * codec.lanes()];
        let mut learned = codec.nothing_learned();
        codec.decode(known, &mut records, &mut learned, &from_hex(packet)).unwrap();
        let schema = codec.schema();
        let (mut hash, mut writes) = (FNV_BASIS, true);
        let (mut raw, mut again) = (vec![0; codec.lanes()], vec![0; codec.lanes()]);
        for record in records.chunks_exact(codec.lanes()) {
            schema.reconstruct_raw(record, &mut raw).unwrap();
            for field in schema.fields() {
                let numbers = &raw[field.lanes()][..Values::per_entity(field)];
                hash = numbers.iter().flat_map(|word| word.to_le_bytes()).fold(hash, fnv);
            }
            // Some codes of a rotation are valid, but quantization never produces them.
            schema.quantize_raw(&raw, &mut again).unwrap();
            writes &= again == record;
        }
        let base = base.map_or("-".to_owned(), |base| format!("{name}_{base}"));
        let (number, writes) = (held.len(), u8::from(writes));
        writeln!(
            script,
            "packet {name}_{number} {name} {base} {lag} {count} {hash:016x} {writes} {packet}"
        )
        .unwrap();
        held.push((records[records.len() - codec.lanes()..].to_vec(), learned));
    }
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

fn fnv(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}
