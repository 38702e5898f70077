//! Rotations from vectors of modified Rodrigues parameters, eight at once. The code has no
//! closures, because the compiler might not inline them, and code that is not inlined cannot use a
//! kernel's instructions.

use super::{Kernel, Lanes};

/// Vectors: x, y, z.
pub(crate) type Vector<L> = [L; 3];
/// Quaternions: x, y, z, w.
pub(crate) type Quaternion<L> = [L; 4];

/// The rotation of a vector of modified Rodrigues parameters.
#[inline(always)]
pub(crate) fn rotation<L: Lanes>([x, y, z]: Vector<L>) -> Quaternion<L> {
    let one = x.kernel().splat(1.0);
    let n = x.mul(x).add(y.mul(y)).add(z.mul(z));
    let d = one.div(one.add(n));
    let e = d.add(d);
    [x.mul(e), y.mul(e), z.mul(e), one.sub(n).mul(d)]
}

/// The matrix of a rotation, row by row.
#[inline(always)]
pub(crate) fn matrix<L: Lanes>([x, y, z, w]: Quaternion<L>) -> [Vector<L>; 3] {
    let one = x.kernel().splat(1.0);
    let (x2, y2, z2) = (x.add(x), y.add(y), z.add(z));
    let (xx, xy, xz) = (x.mul(x2), x.mul(y2), x.mul(z2));
    let (yy, yz, zz) = (y.mul(y2), y.mul(z2), z.mul(z2));
    let (wx, wy, wz) = (w.mul(x2), w.mul(y2), w.mul(z2));
    [
        [one.sub(yy.add(zz)), xy.sub(wz), xz.add(wy)],
        [xy.add(wz), one.sub(xx.add(zz)), yz.sub(wx)],
        [xz.sub(wy), yz.add(wx), one.sub(xx.add(yy))],
    ]
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

/// The rotation that applies `b` first, then `a`.
#[inline(always)]
pub(crate) fn product<L: Lanes>(a: Quaternion<L>, b: Quaternion<L>) -> Quaternion<L> {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw.mul(bx).add(ax.mul(bw)).add(ay.mul(bz).sub(az.mul(by))),
        aw.mul(by).add(ay.mul(bw)).add(az.mul(bx).sub(ax.mul(bz))),
        aw.mul(bz).add(az.mul(bw)).add(ax.mul(by).sub(ay.mul(bx))),
        aw.mul(bw).sub(ax.mul(bx)).sub(ay.mul(by).add(az.mul(bz))),
    ]
}
