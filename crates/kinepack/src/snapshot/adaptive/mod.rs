//! The adaptive level, which predicts values. Every value is predicted from the acknowledged states
//! and the part of the packet that is already coded. A range coder codes the residual with counters
//! that start from a trained profile. See `spec/CODEC.md`, section 12.

mod bodies;
mod body;
mod carried;
mod changed_flags;
mod codec;
mod coding;
mod counters;
#[cfg(feature = "training")]
mod feature_groups;
mod features;
mod fields;
mod file;
mod lanes;
mod learn;
mod learned;
mod mixing;
mod model;
mod movers;
mod neighbours;
mod newcomers;
mod numbers;
mod past;
mod plan;
#[cfg(feature = "training")]
mod pooled;
mod predictor;
mod rotation;
mod rows;
mod scratch;
#[cfg(feature = "training")]
mod sums;
mod surroundings;
#[cfg(feature = "training")]
mod train;
mod values;

pub use bodies::{Bodies, BodyKind};
pub(super) use carried::Sources;
pub(super) use codec::{Adaptive, State};
#[cfg(feature = "training")]
pub use feature_groups::FeatureGroup;
pub(super) use file::{VERSION_1, VERSION_4};
pub use learned::Learned;
pub use model::Model;
pub(super) use past::Packet;
#[cfg(feature = "training")]
pub(super) use pooled::PooledTrainer;
#[cfg(feature = "training")]
pub(super) use train::{ModelTrainer, Pass};
