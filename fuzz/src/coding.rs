//! What the drivers share: bytes as choices, a codec under test with older states, and worlds with bodies.

use kinepack::{
    Baselines, Bodies, BodyKind, Codec, DecodeError, Decoder, Encoder, EntityId, Field, FieldKind, FloatLimits,
    Learned, Profile, Role, Schema, SmallestThree, Snapshot, Tick, Training,
};

pub(crate) use crate::support::bodies_schema;
use crate::support::{assert_valid, frames, profile_of, schemas as plain_schemas};

/// Takes bytes from the front; zeros where there are none.
pub(crate) struct Source<'a>(pub(crate) &'a [u8]);

impl Source<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    pub(crate) fn short(&mut self) -> u16 {
        u16::from_le_bytes([(); 2].map(|()| self.byte()))
    }

    pub(crate) fn word(&mut self) -> u32 {
        u32::from_le_bytes([(); 4].map(|()| self.byte()))
    }
}

/// A codec with its encoder and its decoder, which keep their scratch memory from call to call.
pub(crate) struct Pair {
    codec: Codec,
    encoder: Encoder,
    decoder: Decoder,
}

impl Pair {
    pub(crate) fn new(codec: &Codec) -> Self {
        Self { encoder: Encoder::new(codec), decoder: Decoder::new(codec), codec: codec.clone() }
    }

    /// What the encoder learned up to the last packet.
    #[allow(dead_code, reason = "not every binary goes on from it")]
    pub(crate) fn learned(&self) -> Option<Learned> {
        self.encoder.learned().cloned()
    }

    /// The snapshot as it has to be encoded. What is finer is refused.
    pub(crate) fn coarse(&mut self, baselines: Baselines<'_>, snapshot: &Snapshot) -> Snapshot {
        let mut coarse = snapshot.clone();
        self.encoder.coarsen(baselines, &mut coarse).unwrap();
        let mut packet = Vec::new();
        let is_refused = self.encoder.encode(baselines, snapshot, &mut packet).is_err();
        assert_eq!(is_refused, coarse != *snapshot);
        assert!(!is_refused || packet.is_empty());
        coarse
    }

    /// Encodes, as coarse as it has to be, and checks that what the encoder says of the size is true.
    pub(crate) fn encode(&mut self, baselines: Baselines<'_>, snapshot: &Snapshot) -> Vec<u8> {
        let mut packet = Vec::new();
        let snapshot = self.coarse(baselines, snapshot);
        let size = self.encoder.encode(baselines, &snapshot, &mut packet).unwrap();
        let bits = size.sets_bits + size.fields_bits.iter().sum::<u64>();
        assert_eq!(bits.div_ceil(8), packet.len() as u64, "{size:?}");
        assert!(size.changed_entities <= snapshot.len());
        packet
    }

    /// Decodes anything: the result is a valid snapshot, or an error that leaves `out` as it was.
    pub(crate) fn decode(
        &mut self,
        baselines: Baselines<'_>,
        packet: &[u8],
        tick: Tick,
    ) -> Result<Snapshot, DecodeError> {
        let mut out = baselines.baseline.clone();
        out.tick = Tick(!tick.0);
        let held = out.clone();
        let learned = self.decoder.learned().cloned();
        if let Err(error) = self.decoder.decode(baselines, packet, tick, &mut out) {
            assert!(out == held, "{error:?} has changed the snapshot");
            assert!(self.decoder.learned() == learned.as_ref(), "{error:?} has changed what was learned");
            return Err(error);
        }
        assert_eq!(out.tick, tick);
        assert_valid(self.codec.schema(), &out);
        Ok(out)
    }

    /// Decodes anything. What is accepted can also be encoded and comes back the same.
    pub(crate) fn decode_and_return(&mut self, baselines: Baselines<'_>, packet: &[u8], tick: Tick) {
        if let Ok(decoded) = self.decode(baselines, packet, tick) {
            self.round_trip(baselines, &decoded);
        }
    }

    /// Encodes, as coarse as it has to be, decodes, compares lane for lane and returns the packet.
    pub(crate) fn round_trip(&mut self, baselines: Baselines<'_>, snapshot: &Snapshot) -> Vec<u8> {
        let snapshot = &self.coarse(baselines, snapshot);
        let packet = self.encode(baselines, snapshot);
        let decoded = self.decode(baselines, &packet, snapshot.tick).unwrap();
        assert!(self.encoder.learned() == self.decoder.learned(), "both sides learned the same");
        assert_eq!(decoded.ids(), snapshot.ids());
        for lane in 0..snapshot.lane_count() {
            assert_eq!(decoded.lane(lane), snapshot.lane(lane), "lane {lane}");
        }
        packet
    }

    /// Sends every third of the entities, from `first` on, where the level can: the others stay as in the baseline.
    pub(crate) fn part(&mut self, baselines: Baselines<'_>, snapshot: &Snapshot, first: u32) {
        let indices: Vec<u32> = (0..snapshot.len() as u32).filter(|index| index % 3 == first % 3).collect();
        let mut packet = Vec::new();
        let snapshot = &self.coarse(baselines, snapshot);
        if self.encoder.encode_part(baselines, snapshot, &indices, &mut packet).is_err() {
            return;
        }
        let decoded = self.decode(baselines, &packet, snapshot.tick).unwrap();
        for index in 0..snapshot.len() {
            let from = if indices.contains(&(index as u32)) { snapshot } else { baselines.baseline };
            assert!((0..snapshot.lane_count()).all(|lane| decoded.lane(lane)[index] == from.lane(lane)[index]));
        }
    }
}

/// A snapshot of up to 15 entities; with `before`, most often soon after it and with some of the entities as there.
pub(crate) fn state(schema: &Schema, source: &mut Source<'_>, before: Option<&Snapshot>) -> Snapshot {
    let tick = match (before, source.byte()) {
        (Some(before), step @ 0..240) => before.tick.0.wrapping_add(u32::from(step % 24)),
        _ => source.word(),
    };
    let mut snapshot = Snapshot::new(schema, Tick(tick));
    let mut next = 0u32;
    for nth in 0..source.below(16) {
        let control = source.byte();
        let known = before.and_then(|before| before.ids().get(nth).map(|id| (before, id.0)));
        let (id, base) = match (known, control & 3) {
            (Some((before, id)), 1..) if id >= next => (id, Some(before)),
            (_, 0) => (next.saturating_add(source.word()), None),
            _ => (next.saturating_add(u32::from(source.byte())), None),
        };
        let mut value = |lane: usize| {
            let max = schema.lanes()[lane].max;
            let old = base.map(|before| before.lane(lane)[nth]);
            match (old, source.byte()) {
                (Some(old), 0..128) => old,
                (Some(old), step @ 128..224) => old.saturating_add_signed(i32::from(step) - 176).min(max),
                (_, 255) => max,
                (_, 224..255) => source.word().min(max),
                (None, small) => u32::from(small).min(max),
            }
        };
        let lanes: Vec<u32> = (0..schema.lanes().len()).map(&mut value).collect();
        snapshot.push_lanes(EntityId(id), &lanes).unwrap();
        match id.checked_add(1) {
            Some(after) => next = after,
            None => break,
        }
    }
    snapshot
}

/// The schemas of the tests and two with bodies. Stored data name them by number: those that came later stand last.
pub(crate) fn schemas() -> Vec<Schema> {
    let mut schemas: Vec<Schema> = plain_schemas().into_iter().map(|(_, schema)| schema).collect();
    schemas.splice(5..5, [bodies_schema(), slab_schema()]);
    schemas
}

/// Nothing but bodies, with axes as unlike as can be: a coarse one, one of a single value, one of 32 bits.
pub(crate) fn slab_schema() -> Schema {
    let axes = vec![
        FloatLimits::until(0.0, 50.0, 1.0).unwrap(),
        FloatLimits::new(5.0, 5.0, 1.0).unwrap(),
        FloatLimits::until_with_bits(-1.0, 1.0, 32).unwrap(),
    ];
    Schema::new(vec![
        Field::new("position", FieldKind::Floats(axes)).with_role(Role::Body),
        Field::new("orientation", FieldKind::Rotation(SmallestThree::new(20).unwrap())).with_role(Role::Body),
    ])
}

/// A profile with a model, of which little is known; `None` where the schema has nothing to train on.
pub(crate) fn adaptive_profile(schema: &Schema) -> Option<Profile> {
    if *schema == bodies_schema() {
        const VECTORS: &str = include_str!("../../spec/vectors/learning.txt");
        return Some(profile_of(VECTORS, schema));
    }
    let mut bodies = Bodies::of(schema, 1, [2.0, 1.0, 3.0], Some(0.0));
    if let Some(bodies) = &mut bodies {
        bodies.kinds.push(BodyKind { half_extents: [7; 3], mover: true });
        bodies.kind_of_ids = vec![(0, 0), (9, 1), (12, 0)];
    }
    let mut training = Training::new(Profile::untrained(schema), bodies);
    training.passes = 1;
    training.max_lags_ticks = vec![2, 6];
    training.packed_lag_ticks = 1;
    training.run(schema, &[frames(schema, 5, 6, 40)], |_| {}).ok()
}
