//! The options of the simulated link: a preset, chosen by name, and an option for each number.

use std::ops::Range;
use std::time::Duration;

use clap::Args;
use kinepack_net::{Link, LinkConfig, LinkError, Loss, PRESETS};

use crate::{Failure, parse_seed};

/// The longest delay of a link, as in [`LinkError::DelayTooLong`].
const MAX_DELAY_MS: f64 = 3_600_000.0;

/// Options of the simulated link. They apply to both directions.
#[derive(Args, Clone, Debug)]
pub struct LinkOptions {
    /// A link by name; the other options change it. Round trip, jitter each way and loss: lan 0.9
    /// ms, 0.15 ms, 0 %; cable 28 ms, 3 ms, 0.1 %; wifi 30 ms, 25 ms, 1 %; mobile 90 ms, 30 ms, 2
    /// %; terrible 280 ms, 100 ms, 10 %.
    #[arg(long, default_value = "wifi", value_name = "NAME")]
    pub link: String,
    /// Round trip of the idle link in milliseconds, without jitter.
    #[arg(
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        value_parser = parse_round_trip_ms
    )]
    pub round_trip_ms: Option<f64>,
    /// The largest random delay in each direction, in milliseconds.
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = parse_delay_ms)]
    pub jitter_ms: Option<f64>,
    /// The share of datagrams that are lost, in percent.
    #[arg(
        long,
        value_name = "PERCENT",
        allow_negative_numbers = true,
        value_parser = parse_percent
    )]
    pub loss: Option<f32>,
    /// The mean number of datagrams that are lost in a row.
    #[arg(
        long,
        value_name = "DATAGRAMS",
        default_value_t = 1.0,
        requires = "loss",
        allow_negative_numbers = true,
        value_parser = parse_burst
    )]
    pub burst: f32,
    /// The share of datagrams that arrive twice, in percent.
    #[arg(
        long,
        value_name = "PERCENT",
        allow_negative_numbers = true,
        value_parser = parse_percent
    )]
    pub duplicate: Option<f32>,
    /// The share of datagrams that later datagrams overtake, in percent.
    #[arg(
        long,
        value_name = "PERCENT",
        allow_negative_numbers = true,
        value_parser = parse_percent
    )]
    pub reorder: Option<f32>,
    /// The largest delay of overtaken datagrams, in milliseconds.
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = parse_delay_ms)]
    pub reorder_ms: Option<f64>,
    /// The bandwidth in kbit/s, headers included.
    #[arg(
        long,
        value_name = "KBPS",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=4_000_000)
    )]
    pub bandwidth_kbps: Option<u32>,
    /// The most that waits before the slowest hop, in kilobytes; what has no room is dropped.
    #[arg(
        long,
        value_name = "KB",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(0..=4_000_000)
    )]
    pub queue_kb: Option<u32>,
    /// The largest packet that passes, in bytes, headers included.
    #[arg(
        long,
        value_name = "BYTES",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(28..=65_535)
    )]
    pub mtu: Option<u32>,
    /// No datagram passes in this time, in seconds from the beginning.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true, value_parser = parse_seconds)]
    pub outage: Option<(f64, f64)>,
    /// Seed of the link's random numbers.
    #[arg(
        long,
        default_value_t = 1,
        value_name = "SEED",
        allow_negative_numbers = true,
        value_parser = parse_seed
    )]
    pub link_seed: u64,
}

fn parse_percent(text: &str) -> Result<f32, String> {
    parse_within(text, 0.0, 100.0, "percent").map(|percent| percent as f32)
}

fn parse_delay_ms(text: &str) -> Result<f64, String> {
    parse_within(text, 0.0, MAX_DELAY_MS, "ms")
}

fn parse_round_trip_ms(text: &str) -> Result<f64, String> {
    parse_within(text, 0.0, 2.0 * MAX_DELAY_MS, "ms")
}

fn parse_burst(text: &str) -> Result<f32, String> {
    parse_within(text, 1.0, 1e6, "datagrams").map(|datagrams| datagrams as f32)
}

fn parse_within(text: &str, least: f64, most: f64, unit: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("give a number from {least} to {most} {unit}"))
}

/// The reason why the options do not describe a link.
#[derive(Debug, thiserror::Error)]
pub enum LinkOptionsError {
    #[error("--link {name}: no such link; there are {}", link_names())]
    UnknownLink { name: String },
    #[error("{ms} ms: a time is a number from 0 on")]
    BadTime { ms: f64 },
    #[error(
        "--burst {burst} is too short for --loss {percent}: bursts must have at least {least:.1} \
         datagrams"
    )]
    ShortBurst { percent: f32, burst: f32, least: f32 },
    #[error("this link cannot be: {0}")]
    Link(#[from] LinkError),
}

impl Failure for LinkOptionsError {}

/// Makes the two directions of a link, each with a different seed.
///
/// # Errors
/// Returns [`LinkError`] for a link with impossible numbers.
pub fn both_ways(link: LinkConfig, seed: u64) -> Result<[Link; 2], LinkError> {
    let even = seed.wrapping_mul(2);
    Ok([Link::new(link, even)?, Link::new(link, even | 1)?])
}

impl LinkOptions {
    /// Returns the link that the options describe.
    pub fn config(&self) -> Result<LinkConfig, LinkOptionsError> {
        let mut config = LinkConfig::named(&self.link)
            .ok_or_else(|| LinkOptionsError::UnknownLink { name: self.link.clone() })?;
        let duration = |ms: f64| {
            Duration::try_from_secs_f64(ms / 1e3).map_err(|_| LinkOptionsError::BadTime { ms })
        };
        if let Some(ms) = self.round_trip_ms {
            config.latency = duration(ms / 2.0)?;
        }
        if let Some(ms) = self.jitter_ms {
            config.jitter = duration(ms)?;
        }
        if let Some(ms) = self.reorder_ms {
            config.reorder_delay = duration(ms)?;
        }
        match self.loss {
            // If all datagrams are lost, the length of a burst has no meaning.
            Some(percent) if self.burst > 1.0 && percent < 100.0 => {
                // A pause between bursts has at least one datagram.
                let least = percent / (100.0 - percent);
                if self.burst < least {
                    let burst = self.burst;
                    return Err(LinkOptionsError::ShortBurst { percent, burst, least });
                }
                config.loss = Loss::bursts(percent / 100.0, self.burst);
            }
            Some(percent) => config.loss = Loss::Independent { ratio: percent / 100.0 },
            None => {}
        }
        let ratio =
            |percent: Option<f32>, preset: f32| percent.map_or(preset, |percent| percent / 100.0);
        config.duplicate_ratio = ratio(self.duplicate, config.duplicate_ratio);
        config.reorder_ratio = ratio(self.reorder, config.reorder_ratio);
        config.bandwidth_bps =
            self.bandwidth_kbps.map(|kbps| kbps.saturating_mul(1000)).or(config.bandwidth_bps);
        config.queue_bytes =
            self.queue_kb.map(|kb| kb.saturating_mul(1000)).unwrap_or(config.queue_bytes);
        config.mtu_bytes = self.mtu.unwrap_or(config.mtu_bytes);
        config.validate()?;
        Ok(config)
    }

    /// Returns whether the options limit what the link carries.
    pub fn limits_rate(&self) -> bool {
        self.bandwidth_kbps.is_some() || self.queue_kb.is_some()
    }

    /// Returns the interval in which no datagram passes.
    pub fn outage(&self) -> Range<Duration> {
        let time = |s: f64| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX);
        self.outage.map_or(Duration::ZERO..Duration::ZERO, |(from, to)| time(from)..time(to))
    }

    /// Returns a description of the link's options for a report.
    pub fn name(&self) -> String {
        let mut name = format!("--link {}", self.link);
        let mut add = |option: &str, value: Option<String>| {
            if let Some(value) = value {
                name.push_str(&format!(" --{option} {value}"));
            }
        };
        add("round-trip-ms", self.round_trip_ms.map(|v| v.to_string()));
        add("jitter-ms", self.jitter_ms.map(|v| v.to_string()));
        add("loss", self.loss.map(|v| v.to_string()));
        add("burst", (self.burst > 1.0).then(|| self.burst.to_string()));
        add("duplicate", self.duplicate.map(|v| v.to_string()));
        add("reorder", self.reorder.map(|v| v.to_string()));
        add("reorder-ms", self.reorder_ms.map(|v| v.to_string()));
        add("bandwidth-kbps", self.bandwidth_kbps.map(|v| v.to_string()));
        add("queue-kb", self.queue_kb.map(|v| v.to_string()));
        add("mtu", self.mtu.map(|v| v.to_string()));
        add("outage", self.outage.map(|(from, to)| format!("{from}..{to}")));
        name
    }
}

/// Parses `FROM..TO` in seconds.
fn parse_seconds(text: &str) -> Result<(f64, f64), String> {
    parse_span(text, "seconds", "5..8", f64::INFINITY)
}

/// Parses `FROM..TO` in milliseconds, for delays of a link.
pub fn parse_milliseconds(text: &str) -> Result<(f64, f64), String> {
    parse_span(text, "milliseconds", "10..200", MAX_DELAY_MS)
}

/// Parses two numbers of `unit` from 0 to `most`, the smaller first.
pub fn parse_span(text: &str, unit: &str, example: &str, most: f64) -> Result<(f64, f64), String> {
    let parts =
        text.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    match parts {
        Some((from, to)) if from > to => {
            Err(format!("{from} is after {to}: the smaller number comes first"))
        }
        Some((from, to)) if 0.0 <= from && from <= to && to <= most => Ok((from, to)),
        Some(_) if most.is_finite() => {
            Err(format!("give {unit} from 0 to {most}, such as {example}"))
        }
        _ => Err(format!("give two numbers of {unit} from 0 on, such as {example}")),
    }
}

/// Returns the names of all links.
pub fn link_names() -> String {
    PRESETS.map(|preset| preset.name).join(", ")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Options {
        #[command(flatten)]
        link: LinkOptions,
    }

    #[test]
    fn a_number_out_of_range_is_refused_in_the_unit_of_its_option() {
        for (arguments, says) in [
            (&["--loss", "200"][..], "'--loss <PERCENT>': give a number from 0 to 100 percent"),
            (&["--loss", "-1"], "give a number from 0 to 100 percent"),
            (&["--loss", "NaN"], "give a number from 0 to 100 percent"),
            (&["--reorder", "much"], "'--reorder <PERCENT>': give a number from 0 to 100 percent"),
            (&["--jitter-ms", "1e9"], "give a number from 0 to 3600000 ms"),
            (&["--loss", "5", "--burst", "0"], "give a number from 1 to 1000000 datagrams"),
            (&["--bandwidth-kbps", "0"], "0 is not in 1..=4000000"),
            (&["--mtu", "20"], "20 is not in 28..=65535"),
            (&["--outage", "8..5"], "8 is after 5: the smaller number comes first"),
            (&["--outage", "-1..5"], "two numbers of seconds from 0 on, such as 5..8"),
            (&["--outage", "5"], "two numbers of seconds from 0 on, such as 5..8"),
        ] {
            let refused = Options::try_parse_from([&["test"], arguments].concat()).unwrap_err();
            assert!(refused.to_string().contains(says), "{arguments:?}: {refused}");
        }
        assert_eq!(parse_milliseconds("10..200"), Ok((10.0, 200.0)));
        assert!(parse_milliseconds("10..4e6").is_err_and(|error| error.contains("3600000")));
    }

    #[test]
    fn bursts_have_at_least_the_length_that_the_loss_needs() {
        let config =
            |arguments: &[&str]| Options::parse_from([&["test"], arguments].concat()).link.config();
        let error = config(&["--loss", "90", "--burst", "2"]).unwrap_err().to_string();
        assert_eq!(
            error,
            "--burst 2 is too short for --loss 90: bursts must have at least 9.0 datagrams"
        );
        let ninety = config(&["--loss", "90", "--burst", "9"]).unwrap();
        assert!((ninety.loss.mean_ratio() - 0.9).abs() < 1e-3);
        let all = config(&["--loss", "100", "--burst", "9"]).unwrap();
        assert_eq!(all.loss.mean_ratio(), 1.0);
        assert!(config(&["--link", "loud"]).unwrap_err().to_string().contains("lan, cable, wifi"));
    }
}
