//! The parts that drivers share: choices from bytes, a codec under test with older views, and
//! worlds with bodies.

use std::sync::Arc;

use kinepack::codec::Chosen;
use kinepack::profile::{Bodies, BodyKind};
use kinepack::quantize::{FloatLimits, SmallestThree};
use kinepack::schema::{Field, FieldKind, Role};
use kinepack::training::Training;
use kinepack::{
    Baselines, Codec, DecodeError, Decoder, Encoder, EntityId, Profile, Schema, Snapshot, Tick,
    View,
};

pub(crate) use crate::support::bodies_schema;
use crate::support::{assert_valid, at_tick, frames, profile_of, schema, schemas as plain_schemas};

/// Makes choices from the input. A `Source` takes bytes from the front, and zeros after the end.
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

/// Returns a view, followed by older views of any states. The ticks of the older views are shifted,
/// so that each view is older than the previous one. Distances from 1 to 2³¹ − 1 ticks between the
/// given snapshots stay the same, and other distances are clamped.
pub(crate) fn lined_up(view: View, older: &[&Snapshot]) -> Vec<View> {
    const FARTHEST: u32 = (1 << 31) - 1;
    let mut newer = view.tick.0;
    let mut views = vec![view];
    for older in older {
        let ticks = newer.wrapping_sub(older.tick.0).clamp(1, FARTHEST);
        newer = older.tick.0;
        let tick = views[views.len() - 1].tick.0.wrapping_sub(ticks);
        views.push(at_tick(older, Tick(tick)).into());
    }
    views
}

/// A codec's encoder and decoder, which keep their scratch memory from call to call. Both get the
/// known views: one or several, the newest first.
pub(crate) struct Pair {
    codec: Codec,
    encoder: Encoder,
    decoder: Decoder,
}

impl Pair {
    pub(crate) fn new(codec: &Codec) -> Self {
        Self { encoder: Encoder::new(codec), decoder: Decoder::new(codec), codec: codec.clone() }
    }

    /// Encodes a snapshot. Checks the size that the encoder reports, and that making the view
    /// coarse again changes nothing.
    pub(crate) fn encode(&mut self, known: &[View], snapshot: &Snapshot) -> (Vec<u8>, View) {
        let baselines = Baselines::new(known).unwrap();
        let mut packet = Vec::new();
        let view = self.encoder.encode(baselines, snapshot, &mut packet).unwrap();
        let size = self.encoder.size();
        let bits = size.sets_bits + size.fields_bits.iter().sum::<u64>();
        assert_eq!(bits.div_ceil(8), packet.len() as u64, "{size:?}");
        assert!(size.changed_entities <= snapshot.len());
        assert_valid(self.codec.schema(), &view);
        assert_eq!(view.tick, snapshot.tick);
        assert!(self.codec.has_precision() || **view.snapshot() == *snapshot);
        let coarse = self.encoder.coarse(baselines, view.snapshot()).unwrap();
        assert!(Arc::ptr_eq(&coarse, view.snapshot()), "a coarse snapshot stays the same");
        (packet, view)
    }

    /// Decodes any bytes. The result must be a valid view or an error. If a state check follows the
    /// bytes, the decoder must accept the check exactly if it is the check of the view.
    pub(crate) fn decode(
        &mut self,
        known: &[View],
        packet: &[u8],
        tick: Tick,
    ) -> Result<View, DecodeError> {
        let baselines = Baselines::new(known).unwrap();
        let decoded = self.decoder.decode(baselines, packet, tick);
        let ours = decoded.as_ref().map_or(0, View::check);
        for theirs in [ours, ours ^ 1 << (packet.len() % 16)] {
            let checked = [packet, &theirs.to_le_bytes()].concat();
            let checked = self.decoder.decode_checked(baselines, &checked, tick);
            let expected = match &decoded {
                Ok(_) if theirs != ours => Err(DecodeError::WrongState { theirs, ours }),
                decoded => decoded.clone(),
            };
            assert!(checked == expected, "{checked:?} instead of {expected:?}");
        }
        let view = decoded?;
        assert_eq!(view.tick, tick);
        assert_valid(self.codec.schema(), &view);
        Ok(view)
    }

    /// Decodes any bytes. If the decoder accepts them, the view must round-trip.
    pub(crate) fn decode_and_return(&mut self, known: &[View], packet: &[u8], tick: Tick) {
        if let Ok(decoded) = self.decode(known, packet, tick) {
            self.round_trip(known, &decoded);
        }
    }

    /// Decodes any bytes as a packet with a state check at the end. The result must be a valid view
    /// with that check, or an error.
    pub(crate) fn decode_checked(
        &mut self,
        known: &[View],
        packet: &[u8],
        tick: Tick,
    ) -> Result<View, DecodeError> {
        let view = self.decoder.decode_checked(Baselines::new(known).unwrap(), packet, tick)?;
        assert!(packet.ends_with(&view.check().to_le_bytes()));
        assert_eq!(view.tick, tick);
        assert_valid(self.codec.schema(), &view);
        Ok(view)
    }

    /// Encodes and decodes a snapshot, compares the views of both sides, and returns the packet and
    /// the view.
    pub(crate) fn round_trip(&mut self, known: &[View], snapshot: &Snapshot) -> (Vec<u8>, View) {
        let (packet, view) = self.encode(known, snapshot);
        let decoded = self.decode(known, &packet, snapshot.tick).unwrap();
        assert!(decoded == view, "both sides have the same view and learned the same");
        (packet, view)
    }

    /// Sends every third entity from `first` on, if the level supports it. All other entities stay
    /// as in the baseline.
    pub(crate) fn part(&mut self, known: &[View], snapshot: &Snapshot, first: u32) {
        let indices: Vec<u32> =
            (0..snapshot.len() as u32).filter(|index| index % 3 == first % 3).collect();
        let baselines = Baselines::new(known).unwrap();
        let coarse = self.encoder.coarse(baselines, &snapshot.clone().into()).unwrap();
        for limit_bytes in [usize::MAX, first as usize] {
            let mut packet = Vec::new();
            let chosen = Chosen::Some { indices: &indices, limit_bytes };
            let Ok(encoded) = self.encoder.write(baselines, snapshot, chosen, &mut packet) else {
                return;
            };
            let unsent = encoded.unsent().to_vec();
            assert!(limit_bytes < usize::MAX || unsent.is_empty());
            let view = encoded.view();
            let decoded = self.decode(known, &packet, snapshot.tick).unwrap();
            assert!(decoded == view, "both sides have the same view and learned the same");
            for index in 0..snapshot.len() {
                let is_sent =
                    indices.contains(&(index as u32)) && !unsent.contains(&(index as u32));
                let from = if is_sent { &*coarse } else { &*known[0] };
                let kind = snapshot.kind_at(index).unwrap();
                let row = index - snapshot.of_kind(kind).start;
                let mut lanes = snapshot.lanes_of(kind);
                assert!(lanes.all(|lane| decoded.lane(lane)[row] == from.lane(lane)[row]));
            }
        }
    }
}

/// Returns a snapshot of up to 15 entities. If `before` is given, the snapshot's tick is in most
/// cases at most 23 ticks after it, and some entities do not change.
pub(crate) fn state(
    schema: &Schema,
    source: &mut Source<'_>,
    before: Option<&Snapshot>,
) -> Snapshot {
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
        let kind = match (base.and_then(|before| before.kind_at(nth)), schema.kinds().len()) {
            (Some(kind), _) => kind,
            (None, 1) => 0,
            (None, kinds) => source.below(kinds),
        };
        let mut value = |lane: usize| {
            let max = schema.lanes()[lane].max;
            let old = base.map(|before| before.lane(lane)[nth - before.of_kind(kind).start]);
            match (old, source.byte()) {
                (Some(old), 0..128) => old,
                (Some(old), step @ 128..224) => {
                    old.saturating_add_signed(i32::from(step) - 176).min(max)
                }
                (_, 255) => max,
                (_, 224..255) => source.word().min(max),
                (None, small) => u32::from(small).min(max),
            }
        };
        let mut lanes: Vec<u32> = schema.kinds()[kind].lanes().map(&mut value).collect();
        let of_kind = schema.of_kind(kind);
        of_kind.clear_absent(&mut lanes);
        of_kind.round_coarse(&mut lanes);
        snapshot.push_lanes_of(kind, EntityId(id), &lanes).unwrap();
        match id.checked_add(1) {
            Some(after) => next = after,
            None => break,
        }
    }
    snapshot
}

/// The schemas of the tests, and two with bodies. Stored data refer to them by number, so new
/// schemas are added at the end.
pub(crate) fn schemas() -> Vec<Schema> {
    let mut schemas: Vec<Schema> = plain_schemas().into_iter().map(|(_, schema)| schema).collect();
    schemas.splice(5..5, [bodies_schema(), slab_schema()]);
    schemas.push(schema("optional"));
    schemas.push(schema("kinds"));
    schemas.push(schema("coarser"));
    schemas.push(schema("breaks"));
    schemas
}

/// Returns a schema of bodies with very different axes: a coarse one, one of a single value, and
/// one of 32 bits.
pub(crate) fn slab_schema() -> Schema {
    let axes = vec![
        FloatLimits::until(0.0, 50.0, 1.0).unwrap(),
        FloatLimits::new(5.0, 5.0, 1.0).unwrap(),
        FloatLimits::until_with_bits(-1.0, 1.0, 32).unwrap(),
    ];
    Schema::new(vec![
        Field::new("position", FieldKind::Floats(axes)).with_role(Role::Body),
        Field::new("orientation", FieldKind::Rotation(SmallestThree::new(20).unwrap()))
            .with_role(Role::Body),
    ])
}

/// Returns a profile with a briefly trained model. Returns `None` if the schema has no lanes to
/// train on.
pub(crate) fn adaptive_profile(schema: &Schema) -> Option<Profile> {
    if *schema == bodies_schema() {
        const VECTORS: &str = include_str!("../../spec/vectors/learning.txt");
        return Some(profile_of(VECTORS, schema));
    }
    let mut bodies = Bodies::from_schema(schema, 1, [2.0, 1.0, 3.0], Some(0.0));
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
