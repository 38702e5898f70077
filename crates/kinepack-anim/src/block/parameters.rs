//! The parameters of groups, which turn the components of their tracks into values. Playback reads
//! the parameters from the clip's bytes for each pose. See `spec/ANIM.md`, sections 10.3 and 12.

use super::group::{Codes, Group};
use super::kernel::{self, Kernel, Lanes, Quaternion, Turn, Vector};
use super::layout::{CURVES_OF_TRACK, GROUP};
use super::pose::PoseWriter;

/// Turns the components of eight tracks into values, in two steps. If samples are blended, both
/// steps are long chains of dependent operations. Running the first step for several groups
/// together is then faster than running both steps group by group.
pub(super) trait Parameters<L: Lanes> {
    /// Describes the stored form of the groups.
    type Stored: Copy;
    /// The result of the first step.
    type Relative: Copy;

    /// Runs the first step for the components `here`. If `next` is `Some`, also runs it for the
    /// next sample's components, and blends the two results. The number in `next` is the share of
    /// the second result.
    fn relative(
        kernel: L::Kernel,
        group: &Group<'_>,
        stored: Self::Stored,
        here: Vector<L>,
        next: Option<(Vector<L>, f32)>,
    ) -> Self::Relative;
    /// Runs the second step, which returns the values of the tracks.
    fn values(
        kernel: L::Kernel,
        group: &Group<'_>,
        stored: Self::Stored,
        relative: Self::Relative,
    ) -> [L; 4];
    /// Writes the value of a track, whose index in these groups is `track`.
    fn write<W: PoseWriter + ?Sized>(
        stored: Self::Stored,
        track: usize,
        value: [f32; 4],
        joint: usize,
        writer: &mut W,
    );
}

/// Rotation tracks.
pub(super) struct Rotations;

/// Returns the rotations that components represent, relative to the references and before the axes
/// are applied.
#[inline(always)]
fn relative_rotations<L: Lanes>(
    [x, y, z]: Vector<L>,
    [first, second, third]: Vector<L>,
) -> Turn<L> {
    Turn::new([x.mul(first), y.mul(second), z.mul(third)])
}

/// Returns the scales of eight tracks' components, from the tracks' own steps.
#[inline(always)]
fn own_scales<K: Kernel>(kernel: K, [x, y, z]: [[u8; GROUP]; 3]) -> Vector<K::Lanes> {
    [kernel.own_scales(x), kernel.own_scales(y), kernel.own_scales(z)]
}

/// Decodes the code of a reference or of axes. A fine code has 16 bits, a coarse one 8.
#[inline]
pub(crate) fn number_of(code: u16, is_fine: bool) -> f32 {
    let code = f32::from(code);
    if is_fine { (code - 32768.0) * (1.0 / 32767.0) } else { (code - 128.0) * (1.0 / 127.0) }
}

/// Decodes a row of codes. A lane whose bit is set in `coarse` has an 8-bit code, all others have
/// 16-bit codes.
#[inline(never)]
fn mixed(codes: [u8; 2 * GROUP], coarse: u8) -> [f32; GROUP] {
    let mut numbers = [0.0; GROUP];
    for ((lane, number), code) in numbers.iter_mut().enumerate().zip(codes.as_chunks().0) {
        *number = number_of(u16::from_le_bytes(*code), coarse >> lane & 1 == 0);
    }
    numbers
}

impl<L: Lanes> Parameters<L> for Rotations {
    type Stored = Codes;
    /// The rotations relative to their references, before the axes are applied.
    type Relative = Turn<L>;

    #[inline(always)]
    fn relative(
        kernel: L::Kernel,
        group: &Group<'_>,
        codes: Codes,
        here: Vector<L>,
        next: Option<(Vector<L>, f32)>,
    ) -> Turn<L> {
        let scales = own_scales(kernel, group.rows(codes.numbers_bytes(group.count)));
        let here = relative_rotations(here, scales);
        match next {
            Some((next, share)) => {
                let next = relative_rotations(next, scales).normalized();
                Turn::unit(kernel::blend(here.normalized(), next, share))
            }
            None => here,
        }
    }

    /// The factors of a track's rotation are not normalized one by one. Instead, a single division
    /// normalizes their product.
    #[inline(always)]
    fn values(
        kernel: L::Kernel,
        group: &Group<'_>,
        codes: Codes,
        relative: Turn<L>,
    ) -> Quaternion<L> {
        let mut rows = [kernel.splat(0.0); 6];
        match codes {
            Codes::Coarse => {
                let (middle, step) = (kernel.splat(128.0), kernel.splat(1.0 / 127.0));
                for (row, stored) in rows.iter_mut().zip::<[_; 6]>(group.rows(0)) {
                    *row = kernel.bytes(stored).sub(middle).mul(step);
                }
            }
            Codes::Fine => {
                let (middle, step) = (kernel.splat(32768.0), kernel.splat(1.0 / 32767.0));
                for (row, stored) in rows.iter_mut().zip::<[_; 6]>(group.rows(0)) {
                    *row = kernel.words(stored).sub(middle).mul(step);
                }
            }
            Codes::Mixed => {
                let head: [u8; 2] = group.bytes.first_chunk().copied().unwrap_or_default();
                for ((index, row), stored) in
                    rows.iter_mut().enumerate().zip::<[_; 6]>(group.rows(head.len()))
                {
                    *row = kernel.load(&mixed(stored, head[index / 3]));
                }
            }
        }
        let [x, y, z, axis_x, axis_y, axis_z] = rows;
        let (references, axes) = (Turn::new([x, y, z]), Turn::new([axis_x, axis_y, axis_z]));
        references.after(relative.about(axes)).normalized()
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

/// Translation, scale and curve tracks.
pub(super) struct Vectors;

/// The numbers of vector tracks, by kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorTracks {
    /// Number of translation tracks, which come first.
    pub(super) translations: usize,
    /// Number of translation and scale tracks. The tracks after them are curve tracks.
    pub(super) joints: usize,
}

/// Returns the vectors that components represent: the middles plus the scaled components.
#[inline(always)]
fn scaled<L: Lanes>(mut components: Vector<L>, middles: Vector<L>, scales: Vector<L>) -> Vector<L> {
    for ((number, middle), scale) in components.iter_mut().zip(middles).zip(scales) {
        *number = middle.add(number.mul(scale));
    }
    components
}

impl<L: Lanes> Parameters<L> for Vectors {
    type Stored = VectorTracks;
    /// The final vectors, since the second step changes nothing.
    type Relative = Vector<L>;

    #[inline(always)]
    fn relative(
        kernel: L::Kernel,
        group: &Group<'_>,
        _: VectorTracks,
        here: Vector<L>,
        next: Option<(Vector<L>, f32)>,
    ) -> Vector<L> {
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
        let mut vectors = scaled(here, middles, scales);
        if let Some((next, share)) = next {
            let (near, far) = (kernel.splat(1.0 - share), kernel.splat(share));
            for (number, other) in vectors.iter_mut().zip(scaled(next, middles, scales)) {
                *number = number.mul(near).add(other.mul(far));
            }
        }
        vectors
    }

    #[inline(always)]
    fn values(_: L::Kernel, _: &Group<'_>, _: VectorTracks, [x, y, z]: Vector<L>) -> [L; 4] {
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
