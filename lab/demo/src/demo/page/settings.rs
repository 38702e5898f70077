//! Checks the settings of a page, and converts them to options, which a report names.

use std::time::Duration;

use command_kit::{LinkOptions, SentLevel};
use kinepack_capture::levels;
use kinepack_net::{LinkConfig, Loss, PRESETS};

use super::protocol::{LevelName, LinkName, Settings};
use crate::sender::{SendOptions, check_send_hz};

/// The largest values that a page may set. The true states are kept for three seconds, and the
/// shown states must be compared with them.
const MAX_ROUND_TRIP_MS: f64 = 2_000.0;
const MAX_JITTER_MS: f64 = 1_000.0;
const MAX_BURST: f32 = 100.0;
const BANDWIDTH_KBPS: std::ops::RangeInclusive<u32> = 8..=1_000_000;
const MAX_PLAYOUT_MS: u32 = 500;

/// Settings that passed all checks.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) settings: Settings,
    pub(super) link: LinkOptions,
    pub(super) link_config: LinkConfig,
    pub(super) send: SendOptions,
    /// The minimum and the maximum playout delay.
    pub(super) playout_delays: [Duration; 2],
}

/// The options that the program was started with. A page cannot change all of them.
#[derive(Clone, Debug)]
pub(super) struct Defaults {
    pub(super) link: LinkOptions,
    pub(super) send: SendOptions,
}

impl Defaults {
    pub(super) fn settings(&self) -> Settings {
        let Self { link, send } = self;
        Settings {
            link: link.link.clone(),
            round_trip_ms: link.round_trip_ms,
            jitter_ms: link.jitter_ms,
            loss_percent: link.loss,
            burst: link.loss.map(|_| link.burst),
            bandwidth_kbps: link.bandwidth_kbps,
            level: send.stream.level().to_string(),
            send_hz: send.send_hz,
            playout_ms: None,
        }
    }

    /// Checks the settings of a page.
    ///
    /// # Errors
    /// Returns a sentence that explains the refusal to the user.
    pub(super) fn check(&self, settings: Settings) -> Result<Checked, String> {
        let preset = LinkConfig::named(&settings.link).ok_or_else(|| {
            format!("no link is named {:?}; there are {}", settings.link, command_kit::link_names())
        })?;
        within("round trip", settings.round_trip_ms, 0.0..=MAX_ROUND_TRIP_MS, "ms")?;
        within("jitter", settings.jitter_ms, 0.0..=MAX_JITTER_MS, "ms")?;
        within("loss", settings.loss_percent, 0.0..=100.0, "%")?;
        within("burst", settings.burst, 1.0..=MAX_BURST, "datagrams")?;
        within("bandwidth", settings.bandwidth_kbps, BANDWIDTH_KBPS, "kbit/s")?;
        within("playout delay", settings.playout_ms, 0..=MAX_PLAYOUT_MS, "ms")?;
        let Settings { loss_percent, burst, .. } = settings;
        let mut link = LinkOptions {
            link: settings.link.clone(),
            round_trip_ms: settings.round_trip_ms,
            jitter_ms: settings.jitter_ms,
            loss: None,
            burst: 1.0,
            bandwidth_kbps: settings.bandwidth_kbps,
            ..self.link.clone()
        };
        if loss_percent.is_some() || burst.is_some() {
            let percent = loss_percent.unwrap_or_else(|| percent(preset.loss.mean_ratio()));
            link.loss = Some(percent);
            // If all datagrams are lost, there are no bursts. Otherwise each pause between bursts
            // has at least one datagram.
            if percent < 100.0 {
                let least = (percent / (100.0 - percent)).max(1.0);
                if let Some(burst) = burst.filter(|burst| *burst < least) {
                    return Err(format!(
                        "a loss of {percent} % needs bursts of at least {least:.1}, not {burst}"
                    ));
                }
                link.burst = burst.unwrap_or_else(|| mean_burst(&preset.loss)).max(least);
            }
        }
        let level = SentLevel::named(&settings.level)
            .map_err(|there| format!("no level {:?}; {there}", settings.level))?;
        let send_hz = check_send_hz(settings.send_hz)?;
        let delay = |ms| Duration::from_millis(u64::from(ms));
        Ok(Checked {
            link_config: link.config().map_err(|failure| failure.to_string())?,
            link,
            send: SendOptions { send_hz, stream: self.send.stream.at(level), ..self.send.clone() },
            playout_delays: settings
                .playout_ms
                .map_or([delay(0), delay(MAX_PLAYOUT_MS)], |ms| [delay(ms); 2]),
            settings,
        })
    }
}

fn within<T: PartialOrd + std::fmt::Display>(
    name: &str,
    value: Option<T>,
    range: std::ops::RangeInclusive<T>,
    unit: &str,
) -> Result<(), String> {
    match value {
        Some(value) if !range.contains(&value) => {
            Err(format!("{name} takes {} to {} {unit}, not {value}", range.start(), range.end(),))
        }
        _ => Ok(()),
    }
}

/// Returns a share in percent, rounded to hundredths.
fn percent(ratio: f32) -> f32 {
    (ratio * 1e4).round() / 1e2
}

/// Returns the mean number of datagrams that are lost in a row.
fn mean_burst(loss: &Loss) -> f32 {
    match *loss {
        Loss::GilbertElliott { to_good_ratio, .. } if to_good_ratio > 0.0 => 1.0 / to_good_ratio,
        _ => 1.0,
    }
}

/// Returns the links that a page offers.
pub(super) fn links() -> Vec<LinkName> {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let link = |preset: kinepack_net::LinkPreset| LinkName {
        name: preset.name,
        about: preset.about,
        round_trip_ms: 2.0 * ms(preset.config.latency),
        jitter_ms: ms(preset.config.jitter),
        loss_percent: percent(preset.config.loss.mean_ratio()),
        burst: mean_burst(&preset.config.loss),
        bandwidth_kbps: preset.config.bandwidth_bps.map(|bps| bps / 1000),
    };
    PRESETS.into_iter().map(link).collect()
}

/// Returns the levels that a page offers.
pub(super) fn levels() -> Vec<LevelName> {
    let name = |level: SentLevel| LevelName {
        name: level.row().name(),
        row: level.row().row(),
        summary: levels::summary(level.row()),
    };
    SentLevel::all().map(name).collect()
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};

    use super::*;

    fn defaults(arguments: &[&str]) -> Defaults {
        let command =
            LinkOptions::augment_args(SendOptions::augment_args(clap::Command::new("test")));
        let matches = command.get_matches_from([&["test"], arguments].concat());
        Defaults {
            link: LinkOptions::from_arg_matches(&matches).unwrap(),
            send: SendOptions::from_arg_matches(&matches).unwrap(),
        }
    }

    #[test]
    fn the_default_settings_give_the_original_options() {
        for arguments in [
            &[][..],
            &["--link", "mobile", "--loss", "10", "--burst", "4", "--mtu", "600"],
            &[
                "--round-trip-ms",
                "80",
                "--jitter-ms",
                "5",
                "--bandwidth-kbps",
                "300",
                "--level",
                "learning",
                "--send-hz",
                "20",
            ],
        ] {
            let defaults = defaults(arguments);
            let checked = defaults.check(defaults.settings()).unwrap();
            assert_eq!(checked.link.name(), defaults.link.name());
            assert_eq!(checked.send.name(), defaults.send.name());
            assert_eq!(checked.link_config, defaults.link.config().unwrap());
        }
    }

    #[test]
    fn missing_numbers_are_those_of_the_link() {
        let defaults = defaults(&["--loss", "50"]);
        let wifi = Settings { loss_percent: None, burst: None, ..defaults.settings() };
        assert_eq!(
            defaults.check(wifi.clone()).unwrap().link_config,
            LinkConfig::named("wifi").unwrap()
        );
        let lossy = defaults.check(Settings { loss_percent: Some(20.0), ..wifi.clone() }).unwrap();
        assert_eq!(lossy.link.name(), "--link wifi --loss 20 --burst 2");
        let bursts = defaults.check(Settings { burst: Some(8.0), ..wifi.clone() }).unwrap();
        assert_eq!(bursts.link.name(), "--link wifi --loss 1 --burst 8");
        let most = defaults.check(Settings { loss_percent: Some(90.0), ..wifi.clone() }).unwrap();
        assert!((most.link_config.loss.mean_ratio() - 0.9).abs() < 1e-3);
        let all = defaults.check(Settings { loss_percent: Some(100.0), ..wifi }).unwrap();
        assert!((all.link_config.loss.mean_ratio() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn impossible_settings_are_refused_with_a_reason() {
        let defaults = defaults(&[]);
        let usual = defaults.settings();
        for (wrong, words) in [
            (Settings { link: "loud".into(), ..usual.clone() }, "lan, cable, wifi"),
            (
                Settings { level: "uncompressed".into(), ..usual.clone() },
                "packed, adaptive, learning",
            ),
            (Settings { send_hz: 7, ..usual.clone() }, "divide"),
            (Settings { round_trip_ms: Some(-1.0), ..usual.clone() }, "round trip"),
            (Settings { round_trip_ms: Some(f64::NAN), ..usual.clone() }, "round trip"),
            (Settings { jitter_ms: Some(1e308), ..usual.clone() }, "jitter"),
            (Settings { loss_percent: Some(101.0), ..usual.clone() }, "loss"),
            (
                Settings { loss_percent: Some(90.0), burst: Some(2.0), ..usual.clone() },
                "at least 9.0",
            ),
            (Settings { burst: Some(0.5), ..usual.clone() }, "burst"),
            (Settings { bandwidth_kbps: Some(0), ..usual.clone() }, "bandwidth"),
            (Settings { playout_ms: Some(501), ..usual.clone() }, "playout delay"),
        ] {
            let refused = defaults.check(wrong.clone()).unwrap_err();
            assert!(refused.contains(words), "{wrong:?}: {refused}");
        }
    }
}
