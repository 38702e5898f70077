//! The game through hubs and receivers over a link that loses datagrams.

use std::error::Error;
use std::time::Duration;

use command_kit::wrong_lanes;
use kinepack::{Codec, Snapshot};
use kinepack_net::{
    Channel, Hub, HubConfig, Link, LinkConfig, Loss, Received, Receiver, ReceiverConfig,
    ReceiverId, ReceiverOptions, Refused,
};

use crate::game::RATE_HZ;

const RECEIVER: ReceiverId = ReceiverId(1);
/// IPv4 and UDP.
const HEADER_BYTES: u64 = 28;

/// What a session sent, and whether it arrived.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) datagrams: u64,
    pub(crate) bytes: u64,
    pub(crate) snapshots: u64,
    /// Lanes of received snapshots that were not those of the game.
    pub(crate) wrong_lanes: u64,
}

impl Outcome {
    pub(crate) fn bytes_with_headers(&self) -> u64 {
        self.bytes + HEADER_BYTES * self.datagrams
    }
}

/// Plays worlds, each with a hub and a receiver on a channel of its own, over one link. `worlds`
/// are their codecs and frames.
pub(crate) fn play(worlds: &[(Codec, &[Snapshot])], loss: f32) -> Result<Outcome, Box<dyn Error>> {
    let link = LinkConfig {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(10),
        loss: Loss::Independent { ratio: loss },
        ..LinkConfig::default()
    };
    let (mut down, mut up) = (Link::new(link, 1)?, Link::new(link, 2)?);
    let mut ends = Vec::new();
    for (number, (codec, _)) in (0..).zip(worlds) {
        let channel = Channel::new(number).ok_or("too many worlds")?;
        let mut hub = Hub::new(codec, HubConfig { channel, ..HubConfig::default() })?;
        hub.add(RECEIVER, &ReceiverOptions::default(), Duration::ZERO)?;
        let config = ReceiverConfig { channel, ..ReceiverConfig::at_hz(RATE_HZ) };
        ends.push((hub, Receiver::new(codec, config)?));
    }

    let mut outcome = Outcome::default();
    let ticks = worlds.iter().map(|(_, frames)| frames.len()).min().unwrap_or(0);
    for tick in 0..ticks {
        let now = Duration::from_secs(1) * tick as u32 / RATE_HZ;
        while let Some(datagram) = down.poll(now) {
            let channel = usize::from(Channel::of(&datagram).number());
            let (_, receiver) = &mut ends[channel];
            match receiver.handle(now, &datagram) {
                // The first ones leave out what does not fit into the datagrams of a tick.
                Ok(Received::Snapshot { tick, late: false, left_out: false }) => {
                    let frames = worlds[channel].1;
                    let sent = frames.iter().rev().find(|frame| frame.tick == tick);
                    let newest = receiver.newest().ok_or("nothing was received")?;
                    outcome.snapshots += 1;
                    outcome.wrong_lanes += wrong_lanes(sent.ok_or("an unknown tick")?, newest);
                }
                Ok(_) | Err(Refused::Duplicate | Refused::TooOld | Refused::NoBaseline) => {}
                Err(refused) => return Err(refused.into()),
            }
        }
        while let Some(datagram) = up.poll(now) {
            let (hub, _) = &mut ends[usize::from(Channel::of(&datagram).number())];
            match hub.handle(RECEIVER, now, &datagram) {
                Ok(_) | Err(Refused::LongAgo) => {}
                Err(refused) => return Err(refused.into()),
            }
        }
        for ((hub, receiver), (_, frames)) in ends.iter_mut().zip(worlds) {
            while let Some(datagram) = receiver.poll_transmit(now) {
                up.send(now, datagram);
            }
            hub.tick(now, &frames[tick])?;
            while let Some((_, datagram)) = hub.poll_transmit() {
                outcome.datagrams += 1;
                outcome.bytes += datagram.len() as u64;
                down.send(now, datagram);
            }
        }
    }
    Ok(outcome)
}
