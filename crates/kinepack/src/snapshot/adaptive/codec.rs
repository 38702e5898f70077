//! Encodes and decodes packets of the adaptive level, and holds the memory that the packets reuse.
//! See `spec/CODEC.md`, section 12.

use alloc::vec;
use alloc::vec::Vec;

use super::coding::Coding;
use super::counters::{Counters, LIMIT};
use super::learn::{Learner, inverses};
use super::learned::{Learned, LearnedState};
use super::mixing::{Mixed, Mixer};
use super::model::Model;
use super::numbers::{Energies, Row};
use super::past::{Packet, Past};
use super::plan::Plan;
#[cfg(feature = "training")]
use super::pooled::{Tallied, Tally};
use super::predictor::Predictor;
use super::scratch::Scratch;
use super::values::{Columns, Spent, Values};
use crate::bits::{BitReader, BitSink};
#[cfg(feature = "training")]
use crate::entropy::Cost;
use crate::entropy::{Coder, Counter, Decision, RangeDecoder, RangeEncoder};
use crate::{DecodeError, Schema, SetupError};

/// The probability, in 1/65536, that a packet resumes from learned state. See `spec/CODEC.md`,
/// section 12.10.
const RESUMES: u16 = 15 << 12;

/// A model that is prepared for a schema.
#[derive(Debug)]
pub(in crate::snapshot) struct Adaptive {
    pub(super) plan: Plan,
    pub(super) model: Model,
    fields: usize,
    /// Whether packets resume from the baseline's learned state.
    learns: bool,
    /// At a level that learns, the inverses of the energies of each set of the model.
    inverses: Vec<Vec<Row>>,
}

/// The memory of an encoder or decoder at the adaptive level, kept from packet to packet.
#[derive(Debug)]
pub(in crate::snapshot) struct State {
    scratch: Scratch,
    pub(super) learned: LearnedState,
    /// At a level that learns, the decisions of the current packet.
    mixed: Vec<Mixed>,
    /// The cost of each field in the last packet, in 1/256 bit.
    pub(in crate::snapshot) spent: Vec<u64>,
    /// The cost of the values of each lane, in 1/256 bit.
    pub(in crate::snapshot) lanes_spent: Vec<u64>,
}

impl State {
    /// The changed entities that did not fit into the last packet, in no particular order.
    pub(in crate::snapshot) fn unsent(&self) -> &[u32] {
        &self.scratch.unsent
    }

    /// Sets whether newcomers get origins regardless of cost.
    #[cfg(feature = "training")]
    pub(super) fn explore(&mut self, is_wanted: bool) {
        self.scratch.newcomers.explore(is_wanted);
    }

    /// Sets whether to count the cost of each entity.
    pub(in crate::snapshot) fn count_entities(&mut self, is_wanted: bool) {
        self.scratch.entities_spent = is_wanted.then(Vec::new);
    }

    /// The cost of each entity in the last packet, in 1/256 bit and in the packet's order. Empty if
    /// these costs are not counted.
    pub(in crate::snapshot) fn entities_spent(&self) -> &[(u32, u64)] {
        self.scratch.entities_spent.as_deref().unwrap_or_default()
    }
}

impl Adaptive {
    pub(in crate::snapshot) fn new(
        schema: &Schema,
        model: Model,
        learns: bool,
    ) -> Result<Self, SetupError> {
        let plan = Plan::new(schema, model.bodies.as_ref(), model.is_shared)?;
        model.validate(&plan)?;
        let of_set = |energies: &Vec<Energies>| energies.iter().map(inverses).collect();
        let learning = if learns { &model.energies[..] } else { &[] };
        let inverses = learning.iter().map(of_set).collect();
        Ok(Self { plan, model, fields: schema.fields().len(), learns, inverses })
    }

    /// Returns the model with the state that a session learned.
    pub(in crate::snapshot) fn model_with(&self, learned: &Learned) -> Model {
        self.model.with_learned(learned)
    }

    /// Returns whether alike fields share counters.
    pub(in crate::snapshot) fn is_shared(&self) -> bool {
        self.plan.is_shared
    }

    /// Returns the size of a view's learned state, in bytes.
    pub(in crate::snapshot) fn learned_bytes(&self) -> usize {
        let (rows, parts) = self.sizes();
        if self.learns { LearnedState::bytes(self.plan.layout.len, rows, parts) } else { 0 }
    }

    pub(in crate::snapshot) fn state(&self) -> State {
        State {
            scratch: Scratch::default(),
            learned: LearnedState::from_model(&self.model, self.sizes()),
            mixed: Vec::with_capacity(if self.learns { self.model.newcomers } else { 0 }),
            spent: vec![0; self.fields],
            lanes_spent: vec![0; self.plan.lanes],
        }
    }

    /// Writes a packet. The entities at `changed`, increasing, get the values of `columns`, and all
    /// others keep those of the baseline. The packet ends near `max_bits`, but may exceed it by a
    /// few bits. [`State::unsent`] then lists the entities that did not fit.
    pub(in crate::snapshot) fn encode<S: BitSink>(
        &self,
        state: &mut State,
        packet: &Packet<'_>,
        columns: &[Vec<u32>],
        changed: &[u32],
        sink: &mut S,
    ) {
        let mut encoder = RangeEncoder::new(sink);
        if self.learns {
            encoder.code(packet.learned.is_some(), RESUMES);
        }
        let is_valid = self.code(state, &mut encoder, packet, changed, Columns::Given(columns));
        debug_assert!(is_valid, "an encoder's values are within their lanes");
        encoder.finish();
    }

    /// Reads what [`encode`](Self::encode) wrote into `columns`, which must hold the baseline.
    pub(in crate::snapshot) fn decode(
        &self,
        state: &mut State,
        packet: &Packet<'_>,
        columns: &mut [Vec<u32>],
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        let mut decoder = RangeDecoder::new(reader);
        let resumes = self.learns && decoder.code(false, RESUMES);
        if resumes && packet.learned.is_none() {
            return Err(DecodeError::NothingLearned);
        }
        let packet = Packet { learned: packet.learned.filter(|_| resumes), ..*packet };
        let is_valid = self.code(state, &mut decoder, &packet, &[], Columns::Read(columns));
        decoder.finish()?;
        if is_valid {
            Ok(())
        } else {
            Err(DecodeError::OutOfRange { at_bit: reader.position_bits() })
        }
    }

    /// Takes out the state that the models have after the last packet. Call this at most once per
    /// packet. Returns `None` if the level does not learn. The memory of `reused` is used again if
    /// it has no other owner.
    pub(in crate::snapshot) fn learned(
        &self,
        state: &mut State,
        codec_hash: u64,
        reused: Option<Learned>,
    ) -> Option<Learned> {
        self.learns.then(|| Learned::take(codec_hash, &mut state.learned, reused))
    }

    /// Codes a packet with the model's fixed weights. Returns false if the decoded values are not a
    /// snapshot.
    pub(super) fn code<C: Coder>(
        &self,
        state: &mut State,
        coder: &mut C,
        packet: &Packet<'_>,
        changed: &[u32],
        columns: Columns<'_>,
    ) -> bool {
        let set = self.begin(state, packet);
        if self.learns {
            return self.code_learning(state, coder, set, packet, changed, columns);
        }
        let rows = &self.model.sets[set];
        self.code_with(state, coder, &mut &rows[..], packet, changed, columns)
    }

    /// Codes a packet with the weights of its set, and learns from the packet.
    fn code_learning<C: Coder>(
        &self,
        state: &mut State,
        coder: &mut C,
        set: usize,
        packet: &Packet<'_>,
        changed: &[u32],
        columns: Columns<'_>,
    ) -> bool {
        let LearnedState { mut counters, mut gains, mut losses, weights } =
            core::mem::take(&mut state.learned);
        let mut mixed = core::mem::take(&mut state.mixed);
        let (learned, newcomers) = counters.split_at_mut(self.model.newcomers);
        mixed.clear();
        let pairs = learned.iter().zip(&self.model.counters);
        mixed.extend(pairs.map(|(learned, fresh)| Mixed { learned: *learned, fresh: *fresh }));
        let inverses = self.inverses.get(set).map_or(&[][..], Vec::as_slice);
        let rows = &self.model.sets[set];
        let mut learner = Learner { rows, inverses, gains: &mut gains, losses: &mut losses };
        let layout = &self.plan.layout;
        let decisions =
            Counters { decisions: &mut mixed[..], rule: Mixer::new(weights), newcomers, layout };
        let (is_valid, Mixer { weights, .. }) =
            self.code_packet(state, coder, &mut learner, decisions, packet, changed, columns);
        learned.iter_mut().zip(&mixed).for_each(|(counter, mixed)| *counter = mixed.learned);
        state.mixed = mixed;
        state.learned = LearnedState { counters, gains, losses, weights };
        is_valid
    }

    /// Returns the numbers of rows and of parts of the layout that learn.
    fn sizes(&self) -> (usize, usize) {
        if self.learns { (self.plan.rows, 1 + self.plan.groups) } else { (0, 0) }
    }

    /// Begins a packet. Returns the index of the packet's set of rows.
    pub(super) fn begin(&self, state: &mut State, packet: &Packet<'_>) -> usize {
        state.learned.begin(packet.learned, &self.model, self.sizes());
        let history = &packet.lineup.history;
        self.model.set(history.lag, history.is_near)
    }

    /// Codes a packet with the weights of `predictor` and the model's counters.
    pub(super) fn code_with<C: Coder, P: Predictor<Decision = Counter>>(
        &self,
        state: &mut State,
        coder: &mut C,
        predictor: &mut P,
        packet: &Packet<'_>,
        changed: &[u32],
        columns: Columns<'_>,
    ) -> bool {
        let mut counters = core::mem::take(&mut state.learned.counters);
        let (decisions, newcomers) = counters.split_at_mut(self.model.newcomers);
        let layout = &self.plan.layout;
        let decisions = Counters { decisions, rule: LIMIT, newcomers, layout };
        let (is_valid, _) =
            self.code_packet(state, coder, predictor, decisions, packet, changed, columns);
        state.learned.counters = counters;
        is_valid
    }

    /// Counts the decisions of a packet, except those of added entities.
    #[cfg(feature = "training")]
    pub(super) fn tally(
        &self,
        state: &mut State,
        tallies: &mut [Tally],
        packet: &Packet<'_>,
        changed: &[u32],
        columns: Columns<'_>,
    ) {
        let set = self.begin(state, packet);
        let mut counters = core::mem::take(&mut state.learned.counters);
        let newcomers = &mut counters[self.model.newcomers..];
        let layout = &self.plan.layout;
        let counting = Counters { decisions: tallies, rule: (), newcomers, layout };
        let (mut coder, mut predictor) = (Cost::default(), Tallied(&self.model.sets[set]));
        self.code_packet(state, &mut coder, &mut predictor, counting, packet, changed, columns);
        state.learned.counters = counters;
    }

    /// Codes a packet. In an encoder, `changed` holds the changed entities, increasing; a decoder
    /// passes none. Returns the counters' rule, and false if the decoded values are not a snapshot.
    #[expect(clippy::too_many_arguments, reason = "what a packet is coded from and with")]
    fn code_packet<C: Coder, P: Predictor>(
        &self,
        state: &mut State,
        coder: &mut C,
        predictor: &mut P,
        counters: Counters<'_, P::Decision>,
        packet: &Packet<'_>,
        changed: &[u32],
        columns: Columns<'_>,
    ) -> (bool, <P::Decision as Decision>::Rule) {
        let State { scratch, spent, lanes_spent, .. } = state;
        scratch.encoder_changed.clear();
        scratch.encoder_changed.extend_from_slice(changed);
        let mut coding = Coding {
            coder,
            predictor,
            plan: &self.plan,
            model: &self.model,
            past: Past::new(packet),
            counters,
            values: Values::new(columns),
            spent: Spent::new(packet.max_bits, spent, lanes_spent),
        };
        coding.run(scratch);
        (!coding.values.is_invalid(), coding.counters.rule)
    }
}
