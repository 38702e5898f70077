//! A stream receiver written from section 8 of `spec/NET.md` alone: maps instead of rings, and no
//! rate limit.

use std::collections::BTreeMap;
use std::time::Duration;

use kinepack::stream::{StreamBase, StreamCodec};
use kinepack_net::{Sequence, StreamTiming};

pub(crate) struct Naive {
    codec: StreamCodec,
    ring: i32,
    rate_hz: u32,
    newest: Option<(Sequence, Duration)>,
    records: BTreeMap<u16, Vec<u32>>,
    packets: BTreeMap<u16, Vec<u32>>,
    /// The last tick of the server, and when.
    tick: Option<(Sequence, Duration)>,
    early: BTreeMap<u16, i16>,
}

impl Naive {
    pub(crate) fn new(codec: StreamCodec, ring: usize, rate_hz: u32) -> Self {
        let (records, packets) = (BTreeMap::new(), BTreeMap::new());
        let (newest, tick, early) = (None, None, BTreeMap::new());
        Self { codec, ring: ring as i32, rate_hz, newest, records, packets, tick, early }
    }

    pub(crate) fn simulate(&mut self, now: Duration, tick: Sequence) {
        self.tick = Some((tick, now));
    }

    /// The timing of the newest acknowledgement.
    pub(crate) fn timing(&self) -> Option<StreamTiming> {
        let (newest, _) = self.newest?;
        let of = |behind| {
            let number = newest.before(behind);
            Some(StreamTiming { number, early_parts: *self.early.get(&number.0)? })
        };
        let records = if newest.0.count_ones() % 2 == 1 { 1 } else { 16 };
        (0..records)
            .filter_map(of)
            .min_by_key(|timing| (timing.early_parts, newest.since(timing.number)))
    }

    fn early(&self, now: Duration, number: Sequence) -> Option<i16> {
        let (tick, at) = self.tick?;
        let passed =
            (now.saturating_sub(at).as_nanos() * 16 * u128::from(self.rate_hz)) as f64 / 1e9;
        let early = f64::from(16 * number.since(tick)) - passed.floor();
        let early = if number.since(tick) > 0 { early.max(0.0) } else { early.min(-1.0) };
        Some(early.clamp(-2048.0, 2047.0) as i16)
    }

    /// Handles a packet. Returns the new records, or `None` if the packet must be refused.
    pub(crate) fn handle(
        &mut self,
        now: Duration,
        datagram: &[u8],
    ) -> Option<Vec<(u16, Vec<u32>)>> {
        let first_byte = *datagram.first()?;
        let number = Sequence(u16::from_le_bytes([*datagram.get(1)?, *datagram.get(2)?]));
        let count = u16::from(first_byte >> 4) + 1;
        if first_byte & 7 != 6 {
            return None;
        }
        if let Some((newest, newest_at)) = self.newest {
            let ahead = number.since(newest);
            let sent = (now - newest_at).as_secs_f64() * 2.0 * f64::from(self.rate_hz);
            let is_far = f64::from(ahead) > f64::from(self.ring) + sent;
            let is_out = is_far || ahead <= -self.ring || ahead == -0x8000;
            let half_the_numbers_went_by =
                (now - newest_at).as_secs_f64() * f64::from(self.rate_hz) >= 32_769.0;
            if is_out && first_byte & 8 != 0 && half_the_numbers_went_by {
                let mut anew = Self::new(self.codec.clone(), self.ring as usize, self.rate_hz);
                anew.tick = self.tick;
                let new = anew.handle(now, datagram);
                if new.is_some() {
                    *self = anew;
                }
                return new;
            }
            if is_out || self.packets.contains_key(&number.0) {
                return None;
            }
        }
        let nothing = self.codec.nothing_learned();
        let (base, bytes) = if first_byte & 8 != 0 {
            if *datagram.get(3..11)? != self.codec.hash().to_le_bytes() {
                return None;
            }
            (None, &datagram[11..])
        } else {
            let back = u16::from(*datagram.get(3)?);
            let lag = back.checked_sub(count)? + 1;
            let lanes = self.packets.get(&number.before(back).0)?;
            (Some(StreamBase { lanes, learned: &nothing, lag }), &datagram[4..])
        };
        let mut records = vec![0; usize::from(count) * self.codec.lanes()];
        self.codec.decode(base, &mut records, &mut self.codec.nothing_learned(), bytes).ok()?;

        let newest = match self.newest {
            Some((newest, newest_at)) if number.since(newest) < 0 => (newest, newest_at),
            _ => (number, now),
        };
        self.newest = Some(newest);
        let mut new = Vec::new();
        for (lanes, behind) in records.chunks(self.codec.lanes()).zip((0..count).rev()) {
            let record = number.before(behind);
            if newest.0.since(record) < self.ring && !self.records.contains_key(&record.0) {
                self.records.insert(record.0, lanes.to_vec());
                self.early.extend(self.early(now, record).map(|early| (record.0, early)));
                new.push((record.0, lanes.to_vec()));
            }
        }
        self.packets.insert(number.0, self.records[&number.0].clone());
        let is_held = |number: u16| newest.0.since(Sequence(number)) < self.ring;
        self.records.retain(|number, _| is_held(*number));
        self.packets.retain(|number, _| is_held(*number));
        self.early.retain(|number, _| is_held(*number));
        Some(new)
    }
}
