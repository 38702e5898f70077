//! Passes the pieces of a publisher to a relay.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moq_net::{Client, Timescale, Timestamp, broadcast, group, track};
use tokio::task::JoinSet;

use super::connector::{Connection, again_and_again, origin, run};
use super::{Address, Connector, Link, MoqError};
use crate::{CATALOGUE, Carried, Catalogue, Piece, Track};

/// The memory for the pieces that the publisher keeps for relays that subscribe late, in bytes.
const CACHE_BYTES: u64 = 64 << 20;
/// The time for which relays keep groups.
const HISTORY: Duration = Duration::from_secs(10);

/// A broadcast that is published at a relay. The publication connects automatically, and reconnects
/// after the relay was unreachable.
pub struct Publication {
    timescale: Timescale,
    tracks: HashMap<Track, Output>,
    broadcast: broadcast::Producer,
    link: Arc<Mutex<Link>>,
    _tasks: JoinSet<()>,
}

struct Output {
    track: track::Producer,
    group: Option<group::Producer>,
}

impl Publication {
    /// Begins to publish a broadcast at `address`. `first_group` must be the number that the
    /// [`Publisher`](crate::Publisher) starts at. Call this within a tokio runtime, in which the
    /// connection then runs.
    ///
    /// # Errors
    /// [`MoqError::Broadcast`] if the tracks of the broadcast cannot be made.
    pub fn start(
        connector: &Connector,
        address: &Address,
        catalogue: &Catalogue,
        first_group: u64,
    ) -> Result<Self, MoqError> {
        let mut tasks = JoinSet::new();
        let origin = origin(CACHE_BYTES, &mut tasks);
        let broadcast = origin.create_broadcast(address.broadcast()).map_err(failed)?;
        let timescale = Timescale::new(catalogue.tick_hz().into())
            .map_err(|error| MoqError::Broadcast(error.to_string()))?;
        let info = track::Info::default().with_timescale(timescale).with_max_age(HISTORY);
        let track = |name: String| broadcast.create_track(name, info.clone()).map_err(failed);
        let catalogue_track = track(CATALOGUE.to_owned())?;
        let mut group =
            catalogue_track.create_group(group::Info { sequence: first_group }).map_err(failed)?;
        group.write_frame(Timestamp::ZERO, catalogue.to_bytes()).map_err(failed)?;
        group.finish().map_err(failed)?;
        let mut tracks = HashMap::new();
        for of in catalogue.tracks() {
            let track = track(catalogue.name_of(of).unwrap_or_default())?;
            tracks.insert(of, Output { track, group: None });
        }
        broadcast.announce(Default::default()).map_err(failed)?;
        let link = Arc::new(Mutex::new(Link::Connecting { because: None }));
        let (shared, connector, address) = (Arc::clone(&link), connector.clone(), address.clone());
        tasks.spawn(async move {
            // The track of the catalogue lives as long as the publication.
            let _catalogue_track = catalogue_track;
            let set = |link: Link| *shared.lock().unwrap_or_else(PoisonError::into_inner) = link;
            let session = || async {
                let mut tasks = JoinSet::new();
                let client = Client::new().with_publisher(&origin);
                let Connection { session, driver, .. } =
                    connector.connect(&address, client).await?;
                tasks.spawn(run(driver));
                set(Link::Connected);
                Err(MoqError::Session(session.closed().await.to_string()))
            };
            again_and_again(session, |error| {
                set(Link::Connecting { because: Some(error) });
                true
            })
            .await;
        });
        Ok(Self { timescale, tracks, broadcast, link, _tasks: tasks })
    }

    /// Passes pieces to the relay, without waiting. Datagrams that the connection cannot accept now
    /// are dropped.
    ///
    /// # Errors
    /// [`MoqError::Broadcast`] if the pieces belong to another catalogue, or the numbers of groups
    /// do not increase.
    pub fn send(&mut self, pieces: &[Piece]) -> Result<(), MoqError> {
        for piece in pieces {
            let output = self.tracks.get_mut(&piece.track);
            let output = output.ok_or_else(|| {
                MoqError::Broadcast(format!("{:?} is not in the catalogue", piece.track))
            })?;
            let time = Timestamp::new(piece.tick.0.into(), self.timescale)
                .map_err(|error| MoqError::Broadcast(error.to_string()))?;
            let bytes = piece.bytes.clone();
            match piece.carried {
                Carried::Datagram => {
                    output.track.insert_datagram(piece.group, time, bytes).map_err(failed)?;
                }
                Carried::Object(number) => {
                    if number == 0 {
                        if let Some(before) = output.group.take() {
                            before.finish().map_err(failed)?;
                        }
                        let info = group::Info { sequence: piece.group };
                        output.group = Some(output.track.create_group(info).map_err(failed)?);
                    }
                    if let Some(group) = &mut output.group {
                        group.write_frame(time, bytes).map_err(failed)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The state of the connection to the relay.
    pub fn link(&self) -> Link {
        self.link.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        self.broadcast.close();
    }
}

impl std::fmt::Debug for Publication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Publication").field("link", &self.link()).finish_non_exhaustive()
    }
}

fn failed(error: moq_net::Error) -> MoqError {
    MoqError::Broadcast(error.to_string())
}
