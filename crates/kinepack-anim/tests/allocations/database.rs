//! Measures the memory that opening a database and reading a clip take.

#[path = "../database/made.rs"]
mod made;
#[path = "../database/reader.rs"]
mod reader;

use allocation_counter::measure;
use kinepack_anim::ClipDatabase;
use made::made;
use reader::{fnv, head_bytes};

#[test]
fn opening_allocates_nothing_for_a_clip() {
    let made = made(3, 20, true);
    let allocated = [10, 1000].map(|clips| {
        let mut writer = made.writer();
        let file = &made.clips[0].1;
        (0..clips).for_each(|clip| writer.add(format!("clip {clip}"), &file[..]).unwrap());
        let bytes = writer.to_bytes();
        measure(|| {
            let database = ClipDatabase::from_bytes(&bytes[..]).unwrap();
            assert_eq!(
                database.find("clip 7").map(|at| database.entry(at).bytes),
                Some(file.len())
            );
            assert_eq!(database.starting_with("clip").len(), clips);
        })
    });
    assert_eq!(allocated[0].bytes_total, allocated[1].bytes_total);
    assert!(allocated[0].bytes_total < 4000, "{allocated:?}");
}

#[test]
fn a_clip_shares_the_bytes_of_the_database() {
    let made = made(3, 400, false);
    let bytes = made.to_bytes();
    let database = ClipDatabase::from_bytes(bytes).unwrap();
    let length = database.entry(0).bytes;
    let reading = measure(|| drop(database.clip(0).unwrap()));
    assert!(reading.bytes_total < length as u64 / 4, "{reading:?} of {length}");
    let clip = database.clip(0).unwrap();
    assert!(clip.memory_bytes() > length);
    assert_eq!(format!("{database:?}"), "ClipDatabase { clips: 4, .. }");
}

/// The numbers of the header cannot make a reader allocate more than the file's length allows.
#[test]
fn false_lengths_reserve_no_memory() {
    let bytes = made(2, 12, true).to_bytes();
    for at in [8, 12, 16, 20] {
        for number in [0, 1, 0xffff, 0xff_ffff, u32::MAX] {
            let mut changed = bytes.clone();
            changed[at..at + 4].copy_from_slice(&number.to_le_bytes());
            if let Some(head) = head_bytes(&changed).filter(|head| head + 8 <= changed.len()) {
                let hash = fnv(&changed[..head]).to_le_bytes();
                changed[head..head + 8].copy_from_slice(&hash);
            }
            let reading = measure(|| drop(ClipDatabase::from_bytes(&changed[..])));
            assert!(reading.bytes_total < 2000 + 8 * bytes.len() as u64, "{at} {number}");
        }
    }
}
