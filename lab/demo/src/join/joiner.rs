//! One joiner, with its connection and the state that it shows. After a lost connection, it
//! connects again.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use cubes::Input;
use kinepack::{EntityId, Snapshot};
use kinepack_net::{
    DatagramKind, Mismatch, Refused, Sequence, StreamRefused, datagram_kind, split_datagram,
};
use kinepack_udp::{ClientOptions, ClientState, LostReason, Secret, UdpClient};

use super::player::{Pilot, Player};
use super::tally::Tally;
use crate::PROTOCOL_ID;
use crate::cube_stream::CubeStream;
use crate::game_events::GameEvent;
use crate::join::JoinError;
use crate::session_error::SessionError;
use crate::sight::Sight;
use crate::viewer::{NewView, Viewer};

/// The pause between the end of a connection and the next attempt.
const PAUSE: Duration = Duration::from_secs(1);

/// The server to which all joiners of this process connect, and the settings of the connections.
pub struct Target {
    pub server: SocketAddr,
    pub secret: Secret,
    pub stream: CubeStream,
    /// The time of silence after which a connection counts as lost.
    pub timeout: Duration,
}

/// A receiver that reconnects.
pub struct Joiner<'a> {
    target: &'a Target,
    pilot: Pilot,
    connection: Option<Connection>,
    next_try: Duration,
    /// The counts of all connections that have ended.
    ended: Tally,
}

/// A connection and its receiver. Each connection has its own receiver, because the server may have
/// been restarted.
struct Connection {
    client: UdpClient,
    viewer: Viewer,
    /// The player's end of the stream of keys. The value is `None` if the joiner only watches.
    player: Option<Player>,
    tally: Tally,
    mismatch: Option<Mismatch>,
    /// The newest sequence that was received.
    newest: Option<Sequence>,
    last_look: Option<Duration>,
    connected_since: Option<Duration>,
}

/// A change of the connection that is reported to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// The first state arrived.
    Joined,
    /// The joiner now steers this cube. `None` means that the server has no cube for the joiner.
    Seated(Option<EntityId>),
    Lost(LostReason),
}

impl ConnectionEvent {
    /// Returns the event as a line, for a command that reconnects after a loss.
    pub fn line(self, server: SocketAddr) -> String {
        match self {
            Self::Joined => format!("joined {server}"),
            Self::Seated(Some(entity)) => format!("{server}: plays cube {}", entity.0),
            Self::Seated(None) => format!("{server}: only watches, the server has no cube for it"),
            Self::Lost(reason) => format!("{server}: {reason}; trying again"),
        }
    }
}

impl<'a> Joiner<'a> {
    pub fn new(target: &'a Target, first_try: Duration, pilot: Pilot) -> Self {
        Self { target, pilot, connection: None, next_try: first_try, ended: Tally::default() }
    }

    /// Takes all datagrams that have arrived, and sends those that are due. The method never waits.
    pub(super) fn step(&mut self, now: Duration) -> Result<Option<ConnectionEvent>, JoinError> {
        self.step_with(now, &mut |_, _| {})
    }

    /// Receives, sends and reconnects as is due, and calls `on_view` with each new view.
    pub fn step_with(
        &mut self,
        now: Duration,
        on_view: &mut dyn FnMut(NewView, &Snapshot),
    ) -> Result<Option<ConnectionEvent>, JoinError> {
        if self.connection.is_none() && now >= self.next_try {
            let plays = !matches!(self.pilot, Pilot::Nobody);
            self.connection = Some(Connection::open(self.target, plays)?);
        }
        let Some(connection) = &mut self.connection else { return Ok(None) };
        let event = connection.step(now, &self.target.stream, &mut self.pilot, on_view);
        if let Some(mismatch) = connection.mismatch {
            self.end(now);
            let Target { server, ref stream, .. } = *self.target;
            return Err(JoinError::Mismatch {
                server,
                mismatch,
                difference: stream.describe(&mismatch),
            });
        }
        if let Some(refused) = connection.viewer.receiver.too_large() {
            self.end(now);
            return Err(SessionError::TooLarge(refused).into());
        }
        if let Some(ConnectionEvent::Lost(_)) = event {
            self.end(now);
            self.next_try = now + PAUSE;
        }
        Ok(event)
    }

    /// Holds the keys `input` until the next call. This has an effect only if a person steers.
    pub(super) fn hold(&mut self, input: Input) {
        if let Pilot::Person(held) = &mut self.pilot {
            *held = input;
        }
    }

    /// Returns the cube that the joiner steers.
    pub(super) fn entity(&self) -> Option<EntityId> {
        self.connection.as_ref()?.entity()
    }

    /// Sleeps until something arrives or `duration` is over.
    pub fn wait(&self, duration: Duration) {
        match &self.connection {
            Some(connection) => connection.client.wait(duration),
            None => thread::sleep(duration),
        }
    }

    /// Computes a frame. Returns the events of other players as lines of text.
    pub(super) fn show(&mut self, now: Duration) -> Result<Vec<String>, JoinError> {
        let Some(connection) = &mut self.connection else { return Ok(Vec::new()) };
        if !connection.viewer.show(now, None)? {
            return Ok(Vec::new());
        }
        connection.note_seat();
        let own = connection.entity();
        let events = connection.viewer.events.iter();
        let others = events.filter(|event| event.entity() != own);
        Ok(others.filter_map(|event| event.line()).collect())
    }

    /// Advances playback by a frame without showing it.
    pub fn pass(&mut self, now: Duration) -> Result<(), JoinError> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        connection.viewer.pass(now)?;
        connection.note_seat();
        Ok(())
    }

    pub(super) fn is_receiving(&self) -> bool {
        self.connection
            .as_ref()
            .is_some_and(|connection| connection.viewer.receiver.newest().is_some())
    }

    pub(super) fn viewer(&self) -> Option<&Viewer> {
        self.connection.as_ref().map(|connection| &connection.viewer)
    }

    /// Returns the likely cause if no connection of this joiner has received a state, or `None` if
    /// one has.
    pub fn why_nothing_received(&self, now: Duration) -> Option<String> {
        self.tally(now).why_nothing_received()
    }

    /// The counts of all connections so far.
    pub(super) fn tally(&self, now: Duration) -> Tally {
        let mut tally = self.ended;
        if let Some(connection) = &self.connection {
            tally.add(&connection.tally(now));
        }
        tally
    }

    /// Ends the connection, if there is one, and notifies the server.
    pub fn end(&mut self, now: Duration) {
        if let Some(connection) = self.connection.take() {
            self.ended.add(&connection.tally(now));
            connection.client.close();
        }
    }
}

impl Connection {
    fn open(target: &Target, plays: bool) -> Result<Self, JoinError> {
        let mut options = ClientOptions::new(PROTOCOL_ID);
        options.timeout = target.timeout;
        Ok(Self {
            client: UdpClient::connect(target.server, &target.secret, options)?,
            viewer: Viewer::new(&target.stream)?,
            player: plays.then(Player::new).transpose()?,
            tally: Tally { server: Some(target.server), ..Tally::default() },
            mismatch: None,
            newest: None,
            last_look: None,
            connected_since: None,
        })
    }

    fn step(
        &mut self,
        now: Duration,
        stream: &CubeStream,
        pilot: &mut Pilot,
        on_view: &mut dyn FnMut(NewView, &Snapshot),
    ) -> Option<ConnectionEvent> {
        let since = now.saturating_sub(self.last_look.replace(now).unwrap_or(now));
        self.tally.slowest_look = self.tally.slowest_look.max(since);
        let had_no_state = self.viewer.receiver.newest().is_none();
        let Self { client, viewer, player, tally, mismatch, newest, .. } = self;
        client.poll(&mut |datagram| {
            let Ok(parts) = split_datagram(datagram) else {
                tally.wrong += 1;
                return;
            };
            for part in parts {
                match (datagram_kind(part), &mut *player) {
                    (Some(DatagramKind::StreamAcknowledgement), Some(player)) => {
                        let is_wrong = player
                            .acknowledge(part)
                            .is_err_and(|refused| refused != StreamRefused::LongAgo);
                        tally.wrong += u64::from(is_wrong);
                    }
                    _ => match viewer.handle(now, part) {
                        Ok(new) => {
                            tally.note_sequence(newest, part);
                            if let Some(new) = new
                                && let Some(view) = viewer.receiver.view(new.sequence)
                            {
                                on_view(new, view);
                            }
                        }
                        Err(Refused::Mismatch(why)) => *mismatch = Some(why),
                        Err(Refused::Duplicate | Refused::TooOld) => {}
                        Err(_) => tally.wrong += 1,
                    },
                }
            }
        });
        match self.client.state() {
            ClientState::Connecting => None,
            ClientState::Connected => {
                if self.connected_since.is_none() {
                    self.connected_since = Some(now);
                    self.tally.connections += 1;
                }
                self.transmit(now, stream, pilot);
                if had_no_state && self.viewer.receiver.newest().is_some() {
                    return Some(ConnectionEvent::Joined);
                }
                let seat = self.player.as_mut().and_then(Player::take_seat);
                seat.map(ConnectionEvent::Seated)
            }
            ClientState::Lost { reason } => {
                match reason {
                    LostReason::NoAnswer => self.tally.no_answer += 1,
                    LostReason::Full => self.tally.full += 1,
                    LostReason::TimedOut | LostReason::Dropped => self.tally.dropped += 1,
                }
                Some(ConnectionEvent::Lost(reason))
            }
        }
    }

    /// Notes the seat that the events of the last frame assign.
    fn note_seat(&mut self) {
        let Some(player) = &mut self.player else { return };
        for event in &self.viewer.events {
            if let GameEvent::Seated(entity) = event {
                player.seat(*entity);
            }
        }
    }

    /// Returns the cube that the joiner steers.
    fn entity(&self) -> Option<EntityId> {
        self.player.as_ref()?.entity()
    }

    /// Sends the datagrams that are due. Sending fails only if the connection has just ended. The
    /// next step then reports the end.
    fn transmit(&mut self, now: Duration, stream: &CubeStream, pilot: &mut Pilot) {
        let Self { client, viewer, player, .. } = self;
        match (player, viewer.receiver.newest()) {
            (Some(player), Some(snapshot)) => {
                let sight = player.entity().and_then(|entity| Sight::new(stream, snapshot, entity));
                if player.step(now, pilot, sight.as_ref()) {
                    let _ = client.send(player.transmit(viewer.receiver.poll_acknowledgement()));
                }
            }
            _ => {
                while let Some(datagram) = viewer.receiver.poll_transmit(now) {
                    let _ = client.send(datagram);
                }
            }
        }
    }

    /// The connection's counts, including those of its parts.
    fn tally(&self, now: Duration) -> Tally {
        let (received, playout) =
            (self.viewer.receiver.stats(), self.viewer.receiver.playout_stats());
        let connected =
            self.connected_since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
        Tally {
            keys: self.player.as_ref().map(Player::stats).unwrap_or_default(),
            entity: self.entity(),
            snapshots: self.viewer.snapshots,
            left_out: self.viewer.left_out,
            received: received.received,
            duplicates: received.duplicates,
            late: received.late,
            events: received.events,
            late_events: received.late_events,
            sockets: self.client.stats(),
            connected,
            starved: connected.mul_f64(playout.starved_ratio.clamp(0.0, 1.0)),
            delay: playout.delay,
            ..self.tally
        }
    }
}
