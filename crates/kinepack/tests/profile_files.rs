//! Tests of profile files, compressed and not. See `spec/CODEC.md`, section 13.

use kinepack::hash::Fnv1a;
use kinepack::profile::GapCode;
use kinepack::quantize::SmallestThree;
use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, Level, Profile, Schema, SetupError};
use miniz_oxide::deflate::compress_to_vec;

use crate::support::{from_hex, hex, profile_of};

/// The same profile as a file that is not compressed, and as one that is.
const VECTORS: &str = include_str!("../../../spec/vectors/profile_file.txt");

const HEAD_BYTES: usize = 13;
const HASH_BYTES: usize = 8;

fn schema() -> Schema {
    let fields = ["a", "b", "c"]
        .map(|name| Field::new(name, FieldKind::Rotation(SmallestThree::new(9).unwrap())));
    Schema::new(fields.to_vec())
}

/// Returns the bytes of the line of the vectors that begins with `name`.
fn vector(name: &str) -> Vec<u8> {
    let line = VECTORS.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    from_hex(line.trim())
}

fn close(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut hash = Fnv1a::new();
    hash.add(&bytes);
    bytes.extend_from_slice(&hash.finish().to_le_bytes());
    bytes
}

/// Makes a compressed file that declares `length` bytes of contents.
fn file(contents: &[u8], length: usize, after: &[u8]) -> Vec<u8> {
    let mut bytes = vector("profile")[..HEAD_BYTES].to_vec();
    bytes[4] = 5;
    let mut length = length;
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend(compress_to_vec(contents, 6));
    bytes.extend_from_slice(after);
    close(bytes)
}

/// If `KINEPACK_WRITE_VECTORS` is set, writes the vectors, otherwise checks them.
#[test]
fn compressed_files_are_read_as_frozen() {
    let schema = schema();
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        let profile = Profile::untrained(&schema);
        let [plain, compressed] = [profile.to_plain_bytes(), profile.to_bytes()];
        let lines = format!("profile {}\ncompressed {}\n", hex(&plain), hex(&compressed));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors/profile_file.txt");
        std::fs::write(path, lines).unwrap();
        return;
    }
    let profile = profile_of(VECTORS, &schema);
    assert_eq!(Profile::from_bytes(&vector("compressed"), &schema).unwrap(), profile);
    assert_eq!(profile.to_plain_bytes(), vector("profile"));
    assert!(profile.to_bytes().len() <= vector("compressed").len());
    assert_eq!(profile.to_bytes()[4], 5);
}

#[test]
fn small_profiles_are_not_compressed() {
    let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
    let mut profile = Profile::untrained(&schema);
    // These bytes contain no repetitions.
    let widths_bits = [19, 8, 23, 5, 17, 12];
    profile.entities =
        GapCode { widths_bits: widths_bits.to_vec(), lengths_bits: vec![1, 2, 3, 4, 5, 6, 6] };
    profile.flags = GapCode { widths_bits: vec![], lengths_bits: vec![0] };
    assert_eq!(profile.to_bytes(), profile.to_plain_bytes());
    assert_eq!(Profile::from_bytes(&profile.to_bytes(), &schema), Ok(profile));
}

#[test]
fn malformed_compressed_files_are_refused() {
    let schema = schema();
    let plain = vector("profile");
    let mut contents = vec![plain[4]];
    contents.extend_from_slice(&plain[HEAD_BYTES..plain.len() - HASH_BYTES]);
    let read = |file: Vec<u8>| Profile::from_bytes(&file, &schema);
    let length = contents.len();
    assert!(read(file(&contents, length, &[])).is_ok());
    let bad = Err(SetupError::BadProfileFile);
    for wrong in [0, 1, length - 1, length + 1, 2 * length, (1 << 24) + 1, u32::MAX as usize] {
        assert_eq!(read(file(&contents, wrong, &[])), bad, "a length of {wrong}");
    }
    assert_eq!(read(file(&contents, length, &[0])), bad, "a byte after the data");
    assert_eq!(read(file(&[], 0, &[])), bad, "nothing");
    // The contents end early, or the data decompress to far more than any profile.
    for cut in 1..length {
        assert_eq!(read(file(&contents[..cut], cut, &[])), bad, "contents of {cut} bytes");
    }
    for version in [0, 5, 6, 255] {
        contents[0] = version;
        assert_eq!(read(file(&contents, length, &[])), bad, "version {version} in version 5");
    }
    let zeros = vec![0; (1 << 24) + 1];
    assert_eq!(read(file(&zeros, 1 << 24, &[])), bad);
    let mut cut = file(&vector("profile"), length, &[]);
    cut.truncate(cut.len() - 20);
    assert_eq!(read(close(cut)), bad, "data that end early");
}

fn number(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A few kilobytes can declare millions of items. An item is much larger in memory than in the
/// file.
#[test]
fn files_that_declare_more_than_the_schema_has_take_little_memory() {
    const MANY: usize = 1 << 20;
    let schema = schema();
    let profile = Profile::untrained(&schema);
    let plain = profile.to_plain_bytes();
    // `gaps` is the beginning of a file up to its fields: the version and the codes of gaps.
    // `fields` is the beginning of a file up to its model.
    let mut gaps = vec![1];
    for code in [&profile.entities, &profile.flags] {
        for list in [&code.widths_bits, &code.lengths_bits] {
            gaps.push(list.len() as u8);
            gaps.extend_from_slice(list);
        }
    }
    let mut fields = vec![1];
    fields.extend_from_slice(&plain[HEAD_BYTES..plain.len() - HASH_BYTES - 1]);
    assert!(fields.starts_with(&gaps));
    let bad_field = SetupError::BadFieldCode { field: 0 };
    // The cases of fields declare the number of fields, then the first field's context. The cases
    // of a model declare whether there are bodies.
    let bodies = [1, 1, 0, 1, 0, 0, 0, 0];
    for (name, begin, declared, expected) in [
        ("fields", &gaps, number(MANY), SetupError::ProfileMismatch),
        ("classes", &gaps, [vec![3, 0, 0], number(64)].concat(), bad_field.clone()),
        ("all classes", &gaps, [vec![3, 0, 0], number(MANY)].concat(), bad_field.clone()),
        ("widths", &gaps, [vec![3, 0, 0, 1, 0], number(MANY)].concat(), bad_field.clone()),
        ("states", &gaps, [vec![3, 0, 0, 0], number(66)].concat(), bad_field.clone()),
        ("all states", &gaps, [vec![3, 0, 0, 0], number(MANY)].concat(), bad_field),
        ("ranges", &fields, [vec![1, 0], number(17)].concat(), SetupError::BadProfileFile),
        ("all ranges", &fields, [vec![1, 0], number(MANY)].concat(), SetupError::BadProfileFile),
        ("body kinds", &fields, [&bodies[..], &number(MANY)].concat(), SetupError::BadProfileFile),
    ] {
        let mut contents = [&begin[..], &declared].concat();
        contents.resize(4 * MANY, 0);
        let file = file(&contents, contents.len(), &[]);
        assert!(file.len() < 8_192, "{name}: {}", file.len());
        let mut read = Ok(profile.clone());
        let memory = allocation_counter::measure(|| read = Profile::from_bytes(&file, &schema));
        assert_eq!(read, Err(expected), "{name}");
        let most = contents.len() as u64 + (1 << 18);
        assert!(memory.bytes_max < most, "{name}: {} bytes", memory.bytes_max);
    }
    // The contents are larger than those of any profile of the schema: 4 MiB, and 64 KiB for each
    // of 16 parts.
    let file = file(&vec![0; 6 * MANY], 6 * MANY, &[]);
    let memory = allocation_counter::measure(|| {
        let read = Profile::from_bytes(&file, &schema);
        assert_eq!(read, Err(SetupError::BadProfileFile));
    });
    assert!(memory.bytes_max < 1 << 20, "{} bytes", memory.bytes_max);
}

/// A codec's hash does not depend on how a profile was stored, or on the compressor.
#[test]
fn both_kinds_of_files_make_one_codec() {
    let hash = |bytes: &[u8]| {
        let profile = Profile::from_bytes(bytes, &schema()).unwrap();
        Codec::new(schema(), Level::ADAPTIVE, profile).unwrap().hash()
    };
    assert_eq!(hash(&vector("profile")), hash(&vector("compressed")));
}
