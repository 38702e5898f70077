//! Groups of up to eight tracks, as a clip stores them. Playback reads their parameters from the
//! clip's bytes in each pose, so that a player needs no tables of its own. `spec/ANIM.md`, section
//! 10.3.

use std::ops::Range;

use super::kernel::{self, Kernel, Lanes, Live, Quaternion, Turn, Vector};
use super::layout::{CURVES_OF_TRACK, GROUP};
use super::pose::PoseWriter;

/// How a clip stores the numbers of references and axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codes {
    /// 8 bits.
    Coarse,
    /// 16 bits.
    Fine,
    /// 16 bits, although some tracks use only 8. Clips of a rig have this form once their shared
    /// numbers are filled in. Two bytes are in front of each group of rotations. Bit i of the first
    /// says whether the reference of track i is coarse, and bit i of the second whether its axes
    /// are.
    Mixed,
}

impl Codes {
    /// The bytes in front of the numbers of a group of rotations.
    fn head_bytes(self) -> usize {
        if self == Self::Mixed { 2 } else { 0 }
    }

    /// The bytes of a number.
    fn bytes(self) -> usize {
        if self == Self::Coarse { 1 } else { 2 }
    }
}

/// Bytes of the own scales of a track's components, after its other numbers.
const STEPS_BYTES: usize = 3;

/// The groups of rotations, or those of translations, scales and curves, one after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups<'a> {
    /// The bytes from the first group on.
    bytes: &'a [u8],
    /// The joints of all tracks, and the numbers of curve tracks.
    joints: &'a [u16],
    /// By group: its live components, in their stored form.
    lives: &'a [[u16; 2]],
    /// Bytes in front of the numbers of each group.
    head_bytes: usize,
    /// Bytes of a track's numbers, without those in `head_bytes` and without its steps.
    number_bytes: usize,
}

impl<'a> Groups<'a> {
    /// The groups of rotations.
    #[inline(always)]
    pub(super) fn rotations(
        bytes: &'a [u8],
        joints: &'a [u16],
        lives: &'a [[u16; 2]],
        codes: Codes,
    ) -> Self {
        Self {
            bytes,
            joints,
            lives,
            head_bytes: codes.head_bytes(),
            number_bytes: 6 * codes.bytes(),
        }
    }

    /// The groups of translations, scales and curves.
    #[inline(always)]
    pub(super) fn vectors(bytes: &'a [u8], joints: &'a [u16], lives: &'a [[u16; 2]]) -> Self {
        Self { bytes, joints, lives, head_bytes: 0, number_bytes: 12 }
    }

    /// Number of bytes that the groups take.
    pub(super) fn len(&self) -> usize {
        self.groups() * self.head_bytes + self.joints.len() * (self.number_bytes + STEPS_BYTES)
    }

    /// Number of groups.
    #[inline(always)]
    pub(super) fn groups(&self) -> usize {
        self.joints.len().div_ceil(GROUP)
    }

    /// Number of live components of those of these groups that exist.
    #[inline(always)]
    pub(super) fn components(&self, groups: Range<usize>) -> usize {
        let end = groups.end.min(self.groups());
        live_components(self.lives.get(groups.start..end).unwrap_or_default())
    }

    /// Number of tracks.
    #[inline(always)]
    pub(super) fn tracks(&self) -> usize {
        self.joints.len()
    }

    /// The track of a joint among these tracks, which are all of one channel.
    #[inline(always)]
    pub(super) fn track_of(&self, joint: usize, tracks: Range<usize>) -> Option<usize> {
        let first = tracks.start;
        let joints = self.joints.get(tracks)?;
        let index = joints.binary_search(&u16::try_from(joint).ok()?).ok()?;
        Some(first + index)
    }

    /// Asks the processor to load the groups into its cache.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        kernel::prefetch(self.bytes.get(..self.len()).unwrap_or_default());
        kernel::prefetch(self.joints);
    }

    /// Takes the next group.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Group<'a> {
        let count = self.joints.len().min(GROUP);
        let (joints, rest) = self.joints.split_at(count);
        let (live, lives) =
            self.lives.split_first().map_or(([0; 2], self.lives), |(live, rest)| (*live, rest));
        let group = Group { bytes: self.bytes, count, joints, live: Live::from_words(live) };
        (self.joints, self.lives) = (rest, lives);
        let bytes = self.head_bytes + count * (self.number_bytes + STEPS_BYTES);
        self.bytes = self.bytes.get(bytes..).unwrap_or_default();
        group
    }

    /// The groups from number `group` on.
    #[inline(always)]
    pub(super) fn from(mut self, group: usize) -> Self {
        let tracks = (GROUP * group).min(self.joints.len());
        let at = group * self.head_bytes + tracks * (self.number_bytes + STEPS_BYTES);
        self.bytes = self.bytes.get(at..).unwrap_or_default();
        self.joints = &self.joints[tracks..];
        self.lives = self.lives.get(group..).unwrap_or_default();
        self
    }
}

/// Number of live components of groups.
#[inline(always)]
pub(super) fn live_components(lives: &[[u16; 2]]) -> usize {
    let mut count = 0;
    for live in lives {
        count += usize::from(Live::from_words(*live).count);
    }
    count
}

/// A group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    /// The clip's bytes from the group on.
    bytes: &'a [u8],
    /// Number of tracks.
    pub(super) count: usize,
    pub(super) joints: &'a [u16],
    pub(super) live: Live,
}

impl Group<'_> {
    /// A bit for each lane: whether it has a track.
    #[inline(always)]
    pub(super) fn lanes(&self) -> u32 {
        (1 << self.count) - 1
    }

    /// Rows of the group's numbers, from a byte on. In a group of fewer than eight tracks, the
    /// numbers after the last track are any.
    #[inline(always)]
    fn rows<const ROW: usize, const ROWS: usize>(&self, at: usize) -> [[u8; ROW]; ROWS] {
        let bytes = self.bytes.get(at..).unwrap_or_default();
        // In the usual case, all places are constants.
        if self.count == GROUP { rows(bytes, ROW) } else { rows(bytes, ROW / GROUP * self.count) }
    }
}

/// Rows of numbers, `row_bytes` after each other, with eight numbers each. If there are fewer than
/// eight tracks, the last numbers of a row are any.
#[inline(always)]
fn rows<const ROW: usize, const ROWS: usize>(bytes: &[u8], row_bytes: usize) -> [[u8; ROW]; ROWS] {
    let mut rows = [[0; ROW]; ROWS];
    match bytes.get(..row_bytes * (ROWS - 1) + ROW) {
        Some(all) => {
            for (row, stored) in rows.iter_mut().enumerate() {
                stored.copy_from_slice(&all[row * row_bytes..][..ROW]);
            }
        }
        None => {
            for (row, stored) in rows.iter_mut().enumerate() {
                *stored = padded(bytes.get(row * row_bytes..).unwrap_or_default());
            }
        }
    }
    rows
}

/// The bytes, and zeros after their end.
#[cold]
#[inline(never)]
fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    padded.iter_mut().zip(bytes).for_each(|(padded, byte)| *padded = *byte);
    padded
}

/// The parameters of eight tracks, which turn components into values.
pub(super) trait Parameters<L: Lanes>: Copy {
    /// The kind of numbers that the clip stores.
    type Stored: Copy;

    fn read(kernel: L::Kernel, group: &Group<'_>, stored: Self::Stored) -> Self;
    /// The values of eight tracks at the components `here`. With `next`, blends them with the
    /// values at those components, whose share is the number beside them.
    fn values(&self, here: Vector<L>, next: Option<(Vector<L>, f32)>) -> [L; 4];
    /// Writes the value of a track, which is `track` among those of these groups.
    fn write<W: PoseWriter + ?Sized>(
        stored: Self::Stored,
        track: usize,
        value: [f32; 4],
        joint: usize,
        writer: &mut W,
    );
}

/// The parameters of eight rotation tracks. Both rotations are not normalized, so that a value
/// takes a single division for all of its factors.
#[derive(Clone, Copy)]
pub(super) struct Rotations<L> {
    references: Turn<L>,
    axes: Turn<L>,
    /// The own scales of the components.
    scales: Vector<L>,
}

impl<L: Lanes> Rotations<L> {
    /// The parameters from rows of references and axes, and those of own scales.
    #[inline(always)]
    fn from_rows(kernel: L::Kernel, rows: [L; 6], steps: [[u8; GROUP]; 3]) -> Self {
        let [x, y, z, axis_x, axis_y, axis_z] = rows;
        Self {
            references: Turn::new([x, y, z]),
            axes: Turn::new([axis_x, axis_y, axis_z]),
            scales: own_scales(kernel, steps),
        }
    }

    /// The rotations of components along their axes, relative to the references.
    #[inline(always)]
    fn relative_rotations(&self, [x, y, z]: Vector<L>) -> Turn<L> {
        let [first, second, third] = self.scales;
        Turn::new([x.mul(first), y.mul(second), z.mul(third)])
    }
}

/// The own scales of the components of eight tracks.
#[inline(always)]
fn own_scales<K: Kernel>(kernel: K, [x, y, z]: [[u8; GROUP]; 3]) -> Vector<K::Lanes> {
    [kernel.own_scales(x), kernel.own_scales(y), kernel.own_scales(z)]
}

/// The number of a code of a reference or of axes, which has 16 bits if it is fine, and else 8.
#[inline]
pub(crate) fn number_of(code: u16, is_fine: bool) -> f32 {
    let code = f32::from(code);
    if is_fine { (code - 32768.0) * (1.0 / 32767.0) } else { (code - 128.0) * (1.0 / 127.0) }
}

/// The numbers of a row of codes. Those in `coarse` have 8 bits, the others 16.
#[inline(never)]
fn mixed(codes: [u8; 2 * GROUP], coarse: u8) -> [f32; GROUP] {
    let mut numbers = [0.0; GROUP];
    for ((lane, number), code) in numbers.iter_mut().enumerate().zip(codes.as_chunks().0) {
        *number = number_of(u16::from_le_bytes(*code), coarse >> lane & 1 == 0);
    }
    numbers
}

impl<L: Lanes> Parameters<L> for Rotations<L> {
    type Stored = Codes;

    #[inline(always)]
    fn read(kernel: L::Kernel, group: &Group<'_>, codes: Codes) -> Self {
        let mut rows = [kernel.splat(0.0); 6];
        match codes {
            Codes::Coarse => {
                let (middle, step) = (kernel.splat(128.0), kernel.splat(1.0 / 127.0));
                let [stored @ .., first, second, third]: [[u8; GROUP]; 9] = group.rows(0);
                for (row, stored) in rows.iter_mut().zip::<[_; 6]>(stored) {
                    *row = kernel.bytes(stored).sub(middle).mul(step);
                }
                Self::from_rows(kernel, rows, [first, second, third])
            }
            Codes::Fine => {
                let (middle, step) = (kernel.splat(32768.0), kernel.splat(1.0 / 32767.0));
                for (row, stored) in rows.iter_mut().zip::<[_; 6]>(group.rows(0)) {
                    *row = kernel.words(stored).sub(middle).mul(step);
                }
                Self::from_rows(kernel, rows, group.rows(12 * group.count))
            }
            Codes::Mixed => {
                let head: [u8; 2] = group.bytes.first_chunk().copied().unwrap_or_default();
                for ((index, row), stored) in
                    rows.iter_mut().enumerate().zip::<[_; 6]>(group.rows(head.len()))
                {
                    *row = kernel.load(&mixed(stored, head[index / 3]));
                }
                Self::from_rows(kernel, rows, group.rows(head.len() + 12 * group.count))
            }
        }
    }

    #[inline(always)]
    fn values(&self, here: Vector<L>, next: Option<(Vector<L>, f32)>) -> Quaternion<L> {
        let mut value = self.relative_rotations(here);
        if let Some((next, share)) = next {
            let next = self.relative_rotations(next).normalized();
            value = Turn::unit(kernel::blend(value.normalized(), next, share));
        }
        self.references.after(value.about(self.axes)).normalized()
    }

    #[inline(always)]
    fn write<W: PoseWriter + ?Sized>(
        _: Codes,
        _: usize,
        value: [f32; 4],
        joint: usize,
        writer: &mut W,
    ) {
        writer.rotation(joint, value);
    }
}

/// The parameters of eight translation, scale or curve tracks.
#[derive(Clone, Copy)]
pub(super) struct Vectors<L> {
    middles: Vector<L>,
    scales: Vector<L>,
}

/// How many vector tracks there are of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorTracks {
    /// Translations, which come first.
    pub(super) translations: usize,
    /// Translations and scales. The tracks after them are curve tracks.
    pub(super) joints: usize,
}

impl<L: Lanes> Vectors<L> {
    /// The vectors that components stand for.
    #[inline(always)]
    fn vectors(&self, components: Vector<L>) -> Vector<L> {
        let mut vectors = components;
        for ((number, middle), scale) in vectors.iter_mut().zip(self.middles).zip(self.scales) {
            *number = middle.add(number.mul(scale));
        }
        vectors
    }
}

impl<L: Lanes> Parameters<L> for Vectors<L> {
    type Stored = VectorTracks;

    #[inline(always)]
    fn read(kernel: L::Kernel, group: &Group<'_>, _: VectorTracks) -> Self {
        let mut middles = [kernel.splat(0.0); 3];
        let stored: [[u8; 4 * GROUP]; 3] = group.rows(0);
        for (middle, stored) in middles.iter_mut().zip(stored) {
            let mut numbers = [0.0; GROUP];
            for (number, bytes) in numbers.iter_mut().zip(stored.as_chunks().0) {
                *number = f32::from_le_bytes(*bytes);
            }
            *middle = kernel.load(&numbers);
        }
        let scales = own_scales(kernel, group.rows(12 * group.count));
        Self { middles, scales }
    }

    #[inline(always)]
    fn values(&self, here: Vector<L>, next: Option<(Vector<L>, f32)>) -> [L; 4] {
        let mut value = self.vectors(here);
        if let Some((next, share)) = next {
            let kernel = value[0].kernel();
            let (near, far) = (kernel.splat(1.0 - share), kernel.splat(share));
            for (number, other) in value.iter_mut().zip(self.vectors(next)) {
                *number = number.mul(near).add(other.mul(far));
            }
        }
        let [x, y, z] = value;
        [x, y, z, z]
    }

    #[inline(always)]
    fn write<W: PoseWriter + ?Sized>(
        stored: VectorTracks,
        track: usize,
        [x, y, z, _]: [f32; 4],
        joint: usize,
        writer: &mut W,
    ) {
        if track < stored.translations {
            writer.translation(joint, [x, y, z]);
        } else if track < stored.joints {
            writer.scale(joint, [x, y, z]);
        } else {
            let first = CURVES_OF_TRACK * joint;
            (first..).zip([x, y, z]).for_each(|(curve, value)| writer.curve(curve, value));
        }
    }
}
