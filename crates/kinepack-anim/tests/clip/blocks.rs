//! Tests the reports of a block clip about its bytes.

use kinepack_anim::block::{Clip, Kind};
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{Channel, RawClip};

use crate::clip_support::smooth_clip;

fn block_clip(raw: &RawClip, precision_cm: f64) -> Clip {
    let built = build(raw, &BuildOptions { precision_cm, ..BuildOptions::default() }).unwrap();
    Clip::clone(built.clip.as_block().unwrap())
}

#[test]
fn the_bits_of_tracks_add_up_to_their_parts() {
    for (seed, joints, samples, precision_cm) in
        [(0, 3, 40, 0.1), (1, 12, 90, 0.01), (2, 30, 333, 0.1), (3, 1, 2, 1.0)]
    {
        let clip = block_clip(&smooth_clip(seed, joints, samples), precision_cm);
        let bits = clip.bits_by_track();
        let tracks: Vec<_> = bits.iter().map(|(track, _)| *track).collect();
        assert!(clip.animated_tracks().eq(tracks.iter().copied()), "{tracks:?}");
        let parts = clip.bytes_by_part();
        let of = |name: &str| parts.iter().find(|(part, _)| *part == name).unwrap().1;
        let most = 8 * (of("references, axes, steps") + of("widths") + of("coefficients"));
        let all: usize = bits.iter().map(|(_, bits)| bits).sum();
        // The last byte of each segment need not be full.
        assert!(all <= most && most - all <= 7 * clip.segments(), "{seed}: {all} {most}");
        assert!(clip.live_components() <= 3 * tracks.len());
    }
}

#[test]
fn a_clip_that_stands_still_has_no_tracks() {
    let raw = smooth_clip(1, 5, 1);
    let clip = block_clip(&raw, 0.1);
    assert_eq!((clip.bits_by_track(), clip.live_components(), clip.segments()), (Vec::new(), 0, 0));
    let kinds = [Kind::Default, Kind::Constant, Kind::Animated];
    let counts = kinds
        .map(|kind| Channel::ALL.map(|channel| clip.count_of(channel, kind)).iter().sum::<usize>());
    assert_eq!((counts.iter().sum::<usize>(), counts[2]), (3 * raw.joints(), 0));
}
