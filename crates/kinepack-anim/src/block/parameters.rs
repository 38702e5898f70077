//! The parameters of groups, which turn the components of their tracks into values. Playback reads
//! them from the clip's bytes in each pose. `spec/ANIM.md`, sections 10.3 and 12.

use super::group::{Codes, Group};
use super::kernel::{self, Kernel, Lanes, Quaternion, Turn, Vector};
use super::layout::{CURVES_OF_TRACK, GROUP};
use super::pose::PoseWriter;

/// The parameters of eight tracks, which turn components into values.
pub(super) trait Parameters<L: Lanes>: Copy {
    /// The kind of numbers that the clip stores.
    type Stored: Copy;

    fn read(kernel: L::Kernel, group: &Group<'_>, stored: Self::Stored) -> Self;
    /// The values of eight tracks at these components.
    fn values(&self, components: Vector<L>) -> [L; 4];
    /// What [`of_blend`](Self::of_blend) takes to give the values between the components of two
    /// samples. The second one has this share.
    fn blend(
        kernel: L::Kernel,
        group: &Group<'_>,
        stored: Self::Stored,
        samples: [Vector<L>; 2],
        share: f32,
    ) -> [L; 4];
    /// The values of eight tracks at a [`blend`](Self::blend).
    fn of_blend(&self, blend: [L; 4]) -> [L; 4];
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

    /// The rotations that turn the references by these ones, about the axes.
    #[inline(always)]
    fn relative(&self, rotations: Turn<L>) -> Quaternion<L> {
        self.references.after(rotations.about(self.axes)).normalized()
    }
}

/// The rotations of components along their axes, relative to the references.
#[inline(always)]
fn relative_rotations<L: Lanes>(
    [x, y, z]: Vector<L>,
    [first, second, third]: Vector<L>,
) -> Turn<L> {
    Turn::new([x.mul(first), y.mul(second), z.mul(third)])
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
                Self::from_rows(kernel, rows, group.rows(codes.numbers_bytes(group.count)))
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
    fn values(&self, components: Vector<L>) -> Quaternion<L> {
        self.relative(relative_rotations(components, self.scales))
    }

    #[inline(always)]
    fn blend(
        kernel: L::Kernel,
        group: &Group<'_>,
        codes: Codes,
        [here, next]: [Vector<L>; 2],
        share: f32,
    ) -> Quaternion<L> {
        let scales = own_scales(kernel, group.rows(codes.numbers_bytes(group.count)));
        let here = relative_rotations(here, scales).normalized();
        kernel::blend(here, relative_rotations(next, scales).normalized(), share)
    }

    #[inline(always)]
    fn of_blend(&self, blend: Quaternion<L>) -> Quaternion<L> {
        self.relative(Turn::unit(blend))
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
    fn values(&self, components: Vector<L>) -> [L; 4] {
        let [x, y, z] = self.vectors(components);
        [x, y, z, z]
    }

    #[inline(always)]
    fn blend(
        kernel: L::Kernel,
        group: &Group<'_>,
        stored: VectorTracks,
        [here, next]: [Vector<L>; 2],
        share: f32,
    ) -> [L; 4] {
        let own = Self::read(kernel, group, stored);
        let mut value = own.vectors(here);
        let (near, far) = (kernel.splat(1.0 - share), kernel.splat(share));
        for (number, other) in value.iter_mut().zip(own.vectors(next)) {
            *number = number.mul(near).add(other.mul(far));
        }
        let [x, y, z] = value;
        [x, y, z, z]
    }

    #[inline(always)]
    fn of_blend(&self, blend: [L; 4]) -> [L; 4] {
        blend
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
