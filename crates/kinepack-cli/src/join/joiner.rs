//! One joiner: a connection, what it shows, and a new connection where the one before was lost.

use std::thread;
use std::time::Duration;

use kinepack_net::{Mismatch, Refused, Sequence};

use super::tally::Tally;
use crate::cube_stream::CubeStream;
use crate::failure::Failure;
use crate::udp::{ClientOptions, ClientState, LostReason, PROTOCOL_ID, Secret, UdpClient};
use crate::viewer::Viewer;

/// Between the end of a connection and the attempt at the next.
const PAUSE: Duration = Duration::from_secs(1);

/// Where all joiners of this process go.
pub(super) struct Target {
    pub(super) server: std::net::SocketAddr,
    pub(super) secret: Secret,
    pub(super) stream: CubeStream,
    /// Silence after which a connection is lost.
    pub(super) timeout: Duration,
}

/// A receiver that comes back.
pub(super) struct Joiner<'a> {
    target: &'a Target,
    connection: Option<Connection>,
    next_try: Duration,
    /// Of the connections that have ended.
    ended: Tally,
}

/// A connection and what came over it. The next one has a receiver of its own: the server may be another.
struct Connection {
    client: UdpClient,
    viewer: Viewer,
    tally: Tally,
    mismatch: Option<Mismatch>,
    /// The newest sequence that came.
    newest: Option<Sequence>,
    looked: Option<Duration>,
    connected_since: Option<Duration>,
}

/// What a user wants to hear at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    Joined,
    Lost(LostReason),
}

impl<'a> Joiner<'a> {
    pub(super) fn new(target: &'a Target, first_try: Duration) -> Self {
        Self { target, connection: None, next_try: first_try, ended: Tally::default() }
    }

    /// Takes what has arrived and sends what is due. Never waits.
    pub(super) fn step(&mut self, now: Duration) -> Result<Option<News>, Failure> {
        if self.connection.is_none() && now >= self.next_try {
            self.connection = Some(Connection::open(self.target)?);
        }
        let Some(connection) = &mut self.connection else { return Ok(None) };
        let news = connection.step(now);
        if let Some(mismatch) = connection.mismatch {
            self.end(now);
            let Target { server, ref stream, .. } = *self.target;
            return Err(Failure::Mismatch { server, mismatch, own_hash: stream.own_hash(&mismatch) });
        }
        if let Some(News::Lost(_)) = news {
            self.end(now);
            self.next_try = now + PAUSE;
        }
        Ok(news)
    }

    /// Sleeps until something arrives or `duration` is over.
    pub(super) fn wait(&self, duration: Duration) {
        match &self.connection {
            Some(connection) => connection.client.wait(duration),
            None => thread::sleep(duration),
        }
    }

    /// Draws a frame.
    pub(super) fn show(&mut self, now: Duration) -> Result<(), Failure> {
        match &mut self.connection {
            Some(connection) => connection.viewer.show(now, None).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Lets a frame pass, without looking at it.
    pub(super) fn pass(&mut self, now: Duration) {
        if let Some(connection) = &mut self.connection {
            let _ = connection.viewer.receiver.playback(now);
        }
    }

    pub(super) fn is_receiving(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.viewer.receiver.newest().is_some())
    }

    pub(super) fn viewer(&self) -> Option<&Viewer> {
        self.connection.as_ref().map(|connection| &connection.viewer)
    }

    /// Of all connections so far.
    pub(super) fn tally(&self, now: Duration) -> Tally {
        let mut tally = self.ended;
        if let Some(connection) = &self.connection {
            tally.add(&connection.tally(now));
        }
        tally
    }

    /// Ends the connection where there is one: the server hears it.
    pub(super) fn end(&mut self, now: Duration) {
        if let Some(connection) = self.connection.take() {
            self.ended.add(&connection.tally(now));
            connection.client.close();
        }
    }
}

impl Connection {
    fn open(target: &Target) -> Result<Self, Failure> {
        let mut options = ClientOptions::new(PROTOCOL_ID);
        options.timeout = target.timeout;
        Ok(Self {
            client: UdpClient::connect(target.server, &target.secret, options)?,
            viewer: Viewer::new(&target.stream)?,
            tally: Tally { server: Some(target.server), ..Tally::default() },
            mismatch: None,
            newest: None,
            looked: None,
            connected_since: None,
        })
    }

    fn step(&mut self, now: Duration) -> Option<News> {
        let Self { client, viewer, tally, mismatch, newest, looked, connected_since } = self;
        let since = now.saturating_sub(looked.replace(now).unwrap_or(now));
        tally.slowest_look = tally.slowest_look.max(since);
        let knew_nothing = viewer.receiver.newest().is_none();
        client.poll(&mut |datagram| match viewer.handle(now, datagram) {
            Ok(_) => tally.note_sequence(newest, datagram),
            Err(Refused::Mismatch(why)) => *mismatch = Some(why),
            Err(Refused::Duplicate | Refused::TooOld) => {}
            Err(_) => tally.wrong += 1,
        });
        match client.state() {
            ClientState::Connecting => None,
            ClientState::Connected => {
                if connected_since.is_none() {
                    *connected_since = Some(now);
                    tally.connections += 1;
                }
                while let Some(datagram) = viewer.receiver.poll_transmit(now) {
                    // Nothing but a connection that has just ended is in the way, and the next step says so.
                    let _ = client.send(datagram);
                }
                (knew_nothing && viewer.receiver.newest().is_some()).then_some(News::Joined)
            }
            ClientState::Lost { reason } => {
                match reason {
                    LostReason::NoAnswer => tally.no_answer += 1,
                    LostReason::Full => tally.full += 1,
                    LostReason::TimedOut | LostReason::Dropped => tally.dropped += 1,
                }
                Some(News::Lost(reason))
            }
        }
    }

    /// With what its parts counted.
    fn tally(&self, now: Duration) -> Tally {
        let (received, playout) = (self.viewer.receiver.stats(), self.viewer.receiver.playout_stats());
        let connected = self.connected_since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
        Tally {
            snapshots: self.viewer.snapshots,
            left_out: self.viewer.left_out,
            received: received.received,
            duplicates: received.duplicates,
            late: received.late,
            sockets: self.client.stats(),
            connected,
            starved: connected.mul_f64(playout.starved_ratio.clamp(0.0, 1.0)),
            delay: playout.delay,
            ..self.tally
        }
    }
}
