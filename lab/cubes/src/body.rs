//! The state of one body as a game would send it: the article's `CubeState`.

/// The state of one cube at a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// The position of the centre in metres. z points up, and the floor is at z = 0.
    ///
    /// With up to 900 cubes, |x| and |y| are below 32, and with [`MAX_CUBES`](crate::MAX_CUBES)
    /// below 128. z is always at least 0 and below 32.
    pub position: [f32; 3],
    /// The orientation as a unit quaternion, x y z w. It may have either sign, since q and −q are
    /// the same orientation.
    pub orientation: [f32; 4],
    /// The linear velocity in m/s, each component within ±31.9. It is exactly zero for a sleeping
    /// cube.
    pub velocity: [f32; 3],
    /// Whether a player interacts with this body or did so recently. The flag is always set for the
    /// players' own cubes.
    pub interacting: bool,
}
