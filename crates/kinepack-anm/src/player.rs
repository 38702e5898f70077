//! Plays an [`Anm`]: forward through its keys, or through a jump cache to any other time. See
//! `spec/ANM.md`, sections 4 to 6. While time advances, the player decodes each key once. A jump
//! back decodes twelve keys per joint and the keys from the start of the slice to the time. Without
//! caches, it decodes all keys from the start. Source: the article on these animations.

use kinepack_anim::keyed::Key;
use kinepack_anim::keyed::quantize::rotation_from_48;
use kinepack_anim::{Channel, Transform};

use crate::Anm;
use crate::window::JointWindows;

/// The position of playback, and four keys of each track. If the keys are in playback order, the
/// same keys and times give the same bits. This holds on every platform and for any order of times.
///
/// ```
/// use kinepack_anim::{Channel, Transform, keyed::VectorRange};
/// use kinepack_anm::{Anm, AnmHead, AnmPlayer, AnmTrack, elf_hash, order};
///
/// let up = VectorRange { min: [0.0; 3], max: [0.0, 10.0, 0.0] };
/// let keys = vec![(0, [0; 3]), (u16::MAX, [0, u16::MAX, 0])];
/// let keys = order(1, &[AnmTrack { joint: 0, channel: Channel::Translation, keys }])?;
/// let anm = Anm::new(AnmHead::new(2.0, 30.0, up, up), vec![elf_hash("root")], keys)?;
///
/// let anm = Anm::from_bytes(&anm.to_bytes())?;
/// let mut pose = [Transform::IDENTITY];
/// AnmPlayer::new(&anm).sample(1.0, &mut pose);
/// assert!((pose[0].translation[1] - 5.0).abs() < 0.001);
/// # Ok::<(), kinepack_anm::AnmError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AnmPlayer<'a> {
    anm: &'a Anm,
    /// One entry per joint.
    joints: Vec<JointWindows>,
    /// Index of the next key.
    cursor: usize,
    /// The time of the last sample. The value is `None` before the first sample.
    time: Option<u16>,
}

impl<'a> AnmPlayer<'a> {
    /// Creates a player that has not sampled any time yet. The player allocates 184 bytes per
    /// joint, and sampling allocates nothing.
    pub fn new(anm: &'a Anm) -> Self {
        Self { anm, joints: vec![JointWindows::at_rest(); anm.joints.len()], cursor: 0, time: None }
    }

    /// Writes the transforms of all joints at a time in seconds. Times outside of the clip give the
    /// pose of the nearer end, and NaN gives the start. The time is truncated to 65535ths of the
    /// duration. If `pose` is shorter than the number of joints, only the first joints are written.
    /// If `pose` is longer, the rest of it is unchanged.
    ///
    /// Rotations are unit quaternions. The result may be either of the two quaternions of a
    /// rotation.
    pub fn sample(&mut self, time_s: f32, pose: &mut [Transform]) {
        let time = self.anm.head.key_time(time_s);
        self.seek(time);
        let parametrization = self.anm.head.parametrization();
        for (transform, windows) in pose.iter_mut().zip(&self.joints) {
            *transform = windows.sample(time, parametrization);
        }
    }

    fn seek(&mut self, time: u16) {
        let caches = u64::from(self.anm.jump_cache_count);
        let is_far =
            |last: u16| time < last || u64::from(time - last) * caches > u64::from(u16::MAX);
        if self.time.is_none_or(is_far) {
            self.begin(time);
        }
        self.time = Some(time);
        let keys = &self.anm.keys;
        while let Some(key) = keys.get(self.cursor) {
            let windows = &mut self.joints[usize::from(key.joint)];
            let needed = match key.channel {
                Channel::Rotation => windows.rotation.needs_next_at(),
                Channel::Translation => windows.translation.needs_next_at(),
                Channel::Scale => windows.scale.needs_next_at(),
            };
            if time < needed {
                break;
            }
            let head = &self.anm.head;
            match key.channel {
                Channel::Rotation => windows.rotation.push(key.time, rotation_from_48(key.value)),
                Channel::Translation => {
                    windows.translation.push(key.time, head.translation.reconstruct(key.value));
                }
                Channel::Scale => windows.scale.push(key.time, head.scale.reconstruct(key.value)),
            }
            self.cursor += 1;
        }
    }

    /// Restarts at the jump cache for `time`, or at the start if there are no caches.
    fn begin(&mut self, time: u16) {
        let anm = self.anm;
        self.cursor = 0;
        self.joints.fill(JointWindows::at_rest());
        for ((joint, windows), indices) in
            (0..).zip(&mut self.joints).zip(anm.jump_cache(anm.slice_of(time)))
        {
            for (place, &index) in indices.iter().enumerate() {
                let index = index as usize;
                let is_own = |key: &&Key| key.joint == joint && key.channel as usize == place / 4;
                let Some(key) = anm.keys.get(index).filter(is_own) else { continue };
                self.cursor = self.cursor.max(index + 1);
                let place = place % 4;
                match key.channel {
                    Channel::Rotation => {
                        windows.rotation.set(place, key.time, rotation_from_48(key.value));
                    }
                    Channel::Translation => {
                        windows.translation.set(
                            place,
                            key.time,
                            anm.head.translation.reconstruct(key.value),
                        );
                    }
                    Channel::Scale => {
                        windows.scale.set(place, key.time, anm.head.scale.reconstruct(key.value));
                    }
                }
            }
        }
    }
}
