//! Types that have a schema: the traits of `#[derive(Pack)]`.

use alloc::vec::Vec;

use super::columns::with_row;
use super::{Columns, Field, Share, raw};
use crate::frame::Carrier;
use crate::{Between, EncodeError};

/// A type with a schema. Use `#[derive(Pack)]` to implement this trait. Implement the trait by hand
/// only for a type whose lanes the attributes cannot describe.
///
/// Without an attribute, `f32` and `f64` are kept bit for bit and integers in their full width. A
/// `bool` takes one bit, and a [`Duration`](core::time::Duration) takes 64 bits of nanoseconds.
/// Arrays, tuples and structs are coded element by element or field by field. With the feature
/// `glam`, glam's vectors and quaternions are treated like arrays.
///
/// Some parts of a value may be absent. An absent part takes no bits in a packet, apart from its
/// selector. The part's lanes are then 0, and they still count towards [`LANES`](Self::LANES).
///
/// | type | fields |
/// |---|---|
/// | `Option<T>` at `path` | a flag `path?`; the fields of `T` at `path`, present if the flag is set |
/// | an enum at `path` | a choice `path`, the number of the variant; the fields of each variant, as `path.Variant.field` or `path.Variant.0`, present if the value is that variant |
/// | [`ArrayVec<T, N>`](crate::ArrayVec) at `path` | the length `path.len`; the fields of `T` at `path[0]`, `path[1]` and so on, present below the length |
/// | [`ArrayString<N>`](crate::ArrayString) at `path` | the length in bytes `path.len`; four bytes each at `path[0]`, `path[4]` and so on, present if the text reaches them |
///
/// Lists and texts need the feature `arrayvec`, which is on by default. The capacity of a list or
/// text is 1 to 65,535. To put attributes on the elements of a list, wrap the elements in a struct.
///
/// The following attributes can be put on the fields of a struct or a variant:
///
/// | attribute | on | meaning |
/// |---|---|---|
/// | `range = a..=b`, `range = a..b` | numbers, vectors, integers, durations in seconds | limits; `..` excludes the end |
/// | `range = [r, r, r]` | vectors | limits for each axis |
/// | `precision = p` | with `range` | the step, or one for each axis: `[p, p, p]` |
/// | `bits = n` | with `range`, or an integer alone | that many bits instead of a step, 1 to 32; integers up to 64 |
/// | `max = m` | unsigned integers | the same as `range = 0..=m` |
/// | `rotation, bits = n` | quaternions x, y, z, w | smallest three, 2 to 20 bits a component; off by up to 0.56 degrees at 9 bits, and half of that with each further bit |
/// | `wrap` | with `range = a..b` | an angle: the end equals the beginning |
/// | `clamp` | with `range` or `max` | clamps out-of-range values to the nearest end, instead of an error |
/// | `velocity`, `velocity = field` | numbers and vectors with `range` | the velocity of another field in units per second, for interpolation; zero means at rest, for level 4 |
/// | `frame = field` | positions and velocities of three numbers, rotations | relative to the entity whose id is in that field, an `EntityId`, an unsigned integer, or an `Option` of one: see [`frame`](crate::frame) |
/// | `step` | anything sent without `with` | is not blended in interpolation, for example a counter of teleports |
/// | `clock` | an integer, or `f32` or `f64` with `range` | a time stamp, from which a [`stream`](crate::stream) predicts the motion of its other fields |
/// | `cut` | a `bool` or an integer | changes when the entity jumps to another place, as in a teleport: playback does not blend over the jump, and packets do not predict from before it |
/// | `body` | three numbers with `range`, and a `rotation` | the position and the rotation of a rigid body |
/// | `touched`, `mover` | `bool` | flags of a rigid body: something moves it; it moves others, as a player does |
/// | `coarser = n` | in structs: numbers and vectors with `range`, without `wrap`; a `rotation` | may be up to n bits coarser in some entities, such as far ones: [`Coarser`](super::Coarser) |
/// | `time_precision_ms = t` | numbers and vectors with `range`, without `wrap`; a `rotation` | may be off by the distance that the field moves in that time: [`TimePrecision`](super::TimePrecision) |
/// | `max_step = s` | with `time_precision_ms` | the coarsest step, in the field's unit; for a rotation an angle in radians |
/// | `with = Type` | anything | lanes by `Type`'s [`PackWith`] |
/// | `spawn` | anything | is sent when the entity appears, and does not change: see below |
/// | `skip` | anything | not sent; `Default::default()` on the other side |
///
/// The attributes of an `Option` apply to the value in it, except for `skip`. For example, write
/// `#[pack(max = 8)]` on an `Option<u8>`, or `with = Type` with a `Type` for the value. The type
/// must be written as `Option`, not as an alias. The value may be absent, so it cannot be marked
/// `body`, `touched`, `mover`, `clock`, `cut` or `velocity`. A field of a variant cannot be marked
/// `body`, `touched`, `mover`, `clock` or `cut` either.
///
/// `velocity = field` names the field that moves at this velocity, in the same struct or variant.
/// That field must have the same type, and must not be an `Option`. That field must not be marked
/// `velocity`, `rotation`, `wrap`, `step`, `clock`, `skip` or `with`. `velocity` alone means the
/// nearest such field before it in the struct or variant, or else the nearest one after it. If no
/// such field exists, no field uses the velocity. If several velocities refer to the same field,
/// the velocity that names the field counts, or else the first one. For example, if
/// `linear_velocity` and `angular_velocity` follow `position`, the first of them is the velocity of
/// `position`.
///
/// A `spawn` field keeps its value for as long as the entity lives, for example its team or its
/// creator. At levels 7 and above, packets hold the field only for entities that the receiver does
/// not know yet. An entity with another value counts as another entity: the one that the receiver
/// knows is removed, and the new one is added. A hub refuses an entity whose value changes from one
/// tick to the next. `spawn` cannot be combined with `body`, `touched`, `mover`, `clock`,
/// `velocity`, `time_precision_ms` or `coarser`. It cannot be put on the fields of variants. On a
/// struct, an enum or an `Option`, `spawn` applies to all fields inside.
///
/// A struct holds at most one body. A body is one position and one rotation, both marked with
/// `body`. That position must not be marked `velocity` or `wrap`. `body` does not change the lanes,
/// only the schema's hash and the adaptive level's predictions ([`Role`](super::Role),
/// [`Bodies::from_schema`](crate::profile::Bodies::from_schema)). If an entity has several bodies,
/// nested or side by side, the first one is used.
///
/// The values of attributes are constant expressions. Limits that are impossible, such as a step
/// finer than the field's `f32` can resolve, are compile errors. On the type itself,
/// `#[pack(crate = path)]` gives kinepack's path if it is not `::kinepack`.
/// `#[pack(ticks_per_s = f)]` gives the ticks per second, which a field with `time_precision_ms`
/// needs.
///
/// ```
/// use kinepack::Pack;
///
/// #[derive(Pack)]
/// struct Player {
///     #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 64.0, clamp)]
///     position: [f32; 3],
///     #[pack(velocity, range = -32.0..32.0, precision = 1.0 / 32.0)]
///     velocity: [f32; 3],
///     #[pack(rotation, bits = 9)]
///     orientation: [f32; 4],
///     #[pack(max = 100)]
///     health: u8,
///     #[pack(skip)]
///     name: String,
/// }
/// assert_eq!(Player::LANES, 3 + 3 + 4 + 1);
///
/// #[derive(Pack)]
/// enum Weapon {
///     Sword,
///     Bow {
///         #[pack(range = 0.0..=1.0, precision = 0.01)]
///         tension: f32,
///         #[pack(max = 30)]
///         burning_arrows: Option<u8>,
///     },
/// }
/// assert_eq!(Weapon::LANES, 1 + (1 + 2));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema",
    label = "not `Pack`",
    note = "derive `Pack` for it, or write `#[pack(with = Type)]` or `#[pack(skip)]` on the field"
)]
pub trait Pack: Sized + 'static {
    /// The number of lanes.
    const LANES: usize;

    /// Appends the type's fields, with their names below `path`. The fields must stay the same
    /// while a program runs, because snapshots and streams check a type only once.
    fn fields(path: &str, fields: &mut Vec<Field>);

    /// Quantizes the state into `lanes`, which has [`LANES`](Self::LANES) elements.
    ///
    /// # Errors
    /// [`EncodeError`] if a value is not a number or out of range.
    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError>;

    /// Quantizes several states lane by lane, for [`Snapshot::extend`](crate::Snapshot::extend).
    /// Returns false if a state cannot be quantized. The caller then calls
    /// [`quantize`](Self::quantize) for each state to get the error. The derived method has a loop
    /// for each number and rotation. The default fills the lanes state by state with `quantize`.
    /// [`Columns`] has an example.
    #[inline]
    fn quantize_columns<'a>(
        states: impl Iterator<Item = &'a Self> + Clone,
        columns: Columns<'_>,
    ) -> bool {
        columns.fill_rows(states, Self::quantize)
    }

    /// Stores the state before quantization, one word per lane, as
    /// [`Schema::quantize_raw`](super::Schema::quantize_raw) accepts it, for captures. The derived
    /// method copies the numbers, at a nanosecond each. The default reconstructs the words from the
    /// lanes, and allocates memory.
    ///
    /// # Errors
    /// [`EncodeError`] if the default is used and a value cannot be quantized.
    ///
    /// # Panics
    /// If `raw` does not have one word per lane.
    fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
        raw::from_lanes(
            Self::LANES,
            raw,
            |fields| Self::fields("", fields),
            |lanes| self.quantize(lanes),
        )
    }

    /// Reconstructs the state from `lanes`. Any values of the lanes must give a state.
    fn reconstruct(lanes: &[u32]) -> Self;

    /// Interpolates the state between those of `from` and `to`, for playback. At ratio 0 the result
    /// is exactly [`reconstruct`](Self::reconstruct) of `from`, and at ratio 1 of `to`. Above ratio
    /// 1, it extrapolates. The result stays within limits and is never NaN unless an end is.
    /// Interpolation does not allocate. The default returns `from` below ratio 1, then `to`.
    ///
    /// The derived method interpolates field by field:
    ///
    /// | field | between the ends |
    /// |---|---|
    /// | `f32`, `f64`, vectors, with a `range` or without | on the line, component by component; steps if an end is not finite |
    /// | the same, if another field is its `velocity` | on the cubic of both ends and both velocities (Hermite), within the `range` |
    /// | with `wrap` | the short way round |
    /// | `rotation`, and glam's `Quat` and `DQuat` without an attribute | the shorter turn at constant angular speed, with length 1 |
    /// | `Duration`, with a `range` or without | on the line |
    /// | glam's integer vectors, with a `range` | on the line, rounded to integers |
    /// | `bool`, integers, enums without fields, texts, all with `step` | steps: `from` below ratio 1, then `to` |
    /// | structs, arrays, tuples | part by part, by their own `interpolate` |
    /// | `Option` | the value in it, if both ends have one; otherwise steps |
    /// | enums with fields | field by field, if both ends are the same variant; otherwise steps |
    /// | `ArrayVec` | the elements that both ends have; the others and the length step |
    /// | `with = Type` | by `Type`'s [`PackWith::interpolate`] |
    /// | `skip` | `Default::default()` |
    ///
    /// Above ratio 1, numbers and vectors with a `velocity` continue straight at the velocity of
    /// `to`. Others continue on the line, the short way round, or about the same axis. Velocities,
    /// durations and whatever steps are those of `to`.
    ///
    /// Integers step because most of them count or name something. A quaternion and its negative
    /// are the same rotation, so the sign may change when the ratio becomes 1. [`Between`] has an
    /// example.
    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
        Self::reconstruct(at.step(from, to))
    }

    /// Replaces each field that is relative to a [frame](crate::frame) by its value in world
    /// coordinates. If the frame changes, `ends` are the two states that the moment is between,
    /// each relative to its own frame. The default changes nothing, which is right for types
    /// without such fields.
    fn to_world(&mut self, ends: Option<[&Self; 2]>, carrier: &Carrier) {
        let _ = (ends, carrier);
    }

    /// Moves the state by a share of the way from `from` to `to`, so that a game can blend two
    /// paths: for example, to fade out the distance between a predicted state and the true one. The
    /// result stays within limits and is never NaN unless the state is.
    ///
    /// The derived method moves the positions and rotations: the fields that
    /// [`interpolate`](Self::interpolate) blends, except for a `Duration` without a `range`, and
    /// fields marked `velocity` or `with`. Parts that may be absent move if all three states have
    /// them. The default moves nothing.
    ///
    /// ```
    /// use kinepack::Pack;
    /// use kinepack::schema::Share;
    ///
    /// #[derive(Pack)]
    /// struct Ball {
    ///     #[pack(range = -64.0..64.0, precision = 0.125)]
    ///     height: f32,
    ///     bounces: u8,
    /// }
    ///
    /// let [low, high] = [0.0, 8.0].map(|height| Ball { height, bounces: 7 });
    /// let mut ball = Ball { height: 1.0, bounces: 1 };
    /// ball.displace(&low, &high, Share::of(0.25));
    /// assert_eq!((ball.height, ball.bounces), (3.0, 1));
    /// ```
    fn displace(&mut self, from: &Self, to: &Self, share: Share) {
        let _ = (from, to, share);
    }

    /// Returns the state as the other side reconstructs it: quantized, and back. Fields marked
    /// `skip` get their default.
    ///
    /// If a server and a client both simulate an entity and should get equal results, each of them
    /// rounds the state after every step. Otherwise the server continues with digits that the
    /// client never gets. Memory is allocated only for more than 64 lanes.
    ///
    /// ```
    /// use kinepack::Pack;
    ///
    /// #[derive(Pack)]
    /// struct Ball {
    ///     #[pack(range = -64.0..64.0, precision = 0.125)]
    ///     height: f32,
    /// }
    ///
    /// let mut ball = Ball { height: 10.0 };
    /// for _ in 0..3 {
    ///     ball.height *= 0.99; // a step of the simulation
    ///     ball = ball.rounded()?;
    /// }
    /// assert_eq!(ball.height, 9.625);
    /// # Ok::<(), kinepack::EncodeError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`quantize`](Self::quantize).
    fn rounded(&self) -> Result<Self, EncodeError> {
        with_row(Self::LANES, |lanes| {
            self.quantize(lanes)?;
            Ok(Self::reconstruct(lanes))
        })
    }
}

/// Packs values of a foreign type as lanes, if it is named in `#[pack(with = Type)]`.
///
/// ```
/// use kinepack::schema::{Field, FieldKind, PackWith};
/// use kinepack::{EncodeError, Pack, Schema};
///
/// /// A colour as a number from a palette of 256.
/// struct Palette;
///
/// impl PackWith<[u8; 3]> for Palette {
///     const LANES: usize = 1;
///
///     fn fields(path: &str, fields: &mut Vec<Field>) {
///         fields.push(Field::new(path, FieldKind::Choice { max: 255 }));
///     }
///
///     fn quantize([red, green, blue]: &[u8; 3], lanes: &mut [u32]) -> Result<(), EncodeError> {
///         lanes[0] = u32::from(red & 0xE0 | (green & 0xE0) >> 3 | blue >> 6);
///         Ok(())
///     }
///
///     fn reconstruct(lanes: &[u32]) -> [u8; 3] {
///         let code = lanes[0] as u8;
///         [code & 0xE0, (code << 3) & 0xE0, code << 6]
///     }
/// }
///
/// #[derive(Pack)]
/// struct Lamp {
///     #[pack(with = Palette)]
///     colour: [u8; 3],
/// }
/// assert_eq!(Schema::of::<Lamp>().bits_per_entity(), 8);
/// ```
pub trait PackWith<T> {
    /// The number of lanes.
    const LANES: usize;

    /// Appends the fields, with their names below `path`. The fields must stay the same while a
    /// program runs, as for [`Pack::fields`].
    fn fields(path: &str, fields: &mut Vec<Field>);

    /// Quantizes `value` into `lanes`.
    ///
    /// # Errors
    /// [`EncodeError`] if a value is not a number or out of range.
    fn quantize(value: &T, lanes: &mut [u32]) -> Result<(), EncodeError>;

    /// Stores the value before quantization, one word per lane, as [`Pack::store_raw`] does. The
    /// default reconstructs the words from the lanes, and allocates memory.
    ///
    /// # Errors
    /// [`EncodeError`] if the default is used and a value cannot be quantized.
    fn store_raw(value: &T, raw: &mut [u64]) -> Result<(), EncodeError> {
        raw::from_lanes(
            Self::LANES,
            raw,
            |fields| Self::fields("", fields),
            |lanes| Self::quantize(value, lanes),
        )
    }

    /// Reconstructs the value from `lanes`.
    fn reconstruct(lanes: &[u32]) -> T;

    /// Interpolates the value between those of `from` and `to`, as for [`Pack::interpolate`]. The
    /// default steps from `from` to `to` at ratio 1; use [`Between::linear`] for numbers.
    fn interpolate(from: &[u32], to: &[u32], at: Between) -> T {
        Self::reconstruct(at.step(from, to))
    }
}
