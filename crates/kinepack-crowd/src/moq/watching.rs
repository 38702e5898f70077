//! Passes the objects and datagrams of a relay on to a viewer.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use moq_net::bytes::Bytes;
use moq_net::{Client, broadcast, group, kio, track};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::connector::{CONNECT_TIMEOUT, again_and_again, origin, run};
use super::{Address, Connector, MoqError};
use crate::{CATALOGUE, Catalogue, Refused, Track, Viewer, ViewerConfig};

/// The maximum memory of a viewer's transport, in bytes.
const CACHE_BYTES: u64 = 16 << 20;
/// The delay after which a late group is given up.
const LATE: Duration = Duration::from_secs(1);
/// The time after which a track that failed is requested again.
const RETRY: Duration = Duration::from_secs(1);
/// The maximum number of events that wait for the program to take them. If the queue is full, the
/// relay has to wait, and late groups are dropped.
const MAX_EVENTS: usize = 1024;

/// The state of the connection to a relay.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// There is no connection, either not yet or not any more.
    Connecting {
        /// The reason why the last attempt or session ended.
        because: Option<MoqError>,
    },
    /// The relay has answered, so the session is open.
    Connected,
}

/// Watches a broadcast through a relay. A `Watching` connects automatically, and reconnects after
/// the relay was unreachable.
///
/// For each drawn frame, call [`update`](Self::update). Then draw the state that
/// [`viewer`](Self::viewer) plays at [`now`](Self::now).
pub struct Watching {
    events: mpsc::Receiver<(Instant, Event)>,
    wanted: watch::Sender<Vec<Track>>,
    start: Instant,
    link: Link,
    received_bytes: u64,
    missed: u64,
    missed_because: Option<MoqError>,
    /// The names of the requested tiers.
    tiers: Vec<String>,
    configure: fn(u32) -> ViewerConfig,
    shown: Option<(Arc<Catalogue>, Viewer)>,
    _tasks: JoinSet<()>,
}

/// An event of the connection, which the viewer handles.
enum Event {
    Connected,
    Lost(MoqError),
    Catalogue(Arc<Catalogue>),
    Object {
        track: Track,
        group: u64,
        number: u64,
        bytes: Bytes,
    },
    Datagram {
        tier: usize,
        bytes: Bytes,
    },
    /// The session has received this number of bytes, with all headers.
    Received(u64),
    /// A track or a group could not be read to its end, for this reason.
    Missed(MoqError),
}

impl Watching {
    /// Begins to watch the broadcast at `address`. `tiers` are the names of the tiers to show
    /// first. If the broadcast has none of them, the first tier of the catalogue is shown. Call
    /// this within a tokio runtime, in which the connection then runs.
    pub fn start(connector: &Connector, address: &Address, tiers: &[&str]) -> Self {
        let (sender, events) = mpsc::channel(MAX_EVENTS);
        let (wanted, receiver) = watch::channel(Vec::new());
        let mut tasks = JoinSet::new();
        let (connector, address) = (connector.clone(), address.clone());
        tasks.spawn(async move {
            let session = || one_session(&connector, &address, &sender, receiver.clone());
            again_and_again(session, |error| {
                sender.try_send((Instant::now(), Event::Lost(error))).is_ok() || !sender.is_closed()
            })
            .await;
        });
        Self {
            events,
            wanted,
            start: Instant::now(),
            link: Link::Connecting { because: None },
            received_bytes: 0,
            missed: 0,
            missed_because: None,
            tiers: tiers.iter().map(|name| (*name).to_owned()).collect(),
            configure: ViewerConfig::at_hz,
            shown: None,
            _tasks: tasks,
        }
    }

    /// Sets the function that makes the viewer's limits and delays, given the ticks per second.
    #[must_use]
    pub fn with_config(mut self, configure: fn(u32) -> ViewerConfig) -> Self {
        self.configure = configure;
        self
    }

    /// Handles everything that has arrived, without waiting.
    pub fn update(&mut self) {
        while let Ok((at, event)) = self.events.try_recv() {
            self.take(at, event);
        }
        self.send_wanted();
    }

    /// Waits until something arrives, and handles it. Programs that draw nothing call `changed`
    /// instead of `update`.
    pub async fn changed(&mut self) {
        if let Some((at, event)) = self.events.recv().await {
            self.take(at, event);
        }
        self.update();
    }

    /// The viewer of the broadcast, or `None` before the catalogue has arrived.
    pub fn viewer(&mut self) -> Option<&mut Viewer> {
        self.shown.as_mut().map(|(_, viewer)| viewer)
    }

    /// The broadcast's catalogue, or `None` before the catalogue has arrived.
    pub fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        self.shown.as_ref().map(|(catalogue, _)| catalogue)
    }

    /// Watches the tiers with these names together, like [`Viewer::watch_all`]. If the catalogue
    /// lacks one of the tiers, nothing changes.
    pub fn watch(&mut self, tiers: &[&str]) {
        if let Some((catalogue, viewer)) = &mut self.shown
            && let Some(numbers) =
                tiers.iter().map(|name| catalogue.find(name)).collect::<Option<Vec<_>>>()
            && viewer.watch_all(&numbers).is_ok()
        {
            self.tiers = tiers.iter().map(|name| (*name).to_owned()).collect();
        }
        self.send_wanted();
    }

    /// The time since the start, which is the time to pass to [`Viewer::playback`].
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// The state of the connection.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// The number of bytes that the current session has received, with all headers. The number is
    /// updated once a second.
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// The number of tracks and groups that could not be read to their ends, such as late groups,
    /// and the reason for the last failure.
    pub fn missed(&self) -> (u64, Option<&MoqError>) {
        (self.missed, self.missed_because.as_ref())
    }

    fn take(&mut self, at: Instant, event: Event) {
        let now = at.saturating_duration_since(self.start);
        match event {
            Event::Connected => self.link = Link::Connected,
            Event::Lost(error) => self.link = Link::Connecting { because: Some(error) },
            Event::Missed(error) => {
                self.missed += 1;
                self.missed_because = Some(error);
            }
            Event::Received(bytes) => self.received_bytes = bytes,
            Event::Catalogue(catalogue) => self.begin(catalogue),
            Event::Object { track, group, number, bytes } => {
                if let Some((_, viewer)) = &mut self.shown {
                    // The viewer itself counts what it refuses.
                    let _: Result<_, Refused> = viewer.object(now, track, group, number, &bytes);
                    self.send_wanted();
                }
            }
            Event::Datagram { tier, bytes } => {
                if let Some((_, viewer)) = &mut self.shown {
                    let _: Result<_, Refused> = viewer.datagram(now, tier, &bytes);
                }
            }
        }
    }

    /// Begins to read a broadcast. If the same broadcast was only unreachable for a while, its
    /// viewer is kept.
    fn begin(&mut self, catalogue: Arc<Catalogue>) {
        match &mut self.shown {
            Some((before, viewer)) if before.to_bytes() == catalogue.to_bytes() => viewer.rejoin(),
            _ => {
                let found = self.tiers.iter().filter_map(|name| catalogue.find(name));
                let mut tiers: Vec<usize> = found.collect();
                if tiers.is_empty() {
                    tiers.push(0);
                }
                let config = (self.configure)(catalogue.tick_hz().into());
                let viewer = Viewer::new(&catalogue, config).and_then(|mut viewer| {
                    viewer.watch_all(&tiers)?;
                    Ok(viewer)
                });
                match viewer {
                    Ok(viewer) => self.shown = Some((catalogue, viewer)),
                    Err(error) => {
                        let because = Some(MoqError::Broadcast(error.to_string()));
                        self.link = Link::Connecting { because };
                    }
                }
            }
        }
        self.send_wanted();
    }

    /// Passes the list of tracks that the viewer needs to the connection.
    fn send_wanted(&mut self) {
        if let Some((_, viewer)) = &self.shown {
            self.wanted.send_if_modified(|wanted| {
                let is_other = !viewer.wanted().eq(wanted.iter().copied());
                if is_other {
                    *wanted = viewer.wanted().collect();
                }
                is_other
            });
        }
    }
}

impl std::fmt::Debug for Watching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watching").field("link", &self.link).finish_non_exhaustive()
    }
}

type Events = mpsc::Sender<(Instant, Event)>;

async fn send(events: &Events, event: Event) -> bool {
    events.send((Instant::now(), event)).await.is_ok()
}

/// Connects to the relay, and passes on everything that arrives until the session ends. Returns
/// `Ok` if the program has dropped its [`Watching`].
async fn one_session(
    connector: &Connector,
    address: &Address,
    events: &Events,
    mut wanted: watch::Receiver<Vec<Track>>,
) -> Result<(), MoqError> {
    let mut tasks = JoinSet::new();
    let origin = origin(CACHE_BYTES, &mut tasks);
    let client = Client::new().with_subscriber(origin.clone());
    let connection = connector.connect(address, client).await?;
    let (traffic, session) = (connection.traffic(), connection.session);
    tasks.spawn(run(connection.driver));
    if !send(events, Event::Connected).await {
        return Ok(());
    }
    let reports = async {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if !send(events, Event::Received(traffic.received_bytes())).await {
                return Ok(());
            }
        }
    };
    let watching = async {
        loop {
            let broadcast = origin.consume().routed_broadcast(address.broadcast()).await;
            let broadcast = broadcast.map_err(failed)?;
            if !one_broadcast(&broadcast, events, &mut wanted).await? {
                return Ok(());
            }
        }
    };
    tokio::select! {
        ended = watching => ended,
        ended = reports => ended,
        error = session.closed() => Err(MoqError::Session(error.to_string())),
    }
}

/// Reads a broadcast until it ends. Returns false if the program has dropped its [`Watching`].
async fn one_broadcast(
    broadcast: &broadcast::Consumer,
    events: &Events,
    wanted: &mut watch::Receiver<Vec<Track>>,
) -> Result<bool, MoqError> {
    let read = timeout(CONNECT_TIMEOUT, read_catalogue(broadcast)).await;
    let catalogue = Arc::new(read.unwrap_or_else(|_| {
        let seconds = CONNECT_TIMEOUT.as_secs();
        Err(MoqError::Broadcast(format!("its catalogue did not come in {seconds} s")))
    })?);
    if !send(events, Event::Catalogue(Arc::clone(&catalogue))).await {
        return Ok(false);
    }
    let mut readers = JoinSet::new();
    let mut reading: HashMap<Track, AbortHandle> = HashMap::new();
    loop {
        let tracks = wanted.borrow_and_update().clone();
        reading.retain(|track, reader| {
            let is_wanted = tracks.contains(track);
            if !is_wanted {
                reader.abort();
            }
            is_wanted && !reader.is_finished()
        });
        for of in tracks {
            if !reading.contains_key(&of)
                && let Some(name) = catalogue.name_of(of)
            {
                let track = broadcast.track(&name).map_err(failed)?;
                reading.insert(of, readers.spawn(read_track(of, track, events.clone())));
            }
        }
        tokio::select! {
            changed = wanted.changed() => {
                if changed.is_err() {
                    return Ok(false);
                }
            }
            _ = broadcast.closed() => return Ok(true),
            // A reader has ended. The next round removes it, so that its track can be read again.
            Some(_) = readers.join_next() => {}
        }
    }
}

async fn read_catalogue(broadcast: &broadcast::Consumer) -> Result<Catalogue, MoqError> {
    let track = broadcast.track(CATALOGUE).map_err(failed)?;
    let mut track = track.subscribe(None).await.map_err(failed)?;
    let nothing = || MoqError::Broadcast("its catalogue is empty".to_owned());
    let mut group = track.recv_group().await.map_err(failed)?.ok_or_else(nothing)?;
    let frame = group.read_frame().await.map_err(failed)?.ok_or_else(nothing)?;
    Catalogue::from_bytes(&frame.payload).map_err(|error| MoqError::Broadcast(error.to_string()))
}

/// Passes on the objects and datagrams of a track until the track ends. After an error, this waits
/// before it returns, so that a relay that refuses the track is not asked again at once.
async fn read_track(of: Track, track: track::Consumer, events: Events) {
    if let Err(error) = pass_on(of, &track, &events).await
        && send(&events, Event::Missed(failed(error))).await
    {
        tokio::time::sleep(RETRY).await;
    }
}

async fn pass_on(
    of: Track,
    track: &track::Consumer,
    events: &Events,
) -> Result<(), moq_net::Error> {
    let subscription = track::Subscription::default().with_max_age(LATE);
    let mut track = track.subscribe(subscription).await?;
    let mut groups = JoinSet::new();
    let ended = loop {
        tokio::select! {
            arrival = next(&mut track) => match arrival {
                Ok(Some(Arrival::Group(group))) => {
                    groups.spawn(read_group(of, *group, events.clone()));
                }
                Ok(Some(Arrival::Datagram(bytes))) => {
                    let event = Event::Datagram { tier: of.tier(), bytes };
                    if !send(events, event).await {
                        return Ok(());
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            },
            Some(_) = groups.join_next() => {}
        }
    };
    // Groups that have begun are still read to their ends.
    while groups.join_next().await.is_some() {}
    ended
}

/// A group or a datagram of a track.
enum Arrival {
    Group(Box<group::Consumer>),
    Datagram(Bytes),
}

/// Waits for the next group or datagram. Returns `None` at the end of the track.
async fn next(track: &mut track::Subscriber) -> Result<Option<Arrival>, moq_net::Error> {
    kio::wait(|waiter| {
        if let Poll::Ready(group) = track.poll_recv_group(waiter) {
            return Poll::Ready(group.map(|group| group.map(|of| Arrival::Group(Box::new(of)))));
        }
        match track.poll_recv_datagram(waiter) {
            Poll::Ready(Ok(Some(datagram))) => {
                Poll::Ready(Ok(Some(Arrival::Datagram(datagram.payload))))
            }
            // The groups may continue after the last datagram.
            _ => Poll::Pending,
        }
    })
    .await
}

async fn read_group(of: Track, mut group: group::Consumer, events: Events) {
    let sequence = group.sequence;
    let mut number = group.index();
    loop {
        let event = match group.read_frame().await {
            Ok(Some(frame)) => {
                Event::Object { track: of, group: sequence, number, bytes: frame.payload }
            }
            Ok(None) => return,
            // A group with a gap is useless to the viewer.
            Err(error) => {
                send(&events, Event::Missed(failed(error))).await;
                return;
            }
        };
        if !send(&events, event).await {
            return;
        }
        number += 1;
    }
}

fn failed(error: moq_net::Error) -> MoqError {
    MoqError::Broadcast(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_catalogue_that_does_not_come_is_given_up() {
        let mut tasks = JoinSet::new();
        let origin = origin(CACHE_BYTES, &mut tasks);
        let producer = origin.create_broadcast("match").unwrap();
        let _track = producer.create_track(CATALOGUE.to_owned(), track::Info::default()).unwrap();
        producer.announce(Default::default()).unwrap();
        let consumer = origin.consume().routed_broadcast("match").await.unwrap();
        let (events, _) = mpsc::channel(MAX_EVENTS);
        let (_sender, mut wanted) = watch::channel(Vec::new());
        let ended = one_broadcast(&consumer, &events, &mut wanted).await;
        let reason = ended.unwrap_err().to_string();
        assert!(reason.contains("did not come in 10 s"), "{reason}");
    }
}
