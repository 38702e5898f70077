//! Where the bits go: by part for the charts, by body for the heat, and in full for the selected
//! body.

use std::sync::Arc;

use command_kit::parts::{PartOfField, Parts};
use kinepack::schema::FieldKind;
use kinepack::{EntityId, Schema, Snapshot};
use kinepack_net::{Cost, HEADER_BYTES};

use super::protocol::{Look, Packet, Sample};
use crate::cube_stream::CUBE;
use crate::sender::Sender;
use crate::session::{Peer, SentDatagram};
use crate::truth::ShownError;

/// Ticks in a point of the charts.
const SAMPLE_TICKS: u32 = 6;
/// The weight of a packet in a body's heat.
const HEAT_SHARE: f32 = 1.0 / 8.0;

/// The bits of one receiver.
#[derive(Debug)]
pub(super) struct Ledger {
    part_of_field: PartOfField,
    /// Since the last sample.
    parts_bits: Parts<u64>,
    headers_bits: u64,
    ticks: u32,
    /// For each body, its recent bits a packet.
    heat: Vec<f32>,
    /// The costs of the tick that was sent last.
    costs: Vec<Arc<Cost>>,
    sent_tick: u32,
    /// Packets of keys and their bytes until the last sample.
    keys_sent: (u64, u64),
}

impl Ledger {
    pub(super) fn new(schema: &Schema) -> Self {
        Self {
            part_of_field: PartOfField::new(schema),
            parts_bits: Parts::default(),
            headers_bits: 0,
            ticks: 0,
            heat: Vec::new(),
            costs: Vec::new(),
            sent_tick: 0,
            keys_sent: (0, 0),
        }
    }

    /// Adds the datagrams of a tick. Returns them in the form of the charts.
    pub(super) fn add(
        &mut self,
        tick: u32,
        bodies: usize,
        sent: &[SentDatagram],
    ) -> impl Iterator<Item = Packet> {
        self.ticks += 1;
        if !sent.is_empty() {
            self.heat.resize(bodies, 0.0);
            self.heat.iter_mut().for_each(|heat| *heat *= 1.0 - HEAT_SHARE);
            self.costs.clear();
            self.sent_tick = tick;
        }
        for SentDatagram { bytes, cost, .. } in sent {
            let Some(cost) = cost else {
                // A part of a block, which is coded as a whole.
                self.headers_bits += 8 * u64::from(HEADER_BYTES);
                self.parts_bits.others += 8 * *bytes as u64;
                continue;
            };
            self.headers_bits += 8 * (u64::from(HEADER_BYTES) + (bytes - cost.bytes) as u64);
            self.parts_bits.add(&cost.size, &self.part_of_field);
            // The padding of the last byte.
            let counted_bits = cost.size.sets_bits + cost.size.fields_bits.iter().sum::<u64>();
            self.parts_bits.flags_and_indices +=
                (8 * cost.bytes as u64).saturating_sub(counted_bits);
            for (id, bits) in &cost.entities {
                if let Some(heat) = self.heat.get_mut(id.0 as usize) {
                    *heat += *bits as f32 * HEAT_SHARE;
                }
            }
            self.costs.push(Arc::clone(cost));
        }
        sent.iter().map(move |sent| (tick, sent.bytes as u32, u8::from(sent.lost)))
    }

    /// A body's recent bits a packet.
    pub(super) fn heat(&self, body: usize) -> f32 {
        self.heat.get(body).copied().unwrap_or(0.0)
    }

    /// A point of the charts, if one is due.
    pub(super) fn sample(&mut self, tick: u32, peer: &mut Peer, sender: &Sender) -> Option<Sample> {
        if self.ticks < SAMPLE_TICKS {
            return None;
        }
        let seconds = f64::from(std::mem::take(&mut self.ticks)) / f64::from(cubes::TICK_HZ);
        let kbps = |bits: u64| bits as f64 / seconds / 1e3;
        let Parts { flags_and_indices, position, orientation, others } =
            std::mem::take(&mut self.parts_bits);
        let round_trip_ms = peer.round_trip_ms(sender);
        let (packets, bytes) = peer.keys_sent();
        let before = std::mem::replace(&mut self.keys_sent, (packets, bytes));
        // A new connection counts from 0 again.
        let (packets, bits) =
            if packets < before.0 { (0, 0) } else { (packets - before.0, 8 * (bytes - before.1)) };
        let viewer = peer.viewer_mut()?;
        let ShownError { position_mm, rotation_deg } =
            viewer.recent_error.replace(ShownError::default())?;
        let [mm, deg] = [position_mm, rotation_deg].map(|error| error.summary());
        Some(Sample {
            tick,
            headers_kbps: kbps(std::mem::take(&mut self.headers_bits)),
            sets_kbps: kbps(flags_and_indices),
            position_kbps: kbps(position),
            orientation_kbps: kbps(orientation),
            others_kbps: kbps(others),
            error_mm_p50: mm.p50,
            error_mm_max: mm.max,
            error_deg_p50: deg.p50,
            error_deg_max: deg.max,
            playout_ms: viewer.receiver.playout_stats().delay.as_secs_f64() * 1e3,
            round_trip_ms,
            input_bits: bits as f64 / packets.max(1) as f64,
            input_kbps: kbps(bits + packets * 8 * u64::from(HEADER_BYTES)),
        })
    }

    /// All details of one body. `None` if there is no such body.
    pub(super) fn look(&self, body: u32, peer: &Peer, sender: &Sender) -> Option<Look> {
        let id = EntityId(body);
        let lanes = |state: &Snapshot| {
            let index = state.position(id)?;
            let kind = state.kind_at(index)?;
            let row = index - state.of_kind(kind).start;
            Some(state.lanes_of(kind).map(|lane| state.lane(lane)[row]).collect::<Vec<u32>>())
        };
        let entry = self.costs.iter().find_map(|cost| {
            let place = cost.entities.binary_search_by_key(&id, |(id, _)| *id).ok()?;
            Some((cost, cost.entities[place].1))
        });
        let receiver = &peer.viewer()?.receiver;
        let known = receiver.newest();
        Some(Look {
            id: body,
            tick: self.sent_tick,
            sent: lanes(&sender.snapshot)?,
            known: known.and_then(lanes),
            known_tick: known.and_then(|known| known.position(id)).map(|row| receiver.fresh(row).0),
            bits: entry.map_or(0, |(_, bits)| bits),
            packet_bits: 8 * self.costs.iter().map(|cost| cost.bytes).sum::<usize>(),
            baseline_tick: entry.map(|(cost, _)| cost.baseline_tick.0),
            baseline: entry.and_then(|(cost, _)| lanes(&cost.baseline)),
        })
    }
}

/// Readable names of a body's lanes: those of cubes, which players have too.
pub(super) fn lane_names(schema: &Schema) -> Vec<String> {
    let mut names = Vec::new();
    for field in &schema.fields()[schema.kinds()[CUBE].fields()] {
        let parts: &[&str] = match (&field.kind, field.lanes().len()) {
            (FieldKind::Rotation(_), _) => &[".largest", ".a", ".b", ".c"],
            (_, 1) => &[""],
            (_, 2..=4) => &[".x", ".y", ".z", ".w"],
            _ => &[],
        };
        for lane in 0..field.lanes().len() {
            let part =
                parts.get(lane).map_or_else(|| format!(".{lane}"), |part| (*part).to_owned());
            names.push(format!("{}{part}", field.name));
        }
    }
    names
}
