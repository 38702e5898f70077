//! Plays a clip at any time: whole poses, some joints, one. Nothing depends on what was played before, so going forwards, backwards and
//! seeking cost the same; nothing is allocated. `spec/ANIM.md`, section 12.

use super::Clip;
use super::basis::Weights;
use super::kernel::{self, Kernel, Lanes, Quaternion, Scalar, Segment};
use super::layout::GROUP;
use crate::{Channel, TrackId, Transform};

/// Takes what a clip says of a joint, as an engine keeps it.
pub trait PoseWriter {
    /// A unit quaternion, `x, y, z, w`.
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]);
    /// In cm, relative to the parent.
    fn translation(&mut self, joint: usize, translation: [f32; 3]);
    /// A factor an axis.
    fn scale(&mut self, joint: usize, scale: [f32; 3]);
}

impl PoseWriter for [Transform] {
    #[inline(always)]
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self[joint].rotation = rotation;
    }

    #[inline(always)]
    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self[joint].translation = translation;
    }

    #[inline(always)]
    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self[joint].scale = scale;
    }
}

/// A pose as a structure of arrays: one for each number of a transform, as long as there are joints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoaPose {
    /// x, y, z, w.
    pub rotations: [Vec<f32>; 4],
    /// x, y, z, in cm.
    pub translations: [Vec<f32>; 3],
    /// x, y, z.
    pub scales: [Vec<f32>; 3],
}

impl SoaPose {
    /// A pose of that many joints, all 0.
    pub fn new(joints: usize) -> Self {
        let zeros = || vec![0.0; joints];
        Self {
            rotations: std::array::from_fn(|_| zeros()),
            translations: std::array::from_fn(|_| zeros()),
            scales: std::array::from_fn(|_| zeros()),
        }
    }
}

impl PoseWriter for SoaPose {
    #[inline]
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self.rotations.iter_mut().zip(rotation).for_each(|(numbers, number)| numbers[joint] = number);
    }

    #[inline]
    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self.translations.iter_mut().zip(translation).for_each(|(numbers, number)| numbers[joint] = number);
    }

    #[inline]
    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self.scales.iter_mut().zip(scale).for_each(|(numbers, number)| numbers[joint] = number);
    }
}

/// Some joints of a skeleton: those of a level of detail, or of half a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointMask {
    words: Vec<u64>,
}

impl JointMask {
    /// Those of `joints` joints of which `is_wanted` says so.
    pub fn new(joints: usize, is_wanted: impl Fn(usize) -> bool) -> Self {
        let mut words = vec![0; joints.div_ceil(64)];
        for joint in (0..joints).filter(|joint| is_wanted(*joint)) {
            words[joint / 64] |= 1 << (joint % 64);
        }
        Self { words }
    }

    /// Whether a joint is one of them.
    #[inline]
    pub fn contains(&self, joint: usize) -> bool {
        self.words.get(joint / 64).is_some_and(|word| word >> (joint % 64) & 1 != 0)
    }
}

/// Plays one clip, for any number of characters: it holds what does not depend on the time, and no state.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Sampler, Skeleton, Transform, offline::{BuildOptions, build}};
/// let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// let samples = (0..31).map(|i| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY }).collect();
/// let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
/// let built = build(&raw, &BuildOptions::default())?;
/// let clip = built.clip.as_block().expect("block clips are the default");
///
/// let sampler = Sampler::new(clip, &skeleton.bind_pose());
/// let mut pose = skeleton.bind_pose();
/// sampler.sample(0.5, &mut pose);
/// assert!((pose[0].translation[0] - 15.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler<'a, B = Vec<u8>> {
    clip: &'a Clip<B>,
    /// The bind pose, with constants over it.
    base: Vec<Transform>,
}

/// Where a time is in a clip.
struct Place<'a> {
    segment: Segment<'a>,
    weights: Weights,
    /// Where that is not in the same segment: what is behind, and the share of the way to there.
    behind: Option<(Segment<'a>, Weights, f32)>,
}

impl<'a, B: AsRef<[u8]>> Sampler<'a, B> {
    /// A sampler of `clip`. `bind` is the pose of what the clip says nothing about.
    ///
    /// # Panics
    /// Where `bind` is not of as many joints as the clip.
    pub fn new(clip: &'a Clip<B>, bind: &[Transform]) -> Self {
        assert_eq!(bind.len(), clip.joints(), "a bind pose of another skeleton");
        let mut base = bind.to_vec();
        for (TrackId { joint, channel }, value) in clip.constants() {
            let [x, y, z, _] = value;
            let transform = &mut base[usize::from(joint)];
            match channel {
                Channel::Rotation => transform.rotation = value,
                Channel::Translation => transform.translation = [x, y, z],
                Channel::Scale => transform.scale = [x, y, z],
            }
        }
        Self { clip, base }
    }

    /// The pose at `time_s` seconds from the first sample; before it and behind the last one it stands still.
    ///
    /// # Panics
    /// Where `pose` is not of as many joints as the clip.
    pub fn sample(&self, time_s: f32, pose: &mut [Transform]) {
        self.sample_at(self.position(time_s), pose);
    }

    /// The pose at `position` samples from the first: whole numbers are the sample times.
    ///
    /// # Panics
    /// Where `pose` is not of as many joints as the clip.
    pub fn sample_at(&self, position: f64, pose: &mut [Transform]) {
        pose.copy_from_slice(&self.base);
        self.play(position, |_| true, pose);
    }

    /// Some joints of the pose at a time; the others stay as they are. What is left out costs as much as finding out where the rest stands.
    ///
    /// # Panics
    /// Where `pose` is not of as many joints as the clip.
    pub fn sample_joints(&self, time_s: f32, joints: &JointMask, pose: &mut [Transform]) {
        assert_eq!(pose.len(), self.base.len(), "a pose of another skeleton");
        for (joint, transform) in pose.iter_mut().enumerate() {
            if joints.contains(joint) {
                *transform = self.base[joint];
            }
        }
        self.play(self.position(time_s), |joint| joints.contains(joint), pose);
    }

    /// One joint at a time.
    ///
    /// # Panics
    /// Where there is no such joint.
    pub fn joint(&self, time_s: f32, joint: usize) -> Transform {
        let mut one = One { joint, transform: self.base[joint] };
        self.play(self.position(time_s), |other| other == joint, &mut one);
        one.transform
    }

    /// The pose at a time into whatever keeps it: each channel of each joint once.
    pub fn write<W: PoseWriter + ?Sized>(&self, time_s: f32, writer: &mut W) {
        for (joint, transform) in self.base.iter().enumerate() {
            writer.rotation(joint, transform.rotation);
            writer.translation(joint, transform.translation);
            writer.scale(joint, transform.scale);
        }
        self.play(self.position(time_s), |_| true, writer);
    }

    fn position(&self, time_s: f32) -> f64 {
        f64::from(time_s) * f64::from(self.clip.rate_hz())
    }

    /// Where a position is.
    #[inline]
    fn place(&self, position: f64) -> Place<'a> {
        let header = self.clip.header();
        let last = self.clip.samples() - 1;
        // A position that is no number is the first.
        let position = if position > 0.0 { position.min(last as f64) } else { 0.0 };
        let sample = position as usize;
        let share = (position - sample as f64) as f32;
        let coded = |sample: usize| if sample == header.coded_samples() { 0 } else { sample };
        let (here, next) = (coded(sample), coded(sample + usize::from(share != 0.0)));
        let segment = header.segment_of(here);
        let start = header.segment_start(segment);
        let length = header.segment_start(segment + 1) - start;
        let reader = self.clip.segment(segment);
        if share == 0.0 || (next > here && next < start + length) {
            return Place { segment: reader, weights: Weights::new(length, here - start, share), behind: None };
        }
        let behind = header.segment_of(next);
        let behind_start = header.segment_start(behind);
        let behind_length = header.segment_start(behind + 1) - behind_start;
        let behind_weights = Weights::new(behind_length, next - behind_start, 0.0);
        Place {
            segment: reader,
            weights: Weights::new(length, here - start, 0.0),
            behind: Some((self.clip.segment(behind), behind_weights, share)),
        }
    }

    fn play<W: PoseWriter + ?Sized>(&self, position: f64, is_wanted: impl Fn(usize) -> bool, writer: &mut W) {
        if !self.clip.tracks.is_empty() {
            play(Scalar, self.clip, self.place(position), is_wanted, writer);
        }
    }
}

struct One {
    joint: usize,
    transform: Transform,
}

impl PoseWriter for One {
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        if joint == self.joint {
            self.transform.rotation = rotation;
        }
    }

    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        if joint == self.joint {
            self.transform.translation = translation;
        }
    }

    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        if joint == self.joint {
            self.transform.scale = scale;
        }
    }
}

/// Group by group, in the order of the file.
#[inline(always)]
fn play<K: Kernel, B: AsRef<[u8]>, W: PoseWriter + ?Sized>(
    kernel: K,
    clip: &Clip<B>,
    mut place: Place<'_>,
    is_wanted: impl Fn(usize) -> bool,
    writer: &mut W,
) {
    let (rotations, vectors) = clip.tracks.split_at(clip.rotations);
    for (index, tracks) in rotations.chunks(GROUP).enumerate() {
        let group = clip.group(true, GROUP * index);
        let Some(steps) = steps(group, clip.header.track_bytes(true), tracks, &mut place, &is_wanted) else { continue };
        let code = clip.header.code_bytes() * tracks.len();
        let [reference, axes] = [0, 3].map(|first| {
            let p = [0, 1, 2].map(|axis| codes::<K>(&group[(first + axis) * code..], clip.header.is_fine));
            kernel::rotation(p)
        });
        let mut value = kernel::inner(axes, components(kernel, steps, &mut place.segment, &place.weights));
        if let Some((segment, weights, share)) = &mut place.behind {
            let behind: Quaternion<_> = kernel::inner(axes, components(kernel, steps, segment, weights));
            value = kernel::blend(value, behind, *share);
        }
        let numbers = kernel::product(reference, value).map(Lanes::store);
        for (lane, track) in tracks.iter().enumerate() {
            writer.rotation(usize::from(track.joint), numbers.map(|numbers| numbers[lane]));
        }
    }
    for (index, tracks) in vectors.chunks(GROUP).enumerate() {
        let group = clip.group(false, GROUP * index);
        let Some(steps) = steps(group, clip.header.track_bytes(false), tracks, &mut place, &is_wanted) else {
            continue;
        };
        let middle = [0, 1, 2].map(|axis| {
            let bytes: [u8; 4 * GROUP] = padded(&group[4 * axis * tracks.len()..]);
            K::Lanes::load(&std::array::from_fn(|lane| {
                f32::from_le_bytes([bytes[4 * lane], bytes[4 * lane + 1], bytes[4 * lane + 2], bytes[4 * lane + 3]])
            }))
        });
        let here = components(kernel, steps, &mut place.segment, &place.weights);
        let mut value = [0, 1, 2].map(|axis| middle[axis].add(here[axis]));
        if let Some((segment, weights, share)) = &mut place.behind {
            let behind = components(kernel, steps, segment, weights);
            let (near, far) = (K::Lanes::splat(1.0 - *share), K::Lanes::splat(*share));
            value = [0, 1, 2].map(|axis| value[axis].mul(near).add(middle[axis].add(behind[axis]).mul(far)));
        }
        let numbers = value.map(Lanes::store);
        for (lane, track) in tracks.iter().enumerate() {
            let vector = numbers.map(|numbers| numbers[lane]);
            match track.channel {
                Channel::Scale => writer.scale(usize::from(track.joint), vector),
                _ => writer.translation(usize::from(track.joint), vector),
            }
        }
    }
}

/// The steps of a group; nothing where none of its tracks is wanted, and then it goes behind the group.
#[inline(always)]
fn steps<'a>(
    group: &'a [u8],
    track_bytes: usize,
    tracks: &[TrackId],
    place: &mut Place<'_>,
    is_wanted: impl Fn(usize) -> bool,
) -> Option<&'a [u8]> {
    let steps = &group[(track_bytes - 3) * tracks.len()..track_bytes * tracks.len()];
    if tracks.iter().any(|track| is_wanted(usize::from(track.joint))) {
        return Some(steps);
    }
    let live = steps.iter().filter(|step| **step != 0).count();
    place.segment.skip(live, place.weights.length);
    if let Some((segment, weights, _)) = &mut place.behind {
        segment.skip(live, weights.length);
    }
    None
}

/// The components of the tracks of a group.
#[inline(always)]
fn components<K: Kernel>(kernel: K, steps: &[u8], segment: &mut Segment<'_>, weights: &Weights) -> [K::Lanes; 3] {
    let (count, step) = (steps.len() / 3, segment.step());
    [0, 1, 2].map(|axis| {
        let steps = &steps[axis * count..][..count];
        kernel.sums(steps, segment, weights).mul(kernel::scales::<K>(steps, step))
    })
}

/// A number of references or axes of a group.
#[inline(always)]
fn codes<K: Kernel>(bytes: &[u8], is_fine: bool) -> K::Lanes {
    if is_fine { kernel::unpack_fine(&padded(bytes)) } else { kernel::unpack(&padded(bytes)) }
}

/// The first bytes of some; zeros where there are not as many.
#[inline(always)]
fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    match bytes.first_chunk() {
        Some(bytes) => *bytes,
        None => {
            let mut padded = [0; N];
            padded[..bytes.len()].copy_from_slice(bytes);
            padded
        }
    }
}
