//! Varies the loss and the round trip of a link.

use std::str::FromStr;
use std::time::Duration;

use command_kit::parse_span;
use kinepack_net::{LinkConfig, Loss};

/// The number of points of a curve.
const POINTS: u32 = 7;

/// The ranges over which the loss and the round trip vary.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sweep {
    loss_percent: Option<(f64, f64)>,
    round_trip_ms: Option<(f64, f64)>,
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sweep = Self { loss_percent: None, round_trip_ms: None };
        for part in text.split(',') {
            let (name, span) =
                part.split_once('=').ok_or("give ranges, such as loss=0..20,rtt=20..300")?;
            match name {
                "loss" => sweep.loss_percent = Some(parse_span(span, "percent", "0..20", 100.0)?),
                "rtt" => {
                    let span = parse_span(span, "milliseconds", "20..300", 10_000.0)?;
                    sweep.round_trip_ms = Some(span);
                }
                other => return Err(format!("{other}: only loss and rtt can vary")),
            }
        }
        Ok(sweep)
    }
}

/// Links, each with its name.
pub(super) type Links = Vec<(LinkConfig, String)>;

impl Sweep {
    /// Returns the links for the range of losses, and the links for the range of round trips.
    pub(super) fn links(&self, link: &LinkConfig) -> (Links, Links) {
        let points = |span: Option<(f64, f64)>| {
            let count = if span.is_some() { POINTS } else { 0 };
            let (from, to) = span.unwrap_or_default();
            (0..count)
                .map(move |point| from + (to - from) * f64::from(point) / f64::from(POINTS - 1))
        };
        let losing = |percent: f64| {
            let loss = Loss::Independent { ratio: (percent / 100.0) as f32 };
            (LinkConfig { loss, ..*link }, format!("loss {percent:.1} %"))
        };
        let late = |ms: f64| {
            (
                LinkConfig { latency: Duration::from_secs_f64(ms / 2e3), ..*link },
                format!("round trip {ms:.0} ms"),
            )
        };
        (
            points(self.loss_percent).map(losing).collect(),
            points(self.round_trip_ms).map(late).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_two_spans() {
        let sweep: Sweep = "loss=0..30,rtt=20..320".parse().unwrap();
        let (losses, round_trips) = sweep.links(&LinkConfig::PERFECT);
        let names = |links: &[(LinkConfig, String)]| {
            links.iter().map(|(_, name)| name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&losses)[..2], ["loss 0.0 %", "loss 5.0 %"]);
        assert_eq!(
            (names(&round_trips).len(), names(&round_trips)[6].as_str()),
            (7, "round trip 320 ms")
        );
        assert_eq!(round_trips[0].0.latency, Duration::from_millis(10));
        let one: Sweep = "rtt=5..5".parse().unwrap();
        assert_eq!(one.links(&LinkConfig::PERFECT).0, []);
        for bad in ["", "loss", "loss=5..1", "loss=0..200", "jitter=0..1", "rtt=0..1e9"] {
            assert!(bad.parse::<Sweep>().is_err(), "{bad}");
        }
    }
}
