//! The viewers. Most of them receive and compare bytes, and some decode and play.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kinepack_crowd::moq::moq_net::{Client, group, origin, time, track};
use kinepack_crowd::moq::{Address, Connector, Traffic, Watching};
use tokio::task::JoinSet;

use crate::publish::now_us;

/// The states that the publisher has sent, by tick.
#[derive(Default)]
pub struct Truth(Mutex<BTreeMap<u32, Sent>>);

/// A tick of the publisher.
#[derive(Clone, Copy)]
pub struct Sent {
    /// The hash of the state.
    pub hash: u64,
    /// The time at which the tick was published, in microseconds.
    pub at_us: u64,
    /// The time that publishing the tick took, in nanoseconds.
    pub cost_ns: u64,
}

impl Truth {
    pub fn add(&self, tick: u32, sent: Sent) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(tick, sent);
    }

    fn of(&self, tick: u32) -> Option<Sent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&tick).copied()
    }

    /// Returns the median time to publish a tick, over the last 1,000 ticks.
    pub fn cost_us(&self) -> f64 {
        let sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let costs: Vec<u64> = sent.values().rev().take(1_000).map(|sent| sent.cost_ns).collect();
        median(costs) as f64 / 1e3
    }
}

pub fn median(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}

/// All viewers of the broadcast.
pub struct Crowd {
    connector: Connector,
    address: Address,
    truth: Arc<Truth>,
    /// The hash of each object as the first viewer received it, by group and number.
    objects: Arc<Mutex<HashMap<(u64, u64), u64>>>,
    pub received: Vec<Arc<Seen>>,
    pub played: Vec<(&'static str, Arc<Seen>)>,
    back_at_us: Arc<AtomicU64>,
    tasks: JoinSet<()>,
}

/// The measurements of a viewer.
#[derive(Default)]
pub struct Seen {
    /// The number of objects that were received, or of states that were compared.
    pub count: AtomicU64,
    pub wrong: AtomicU64,
    /// The time from the relay's restart to the first object that the viewer received after the
    /// restart, in microseconds.
    pub back_us: AtomicU64,
    pub delays_us: Mutex<Vec<u64>>,
    traffic: Mutex<Option<Traffic>>,
    bytes: AtomicU64,
}

impl Seen {
    /// Returns the number of bytes received in this session and in earlier ones.
    pub fn received_bytes(&self) -> u64 {
        let traffic = self.traffic.lock().unwrap_or_else(PoisonError::into_inner);
        self.bytes.load(Relaxed) + traffic.as_ref().map_or(0, Traffic::received_bytes)
    }

    fn session_ends(&self) {
        let traffic = self.traffic.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.bytes.fetch_add(traffic.map_or(0, |traffic| traffic.received_bytes()), Relaxed);
    }

    fn arrive(&self, back_at_us: &AtomicU64) {
        self.count.fetch_add(1, Relaxed);
        let back_at_us = back_at_us.load(Relaxed);
        if back_at_us > 0 && self.back_us.load(Relaxed) == 0 {
            self.back_us.store(now_us().saturating_sub(back_at_us).max(1), Relaxed);
        }
    }
}

impl Crowd {
    pub fn new(connector: Connector, address: Address, truth: Arc<Truth>) -> Self {
        Self {
            connector,
            address,
            truth,
            objects: Arc::default(),
            received: Vec::new(),
            played: Vec::new(),
            back_at_us: Arc::default(),
            tasks: JoinSet::new(),
        }
    }

    /// Adds a viewer that decodes a tier and plays it at 60 frames per second.
    pub fn play(&mut self, tier: &'static str) {
        let seen = Arc::new(Seen::default());
        self.played.push((tier, Arc::clone(&seen)));
        let mut watching = Watching::start(&self.connector, &self.address, &[tier]);
        let (truth, back_at_us) = (Arc::clone(&self.truth), Arc::clone(&self.back_at_us));
        self.tasks.spawn(async move {
            let mut frames = tokio::time::interval(Duration::from_micros(16_667));
            let mut before = None;
            loop {
                tokio::select! {
                    () = watching.changed() => {}
                    _ = frames.tick() => {
                        watching.update();
                        let now = watching.now();
                        let playback = watching.viewer().and_then(|viewer| viewer.playback(now));
                        let Some(shown) = playback.map(|playback| playback.tick) else { continue };
                        // Between two ticks, the published moment is interpolated too.
                        if let Some(sent) = truth.of(shown as u32) {
                            let part_us = (shown.fract() * 1e6 / 60.0) as u64;
                            let delay_us = now_us().saturating_sub(sent.at_us + part_us);
                            seen.delays_us.lock().unwrap_or_else(PoisonError::into_inner).push(delay_us);
                        }
                        continue;
                    }
                }
                let Some(newest) = watching.viewer().and_then(|viewer| viewer.newest()).cloned() else {
                    continue;
                };
                if before != Some(newest.tick) {
                    before = Some(newest.tick);
                    // The publisher's line for a tick may arrive a moment later than the tick's
                    // packet.
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    if let Some(sent) = truth.of(newest.tick.0) {
                        seen.wrong.fetch_add(u64::from(sent.hash != newest.state_hash()), Relaxed);
                        seen.arrive(&back_at_us);
                    }
                }
            }
        });
    }

    /// Adds a viewer that receives the snapshots of a tier without decoding them.
    pub fn receive(&mut self, tier: &str) {
        let seen = Arc::new(Seen::default());
        self.received.push(Arc::clone(&seen));
        let viewer = Receiving {
            connector: self.connector.clone(),
            address: self.address.clone(),
            tier: tier.to_owned(),
            objects: Arc::clone(&self.objects),
            back_at_us: Arc::clone(&self.back_at_us),
            seen,
        };
        self.tasks.spawn(async move {
            loop {
                let _ = viewer.session().await;
                viewer.seen.session_ends();
                // If all viewers reconnected at the same moment, they would overflow the relay's
                // socket.
                let spread_ms = RandomState::new().hash_one(0) % 500;
                tokio::time::sleep(Duration::from_millis(200 + spread_ms)).await;
            }
        });
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Seen>> {
        self.received.iter().chain(self.played.iter().map(|(_, seen)| seen))
    }

    /// Waits for the first object of each viewer.
    pub async fn wait_until_all_receive(&self, most: Duration) -> Result<(), Box<dyn Error>> {
        let waiting = async {
            while self.all().any(|seen| seen.count.load(Relaxed) == 0) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(most, waiting).await.map_err(|_| {
            let silent = self.all().filter(|seen| seen.count.load(Relaxed) == 0).count();
            format!("{silent} viewers have received nothing").into()
        })
    }

    /// Starts the measurement of the time until each viewer receives something.
    pub fn relay_is_back(&self) {
        self.back_at_us.store(now_us(), Relaxed);
    }

    pub fn wrong(&self) -> u64 {
        self.all().map(|seen| seen.wrong.load(Relaxed)).sum()
    }

    pub fn count(&self) -> u64 {
        self.all().map(|seen| seen.count.load(Relaxed)).sum()
    }

    pub fn received_bytes(&self) -> u64 {
        self.received.iter().map(|seen| seen.received_bytes()).sum()
    }

    /// Returns the times until each viewer received something again, in ascending order. Viewers
    /// that received nothing are omitted.
    pub fn back(&self) -> Vec<Duration> {
        let times = self.all().map(|seen| seen.back_us.load(Relaxed)).filter(|time| *time > 0);
        let mut times: Vec<Duration> = times.map(Duration::from_micros).collect();
        times.sort_unstable();
        times
    }

    pub fn publishing_us(&self) -> f64 {
        self.truth.cost_us()
    }
}

/// A viewer that does not decode.
struct Receiving {
    connector: Connector,
    address: Address,
    tier: String,
    objects: Arc<Mutex<HashMap<(u64, u64), u64>>>,
    back_at_us: Arc<AtomicU64>,
    seen: Arc<Seen>,
}

impl Receiving {
    async fn session(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (origin, driver) = origin::Producer::new(origin::Config::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { drop(time::run(driver).await) });
        let client = Client::new().with_subscriber(origin.clone());
        let connection = self.connector.connect(&self.address, client).await?;
        *self.seen.traffic.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(connection.traffic());
        let (session, driver) = (connection.session, connection.driver);
        tasks.spawn(async move { drop(time::run(driver).await) });
        let reading = async {
            loop {
                let broadcast = origin.consume().routed_broadcast(self.address.broadcast()).await?;
                let subscription =
                    track::Subscription::default().with_max_age(Duration::from_secs(1));
                let mut track = broadcast.track(&self.tier)?.subscribe(subscription).await?;
                let mut groups = JoinSet::new();
                while let Some(group) = track.recv_group().await? {
                    while groups.try_join_next().is_some() {}
                    let (objects, back) = (Arc::clone(&self.objects), Arc::clone(&self.back_at_us));
                    groups.spawn(read(group, objects, back, Arc::clone(&self.seen)));
                }
            }
        };
        tokio::select! {
            ended = reading => ended,
            error = session.closed() => Err(error.into()),
        }
    }
}

async fn read(
    mut group: group::Consumer,
    objects: Arc<Mutex<HashMap<(u64, u64), u64>>>,
    back_at_us: Arc<AtomicU64>,
    seen: Arc<Seen>,
) {
    let mut number = group.index();
    while let Ok(Some(frame)) = group.read_frame().await {
        let mut hasher = DefaultHasher::new();
        hasher.write(&frame.payload);
        let hash = hasher.finish();
        let place = (group.sequence, number);
        let first =
            *objects.lock().unwrap_or_else(PoisonError::into_inner).entry(place).or_insert(hash);
        seen.wrong.fetch_add(u64::from(first != hash), Relaxed);
        seen.arrive(&back_at_us);
        number += 1;
    }
}
