//! Reads and writes the stored corpora of fuzz targets, for the corpus tests of this crate and of
//! `cube-data`.

use std::fs;
use std::path::PathBuf;

fn directory(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// Checks that the first stored files of a target have these bytes, or writes the files if
/// `KINEPACK_WRITE_CORPUS` is set.
pub(crate) fn check(target: &str, files: Vec<Vec<u8>>) {
    for (index, data) in files.into_iter().enumerate() {
        let path = directory(target).join(format!("{index:02}"));
        if std::env::var_os("KINEPACK_WRITE_CORPUS").is_some() {
            fs::create_dir_all(directory(target)).unwrap();
            fs::write(&path, &data).unwrap();
        }
        assert!(fs::read(&path).unwrap() == data, "{} is out of date", path.display());
    }
}

/// Runs a driver over each stored file and its prefixes.
pub(crate) fn run(target: &str, driver: fn(&[u8])) {
    for entry in fs::read_dir(directory(target)).unwrap() {
        let data = fs::read(entry.unwrap().path()).unwrap();
        for end in (0..data.len()).step_by(1 + data.len() / 200).chain([data.len()]) {
            driver(&data[..end]);
        }
    }
}
