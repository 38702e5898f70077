//! The driver of the target `anm`. It takes any bytes as an `r3d2canm` file.

use kinepack_anim::Transform;
use kinepack_anm::{Anm, AnmPlayer};

/// The times to play, as shares of the duration. They go forwards, backwards, and beyond both ends.
const SHARES: [f32; 12] = [0.0, 0.1, 0.11, 0.5, 0.9, 1.0, 0.6, 0.05, f32::NAN, 2.0, -1.0, 0.3];

/// Refuses the file or plays it. All played values must be finite, and writing the file must give
/// the same bytes.
pub fn anm(data: &[u8]) {
    let Ok(anm) = Anm::from_bytes(data) else { return };
    let mut player = AnmPlayer::new(&anm);
    let mut pose = vec![Transform::IDENTITY; anm.joints().len()];
    for share in SHARES {
        player.sample(anm.head().duration_s * share, &mut pose);
        for transform in &pose {
            assert!(transform.is_valid(), "{transform:?}");
        }
    }
    let written = anm.to_bytes();
    let again = Anm::from_bytes(&written).unwrap();
    assert!(again == anm && again.to_bytes() == written);

    let count = anm.jump_cache_count().min(9) + 1;
    if let Ok(jumping) = anm.with_jump_caches(count) {
        AnmPlayer::new(&jumping).sample(jumping.head().duration_s / 2.0, &mut pose);
        assert!(Anm::from_bytes(&jumping.to_bytes()).unwrap() == jumping);
    }
}
