//! Frames of reference: entities whose fields are relative to another entity, such as passengers on
//! a ship.
//!
//! A field with the attribute `frame = other` is relative to the entity whose id is in the field
//! `other`, or to the world if that is `None`. Packets and states hold the relative values, so
//! somebody who stands on a moving ship takes no bits. Playback interpolates relative to the frame,
//! so the passenger does not slide on the deck, even if the ship's state is late.
//! [`Moment::in_world`] returns a state in world coordinates.
//!
//! ```
//! use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
//!
//! #[derive(Pack)]
//! struct Ship {
//!     #[pack(body, range = -2048.0..2048.0, precision = 1.0 / 256.0)]
//!     position: [f32; 3],
//!     #[pack(body, rotation, bits = 12)]
//!     rotation: [f32; 4],
//! }
//!
//! #[derive(Pack)]
//! struct Sailor {
//!     /// In metres, from the middle of the ship if the sailor is on board.
//!     #[pack(frame = ship, range = -2048.0..2048.0, precision = 1.0 / 256.0)]
//!     position: [f32; 3],
//!     ship: Option<EntityId>,
//! }
//!
//! let schema = Schema::builder().kind::<Ship>("ship").kind::<Sailor>("sailor").build()?;
//! let mut world = Snapshot::new(&schema, Tick(1));
//! // The ship has turned by a right angle around z.
//! let half = 0.5_f32.sqrt();
//! let rotation = [0.0, 0.0, half, half];
//! world.push(EntityId(1), &Ship { position: [1000.0, 0.0, 0.0], rotation })?;
//! world.push(EntityId(2), &Sailor { position: [10.0, 0.0, 0.0], ship: Some(EntityId(1)) })?;
//! let Some(sailor) = world.get_in_world::<Sailor>(EntityId(2))? else { return Ok(()) };
//! assert!((sailor.position[0] - 1000.0).abs() < 0.01 && (sailor.position[1] - 10.0).abs() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The frame is where the other entity is: its rigid body (fields marked `body`), or else its first
//! field of three numbers that is not a velocity, and its first rotation, if it has one. It may be
//! relative to another frame, in a chain of up to [`MOST_FRAMES`].
//!
//! The arithmetic is `f64` with [`libm`], and gives the same results on every platform. As with
//! [interpolation](crate::Between), no packet depends on it.

use core::cell::Cell;
use core::fmt;

use crate::geometry::{NO_TURN, add, cross, multiply, rotate, scale, sub, turn};
use crate::sqrt::sqrt;
use crate::{Between, EncodeError, EntityId, Pack, Snapshot};

/// The largest number of frames from an entity to the world: a player in a car on a ferry has two.
pub const MOST_FRAMES: usize = 8;

/// The largest number of frames that are followed for one entity. Between two states in which frames
/// change, each entity on the way may have two, so that their number could double with each level.
const MOST_FOLLOWED: usize = 32;

/// A place and an orientation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The position, in the unit of the entity's field.
    pub position: [f64; 3],
    /// The orientation, a unit quaternion x, y, z, w.
    pub rotation: [f64; 4],
}

impl Place {
    /// The origin, not turned.
    pub const ORIGIN: Self = Self { position: [0.0; 3], rotation: NO_TURN };

    /// Returns a point in world coordinates. `point` is relative to this place.
    pub fn point(&self, point: [f64; 3]) -> [f64; 3] {
        add(self.position, rotate(self.rotation, point))
    }

    /// Returns a direction or another vector without a place in world coordinates. `vector` is
    /// relative to this place.
    pub fn vector(&self, vector: [f64; 3]) -> [f64; 3] {
        rotate(self.rotation, vector)
    }

    /// Returns a rotation, as a unit quaternion, in world coordinates. `rotation` is relative to
    /// this place.
    pub fn rotation(&self, rotation: [f64; 4]) -> [f64; 4] {
        multiply(self.rotation, rotation)
    }
}

/// A place that moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// The place now.
    pub place: Place,
    /// The velocity of the place, in units per second.
    pub velocity: [f64; 3],
    /// The angular velocity: the direction is the axis, and the length the radians per second.
    pub spin: [f64; 3],
}

impl Motion {
    /// The origin, at rest.
    pub const ORIGIN: Self = Self { place: Place::ORIGIN, velocity: [0.0; 3], spin: [0.0; 3] };

    /// The motion of a place that is `place` now, and gets from the first of `ends` to the second
    /// in this number of seconds. It is at rest if `seconds` is 0 or not finite.
    pub fn along(place: Place, ends: [Place; 2], seconds: f32) -> Self {
        let rate = 1.0 / f64::from(seconds);
        if !rate.is_finite() || rate == 0.0 {
            return Self { place, ..Self::ORIGIN };
        }
        let velocity = scale(sub(ends[1].position, ends[0].position), rate);
        let [x, y, z, w] = turn(ends[0].rotation, ends[1].rotation);
        let sine = sqrt(x * x + y * y + z * z);
        let spin = if sine > 0.0 {
            // The quaternion and its negative are the same turn; this is the shorter one.
            let angle_rad = 2.0 * libm::atan2(sine, if w < 0.0 { -w } else { w });
            let factor = angle_rad * rate / sine;
            scale([x, y, z], if w < 0.0 { -factor } else { factor })
        } else {
            [0.0; 3]
        };
        Self { place, velocity, spin }
    }

    /// Returns the velocity of a point that moves with `velocity` relative to this place, in world
    /// coordinates. `point` is relative to this place.
    pub fn velocity(&self, point: [f64; 3], velocity: [f64; 3]) -> [f64; 3] {
        let arm = self.place.vector(point);
        add(add(self.velocity, cross(self.spin, arm)), self.place.vector(velocity))
    }

    /// Returns the motion in world coordinates of `inner`, which is relative to this one.
    /// `are_relative` says whether its position and its rotation are.
    fn carry(&self, inner: Self, [position, rotation]: [bool; 2]) -> Self {
        let mut carried = inner;
        if position {
            carried.place.position = self.place.point(inner.place.position);
            carried.velocity = self.velocity(inner.place.position, inner.velocity);
        }
        if rotation {
            carried.place.rotation = self.place.rotation(inner.place.rotation);
            carried.spin = add(self.spin, self.place.vector(inner.spin));
        }
        carried
    }
}

/// What carries an entity: the frame of its first state, and that of its second state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carrier {
    from: Motion,
    to: Motion,
    at: Between,
}

impl Carrier {
    /// Returns a point in world coordinates. `now` is relative to the frame. If the frame changes,
    /// `ends` are the points of the two states, each relative to its own frame, and the result is
    /// between them.
    pub fn point(&self, now: [f64; 3], ends: Option<[[f64; 3]; 2]>) -> [f64; 3] {
        let Some([from, to]) = ends else { return self.from.place.point(now) };
        self.blend(self.from.place.point(from), self.to.place.point(to))
    }

    /// Returns a velocity in world coordinates, including that of the frame. The arguments are as
    /// for [`point`](Self::point), with the points that move.
    pub fn velocity(
        &self,
        now: ([f64; 3], [f64; 3]),
        ends: Option<[([f64; 3], [f64; 3]); 2]>,
    ) -> [f64; 3] {
        let Some([from, to]) = ends else { return self.from.velocity(now.0, now.1) };
        self.blend(self.from.velocity(from.0, from.1), self.to.velocity(to.0, to.1))
    }

    /// Returns a rotation in world coordinates. The arguments are as for [`point`](Self::point).
    pub fn rotation(&self, now: [f64; 4], ends: Option<[[f64; 4]; 2]>) -> [f64; 4] {
        let Some([from, to]) = ends else { return self.from.place.rotation(now) };
        let ends = [self.from.place.rotation(from), self.to.place.rotation(to)];
        self.at.slerp(ends[0], ends[1]).unwrap_or(ends[0])
    }

    fn blend(&self, from: [f64; 3], to: [f64; 3]) -> [f64; 3] {
        core::array::from_fn(|axis| self.at.linear(from[axis], to[axis]))
    }
}

/// An entity at a moment between two of its states.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The first state, and the entity's index in it.
    pub from: (&'a Snapshot, usize),
    /// The second state, and the entity's index in it.
    pub to: (&'a Snapshot, usize),
    /// How far the moment is between the two.
    pub at: Between,
}

impl<'a> Moment<'a> {
    /// An entity in a single state, at its index in it.
    pub fn of(state: (&'a Snapshot, usize)) -> Self {
        Self { from: state, to: state, at: Between { ratio: 0.0, seconds: 0.0 } }
    }

    /// Returns the entity's state in world coordinates. Fields that are relative to nothing are as
    /// [`Pack::interpolate`] returns them. `look` returns other entities at the same moment.
    ///
    /// If the two states have different frames, the result is between the two places in the world,
    /// so that somebody who steps on board neither jumps nor flies through the deck. A frame that
    /// `look` does not know is where the second state has it.
    ///
    /// Cost: that of the state, and some hundred nanoseconds for each frame up to the world. Up to 32
    /// frames are followed.
    ///
    /// # Errors
    /// [`FrameError`] if a frame is not known, is nowhere, or the chain of frames is too long or
    /// does not end; or if `T` does not describe the entity.
    pub fn in_world<T: Pack>(
        &self,
        look: impl Fn(EntityId) -> Option<Self>,
    ) -> Result<T, FrameError> {
        let state =
            |Self { from, to, at }: &Self| from.0.interpolate_at_index(from.1, to.0, to.1, *at);
        self.in_world_with(state, look)
    }

    /// Like [`in_world`](Self::in_world), for a type that describes some of the entity's fields only.
    /// `state` returns the state at a moment, with fields that are relative to the frame.
    ///
    /// # Errors
    /// [`FrameError`], as for [`in_world`](Self::in_world).
    pub fn in_world_with<T: Pack>(
        &self,
        mut state: impl FnMut(&Self) -> Result<T, EncodeError>,
        look: impl Fn(EntityId) -> Option<Self>,
    ) -> Result<T, FrameError> {
        let mut now = state(self)?;
        match self.carrier(&Known::new(&look), 0)? {
            None => {}
            Some((carrier, false)) => now.to_world(None, &carrier),
            Some((carrier, true)) => {
                let [from, to] = self.ends().map(|end| state(&end));
                now.to_world(Some([&from?, &to?]), &carrier);
            }
        }
        Ok(now)
    }

    /// Returns where the entity is in the world, and how it moves. The arguments and the errors are
    /// those of [`in_world`](Self::in_world).
    ///
    /// # Errors
    /// [`FrameError::NoPlace`] if the entity's kind has no position; otherwise as for
    /// [`in_world`](Self::in_world).
    pub fn motion(&self, look: impl Fn(EntityId) -> Option<Self>) -> Result<Motion, FrameError> {
        self.motion_below(&Known::new(&look), 0)
    }

    /// Returns the entity's motion, if it is below `depth` entities that are relative to it.
    fn motion_below(&self, known: &Known<'_, 'a>, depth: usize) -> Result<Motion, FrameError> {
        let carrier = self.carrier(known, depth)?;
        let (own, are_relative) = self.own()?;
        Ok(match carrier {
            None => own,
            Some((carrier, false)) => carrier.from.carry(own, are_relative),
            Some((carrier, true)) => {
                let [from, to] = self.ends().map(|end| end.own());
                let from = carrier.from.carry(from?.0, are_relative).place;
                let to = carrier.to.carry(to?.0, are_relative).place;
                let place = Place {
                    position: carrier.blend(from.position, to.position),
                    rotation: (carrier.at.slerp(from.rotation, to.rotation))
                        .unwrap_or(from.rotation),
                };
                Motion::along(place, [from, to], self.at.seconds)
            }
        })
    }

    /// Returns the motion that the entity's own fields say, and whether its position and its
    /// rotation are relative to a frame.
    fn own(&self) -> Result<(Motion, [bool; 2]), FrameError> {
        let (from, to) = (self.from, self.to);
        let (placement, [from, to]) = from.0.placement_of(from.1, to.0, to.1)?;
        let own = placement.motion(from, to, self.at);
        let own = own.ok_or(FrameError::NoPlace { entity: self.id() })?;
        Ok((own, placement.are_relative()))
    }

    /// Returns what carries the entity, and whether its frame changes between the two states.
    /// `None` if it is relative to the world in both.
    fn carrier(
        &self,
        known: &Known<'_, 'a>,
        depth: usize,
    ) -> Result<Option<(Carrier, bool)>, FrameError> {
        let [from, to] = [self.from, self.to].map(|(state, index)| state.frame_at(index));
        if from.is_none() && to.is_none() {
            return Ok(None);
        }
        let motion = |frame: Option<EntityId>| {
            let Some(frame) = frame else { return Ok(Motion::ORIGIN) };
            if depth == MOST_FRAMES || !known.may_follow() {
                return Err(FrameError::TooManyFrames { entity: self.id() });
            }
            let in_second = || self.to.0.position(frame).map(|index| Self::of((self.to.0, index)));
            let found = (known.look)(frame).or_else(in_second);
            let unknown = FrameError::UnknownFrame { entity: self.id(), frame: frame.0 };
            found.ok_or(unknown)?.motion_below(known, depth + 1)
        };
        let first = motion(from)?;
        let second = if to == from { first } else { motion(to)? };
        // A motion from one frame to another does not continue beyond the second.
        Ok(Some((Carrier { from: first, to: second, at: self.at.within() }, to != from)))
    }

    /// The two states as moments of their own.
    fn ends(&self) -> [Self; 2] {
        [self.from, self.to].map(Self::of)
    }

    fn id(&self) -> u32 {
        self.from.0.ids().get(self.from.1).map_or(0, |id| id.0)
    }
}

/// The entities that may be frames.
struct Known<'l, 'a> {
    look: &'l dyn Fn(EntityId) -> Option<Moment<'a>>,
    /// How many frames may still be followed.
    rest: Cell<usize>,
}

impl<'l, 'a> Known<'l, 'a> {
    fn new(look: &'l dyn Fn(EntityId) -> Option<Moment<'a>>) -> Self {
        Self { look, rest: Cell::new(MOST_FOLLOWED) }
    }

    /// Counts a frame. Returns false if there were too many.
    fn may_follow(&self) -> bool {
        let rest = self.rest.get();
        self.rest.set(rest.saturating_sub(1));
        rest > 0
    }
}

impl Snapshot {
    /// Returns the state of entity `id` in world coordinates, as [`get`](Self::get) does without
    /// frames. See [`Moment::in_world`].
    ///
    /// # Errors
    /// [`FrameError`], as for [`Moment::in_world`].
    pub fn get_in_world<T: Pack>(&self, id: EntityId) -> Result<Option<T>, FrameError> {
        let kind = self.kind_of_type::<T>()?;
        let index = self.position_of(kind, id);
        index.map(|index| Moment::of((self, index)).in_world(|id| self.moment(id))).transpose()
    }

    /// Returns where the entity at `index` is in the world. See [`Moment::motion`].
    ///
    /// # Errors
    /// [`FrameError`], as for [`Moment::motion`].
    pub fn place_at(&self, index: usize) -> Result<Place, FrameError> {
        Moment::of((self, index)).motion(|id| self.moment(id)).map(|motion| motion.place)
    }

    fn moment(&self, id: EntityId) -> Option<Moment<'_>> {
        self.position(id).map(|index| Moment::of((self, index)))
    }
}

/// The reason why an entity's place in the world is not known.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FrameError {
    /// The entity's frame is not known. At a receiver, its state has not arrived yet.
    UnknownFrame {
        /// The entity.
        entity: u32,
        /// The frame.
        frame: u32,
    },
    /// The entity, which may be a frame of others, is of a kind without a position.
    NoPlace {
        /// The entity.
        entity: u32,
    },
    /// There are more than [`MOST_FRAMES`] frames between an entity and the world, or they form a
    /// cycle, or an entity has more than 32 frames in both states, because several change.
    TooManyFrames {
        /// The last entity that was followed.
        entity: u32,
    },
    /// The type does not describe the entity.
    State(EncodeError),
}

impl From<EncodeError> for FrameError {
    fn from(error: EncodeError) -> Self {
        Self::State(error)
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFrame { entity, frame } => {
                write!(f, "entity {entity} is relative to entity {frame}, which is not known")
            }
            Self::NoPlace { entity } => write!(
                f,
                "entity {entity} is of a kind without a position; mark one, three numbers with a \
                 `range`, if others are relative to it"
            ),
            Self::TooManyFrames { entity } => write!(
                f,
                "more than {MOST_FRAMES} frames up to the world, {MOST_FOLLOWED} of two states, or \
                 a cycle, at entity {entity}"
            ),
            Self::State(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for FrameError {}
