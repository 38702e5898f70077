//! The stream of keys from a joiner that plays to its server. See `spec/NET.md`, section 8.
//!
//! ```text
//! joiner: sends keys ─► 60 records per second ─► server: holds the newest record's keys
//! ```
//!
//! The first record asks for a cube. The server answers with
//! [`GameEvent::Seated`](crate::game_events::GameEvent::Seated).

use std::time::Duration;

use cubes::MAX_PLAYERS;
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack_net::{HubConfig, StreamAcknowledgement, StreamConfig};

use crate::keys::Keys;

/// The time between two records of keys. There is one record for each step of the world.
pub const RECORD_EVERY: Duration = Duration::from_nanos(1_000_000_000 / cubes::TICK_HZ as u64);
/// The maximum number of guests that can have a cube.
pub const MAX_GUESTS: usize = MAX_PLAYERS - 1;

/// Returns the codec of a joiner's keys. The adaptive level takes 34.5 bits per packet, of which 32
/// are the header. The packed level takes 56.2 bits (see the test below). Most records equal the
/// previous one, so a range coder needs almost no bits for them and for the three repeats. The
/// packed level writes whole fields and whole bytes. Six flags at 60 Hz are little work for either
/// level.
pub fn key_codec() -> StreamCodec {
    StreamCodec::of::<Keys>(StreamLevel::Adaptive).expect("six bits are a schema")
}

/// With three repeats, keys are lost only if four packets in a row are lost.
pub fn key_config() -> StreamConfig {
    StreamConfig { repeats: 3, ..StreamConfig::at_hz(cubes::TICK_HZ) }
}

/// Adjusts the configuration of a hub whose datagrams begin with an acknowledgement of keys. It
/// reserves the space, and counts it against budgets.
pub fn with_keys(config: HubConfig) -> HubConfig {
    let front_bytes = StreamAcknowledgement::MOST_BYTES;
    HubConfig {
        datagram_bytes: config.datagram_bytes - front_bytes,
        overhead_bytes: config.overhead_bytes + front_bytes,
        ..config
    }
}

#[cfg(test)]
mod tests {
    use cubes::{Config, Script, Style, World};
    use kinepack_net::{StreamReceiver, StreamSender};

    use super::*;

    /// Returns the mean bits of a packet of a scripted player's keys. Each packet is acknowledged
    /// `delay_ticks` ticks later.
    fn bits(level: StreamLevel, repeats: u8, delay_ticks: usize) -> f64 {
        let codec = StreamCodec::of::<Keys>(level).expect("six bits are a schema");
        let config = StreamConfig { repeats, ..key_config() };
        let mut sender = StreamSender::new(&codec, config).expect("a valid configuration");
        let mut receiver = StreamReceiver::new(&codec, config).expect("a valid configuration");
        let mut world = World::new(&Config { cubes: 100 }).expect("a valid number of cubes");
        let mut script = Script::new(Style::Typical, 1);
        let mut acknowledgements = std::collections::VecDeque::new();
        for tick in 0..1800 {
            let input = script.next_input(&world);
            world.step(input);
            sender.push(&Keys::from(input)).expect("bits are never out of range");
            let packet = sender.poll_transmit().expect("something was pushed");
            receiver.handle(RECORD_EVERY * tick, packet).expect("it arrives in order");
            acknowledgements.push_back(receiver.acknowledgement().expect("something arrived"));
            if acknowledgements.len() > delay_ticks {
                let acknowledgement = acknowledgements.pop_front().expect("there are some");
                sender.handle(&acknowledgement.to_bytes()).expect("it was sent");
            }
        }
        let stats = sender.stats();
        stats.bytes as f64 * 8.0 / stats.packets as f64
    }

    #[test]
    fn adaptive_keys_take_fewer_bits_than_packed_ones_and_repeats_almost_none() {
        let [packed, adaptive] =
            [StreamLevel::Packed, StreamLevel::Adaptive].map(|level| bits(level, 3, 6));
        let alone = bits(StreamLevel::Adaptive, 0, 6);
        println!(
            "bits a packet: packed {packed:.1}, adaptive {adaptive:.1}, without repeats {alone:.1}"
        );
        assert!(
            adaptive < packed - 16.0 && adaptive < alone + 1.0,
            "{packed}, {adaptive}, {alone}"
        );
    }
}
