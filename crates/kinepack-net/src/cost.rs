//! Counts the bits of a snapshot by part and by entity, for tools. Hubs and receivers that do not
//! count costs never call this code.

use kinepack::codec::Chosen;
use kinepack::{Codec, EncodeError, Encoder, EntityId, Size, Snapshot, Tick, View};

use crate::baseline::BaselineViews;

/// The bits of a snapshot by part and by entity, for tools.
///
/// ```
/// use std::time::Duration;
/// # use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// use kinepack_net::{Hub, HubConfig, datagram_sequence};
/// # use kinepack_net::{Receiver, ReceiverConfig, ReceiverId, ReceiverOptions};
/// # #[derive(Pack)]
/// # struct Unit {
/// #     health: u8,
/// # }
/// # let schema = Schema::of::<Unit>();
/// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
///
/// let mut hub = Hub::new(&codec, HubConfig { count_costs: true, ..HubConfig::default() })?;
/// # let (client, now) = (ReceiverId(7), Duration::ZERO);
/// # hub.add(client, &ReceiverOptions::default(), now)?;
/// # let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// # hub.handle(client, now, receiver.poll_transmit(now).ok_or("no hello")?)?;
/// # let mut world = Snapshot::new(&schema, Tick(1));
/// # world.push(EntityId(3), &Unit { health: 80 })?;
/// hub.tick(now, &world)?;
/// let (to, datagram) = hub.poll_transmit().ok_or("no snapshot")?;
/// let sequence = datagram_sequence(datagram).ok_or("not a snapshot")?;
/// let cost = hub.cost(to, sequence).ok_or("not kept")?;
/// let (dearest, bits) = cost.entities.iter().max_by_key(|(_, bits)| *bits).ok_or("none sent")?;
/// assert_eq!(*dearest, EntityId(3));
/// assert!((1..=8 * cost.bytes).contains(&(*bits as usize)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The snapshot's bytes, without any header.
    pub bytes: usize,
    /// The snapshot's bits, by part.
    pub size: Size,
    /// The bits of each sent entity, by id, as [`Encoder::entity_bits`] counts them.
    pub entities: Vec<(EntityId, u32)>,
    /// The tick of the baseline.
    pub baseline_tick: Tick,
    /// The sent entities as they are in the baseline, without entities that the snapshot added.
    pub baseline: Snapshot,
}

impl Cost {
    /// The cost of the last encoding of `encoder`: `encoded` coded against `base`, in `bytes`
    /// bytes.
    pub(crate) fn new(
        encoder: &Encoder,
        base: &Snapshot,
        encoded: &Snapshot,
        bytes: usize,
    ) -> Result<Self, EncodeError> {
        let placed: Vec<(usize, EntityId)> = encoded.entities().collect();
        let entities: Vec<_> = encoder
            .entity_bits()
            .iter()
            .map(|(index, bits)| (placed[*index as usize].1, *bits))
            .collect();
        let places: Vec<u32> = encoder
            .entity_bits()
            .iter()
            .filter_map(|(index, _)| {
                let (kind, id) = placed[*index as usize];
                base.position_of(kind, id)
            })
            .map(|place| place as u32)
            .collect();
        let mut baseline = Snapshot::new_like(base);
        baseline.gather(base, &places)?;
        Ok(Self {
            bytes,
            size: encoder.size().clone(),
            entities,
            baseline_tick: base.tick,
            baseline,
        })
    }
}

/// Counts the costs of received snapshots. A `Recount` encodes each snapshot again, because a
/// decoder does not count bits.
#[derive(Debug)]
pub(crate) struct Recount {
    encoder: Encoder,
    packet: Vec<u8>,
    /// A function pointer, so that a program that never counts contains no encoder.
    count: fn(&mut Self, &BaselineViews, &View, usize) -> Option<Cost>,
    newest: Option<Cost>,
}

impl Recount {
    pub(crate) fn new(codec: &Codec) -> Self {
        let mut encoder = Encoder::new(codec);
        encoder.count_entity_bits(true);
        Self { encoder, packet: Vec::new(), count: Self::encode, newest: None }
    }

    /// Counts a snapshot of `bytes` bytes, which was coded against `known` and decoded to `view`.
    pub(crate) fn take(&mut self, known: &BaselineViews, view: &View, bytes: usize) {
        self.newest = (self.count)(self, known, view, bytes);
    }

    /// The cost of the last counted snapshot.
    pub(crate) fn newest(&self) -> Option<&Cost> {
        self.newest.as_ref()
    }

    fn encode(&mut self, known: &BaselineViews, view: &View, bytes: usize) -> Option<Cost> {
        self.packet.clear();
        let baselines = known.baselines().ok()?;
        self.encoder.write(baselines, view, Chosen::All, &mut self.packet).ok()?;
        Cost::new(&self.encoder, &known.baseline, view, bytes).ok()
    }
}
