//! Publishes snapshots to a relay: `serve --publish`, `publish` and `broadcast`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kinepack::{Codec, Level, Snapshot};
use kinepack_crowd::moq::{Address, Connector, Link, Publication};
use kinepack_crowd::{Catalogue, CrowdError, Publisher};
use tokio::runtime::Runtime;

use super::options::RegionOptions;
use super::regions::Regions;
use super::{BroadcastError, PublishOptions, link_status};

/// A world that is being published.
pub struct Outgoing {
    publisher: Publisher,
    publication: Publication,
    link: Link,
    /// Runs the threads that send the bytes.
    _runtime: Runtime,
}

impl PublishOptions {
    /// Begins to publish a world of a codec, at the level that takes the fewest bits. The regions
    /// cover a square of this half width. `None` without the option `--publish`.
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
    /// Regions that cover a square of this half width, if they are asked for.
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
    // Greater than the group numbers of all earlier broadcasts, if those had fewer than 1,000
    // groups a second.
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
    let link = Link::Connecting { because: None };
    Ok(Outgoing { publisher, publication, link, _runtime: runtime })
}

impl Outgoing {
    /// Publishes a snapshot. Returns a line if the state of the relay's link changed.
    pub fn write(&mut self, world: &Snapshot) -> Result<Option<String>, BroadcastError> {
        self.publication.send(self.publisher.publish(world)?)?;
        let link = self.publication.link();
        if link == self.link {
            return Ok(None);
        }
        self.link = link;
        Ok(Some(format!("publishing: {}", link_status(&self.link))))
    }

    /// Gives the relay a moment to take what was published last.
    pub fn finish(self) {
        std::thread::sleep(Duration::from_millis(100));
    }
}
