//! Playing allocates nothing, and reading takes memory in proportion to the length of the bytes.

#[path = "../clip/naive.rs"]
mod naive;
#[path = "../clip/small.rs"]
mod small;
#[path = "../clip/write.rs"]
mod write;

use allocation_counter::measure;
use kinepack_anim::keyed::{Cursor, KeyedClip};
use kinepack_anim::{Skeleton, Transform};
use small::small;
use write::{Parts, any_track};

use crate::clip_support::skeleton;
use crate::random::Random;

#[test]
fn sampling_allocates_nothing() {
    let mut random = Random(2);
    let tracks = (0..6).map(|joint| any_track(&mut random, joint, joint % 3, 300, 60)).collect();
    for parts in [small(), Parts::keyed(1, 7, 300, tracks)] {
        let clip = KeyedClip::from_bytes(parts.to_bytes()).unwrap();
        let mut pose = vec![Transform::IDENTITY; clip.joints()];
        let mut cursor = Cursor::with_bind_pose(clip.clone(), &pose.clone()).unwrap();
        let info = measure(|| {
            for time_s in [0.0, 0.1, 0.2, 9.9, 0.3, 2.0, 0.0, 7.0, -1.0, f32::NAN, 100.0, 9.5] {
                cursor.sample(time_s, &mut pose);
            }
            (0..900).for_each(|step| cursor.sample_at(f64::from(step) / 3.0, &mut pose));
        });
        assert_eq!(info.count_total, 0);
    }
}

#[test]
fn reading_takes_a_small_multiple_of_the_length_whatever_the_counts() {
    let bytes = small().to_bytes();
    let most = |bytes: &[u8]| 1000 + 8 * bytes.len() as u64;
    assert!(measure(|| drop(KeyedClip::from_bytes(&bytes[..]))).bytes_total < most(&bytes));
    for at in [8, 10, 12, 20] {
        for word in [100_u32, 16_384, 65_536, 4_194_304, u32::MAX] {
            let mut lying = bytes.clone();
            let width = if at < 12 { 2 } else { 4 };
            lying[at..at + width].copy_from_slice(&word.to_le_bytes()[..width]);
            let info = measure(|| drop(KeyedClip::from_bytes(&lying[..])));
            assert!(info.bytes_total < most(&bytes), "{at} {word}: {}", info.bytes_total);
        }
    }
    let mut bytes = skeleton(&mut Random(1), 9).to_bytes();
    bytes[6..8].fill(255);
    let info = measure(|| assert!(Skeleton::from_bytes(&bytes).is_err()));
    assert!(info.bytes_total < 4 * bytes.len() as u64, "{}", info.bytes_total);
}
