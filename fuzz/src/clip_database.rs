//! The driver of the target `clip_database`. The first byte selects whether to use the rest
//! unchanged, or to correct the database's hash first. With a correct hash, the fuzzer reaches the
//! code after the check of the hash.

use kinepack::hash::Fnv1a;
use kinepack_anim::database::{ClipDatabase, DatabaseWriter};
use kinepack_anim::{AnyClip, Sampler};

/// Tries to open the bytes as a database. If that succeeds, finds each clip by its name and tries
/// to read it. If all clips are valid, a writer must reproduce the same bytes.
pub fn clip_database(data: &[u8]) {
    let Some((selector, bytes)) = data.split_first() else { return };
    let bytes = if selector & 1 == 0 { bytes.to_vec() } else { sealed(bytes) };
    let Ok(database) = ClipDatabase::from_bytes(&bytes[..]) else { return };
    let mut writer = match database.rig() {
        Some(rig) => DatabaseWriter::with_rig(database.skeleton(), rig).unwrap(),
        None => DatabaseWriter::new(database.skeleton()),
    };
    for (index, entry) in database.entries().enumerate() {
        assert_eq!(database.find(entry.name), Some(index));
        assert!(database.starting_with(entry.name).contains(&index));
        let (file, clip) = (database.file(index), database.clip(index));
        // A clip that its entry describes wrongly is valid without the database.
        if let Ok(clip) = clip {
            let alone = match database.rig() {
                Some(rig) => AnyClip::with_rig(file, rig),
                None => AnyClip::from_bytes(file),
            };
            assert!(alone.unwrap().as_bytes() == clip.as_bytes());
            assert_eq!((clip.samples(), clip.rate_hz()), (entry.samples, entry.rate_hz));
            let mut pose = database.skeleton().bind_pose();
            let middle_s = 0.5 * clip.duration_s();
            Sampler::new(clip, database.skeleton()).unwrap().sample(middle_s, &mut pose);
            writer.add(entry.name, file).unwrap();
        }
    }
    assert!(writer.len() < database.len() || writer.to_bytes() == bytes);
}

/// Returns the bytes with a correct hash of the header.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let number = |at: usize| {
        let number = bytes.get(at..).and_then(<[u8]>::first_chunk);
        number.map(|number| u64::from(u32::from_le_bytes(*number)))
    };
    let lengths = [number(8).map(|clips| 24 * clips), number(12), number(16), number(20)];
    let Some(head) = lengths.into_iter().sum::<Option<u64>>() else { return bytes };
    let Ok(head) = usize::try_from(24 + head) else { return bytes };
    if head.checked_add(8).is_some_and(|end| end <= bytes.len()) {
        let mut hash = Fnv1a::new();
        hash.add(&bytes[..head]);
        bytes[head..head + 8].copy_from_slice(&hash.finish().to_le_bytes());
    }
    bytes
}
