//! The settings that a server and its clients share, and the codecs that are made from them.

use std::borrow::Cow;
use std::fmt;

use kinepack::schema::{Field, TimePrecision};
use kinepack::stream::StreamLevel;
use kinepack::{Codec, Level, Profile, Schema, SetupError};

/// The settings that a server and its clients share, in addition to the registered kinds, events
/// and inputs.
///
/// ```
/// use kinepack::Level;
/// use kinepack_bevy::MotionSettings;
///
/// // A tick costs less processor time at this level, and takes more bytes.
/// let settings = MotionSettings { level: Level::PACKED, ..MotionSettings::at_hz(30) };
/// assert_eq!(settings.tick_hz, 30);
/// ```
#[derive(Clone, Debug)]
pub struct MotionSettings {
    /// The number of ticks per second. The plugins set `Time<Fixed>` to this rate. The server sends
    /// a state after each run of `FixedUpdate`.
    pub tick_hz: u32,
    /// The level of the codecs for states and events.
    pub level: Level,
    /// The precision of moving values, as a time in milliseconds: a value may be off by the
    /// distance that it moves in this time. A value at rest is exact. The precision may be at most
    /// a quarter of the length of a tick. `None` makes all values exact, except for fields that
    /// have a [`TimePrecision`] of their own. Fields that may be
    /// [coarser](kinepack::schema::Coarser) far away, such as a `CoarserPose`, do not have one.
    pub time_precision_ms: Option<f64>,
    /// The level of the codecs for inputs. At `Adaptive`, the server needs some 100 kB for each
    /// client.
    pub inputs: StreamLevel,
    /// How many unacknowledged earlier inputs each packet of inputs repeats, 0 to 15. An input is
    /// lost only if all packets with it are lost. For inputs that are for ticks, 3 suit good
    /// networks, and 7 suit bad ones: the book's chapter on playing has measurements.
    pub input_repeats: u8,
    /// A profile for the kinds, as the command `kinepack train` writes it into a file. `None` for
    /// the profile that figures have built in, and an untrained one for other kinds. Use
    /// `include_bytes!` to include the file in the program.
    pub profile: Option<Cow<'static, [u8]>>,
}

impl MotionSettings {
    /// Settings for `tick_hz` ticks per second, at the adaptive level and without a profile trained
    /// for the world.
    pub fn at_hz(tick_hz: u32) -> Self {
        Self {
            tick_hz,
            level: Level::ADAPTIVE,
            time_precision_ms: None,
            inputs: StreamLevel::Packed,
            input_repeats: 1,
            profile: None,
        }
    }

    pub(crate) fn codec(&self, schema: Schema) -> Result<Codec, SetupError> {
        let profile = match &self.profile {
            Some(bytes) => Profile::from_bytes(bytes, &schema)?,
            None => built_in(&schema),
        };
        let precision =
            self.time_precision_ms.map(|ms| TimePrecision::new(ms, self.tick_hz.into()));
        let is_of_figure = fields_of_figures(&schema);
        let schema = schema.with_time_precision(|field| {
            let takes_it = field.takes_time_precision() && !is_of_figure(field);
            field.time_precision.or(precision.filter(|_| takes_it))
        });
        Codec::new(schema, self.level, profile)
    }

    pub(crate) fn event_codec(&self, schema: Schema) -> Result<Codec, SetupError> {
        let profile = Profile::untrained(&schema);
        Codec::new(schema, self.level, profile)
    }
}

/// Returns a function that says whether a field belongs to a figure. Its error in centimetres is
/// promised, also while it moves, so it has no time precision.
#[cfg(feature = "figure")]
fn fields_of_figures(schema: &Schema) -> impl Fn(&Field) -> bool + use<> {
    kinepack_anim::figure::profile::fields_of_figures(schema)
}

#[cfg(not(feature = "figure"))]
fn fields_of_figures(_schema: &Schema) -> impl Fn(&Field) -> bool + use<> {
    |_| false
}

/// Returns the profile of programs that have none of their own.
#[cfg(feature = "figure")]
fn built_in(schema: &Schema) -> Profile {
    kinepack_anim::figure::Figure::profile(schema)
}

#[cfg(not(feature = "figure"))]
fn built_in(schema: &Schema) -> Profile {
    Profile::untrained(schema)
}

/// Returns the value, or panics with the reason why the program's setup is wrong.
#[track_caller]
pub(crate) fn expect<T, E: fmt::Display>(result: Result<T, E>, what: &str) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("kinepack-bevy: {what}: {error}"),
    }
}
