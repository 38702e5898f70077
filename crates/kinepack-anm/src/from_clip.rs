//! Converts a compressed [`KeyedClip`] to an [`Anm`] that plays the same motion. Keys stay keys,
//! each row of samples becomes a key per track, and a static track becomes a single key.
//! Translations and scales are quantized again, each over one range that also includes the bind
//! pose and the constants. The rotations of keys keep their bits. The conversion sorts the keys
//! once. If there are rows, it also plays one pose per sample.
//!
//! Times are truncated and not rounded, because players truncate the time that they sample. For
//! each key, the exporter computes the truncated time at which a player samples the key's position.
//! The key gets exactly that time, so the player shows the key's exact value at its position.
//!
//! Some rotations get more keys, because the two players choose signs differently. A clip's player
//! gives a quaternion the sign that is nearer to the previous key. A file's player gives it the
//! sign that is nearer to P0. The signs differ if a joint turns by more than 180° from P0 to P2 or
//! P3. Such a track gets a key at every sample and, if that is not enough, more keys between
//! samples. All other tracks get no extra keys, so they play the same splines between keys.

use kinepack_anim::keyed::quantize::{VectorRange, rotation_48, rotation_from_48};
use kinepack_anim::keyed::{Cursor, KeyedClip, Parametrization};
use kinepack_anim::{Channel, Skeleton, TrackId, Transform};

use crate::order::END;
use crate::window::dot;
use crate::{Anm, AnmError, AnmHead, AnmTrack, elf_hash, order};

/// The maximum number of rows. A file has this number of key times, and each row needs a key time
/// of its own.
const MAX_ROWS: usize = 1 << 16;

/// If the dot product of two rotations is below this, two players that add in different orders may
/// choose different signs.
const SAME_SIDE: f32 = 1e-4;

impl Anm {
    /// Creates a file from a clip whose joints are those of `skeleton`, with `jump_caches` jump
    /// caches. With one cache, players can restart. With several caches, players can seek. Each
    /// cache costs 24 or 48 bytes per joint.
    ///
    /// At the sample times, the file plays the same as the clip, except for quantization. The error
    /// of vectors, and of rotations in 32-bit rows, is at most half a step. Between keys, the error
    /// also includes the joint's movement in a 65535th of the duration. Between the samples of
    /// rows, the file plays a spline, while the clip plays straight lines.
    ///
    /// Joint names are hashed by [`elf_hash`]. If no joint has a name, as in `.clip` files, the
    /// name of a joint is its index in decimal.
    ///
    /// # Errors
    /// Returns [`AnmError`] if the skeleton is not the clip's, two joints have the same hash, the
    /// splines are parametrized by chords, or there are more than 65,536 rows. The call also fails
    /// if a bind pose, a constant or the duration is too large, and for the reasons of
    /// [`Anm::with_jump_caches`].
    pub fn from_clip(
        clip: &KeyedClip,
        skeleton: &Skeleton,
        jump_caches: u32,
    ) -> Result<Self, AnmError> {
        let mut cursor =
            Cursor::new(clip.clone(), skeleton).map_err(|_| AnmError::OtherSkeleton)?;
        let flags = match clip.parametrization() {
            Parametrization::Times => AnmHead::TIMES,
            Parametrization::Uniform => 0,
            parametrization => return Err(AnmError::BadParametrization { parametrization }),
        };
        if !clip.row_tracks().is_empty() && clip.samples() > MAX_ROWS {
            return Err(AnmError::TooManyRows { samples: clip.samples() });
        }
        let joints = hashes(skeleton)?;
        // A channel that is not animated has the same value at all times, and therefore also at the
        // start.
        let mut pose = skeleton.bind_pose();
        cursor.sample_at(0.0, &mut pose);
        let [translation, scale] =
            [Channel::Translation, Channel::Scale].map(|channel| range(clip, &pose, channel));
        let head = AnmHead {
            flags,
            ..AnmHead::new(clip.duration_s(), clip.rate_hz(), translation, scale)
        };
        let export = Export { clip, cursor, pose, head: &head };
        let keys = order(joints.len(), &export.tracks())?;
        Self::new(head, joints, keys)?.with_jump_caches(jump_caches)
    }
}

/// Returns the hash of each joint's name. Fails if two hashes are equal.
fn hashes(skeleton: &Skeleton) -> Result<Vec<u32>, AnmError> {
    let joints = skeleton.joints();
    let is_nameless = joints.iter().all(|joint| joint.name.is_empty());
    let hash = |joint: usize| {
        if is_nameless { elf_hash(&joint.to_string()) } else { elf_hash(&joints[joint].name) }
    };
    let hashes: Vec<u32> = (0..joints.len()).map(hash).collect();
    let mut sorted: Vec<usize> = (0..joints.len()).collect();
    sorted.sort_by_key(|&joint| (hashes[joint], joint));
    match sorted.windows(2).find(|pair| hashes[pair[0]] == hashes[pair[1]]) {
        Some(pair) => {
            let joints = [pair[0], pair[1]];
            Err(AnmError::SameHash {
                joints,
                names: joints.map(|joint| skeleton.joints()[joint].name.clone()),
            })
        }
        None => Ok(hashes),
    }
}

/// Returns the range of a channel's vectors, over both moving and constant tracks.
fn range(clip: &KeyedClip, pose: &[Transform], channel: Channel) -> VectorRange {
    let (mut vectors, mut moves) = (Vec::new(), false);
    for (joint, transform) in (0..).zip(pose) {
        if clip.kind(TrackId { joint, channel }).is_animated() {
            moves = true;
        } else {
            vectors.push(if channel == Channel::Scale {
                transform.scale
            } else {
                transform.translation
            });
        }
    }
    if moves {
        let VectorRange { min, max } = *clip.range(channel);
        vectors.extend([min, max]);
    }
    VectorRange::around(&vectors)
}

/// A key during the conversion from a clip to a file.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// The position of the key, in samples from the first one.
    position: f64,
    time: u16,
    value: [u16; 3],
}

struct Export<'a> {
    clip: &'a KeyedClip,
    cursor: Cursor,
    /// The pose that the cursor played last. At first it is the pose of the first sample.
    pose: Vec<Transform>,
    head: &'a AnmHead,
}

impl Export<'_> {
    /// Returns a track for every channel of every joint, in the order of joints. Each track gets a
    /// constant first. The animated tracks then get their keys.
    fn tracks(mut self) -> Vec<AnmTrack> {
        let clip = self.clip;
        let mut tracks = Vec::with_capacity(3 * clip.joints());
        for (joint, transform) in (0..).zip(&self.pose) {
            tracks.extend(
                Channel::ALL.map(|channel| {
                    AnmTrack::constant(joint, channel, self.code(transform, channel))
                }),
            );
        }
        let mut put = |TrackId { joint, channel }: TrackId, points: &[Point]| {
            let keys = points.iter().map(|point| (point.time, point.value)).collect();
            tracks[3 * usize::from(joint) + channel as usize].keys = keys;
        };
        let mut sampled = clip.row_tracks().to_vec();
        for (&track, points) in clip.keyed_tracks().iter().zip(self.keyed()) {
            if track.channel == Channel::Rotation && turned_gaps(&points).contains(&true) {
                sampled.push(track);
            } else {
                put(track, &points);
            }
        }
        for (&track, mut points) in sampled.iter().zip(self.sampled(&sampled)) {
            while track.channel == Channel::Rotation && self.split_turned_gaps(track, &mut points) {
            }
            put(track, &points);
        }
        tracks
    }

    fn code(&self, transform: &Transform, channel: Channel) -> [u16; 3] {
        match channel {
            Channel::Rotation => rotation_48(transform.rotation),
            Channel::Translation => self.head.translation.quantize(transform.translation),
            Channel::Scale => self.head.scale.quantize(transform.scale),
        }
    }

    /// Returns the keys of each keyed track.
    fn keyed(&self) -> Vec<Vec<Point>> {
        let clip = self.clip;
        let mut joints = vec![<[Vec<Point>; 3]>::default(); clip.joints()];
        for key in (0..clip.key_count()).map(|index| clip.key(index)) {
            let vector = |range: &VectorRange| {
                range.quantize(clip.range(key.channel).reconstruct(key.value))
            };
            let value = match key.channel {
                Channel::Rotation => key.value,
                Channel::Translation => vector(&self.head.translation),
                Channel::Scale => vector(&self.head.scale),
            };
            let points = &mut joints[usize::from(key.joint)][key.channel as usize];
            points.push(Point { position: clip.key_position(&key), time: 0, value });
        }
        let points_of = |track: &TrackId| {
            let points = &mut joints[usize::from(track.joint)][track.channel as usize];
            self.set_times(points);
            std::mem::take(points)
        };
        clip.keyed_tracks().iter().map(points_of).collect()
    }

    /// Returns the values of the tracks `tracks` at each sample time.
    fn sampled(&mut self, tracks: &[TrackId]) -> Vec<Vec<Point>> {
        let mut points = vec![Vec::new(); tracks.len()];
        let samples = if tracks.is_empty() { 0 } else { self.clip.samples() };
        for position in (0..samples).map(|sample| sample as f64) {
            self.cursor.sample_at(position, &mut self.pose);
            for (track, points) in tracks.iter().zip(&mut points) {
                let value = self.code(&self.pose[usize::from(track.joint)], track.channel);
                points.push(Point { position, time: 0, value });
            }
        }
        points.iter_mut().for_each(|points| self.set_times(points));
        points
    }

    /// Sets the time of each point to the key time at which a player samples its position. The
    /// times increase, and the last one is the end time.
    fn set_times(&self, points: &mut [Point]) {
        let rate_hz = f64::from(self.clip.rate_hz());
        let count = points.len();
        let mut least = 0;
        for (index, point) in points.iter_mut().enumerate() {
            // There are at most 65,536 points, so the points after this one have room.
            let most = END - (count - 1 - index) as u16;
            let is_end = index > 0 && index == count - 1;
            let time = self.head.key_time((point.position / rate_hz) as f32);
            point.time = if is_end { END } else { time.clamp(least, most) };
            least = point.time.saturating_add(1);
        }
    }

    /// Adds a point to each gap in which the signs would differ, if the gap has a free key time.
    /// Returns whether it added any point.
    fn split_turned_gaps(&mut self, track: TrackId, points: &mut Vec<Point>) -> bool {
        let turned = turned_gaps(points);
        let mut split = Vec::with_capacity(points.len());
        for (gap, pair) in points.windows(2).enumerate() {
            let [from, to] = [pair[0], pair[1]];
            split.push(from);
            if turned[gap] && to.time - from.time >= 2 {
                let time = from.time + (to.time - from.time) / 2;
                let share = f64::from(time - from.time) / f64::from(to.time - from.time);
                let position = from.position + (to.position - from.position) * share;
                self.cursor.sample_at(position, &mut self.pose);
                let value = self.code(&self.pose[usize::from(track.joint)], track.channel);
                split.push(Point { position, time, value });
            }
        }
        split.extend(points.last());
        let grows = split.len() > points.len();
        *points = split;
        grows
    }
}

/// Returns whether a file's player would choose other signs than a clip's player, for each pair of
/// neighbouring keys of a rotation. Both choose the signs within groups of four keys.
fn turned_gaps(points: &[Point]) -> Vec<bool> {
    let last = points.len().saturating_sub(1);
    let mut turned = vec![false; last];
    for gap in 0..last {
        let four = [gap.saturating_sub(1), gap, gap + 1, (gap + 2).min(last)];
        let mut values = four.map(|index| rotation_from_48(points[index].value));
        for index in 1..4 {
            if dot(values[index], values[index - 1]) < 0.0 {
                values[index] = values[index].map(|c| -c);
            }
        }
        if values[1..].iter().any(|value| dot(*value, values[0]) < SAME_SIDE) {
            turned[four[0]..four[3]].fill(true);
        }
    }
    turned
}
