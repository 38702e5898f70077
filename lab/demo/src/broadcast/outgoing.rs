//! Publishes snapshots to a relay, for `serve --publish`, `publish` and `broadcast`.

use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use command_kit::interrupt::Interrupt;
use kinepack::{Codec, Level, Snapshot, Tick};
use kinepack_crowd::moq::{Address, Connector, Link, Publication};
use kinepack_crowd::{Catalogue, CrowdError, Publisher};
use tokio::runtime::Runtime;

use super::options::RegionOptions;
use super::regions::Regions;
use super::terminal::{link_status, why_not_connected};
use super::{BroadcastError, PublishOptions, Published};

/// The time to sleep between two checks of the link, the clock and the signal's flag.
const NAP: Duration = Duration::from_millis(5);
/// The time for the relay to take the last published data, which is two round trips to a distant
/// relay.
const FAREWELL: Duration = Duration::from_millis(500);

/// A world that is being published.
pub struct Outgoing {
    publisher: Publisher,
    publication: Publication,
    link: Link,
    tick_hz: u16,
    delay_ticks: u32,
    /// The ticks of the frames that are held back because of the delay.
    held: VecDeque<Tick>,
    last: Tick,
    published: Published,
    /// The runtime of the threads that send the bytes.
    _runtime: Runtime,
}

impl PublishOptions {
    /// Begins to publish the world of a codec, at the level that takes the fewest bits. The regions
    /// cover a square whose half width is `half_width_m`. Returns `None` without the option
    /// `--publish`.
    pub fn begin(
        &self,
        codec: &Codec,
        tick_hz: u16,
        half_width_m: f64,
    ) -> Result<Option<Outgoing>, BroadcastError> {
        let Some(url) = &self.publish else { return Ok(None) };
        let address: Address = url.parse()?;
        let (runtime, connector) = self.relay.connector()?;
        let delay_ticks = (self.delay * f64::from(tick_hz)) as u32;
        let regions = self.regions.cover(half_width_m);
        publish(runtime, &connector, &address, codec, tick_hz, delay_ticks, regions).map(Some)
    }
}

impl RegionOptions {
    /// Returns regions that cover a square whose half width is `half_width_m`. Returns `None` if
    /// the options do not request regions.
    pub(super) fn cover(self, half_width_m: f64) -> Option<Regions> {
        self.regions.map(|per_side| Regions::new(per_side, half_width_m))
    }
}

/// Begins to publish a world at an address.
pub(super) fn publish(
    runtime: Runtime,
    connector: &Connector,
    address: &Address,
    codec: &Codec,
    tick_hz: u16,
    delay_ticks: u32,
    regions: Option<Regions>,
) -> Result<Outgoing, BroadcastError> {
    let (schema, profile) = (codec.schema().clone(), codec.profile().clone());
    let codec = Codec::new(schema, Level::LEARNING, profile).map_err(CrowdError::from)?;
    let standard = Catalogue::standard(tick_hz, &codec)?;
    let catalogue = match regions {
        Some(regions) => regions.added_to(&standard, &codec)?,
        None => standard.clone(),
    };
    // This number is greater than the group numbers of all earlier broadcasts, if those broadcasts
    // had fewer than 1,000 groups per second.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let first_group = since.as_millis() as u64;
    let publication = {
        let _within = runtime.enter();
        Publication::start(connector, address, &catalogue, first_group)?
    };
    let mut publisher = Publisher::starting_at(&catalogue, first_group).with_delay(delay_ticks);
    if let Some(regions) = regions {
        regions.select(&mut publisher, standard.tiers().len(), &codec)?;
    }
    Ok(Outgoing {
        publisher,
        publication,
        link: Link::Connecting { because: None },
        tick_hz,
        delay_ticks,
        held: VecDeque::new(),
        last: Tick(0),
        published: Published { address: address.to_string(), ..Published::default() },
        _runtime: runtime,
    })
}

impl Outgoing {
    /// Waits until the relay is connected, or until a signal arrives.
    ///
    /// # Errors
    /// Returns [`BroadcastError::NothingPublished`] if the relay is not connected after `patience`.
    pub fn wait_for_relay(
        &self,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), BroadcastError> {
        let begin = Instant::now();
        while let Some(reason) = why_not_connected(&self.publication.link()) {
            if interrupt.is_raised() {
                break;
            }
            if begin.elapsed() >= patience {
                let address = self.published.address.clone();
                return Err(BroadcastError::NothingPublished { address, reason });
            }
            std::thread::sleep(NAP);
        }
        Ok(())
    }

    /// Publishes a snapshot. Returns a line if the state of the relay's link changed.
    pub fn write(&mut self, world: &Snapshot) -> Result<Option<String>, BroadcastError> {
        self.publication.send(self.publisher.publish(world)?)?;
        self.held.push_back(world.tick);
        self.last = world.tick;
        self.count(world.tick);
        let link = self.publication.link();
        if link == self.link {
            return Ok(None);
        }
        self.link = link;
        Ok(Some(format!("publishing: {}", link_status(&self.link))))
    }

    /// Returns whether [`finish`](Self::finish) waits for the delay.
    pub fn holds_back(&self, interrupt: &Interrupt) -> bool {
        self.delay_ticks > 0 && !interrupt.is_raised()
    }

    /// Sends the frames that are held back when they are due, unless a signal arrives. Then waits a
    /// moment for the relay to take them. Returns the counts of published frames.
    pub fn finish(mut self, interrupt: &Interrupt) -> Result<Published, BroadcastError> {
        let begin = Instant::now();
        loop {
            let ticks = (begin.elapsed().as_secs_f64() * f64::from(self.tick_hz)) as u32;
            let now = Tick(self.last.0.wrapping_add(ticks));
            self.publication.send(self.publisher.drain(now))?;
            self.count(now);
            if self.publisher.is_drained() || interrupt.is_raised() {
                break;
            }
            std::thread::sleep(NAP);
        }
        std::thread::sleep(FAREWELL);
        self.published.cut = self.held.len() as u64;
        self.published.why_not = why_not_connected(&self.publication.link());
        Ok(self.published)
    }

    /// Counts the frames that are due at a tick.
    fn count(&mut self, now: Tick) {
        let is_connected = self.publication.link() == Link::Connected;
        let is_due = |tick: &mut Tick| now.0.wrapping_sub(tick.0) >= self.delay_ticks;
        while self.held.pop_front_if(is_due).is_some() {
            let count = match is_connected {
                true => &mut self.published.frames,
                false => &mut self.published.missed,
            };
            *count += 1;
        }
    }
}
