//! Counts the bits of one receiver by part, for the charts.

use std::time::Duration;

use command_kit::parts::{PartOfField, Parts};
use kinepack::Schema;
use kinepack_net::HEADER_BYTES;

use super::protocol::{Packet, Sample};
use crate::session::SentDatagram;

/// The number of ticks in a point of the charts.
const SAMPLE_TICKS: u32 = 6;

/// Counts the bits of one receiver.
#[derive(Debug)]
pub(super) struct Ledger {
    part_of_field: PartOfField,
    /// The bits that were sent since the last sample, by part.
    parts_bits: Parts<u64>,
    headers_bits: u64,
    ticks: u32,
    /// The longest queueing delay since the last sample.
    queueing: Duration,
    /// The numbers of packets of keys and of their bytes until the last sample.
    keys_sent: (u64, u64),
}

impl Ledger {
    pub(super) fn new(schema: &Schema) -> Self {
        Self {
            part_of_field: PartOfField::new(schema),
            parts_bits: Parts::default(),
            headers_bits: 0,
            ticks: 0,
            queueing: Duration::ZERO,
            keys_sent: (0, 0),
        }
    }

    /// Adds the datagrams of a tick, and returns them in the form of the charts. `queueing` is the
    /// time that the last of them waits at the link's bottleneck.
    pub(super) fn add(
        &mut self,
        tick: u32,
        sent: &[SentDatagram],
        queueing: Duration,
    ) -> impl Iterator<Item = Packet> {
        self.ticks += 1;
        self.queueing = self.queueing.max(queueing);
        for SentDatagram { bytes, cost, .. } in sent {
            let Some(cost) = cost else {
                // This datagram is a part of a full state, which is coded as a whole.
                self.headers_bits += 8 * u64::from(HEADER_BYTES);
                self.parts_bits.others += 8 * *bytes as u64;
                continue;
            };
            self.headers_bits += 8 * (u64::from(HEADER_BYTES) + (bytes - cost.bytes) as u64);
            self.parts_bits.add(&cost.size, &self.part_of_field);
            // The remaining bits are the padding of the last byte.
            let counted_bits = cost.size.sets_bits + cost.size.fields_bits.iter().sum::<u64>();
            self.parts_bits.flags_and_indices +=
                (8 * cost.bytes as u64).saturating_sub(counted_bits);
        }
        sent.iter().map(move |sent| (tick, sent.bytes as u32, u8::from(sent.lost)))
    }

    /// Returns a point of the charts, if one is due. `keys_sent` contains the numbers of packets of
    /// keys and of their bytes until now. `budget` is the receiver's, in bytes per second.
    pub(super) fn sample(
        &mut self,
        tick: u32,
        keys_sent: (u64, u64),
        budget: Option<u32>,
    ) -> Option<Sample> {
        if self.ticks < SAMPLE_TICKS {
            return None;
        }
        let seconds = f64::from(std::mem::take(&mut self.ticks)) / f64::from(cubes::TICK_HZ);
        let kbps = |bits: u64| bits as f64 / seconds / 1e3;
        let Parts { flags_and_indices, position, orientation, others } =
            std::mem::take(&mut self.parts_bits);
        let before = std::mem::replace(&mut self.keys_sent, keys_sent);
        // A new connection starts counting from 0.
        let (packets, bits) = if keys_sent.0 < before.0 {
            (0, 0)
        } else {
            (keys_sent.0 - before.0, 8 * (keys_sent.1 - before.1))
        };
        Some(Sample {
            tick,
            headers_kbps: kbps(std::mem::take(&mut self.headers_bits)),
            sets_kbps: kbps(flags_and_indices),
            position_kbps: kbps(position),
            orientation_kbps: kbps(orientation),
            others_kbps: kbps(others),
            input_bits: bits as f64 / packets.max(1) as f64,
            input_kbps: kbps(bits + packets * 8 * u64::from(HEADER_BYTES)),
            budget_kbps: budget.map(|bytes_per_s| f64::from(bytes_per_s) * 8.0 / 1e3),
            queue_ms: std::mem::take(&mut self.queueing).as_secs_f64() * 1e3,
        })
    }
}
