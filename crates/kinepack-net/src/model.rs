//! How a state is made of an entity's lanes and moved: by its type, or by a schema that only the
//! running program knows. Prediction and smoothing are written once, for both.

use std::fmt::Debug;

use kinepack::schema::Share;
use kinepack::{Between, EncodeError, Pack, Schema};

/// Makes states of lanes, and moves them. The schema has one kind. All methods are pure.
pub(crate) trait Model<S>: Debug {
    /// Returns the state of an entity with these lanes.
    fn reconstruct(&self, lanes: &[u32]) -> S;

    /// Quantizes a state that a model made.
    ///
    /// # Errors
    /// [`EncodeError`] if a number is NaN or out of range.
    fn quantize(&self, state: &S, lanes: &mut [u32]) -> Result<(), EncodeError>;

    /// Interpolates between the states of these lanes.
    fn interpolate(&self, from: &[u32], to: &[u32], at: Between) -> S;

    /// Moves a state by a share of the way between two others.
    fn displace(&self, state: &mut S, from: &S, to: &S, share: Share);
}

/// States are values of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByType;

impl<S: Pack> Model<S> for ByType {
    fn reconstruct(&self, lanes: &[u32]) -> S {
        S::reconstruct(lanes)
    }

    fn quantize(&self, state: &S, lanes: &mut [u32]) -> Result<(), EncodeError> {
        state.quantize(lanes)
    }

    fn interpolate(&self, from: &[u32], to: &[u32], at: Between) -> S {
        S::interpolate(from, to, at)
    }

    fn displace(&self, state: &mut S, from: &S, to: &S, share: Share) {
        state.displace(from, to, share);
    }
}

/// States are the raw words of an entity.
#[derive(Clone, Debug)]
pub(crate) struct BySchema {
    schema: Schema,
    lanes: usize,
}

/// Why the schema's methods do not fail here.
const LENGTHS: &str = "the schema has one kind, and all slices have its number of lanes";

impl BySchema {
    /// `schema` has one kind.
    pub(crate) fn new(schema: Schema) -> Self {
        let lanes = schema.lanes().len();
        Self { schema, lanes }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Makes words with `fill`.
    fn words(&self, fill: impl FnOnce(&mut [u64]) -> Result<(), EncodeError>) -> Vec<u64> {
        let mut words = vec![0; self.lanes];
        let filled = fill(&mut words);
        debug_assert!(filled.is_ok(), "{LENGTHS}");
        words
    }
}

impl Model<Vec<u64>> for BySchema {
    fn reconstruct(&self, lanes: &[u32]) -> Vec<u64> {
        self.words(|words| self.schema.reconstruct_raw(lanes, words))
    }

    fn quantize(&self, state: &Vec<u64>, lanes: &mut [u32]) -> Result<(), EncodeError> {
        self.schema.quantize_raw(state, lanes).map(drop)
    }

    fn interpolate(&self, from: &[u32], to: &[u32], at: Between) -> Vec<u64> {
        self.words(|words| self.schema.interpolate_raw(from, to, at, words))
    }

    fn displace(&self, state: &mut Vec<u64>, from: &Vec<u64>, to: &Vec<u64>, share: Share) {
        let displaced = self.schema.displace_raw(state, from, to, share);
        debug_assert!(displaced.is_ok(), "{LENGTHS}");
    }
}
