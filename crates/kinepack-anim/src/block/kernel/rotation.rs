//! Computes rotations from vectors of modified Rodrigues parameters, eight at once. The code has no
//! closures, because the compiler might not inline them, and code that is not inlined cannot use a
//! kernel's instructions.

use super::lanes::{Kernel, Lanes};

/// Eight vectors: their x, y and z.
pub(crate) type Vector<L> = [L; 3];
/// Eight quaternions: their x, y, z and w.
pub(crate) type Quaternion<L> = [L; 4];

/// Eight rotations as quaternions that are not normalized, with their lengths. A product of such
/// quaternions is divided by all of their lengths at once, because a division takes as long as
/// several multiplications.
#[derive(Clone, Copy)]
pub(crate) struct Turn<L> {
    vector: Vector<L>,
    scalar: L,
    length: L,
}

impl<L: Lanes> Turn<L> {
    /// Returns the rotations of vectors of modified Rodrigues parameters.
    #[inline(always)]
    pub(crate) fn new([x, y, z]: Vector<L>) -> Self {
        let one = x.kernel().splat(1.0);
        let n = x.mul(x).add(y.mul(y)).add(z.mul(z));
        Self { vector: [x.add(x), y.add(y), z.add(z)], scalar: one.sub(n), length: one.add(n) }
    }

    /// Makes a `Turn` from rotations that are already normalized.
    #[inline(always)]
    pub(crate) fn unit([x, y, z, w]: Quaternion<L>) -> Self {
        Self { vector: [x, y, z], scalar: w, length: w.kernel().splat(1.0) }
    }

    /// Returns the same rotations, but about axes that are rotated by `axes`.
    #[inline(always)]
    pub(crate) fn about(self, axes: Self) -> Self {
        let square = axes.length.mul(axes.length);
        // Rotates v = `self.vector` to length² · v + scalar · 2(a × v) + a × 2(a × v). Here a is
        // `axes.vector`. Length and scalar are the other fields of `axes`.
        let [x, y, z] = cross(axes.vector, self.vector);
        let twice = [x.add(x), y.add(y), z.add(z)];
        let mut vector = cross(axes.vector, twice);
        for ((number, own), twice) in vector.iter_mut().zip(self.vector).zip(twice) {
            *number = own.mul(square).add(axes.scalar.mul(twice)).add(*number);
        }
        Self { vector, scalar: self.scalar.mul(square), length: self.length.mul(square) }
    }

    /// Returns the rotations that apply `first`, then `self`.
    #[inline(always)]
    pub(crate) fn after(self, first: Self) -> Self {
        let ([ax, ay, az], aw) = (self.vector, self.scalar);
        let ([bx, by, bz], bw) = (first.vector, first.scalar);
        Self {
            vector: [
                aw.mul(bx).add(ax.mul(bw)).add(ay.mul(bz).sub(az.mul(by))),
                aw.mul(by).add(ay.mul(bw)).add(az.mul(bx).sub(ax.mul(bz))),
                aw.mul(bz).add(az.mul(bw)).add(ax.mul(by).sub(ay.mul(bx))),
            ],
            scalar: aw.mul(bw).sub(ax.mul(bx)).sub(ay.mul(by).add(az.mul(bz))),
            length: self.length.mul(first.length),
        }
    }

    /// Returns the normalized quaternions.
    #[inline(always)]
    pub(crate) fn normalized(self) -> Quaternion<L> {
        let inverse = self.length.kernel().splat(1.0).div(self.length);
        let [x, y, z] = self.vector;
        [x.mul(inverse), y.mul(inverse), z.mul(inverse), self.scalar.mul(inverse)]
    }
}

#[inline(always)]
fn cross<L: Lanes>([ax, ay, az]: Vector<L>, [bx, by, bz]: Vector<L>) -> Vector<L> {
    [ay.mul(bz).sub(az.mul(by)), az.mul(bx).sub(ax.mul(bz)), ax.mul(by).sub(ay.mul(bx))]
}

/// Interpolates between two rotations and normalizes the result.
#[inline(always)]
pub(crate) fn blend<L: Lanes>(from: Quaternion<L>, to: Quaternion<L>, share: f32) -> Quaternion<L> {
    let cosine = dot(from, to);
    let kernel = cosine.kernel();
    let (here, there) = (kernel.splat(1.0 - share), kernel.splat(share));
    let mut sum = from;
    for (number, other) in sum.iter_mut().zip(to) {
        *number = number.mul(here).add(other.negate_where_negative(cosine).mul(there));
    }
    let length = dot(sum, sum).sqrt();
    let one = kernel.splat(1.0);
    let inverse = one.div(length);
    let zero = kernel.splat(0.0);
    let [x, y, z, w] = sum;
    [
        x.mul(inverse).where_positive(length, zero),
        y.mul(inverse).where_positive(length, zero),
        z.mul(inverse).where_positive(length, zero),
        w.mul(inverse).where_positive(length, one),
    ]
}

#[inline(always)]
fn dot<L: Lanes>(a: Quaternion<L>, b: Quaternion<L>) -> L {
    a[0].mul(b[0]).add(a[1].mul(b[1])).add(a[2].mul(b[2]).add(a[3].mul(b[3])))
}
