//! Writes and compares the stored corpora of fuzz targets, and runs the drivers over them.

use std::fs;
use std::path::PathBuf;

fn directory(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// Checks that the stored files of `target` equal `files`. With `KINEPACK_WRITE_CORPUS`, writes
/// them first.
pub(crate) fn compare(target: &str, files: &[Vec<u8>]) {
    for (index, data) in files.iter().enumerate() {
        let path = directory(target).join(format!("{index:02}"));
        if std::env::var_os("KINEPACK_WRITE_CORPUS").is_some() {
            fs::create_dir_all(directory(target)).unwrap();
            fs::write(&path, data).unwrap();
        }
        assert!(fs::read(&path).unwrap() == *data, "{} is out of date", path.display());
    }
}

/// Runs a target's driver over every prefix of each stored file.
pub(crate) fn drive_beginnings(target: &str, drive: impl Fn(&[u8])) {
    for entry in fs::read_dir(directory(target)).unwrap() {
        let data = fs::read(entry.unwrap().path()).unwrap();
        (0..=data.len()).for_each(|end| drive(&data[..end]));
    }
}
