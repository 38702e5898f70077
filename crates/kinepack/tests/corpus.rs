//! Runs the drivers of the fuzz targets over the stored corpus and its mutations. These tests
//! replace a few seconds of `cargo +nightly fuzz run`, without the fuzzer.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack corpus::` writes the corpus again.

use std::fs;
use std::path::PathBuf;

use kinepack::bits::BitWriter;
use kinepack::rle::{encode_difference, write_sparse_difference};

use crate::drivers;
use crate::groups_driver as groups;
use crate::profile_file;
use crate::records;
use crate::streams;
use crate::support::Random;

/// The number of mutations of each stored file.
const MUTATIONS: usize = 200;

fn directory(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// Runs a driver over the stored files of a target in the order of their names, and over mutations
/// of each file.
fn run(target: &str, driver: fn(&[u8])) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory(target)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no corpus for {target}");
    let mut random = Random::new(paths.len() as u64);
    for path in paths {
        let data = fs::read(&path).unwrap();
        driver(&data);
        for _ in 0..MUTATIONS {
            driver(&mutated(&data, &mut random));
        }
    }
}

/// Flips a few bits, sets bytes, and cuts out or doubles pieces of `data`.
fn mutated(data: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = data.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(data.len() as u64) as usize;
        let piece = at..data.len().min(at + 1 + random.below(8) as usize);
        match random.below(6) {
            0 => data.truncate(at),
            1 => drop(data.drain(piece)),
            2 => data.extend_from_within(piece),
            3 if at < data.len() => data[at] = random.word() as u8,
            _ if at < data.len() => data[at] ^= 1 << random.below(8),
            _ => data.push(random.word() as u8),
        }
    }
    data
}

#[test]
fn packets_and_their_mutations_are_snapshots_or_errors() {
    run("snapshot", drivers::snapshot);
}

#[test]
fn any_two_snapshots_come_back() {
    run("encode_roundtrip", drivers::encode_roundtrip);
}

#[test]
fn any_bytes_are_groups_or_errors() {
    run("group", groups::group);
}

#[test]
fn profiles_are_refused_or_work() {
    run("profile", drivers::profile);
}

#[test]
fn schema_files_are_refused_or_work() {
    run("schema_file", profile_file::schema_file);
}

#[test]
fn profile_files_are_refused_or_work() {
    run("profile_file", profile_file::profile_file);
}

#[test]
fn values_against_a_baseline_are_values_or_errors() {
    run("value", drivers::value);
}

#[test]
fn runs_and_sparse_bytes_are_bytes_or_errors() {
    run("rle", streams::rle);
}

#[test]
fn magnitudes_are_numbers_or_errors() {
    run("magnitude", streams::magnitude);
}

#[test]
fn packets_of_a_stream_are_records_or_errors() {
    run("records", records::records);
}

#[test]
fn the_bit_cursors_agree_with_the_naive_model() {
    run("bits", drivers::bits);
}

#[test]
fn the_corpus_is_up_to_date() {
    let mut random = Random::new(2015);
    let mut of_length =
        |len: usize, count: usize| (0..count).map(|_| random.bytes(len)).collect::<Vec<_>>();
    // Codecs are numbered level by level, with four profiles per level; the levels that predict
    // start at 128. Each schema gets some codecs of every kind.
    let packets = (0..11).flat_map(|schema| {
        drivers::snapshot_corpus(
            schema,
            [3, 16, 31, 39, 44, 46, 128, 130, 131, 132, 133, 137, 142, 152].into_iter(),
        )
    });
    check("snapshot", packets.collect());
    check("encode_roundtrip", [of_length(40, 6), of_length(300, 6), of_length(1200, 4)].concat());
    check("profile", [of_length(60, 6), of_length(400, 6), of_length(1500, 4)].concat());
    check(
        "value",
        of_length(40, 16)
            .into_iter()
            .zip(0..)
            .map(|(data, kind)| [&[kind], &data[..]].concat())
            .collect(),
    );
    check(
        "bits",
        [8, 20, 60]
            .into_iter()
            .flat_map(|steps| {
                of_length(200, 4).into_iter().map(move |data| [&[steps], &data[..]].concat())
            })
            .collect(),
    );
    // The first byte of a file selects its schema and kind; the other bytes are its content.
    let lengths = [60, 60, 400, 400, 60, 60, 200, 1000];
    let files = (0..8).flat_map(|kind: u8| {
        let data = of_length(lengths[usize::from(kind)], 2).into_iter();
        data.map(|data| [&[kind], &data[..]].concat()).collect::<Vec<_>>()
    });
    check("schema_file", profile_file::schema_corpus());
    check("profile_file", files.chain(profile_file::good_files()).collect());
    let bases = [(0, 25), (20, 25), (60, 2), (40, 255)];
    check(
        "rle",
        bases
            .into_iter()
            .flat_map(|(base, limit)| rle_files(base, limit, &of_length(120, 1)[0]))
            .collect(),
    );
    check("records", records::records_corpus());
    check("group", groups::group_corpus());
    check(
        "magnitude",
        (0..16).zip(of_length(60, 16)).map(|(form, data)| magnitude_file(form, &data)).collect(),
    );
}

/// Makes a base and bytes of few different values, so that there are runs: unchanged, as runs, and
/// as sparse bytes.
fn rle_files(base_bytes: u8, limit: u8, data: &[u8]) -> [Vec<u8>; 3] {
    let data: Vec<u8> =
        data.iter().map(|byte| if byte % 3 == 0 { *byte } else { byte % 2 }).collect();
    let (base, bytes) = data.split_at(usize::from(base_bytes));
    let [mut runs, mut sparse] = [const { Vec::new() }; 2];
    encode_difference(base, bytes, &mut runs);
    let mut writer = BitWriter::append(&mut sparse);
    write_sparse_difference(&mut writer, base, bytes);
    writer.finish().unwrap();
    [bytes, &runs, &sparse].map(|sent| [&[base_bytes, limit], base, sent].concat())
}

/// Makes a file of a form, a baseline, and bits. The baseline has codes if `form` is below 8.
fn magnitude_file(form: u8, data: &[u8]) -> Vec<u8> {
    let (baseline, bits) = data.split_at(12);
    let baseline = if form < 8 {
        [50.0f32, 0.5, -7.0].map(f32::to_le_bytes).concat()
    } else {
        baseline.to_vec()
    };
    [&[form], &baseline[..], bits].concat()
}

/// Compares the stored files with their expected content, or writes them. The folder may contain
/// other files that fuzzing found.
fn check(target: &str, files: Vec<Vec<u8>>) {
    let directory = directory(target);
    for (index, data) in files.iter().enumerate() {
        let path = directory.join(format!("{index:02}"));
        if std::env::var_os("KINEPACK_WRITE_CORPUS").is_some() {
            fs::create_dir_all(&directory).unwrap();
            fs::write(&path, data).unwrap();
        }
        assert!(fs::read(&path).unwrap() == *data, "{} is out of date", path.display());
    }
}
