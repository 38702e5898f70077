//! Links that resemble real networks, by name.

use std::time::Duration;

use super::{LinkConfig, Loss};

/// A named configuration.
///
/// ```
/// use kinepack_net::{Link, PRESETS};
///
/// for preset in PRESETS {
///     println!("{:8}  {}", preset.name, preset.about);
/// }
/// let wifi = PRESETS.iter().find(|preset| preset.name == "wifi").ok_or("no such preset")?;
/// let uplink = Link::new(wifi.config, 1)?;
/// let downlink = Link::new(wifi.config, 2)?; // another seed for each direction
/// assert_eq!(uplink.config(), downlink.config());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkPreset {
    /// The name for [`LinkConfig::named`].
    pub name: &'static str,
    /// The real network that the preset resembles, in one line.
    pub about: &'static str,
    /// The settings of one direction; use the same settings for both directions.
    pub config: LinkConfig,
}

impl LinkConfig {
    /// The configuration of a row of [`PRESETS`].
    pub fn named(name: &str) -> Option<Self> {
        PRESETS.iter().find(|preset| preset.name == name).map(|preset| preset.config)
    }
}

/// The presets, from the best link to the worst. The round trip of an idle link is twice the
/// latency, plus two thirds of the jitter on average.
pub const PRESETS: [LinkPreset; 5] = [
    LinkPreset {
        name: "lan",
        about: "gigabit Ethernet within a house: 1 ms there and back, nothing lost",
        config: LinkConfig {
            latency: Duration::from_micros(450),
            jitter: Duration::from_micros(150),
            bandwidth_bps: Some(1_000_000_000),
            queue_bytes: 512 * 1024,
            mtu_bytes: 1500,
            ..LinkConfig::PERFECT
        },
    },
    LinkPreset {
        name: "cable",
        about: "a wired home to a server in the same country: 30 ms there and back, one in \
                a thousand lost",
        config: LinkConfig {
            latency: Duration::from_millis(14),
            jitter: Duration::from_millis(3),
            loss: Loss::Independent { ratio: 0.001 },
            bandwidth_bps: Some(20_000_000),
            queue_bytes: 256 * 1024,
            mtu_bytes: 1500,
            ..LinkConfig::PERFECT
        },
    },
    LinkPreset {
        name: "wifi",
        about: "a home over its busy Wi-Fi: up to 25 ms of jitter each way, 1 % lost \
                in pairs",
        config: LinkConfig {
            latency: Duration::from_millis(15),
            jitter: Duration::from_millis(25),
            loss: Loss::bursts(0.01, 2.0),
            duplicate_ratio: 0.001,
            reorder_ratio: 0.002,
            reorder_delay: Duration::from_millis(10),
            bandwidth_bps: Some(20_000_000),
            queue_bytes: 256 * 1024,
            mtu_bytes: 1500,
        },
    },
    LinkPreset {
        name: "mobile",
        about: "LTE in a moving train: 100 ms there and back, 2 % lost in bursts of four, a \
                slow uplink",
        config: LinkConfig {
            latency: Duration::from_millis(45),
            jitter: Duration::from_millis(30),
            loss: Loss::bursts(0.02, 4.0),
            duplicate_ratio: 0.001,
            reorder_ratio: 0.005,
            reorder_delay: Duration::from_millis(20),
            bandwidth_bps: Some(5_000_000),
            queue_bytes: 256 * 1024,
            mtu_bytes: 1400,
        },
    },
    LinkPreset {
        name: "terrible",
        about: "a far server over a crowded cell: above 300 ms there and back, 10 % lost in \
                bursts of five",
        config: LinkConfig {
            latency: Duration::from_millis(140),
            jitter: Duration::from_millis(100),
            loss: Loss::bursts(0.1, 5.0),
            duplicate_ratio: 0.02,
            reorder_ratio: 0.05,
            reorder_delay: Duration::from_millis(60),
            bandwidth_bps: Some(1_000_000),
            queue_bytes: 64 * 1024,
            mtu_bytes: 1280,
        },
    },
];
