//! Publishes snapshots to a relay: `serve --publish`, `replay --publish` and `broadcast`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use kinepack::{Codec, Level, Snapshot};
use kinepack_crowd::moq::{Address, Connector, Link, Publication};
use kinepack_crowd::{Catalogue, CrowdError, Publisher};
use tokio::runtime::Runtime;

use super::relay::RelayOptions;
use super::{BroadcastError, news_of};

/// Whether a command publishes to a relay.
#[derive(Args, Clone, Debug)]
pub struct PublishOptions {
    /// Also publish the world to spectators, through a relay of Media over QUIC such as moq-relay.
    /// The last part of the path is the broadcast's name; a token follows as ?jwt=TOKEN.
    #[arg(long, value_name = "URL")]
    pub publish: Option<Address>,
    /// Publish this many seconds later, against players who watch their own match.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_negative_numbers = true, value_parser = parse_delay)]
    delay: f64,
    #[command(flatten)]
    pub relay: RelayOptions,
}

/// The longest delay of a broadcast.
const MAX_DELAY_S: f64 = 3_600.0;

fn parse_delay(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.trim_end_matches('s').parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=MAX_DELAY_S).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("give 0 to 3600 seconds".to_owned())
    }
}

/// A world that is being published.
pub struct Outgoing {
    publisher: Publisher,
    publication: Publication,
    link: Link,
    /// Its threads carry the bytes.
    _runtime: Runtime,
}

impl PublishOptions {
    /// Begins to publish a world of a codec, at the level that takes the fewest bits. `None` if it
    /// is not asked for.
    pub fn begin(&self, codec: &Codec, tick_hz: u16) -> Result<Option<Outgoing>, BroadcastError> {
        let Some(address) = &self.publish else { return Ok(None) };
        let (runtime, connector) = self.relay.connector()?;
        let delay_ticks = (self.delay * f64::from(tick_hz)) as u32;
        publish(runtime, &connector, address, codec, tick_hz, delay_ticks).map(Some)
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
) -> Result<Outgoing, BroadcastError> {
    let (schema, profile) = (codec.schema().clone(), codec.profile().clone());
    let codec = Codec::new(schema, Level::LEARNING, profile).map_err(CrowdError::from)?;
    let catalogue = Catalogue::standard(tick_hz, &codec)?;
    // Above the numbers of all broadcasts before, with less than a thousand groups a second.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let first_group = since.as_millis() as u64;
    let publication = {
        let _within = runtime.enter();
        Publication::start(connector, address, &catalogue, first_group)?
    };
    let publisher = Publisher::starting_at(&catalogue, first_group).with_delay(delay_ticks);
    let link = Link::Connecting { because: None };
    Ok(Outgoing { publisher, publication, link, _runtime: runtime })
}

impl Outgoing {
    /// Publishes a snapshot. Returns a line of news about the relay, if there is one.
    pub fn write(&mut self, world: &Snapshot) -> Result<Option<String>, BroadcastError> {
        self.publication.send(self.publisher.publish(world)?)?;
        let link = self.publication.link();
        if link == self.link {
            return Ok(None);
        }
        self.link = link;
        Ok(Some(format!("publishing: {}", news_of(&self.link))))
    }

    /// Gives the relay a moment to take what was published last.
    pub fn finish(self) {
        std::thread::sleep(Duration::from_millis(100));
    }
}
