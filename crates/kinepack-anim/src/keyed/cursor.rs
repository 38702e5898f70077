//! Plays whole poses of a clip at any time. In forward playback, a cursor reads rows and keys in
//! the order in which the clip stores them. The cursor holds the two rows around the current time,
//! and the four keys around that time for each spline. As time advances, it reads the next rows and
//! keys that it needs. To seek back or far forward, the cursor starts from an entry of the jump
//! table. See `spec/ANIM.md`, section 6. All arithmetic is `f32` in a fixed order, so a pose is the
//! same on every platform.
//!
//! Forward playback takes a few ns per joint. After [`Cursor::new`], a cursor allocates nothing.

use std::sync::Arc;

use super::quantize::rotation_from_32;
use super::{KeyedClip, RotationBits, spline, ticks_per_sample};
use crate::transform::check_pose;
use crate::{Channel, PlayError, PoseWriter, Skeleton, TrackId, Transform, time};

/// The state of one playback of a clip.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform, offline::{BuildOptions, build}};
/// # use kinepack_anim::offline::{KeyedOptions, Scheme};
/// use kinepack_anim::keyed::{Cursor, KeyedClip};
///
/// let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// let samples = (0..31).map(sample).collect();
/// let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
/// let scheme = Scheme::Keyed(KeyedOptions::default());
/// let options = BuildOptions { scheme, ..BuildOptions::default() };
/// let file = build(&raw, &options)?.clip;
/// let clip = KeyedClip::from_bytes(file.as_bytes())?;
///
/// let mut cursor = Cursor::new(clip, &skeleton)?;
/// let mut pose = [Transform::IDENTITY];
/// cursor.sample(0.5, &mut pose);
/// assert!((pose[0].translation[0] - 15.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cursor {
    clip: Arc<KeyedClip>,
    base: Vec<Transform>,
    /// The last tick of the clip.
    end: f32,
    /// Number of ticks from one sample to the next.
    ticks_per_sample: f64,
    tick: f32,
    /// The index of the next key to read.
    next: usize,
    hot: Vec<HotKeys>,
    /// The tracks whose last key has been read, but whose spline has not reached its last segment.
    closing: Vec<u16>,
    /// The index of the sample that the first of `rows` contains.
    row: Option<usize>,
    rows: [Vec<[f32; 4]>; 2],
    /// The rotations of a pose before they are normalized.
    rotations: Vec<[f32; 4]>,
}

/// The four keys of a track, and the values derived from them that stay constant between two keys.
#[derive(Clone, Copy, Debug)]
struct HotKeys {
    times: [f32; 4],
    values: [[f32; 4]; 4],
    /// The inverse of the time from the second key to the third, in ticks.
    per_tick: f32,
    tangents: [f32; 2],
    /// Whether the last value is stored negated. Only rotations are ever negated.
    is_negated: bool,
}

impl HotKeys {
    const NONE: Self = Self {
        times: [0.0; 4],
        values: [[0.0; 4]; 4],
        per_tick: 0.0,
        tangents: [0.5; 2],
        is_negated: false,
    };

    /// Negates a rotation if needed, so that its dot product with the previous value is not
    /// negative. The choice depends only on the two keys' own values, not on their current signs.
    /// Otherwise the result could depend on the path of playback if two keys are at right angles,
    /// because both signs are then valid.
    fn beside(&mut self, rotation: [f32; 4], before: &[f32; 4]) -> [f32; 4] {
        let cosine = dot(&rotation, before);
        let is_turned = if self.is_negated { cosine > 0.0 } else { cosine < 0.0 };
        self.is_negated ^= is_turned;
        if self.is_negated { rotation.map(|c| -c) } else { rotation }
    }
}

impl Cursor {
    /// Creates a cursor at the beginning of `clip`, which it shares or owns.
    ///
    /// # Errors
    /// Returns [`PlayError`] if the clip was built for another skeleton.
    pub fn new(clip: impl Into<Arc<KeyedClip>>, skeleton: &Skeleton) -> Result<Self, PlayError> {
        let clip = clip.into();
        clip.info().check_skeleton(skeleton)?;
        Self::with_bind_pose(clip, &skeleton.shared_bind_pose())
    }

    /// Creates a cursor at the beginning of `clip`, without checking a skeleton's hash. Channels
    /// that the clip does not store keep the values of `bind`.
    ///
    /// # Errors
    /// Returns [`PlayError::OtherJoints`] if `bind` has a different number of joints.
    pub fn with_bind_pose(
        clip: impl Into<Arc<KeyedClip>>,
        bind: &[Transform],
    ) -> Result<Self, PlayError> {
        let clip = clip.into();
        let base = clip.info().base_pose(bind, clip.constants().iter().copied())?;
        let samples = clip.header().samples;
        let rows = || vec![[0.0; 4]; clip.row_tracks().len()];
        let mut cursor = Self {
            base,
            end: f32::from(clip.header().end()),
            ticks_per_sample: f64::from(ticks_per_sample(samples)),
            tick: 0.0,
            next: 0,
            hot: vec![HotKeys::NONE; clip.keyed_tracks().len()],
            closing: Vec::with_capacity(clip.keyed_tracks().len()),
            row: None,
            rows: [rows(), rows()],
            rotations: Vec::with_capacity(clip.joints()),
            clip,
        };
        cursor.rewind();
        Ok(cursor)
    }

    /// Returns the clip that this cursor plays.
    pub fn clip(&self) -> &Arc<KeyedClip> {
        &self.clip
    }

    /// The pose at `time_s` seconds from the first sample. Times outside the clip give its first or
    /// last pose.
    ///
    /// # Panics
    /// Panics if the length of `pose` is not the clip's number of joints.
    #[track_caller]
    pub fn sample(&mut self, time_s: f32, pose: &mut [Transform]) {
        self.sample_at(self.position(time_s), pose);
    }

    /// The pose `position` samples after the first. At whole numbers it is the pose of a sample.
    ///
    /// # Panics
    /// Panics if the length of `pose` is not the clip's number of joints.
    #[track_caller]
    pub fn sample_at(&mut self, position: f64, pose: &mut [Transform]) {
        check_pose("the pose", pose.len(), "the clip", self.base.len());
        pose.copy_from_slice(&self.base);
        self.play(position, pose);
    }

    /// Writes the pose at a time to a [`PoseWriter`], for engines that store poses in a layout of
    /// their own. The cursor writes the static values first, and animated tracks then overwrite
    /// them.
    pub fn write<W: PoseWriter + ?Sized>(&mut self, time_s: f32, writer: &mut W) {
        writer.pose(&self.base);
        self.play(self.position(time_s), writer);
    }

    fn position(&self, time_s: f32) -> f64 {
        time::position(time_s, self.clip.rate_hz())
    }

    /// Writes the animated tracks.
    fn play<W: PoseWriter + ?Sized>(&mut self, position: f64, writer: &mut W) {
        let last = self.clip.samples() - 1;
        // NaN counts as position 0.
        let position = if position > 0.0 { position.min(last as f64) } else { 0.0 };
        if !self.rows[0].is_empty() {
            self.sample_rows(position, last, writer);
        }
        if !self.hot.is_empty() {
            self.go_to(((position * self.ticks_per_sample) as f32).min(self.end));
            self.sample_keys(writer);
        }
    }

    fn sample_keys<W: PoseWriter + ?Sized>(&mut self, writer: &mut W) {
        self.rotations.clear();
        for (hot, &TrackId { joint, channel }) in self.hot.iter().zip(self.clip.keyed_tracks()) {
            let share = ((self.tick - hot.times[1]) * hot.per_tick).clamp(0.0, 1.0);
            let value = spline::blend(spline::weights(share, hot.tangents), &hot.values);
            match channel {
                Channel::Rotation => self.rotations.push(value),
                channel => write_vector(writer, joint, channel, value),
            }
        }
        put_rotations(&mut self.rotations, self.clip.keyed_tracks(), writer);
    }

    fn sample_rows<W: PoseWriter + ?Sized>(&mut self, position: f64, last: usize, writer: &mut W) {
        let sample = (position as usize).min(last);
        if self.row != Some(sample) {
            if self.row.is_some_and(|row| row + 1 == sample) {
                self.rows.swap(0, 1);
            } else {
                self.clip.read_row(sample, &mut self.rows[0]);
            }
            self.clip.read_row((sample + 1).min(last), &mut self.rows[1]);
            self.row = Some(sample);
        }
        let share = (position - sample as f64) as f32;
        self.rotations.clear();
        let pairs = self.rows[0].iter().zip(&self.rows[1]);
        for ((from, to), &TrackId { joint, channel }) in pairs.zip(self.clip.row_tracks()) {
            match channel {
                Channel::Rotation => self.rotations.push(mix(from, &near(*to, from), share)),
                channel => write_vector(writer, joint, channel, mix(from, to, share)),
            }
        }
        put_rotations(&mut self.rotations, self.clip.row_tracks(), writer);
    }

    /// Advances the hot keys to `tick`, or jumps there.
    fn go_to(&mut self, tick: f32) {
        let slices = usize::from(self.clip.header().slices);
        let slice_ticks = self.end / slices as f32;
        if tick < self.tick || tick - self.tick > slice_ticks {
            let header = self.clip.header();
            let mut slice = ((tick / slice_ticks) as usize).min(slices - 1);
            // The division and the start of a slice may both round up past the tick. The loop then
            // goes back.
            while header.slice_start(slice) as f32 > tick {
                slice -= 1;
            }
            if tick < self.tick || header.slice_start(slice) as f32 > self.tick {
                self.jump_to(slice);
            }
        }
        self.tick = tick;
        while self.next < self.clip.key_count() {
            let key = self.clip.key(self.next);
            let track = self.clip.keyed_index(&key);
            let hot = &mut self.hot[track];
            if tick < hot.times[2] {
                break;
            }
            let [_, t1, t2, t3] = hot.times;
            let [_, v1, v2, v3] = hot.values;
            let value = self.clip.value_of(key.channel, key.value);
            let value =
                if key.channel == Channel::Rotation { hot.beside(value, &v3) } else { value };
            hot.times = [t1, t2, t3, f32::from(key.time)];
            hot.values = [v1, v2, v3, value];
            self.settle(track);
            self.next += 1;
        }
        let mut index = 0;
        while let Some(&track) = self.closing.get(index) {
            let hot = &mut self.hot[usize::from(track)];
            if tick < hot.times[2] {
                index += 1;
                continue;
            }
            // After its last key, the track holds its value.
            hot.times.copy_within(1.., 0);
            hot.values.copy_within(1.., 0);
            self.closing.swap_remove(index);
            self.settle(usize::from(track));
        }
    }

    /// Loads the first keys of all tracks.
    fn rewind(&mut self) {
        self.next = 0;
        self.closing.clear();
        self.tick = 0.0;
        for track in 0..self.hot.len() {
            let first = self.next;
            let is_last = f32::from(self.clip.key(first + 1).time) == self.end;
            let third = if is_last { first + 1 } else { first + 2 };
            self.load(track, [first, first, first + 1, third]);
            self.next = third + 1;
        }
    }

    fn jump_to(&mut self, slice: usize) {
        if slice == 0 {
            return self.rewind();
        }
        self.next = 0;
        self.closing.clear();
        self.tick = self.clip.header().slice_start(slice) as f32;
        for track in 0..self.hot.len() {
            let keys = self.clip.jump(slice, track);
            self.load(track, keys);
            self.next = self.next.max(keys[3] + 1);
        }
    }

    fn load(&mut self, track: usize, keys: [usize; 4]) {
        let keys = keys.map(|key| self.clip.key(key));
        let hot = &mut self.hot[track];
        hot.times = keys.map(|key| f32::from(key.time));
        hot.values = keys.map(|key| self.clip.value_of(key.channel, key.value));
        hot.is_negated = false;
        if keys[0].channel == Channel::Rotation {
            for index in 1..4 {
                let (value, before) = (hot.values[index], hot.values[index - 1]);
                hot.values[index] = hot.beside(value, &before);
            }
        }
        self.settle(track);
    }

    /// Updates the values that are derived from the four keys of a track.
    #[inline]
    fn settle(&mut self, track: usize) {
        let hot = &mut self.hot[track];
        let [_, begin, end, last] = hot.times;
        hot.per_tick = 1.0 / (end - begin);
        hot.tangents = self.clip.parametrization().shares(hot.times, &hot.values);
        if last == self.end && end < last {
            self.closing.push(track as u16);
        }
    }
}

impl KeyedClip {
    fn read_row(&self, sample: usize, values: &mut [[f32; 4]]) {
        let mut row = self.row(sample);
        for (value, track) in values.iter_mut().zip(self.row_tracks()) {
            let is_coarse =
                self.row_rotation_bits(usize::from(track.joint)) == RotationBits::Bits32;
            if is_coarse && track.channel == Channel::Rotation {
                let Some((bytes, rest)) = row.split_first_chunk() else { return };
                *value = rotation_from_32(u32::from_le_bytes(*bytes));
                row = rest;
            } else {
                let Some((&[a, b, c, d, e, f], rest)) = row.split_first_chunk() else { return };
                let words = [
                    u16::from_le_bytes([a, b]),
                    u16::from_le_bytes([c, d]),
                    u16::from_le_bytes([e, f]),
                ];
                *value = self.value_of(track.channel, words);
                row = rest;
            }
        }
    }
}

/// Returns `q` or its negative, whichever is nearer to `other`.
#[inline]
fn near(q: [f32; 4], other: &[f32; 4]) -> [f32; 4] {
    if dot(&q, other) < 0.0 { q.map(|c| -c) } else { q }
}

#[inline]
fn dot(a: &[f32; 4], b: &[f32; 4]) -> f32 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])
}

#[inline]
fn mix(from: &[f32; 4], to: &[f32; 4], share: f32) -> [f32; 4] {
    let mut value = [0.0; 4];
    for axis in 0..4 {
        value[axis] = from[axis] * (1.0 - share) + to[axis] * share;
    }
    value
}

/// Writes a translation or a scale.
#[inline]
fn write_vector<W: PoseWriter + ?Sized>(
    writer: &mut W,
    joint: u16,
    channel: Channel,
    [x, y, z, _]: [f32; 4],
) {
    let joint = usize::from(joint);
    if channel == Channel::Translation {
        writer.translation(joint, [x, y, z]);
    } else {
        writer.scale(joint, [x, y, z]);
    }
}

/// Normalizes the rotations of some tracks and writes them. The function processes four at a time,
/// because square roots and divisions done one by one would wait for each other.
fn put_rotations<W: PoseWriter + ?Sized>(
    rotations: &mut [[f32; 4]],
    tracks: &[TrackId],
    writer: &mut W,
) {
    let (fours, rest) = rotations.as_chunks_mut::<4>();
    for four in fours {
        let lengths = four.map(|q| dot(&q, &q)).map(f32::sqrt);
        let inverses = lengths.map(|length| 1.0 / length);
        for index in 0..4 {
            four[index] = unit(four[index], lengths[index], inverses[index]);
        }
    }
    for q in rest {
        let length = dot(q, q).sqrt();
        *q = unit(*q, length, 1.0 / length);
    }
    let tracks = tracks.iter().filter(|track| track.channel == Channel::Rotation);
    for (rotation, track) in rotations.iter().zip(tracks) {
        writer.rotation(usize::from(track.joint), *rotation);
    }
}

/// Normalizes a quaternion, given its length and the inverse of its length. A quaternion of length
/// zero becomes the identity.
#[inline]
fn unit(q: [f32; 4], length: f32, inverse: f32) -> [f32; 4] {
    if length > 0.0 { q.map(|c| c * inverse) } else { [0.0, 0.0, 0.0, 1.0] }
}
