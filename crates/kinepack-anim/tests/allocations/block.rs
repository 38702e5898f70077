//! Sampling allocates nothing, and reading allocates memory in proportion to the length of the
//! bytes.

#[path = "../block/naive/mod.rs"]
pub(crate) mod naive;
#[path = "../block/small.rs"]
mod small;
#[path = "../block/waves.rs"]
mod waves;
#[path = "../block/widths.rs"]
mod widths;
#[path = "../block/write.rs"]
mod write;

use allocation_counter::measure;
use kinepack_anim::{Clip, Instructions, JointMask, Sampler, SoaPose, Transform, sample_batch};
use small::small;
use waves::clips;
use write::{ANIMATED, Parts, Track, any_parts, kinds, sealed};

use crate::random::Random;

#[test]
fn sampling_allocates_nothing() {
    let mut random = Random(2);
    let curves = Parts { curves: 70, ..Parts::new(16, 80, vec![kinds(ANIMATED, 0, 0); 9]) };
    let parts = [any_parts(&mut random, 30, 100), any_parts(&mut random, 9, 65)];
    for parts in [small(), curves.filled(&mut random)].into_iter().chain(parts) {
        let clip = Clip::from_bytes(parts.to_bytes()).unwrap();
        let mut pose = vec![Transform::IDENTITY; clip.joints()];
        let mut soa = SoaPose::new(clip.joints());
        let sampler = Sampler::with_bind_pose(clip.clone(), &pose).unwrap();
        let mask = JointMask::new(clip.joints(), |joint| joint % 2 == 0);
        let mut curves = vec![0.0; clip.curves()];
        let info = measure(|| {
            for time_s in [0.0, 0.1, 0.2, 9.9, 0.3, 2.0, -1.0, f32::NAN, f32::INFINITY, 100.0, 1.5]
            {
                sampler.sample(time_s, &mut pose);
                sampler.curves(time_s, &mut curves);
                sampler.sample_with_curves(time_s, &mut pose, &mut curves);
                std::hint::black_box(clip.markers_between(0.0, time_s).count());
                sampler.sample_joints(time_s, &mask, &mut pose);
                sampler.write(time_s, &mut soa);
                std::hint::black_box(sampler.joint(time_s, 1));
            }
            (0..300).for_each(|step| sampler.sample_at(f64::from(step) / 3.0, &mut pose));
        });
        assert_eq!(info.count_total, 0);
    }
}

#[test]
fn sampling_with_any_instructions_allocates_nothing() {
    for (raw, clip) in clips() {
        let bind = raw.skeleton().bind_pose();
        let mask = JointMask::new(raw.joints(), |joint| joint % 2 == 0);
        let mut pose = bind.clone();
        let mut soa = SoaPose::new(raw.joints());
        for set in Instructions::ALL.into_iter().filter(|set| set.is_available()) {
            let sampler =
                Sampler::with_bind_pose(clip.clone(), &bind).unwrap().with_instructions(set);
            let info = measure(|| {
                for time_s in [0.0, 0.01, 0.27, 0.5, 1.3, 0.1] {
                    sampler.sample(time_s, &mut pose);
                    sampler.sample_joints(time_s, &mask, &mut pose);
                    sampler.write(time_s, &mut soa);
                    sampler.joint(time_s, raw.joints() - 1);
                    sample_batch(&[(&sampler, time_s)], &mut pose);
                }
            });
            assert_eq!(info.count_total, 0);
        }
    }
}

#[test]
fn false_counts_do_not_make_reading_allocate_more() {
    // A byte of kinds becomes three bytes, in a list that grows by doubling. The nine or more bytes
    // of a track become four.
    let most = |bytes: &[u8]| 1000 + 12 * bytes.len() as u64;
    let bytes = small().to_bytes();
    assert!(
        measure(|| drop(Clip::from_bytes(&bytes[..]))).bytes_total < 1000 + 8 * bytes.len() as u64
    );
    for (at, width) in [(6, 2), (8, 4)] {
        for word in [100_u32, 16_384, 65_535, 4_194_304, u32::MAX] {
            for flags in [0, 0x30, 0x02, 0x3e] {
                let mut lying = bytes.clone();
                lying[5] = flags;
                lying[at..at + width].copy_from_slice(&word.to_le_bytes()[..width]);
                let lying = sealed(lying);
                let info = measure(|| drop(Clip::from_bytes(&lying[..])));
                assert!(info.bytes_total < most(&lying), "{at} {word}: {}", info.bytes_total);
            }
        }
    }
    let mut many = Parts::new(32, 4_194_304, vec![kinds(ANIMATED, ANIMATED, ANIMATED); 16_384]);
    for tracks in [0, 49_152] {
        // The first clip has no tracks, and the second has all tracks but no segments.
        many.rotations.resize(tracks / 3, Track::default());
        many.vectors.resize(2 * tracks / 3, Track::default());
        let bytes = many.to_bytes();
        let info = measure(|| assert!(Clip::from_bytes(&bytes[..]).is_err()));
        assert!(info.bytes_total < most(&bytes), "{} of {}", info.bytes_total, bytes.len());
    }
}
