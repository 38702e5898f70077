//! The sending side of a stream of inputs.

use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::values::Values;
use kinepack::{Schema, Tick};
use kinepack_net::{
    Channel, DatagramKind, StreamConfig, StreamSender, datagram_kind, split_datagram,
};
use wasm_bindgen::prelude::*;

use crate::input_clock::InputClock;
use crate::receiver::channel;
use crate::{described, failed, time};

/// Sends the inputs of a page to a server.
#[wasm_bindgen]
pub struct InputSender {
    sender: StreamSender,
    codec: StreamCodec,
    lanes: Vec<u32>,
    raw: Vec<u64>,
}

#[wasm_bindgen]
impl InputSender {
    /// Makes a sender of records with the fields that the schema file `schema` defines.
    ///
    /// # Errors
    /// Fails if the schema file, the level or a setting is not valid.
    #[wasm_bindgen(constructor)]
    pub fn new(
        schema: &[u8],
        level: &str,
        rate_hz: u32,
        longest_round_trip_ms: f64,
        repeats: u8,
        on_channel: u8,
        datagram_bytes: usize,
    ) -> Result<Self, JsError> {
        let level = StreamLevel::named(level).ok_or_else(|| {
            failed(format!("no level is named {level:?}; use packed or adaptive"))
        })?;
        let schema = Schema::from_bytes(schema).map_err(failed)?;
        let codec = StreamCodec::new(schema, level).map_err(failed)?;
        let config = StreamConfig {
            longest_round_trip: time(longest_round_trip_ms),
            repeats,
            channel: channel(on_channel)?,
            datagram_bytes,
            ..StreamConfig::at_hz(rate_hz)
        };
        let lanes = codec.lanes();
        let sender = StreamSender::new(&codec, config).map_err(failed)?;
        Ok(Self { sender, lanes: vec![0; lanes], raw: vec![0; lanes], codec })
    }

    /// The schema of the records as JSON.
    pub fn schema(&self) -> String {
        described(self.codec.schema())
    }

    /// Adds a record, which has one raw word for each number. Returns the record's sequence number.
    /// With a tick, this is the record of the tick.
    ///
    /// # Errors
    /// Fails if a number is missing, not a number or out of its range. Then nothing has changed.
    pub fn push(&mut self, words: &[u64], tick: Option<u32>) -> Result<u16, JsError> {
        let schema = self.codec.schema();
        let mut rest = words;
        for field in schema.fields() {
            let count = Values::per_entity(field);
            let (numbers, after) = rest
                .split_at_checked(count)
                .ok_or_else(|| failed("a record has too few numbers"))?;
            rest = after;
            let raw = &mut self.raw[field.lanes()];
            raw.fill(0);
            raw[..count].copy_from_slice(numbers);
            let lanes = &mut self.lanes[field.lanes()];
            let is_within = field.quantize_raw(raw, lanes).map_err(failed)?;
            if !is_within {
                return Err(failed(format_args!("{} is out of its range", field.name)));
            }
        }
        schema.clear_absent(&mut self.lanes);
        push(&mut self.sender, &self.lanes, tick)
    }

    /// Adds a record whose lanes are already quantized. Returns the record's sequence number. With
    /// a tick, this is the record of the tick.
    ///
    /// # Errors
    /// Fails if there are more or fewer lanes than a record has, or a lane is out of its range. Then
    /// nothing has changed.
    pub fn push_lanes(&mut self, lanes: &[u32], tick: Option<u32>) -> Result<u16, JsError> {
        push(&mut self.sender, lanes, tick)
    }

    /// The packet of the newest records. Each packet is returned once.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.sender.poll_transmit().map(<[u8]>::to_vec)
    }

    /// Takes an acknowledgement.
    ///
    /// # Errors
    /// Fails if the sender refuses the acknowledgement. Then only a counter has changed.
    pub fn handle(&mut self, datagram: &[u8]) -> Result<(), JsError> {
        self.sender.handle(datagram).map(drop).map_err(failed)
    }

    /// Takes an acknowledgement, and passes it on to the clock.
    ///
    /// # Errors
    /// As for [`handle`](Self::handle).
    pub fn handle_for(
        &mut self,
        clock: &mut InputClock,
        now_ms: f64,
        datagram: &[u8],
    ) -> Result<(), JsError> {
        let acknowledgement = self.sender.handle(datagram).map_err(failed)?;
        clock.clock.observe(time(now_ms), &acknowledgement);
        Ok(())
    }

    /// Counters, in the order of [`stat_names`](Self::stat_names).
    pub fn stats(&self) -> Vec<f64> {
        self.named_stats().map(|(_, number)| number as f64).to_vec()
    }

    /// The names of the [`stats`](Self::stats), with spaces between them.
    pub fn stat_names(&self) -> String {
        self.named_stats().map(|(name, _)| name).join(" ")
    }
}

impl InputSender {
    fn named_stats(&self) -> [(&'static str, u64); 6] {
        let stats = self.sender.stats();
        [
            ("records", stats.records),
            ("packets", stats.packets),
            ("bytes", stats.bytes),
            ("full", stats.full),
            ("acknowledged", stats.acknowledged),
            ("refused", stats.refused),
        ]
    }
}

fn push(sender: &mut StreamSender, lanes: &[u32], tick: Option<u32>) -> Result<u16, JsError> {
    let pushed = match tick {
        Some(tick) => sender.push_lanes_for_tick(Tick(tick), lanes),
        None => sender.push_lanes(lanes),
    };
    Ok(pushed.map_err(failed)?.0)
}

/// Splits a received datagram into its parts. Returns three numbers for each part: the endpoint
/// that handles it (0 hub, 1 receiver, 2 receiver of a stream, 3 sender of a stream), its channel,
/// and its length.
///
/// # Errors
/// Fails if the bytes are not ones that an endpoint sends together.
#[wasm_bindgen]
pub fn split_parts(datagrams: &[u8]) -> Result<Vec<u32>, JsError> {
    let mut parts = Vec::new();
    for part in split_datagram(datagrams).map_err(failed)? {
        let whom = match datagram_kind(part) {
            Some(DatagramKind::ToHub) => 0,
            Some(DatagramKind::ToReceiver) => 1,
            Some(DatagramKind::StreamPacket) => 2,
            Some(DatagramKind::StreamAcknowledgement) => 3,
            _ => return Err(failed("a part of the datagram is of no known kind")),
        };
        parts.extend([whom, u32::from(Channel::from_datagram(part).number()), part.len() as u32]);
    }
    Ok(parts)
}
