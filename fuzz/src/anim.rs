//! The drivers of the targets `gltf_import`, `fbx_import`, `bvh_import` and `exchange`. They take
//! any bytes as animation files.

use kinepack_anim::import::{BvhConvention, Import, ImportError, ImportOptions, bvh, fbx, gltf};
use kinepack_anim::{RawClip, exchange};

/// The maximum number of transforms. It is small, so that a file of few bytes cannot take long.
const MAX_TRANSFORMS: usize = 1 << 12;

/// Imports glTF. The lowest bit of the first byte selects whether the rest is a file, or the JSON
/// and binary chunk of a valid container. For a container, two more bytes are the length of the
/// JSON. The next two bits set the options `humanoid_names` and `all_nodes`.
pub fn gltf_import(data: &[u8]) {
    let Some((&pick, data)) = data.split_first() else { return };
    let options = ImportOptions {
        max_transforms: MAX_TRANSFORMS,
        max_bytes: 1 << 16,
        humanoid_names: pick >> 1 & 1 == 1,
        all_nodes: pick >> 2 & 1 == 1,
        ..ImportOptions::default()
    };
    let mut resolve = |_: &str, most: u64| Ok(data[..data.len().min(most as usize)].to_vec());
    match (pick % 2, data) {
        (1, [low, high, rest @ ..]) => {
            let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
            let (json, chunk) = rest.split_at(length);
            check(gltf::from_bytes("any.glb", &container(json, chunk), &options, &mut resolve));
        }
        _ => check(gltf::from_bytes("any.glb", data, &options, &mut resolve)),
    }
}

fn container(json: &[u8], chunk: &[u8]) -> Vec<u8> {
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((28 + json.len() as u32 + chunk.len() as u32).to_le_bytes());
    for (kind, data) in [(b"JSON", json), (b"BIN\0", chunk)] {
        file.extend((data.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(data);
    }
    file
}

/// Imports FBX. The first byte selects options, and the rest is a file in binary form or as text.
pub fn fbx_import(data: &[u8]) {
    let Some((&pick, file)) = data.split_first() else { return };
    let has = |bit: u8| pick >> bit & 1 == 1;
    let options = ImportOptions {
        rate_hz: has(0).then_some(10.0),
        unit_cm: has(1).then_some(2.54),
        max_transforms: MAX_TRANSFORMS,
        max_memory_bytes: has(2).then_some(1 << 16),
        all_nodes: has(3),
        ..ImportOptions::default()
    };
    check(fbx::from_bytes("any.fbx", file, &options));
}

/// Imports BVH. The first byte selects options, and the rest is text in any encoding.
pub fn bvh_import(data: &[u8]) {
    let Some((&pick, text)) = data.split_first() else { return };
    let has = |bit: u8| pick >> bit & 1 == 1;
    let options = ImportOptions {
        rate_hz: has(0).then_some(30.0),
        unit_cm: has(1).then_some(2.54),
        drop_frames: has(2).then_some(1),
        frame_rate_hz: has(3).then_some(60.0),
        convention: BvhConvention::ALL.get(usize::from(pick >> 4) % 4).copied(),
        max_transforms: MAX_TRANSFORMS,
        ..ImportOptions::default()
    };
    check(bvh::from_bytes("any.bvh", text, &options));
}

/// Reads a `.clip` file. If that succeeds, writing the clip must give the same number of bytes, and
/// the result must be readable.
pub fn exchange(data: &[u8]) {
    match exchange::read("any", data) {
        Ok(clip) => {
            check_clip(&clip);
            let mut bytes = Vec::new();
            exchange::write(&clip, &mut bytes).unwrap();
            assert_eq!(bytes.len(), data.len());
            let again = exchange::read("any", &bytes).unwrap();
            assert_eq!((again.joints(), again.samples()), (clip.joints(), clip.samples()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn check(import: Result<Import, ImportError>) {
    match import {
        Ok(import) => {
            let numbers =
                |clip: &RawClip| clip.samples() * (10 * clip.joints() + clip.curves().len());
            let all: usize = import.clips.iter().map(numbers).sum();
            assert!(all <= 10 * MAX_TRANSFORMS);
            import.clips.iter().for_each(check_clip);
            assert!(import.notes.iter().all(|note| note.to_string().contains("any.")));
            assert!(import.left_out.iter().all(|part| part.to_string().contains(&part.name)));
            for part in &import.skipped {
                assert!(part.to_string().starts_with("any."), "{part}");
                assert!(part.to_string().ends_with(" is skipped"), "{part}");
            }
            // An import that skipped parts must have at least one clip.
            assert!(import.skipped.is_empty() || !import.clips.is_empty());
        }
        Err(error) => assert!(error.to_string().starts_with("any."), "{error}"),
    }
}

fn check_clip(clip: &RawClip) {
    let (curves, markers) = (clip.curves().to_vec(), clip.markers().to_vec());
    let again = clip.clone().with_curves(curves).and_then(|clip| clip.with_markers(markers));
    assert!(again.is_ok_and(|again| again == *clip));
    for transform in clip.poses().flatten() {
        assert!(transform.is_valid());
        let length_squared: f32 = transform.rotation.iter().map(|c| c * c).sum();
        assert!((length_squared - 1.0).abs() < 1e-5);
    }
}
