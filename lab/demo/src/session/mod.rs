//! Sends a world to one or many receivers through simulated links. `demo` shows the session, and
//! `simulate` and `sweep` measure it.

mod answering;
mod faults;
mod key_stream;
mod outside;
mod peer;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::{Duration, Instant};

use command_kit::Distribution;
pub use faults::FaultReport;
pub use key_stream::Controller;
use kinepack_net::{HubConfig, LinkConfig, ReceiverId, datagram_sequence};
pub use outside::Outside;
use peer::Side;
pub use peer::{Peer, SentDatagram};

use crate::sender::{SendOptions, Sender};
use crate::session_error::SessionError;
use crate::truth::Truth;
use crate::world::Played;

/// Carries a datagram between the two sides once the simulated link has delivered it.
pub trait Carrier {
    /// Carries a datagram to the receiver. Returns `None` if the datagram was lost.
    fn down<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, SessionError>;

    /// Carries a datagram to the sender. Returns `None` if the datagram was lost.
    fn up<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, SessionError>;
}

/// Delivers datagrams within this process, without a socket.
pub struct Direct;

impl Carrier for Direct {
    fn down<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, SessionError> {
        Ok(Some(datagram))
    }

    fn up<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, SessionError> {
        Ok(Some(datagram))
    }
}

/// A sender and its receivers.
pub struct Session {
    pub sender: Sender,
    truth: Truth,
    /// The interval in which all sent datagrams are lost.
    pub outage: Range<Duration>,
    pub peers: Vec<Peer>,
    /// The source of the first player's keys. A person's keys travel over the first receiver's
    /// link.
    pub controller: Controller,
    /// The hub's time for all receivers together, in microseconds per tick.
    pub hub_us: Distribution,
    pub hub_total: Duration,
    /// The number of snapshots that were encoded, for all receivers together.
    pub encoded: u64,
}

impl Session {
    pub fn new(
        world: Played,
        options: &SendOptions,
        config: HubConfig,
    ) -> Result<Self, SessionError> {
        Ok(Self {
            sender: Sender::new(world, options, config)?,
            truth: Truth::default(),
            outage: Duration::ZERO..Duration::ZERO,
            peers: Vec::new(),
            controller: Controller::default(),
            hub_us: Distribution::default(),
            hub_total: Duration::ZERO,
            encoded: 0,
        })
    }

    /// Adds a receiver that a link connects to the sender. If `looked_at` is true, the receiver
    /// decodes, compares and shows. Otherwise it only acknowledges.
    pub fn add(
        &mut self,
        options: &SendOptions,
        link: LinkConfig,
        link_seed: u64,
        looked_at: bool,
    ) -> Result<(), SessionError> {
        let side = if looked_at { Side::viewer(options) } else { Side::answering(options) }?;
        self.add_side(options, link, link_seed, side)?;
        Ok(())
    }

    /// Adds a receiver outside of this program.
    pub fn add_outside(
        &mut self,
        options: &SendOptions,
        link: LinkConfig,
        link_seed: u64,
    ) -> Result<ReceiverId, SessionError> {
        self.add_side(options, link, link_seed, Side::Outside(Outside::default()))
    }

    fn add_side(
        &mut self,
        options: &SendOptions,
        link: LinkConfig,
        link_seed: u64,
        side: Side,
    ) -> Result<ReceiverId, SessionError> {
        let id = ReceiverId(self.peers.last().map_or(0, |last| last.id.0 + 1));
        self.peers.push(Peer::new(id, &mut self.sender, options, link, link_seed, side)?);
        Ok(id)
    }

    /// Removes a receiver.
    pub fn remove(&mut self, id: ReceiverId) {
        self.sender.hub.remove(id);
        self.peers.retain(|peer| peer.id != id);
    }

    /// Returns the receiver whose id is `id`.
    pub fn peer_mut(&mut self, id: ReceiverId) -> Option<&mut Peer> {
        let place = self.peers.binary_search_by_key(&id, |peer| peer.id).ok()?;
        Some(&mut self.peers[place])
    }

    /// Replaces the connections of all receivers, for example to change their level. Datagrams in
    /// flight are lost, and all counts start again from 0. Each link has the seed `link_seed` plus
    /// the receiver's number.
    pub fn reconnect(
        &mut self,
        options: &SendOptions,
        link: LinkConfig,
        link_seed: u64,
    ) -> Result<(), SessionError> {
        for peer in &self.peers {
            self.sender.hub.remove(peer.id);
        }
        self.sender.offer(options)?;
        for peer in &mut self.peers {
            let (id, side) = (peer.id, peer.new_side(options)?);
            let seed = link_seed.wrapping_add(id.0);
            *peer = Peer::new(id, &mut self.sender, options, link, seed, side)?;
        }
        Ok(())
    }

    /// Returns the time at which the next datagram is due on any link.
    pub fn next_arrival(&self) -> Option<Duration> {
        self.peers
            .iter()
            .flat_map(|peer| [peer.down.next_due(), peer.up.next_due()])
            .flatten()
            .min()
    }

    /// Delivers the datagrams that are due.
    pub fn deliver(
        &mut self,
        now: Duration,
        carrier: &mut impl Carrier,
    ) -> Result<(), SessionError> {
        let is_out = self.outage.contains(&now);
        self.peers
            .iter_mut()
            .try_for_each(|peer| peer.deliver(now, is_out, &mut self.sender, carrier))
    }

    /// Delivers each datagram that is due before a tick at the datagram's own time, then runs the
    /// tick.
    pub fn run_until(
        &mut self,
        tick: Duration,
        carrier: &mut impl Carrier,
    ) -> Result<(), SessionError> {
        while let Some(arrival) = self.next_arrival().filter(|at| *at <= tick) {
            self.deliver(arrival, carrier)?;
        }
        self.tick(tick, carrier)
    }

    /// Runs a tick: steps the world, sends snapshots and keys, and computes a frame for each
    /// viewer.
    pub fn tick(&mut self, now: Duration, carrier: &mut impl Carrier) -> Result<(), SessionError> {
        self.deliver(now, carrier)?;
        self.peers.iter_mut().for_each(|peer| peer.sent.clear());
        let by_person = matches!(self.controller, Controller::Person(_));
        self.sender.world.hold(self.peers.first().and_then(Peer::held).filter(|_| by_person));
        let is_sent = self.sender.step()?;
        if let Some(peer) = self.peers.first_mut() {
            peer.press(
                now,
                self.controller.keys(&self.sender.world),
                by_person,
                self.outage.contains(&now),
            );
        }
        self.truth.push(self.sender.tick(), self.sender.states());
        if is_sent {
            let begin = Instant::now();
            self.sender.send(now)?;
            let took = begin.elapsed();
            self.hub_us.add(took.as_secs_f64() * 1e6);
            self.hub_total += took;
            self.encoded += self.sender.hub.encoded() as u64;
        }
        while let Some((to, datagram)) = self.sender.hub.poll_transmit() {
            let place = self.peers.binary_search_by_key(&to, |peer| peer.id);
            let peer = &mut self.peers[place.expect("the hub's receivers are the peers")];
            peer.send(now, datagram, self.outage.contains(&now));
            peer.note_view(datagram_sequence(datagram), &self.sender);
        }
        for peer in &mut self.peers {
            peer.look(now, &self.sender, &self.truth)?;
        }
        Ok(())
    }
}
