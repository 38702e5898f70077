//! Reading FBX files takes no more memory than the options allow.

#![cfg(feature = "import")]

#[path = "../import/fbx_scenes.rs"]
mod fbx_scenes;

use allocation_counter::measure;
use fbx_scenes::{bones, scene};
use kinepack_anim::import::fbx::from_bytes;
use kinepack_anim::import::{ImportError, ImportOptions};

#[test]
fn memory_stays_within_the_limit() {
    let (mut refused, mut read) = (0, 0);
    for (scene, limits) in [(scene(0.1), 10..22), (scene(600.0), 16..24), (bones(500), 16..26)] {
        let file = scene.binary();
        for bits in limits {
            let limit = (file.len() as u64).max(1 << bits);
            let options =
                ImportOptions { max_memory_bytes: Some(limit), ..ImportOptions::default() };
            let mut result = None;
            let measured = measure(|| result = Some(from_bytes("a.fbx", &file, &options)));
            // The file was loaded before the measurement, and the options of ufbx are not part of
            // the limit.
            let most = limit - file.len() as u64 + (1 << 14);
            assert!(measured.bytes_max <= most, "{} bytes, {most} allowed", measured.bytes_max);
            match result.unwrap() {
                Ok(import) => read += import.clips.len(),
                Err(ImportError::TooMuchMemory { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(refused > 5 && read > 5, "{refused} {read}");
}
