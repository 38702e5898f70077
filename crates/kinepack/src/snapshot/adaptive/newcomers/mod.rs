//! Newcomers: entities that the baseline lacks. Each field is coded either by how frequent its
//! values are, or relative to another entity. That entity is either *like* the newcomer, or its
//! *origin*, the entity that it came from. See `spec/CODEC.md`, section 12.11.

mod coding;
mod field;
mod memory;
mod plan;

pub(super) use memory::Newcomers;
pub(super) use plan::{NewcomerPlan, kind_counters};
