//! Catmull-Rom splines over four keys, which interpolate the values between keys. The tangent at a
//! key is a share of the chord between its neighbours. The parametrization determines that share.
//! The sources are the article on the animations of League of Legends, Catmull and Rom, "A class of
//! local interpolating splines" (1974), and Yuksel, Schaefer and Keyser (2011) for the chordal and
//! centripetal forms. See `spec/ANIM.md`, section 4.

/// The measure of the distance between two neighbouring keys. Let `d01`, `d12` and `d23` be the
/// distances between four keys. The tangent at the second key is `d12 / (d01 + d12)` of the chord
/// from the first to the third. The tangent at the third is `d12 / (d12 + d23)` of the chord from
/// the second to the fourth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Parametrization {
    /// All distances count as equal, so each tangent is half of the chord.
    Uniform = 0,
    /// A distance is the time between two keys. The slope is then the same on both sides of a key,
    /// regardless of how far away its neighbours are.
    #[default]
    Times = 1,
    /// A distance is the length of the chord between two values.
    Chordal = 2,
    /// A distance is the square root of the length of the chord between two values.
    Centripetal = 3,
}

impl Parametrization {
    /// All parametrizations, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Uniform, Self::Times, Self::Chordal, Self::Centripetal];

    /// Returns the parametrization's lower-case name for reports and options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Times => "times",
            Self::Chordal => "chordal",
            Self::Centripetal => "centripetal",
        }
    }

    /// Returns the shares of the two chords, for the tangents at the second and third of four keys.
    #[inline]
    pub fn shares<const N: usize>(self, times: [f32; 4], values: &[[f32; N]; 4]) -> [f32; 2] {
        let distances = match self {
            Self::Uniform => return [0.5, 0.5],
            Self::Times => [times[1] - times[0], times[2] - times[1], times[3] - times[2]],
            Self::Chordal => chords(values),
            Self::Centripetal => chords(values).map(f32::sqrt),
        };
        let [before, between, after] = distances;
        // If a sum is not above zero, its chord is zero too, so the share does not matter.
        let sums = [before + between, between + after];
        let shares = [between / sums[0], between / sums[1]];
        [if sums[0] > 0.0 { shares[0] } else { 0.5 }, if sums[1] > 0.0 { shares[1] } else { 0.5 }]
    }
}

fn chords<const N: usize>(values: &[[f32; N]; 4]) -> [f32; 3] {
    let chord = |from: usize| {
        let squares = (0..N).map(|axis| values[from + 1][axis] - values[from][axis]).map(|d| d * d);
        squares.fold(0.0, |sum: f32, square| sum + square).sqrt()
    };
    [chord(0), chord(1), chord(2)]
}

/// Returns the weights of four keys at `share` (0 to 1) of the way from the second to the third.
#[inline]
pub fn weights(share: f32, [tangent_in, tangent_out]: [f32; 2]) -> [f32; 4] {
    let u = share;
    let (i, o) = (tangent_in, tangent_out);
    [
        ((2.0 - u) * u - 1.0) * (u * i),
        ((2.0 - o) * u + (o - 3.0)) * (u * u) + 1.0,
        ((3.0 - 2.0 * i + (i - 2.0) * u) * u + i) * u,
        ((u - 1.0) * u) * (u * o),
    ]
}

/// Returns the weighted sum of four values.
#[inline]
pub fn blend<const N: usize>(weights: [f32; 4], values: &[[f32; N]; 4]) -> [f32; N] {
    let mut sum = [0.0; N];
    for axis in 0..N {
        sum[axis] = weights[1] * values[1][axis]
            + weights[0] * values[0][axis]
            + (weights[3] * values[3][axis] + weights[2] * values[2][axis]);
    }
    sum
}
