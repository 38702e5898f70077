//! Snapshots, and the codec that writes one snapshot relative to another.
//!
//! A packet is coded in these stages:
//!
//! 1. the set of entities that were added and removed: [`alignment`]
//! 2. the set of entities that changed: [`sets`]
//! 3. for each field, the set of entities that changed the field: [`sets`] again
//! 4. the change of the field in each of these entities: [`fields`], [`widths`]
//!
//! The [`level`] selects the stages, the [`profile`] holds their parameters, and [`codec`] turns
//! both into tables. See `spec/CODEC.md`, sections 6 to 10.

mod adaptive;
mod alignment;
mod baselines;
mod changed;
mod check;
mod coarser;
mod codec;
mod contexts;
mod decode;
mod difference;
mod encode;
mod entities;
mod extend;
mod fields;
mod history;
mod ids;
mod level;
mod lineup;
mod packed;
mod patch;
mod positions;
mod precision;
mod profile;
mod profile_carried;
mod profile_file;
mod profile_learned;
mod read;
#[cfg(feature = "training")]
mod search;
mod sets;
mod status;
mod store;
mod tally;
#[cfg(feature = "training")]
mod train;
#[cfg(feature = "training")]
mod training;
mod update;
mod view;
mod widths;

#[cfg(feature = "training")]
pub use adaptive::FeatureGroup;
pub use adaptive::{Bodies, BodyKind, Learned, Model};
pub use baselines::Baselines;
pub use codec::Codec;
pub use decode::{DecodeLimits, Decoder};
pub use difference::Difference;
pub use encode::{Chosen, Encoded, Encoder};
pub use ids::{EntityId, Tick};
pub use level::{Changed, Level};
pub use packed::Size;
pub use profile::{Class, Context, FieldCode, GapCode, LaneWidth, Profile, Reference};
#[cfg(feature = "training")]
pub use search::{ProfileSearch, SmallOrLarge, SmallOrLargeCosts};
pub use store::Snapshot;
#[cfg(feature = "training")]
pub use train::Trainer;
#[cfg(feature = "training")]
pub use training::{Pooled, TrainError, Training};
pub use view::View;
