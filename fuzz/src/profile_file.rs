//! The driver of the target `profile_file`. It takes any bytes as a profile file, and makes valid
//! profiles that training would never produce.

use std::sync::OnceLock;

use kinepack::entropy::MANTISSAS;
use kinepack::hash::Fnv1a;
use kinepack::schema::FieldKind;
use kinepack::{Codec, Level, Profile, Schema, View};

use crate::coding::{Pair, Source, adaptive_profile, bodies_schema, lined_up, slab_schema, state};
use crate::support::{at_tick, frames, schema, views};

/// A schema with profiles to damage: one with a trained model, and one without a model.
struct Bench {
    schema: Schema,
    files: [Vec<u8>; 2],
    frames: Vec<View>,
}

fn benches() -> &'static [Bench; 2] {
    static BENCHES: OnceLock<[Bench; 2]> = OnceLock::new();
    BENCHES.get_or_init(|| {
        [bodies_schema(), slab_schema()].map(|schema| {
            let trained = adaptive_profile(&schema).unwrap();
            let files = [trained, Profile::untrained(&schema)];
            let files = files.map(|profile| profile.to_plain_bytes());
            let frames = views(frames(&schema, 11, 10, 6));
            let bench = Bench { schema, files, frames };
            // This line checks that the generated files can be valid profiles.
            Profile::from_bytes(&any_file(&bench, &mut Source(&[])), &bench.schema).unwrap();
            bench
        })
    })
}

/// The offset of the version byte.
const VERSION_AT: usize = 4;

/// The version of compressed files.
const COMPRESSED: u8 = 5;

/// The number of bytes of the magic, the version and the schema's hash.
const HEAD_BYTES: usize = 13;

/// The size of the checksum at the end of a file, in bytes.
const HASH_BYTES: usize = 8;

/// Appends the FNV-1a hash of all bytes.
fn close(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut hash = Fnv1a::new();
    hash.add(&bytes);
    bytes.extend_from_slice(&hash.finish().to_le_bytes());
    bytes
}

/// Data for a corpus: files without a model and with a generated one, each whole and without its
/// header and hash.
#[allow(dead_code, reason = "used only to write a corpus")]
pub fn good_files() -> Vec<Vec<u8>> {
    let of_schema = |(nth, bench): (u8, &Bench)| {
        let made = any_file(bench, &mut Source(&[0; 8]));
        let files = [&bench.files[1], &made];
        files
            .into_iter()
            .flat_map(move |file| {
                let body = |file: &[u8]| file[HEAD_BYTES..file.len() - HASH_BYTES].to_vec();
                [
                    [&[nth], &file[..]].concat(),
                    [&[nth | 2], &body(file)[..]].concat(),
                    [&[nth | 4 | 16], &body(&compressed(file))[..]].concat(),
                ]
            })
            .collect::<Vec<_>>()
    };
    (0..).zip(benches()).flat_map(of_schema).collect()
}

/// Takes bytes as a file, as a file after a valid header, as changes of a valid file, or as choices
/// for a model. The file must be refused, or its profile must round-trip. If a codec accepts the
/// profile, the codec must work.
pub fn profile_file(data: &[u8]) {
    let mut source = Source(data);
    let control = source.byte();
    let nth = usize::from(control & 1);
    let bench = &benches()[nth];
    let [trained, untrained] = &bench.files;
    let good = if control & 8 == 0 { trained } else { untrained };
    let file = match control >> 1 & 3 {
        0 => source.0.to_vec(),
        1 => close([&good[..HEAD_BYTES], source.0].concat()),
        // The bytes are taken as compressed contents.
        2 if control & 16 != 0 => {
            let mut bytes = good[..HEAD_BYTES].to_vec();
            bytes[VERSION_AT] = COMPRESSED;
            close([&bytes, source.0].concat())
        }
        2 => {
            let mut bytes = good[..good.len() - HASH_BYTES].to_vec();
            for _ in 0..1 + source.below(8) {
                // Half of the changes are before the counters, where bytes matter most.
                let reach = if source.byte() & 1 == 0 { bytes.len().min(900) } else { bytes.len() };
                let at = source.short() as usize % reach;
                match source.byte() {
                    0..4 => drop(bytes.remove(at)),
                    4..8 => bytes.insert(at, source.byte()),
                    8..128 => bytes[at] = bytes[at].wrapping_add(source.byte()),
                    _ => bytes[at] = source.byte(),
                }
            }
            close(bytes)
        }
        _ => any_file(bench, &mut source),
    };
    let file = if control & 32 != 0 { compressed(&file) } else { file };
    let other = &benches()[1 - nth];
    let profile = match Profile::from_bytes(&file, &bench.schema) {
        Ok(profile) => profile,
        // A file for another schema is tried with that schema.
        Err(_) => {
            let _ = Profile::from_bytes(&file, &other.schema)
                .map(|profile| work(other, &profile, &mut source));
            return;
        }
    };
    assert!(Profile::from_bytes(&file, &other.schema).is_err());
    work(bench, &profile, &mut source);
}

/// Returns a file of version 5 with the contents of `file`.
fn compressed(file: &[u8]) -> Vec<u8> {
    if file.len() < HEAD_BYTES + HASH_BYTES {
        return file.to_vec();
    }
    let (head, contents) = file[..file.len() - HASH_BYTES].split_at(HEAD_BYTES);
    let contents = [&head[VERSION_AT..=VERSION_AT], contents].concat();
    let mut bytes = head.to_vec();
    bytes[VERSION_AT] = COMPRESSED;
    number(&mut bytes, contents.len() as u32);
    bytes.extend(miniz_oxide::deflate::compress_to_vec(&contents, 1));
    close(bytes)
}

/// Checks that the profile round-trips through its file. If a codec accepts the profile, snapshots
/// must round-trip, and any packet must be decoded or refused.
fn work(bench: &Bench, profile: &Profile, source: &mut Source<'_>) {
    for file in [profile.to_bytes(), profile.to_plain_bytes()] {
        assert!(Profile::from_bytes(&file, &bench.schema).as_ref() == Ok(profile));
    }
    let Bench { schema, frames, .. } = bench;
    if let Ok(codec) = Codec::new(schema.clone(), Level::PACKED, profile.clone()) {
        Pair::new(&codec).round_trip(&frames[4..5], &frames[5]);
    }
    let Ok(codec) = Codec::new(schema.clone(), Level::ADAPTIVE, profile.clone()) else { return };
    let mut pair = Pair::new(&codec);
    let packet = source.0;
    let long_before = View::from(state(schema, source, None));
    let before = View::from(state(schema, source, Some(&long_before)));
    let after = View::from(state(schema, source, Some(&before)));
    for (view, older, snapshot) in [
        (&frames[4], &[&frames[3], &frames[2]][..], &frames[5]),
        (&frames[3], &[&frames[2]], &frames[5]),
        (&before, &[&long_before, &frames[4]], &after),
        (&after, &[], &before),
    ] {
        let older: Vec<_> = older.iter().map(|view| &***view).collect();
        let known = lined_up(view.clone(), &older);
        pair.round_trip(&known, snapshot);
        pair.decode_and_return(&known, packet, snapshot.tick);
    }
    pair.part(&frames[5..], &at_tick(&frames[5], after.tick), 1);
}

/// Returns a file with a model whose parts all come from the data. The model is valid, but
/// unrealistic.
fn any_file(bench: &Bench, source: &mut Source<'_>) -> Vec<u8> {
    let schema = &bench.schema;
    let [_, untrained] = &bench.files;
    // This is the untrained file without its last two parts, which are the byte for "no model" and
    // the hash.
    let mut out = untrained[..untrained.len() - HASH_BYTES - 1].to_vec();
    number(&mut out, 1);
    let has_bodies = source.byte() & 3 != 3;
    number(&mut out, u32::from(has_bodies));
    let bands =
        if has_bodies { any_bodies(&mut out, schema.fields().len() > 2, source) } else { 0 };
    let ranges = 1 + source.below(3);
    number(&mut out, ranges as u32);
    let mut lag = 0;
    for _ in 0..ranges {
        lag += 1 + u32::from(source.byte());
        number(&mut out, lag);
    }
    let sizes = Sizes::of(schema, has_bodies.then_some(bands));
    any_rows(&mut out, 2 * ranges * sizes.rows, source);
    any_counters(&mut out, sizes.counters, source);
    close(out)
}

fn number(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends bodies from the data. Position and rotation are the first two fields, and the flags
/// follow. Returns the number of bands.
fn any_bodies(out: &mut Vec<u8>, has_flags: bool, source: &mut Source<'_>) -> usize {
    let length = |source: &mut Source<'_>| ((source.word() >> source.below(32)) % (1 << 24)) + 1;
    number(out, 0);
    number(out, 1);
    for _ in 0..2 {
        number(out, if has_flags { [0, 3, 4][source.below(3)] } else { 0 });
    }
    number(out, source.below(3) as u32);
    let floor = source.word() >> source.below(32);
    number(out, floor);
    let kinds = 1 + source.below(3);
    number(out, kinds as u32);
    for _ in 0..kinds {
        let is_solid = source.byte() & 3 != 3;
        (0..3).for_each(|_| number(out, if is_solid { length(source) } else { 0 }));
        number(out, u32::from(source.byte() & 1));
    }
    let ids: Vec<u8> = (0..source.below(4)).map(|_| source.byte()).collect();
    number(out, ids.len() as u32);
    let mut id = 0;
    for step in ids {
        number(out, id);
        number(out, (source.below(kinds)) as u32);
        id += 1 + (u32::from(step) << source.below(20));
    }
    number(out, length(source));
    number(out, length(source));
    let mut bands: Vec<u32> =
        (0..source.below(33)).map(|_| source.word() >> source.below(32)).collect();
    bands.sort_unstable();
    bands.dedup();
    number(out, bands.len() as u32);
    bands.iter().for_each(|band| number(out, *band));
    bands.len()
}

/// Appends weights of all sizes. Most rows are of one kind.
fn any_rows(out: &mut Vec<u8>, count: usize, source: &mut Source<'_>) {
    const FEATURES: usize = 16;
    const MAX_WEIGHT: i32 = 1 << 18;
    let usual = source.byte();
    let others = source.below(24);
    let mut places: Vec<usize> =
        (0..others).map(|_| usize::from(source.short()) % count.max(1)).collect();
    places.sort_unstable();
    for row in 0..count {
        let kind = if places.binary_search(&row).is_ok() { source.byte() } else { usual };
        let weights: Vec<i32> = match kind % 6 {
            0 => Vec::new(),
            1 => vec![4096],
            2 => vec![MAX_WEIGHT; FEATURES],
            3 => vec![-MAX_WEIGHT; FEATURES],
            4 => [MAX_WEIGHT, -MAX_WEIGHT].repeat(FEATURES / 2),
            _ => (0..source.below(FEATURES + 1))
                .map(|_| (source.word() as i32) >> 13 >> source.below(19))
                .collect(),
        };
        number(out, weights.len() as u32);
        weights.iter().for_each(|weight| number(out, ((weight << 1) ^ (weight >> 31)) as u32));
    }
}

/// Appends counters that are even, or as certain as possible.
fn any_counters(out: &mut Vec<u8>, count: usize, source: &mut Source<'_>) {
    let usual = source.byte();
    let probabilities = [0, u32::from(u16::MAX), 32, 1 << 15];
    let mut left = count;
    if usual & 3 == 3 {
        let [one, other] =
            [usual >> 2 & 3, usual >> 4 & 3].map(|which| probabilities[usize::from(which)]);
        for place in 0..left {
            number(out, 0);
            number(out, if place % 2 == 0 { one } else { other });
            number(out, u32::from(usual | 15));
        }
        left = 0;
    }
    let others = if left > 0 { source.below(64) } else { 0 };
    for _ in 0..others {
        let fresh = usize::from(source.byte()).pow(2) % left;
        number(out, fresh as u32);
        number(out, u32::from(source.short()));
        number(out, u32::from(source.byte()));
        left -= fresh + 1;
        if left == 0 {
            break;
        }
    }
    number(out, left as u32);
}

/// The number of rows in a set of weights, and the number of counters, as section 13.2 of
/// `spec/CODEC.md` defines them.
struct Sizes {
    rows: usize,
    counters: usize,
}

impl Sizes {
    fn of(schema: &Schema, bands: Option<usize>) -> Self {
        const RESIDUAL: usize = 4 * 29 + 16 * 4 + 4 * 29 * 14 + MANTISSAS;
        let (mut rows, mut groups) = bands.map_or((0, 0), |bands| (2 * (4 + bands) * 10, 3));
        let (mut fields, mut choices) = (0, 0);
        for field in schema.fields().iter().skip(if bands.is_some() { 2 } else { 0 }) {
            fields += 1;
            let lanes = &schema.lanes()[field.lanes()];
            match field.kind {
                FieldKind::Bool => choices += 1,
                FieldKind::Choice { .. } => choices += 1 << lanes[0].bits().min(8),
                _ => {
                    rows += 8 * lanes.len();
                    groups += 1;
                }
            }
        }
        Self {
            rows,
            counters: 1 + 1024 + 256 * (fields + 1) + 336 + 32 + 1 + choices + RESIDUAL * groups,
        }
    }
}

/// Takes any bytes as a schema file, with or without a corrected checksum. A schema that was read
/// must be writable.
pub fn schema_file(data: &[u8]) {
    let Some((&control, data)) = data.split_first() else { return };
    let file = if control & 1 == 0 { data.to_vec() } else { close(data.to_vec()) };
    let Ok(schema) = Schema::from_bytes(&file) else { return };
    assert!(schema.lanes().len() <= 4096);
    let again = Schema::from_bytes(&schema.to_bytes()).unwrap();
    assert!(again.fields() == schema.fields() && again.hash() == schema.hash());
    let _ = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema));
}

/// Schemas as files, whole and without their checksum.
#[allow(dead_code, reason = "used only to write a corpus")]
pub fn schema_corpus() -> Vec<Vec<u8>> {
    let of_schema = |schema: &Schema| {
        let file = schema.to_bytes();
        [[&[0], &file[..]].concat(), [&[1], &file[..file.len() - HASH_BYTES]].concat()]
    };
    let others = ["coarser", "breaks"].map(schema);
    benches().iter().map(|bench| &bench.schema).chain(&others).flat_map(of_schema).collect()
}
