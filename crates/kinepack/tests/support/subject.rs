//! A codec under test, and the checks that it must pass for any input.

use std::sync::Arc;

use kinepack::{
    Baselines, Codec, DecodeError, DecodeLimits, Decoder, Encoder, Schema, Snapshot, Tick, View,
};

/// The tick of all snapshots that a [`Subject`] decodes.
pub(crate) const DECODED: Tick = Tick(0xDEC0_DED0);

/// A codec with an encoder and a decoder, which keep their scratch memory from call to call.
pub(crate) struct Subject {
    codec: Codec,
    encoder: Encoder,
    decoder: Decoder,
}

impl Subject {
    pub(crate) fn new(codec: &Codec) -> Self {
        Self::with_limits(codec, DecodeLimits::default())
    }

    pub(crate) fn with_limits(codec: &Codec, limits: DecodeLimits) -> Self {
        Self {
            encoder: Encoder::new(codec),
            decoder: Decoder::with_limits(codec, limits),
            codec: codec.clone(),
        }
    }

    pub(crate) fn schema(&self) -> &Schema {
        self.codec.schema()
    }

    /// Encodes a snapshot at tick [`DECODED`], and checks the size that the encoder reports.
    /// Returns the packet and the receiver's view.
    pub(crate) fn encode<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        snapshot: &Snapshot,
    ) -> (Vec<u8>, View) {
        let mut packet = Vec::new();
        let view =
            self.encoder.encode(baselines, &at_tick(snapshot, DECODED), &mut packet).unwrap();
        let size = self.encoder.size();
        let bits = size.sets_bits + size.fields_bits.iter().sum::<u64>();
        assert_eq!(bits.div_ceil(8), packet.len() as u64, "{size:?}");
        assert!(size.changed_entities <= snapshot.len());
        assert_valid(self.codec.schema(), &view);
        (packet, view)
    }

    /// Decodes any bytes of a packet. The result must be a valid view or an error.
    pub(crate) fn decode<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        packet: &[u8],
    ) -> Result<View, DecodeError> {
        let view = self.decoder.decode(baselines, packet, DECODED)?;
        Ok(self.valid(view))
    }

    /// Like [`decode`](Self::decode), for a packet that ends with a state check. An accepted view
    /// must have the check of the packet.
    pub(crate) fn decode_checked<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        packet: &[u8],
    ) -> Result<View, DecodeError> {
        let view = self.decoder.decode_checked(baselines, packet, DECODED)?;
        assert!(packet.ends_with(&view.check().to_le_bytes()));
        Ok(self.valid(view))
    }

    /// Checks that a decoder's view is valid, and returns it.
    fn valid(&self, view: View) -> View {
        assert_eq!(view.tick, DECODED);
        assert_valid(self.codec.schema(), &view);
        view
    }

    /// Decodes any bytes, like [`decode`](Self::decode). Then makes an accepted view as coarse as
    /// an encoder sends it, and checks that this view comes back unchanged.
    pub(crate) fn decode_and_return<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        packet: &[u8],
    ) -> Result<View, DecodeError> {
        let baselines = baselines.into();
        let decoded = self.decode(baselines, packet)?;
        let coarse: Arc<Snapshot> = self.encoder.coarse(baselines, decoded.snapshot()).unwrap();
        self.round_trip(baselines, &coarse);
        Ok(decoded)
    }

    /// Encodes a snapshot, decodes it, compares lane for lane and returns the packet.
    pub(crate) fn round_trip<'a>(
        &mut self,
        baselines: impl Into<Baselines<'a>>,
        snapshot: &Snapshot,
    ) -> Vec<u8> {
        let baselines = baselines.into();
        let (packet, view) = self.encode(baselines, snapshot);
        let decoded = self.decode(baselines, &packet).unwrap();
        assert!(decoded == view, "the receiver's view differs from the encoder's");
        assert_eq!(decoded.ids(), snapshot.ids());
        for lane in 0..snapshot.lane_count() {
            assert_eq!(decoded.lane(lane), snapshot.lane(lane), "lane {lane}");
        }
        packet
    }
}

/// Makes views of known states, without learned state.
pub(crate) fn views(states: impl IntoIterator<Item = Snapshot>) -> Vec<View> {
    states.into_iter().map(View::from).collect()
}

/// Returns the same state at another tick.
pub(crate) fn at_tick(snapshot: &Snapshot, tick: Tick) -> Snapshot {
    let mut snapshot = snapshot.clone();
    snapshot.tick = tick;
    snapshot
}

/// Checks that in each kind ids strictly increase, and that no id is in two kinds. Also checks that
/// every lane has a value for each entity, none above the lane's largest, and none finer than the
/// entity's coarseness allows.
pub(crate) fn assert_valid(schema: &Schema, snapshot: &Snapshot) {
    assert_eq!(snapshot.lane_count(), schema.lanes().len());
    assert_eq!(snapshot.shared_id(), None);
    for (nth, kind) in schema.kinds().iter().enumerate() {
        if schema.fields()[kind.fields()].iter().any(|field| field.coarser.is_some()) {
            let of_kind = schema.of_kind(nth);
            for index in snapshot.of_kind(nth) {
                let lanes: Vec<u32> = snapshot.lanes_at(index).collect();
                let mut coarse = lanes.clone();
                of_kind.round_coarse(&mut coarse);
                assert_eq!(lanes, coarse, "entity {index}");
            }
        }
        let ids = &snapshot.ids()[snapshot.of_kind(nth)];
        assert!(ids.is_sorted_by(|a, b| a < b), "ids {ids:?}");
        for index in kind.lanes() {
            let max = schema.lanes()[index].max;
            assert_eq!(snapshot.lane(index).len(), ids.len());
            assert!(snapshot.lane(index).iter().all(|value| *value <= max), "lane {index}");
        }
        let fields = &schema.fields()[kind.fields()];
        for field in fields.iter().filter(|field| field.condition.is_some()) {
            for row in 0..ids.len() {
                let is_zero = || field.lanes().all(|lane| snapshot.lane(lane)[row] == 0);
                assert!(field.is_present_in(|lane| snapshot.lane(lane)[row]) || is_zero());
            }
        }
    }
}
