//! The adaptive level: every value predicted from the acknowledged states and what the packet has coded so far, the residual coded
//! with a range coder whose counters start from a trained profile. `spec/CODEC.md`, section 12.

mod body;
mod coding;
mod file;
mod fixed;
mod geometry;
mod history;
mod model;
mod movers;
mod neighbours;
mod plan;
mod rotation;
mod train;

use alloc::borrow::ToOwned;
use alloc::vec;
use alloc::vec::Vec;

use coding::{Coding, Observer, Scratch};
pub(super) use history::STEPS;
pub use model::{Bodies, BodyKind, Model};
use plan::Plan;
pub(super) use train::{ModelTrainer, Pass};

use super::Baselines;
use super::store::EntityId;
use crate::entropy::{Coder, Counter, RangeDecoder, RangeEncoder};
use crate::{BitReader, BitSink, DecodeError, Schema, SetupError};

/// A model made ready for a schema.
#[derive(Debug)]
pub(super) struct Adaptive {
    plan: Plan,
    model: Model,
    fields: usize,
}

/// What an encoder or a decoder of the level needs besides: kept from packet to packet.
#[derive(Debug)]
pub(super) struct State {
    scratch: Scratch,
    counters: Vec<Counter>,
    /// What each field took in the last packet, in 1/256 bit.
    pub(super) spent: Vec<u64>,
    /// An encoder's copy of the new values.
    columns: Vec<Vec<u32>>,
}

/// One packet's view of the world.
pub(super) struct Packet<'a> {
    pub(super) baselines: Baselines<'a>,
    pub(super) ids: &'a [EntityId],
    /// The baseline's columns, in the order of `ids`.
    pub(super) base: &'a [Vec<u32>],
    pub(super) tick: u32,
}

impl Adaptive {
    pub(super) fn new(schema: &Schema, model: Model) -> Result<Self, SetupError> {
        let plan = Plan::new(schema, model.bodies.as_ref())?;
        model.validate(&plan)?;
        Ok(Self { plan, model, fields: schema.fields().len() })
    }

    pub(super) fn state(&self) -> State {
        State {
            scratch: Scratch::default(),
            counters: self.model.counters.clone(),
            spent: vec![0; self.fields],
            columns: Vec::new(),
        }
    }

    /// Writes a packet in which the entities at `changed`, rising, are as in `columns`, and all others as in the baseline.
    pub(super) fn encode<S: BitSink>(
        &self,
        state: &mut State,
        packet: &Packet<'_>,
        columns: &[Vec<u32>],
        changed: &[u32],
        sink: &mut S,
    ) {
        let mut own = core::mem::take(&mut state.columns);
        columns.clone_into(&mut own);
        let mut encoder = RangeEncoder::new(sink);
        let is_good = self.code(state, &mut encoder, &mut (), packet, changed, &mut own);
        debug_assert!(is_good, "an encoder's values are in their lanes");
        encoder.finish();
        state.columns = own;
    }

    /// Reads what [`encode`](Self::encode) wrote into `columns`, which hold the baseline.
    pub(super) fn decode(
        &self,
        state: &mut State,
        packet: &Packet<'_>,
        columns: &mut [Vec<u32>],
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        let mut decoder = RangeDecoder::new(reader);
        let is_good = self.code(state, &mut decoder, &mut (), packet, &[], columns);
        decoder.finish()?;
        if is_good { Ok(()) } else { Err(DecodeError::OutOfRange { at_bit: reader.position_bits() }) }
    }

    /// Codes a packet. `changed` are the entities that an encoder knows to have changed, rising; a decoder gives none. False where
    /// what was decoded is no snapshot.
    fn code<C: Coder, O: Observer>(
        &self,
        state: &mut State,
        coder: &mut C,
        observer: &mut O,
        packet: &Packet<'_>,
        changed: &[u32],
        columns: &mut [Vec<u32>],
    ) -> bool {
        state.counters.clone_from(&self.model.counters);
        let State { scratch, counters, spent, .. } = state;
        spent.fill(0);
        scratch.told.clear();
        scratch.told.extend_from_slice(changed);
        scratch.history.prepare(&packet.baselines, packet.base, packet.ids, packet.tick);
        let set = self.model.set(scratch.history.lag, scratch.history.is_near);
        let mut coding = Coding {
            coder,
            observer,
            plan: &self.plan,
            model: &self.model,
            rows: &self.model.sets[set],
            set,
            lag_log2: fixed::log2(u64::from(scratch.history.lag)),
            counters,
            baselines: packet.baselines,
            ids: packet.ids,
            base: packet.base,
            columns,
            is_bad: false,
            spent,
        };
        coding.run(scratch);
        !coding.is_bad
    }
}
